// Resizing of (N, H, W, C) and (N, W, C): nearest for any type, linear without antialiasing for f32. Where an output row or column lies
// in the input is asked of the operator's own coordinates, once for each row, and for each column once per call.

#include "mote/ops/resize/resize.h"
#include "mote/kernels/common/math.h"
#include "mote/kernels/common/plane.h"
#include "mote/kernels/move/move.h"

namespace mote::kernels::MOTE_ISA_NAME {
namespace {

using ops::resize::Attrs;

// Where output position i of an axis lies in the input (ops/resize/coordinates.h; crops are not served here).
float place_of(const Attrs& a, int axis, int32_t in, int32_t out, int32_t i) {
  const float scale = a.scales[axis], x = static_cast<float>(i), size = static_cast<float>(in);
  const bool given = scale > 0;
  const float length = given ? size * scale : static_cast<float>(out);
  const auto back = [&](float v) { return given ? v / scale : v * (size / static_cast<float>(out)); };
  switch (a.coordinates) {
    case ops::resize::kHalfPixelSymmetric: return size / 2 * (1 - static_cast<float>(out) / length) + back(x + 0.5f) - 0.5f;
    case ops::resize::kPytorchHalfPixel: return out > 1 ? back(x + 0.5f) - 0.5f : 0.0f;
    case ops::resize::kAlignCorners:
      if (length == 1) return 0;
      return given ? x * (size - 1) / (length - 1) : x * ((size - 1) / (length - 1));
    case ops::resize::kAsymmetric: return back(x);
    case ops::resize::kHalfPixelForNearest: return back(x + 0.5f);
    default: return back(x + 0.5f) - 0.5f;
  }
}

float floor_of(float v) { return hn::GetLane(hn::Floor(broadcast(v))); }
int32_t inside(float i, int32_t size) { return i < 0 ? 0 : i >= static_cast<float>(size) ? size - 1 : static_cast<int32_t>(i); }

// The input positions of one output position, and the weight of the second.
struct Between {
  int32_t first = 0, second = 0;
  float ratio = 0;
  Between() = default;
  Between(const Attrs& a, int axis, int32_t in, int32_t out, int32_t i) {
    const float place = place_of(a, axis, in, out, i), whole = floor_of(place), rest = place - whole;
    if (a.mode == ops::resize::kNearest) {
      bool up = rest > 0.5f;
      if (a.nearest == ops::resize::kRoundPreferCeil) up = rest >= 0.5f;
      if (a.nearest == ops::resize::kFloor) up = false;
      if (a.nearest == ops::resize::kCeil) up = rest > 0;
      first = second = inside(whole + (up ? 1.0f : 0.0f), in);
      return;
    }
    first = inside(whole, in);
    second = inside(whole + 1, in);
    ratio = rest;
  }
};

template <int N>
MOTE_INLINE void mix_some(const float* const* corners, const float* weights, int32_t channels, float* out) {
  VF factor[N];
  unroll<N>([&](auto i) { factor[i] = broadcast(weights[i]); });
  for (int32_t c = 0; c < channels; c += kLanes) {
    const int32_t count = channels - c < kLanes ? channels - c : kLanes;
    VF sum = hn::Zero(F32());
    unroll<N>([&](auto i) { sum = hn::Add(sum, hn::Mul(factor[i], load_some(corners[i] + c, count))); });
    store_some(sum, count, out + c);
  }
}

// Weights in the order of the operator: rows, then columns; those of 0 are passed over, as what lies there may be infinite.
void mix(const float* const* corners, const float* weights, int32_t channels, float* out) {
  const float* used[4];
  float factor[4];
  int n = 0;
  for (int i = 0; i < 4; ++i) {
    if (weights[i] == 0) continue;
    used[n] = corners[i];
    factor[n++] = weights[i];
  }
  switch (n) {
    case 1: return mix_some<1>(used, factor, channels, out);
    case 2: return mix_some<2>(used, factor, channels, out);
    case 3: return mix_some<3>(used, factor, channels, out);
    default: return mix_some<4>(used, factor, channels, out);
  }
}

// Columns are looked up in blocks, whose places serve all rows of a part.
constexpr int32_t kColumns = 128;

class Resizing {
 public:
  explicit Resizing(const OpContext& c)
      : a_(c.attrs<Attrs>()), x_(c.input(0)), y_(c.output(0)), flat_(c.input(0).rank() == 3), width_(dtype_bytes(c.input(0).dtype())) {}

  void lines(int32_t first, int32_t count) const {
    for (int32_t block = 0; block < y_.w; block += kColumns) {
      const int32_t columns = y_.w - block < kColumns ? y_.w - block : kColumns;
      Between across[kColumns];
      for (int32_t i = 0; i < columns; ++i) across[i] = Between(a_, flat_ ? 0 : 1, x_.w, y_.w, block + i);
      for (int32_t line = first; line < first + count; ++line) row(line / y_.h, line % y_.h, block, columns, across);
    }
  }
  int32_t line_count() const { return y_.n * y_.h; }

 private:
  void row(int32_t n, int32_t oy, int32_t block, int32_t columns, const Between* across) const {
    const Between down(a_, 0, x_.h, flat_ ? x_.h : y_.h, flat_ ? 0 : oy);
    const int32_t top = flat_ ? 0 : down.first, bottom = flat_ ? 0 : down.second;
    const float below = flat_ ? 0.0f : down.ratio;
    for (int32_t i = 0; i < columns; ++i) {
      uint8_t* out = y_.at(n, oy, block + i);
      const uint8_t *upper = x_.at(n, top, 0), *lower = x_.at(n, bottom, 0);
      const int64_t left = across[i].first * x_.column, right = across[i].second * x_.column;
      if (a_.mode == ops::resize::kNearest) {
        copy_bytes(out, upper + left, int64_t{y_.c} * width_);
        continue;
      }
      const float beside = across[i].ratio,
                  weights[4] = {(1 - below) * (1 - beside), (1 - below) * beside, below * (1 - beside), below * beside};
      const auto at = [](const uint8_t* p) { return reinterpret_cast<const float*>(p); };
      const float* corners[4] = {at(upper + left), at(upper + right), at(lower + left), at(lower + right)};
      mix(corners, weights, y_.c, reinterpret_cast<float*>(out));
    }
  }

  const Attrs& a_;
  Plane x_, y_;
  bool flat_;
  uint32_t width_;
};

Status run_resize(const OpContext& c) noexcept {
  const Tensor &x = c.input(0), &y = c.output(0);
  if (y.count() == 0) return Status::kOk;
  for (int i = 1; i + 1 < x.rank(); ++i)
    if (x.dim(i) == 0) return {Status::kInvalidArgument, Why::kValue};
  const Resizing resizing(c);
  const uint32_t helpers = useful_threads(c.threads, 8.0 * y.count()), parts = helpers < 2 ? 1 : helpers * 2;
  parallel_for(c.threads, parts, [&](uint32_t part) {
    const Range mine = part_of(resizing.line_count(), part, parts);
    if (mine.size > 0) resizing.lines(mine.first, mine.size);
  });
  return Status::kOk;
}

}  // namespace

KernelFn select_resize(const OpContext& c) noexcept {
  const Attrs& a = c.attrs<Attrs>();
  const Tensor& x = c.input(0);
  if (x.rank() > 4 || a.coordinates == ops::resize::kCropAndResize || c.has_input(2) || c.has_input(3)) return nullptr;
  const bool nearest = a.mode == ops::resize::kNearest && dtype_bytes(x.dtype()) > 0 && x.dtype() != DType::f64;
  const bool linear = a.mode == ops::resize::kLinear && x.dtype() == DType::f32 && a.antialias == 0 && a.exclude_outside == 0;
  return nearest || linear ? &run_resize : nullptr;
}

}  // namespace mote::kernels::MOTE_ISA_NAME
