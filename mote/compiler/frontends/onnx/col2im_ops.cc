#include <algorithm>

#include "mote/compiler/frontends/onnx/op_support.h"
#include "mote/ops/col2im/col2im.h"

namespace mote::frontends::onnx {
namespace {

// Sizes of the image and of its windows that only running tells: what the model declares of the result says how many channels there are.
void col2im_by(NodeContext& c, ops::col2im::Attrs a) {
  Decompose d(c);
  const ir::Dims x = dims_of(c.in(0));
  const std::optional<ir::Type> declared = c.declared(0);
  const bool fits = declared && declared->rank() == a.spatial + 2 && declared->dims[1] > 0 && x[1] % declared->dims[1] == 0;
  if (!fits)
    return c.fail("image_shape and block_shape are known only when running, and the result's shape is not declared", "make them constants");
  const int64_t channels = declared->dims[1];
  Value* windows = d.transpose(d.reshape(c.in(0), {x[0], channels, x[1] / channels, x[2]}), {0, 3, 2, 1});
  ir::Type last = *declared;
  std::rotate(last.dims.begin() + 1, last.dims.begin() + 2, last.dims.end());
  last.dynamic = 0;
  if (!c.b.ok()) return;
  c.b.declare({last});
  Value* y = c.b.op(OpId::col2im, a, {windows, c.in(1), c.in(2)});
  c.b.declare({declared});
  c.out(0, d.channels_first(y));
}

// The windows of the image: (N, C * taps, positions) to (N, positions, taps, C).
void import_col2im(NodeContext& c) {
  Decompose d(c);
  std::vector<int64_t> image, block;
  const bool known = c.ints(1, nullptr, &image) && c.ints(2, nullptr, &block);
  const int spatial = static_cast<int>(c.in(1)->type.count());
  if (!known && spatial >= 0 && spatial <= 3) block.assign(static_cast<size_t>(spatial), 1);
  WindowSpec w;
  if (!read_steps(c, spatial, block, &w)) return;
  const size_t n = static_cast<size_t>(spatial);
  const std::vector<int64_t> pads = c.attr_ints("pads", std::vector<int64_t>(2 * n, 0));
  int64_t taps = 1;
  for (int64_t k : block) taps = k < 1 || taps > INT32_MAX / k ? 0 : taps * k;
  const ir::Dims x = dims_of(c.in(0));
  if (x.size() != 3 || taps < 1 || x[1] % taps != 0 || pads.size() != 2 * n || !c.in(0)->type.is_static())
    return c.fail("expected an input (N, C * " + std::to_string(taps) + ", positions) of fixed size and two paddings per dimension");
  ops::col2im::Attrs a;
  a.spatial = spatial;
  for (int i = 0; i < spatial; ++i) {
    const size_t at = static_cast<size_t>(i);
    if (known) a.dims[i] = to_s32(std::max<int64_t>(image[at], 0));
    a.kernel[i] = w.kernel[i];
    w.begin[i] = to_s32(pads[at]);
    w.end[i] = to_s32(pads[at + n]);
  }
  set_window(w, &a);
  if (!known) return col2im_by(c, a);
  Value* windows = d.transpose(d.reshape(c.in(0), {x[0], x[1] / taps, taps, x[2]}), {0, 3, 2, 1});
  if (c.b.ok()) c.out(0, d.channels_first(c.b.op(OpId::col2im, a, {windows})));
}

}  // namespace

void add_col2im_ops(OpTable& table);
void add_col2im_ops(OpTable& table) { add_lines(table, {{"Col2Im", import_col2im, 18, 3}}); }

}  // namespace mote::frontends::onnx
