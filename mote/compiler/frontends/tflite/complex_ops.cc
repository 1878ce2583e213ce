// Complex numbers, between a Fourier transform and what makes real numbers of it: pairs of floats in a last dimension of two.

#include "mote/compiler/frontends/common/words.h"
#include "mote/compiler/frontends/tflite/op.h"
#include "mote/ops/dft/dft.h"

namespace mote::frontends::tflite {
namespace {

// (..., h, w, 1 or 2) with `axis` transformed.
Value* transform(Op& op, Value* x, int axis, int64_t length, bool onesided) {
  if (x == nullptr) return nullptr;
  ops::dft::Attrs a;
  a.axis = axis;
  a.onesided = onesided ? 1 : 0;
  a.length = static_cast<int32_t>(length);
  return op.b.op(OpId::dft, a, {x});
}

// Real or imaginary parts.
Value* part(Op& op, Value* x, int64_t which) {
  Words w(op.b);
  const int axis = rank_of(x) - 1;
  return w.squeeze(w.slice(x, axis, which, which + 1), {axis});
}

// An operator that changes the shape alone.
Value* reshaped(Op& op, Value* x) {
  Words w(op.b);
  const int rank = rank_of(x) - 1;  // of the complex tensor
  std::vector<int64_t> sizes;
  if (op.code() == BuiltinOperator::EXPAND_DIMS) {
    if (!op.need_ints(1, "the axis", &sizes)) return nullptr;
    for (int64_t& axis : sizes) axis += axis < 0 ? rank + 1 : 0;
    return w.unsqueeze(x, sizes);
  }
  if (op.code() == BuiltinOperator::RESHAPE) {
    const auto* stated = op.options<fb::ReshapeOptions>().new_shape();
    if (op.has(1) ? !op.need_ints(1, "the new shape", &sizes) : stated == nullptr) return nullptr;
    if (!op.has(1)) sizes.assign(stated->begin(), stated->end());
    sizes.push_back(2);
    return w.reshape(x, sizes);
  }
  const auto* wanted = op.options<fb::SqueezeOptions>().squeeze_dims();
  if (wanted != nullptr) sizes.assign(wanted->begin(), wanted->end());
  for (int64_t& axis : sizes) axis += axis < 0 ? rank : 0;
  for (int i = 0; (wanted == nullptr || wanted->size() == 0) && i < rank; ++i)
    if (dims_of(x)[static_cast<size_t>(i)] == 1) sizes.push_back(i);
  return w.squeeze(x, sizes);
}

}  // namespace

bool is_complex(const Tensor& t) { return t.source_type == fb::TensorType::COMPLEX64; }

void import_rfft2d(Op& op) {
  Value* x = op.value(0);
  std::vector<int64_t> lengths;
  const int rank = rank_of(x);
  if (!op.need_ints(1, "the length of the transform", &lengths)) return;
  if (rank < 2 || lengths.size() != 2) return op.fail("expected an input of rank 2 or more and two lengths, found " + describe(op.in(0)));
  for (const int64_t length : lengths)
    if (length < 1 || length > ops::kMaxFourier) return op.fail("lengths: expected 1 to 2^24, found " + std::to_string(length));
  Value* y = transform(op, Words(op.b).unsqueeze(x, {rank}), rank - 1, lengths[1], true);
  const bool has_one_row = lengths[0] == 1 && is_fixed(x, rank - 2) && dims_of(x)[static_cast<size_t>(rank - 2)] == 1;
  op.set(has_one_row ? y : transform(op, y, rank - 2, lengths[0], false));
}

void import_complex(Op& op) {
  Value* x = op.value(0);
  if (!is_complex(op.in(0))) return op.fail("expected complex numbers, found " + describe(op.in(0)));
  switch (op.code()) {
    case BuiltinOperator::REAL: return op.set(part(op, x, 0));
    case BuiltinOperator::IMAG: return op.set(part(op, x, 1));
    case BuiltinOperator::COMPLEX_ABS: return op.set(Words(op.b).reduce(OpId::reduce_l2, x, {rank_of(x) - 1}, false));
    case BuiltinOperator::RESHAPE:
    case BuiltinOperator::SQUEEZE:
    case BuiltinOperator::EXPAND_DIMS: return op.set(reshaped(op, x));
    default:
      op.fail("works on complex numbers, which only RFFT2D, COMPLEX_ABS, REAL, IMAG and changes of shape do here",
              "write it with the real and imaginary parts before converting");
  }
}

}  // namespace mote::frontends::tflite
