#include <algorithm>

#include "mote/compiler/frontends/onnx/quant_stage.h"
#include "mote/ops/conv/conv.h"
#include "mote/ops/conv_transpose/conv_transpose.h"
#include "mote/ops/q_conv/q_conv.h"

namespace mote::frontends::onnx {
namespace {

int32_t groups_of(const NodeContext& c) { return static_cast<int32_t>(std::clamp<int64_t>(c.attr_int("group", 1), 0, INT32_MAX)); }

std::vector<int64_t> kernel_of(const NodeContext& c, const Value* weights) {
  const ir::Dims& dims = dims_of(weights);
  std::vector<int64_t> kernel = c.attr_ints("kernel_shape");
  if (kernel.empty() && dims.size() > 2) kernel.assign(dims.begin() + 2, dims.end());
  return kernel;
}

// Negative padding cuts the border off; Mote's convolutions only add. Gives x without what is cut, and clears those paddings.
Value* cut_negative_pads(Decompose& d, Value* x, double border, WindowSpec* w) {
  std::vector<int64_t> begin(static_cast<size_t>(w->rank) + 2), end(begin);
  bool any = false;
  for (int i = 0; i < w->rank; ++i) {
    const size_t axis = static_cast<size_t>(i) + 1;
    begin[axis] = std::min(w->begin[i], 0);
    end[axis] = std::min(w->end[i], 0);
    any = any || begin[axis] < 0 || end[axis] < 0;
    w->begin[i] = std::max(w->begin[i], 0);
    w->end[i] = std::max(w->end[i], 0);
  }
  return any ? d.pad(x, begin, end, static_cast<float>(border)) : x;
}

void import_conv(NodeContext& c) {
  Decompose d(c);
  WindowSpec w;
  if (!read_window(c, c.in(0), kernel_of(c, c.in(1)), &w)) return;
  ops::conv::Attrs a;
  Value* x = cut_negative_pads(d, d.channels_last(c.in(0)), 0, &w);
  set_window(w, &a);
  a.groups = groups_of(c);
  Value* weights = d.channels_last(c.in(1));
  if (!c.b.ok()) return;
  c.out(0, d.channels_first(c.in(2) != nullptr ? c.b.op(OpId::conv, a, {x, weights, c.in(2)}) : c.b.op(OpId::conv, a, {x, weights})));
}

// ONNX (C, O/groups, kernel...) to Mote's (O, kernel..., C/groups).
Value* transposed_weights(Decompose& d, Value* w, int32_t groups) {
  const ir::Dims dims = dims_of(w);
  const int spatial = rank_of(w) - 2;
  if (groups < 1 || spatial < 1 || dims[0] % groups != 0) {
    d.c.fail("expected weights whose channels (" + std::to_string(spatial < 1 ? 0 : dims[0]) + ") divide into " + std::to_string(groups) +
             " groups");
    return nullptr;
  }
  std::vector<int64_t> split{groups, dims[0] / groups}, joined{int64_t{dims[1]} * groups};
  std::vector<int> perm{0, 2};
  for (int i = 0; i < spatial; ++i) perm.push_back(3 + i);
  perm.push_back(1);
  for (size_t i = 1; i < dims.size(); ++i) split.push_back(dims[i]);
  for (size_t i = 2; i < dims.size(); ++i) joined.push_back(dims[i]);
  joined.push_back(dims[0] / groups);
  return d.reshape(d.transpose(d.reshape(w, split), perm), joined);
}

// Paddings from output_shape or auto_pad: what the output would have too much is cut off, what it lacks is added.
bool pad_to_output(NodeContext& c, const std::vector<int64_t>& wanted, bool upper, WindowSpec* w, int32_t* output_padding) {
  for (int i = 0; i < w->rank; ++i) {
    if (!is_fixed(c.in(0), i + 2)) {
      c.fail("output_shape and auto_pad need a fixed size in dimension " + std::to_string(i + 2), "fix it with --dim or --shape");
      return false;
    }
    const int64_t in = dims_of(c.in(0))[static_cast<size_t>(i) + 2], extent = (int64_t{w->kernel[i]} - 1) * w->dilations[i] + 1;
    const int64_t out = wanted.empty() ? in * w->strides[i] : wanted[static_cast<size_t>(i)];
    const int64_t total = (in - 1) * w->strides[i] + extent + output_padding[i] - out;
    if (total < 0) output_padding[i] += static_cast<int32_t>(std::min<int64_t>(-total, INT32_MAX / 2));
    const int64_t cut = std::clamp<int64_t>(total, 0, INT32_MAX), less = cut / 2;
    w->begin[i] = static_cast<int32_t>(upper ? less : cut - less);
    w->end[i] = static_cast<int32_t>(upper ? cut - less : less);
  }
  return true;
}

void import_conv_transpose(NodeContext& c) {
  Decompose d(c);
  WindowSpec w;
  if (!c.in(1)->type.is_static()) return c.fail("the weights' sizes must be known before running");
  const std::vector<int64_t> kernel = kernel_of(c, c.in(1));
  const std::string auto_pad = c.attr_string("auto_pad", "NOTSET");
  const bool same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
  std::vector<int64_t> wanted = c.attr_ints("output_shape"), extra = c.attr_ints("output_padding");
  const int spatial = rank_of(c.in(0)) - 2;
  if (same ? !read_steps(c, spatial, kernel, &w) : !read_window(c, c.in(0), kernel, &w)) return;
  if (static_cast<int>(wanted.size()) == spatial + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);
  if ((!wanted.empty() && static_cast<int>(wanted.size()) != spatial) || (!extra.empty() && static_cast<int>(extra.size()) != spatial))
    return c.fail("output_shape and output_padding: expected " + std::to_string(spatial) + " values");
  ops::conv_transpose::Attrs a;
  for (size_t i = 0; i < extra.size(); ++i) a.output_padding[i] = static_cast<int32_t>(std::clamp<int64_t>(extra[i], 0, INT32_MAX / 2));
  if ((same || !wanted.empty()) && !pad_to_output(c, wanted, auto_pad == "SAME_UPPER", &w, a.output_padding)) return;
  set_window(w, &a);
  a.groups = groups_of(c);
  Value *x = d.channels_last(c.in(0)), *weights = transposed_weights(d, c.in(1), a.groups);
  if (!c.b.ok()) return;
  c.out(0, d.channels_first(c.in(2) != nullptr ? c.b.op(OpId::conv_transpose, a, {x, weights, c.in(2)})
                                               : c.b.op(OpId::conv_transpose, a, {x, weights})));
}

void quant_conv(NodeContext& c, QuantOperands q) {
  Decompose d(c);
  WindowSpec w;
  if (!read_window(c, q.x, kernel_of(c, q.w), &w)) return;
  ops::q_conv::Attrs a;
  set_window(w, &a);
  a.groups = groups_of(c);
  q.x = d.channels_last(q.x);
  q.w = d.channels_last(q.w);
  if (c.b.ok()) c.out(0, d.channels_first(quant_product(d, OpId::q_conv, a, q)));
}

void import_conv_integer(NodeContext& c) {
  QuantOperands q;
  q.x = c.in(0);
  q.w = c.in(1);
  q.x_zero = c.in(2);
  q.w_zero = c.in(3);
  quant_conv(c, q);
}

void import_qlinear_conv(NodeContext& c) {
  quant_conv(c, {c.in(0), c.in(1), c.in(2), c.in(3), c.in(4), c.in(5), c.in(6), c.in(7), c.in(8)});
}

}  // namespace

void add_conv_ops(OpTable& t);
void add_conv_ops(OpTable& t) {
  t["Conv"] = {{"Conv", &import_conv, 1, 2}};
  t["ConvTranspose"] = {{"ConvTranspose", &import_conv_transpose, 1, 2}};
  t["ConvInteger"] = {{"ConvInteger", &import_conv_integer, 10, 2}};
  t["QLinearConv"] = {{"QLinearConv", &import_qlinear_conv, 10, 8}};
}

}  // namespace mote::frontends::onnx
