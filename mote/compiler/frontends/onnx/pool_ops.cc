#include <algorithm>
#include <numeric>

#include "mote/compiler/frontends/onnx/decompose.h"
#include "mote/ops/avg_pool/avg_pool.h"
#include "mote/ops/lp_pool/lp_pool.h"
#include "mote/ops/max_pool/max_pool.h"
#include "mote/ops/max_unpool/max_unpool.h"
#include "mote/ops/roi_align/roi_align.h"

namespace mote::frontends::onnx {
namespace {

template <class A>
bool set_pool(NodeContext& c, A* a) {
  WindowSpec w;
  if (!read_window(c, c.in(0), c.attr_ints("kernel_shape"), &w)) return false;
  set_window(w, a);
  std::copy(w.kernel, w.kernel + 3, a->kernel);
  a->ceil_mode = c.attr_int("ceil_mode", 0) != 0 ? 1 : 0;
  return true;
}

// Mote counts within the plane of a channel; ONNX within the whole tensor (N, C, spatial...), column by column on request.
Value* whole_tensor_indices(Decompose& d, Value* plane_index, bool column_major) {
  const ir::Dims x = dims_of(d.c.in(0));
  if (!d.c.in(0)->type.is_static()) {
    d.c.fail("indices of an input of open size are not supported", "fix the sizes with --dim or --shape, or drop the Indices output");
    return nullptr;
  }
  constexpr int64_t kMaxChannels = 1 << 22;
  if (int64_t{x[0]} * x[1] > kMaxChannels) {
    d.c.fail("indices of more than " + std::to_string(kMaxChannels) + " channels are not supported");
    return nullptr;
  }
  const int rank = static_cast<int>(x.size());
  const int64_t plane = std::accumulate(x.begin() + 2, x.end(), int64_t{1}, std::multiplies<int64_t>());
  if (column_major) {
    Value *rest = plane_index, *flipped = nullptr;
    int64_t step = plane;
    for (int i = rank - 1; i >= 2; --i) {
      const int64_t size = std::max(x[static_cast<size_t>(i)], 1);
      step /= size;
      Value* at = d.mul(d.op(OpId::mod, {rest, d.number(static_cast<double>(size), DType::s64)}), static_cast<double>(step));
      flipped = flipped == nullptr ? at : d.add(flipped, at);
      rest = d.div(rest, static_cast<double>(size));
    }
    plane_index = flipped;
  }
  std::vector<int64_t> starts(static_cast<size_t>(x[0]) * static_cast<size_t>(x[1]));
  for (size_t i = 0; i < starts.size(); ++i) starts[i] = static_cast<int64_t>(i) * plane;
  ir::Dims shape(x.size(), 1);
  shape[0] = x[0];
  shape[1] = x[1];
  return d.add(plane_index, d.b.graph().constant<int64_t>(shape, starts));
}

void import_max_pool(NodeContext& c) {
  Decompose d(c);
  ops::max_pool::Attrs a;
  if (!set_pool(c, &a)) return;
  Value* x = d.channels_last(c.in(0));
  if (!c.b.ok()) return;
  const std::vector<Value*> y = c.b.ops(OpId::max_pool, a, {x}, c.wants(1) ? 2 : 1);
  if (y.empty()) return;
  c.out(0, d.channels_first(y[0]));
  if (c.wants(1)) c.out(1, whole_tensor_indices(d, d.channels_first(y[1]), c.attr_int("storage_order", 0) != 0));
}

void import_average_pool(NodeContext& c) {
  Decompose d(c);
  ops::avg_pool::Attrs a;
  if (!set_pool(c, &a)) return;
  a.count_include_pad = c.attr_int("count_include_pad", 0) != 0 ? 1 : 0;
  Value* x = d.channels_last(c.in(0));
  if (c.b.ok()) c.out(0, d.channels_first(c.b.op(OpId::avg_pool, a, {x})));
}

float norm_order(const NodeContext& c) { return c.opset < 2 ? c.attr_float("p", 2) : static_cast<float>(c.attr_int("p", 2)); }

void import_lp_pool(NodeContext& c) {
  Decompose d(c);
  ops::lp_pool::Attrs a;
  if (!set_pool(c, &a)) return;
  a.p = norm_order(c);
  Value* x = d.channels_last(c.in(0));
  if (c.b.ok()) c.out(0, d.channels_first(c.b.op(OpId::lp_pool, a, {x})));
}

// Reduces the spatial dimensions; channels-last like the other pools, so that the transposes of neighbours meet.
Value* reduce_spatial(Decompose& d, OpId id, Value* x) {
  std::vector<int64_t> axes;
  for (int i = 1; i + 1 < rank_of(x); ++i) axes.push_back(i);
  return d.reduce(id, x, axes);
}

template <OpId kId>
void import_global_pool(NodeContext& c) {
  Decompose d(c);
  c.out(0, d.channels_first(reduce_spatial(d, kId, d.channels_last(c.in(0)))));
}

void import_global_lp_pool(NodeContext& c) {
  Decompose d(c);
  const float p = norm_order(c);
  Value* x = d.channels_last(c.in(0));
  Value* y = nullptr;
  if (p == 1) y = reduce_spatial(d, OpId::reduce_l1, x);
  else if (p == 2) y = reduce_spatial(d, OpId::reduce_l2, x);
  else if (p > 0)
    y = d.pow(reduce_spatial(d, OpId::reduce_sum, d.pow(d.op(OpId::abs, {x}), static_cast<double>(p))), 1.0 / static_cast<double>(p));
  else return c.fail("p: expected a number above 0, found " + std::to_string(p));
  c.out(0, d.channels_first(y));
}

void import_max_unpool(NodeContext& c) {
  Decompose d(c);
  WindowSpec w;
  if (!read_window(c, c.in(0), c.attr_ints("kernel_shape"), &w)) return;
  const ir::Dims x = dims_of(c.in(0));
  if (!c.in(0)->type.is_static()) return c.fail("needs an input of fixed size", "fix the sizes with --dim or --shape");
  ops::max_unpool::Attrs a;
  std::vector<int64_t> inferred{x[0], x[1]};
  int64_t plane = 1;
  for (int i = 0; i < w.rank; ++i) {
    const int64_t size = (int64_t{x[static_cast<size_t>(i) + 2]} - 1) * w.strides[i] + w.kernel[i] - w.begin[i] - w.end[i];
    if (size < 1 || size > INT32_MAX || plane > INT32_MAX / size) return c.fail("its output would have " + std::to_string(size) + " rows");
    a.dims[i] = static_cast<int32_t>(size);
    plane *= size;
    inferred.push_back(size);
  }
  Value* indices = d.op(OpId::mod, {c.in(1), d.number(static_cast<double>(plane), DType::s64)});
  Value *last = d.channels_last(c.in(0)), *index_last = d.channels_last(indices);
  if (!c.b.ok()) return;
  c.b.declare({});
  Value* y = d.channels_first(c.b.op(OpId::max_unpool, a, {last, index_last}));
  if (c.in(2) == nullptr) return c.out(0, y);
  // A larger output_shape adds zeros behind.
  c.b.declare({c.declared(0)});
  Value* extra = d.sub(d.cast(c.in(2), DType::s64), d.ints(inferred));
  c.out(0, d.op(OpId::pad, {y, nullptr, d.concat({d.ints(std::vector<int64_t>(x.size(), 0)), extra}, 0)}));
}

void import_roi_align(NodeContext& c) {
  Decompose d(c);
  ops::roi_align::Attrs a;
  a.out_height = static_cast<int32_t>(std::clamp<int64_t>(c.attr_int("output_height", 1), 0, INT32_MAX));
  a.out_width = static_cast<int32_t>(std::clamp<int64_t>(c.attr_int("output_width", 1), 0, INT32_MAX));
  a.sampling_ratio = static_cast<int32_t>(std::clamp<int64_t>(c.attr_int("sampling_ratio", 0), -1, INT32_MAX));
  a.spatial_scale = c.attr_float("spatial_scale", 1);
  a.mode = c.attr_string("mode", "avg") == "max" ? 1 : 0;
  a.half_pixel = c.opset >= 16 && c.attr_string("coordinate_transformation_mode", "half_pixel") == "half_pixel" ? 1 : 0;
  Value* x = d.channels_last(c.in(0));
  if (c.b.ok()) c.out(0, d.channels_first(c.b.op(OpId::roi_align, a, {x, c.in(1), c.in(2)})));
}

void refuse_max_roi_pool(NodeContext& c) {
  c.fail("max pooling of regions with rounded borders is not supported", "export the model with RoiAlign instead");
}

}  // namespace

void add_pool_ops(OpTable& t);
void add_pool_ops(OpTable& t) {
  t["MaxPool"] = {{"MaxPool", &import_max_pool}};
  t["AveragePool"] = {{"AveragePool", &import_average_pool}};
  t["LpPool"] = {{"LpPool", &import_lp_pool}};
  t["GlobalAveragePool"] = {{"GlobalAveragePool", &import_global_pool<OpId::reduce_mean>}};
  t["GlobalMaxPool"] = {{"GlobalMaxPool", &import_global_pool<OpId::reduce_max>}};
  t["GlobalLpPool"] = {{"GlobalLpPool", &import_global_lp_pool}};
  t["MaxUnpool"] = {{"MaxUnpool", &import_max_unpool, 9, 2}};
  t["RoiAlign"] = {{"RoiAlign", &import_roi_align, 10, 3}};
  t["MaxRoiPool"] = {{"MaxRoiPool", &refuse_max_roi_pool, 1, 2}};
}

}  // namespace mote::frontends::onnx
