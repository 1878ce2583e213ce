// Operators on 8-bit numbers that are a table of 256 or a walk along rows. Bit for bit what the CPU computes.

#include <algorithm>

#include "mote/backends/opencl/device_types.h"
#include "mote/backends/opencl/families.h"
#include "mote/backends/opencl/quants.h"
#include "mote/ops/q_concat/q_concat.h"
#include "mote/ops/q_reduce/q_reduce.h"
#include "mote/ops/q_softmax/q_softmax.h"
#include "mote/ops/requantize/requantize.h"

namespace mote::backends::opencl {
namespace {

constexpr int32_t kQuantGroup = 64;  // group.cl

// What f makes of each byte of a type, as a table.
template <class F>
void add_bytes(DType type, std::vector<uint8_t>* out, F f) {
  for (int32_t raw = 0; raw < 256; ++raw)
    out->push_back(static_cast<uint8_t>(f(type == DType::s8 ? int32_t{static_cast<int8_t>(static_cast<uint8_t>(raw))} : raw)));
}
Place add_bytes_constant(Recorder& r, const std::vector<uint8_t>& bytes) {
  Place p = r.add_constant(bytes.data(), bytes.size() / 4);
  p.offset *= 4;
  return p;
}

void add_table(const OpView& op, Recorder& r, const Place& tables, int32_t inner, int32_t size) {
  const auto count = static_cast<int32_t>(op.outputs[0].count());
  r.launch(op, "quant_table", {static_cast<size_t>(count)}, {64})
      .tensor(op.inputs[0].place)
      .tensor(tables)
      .tensor(op.outputs[0].place)
      .value(count)
      .value(inner)
      .value(size);
}

}  // namespace

const char* lower_q_lut(const OpView& op, Recorder* r) {
  if (r != nullptr) add_table(op, *r, op.inputs[1].place, 1, 1);
  return nullptr;
}

// A byte in, a byte out: all there are, by the channel.
const char* lower_requantize(const OpView& op, Recorder* r) {
  const auto& a = op.attributes<ops::requantize::Attrs>();
  const Operand &x = op.inputs[0], &m = op.inputs[1], &y = op.outputs[0];
  if (!is_byte(x.dtype) || !is_byte(y.dtype)) return "only 8-bit numbers are computed there";
  if (m.data == nullptr || (op.has(2) && op.inputs[2].data == nullptr)) return "multipliers that are computed";
  if (r == nullptr) return nullptr;
  const auto size = static_cast<int32_t>(m.count());
  const ops::IntRange range = ops::clamp_range(a.clamp_lo, a.clamp_hi, y.dtype);
  std::vector<uint8_t> tables;
  for (int32_t k = 0; k < size; ++k) {
    add_bytes(x.dtype, &tables, [&](int32_t v) {
      const int32_t scaled = op.has(2) ? ops::scale_by(v - a.input_zero, element<int32_t>(m, k), element<int32_t>(op.inputs[2], k))
                                       : ops::round_to_s32(static_cast<float>(v - a.input_zero) * element<float>(m, k));
      return ops::clamp_to(int64_t{scaled} + a.output_zero, range);
    });
  }
  int32_t inner = 1;
  for (int i = (a.axis < 0 ? a.axis + x.rank : a.axis) + 1; i < x.rank; ++i) inner *= x.dims[i];
  add_table(op, *r, add_bytes_constant(*r, tables), inner, size);
  return nullptr;
}

const char* lower_q_concat(const OpView& op, Recorder* r) {
  const auto& a = op.attributes<ops::q_concat::Attrs>();
  const Operand& y = op.outputs[0];
  if (!is_byte(y.dtype)) return "only 8-bit numbers are computed there";
  if (op.inputs[0].data == nullptr || op.inputs[1].data == nullptr) return "scales that are computed";
  if (r == nullptr) return nullptr;
  const int axis = a.axis < 0 ? a.axis + y.rank : a.axis;
  const ops::IntRange range = ops::int_range(y.dtype);
  int64_t at = 0;
  for (size_t i = 2; i < op.inputs.size(); ++i) {
    const auto k = static_cast<int32_t>(i - 2);
    const float scale = element<float>(op.inputs[0], k);
    const auto zero = element<int32_t>(op.inputs[1], k);
    std::vector<uint8_t> table;
    add_bytes(y.dtype, &table, [&](int32_t v) { return ops::q_concat::convert(a, scale, zero, v, range); });
    const Place place = add_bytes_constant(*r, table);
    add_part(op, *r, op.inputs[i], axis, at, scale == a.output_scale && zero == a.output_zero ? nullptr : &place);
    at += op.inputs[i].dims[axis];
  }
  return nullptr;
}

const char* lower_q_softmax(const OpView& op, Recorder* r) {
  const Operand &x = op.inputs[0], &y = op.outputs[0];
  if (!is_byte(x.dtype) || !is_byte(y.dtype)) return "only 8-bit numbers are computed there";
  if (r == nullptr) return nullptr;
  int32_t exps[256];
  ops::q_softmax::exponentials(op.attributes<ops::q_softmax::Attrs>(), exps);
  const int32_t length = x.dim(-1);
  const ops::IntRange range = ops::int_range(y.dtype);
  r->launch(op, "quant_softmax", {static_cast<size_t>(x.count() / length) * kQuantGroup}, {kQuantGroup})
      .tensor(x.place)
      .tensor(r->add_constant(exps, 256))
      .tensor(y.place)
      .value(length)
      .value(flip_of(x.dtype))
      .value(range.lo)
      .value(range.hi)
      .each(std::max(1.0, 3.0 * length / kQuantGroup));
  return nullptr;
}

const char* lower_q_reduce(const OpView& op, Recorder* r) {
  namespace rd = ops::q_reduce;
  const auto& a = op.attributes<rd::Attrs>();
  const Operand &x = op.inputs[0], &y = op.outputs[0];
  if (!is_byte(x.dtype)) return "only 8-bit numbers are computed there";
  Reduction over{};
  if (const char* why = reduction_of(op, rd::reduction(a), &over)) return why;
  if (over.length >= 1 << 23) return "sums of more than 32 bits";
  if (r == nullptr) return nullptr;
  const auto kind = static_cast<rd::Kind>(a.kind);
  const ops::IntRange range = ops::int_range(y.dtype);
  QuantReduceArgs s{};
  s.kind = kind == rd::Kind::kMax ? 1 : kind == rd::Kind::kMin ? 2 : 0;
  s.mode = static_cast<int32_t>(a.mode);
  s.flip = flip_of(x.dtype), s.x_zero = zero_of(x.dtype, a.input_zero), s.y_zero = a.output_zero;
  const rd::Scaling f = rd::scaling(a, over.length);
  s.multiplier = f.multiplier, s.shift = f.shift;
  s.lo = range.lo, s.hi = range.hi;
  s.divisor = kind == rd::Kind::kMean ? static_cast<float>(over.length) : 1;
  s.factor = a.real_multiplier;
  const auto count = static_cast<int32_t>(y.count());
  const bool columns = over.inner >= kQuantGroup && over.length <= 256;
  auto args = r->launch(op, columns ? "quant_reduce_columns" : "quant_reduce", {static_cast<size_t>(count) * (columns ? 1 : kQuantGroup)},
                        {kQuantGroup});
  args.tensor(x.place).tensor(y.place).value(over.length).value(over.inner).value(s);
  if (columns) args.value(count);
  args.each(columns ? over.length : std::max(1.0, static_cast<double>(over.length) / kQuantGroup));
  return nullptr;
}

}  // namespace mote::backends::opencl
