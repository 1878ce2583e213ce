// Fourier transforms: FFT2D and RFFT2D for powers of two, else a product with the matrix of the transform.

#include <cmath>

#include "mote/compiler/emit/tosa/match.h"
#include "mote/compiler/emit/tosa/windows.h"
#include "mote/ops/dft/dft.h"

namespace mote::emit::tosa {
namespace {

using ops::dft::Attrs;

struct Parts {
  Operand real, imaginary;  // no name: zeros
};

bool power_of_two(int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

// The last dimension, of size 1 or 2, as tensors of their own.
Parts parts_of(Writer& w, const Operand& x) {
  const size_t last = x.dims.size() - 1;
  const Dims dims(x.dims.begin(), x.dims.end() - 1);
  Parts p{w.reshape(part(w, x, last, 0, 1), dims), {}};
  if (x.dims[last] == 2) p.imaginary = w.reshape(part(w, x, last, 1, 1), dims);
  return p;
}

Operand with_parts(Writer& w, const Parts& p) {
  Dims dims = p.real.dims;
  dims.push_back(1);
  return joined(w, {w.reshape(p.real, dims), w.reshape(p.imaginary, dims)}, dims.size() - 1);
}

// Over the last two axes of (N, H, W). Not divided by the number of points.
Parts transform(Writer& w, const Parts& x, bool inverse, bool onesided) {
  Dims out = x.real.dims;
  std::vector<Operand> y;
  if (onesided) {
    out[2] = out[2] / 2 + 1;
    y = w.op_of_many(fb::Op::RFFT2D, fb::Attribute::RFFT2dAttribute, fb::CreateRFFT2dAttribute(w.b, false).Union(), {x.real},
                     {{"", x.real.type, out}, {"", x.real.type, out}});
  } else {
    const Operand imaginary = !x.imaginary.name.empty() ? x.imaginary : w.binary(fb::Op::MUL, x.real, w.number(x.real.type, 0, 3));
    y = w.op_of_many(fb::Op::FFT2D, fb::Attribute::FFT2dAttribute, fb::CreateFFT2dAttribute(w.b, inverse, false).Union(),
                     {x.real, imaginary}, {{"", x.real.type, out}, {"", x.real.type, out}});
  }
  return {y[0], y[1]};
}

// Along the last axis of (N, 1, W), as a product with cosines and sines.
Parts times_matrix(Writer& w, const Parts& x, int32_t points, bool inverse, bool onesided) {
  constexpr int32_t kMostPoints = 4096;
  const int32_t out = onesided ? points / 2 + 1 : points;
  if (points > kMostPoints) w.fail("a transform of " + std::to_string(points) + " points, no power of two, is too long for a matrix");
  if (!w.ok()) return {};
  std::vector<double> cosines, sines;
  for (int64_t i = 0; i < points; ++i)
    for (int64_t k = 0; k < out; ++k) {
      const double angle = 2 * 3.14159265358979323846 * static_cast<double>(i * k % points) / points;
      cosines.push_back(std::cos(angle));
      sines.push_back(inverse ? std::sin(angle) : -std::sin(angle));
    }
  const fb::DType t = x.real.type;
  const int32_t rows = x.real.dims[0];
  const Operand c = w.numbers(t, {1, points, out}, cosines), s = w.numbers(t, {1, points, out}, sines);
  const auto times = [&](const Operand& v, const Operand& m) {
    return w.op(fb::Op::MATMUL, {w.reshape(v, {1, rows, points}), m, w.zero(t), w.zero(t)}, t, {1, rows, out});
  };
  Parts y{times(x.real, c), times(x.real, s)};
  if (!x.imaginary.name.empty()) {
    y.real = w.binary(fb::Op::SUB, y.real, times(x.imaginary, s));
    y.imaginary = w.binary(fb::Op::ADD, y.imaginary, times(x.imaginary, c));
  }
  return {w.reshape(y.real, {rows, 1, out}), w.reshape(y.imaginary, {rows, 1, out})};
}

// A transform along one axis: rows of (N, 1, W).
Operand along_axis(Writer& w, const Node& n) {
  const auto a = n.attributes<Attrs>();
  Operand x = w.of(n.inputs[0]);
  const int rank = n.inputs[0]->type.rank(), axis = a.axis < 0 ? a.axis + rank : a.axis;
  const Dims& out = n.outputs[0]->type.dims;
  if (!is_float(x.type)) w.fail("TOSA transforms floats");
  if (axis < 0 || axis >= rank) w.fail("axis " + std::to_string(axis) + " is outside of the tensor");
  if (a.inverse != 0 && a.onesided != 0) w.fail("TOSA has no inverse transform of one side");
  if (!w.ok()) return {};
  const size_t at = static_cast<size_t>(axis);
  const int32_t points = static_cast<int32_t>(ops::dft::points(a, x.dims[at]));
  if (points < x.dims[at]) x = part(w, x, at, 0, points);
  std::vector<int64_t> pads(2 * x.dims.size(), 0);
  pads[2 * at + 1] = points - x.dims[at];
  Parts p = parts_of(w, filled(w, x, pads, 0));
  std::vector<int> perm;
  for (int i = 0; i + 1 < rank; ++i)
    if (i != axis) perm.push_back(i);
  perm.push_back(axis);
  const auto rows = [&](const Operand& v) {
    if (v.name.empty()) return v;
    const Operand turned = w.transpose(v, perm);
    int32_t count = 1;
    for (size_t i = 0; i + 1 < turned.dims.size(); ++i) count *= turned.dims[i];
    return w.reshape(turned, {count, 1, points});
  };
  p = {rows(p.real), rows(p.imaginary)};
  const bool inverse = a.inverse != 0, onesided = a.onesided != 0 && p.imaginary.name.empty();
  const bool fast = power_of_two(points) && p.real.type == fb::DType::FP32;
  p = fast ? transform(w, p, inverse, onesided) : times_matrix(w, p, points, inverse, onesided);
  if (!w.ok()) return {};
  if (a.onesided != 0 && !onesided) p = {part(w, p.real, 2, 0, points / 2 + 1), part(w, p.imaginary, 2, 0, points / 2 + 1)};
  if (inverse) {
    const Operand one = w.number(p.real.type, 1.0 / points, 3);
    p = {w.binary(fb::Op::MUL, p.real, one), w.binary(fb::Op::MUL, p.imaginary, one)};
  }
  std::vector<int> back(perm.size());
  Dims turned;
  for (size_t i = 0; i < perm.size(); ++i) {
    back[static_cast<size_t>(perm[i])] = static_cast<int>(i);
    turned.push_back(out[static_cast<size_t>(perm[i])]);
  }
  const auto restored = [&](const Operand& v) { return w.transpose(w.reshape(v, turned), back); };
  return with_parts(w, {restored(p.real), restored(p.imaginary)});
}

}  // namespace

// The transform along axis 2 whose result `second` transforms along axis 1, both of a whole image (N, H, W, 1 or 2).
const Node* inner_transform(const Node& second) {
  if (!second.is(OpId::dft)) return nullptr;
  const Value* between = second.inputs[0];
  const Node* first = between->producer;
  if (first == nullptr || !first->is(OpId::dft) || between->type.rank() != 4) return nullptr;
  const auto a = first->attributes<Attrs>(), b = second.attributes<Attrs>();
  const Dims &x = first->inputs[0]->type.dims, &y = second.outputs[0]->type.dims;
  const bool axes = (a.axis == 2 || a.axis == -2) && (b.axis == 1 || b.axis == -3);
  const bool plain = a.length == 0 && b.length == 0 && b.onesided == 0 && a.inverse == b.inverse && (a.onesided == 0 || x[3] == 1);
  const bool fits = power_of_two(x[1]) && power_of_two(x[2]) && y[1] == x[1] && (a.onesided == 0 || a.inverse == 0);
  return axes && plain && fits && first->inputs[0]->type.dtype == DType::f32 ? first : nullptr;
}

Operand image_transform(Writer& w, const Node& first) {
  const auto a = first.attributes<Attrs>();
  const Operand x = w.of(first.inputs[0]);
  if (!w.ok()) return {};
  Parts p = transform(w, parts_of(w, x), a.inverse != 0, a.onesided != 0);
  if (a.inverse != 0) {
    const Operand one = w.number(p.real.type, 1.0 / (static_cast<double>(x.dims[1]) * x.dims[2]), 3);
    p = {w.binary(fb::Op::MUL, p.real, one), w.binary(fb::Op::MUL, p.imaginary, one)};
  }
  return with_parts(w, p);
}

bool lower_transforms(Writer& w, const Node& n) {
  if (!n.is(OpId::dft)) return false;
  const Operand y = along_axis(w, n);
  if (w.ok()) w.bind(n.outputs[0], y);
  return true;
}

}  // namespace mote::emit::tosa
