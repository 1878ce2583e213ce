// resize of (N, H, W, C) and (N, W, C): nearest for any type, linear without antialiasing for f32. Source coordinates come from the
// portable operator's functions (portable.h), so that they round alike; computed once for each row and, per part, once for each column.

#include "mote/ops/resize/resize.h"
#include "mote/kernels/common/math.h"
#include "mote/kernels/common/nhwc_view.h"
#include "mote/kernels/move/move.h"
#include "mote/kernels/portable.h"

namespace mote::kernels::MOTE_ISA_NAME::move {
namespace {

using ops::resize::Attrs;

template <int N>
MOTE_INLINE void blend_corners(const float* const* corners, const float* weights, int32_t channels, float* out) {
  VF factor[N];
  unroll<N>([&](auto i) { factor[i] = broadcast(weights[i]); });
  for (int32_t c = 0; c < channels; c += kLanes) {
    const int32_t count = channels - c < kLanes ? channels - c : kLanes;
    VF sum = hn::Zero(F32());
    unroll<N>([&](auto i) { sum = hn::Add(sum, hn::Mul(factor[i], load_partial(corners[i] + c, count))); });
    store_partial(sum, count, out + c);
  }
}

// Blends four corners in the operator's order of additions. Corners of weight 0 are skipped: 0 times an infinity would be NaN.
void blend(const float* const* corners, const float* weights, int32_t channels, float* out) {
  const float* used[4];
  float factor[4];
  int n = 0;
  for (int i = 0; i < 4; ++i) {
    if (weights[i] == 0) continue;
    used[n] = corners[i];
    factor[n++] = weights[i];
  }
  switch (n) {
    case 1: return blend_corners<1>(used, factor, channels, out);
    case 2: return blend_corners<2>(used, factor, channels, out);
    case 3: return blend_corners<3>(used, factor, channels, out);
    default: return blend_corners<4>(used, factor, channels, out);
  }
}

// Source coordinates of columns are computed in blocks, each used for all rows of a part.
constexpr int32_t kColumns = 128;

class Resizer {
 public:
  explicit Resizer(const OpContext& c)
      : a_(c.attrs<Attrs>()), x_(c.input(0)), y_(c.output(0)), flat_(c.input(0).rank() == 3), width_(dtype_bytes(c.input(0).dtype())) {}

  void compute_rows(int32_t first, int32_t count) const {
    for (int32_t block = 0; block < y_.w; block += kColumns) {
      const int32_t columns = y_.w - block < kColumns ? y_.w - block : kColumns;
      ResizeBetween column_sources[kColumns];
      for (int32_t i = 0; i < columns; ++i) column_sources[i] = resize_between(a_, flat_ ? 0 : 1, x_.w, y_.w, block + i);
      for (int32_t line = first; line < first + count; ++line) row(line / y_.h, line % y_.h, block, columns, column_sources);
    }
  }
  int32_t line_count() const { return y_.n * y_.h; }

 private:
  void row(int32_t n, int32_t oy, int32_t block, int32_t columns, const ResizeBetween* column_sources) const {
    const ResizeBetween row_source = flat_ ? ResizeBetween() : resize_between(a_, 0, x_.h, y_.h, oy);
    const int32_t top = row_source.first, bottom = row_source.second;
    const float bottom_weight = row_source.ratio;
    for (int32_t i = 0; i < columns; ++i) {
      uint8_t* out = y_.at(n, oy, block + i);
      const uint8_t *upper = x_.at(n, top, 0), *lower = x_.at(n, bottom, 0);
      const int64_t left = column_sources[i].first * x_.column, right = column_sources[i].second * x_.column;
      if (a_.mode == ops::resize::kNearest) {
        copy_bytes(out, upper + left, int64_t{y_.c} * width_);
        continue;
      }
      const float right_weight = column_sources[i].ratio,
                  weights[4] = {(1 - bottom_weight) * (1 - right_weight), (1 - bottom_weight) * right_weight,
                                bottom_weight * (1 - right_weight), bottom_weight * right_weight};
      const auto at = [](const uint8_t* p) { return reinterpret_cast<const float*>(p); };
      const float* corners[4] = {at(upper + left), at(upper + right), at(lower + left), at(lower + right)};
      blend(corners, weights, y_.c, reinterpret_cast<float*>(out));
    }
  }

  const Attrs& a_;
  NhwcView x_, y_;
  bool flat_;
  uint32_t width_;
};

Status resize_any(const OpContext& c) noexcept {
  const Tensor &x = c.input(0), &y = c.output(0);
  if (y.count() == 0) return Status::kOk;
  for (int i = 1; i + 1 < x.rank(); ++i)
    if (x.dim(i) == 0) return {Status::kInvalidArgument, Why::kValue};
  const Resizer resizer(c);
  const uint32_t helpers = thread_count(c.threads, 8.0 * y.count()), parts = helpers < 2 ? 1 : helpers * 2;
  parallel_for(c.threads, parts, [&](uint32_t part) {
    const Range mine = part_of(resizer.line_count(), part, parts);
    if (mine.size > 0) resizer.compute_rows(mine.first, mine.size);
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
  return nearest || linear ? &resize_any : nullptr;
}

}  // namespace mote::kernels::MOTE_ISA_NAME::move
