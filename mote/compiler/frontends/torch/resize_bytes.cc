#include "mote/compiler/frontends/torch/resize_bytes.h"

#include <algorithm>
#include <cmath>

namespace mote::frontends::torch {
namespace {

constexpr int64_t kMostTaps = 64;

double cubic(double x, double a) {
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

double linear(double x) { return std::max(1 - std::abs(x), 0.0); }

// The place and the real weights of one output.
struct Row {
  int64_t first = 0;
  std::vector<double> weights;
};

// A window as wide as the output's element is in the input.
Row wide_row(const ByteResize& how, int64_t in, int64_t i, double scale) {
  const double centre = scale * (static_cast<double>(i) + 0.5), stretch = std::max(scale, 1.0);
  const double support = (how.cubic ? 2 : 1) * stretch;
  Row r;
  r.first = std::max<int64_t>(static_cast<int64_t>(centre - support + 0.5), 0);
  const int64_t end = std::min<int64_t>(static_cast<int64_t>(centre + support + 0.5), in);
  double total = 0;
  for (int64_t k = r.first; k < end; ++k) {
    const double at = (static_cast<double>(k) - centre + 0.5) / stretch;
    r.weights.push_back(how.cubic ? cubic(at, -0.5) : linear(at));
    total += r.weights.back();
  }
  for (double& w : r.weights) w = total == 0 ? 0 : w / total;
  return r;
}

// 2 or 4 neighbours; those outside of the input give their weight to its edge.
Row near_row(const ByteResize& how, int64_t in, int64_t i, double scale) {
  double at = how.align_corners ? scale * static_cast<double>(i) : scale * (static_cast<double>(i) + 0.5) - 0.5;
  if (!how.cubic) at = std::max(at, 0.0);
  const int64_t place = std::min<int64_t>(static_cast<int64_t>(std::floor(at)), in - 1), half = how.cubic ? 2 : 1;
  const double part = std::clamp(at - static_cast<double>(place), 0.0, 1.0);
  const int64_t begin = place - half + 1;
  Row r;
  r.first = std::max<int64_t>(begin, 0);
  const int64_t count = std::min<int64_t>(place + half + 1, in) - r.first;
  r.weights.assign(static_cast<size_t>(std::max<int64_t>(count, 1)), 0.0);
  for (int64_t k = 0; k < 2 * half; ++k) {
    const double distance = static_cast<double>(k + 1 - half) - part;
    const int64_t to = std::clamp<int64_t>(begin + k - r.first, 0, static_cast<int64_t>(r.weights.size()) - 1);
    r.weights[static_cast<size_t>(to)] += how.cubic ? cubic(distance, -0.75) : linear(distance);
  }
  return r;
}

}  // namespace

ByteWeights byte_weights(const ByteResize& how, int64_t in, int64_t out, double scale) {
  const auto ratio = [&] {
    if (how.align_corners) return out > 1 ? static_cast<double>(in - 1) / static_cast<double>(out - 1) : 0.0;
    return scale > 0 ? 1 / scale : static_cast<double>(in) / static_cast<double>(out);
  }();
  std::vector<Row> rows;
  double largest = 0;
  ByteWeights w;
  for (int64_t i = 0; i < out; ++i) {
    rows.push_back(how.antialias ? wide_row(how, in, i, ratio) : near_row(how, in, i, ratio));
    for (double v : rows.back().weights) largest = std::max(largest, v);
    w.taps = std::max(w.taps, static_cast<int64_t>(rows.back().weights.size()));
  }
  // As many bits as 16-bit weights have room for.
  while (w.bits < 22 && static_cast<int64_t>(0.5 + largest * static_cast<double>(int64_t{1} << (w.bits + 1))) < (1 << 15)) ++w.bits;
  const double one = static_cast<double>(int64_t{1} << w.bits);
  w.weights.assign(static_cast<size_t>(out * w.taps), 0);
  for (int64_t i = 0; i < out; ++i) {
    const Row& r = rows[static_cast<size_t>(i)];
    w.first.push_back(r.first);
    for (size_t k = 0; k < r.weights.size(); ++k)
      w.weights[static_cast<size_t>(i * w.taps) + k] = static_cast<int64_t>(r.weights[k] * one + (r.weights[k] < 0 ? -0.5 : 0.5));
  }
  return w;
}

namespace {

Value* resize_axis(Op& o, Value* x, int axis, const ByteWeights& w) {
  const int64_t in = dim_of(x, axis), out = static_cast<int64_t>(w.first.size());
  std::vector<int64_t> column(static_cast<size_t>(rank_of(x) - axis), 1);
  column[0] = out;
  Value* sum = nullptr;
  for (int64_t k = 0; k < w.taps && o.b.ok(); ++k) {
    std::vector<int64_t> places, weights;
    for (int64_t i = 0; i < out; ++i) {
      places.push_back(std::min(w.first[static_cast<size_t>(i)] + k, in - 1));
      weights.push_back(w.weights[static_cast<size_t>(i * w.taps + k)]);
    }
    Value* term = o.mul(o.cast(o.gather(x, o.ints(places), axis), DType::s32), o.cast(o.reshape(o.ints(weights), column), DType::s32));
    sum = sum == nullptr ? term : o.add(sum, term);
  }
  if (w.bits > 0) {
    sum = o.add(sum, static_cast<double>(int64_t{1} << (w.bits - 1)));
    sum = o.op(OpId::shift_right, {sum, o.number(w.bits, DType::s32)});
  }
  return o.cast(o.op(OpId::clip, {sum, o.number(0, DType::s32), o.number(255, DType::s32)}), DType::u8);
}

}  // namespace

Value* resize_bytes(Op& o, Value* x, const ByteResize& how) {
  for (int axis : {3, 2}) {  // columns first
    const int64_t in = dim_of(x, axis), out = how.sizes[axis - 2];
    if (!o.b.ok() || in < 1 || out < 1 || out > kMostPlaces / kMostTaps) {
      o.refuse("expected sizes from 1 to " + std::to_string(kMostPlaces / kMostTaps));
      return nullptr;
    }
    if (in == out && how.scales[axis - 2] == 0) continue;
    const ByteWeights w = byte_weights(how, in, out, how.scales[axis - 2]);
    if (w.taps > kMostTaps) {
      o.refuse("bytes are made smaller by more than a factor of " + std::to_string(kMostTaps / (how.cubic ? 4 : 2)),
               "convert to f32 before resizing, or resize in two steps");
      return nullptr;
    }
    x = resize_axis(o, x, axis, w);
  }
  return x;
}

}  // namespace mote::frontends::torch
