// FFT2D and RFFT2D over the last two axes of (N, H, W), real and imaginary parts in tensors of their own.

#include "mote/compiler/frontends/tosa/op.h"
#include "mote/ops/dft/dft.h"

namespace mote::frontends::tosa {
namespace {

Value* transform(Op& op, Value* x, int axis, bool inverse, bool onesided) {
  ops::dft::Attrs a;
  a.axis = axis;
  a.inverse = inverse ? 1 : 0;
  a.onesided = onesided ? 1 : 0;
  return op.ok() ? op.b.op(OpId::dft, a, {x}) : nullptr;
}

bool is_image(Op& op, const Value* x) {
  if (op.ok() && rank_of(x) != 3) op.fail("expected (N, H, W), found " + describe(op.in(0)));
  return op.ok();
}

void set_parts(Op& op, Value* y) {
  op.set(0, op.squeeze(op.slice(y, 3, 0, 1), {3}));
  op.set(1, op.squeeze(op.slice(y, 3, 1, 2), {3}));
}

}  // namespace

void import_rfft2d(Op& op) {
  Value* x = op.value(0);
  if (!is_image(op, x)) return;
  set_parts(op, transform(op, transform(op, op.unsqueeze(x, {3}), 2, false, true), 1, false, false));
}

// The inverse transform of TOSA is not divided by the number of points.
void import_fft2d(Op& op) {
  const bool inverse = op.attributes<fb::FFT2dAttribute>().inverse();
  Value *real = op.value(0), *imaginary = op.value(1);
  if (!is_image(op, real)) return;
  if (!real->type.is_static()) return op.fail("expected fixed sizes", "give them with --shape");
  const double points = inverse ? static_cast<double>(real->type.dims[1]) * real->type.dims[2] : 1;
  Value* x = op.concat({op.unsqueeze(real, {3}), op.unsqueeze(imaginary, {3})}, 3);
  set_parts(op, op.mul(transform(op, transform(op, x, 2, inverse, false), 1, inverse, false), points));
}

}  // namespace mote::frontends::tosa
