// Element-wise operators.

#include <limits>

#include "mote/backends/opencl/device_types.h"
#include "mote/backends/opencl/families.h"
#include "mote/ops/clip/clip.h"
#include "mote/ops/div/div.h"
#include "mote/ops/elu/elu.h"
#include "mote/ops/gelu/gelu.h"
#include "mote/ops/hard_sigmoid/hard_sigmoid.h"
#include "mote/ops/leaky_relu/leaky_relu.h"
#include "mote/ops/silu/silu.h"
#include "mote/ops/softplus/softplus.h"

namespace mote::backends::opencl {
namespace {

// A bound of clip, which a constant may replace. False when it is computed.
bool bound(const OpView& op, size_t i, float* out) {
  if (!op.has(i)) return true;
  if (op.inputs[i].data == nullptr || op.inputs[i].dtype != DType::f32) return false;
  if (op.inputs[i].count() > 0) *out = *static_cast<const float*>(op.inputs[i].data);
  return true;
}

// Functions that are a few additions and comparisons.
bool is_cheap(OpId id) {
  switch (id) {
    case OpId::abs:
    case OpId::neg:
    case OpId::sign:
    case OpId::ceil:
    case OpId::floor:
    case OpId::round:
    case OpId::trunc:
    case OpId::square:
    case OpId::relu:
    case OpId::clip:
    case OpId::leaky_relu:
    case OpId::hard_swish:
    case OpId::hard_sigmoid: return true;
    default: return false;
  }
}

}  // namespace

WalkArgs broadcast_walk(const Operand& a, const Operand& b, const Operand& y) {
  WalkArgs w{};
  w.count = static_cast<int32_t>(y.count());
  const auto steps = [&](const Operand& o, int32_t* out) {
    int32_t step = 1;
    for (int i = 0; i < 8; ++i) {
      const int k = o.rank - 1 - i;
      out[7 - i] = k < 0 || o.dims[k] == 1 ? 0 : step;
      step *= k < 0 ? 1 : o.dims[k];
    }
  };
  for (int i = 0; i < 8; ++i) w.size[7 - i] = i < y.rank ? y.dim(-1 - i) : 1;
  steps(a, w.a);
  steps(b, w.b);
  return w;
}

const char* lower_unary(const OpView& op, Recorder* r) {
  const Operand &x = op.inputs[0], &y = op.outputs[0];
  if (x.dtype != DType::f32) return "only f32 is computed there";
  const auto id = static_cast<OpId>(op.op);
  float p = 0, q = 0;
  if (id == OpId::clip) {
    const auto& a = op.attributes<ops::clip::Attrs>();
    p = a.lo, q = a.hi;
    if (!bound(op, 1, &p) || !bound(op, 2, &q)) return "its bounds are computed";
  }
  if (id == OpId::leaky_relu) p = op.attributes<ops::leaky_relu::Attrs>().negative_slope;
  if (id == OpId::silu) p = op.attributes<ops::silu::Attrs>().alpha;
  if (id == OpId::softplus) {
    const auto& a = op.attributes<ops::softplus::Attrs>();
    p = a.beta, q = a.threshold;
  }
  if (id == OpId::gelu) p = static_cast<float>(op.attributes<ops::gelu::Attrs>().approximate);
  if (id == OpId::hard_sigmoid) {
    const auto& a = op.attributes<ops::hard_sigmoid::Attrs>();
    p = a.alpha, q = a.beta;
  }
  if (r == nullptr) return nullptr;
  const int32_t count = static_cast<int32_t>(y.count());
  if (id == OpId::elu) {
    const auto& a = op.attributes<ops::elu::Attrs>();
    r->launch(op, "elu", {static_cast<size_t>(count)}, {64})
        .tensor(x.place)
        .tensor(y.place)
        .value(count)
        .value(a.alpha)
        .value(a.scale)
        .value(a.input_scale);
    return nullptr;
  }
  r->launch(op, "unary", {static_cast<size_t>(count)}, {64})
      .tensor(x.place)
      .tensor(y.place)
      .value(count)
      .value(static_cast<int32_t>(op.op))
      .value(p)
      .value(q)
      .like(is_cheap(id) ? "binary_same" : nullptr);
  return nullptr;
}

const char* lower_binary(const OpView& op, Recorder* r) {
  const Operand &a = op.inputs[0], &b = op.inputs[1], &y = op.outputs[0];
  if (a.dtype != DType::f32 || b.dtype != DType::f32) return "only f32 is computed there";
  if (op.op == static_cast<uint16_t>(OpId::div) && op.attributes<ops::div::Attrs>().rounding != 0) return "a quotient that is rounded";
  if (r == nullptr) return nullptr;
  const int32_t count = static_cast<int32_t>(y.count()), op_number = op.op;
  // The whole of b again and again: a scalar, channels, or everything.
  bool tail = a.count() == count;
  int64_t matched = 1;
  for (int i = 1; i <= y.rank && tail && matched < b.count(); ++i) {
    tail = i <= b.rank && b.dim(-i) == y.dim(-i);
    matched *= tail ? y.dim(-i) : 1;
  }
  if (tail && matched == b.count()) {
    r->launch(op, "binary_same", {static_cast<size_t>(count)}, {64})
        .tensor(a.place)
        .tensor(b.place)
        .tensor(y.place)
        .value(count)
        .value(static_cast<int32_t>(b.count()))
        .value(op_number);
    return nullptr;
  }
  r->launch(op, "binary", {static_cast<size_t>(count)}, {64})
      .tensor(a.place)
      .tensor(b.place)
      .tensor(y.place)
      .value(broadcast_walk(a, b, y))
      .value(op_number);
  return nullptr;
}

}  // namespace mote::backends::opencl
