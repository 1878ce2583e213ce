#include <algorithm>
#include <cmath>

#include "mote/compiler/frontends/onnx/op_support.h"
#include "mote/ops/dft/dft.h"
#include "mote/ops/mel_weights/mel_weights.h"
#include "mote/ops/stft/stft.h"
#include "mote/ops/window/window.h"

namespace mote::frontends::onnx {
namespace {

constexpr double kTurn = 6.283185307179586476925286766559;

// One integer from an input; false when only running tells. Absent: `otherwise`.
bool known_number(const Value* v, int64_t otherwise, int64_t* out) {
  std::vector<int64_t> known;
  *out = otherwise;
  if (v == nullptr) return true;
  if (!ir::known_ints(*v, &known) || known.size() != 1) return false;
  *out = known[0];
  return true;
}

Value* scalar(Decompose& d, Value* v, DType dtype) { return d.cast(rank_of(v) == 0 ? v : d.reshape(v, {}), dtype); }

// 0, 1, ... below `limit`, a run-time s64 scalar that is at most `most`.
Value* count_to(Decompose& d, Value* limit, int32_t most) {
  if (!d.b.ok()) return nullptr;
  d.b.declare({ir::Type{DType::s64, {most}, 1}});
  Value* y = d.op(OpId::range, {d.number(0, DType::s64), limit, d.number(1, DType::s64)});
  d.b.declare({});
  return y;
}

// --- windows ---

struct Cosines {
  double a0, a1, a2;
};

// a0 - a1 cos(t) + a2 cos(2 t) of a length that only running tells.
void running_window(NodeContext& c, const Cosines& w, DType dtype) {
  Decompose d(c);
  const auto declared = c.declared(0);
  if (!declared.has_value() || declared->rank() != 1 || declared->dims[0] < 0)
    return c.fail("its size is known only when running, and nothing bounds it", "make the size a constant");
  Value* size = scalar(d, c.in(0), DType::s64);
  Value* places = d.cast(count_to(d, size, declared->dims[0]), DType::f64);
  Value* length = d.cast(size, DType::f64);
  if (c.attr_int("periodic", 1) == 0) length = d.add(length, -1);
  Value* turns = d.div(d.mul(places, kTurn), length);
  Value* y = d.sub(d.number(w.a0, DType::f64), d.mul(d.op(OpId::cos, {turns}), w.a1));
  if (w.a2 != 0) y = d.add(y, d.mul(d.op(OpId::cos, {d.mul(turns, 2)}), w.a2));
  c.out(0, d.cast(y, dtype));
}

template <int kKind>
void import_window(NodeContext& c) {
  static const Cosines kCosines[] = {{0.5, 0.5, 0}, {25.0 / 46, 21.0 / 46, 0}, {0.42, 0.5, 0.08}};
  const DType dtype = to_dtype(static_cast<int>(c.attr_int("output_datatype", ::onnx::TensorProto::FLOAT)));
  int64_t size;
  if (!known_number(c.in(0), 0, &size)) return running_window(c, kCosines[kKind], dtype);
  ops::window::Attrs a;
  a.kind = kKind;
  a.size = to_s32(size);
  a.periodic = c.attr_int("periodic", 1) != 0 ? 1 : 0;
  a.dtype = static_cast<int32_t>(dtype);
  c.out(0, c.b.op(OpId::window, a, {}));
}

// --- Fourier transforms ---

// The axis is known only when running: all transforms of the declared shape are made, and one is taken.
void running_axis(NodeContext& c, ops::dft::Attrs a, Value* axis) {
  Decompose d(c);
  const auto declared = c.declared(0);
  const int rank = rank_of(c.in(0));
  if (!declared.has_value() || declared->rank() != rank) return c.fail("the axis is known only when running", "make it a constant");
  axis = scalar(d, axis, DType::s64);
  Value* wanted = d.op(OpId::where, {d.op(OpId::less, {axis, d.number(0, DType::s64)}), d.add(axis, rank), axis});
  Value* y = nullptr;
  for (int i = 0; i + 1 < rank && c.b.ok(); ++i) {
    a.axis = i;
    ir::NodeBuilder attempt(c.b.graph(), c.b.block(), c.b.name());
    Value* one = attempt.op(OpId::dft, a, {c.in(0)});
    if (one == nullptr || dims_of(one) != declared->dims) continue;
    y = y == nullptr ? one : d.op(OpId::where, {d.op(OpId::equal, {wanted, d.number(i, DType::s64)}), one, y});
  }
  if (y == nullptr) return c.fail("no axis gives the declared shape");
  c.out(0, y);
}

void import_dft(NodeContext& c) {
  ops::dft::Attrs a;
  a.inverse = c.attr_int("inverse", 0) != 0 ? 1 : 0;
  a.onesided = c.attr_int("onesided", 0) != 0 ? 1 : 0;
  int64_t length, axis;
  if (!known_number(c.in(1), 0, &length)) return c.fail("dft_length is known only when running", "make it a constant");
  a.length = to_s32(std::max<int64_t>(length, 0));
  if (c.opset < 20) axis = c.attr_int("axis", 1);
  else if (!known_number(c.in(2), -2, &axis)) return running_axis(c, a, c.in(2));
  a.axis = axis_of(c, axis, rank_of(c.in(0)));
  if (c.b.ok()) c.out(0, c.b.op(OpId::dft, a, {c.in(0)}));
}

// Cosines and sines (length, bins) of a transform whose length only running tells.
std::pair<Value*, Value*> running_basis(Decompose& d, Value* length, int32_t most, Value* bins, int32_t most_bins, DType dtype) {
  Value *n = d.unsqueeze(count_to(d, length, most), {1}), *k = d.unsqueeze(count_to(d, bins, most_bins), {0});
  Value* turns = d.op(OpId::mod, {d.mul(n, k), length});  // the phase is periodic; the remainder is exact
  Value* angle = d.div(d.mul(d.cast(turns, DType::f64), -kTurn), d.cast(length, DType::f64));
  return {d.cast(d.op(OpId::cos, {angle}), dtype), d.cast(d.op(OpId::sin, {angle}), dtype)};
}

// Frames whose step or length only running tells, as a product with the basis.
void running_stft(NodeContext& c) {
  Decompose d(c);
  const auto declared = c.declared(0);
  const ir::Dims x = dims_of(c.in(0));
  if (!declared.has_value() || declared->rank() != 4 || declared->dims[1] < 0 || declared->dims[2] < 0)
    return c.fail("frame_step or frame_length is known only when running, and nothing bounds the output", "make them constants");
  if (x.size() == 3 && x[2] == 2) return c.fail("complex signals need a known frame_step and frame_length", "make them constants");
  if (x.size() != 2 && x.size() != 3) return c.fail("expected a signal of rank 2 or 3");
  const bool onesided = c.attr_int("onesided", 1) != 0;
  const DType dtype = dtype_of_value(c.in(0));
  Value* signal = x.size() == 3 ? d.squeeze(c.in(0), {2}) : c.in(0);
  Value* step = scalar(d, c.in(1), DType::s64);
  Value* length = c.in(3) != nullptr ? scalar(d, c.in(3), DType::s64)
                                     : d.squeeze(d.size_of(c.in(2) != nullptr ? c.in(2) : signal, c.in(2) != nullptr ? 0 : 1), {0});
  Value* bins = onesided ? d.add(d.div(length, 2), 1) : length;
  Value* frames = d.add(d.op(OpId::floor_div, {d.sub(d.squeeze(d.size_of(signal, 1), {0}), length), step}), 1);
  Value *first = d.mul(count_to(d, frames, declared->dims[1]), step), *within = count_to(d, length, x[1]);
  Value* rows = d.gather(signal, d.add(d.unsqueeze(first, {1}), within), 1);  // (B, frames, length)
  if (c.in(2) != nullptr) rows = d.mul(rows, c.in(2));
  const auto [cosines, sines] = running_basis(d, length, x[1], bins, declared->dims[2], dtype);
  c.out(0, d.concat({d.unsqueeze(d.matmul(rows, cosines), {3}), d.unsqueeze(d.matmul(rows, sines), {3})}, 3));
}

void import_stft(NodeContext& c) {
  ops::stft::Attrs a;
  int64_t step, length;
  if (!known_number(c.in(1), 1, &step) || !known_number(c.in(3), 0, &length)) return running_stft(c);
  a.frame_step = to_s32(step);
  a.frame_length = to_s32(length);
  a.onesided = c.attr_int("onesided", 1) != 0 ? 1 : 0;
  c.out(0, c.in(2) != nullptr ? c.b.op(OpId::stft, a, {c.in(0), c.in(2)}) : c.b.op(OpId::stft, a, {c.in(0)}));
}

// Mel bands whose parameters only running tells: for bin j of the spectrum and band i, the height of a triangle over three edges.
void running_mel(NodeContext& c, DType dtype) {
  Decompose d(c);
  const auto declared = c.declared(0);
  if (!declared.has_value() || declared->rank() != 2 || declared->dims[0] < 0 || declared->dims[1] < 0)
    return c.fail("its parameters are known only when running, and nothing bounds the output", "make them constants");
  const auto real = [&](int i) { return scalar(d, c.in(i), DType::f64); };
  const auto mel = [&](Value* hertz) { return d.mul(d.op(OpId::log10, {d.add(d.div(hertz, 700), 1)}), 2595); };
  Value *bands = scalar(d, c.in(0), DType::s64), *length = scalar(d, c.in(1), DType::s64), *low = mel(real(3));
  Value* step = d.div(d.sub(mel(real(4)), low), d.add(d.cast(bands, DType::f64), 2));
  const auto edge = [&](double offset) {  // in bins of the spectrum
    Value* at = d.add(d.cast(count_to(d, bands, declared->dims[1]), DType::f64), offset);
    Value* hertz = d.mul(d.add(d.op(OpId::pow, {d.number(10, DType::f64), d.div(d.add(d.mul(at, step), low), 2595)}), -1), 700);
    return d.op(OpId::floor, {d.div(d.mul(hertz, d.add(d.cast(length, DType::f64), 1)), real(2))});
  };
  Value *lower = edge(0), *centre = edge(1), *upper = edge(2);
  Value* bin = d.unsqueeze(d.cast(count_to(d, d.add(d.div(length, 2), 1), declared->dims[0]), DType::f64), {1});
  Value *zero = d.number(0, DType::f64), *one = d.number(1, DType::f64);
  const auto choose = [&](Value* when, Value* then, Value* otherwise) { return d.op(OpId::where, {when, then, otherwise}); };
  const auto both = [&](Value* a, Value* b) { return d.op(OpId::logical_and, {a, b}); };
  Value *width_up = d.sub(centre, lower), *width_down = d.sub(upper, centre);
  Value* rising = both(d.op(OpId::greater_equal, {bin, lower}), d.op(OpId::less_equal, {bin, centre}));
  Value* falling = both(d.op(OpId::greater_equal, {bin, centre}), d.op(OpId::less, {bin, upper}));
  Value* height = choose(d.op(OpId::greater, {width_up, zero}), d.div(d.sub(bin, lower), d.op(OpId::maximum, {width_up, one})), one);
  Value* y = choose(falling, d.div(d.sub(upper, bin), d.op(OpId::maximum, {width_down, one})), choose(rising, height, zero));
  c.out(0, d.cast(y, dtype));
}

void import_mel(NodeContext& c) {
  ops::mel_weights::Attrs a;
  int64_t bins, length, rate;
  std::vector<double> low, high;
  const DType dtype = to_dtype(static_cast<int>(c.attr_int("output_datatype", ::onnx::TensorProto::FLOAT)));
  if (!known_number(c.in(0), 0, &bins) || !known_number(c.in(1), 0, &length) || !known_number(c.in(2), 0, &rate) ||
      !ir::known_floats(*c.in(3), &low) || !ir::known_floats(*c.in(4), &high) || low.size() != 1 || high.size() != 1)
    return running_mel(c, dtype);
  Decompose d(c);
  a.num_mel_bins = to_s32(bins);
  a.dft_length = to_s32(length);
  a.sample_rate = to_s32(rate);
  a.lower_edge_hertz = static_cast<float>(low[0]);
  a.upper_edge_hertz = static_cast<float>(high[0]);
  c.out(0, d.cast(c.b.op(OpId::mel_weights, a, {}), dtype));
}

}  // namespace

void add_signal_ops(OpTable& table);
void add_signal_ops(OpTable& table) {
  add_lines(table, {{"HannWindow", import_window<0>},
                    {"HammingWindow", import_window<1>},
                    {"BlackmanWindow", import_window<2>},
                    {"DFT", import_dft, 17},
                    {"STFT", import_stft, 17, 2},
                    {"MelWeightMatrix", import_mel, 17, 5}});
}

}  // namespace mote::frontends::onnx
