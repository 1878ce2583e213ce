// Reductions, softmax, norms, pools, interpolation.

#include <algorithm>

#include "mote/backends/common/memory_budget.h"
#include "mote/backends/common/op_context.h"
#include "mote/backends/opencl/device_types.h"
#include "mote/backends/opencl/families.h"
#include "mote/core/size.h"
#include "mote/ops/adaptive_avg_pool/adaptive_avg_pool.h"
#include "mote/ops/avg_pool/avg_pool.h"
#include "mote/ops/common/reduce.h"
#include "mote/ops/layer_norm/layer_norm.h"
#include "mote/ops/max_pool/max_pool.h"
#include "mote/ops/resize/coordinates.h"
#include "mote/ops/softmax/softmax.h"

namespace mote::backends::opencl {
namespace {

constexpr int32_t kReduceGroup = 64;  // reduce.cl

int64_t product_of(const int32_t* dims, int begin, int end) {
  int64_t n = 1;
  for (int i = begin; i < end; ++i) n *= dims[i];
  return n;
}

int32_t kind_of(OpId id) {
  switch (id) {
    case OpId::reduce_mean: return 1;
    case OpId::reduce_max: return 2;
    case OpId::reduce_min: return 3;
    case OpId::reduce_prod: return 4;
    case OpId::reduce_sum_square: return 5;
    case OpId::reduce_l1: return 6;
    case OpId::reduce_l2: return 7;
    default: return 0;
  }
}

}  // namespace

const char* reduction_of(const OpView& op, const ops::ReduceAttrs& a, Reduction* out) {
  const Operand& x = op.inputs[0];
  if (op.has(1) && op.inputs[1].data == nullptr) return "its axes are known only when running";
  uint32_t mask = 0;
  int64_t bad = 0;
  const ContextOf context(op);
  if (!ops::reduced_axes(a, x.rank, op.has(1) ? &context.get().input(1) : nullptr, &mask, &bad)) return "an axis it does not have";
  // Neighbouring axes alone; those of size 1 are no matter.
  int begin = -1, end = -1;
  for (int i = 0; i < x.rank; ++i) {
    if ((mask >> i & 1) == 0 || x.dims[i] == 1) continue;
    if (begin < 0) begin = i;
    else if (product_of(x.dims, end, i) != 1) return "axes that are not neighbours";
    end = i + 1;
  }
  if (begin < 0) begin = end = x.rank;
  *out = {static_cast<int32_t>(product_of(x.dims, begin, end)), static_cast<int32_t>(product_of(x.dims, end, x.rank))};
  return nullptr;
}

const char* lower_reduce(const OpView& op, Recorder* r) {
  const Operand &x = op.inputs[0], &y = op.outputs[0];
  if (x.dtype != DType::f32) return "only f32 is computed there";
  Reduction over{};
  if (const char* why = reduction_of(op, op.attributes<ops::ReduceAttrs>(), &over)) return why;
  if (r == nullptr) return nullptr;
  const int32_t length = over.length, inner = over.inner;
  const int32_t kind = kind_of(static_cast<OpId>(op.op)), count = static_cast<int32_t>(y.count());
  const bool columns = inner >= kReduceGroup && length <= 256;
  auto args =
      r->launch(op, columns ? "reduce_columns" : "reduce", {static_cast<size_t>(count) * (columns ? 1 : kReduceGroup)}, {kReduceGroup});
  args.tensor(x.place).tensor(y.place).value(length).value(inner).value(kind);
  if (columns) args.value(count);
  args.each(columns ? length : std::max(1.0, static_cast<double>(length) / kReduceGroup));
  return nullptr;
}

const char* lower_softmax(const OpView& op, Recorder* r) {
  const Operand& x = op.inputs[0];
  if (x.dtype != DType::f32) return "only f32 is computed there";
  if (x.rank == 0) return "a scalar";
  if (r == nullptr) return nullptr;
  const int32_t given = op.attributes<ops::softmax::Attrs>().axis;
  const int axis = given < 0 ? given + x.rank : given;
  const int32_t length = x.dims[axis], inner = static_cast<int32_t>(product_of(x.dims, axis + 1, x.rank));
  r->launch(op, "softmax", {static_cast<size_t>(x.count() / length) * kReduceGroup}, {kReduceGroup})
      .tensor(x.place)
      .tensor(op.outputs[0].place)
      .value(length)
      .value(inner)
      .value(int32_t{op.op == static_cast<uint16_t>(OpId::log_softmax) ? 1 : 0})
      .each(std::max(1.0, 4.0 * length / kReduceGroup));  // exponentials are a few elements each
  return nullptr;
}

const char* lower_layer_norm(const OpView& op, Recorder* r) {
  const auto& a = op.attributes<ops::layer_norm::Attrs>();
  const Operand& x = op.inputs[0];
  if (x.dtype != DType::f32 || x.rank == 0) return "only f32 is computed there";
  const int axis = a.axis < 0 ? a.axis + x.rank : a.axis;
  const auto length = static_cast<int32_t>(product_of(x.dims, axis, x.rank));
  for (size_t o = 1; o < op.outputs.size(); ++o)
    if (op.outputs[o].present) return "mean and deviation as outputs";
  for (size_t i = 1; i <= 2; ++i) {
    if (!op.has(i)) continue;
    const Operand& f = op.inputs[i];
    if (f.dtype != DType::f32 || f.count() != length) return "a scale that is not one value per element of a row";
    for (int k = 1; k <= x.rank - axis; ++k)
      if (k > f.rank || f.dim(-k) != x.dim(-k)) return "a scale that is not one value per element of a row";
  }
  if (r == nullptr) return nullptr;
  r->launch(op, "layer_norm", {static_cast<size_t>(x.count() / length) * kReduceGroup}, {kReduceGroup})
      .tensor(x.place)
      .tensor(op.has(1) ? op.inputs[1].place : Place{})
      .tensor(op.has(2) ? op.inputs[2].place : Place{})
      .tensor(op.outputs[0].place)
      .value(length)
      .value(a.epsilon)
      .value(int32_t{op.has(1) ? 1 : 0})
      .value(int32_t{op.has(2) ? 1 : 0})
      .each(std::max(1.0, 3.0 * length / kReduceGroup));
  return nullptr;
}

const char* lower_pool(const OpView& op, Recorder* r) {
  const Operand &x = op.inputs[0], &y = op.outputs[0];
  if (x.dtype != DType::f32) return "only f32 is computed there";
  if (x.rank != 3 && x.rank != 4) return "three spatial dimensions";
  if (op.outputs.size() > 1 && op.outputs[1].present) return "indices as an output";
  const auto id = static_cast<OpId>(op.op);
  // The kernel multiplies the two in 32 bits to find a window's ends.
  for (int i = 1; id == OpId::adaptive_avg_pool && i < x.rank - 1; ++i)
    if ((int64_t{x.dims[i]} + 1) * y.dims[i] > INT32_MAX) return "an input and output of which one times the other is beyond 32 bits";
  if (r == nullptr) return nullptr;
  WindowArgs w{};
  float divisor = 1;
  int32_t kind = 0;
  PaddedEnds ends{};
  if (id == OpId::adaptive_avg_pool) {
    const int lead = 4 - x.rank;
    w.batch = x.dims[0], w.in_c = w.out_c = x.dim(-1);
    w.in_h = lead == 1 ? 1 : x.dims[1], w.in_w = x.dim(-2), w.out_h = lead == 1 ? 1 : y.dims[1], w.out_w = y.dim(-2);
  } else if (id == OpId::max_pool) {
    const auto& a = op.attributes<ops::max_pool::Attrs>();
    w = {window_of(op, a, a.kernel), 0, 0};
  } else {
    const auto& a = op.attributes<ops::avg_pool::Attrs>();
    w = {window_of(op, a, a.kernel), 0, 0};
    kind = a.divisor_override != 0 ? 2 : a.count_include_pad != 0 ? 3 : 1;
    divisor = static_cast<float>(a.divisor_override);
    ends = padded_ends(op, a, w);
  }
  auto args = r->launch_positions(op, id == OpId::adaptive_avg_pool ? "adaptive_pool" : "pool", w.out_c, w.batch * w.out_h * w.out_w);
  args.tensor(x.place).tensor(y.place).value(w);
  if (id != OpId::adaptive_avg_pool) args.value(kind).value(divisor).value(ends.h).value(ends.w);
  args.each(id != OpId::adaptive_avg_pool ? static_cast<double>(w.kernel_h) * w.kernel_w
                                          : std::max(1.0, static_cast<double>(x.count()) / static_cast<double>(y.count())));
  return nullptr;
}

const char* lower_resize(const OpView& op, Recorder* r) {
  namespace rs = ops::resize;
  rs::Attrs a = op.attributes<rs::Attrs>();
  const Operand &x = op.inputs[0], &y = op.outputs[0];
  if (x.dtype != DType::f32) return "only f32 is computed there";
  if (x.rank != 3 && x.rank != 4) return "three spatial dimensions";
  if (a.coordinates == rs::kCropAndResize) return "resizing a crop";
  for (size_t i = 1; i < op.inputs.size(); ++i)
    if (op.has(i) && op.inputs[i].data == nullptr) return "its sizes are known only when running";
  const int spatial = x.rank - 2;
  for (int i = 0; i < spatial && op.has(2); ++i) a.scales[i] = static_cast<const float*>(op.inputs[2].data)[i];
  if (r == nullptr) return nullptr;
  int32_t counts[2] = {1, 1}, ins[2] = {1, 1}, outs[2] = {1, 1};
  std::vector<int32_t> taps;
  std::vector<float> weights;
  MemoryBudget budget;
  for (int d = 0; d < 2; ++d) {
    const int axis = d - (2 - spatial);
    if (axis >= 0) ins[d] = x.dims[1 + axis], outs[d] = y.dims[1 + axis];
    if (axis >= 0) counts[d] = static_cast<int32_t>(rs::Taps<float>(a, axis, ins[d], outs[d], 0).count);
    budget.take(times(times(static_cast<uint64_t>(outs[d]), static_cast<uint64_t>(counts[d])), sizeof(int32_t) + sizeof(float)));
    for (int32_t i = 0; i < outs[d]; ++i) {
      const rs::Taps<float> t = axis >= 0 ? rs::Taps<float>(a, axis, ins[d], outs[d], i) : rs::Taps<float>();
      for (int32_t k = 0; k < counts[d]; ++k) {
        taps.push_back(axis >= 0 ? t.index(k) : 0);
        weights.push_back(axis >= 0 ? t.weight(k) : 1);
      }
    }
  }
  const Place tap_place = r->add_constant(taps.data(), taps.size()), weight_place = r->add_constant(weights.data(), weights.size());
  r->launch_positions(op, "resize", x.dim(-1), y.count() / y.dim(-1))
      .tensor(x.place)
      .tensor(tap_place)
      .tensor(weight_place)
      .tensor(y.place)
      .value(x.dims[0])
      .value(ins[0])
      .value(ins[1])
      .value(x.dim(-1))
      .value(outs[0])
      .value(outs[1])
      .value(counts[0])
      .value(counts[1])
      .each(static_cast<double>(counts[0]) * counts[1]);
  return nullptr;
}

}  // namespace mote::backends::opencl
