// Pooling and resizing.

#include <algorithm>

#include "mote/compiler/frontends/executorch/xnnpack_op.h"
#include "mote/ops/avg_pool/avg_pool.h"
#include "mote/ops/max_pool/max_pool.h"
#include "mote/ops/resize/resize.h"

namespace mote::frontends::executorch {
namespace {

constexpr uint32_t kLegacyPlaces = 4, kAlignCorners = 8, kKeepDims = 0x40;

template <class A>
bool set_pool(XnnOp& o, const xfb::Pooling& n, bool dilated, A* a) {
  const uint32_t kernel[] = {n.pooling_height(), n.pooling_width()}, strides[] = {n.stride_height(), n.stride_width()},
                 dilations[] = {n.dilation_height(), n.dilation_width()}, begin[] = {n.padding_top(), n.padding_left()},
                 end[] = {n.padding_bottom(), n.padding_right()};
  for (size_t i = 0; i < 2; ++i) {
    a->kernel[i] = o.size(kernel[i], "the window");
    a->strides[i] = o.size(strides[i], "a stride");
    a->dilations[i] = dilated ? o.size(dilations[i], "a dilation") : 1;
    a->pads_begin[i] = o.size(begin[i], "a padding");
    a->pads_end[i] = o.size(end[i], "a padding");
  }
  return o.b.ok();
}

}  // namespace

void import_xnn_max_pool(XnnOp& o) {
  const auto& n = o.fields<xfb::Pooling>();
  const XnnTensor &in = o.tensor(n.input_id()), &out = o.tensor(n.output_id());
  Value* x = o.raw(n.input_id());
  ops::max_pool::Attrs a;
  if (!o.need_rank(x, 4, "the input") || !set_pool(o, n, true, &a)) return;
  if (!in.per_tensor() || !o.same_quant(in, out))
    return o.set_real(n.output_id(), o.b.op(OpId::max_pool, a, {o.real(n.input_id(), o.work_type(n.output_id(), {n.input_id()}))}));
  const XnnIntRange r = o.quantized_range(out);
  Value* y = o.b.op(OpId::max_pool, a, {x});
  if (!o.range().open()) y = o.clip(y, {static_cast<float>(r.lo), static_cast<float>(r.hi)});
  o.set(n.output_id(), y);
}

// Padding does not count.
void import_xnn_avg_pool(XnnOp& o) {
  const auto& n = o.fields<xfb::Pooling>();
  Value* x = o.real(n.input_id(), o.work_type(n.output_id(), {n.input_id()}));
  ops::avg_pool::Attrs a;
  if (!o.need_rank(x, 4, "the input") || !set_pool(o, n, false, &a)) return;
  o.set_real(n.output_id(), o.b.op(OpId::avg_pool, a, {x}));
}

void import_xnn_global_avg_pool(XnnOp& o) {
  const auto& n = o.fields<xfb::Unary>();
  const XnnTensor &in = o.tensor(n.input_id()), &out = o.tensor(n.output_id());
  Value* x = o.raw(n.input_id());
  const int rank = rank_of(x);
  if (!o.b.ok()) return;
  if (rank < 3) return o.fail("the input has " + std::to_string(rank) + " dimensions; expected at least 3");
  const bool keep = (n.flags() & kKeepDims) != 0 || static_cast<int>(out.dims.size()) == rank;
  const std::vector<int64_t> axes{rank - 3, rank - 2};
  if (!in.per_tensor() || !out.per_tensor() || in.dtype != out.dtype || !is_fixed(x, rank - 3) || !is_fixed(x, rank - 2))
    return o.set_real(n.output_id(),
                      o.reduce(OpId::reduce_mean, o.real(n.input_id(), o.work_type(n.output_id(), {n.input_id()})), axes, keep));
  // XNNPACK divides the sum of the integers, scales that and adds the zero point before it rounds: where the mean lies between two numbers,
  // multiplying by 1 / (count * scale) or rounding first, as requantize does, would go to the other one.
  const int64_t count = int64_t{x->type.dims[static_cast<size_t>(rank) - 3]} * x->type.dims[static_cast<size_t>(rank) - 2];
  if (count < 1 || count > 1 << 16) return o.fail("it averages " + std::to_string(count) + " elements; expected 1 to 65536");
  Value* sum = o.reduce(OpId::reduce_sum, o.cast(x, DType::s32), axes, keep);
  if (in.quant.zero != 0) sum = o.sub(sum, o.number(static_cast<double>(count * in.quant.zero), DType::s32));
  Value* mean = o.div(o.cast(sum, DType::f32), static_cast<double>(count));
  mean = o.mul(mean, static_cast<double>(in.quant.scale / out.quant.scale));
  mean = o.add(mean, static_cast<double>(out.quant.zero));
  const XnnIntRange r = o.quantized_range(out);
  mean = o.clip(mean, {static_cast<float>(r.lo), static_cast<float>(r.hi)});
  if (o.b.ok()) o.set(n.output_id(), o.cast(o.op(OpId::round, {mean}), out.dtype));
}

// The second output is the place in the window, column by column.
void import_xnn_arg_max_pool(XnnOp& o) {
  const auto& n = o.fields<xfb::ArgMaxPooling>();
  Value* x = o.real(n.input_id());
  if (!o.need_rank(x, 4, "the input")) return;
  if (!is_fixed(x, 2)) return o.fail("the width of the input must have one size");
  ops::max_pool::Attrs a;
  const int32_t height = o.size(n.pooling_height(), "the window"), width = o.size(n.pooling_width(), "the window"),
                top = o.size(n.padding_top(), "a padding"), left = o.size(n.padding_left(), "a padding"),
                row = std::max(x->type.dims[2], 1);
  a.kernel[0] = a.strides[0] = height;
  a.kernel[1] = a.strides[1] = width;
  a.pads_begin[0] = top;
  a.pads_begin[1] = left;
  a.pads_end[0] = o.size(n.padding_bottom(), "a padding");
  a.pads_end[1] = o.size(n.padding_right(), "a padding");
  if (!o.b.ok() || height < 1 || width < 1) return o.fail("the window is empty");
  const std::vector<Value*> y = o.b.ops(OpId::max_pool, a, {x}, 2);
  if (y.empty()) return;
  const auto number = [&](int64_t v) { return o.number(static_cast<double>(v), DType::s64); };
  Value* line = o.op(OpId::floor_div, {y[1], number(row)});
  Value* column = o.sub(y[1], o.mul(line, number(row)));
  Value* in_height = o.op(OpId::mod, {o.add(line, number(top)), number(height)});
  Value* in_width = o.op(OpId::mod, {o.add(column, number(left)), number(width)});
  o.set_real(n.output_value_id(), y[0]);
  o.set_held(n.output_index_id(), {o.add(o.mul(in_width, number(height)), in_height)});
}

void import_xnn_resize(XnnOp& o) {
  const auto& n = o.fields<xfb::ResizeBilinear>();
  Value* x = o.real(n.input_id(), o.work_type(n.output_id(), {n.input_id()}));
  if (!o.need_rank(x, 4, "the input")) return;
  ops::resize::Attrs a;
  a.mode = ops::resize::kLinear;
  a.coordinates = (n.flags() & kAlignCorners) != 0   ? ops::resize::kAlignCorners
                  : (n.flags() & kLegacyPlaces) != 0 ? ops::resize::kAsymmetric
                                                     : ops::resize::kHalfPixel;
  a.sizes[0] = o.size(n.new_height(), "the height");
  a.sizes[1] = o.size(n.new_width(), "the width");
  if (a.sizes[0] < 1 || a.sizes[1] < 1) return o.fail("the new size is 0");
  if (o.b.ok()) o.set_real(n.output_id(), o.b.op(OpId::resize, a, {x}));
}

}  // namespace mote::frontends::executorch
