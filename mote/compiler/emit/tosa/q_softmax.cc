// TFLite's softmax of 8-bit elements in the integers it computes with: exponentials from tables of 32 bits, 1 / sum by Newton's method.

#include "mote/ops/q_softmax/q_softmax.h"

#include "mote/compiler/emit/tosa/rescale.h"

namespace mote::emit::tosa {
namespace {

// INT32 operators on tensors of one rank.
struct Words {
  Writer& w;
  int rank;

  Operand number(int64_t v) { return w.number(fb::DType::INT32, static_cast<double>(v), rank); }
  Operand add(const Operand& x, const Operand& y) { return w.binary(fb::Op::ADD, x, y); }
  Operand sub(const Operand& x, const Operand& y) { return w.binary(fb::Op::SUB, x, y); }
  // x * y / 2^31, rounded: TFLite's product of fixed-point numbers.
  Operand mul(const Operand& x, const Operand& y) {
    Dims dims = x.dims;
    for (size_t i = 0; i < dims.size(); ++i) dims[i] = std::max(dims[i], y.dims[i]);
    return w.op(fb::Op::MUL, {x, y, w.zero(fb::DType::INT8, 31)}, fb::DType::INT32, dims);
  }
  Operand shift_left(const Operand& x, int64_t count) { return w.binary(fb::Op::LOGICAL_LEFT_SHIFT, x, number(count)); }
  Operand shift_right(const Operand& x, const Operand& count, bool round) {
    const auto kind = fb::CreateArithmeticRightShiftAttribute(w.b, round).Union();
    return w.op(fb::Op::ARITHMETIC_RIGHT_SHIFT, fb::Attribute::ArithmeticRightShiftAttribute, kind, {x, count}, x.type, x.dims);
  }
};

// 256 entries of INT32 by the elements of `below`, 0 to 255.
Operand lookup(Writer& w, const Operand& below, const std::vector<double>& table) {
  int32_t count = 1;
  for (const int32_t d : below.dims) count *= d;
  const Operand entries = w.numbers(fb::DType::INT32, {1, 256, 1}, table);
  const Operand found = w.op(fb::Op::GATHER, {entries, w.reshape(below, {1, count})}, fb::DType::INT32, {1, count, 1});
  return w.reshape(found, below.dims);
}

// 1 / sum as ops::reciprocal_of computes it for 12 integer bits; *zeros: leading zeros of the sum.
Operand reciprocal(Words& t, const Operand& sum, Operand* zeros) {
  Writer& w = t.w;
  *zeros = w.op(fb::Op::CLZ, {sum}, sum.type, sum.dims);
  const Operand normal = w.binary(fb::Op::LOGICAL_LEFT_SHIFT, sum, *zeros);
  const Operand fraction = w.binary(fb::Op::BITWISE_AND, normal, t.number(0x7fffffff));
  // (fraction + 2^31) / 2 without a 33rd bit.
  const Operand half = t.add(t.shift_right(fraction, t.number(1), false), t.number(1 << 30));
  Operand x = t.add(t.number(1515870810), t.mul(half, t.number(-1010580540)));
  for (int i = 0; i < 3; ++i) {
    const Operand rest = t.sub(t.number(1 << 29), t.mul(half, x));
    x = t.add(x, t.shift_left(t.mul(x, rest), 2));
  }
  // Twice that, saturated.
  const Operand most = w.binary(fb::Op::MINIMUM, x, t.number(1 << 30));
  return t.add(most, w.binary(fb::Op::MINIMUM, most, t.number((1 << 30) - 1)));
}

}  // namespace

bool lower_q_softmax(Writer& w, const Node& n) {
  namespace op = ops::q_softmax;
  if (!n.is(OpId::q_softmax)) return false;
  const auto a = n.attributes<op::Attrs>();
  const Value *in = n.inputs[0], *out = n.outputs[0];
  const int rank = in->type.rank(), axis = rank - 1;
  if (in->type.dtype == DType::s16) w.fail("softmax of INT16 has no form in TOSA to the bit");
  if (rank == 0) w.fail("a scalar has no axis to normalize along");
  else if (in->type.dims.back() > 4095) w.fail("sums of more than 4095 exponentials do not fit 32 bits");
  const Operand x = widened(w, in, 0, rank);
  if (!w.ok()) return true;
  Words t{w, rank};
  Dims one = x.dims;
  one[static_cast<size_t>(axis)] = 1;
  const auto propagate = fb::CreateReduceMaxAttribute(w.b, axis, fb::NanPropagationMode::PROPAGATE).Union();
  const Operand most = w.op(fb::Op::REDUCE_MAX, fb::Attribute::ReduceMaxAttribute, propagate, {x}, x.type, one);
  const Operand below = t.sub(most, x);
  int32_t exps[256];
  op::exponentials(a, exps);
  std::vector<double> fine, coarse;
  for (const int32_t e : exps) {
    fine.push_back(e);
    coarse.push_back((ops::Fixed<int32_t, 0>{e}.rescale<12>().raw));
  }
  const auto along = fb::CreateReduceSumAttribute(w.b, axis).Union();
  const Operand sum = w.op(fb::Op::REDUCE_SUM, fb::Attribute::ReduceSumAttribute, along, {lookup(w, below, coarse)}, x.type, one);
  Operand zeros;
  const Operand scale = reciprocal(t, sum, &zeros);
  // The product is shifted by 12 - zeros + 31 - bits of the output.
  const int32_t bits = static_cast<int32_t>(dtype_bytes(out->type.dtype)) * 8;
  Operand count = t.sub(t.number(43 - bits), zeros);
  count = w.clamp(count, 0, 31);
  Operand y = t.shift_right(t.mul(lookup(w, below, fine), scale), count, true);
  // Elements far below the greatest are 0: so are their exponentials.
  const ops::IntRange range = ops::int_range(out->type.dtype);
  y = t.add(y, t.number(static_cast<int64_t>(signed_value(range.lo, out->type.dtype))));
  Scale last = fixed_scale(w, {1 << 30}, {1});
  last.to = out->type.dtype == DType::s16 ? fb::DType::INT16 : fb::DType::INT8;
  y = rescale(w, y, last);
  if (w.ok()) w.bind_signed(out, y);
  return true;
}

}  // namespace mote::emit::tosa
