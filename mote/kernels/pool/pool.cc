// Pooling over channels-last tensors: for each output position, vectors of channels are folded tap by tap.

#include <limits>

#include "mote/kernels/common/exact.h"
#include "mote/kernels/common/nhwc_view.h"
#include "mote/kernels/common/parallel.h"
#include "mote/ops/adaptive_avg_pool/adaptive_avg_pool.h"
#include "mote/ops/avg_pool/avg_pool.h"
#include "mote/ops/max_pool/max_pool.h"

namespace mote::kernels::MOTE_ISA_NAME::pool {
namespace {

// Input positions of the window's taps inside the input: at, at + step, ...
struct Taps {
  int32_t at, count, step;
};

// The taps of a window whose tap 0 is at `origin`. *padded: how many taps are inside the input or its padding.
Taps taps_inside(int32_t origin, int32_t kernel, int32_t dilation, int32_t size, int32_t pad_end, int32_t* padded) {
  const auto steps = [&](int32_t distance) { return dilation == 1 ? distance : (distance - 1) / dilation + 1; };  // divisions are slow
  const auto below = [&](int32_t limit) {
    const int32_t n = limit > origin ? steps(limit - origin) : 0;
    return n < kernel ? n : kernel;
  };
  const int32_t first = origin < 0 ? steps(-origin) : 0, end = below(size);
  *padded = below(size + pad_end);
  return {origin + first * dilation, end > first ? end - first : 0, dilation};
}

// A 1-d tensor's spatial dimension becomes the height, because depth-first strips are ranges of rows.
NhwcView nhwc_view_of(const Tensor& t) {
  NhwcView p(t);
  if (t.rank() != 3) return p;
  p.h = p.w;
  p.row = p.column;
  p.w = 1;
  p.column = 0;
  return p;
}

// Folds of a window. kByLines: each input row of the window is summed by itself first, so that sums over large windows stay accurate.
template <class D>
class Max {
 public:
  static constexpr bool kByLines = false;
  using T = hn::TFromD<D>;
  MOTE_INLINE Max()
      : best_(hn::Set(D(), std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest())),
        nan_(hn::Zero(D())) {}
  // NaN propagates. It is tracked in a register of its own, off the dependence chain of the maximum.
  MOTE_INLINE void add(hn::Vec<D> v) {
    best_ = hn::Max(v, best_);
    if constexpr (std::is_same_v<T, float>) nan_ = hn::IfThenElse(hn::Eq(v, v), nan_, v);
  }
  MOTE_INLINE hn::Vec<D> finish(int32_t, int32_t) const {
    if constexpr (std::is_same_v<T, float>) return hn::IfThenElse(hn::Eq(nan_, nan_), best_, nan_);
    else return best_;
  }

 private:
  hn::Vec<D> best_, nan_;
};

template <class D>
class Average {
 public:
  static constexpr bool kByLines = true;
  MOTE_INLINE void add(hn::Vec<D> v) { sum_ = hn::Add(sum_, v); }
  MOTE_INLINE void add(const Average& line) { add(line.sum_); }
  MOTE_INLINE hn::Vec<D> finish(int32_t taps, int32_t divisor) const {
    return taps > 0 ? quotient(sum_, hn::Set(D(), static_cast<float>(divisor))) : hn::Zero(D());
  }

 private:
  hn::Vec<D> sum_ = hn::Zero(D());
};

// Addresses of the input rows that a row of outputs reads. Computing an address (ring buffers divide) takes longer than using it, so the
// first kCached are computed once.
class InputRows {
 public:
  InputRows(const NhwcView& x, int32_t n, const Taps& rows) : x_(x), n_(n), rows_(rows) {
    for (int32_t i = 0; i < rows.count && i < kCached; ++i) cached_[i] = find(i);
  }
  int32_t count() const { return rows_.count; }
  MOTE_INLINE const uint8_t* operator()(int32_t i) const { return i < kCached ? cached_[i] : find(i); }

 private:
  static constexpr int32_t kCached = 16;
  const uint8_t* find(int32_t i) const { return x_.at(n_, rows_.at + i * rows_.step, 0); }
  const NhwcView& x_;
  int32_t n_;
  Taps rows_;
  const uint8_t* cached_[kCached];
};

// The window of one output position.
struct WindowTaps {
  const InputRows& lines;
  int64_t first, step;  // bytes: offset of the first tap within an input row, and from tap to tap
  int32_t columns, divisor;
};

// V vectors of channels from `channel` on.
template <template <class> class Fold, int V, class D>
MOTE_INLINE void fold_channels(const WindowTaps& p, D d, int32_t channel, hn::TFromD<D>* out) {
  using T = hn::TFromD<D>;
  constexpr size_t kWidth = hn::MaxLanes(D());
  Fold<D> total[V];
  const int32_t lines = p.lines.count();
  for (int32_t i = 0; i < lines; ++i) {
    const uint8_t* at = p.lines(i) + p.first + channel * sizeof(T);
    Fold<D> line[V];
    for (int32_t k = 0; k < p.columns; ++k, at += p.step) {
      const T* values = reinterpret_cast<const T*>(at);
      unroll<V>([&](auto v) MOTE_LAMBDA {
        if constexpr (Fold<D>::kByLines) line[v].add(hn::LoadU(d, values + v * kWidth));
        else total[v].add(hn::LoadU(d, values + v * kWidth));
      });
    }
    if constexpr (Fold<D>::kByLines) unroll<V>([&](auto v) MOTE_LAMBDA { total[v].add(line[v]); });
  }
  const int32_t taps = lines * p.columns;
  unroll<V>([&](auto v) MOTE_LAMBDA { hn::StoreU(total[v].finish(taps, p.divisor), d, out + channel + v * kWidth); });
}

// The channel tail, in vectors of half the width each time.
template <template <class> class Fold, class D>
MOTE_INLINE void fold_channel_tail(const WindowTaps& p, D d, int32_t channel, int32_t channels, hn::TFromD<D>* out) {
  constexpr int32_t kWidth = static_cast<int32_t>(hn::MaxLanes(D()));
  for (; channel + kWidth <= channels; channel += kWidth) fold_channels<Fold, 1>(p, d, channel, out);
  if constexpr (kWidth > 1) fold_channel_tail<Fold>(p, hn::Half<D>(), channel, channels, out);
}

template <template <class> class Fold, class T>
void fold_window(const WindowTaps& p, int32_t channels, T* out) {
  using D = hn::CappedTag<T, 64 / sizeof(T)>;
  constexpr int32_t kBlock = 4 * static_cast<int32_t>(hn::MaxLanes(D()));
  int32_t channel = 0;
  for (; channel + kBlock <= channels; channel += kBlock) fold_channels<Fold, 4>(p, D(), channel, out);
  if (channel + kBlock / 2 <= channels) fold_channels<Fold, 2>(p, D(), channel, out), channel += kBlock / 2;
  fold_channel_tail<Fold>(p, D(), channel, channels, out);
}

// Window: rows(oy, &padded) and columns(ox, &padded) give Taps, divisor(valid, padded) what the fold is divided by.
template <template <class> class Fold, class T, class Window>
void pool(const OpContext& c, const Window& window) {
  const NhwcView x = nhwc_view_of(c.input(0)), y = nhwc_view_of(c.output(0));
  const RowRange range(c, y, false);
  const int32_t height = range.end - range.begin, total_rows = y.n * height;
  if (total_rows <= 0 || y.w <= 0 || y.c <= 0) return;
  const double work = static_cast<double>(total_rows) * y.w * y.c * window.taps();
  const uint32_t helpers = thread_count(c.threads, work * 4), parts = helpers < 2 ? 1 : helpers * 2;
  parallel_for(c.threads, parts, [&](uint32_t part) {
    const Range mine = part_of(total_rows, part, parts);
    for (int32_t i = mine.first; i < mine.first + mine.size; ++i) {
      const int32_t n = i / height, oy = range.begin + i % height;
      int32_t padded_rows = 0, padded_columns = 0;
      const Taps rows = window.rows(oy, &padded_rows);
      const InputRows input_rows(x, n, rows);
      uint8_t* out = y.at(n, oy, 0);
      for (int32_t ox = 0; ox < y.w; ++ox, out += y.column) {
        const Taps columns = window.columns(ox, &padded_columns);
        const WindowTaps p{input_rows, columns.at * x.column, columns.step * x.column, columns.count,
                           window.divisor(rows.count * columns.count, padded_rows * padded_columns)};
        fold_window<Fold, T>(p, y.c, reinterpret_cast<T*>(out));
      }
    }
  });
}

template <class A>
class SlidingWindow {
 public:
  SlidingWindow(const A& a, const Tensor& x) : rows_(a, 0, x.dim(1)) {
    if (x.rank() > 3) columns_ = Axis(a, 1, x.dim(2));
  }
  Taps rows(int32_t oy, int32_t* padded) const { return rows_.taps(oy, padded); }
  Taps columns(int32_t ox, int32_t* padded) const { return columns_.taps(ox, padded); }
  double taps() const { return static_cast<double>(rows_.kernel) * columns_.kernel; }

 private:
  struct Axis {
    int32_t size = 1, kernel = 1, stride = 1, dilation = 1, pad_begin = 0, pad_end = 0;
    Axis() = default;
    Axis(const A& a, int i, int32_t n)
        : size(n),
          kernel(a.kernel[i]),
          stride(a.strides[i]),
          dilation(a.dilations[i]),
          pad_begin(a.pads_begin[i]),
          pad_end(a.pads_end[i]) {}
    Taps taps(int32_t at, int32_t* padded) const { return taps_inside(at * stride - pad_begin, kernel, dilation, size, pad_end, padded); }
  };
  Axis rows_, columns_;
};

struct MaxWindow : SlidingWindow<ops::max_pool::Attrs> {
  using SlidingWindow::SlidingWindow;
  int32_t divisor(int32_t, int32_t) const { return 1; }
};

struct AverageWindow : SlidingWindow<ops::avg_pool::Attrs> {
  AverageWindow(const ops::avg_pool::Attrs& a, const Tensor& x)
      : SlidingWindow(a, x), fixed(a.divisor_override), with_padding(a.count_include_pad != 0) {}
  int32_t divisor(int32_t valid, int32_t padded) const { return fixed != 0 ? fixed : with_padding ? padded : valid; }
  int32_t fixed;
  bool with_padding;
};

// Adaptive pooling: as many windows as outputs, which together cover the input.
class AdaptiveWindow {
 public:
  AdaptiveWindow(const NhwcView& x, const NhwcView& y) : x_(x), y_(y) {}
  Taps rows(int32_t oy, int32_t*) const { return span(oy, x_.h, y_.h); }
  Taps columns(int32_t ox, int32_t*) const { return span(ox, x_.w, y_.w); }
  int32_t divisor(int32_t valid, int32_t) const { return valid; }
  double taps() const { return static_cast<double>(x_.h) * x_.w / (static_cast<double>(y_.h) * y_.w); }

 private:
  static Taps span(int32_t i, int32_t in, int32_t out) {
    const int32_t begin = static_cast<int32_t>(int64_t{i} * in / out), end = static_cast<int32_t>((int64_t{i + 1} * in + out - 1) / out);
    return {begin, end - begin, 1};
  }
  const NhwcView x_, y_;
};

template <class T>
Status max_pool(const OpContext& c) noexcept {
  pool<Max, T>(c, MaxWindow(c.attrs<ops::max_pool::Attrs>(), c.input(0)));
  return Status::kOk;
}
Status avg_pool_f32(const OpContext& c) noexcept {
  pool<Average, float>(c, AverageWindow(c.attrs<ops::avg_pool::Attrs>(), c.input(0)));
  return Status::kOk;
}
Status adaptive_avg_pool_f32(const OpContext& c) noexcept {
  pool<Average, float>(c, AdaptiveWindow(nhwc_view_of(c.input(0)), nhwc_view_of(c.output(0))));
  return Status::kOk;
}

bool is_supported(const OpContext& c) { return c.input(0).rank() <= 4; }

}  // namespace

KernelFn select_max_pool(const OpContext& c) noexcept {
  if (!is_supported(c) || c.has_output(1)) return nullptr;
  switch (c.input(0).dtype()) {
    case DType::f32: return &max_pool<float>;
    case DType::s8: return &max_pool<int8_t>;
    case DType::u8: return &max_pool<uint8_t>;
    default: return nullptr;
  }
}
KernelFn select_avg_pool(const OpContext& c) noexcept {
  return is_supported(c) && c.input(0).dtype() == DType::f32 ? &avg_pool_f32 : nullptr;
}
KernelFn select_adaptive_avg_pool(const OpContext& c) noexcept {
  return is_supported(c) && c.input(0).dtype() == DType::f32 ? &adaptive_avg_pool_f32 : nullptr;
}

}  // namespace mote::kernels::MOTE_ISA_NAME::pool
