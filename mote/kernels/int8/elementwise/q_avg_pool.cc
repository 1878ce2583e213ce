// Average pools of 8-bit tensors, a vector of channels at a time.

#include "mote/ops/q_avg_pool/q_avg_pool.h"

#include "mote/kernels/common/nhwc_view.h"
#include "mote/kernels/common/parallel.h"
#include "mote/kernels/common/window_geometry.h"
#include "mote/kernels/int8/requantize/add.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {
namespace {

using ops::q_avg_pool::Attrs;

constexpr int64_t kMaxTaps = 32768;  // taps, so that accumulators are exact in f32

// Taps [first, last) of one dimension that lie inside the input, and how many lie inside the input or its padding.
struct Taps {
  int32_t first, last, padded;
  Taps(int32_t origin, int32_t dilation, int32_t kernel, int32_t in, int32_t pad_end) {
    first = origin >= 0 ? 0 : (-origin - 1) / dilation + 1;
    last = taps_before(origin, dilation, kernel, in);
    padded = taps_before(origin, dilation, kernel, in + pad_end);
    if (first > last) first = last;
  }
  static int32_t taps_before(int32_t origin, int32_t dilation, int32_t kernel, int32_t limit) {
    if (limit <= origin) return 0;
    const int32_t taps = (limit - origin - 1) / dilation + 1;
    return taps < kernel ? taps : kernel;
  }
};

// From accumulators to means: in integers, rounded half away from zero, or with real scales.
class Mean {
 public:
  Mean(const Attrs& a, DType type, int32_t input_taps, int32_t count)
      : a_(a), bounds_(a.clamp_lo, a.clamp_hi, a.mode == 0 ? 0 : a.output_zero, type), input_taps_(input_taps), divisor_(count) {}

  MOTE_INLINE VI operator()(VI sum) const {
    const FloatOfInts d;
    const VFI count = hn::Set(d, static_cast<float>(divisor_));
    if (divisor_ == 0) return clamp_and_offset(set_ints(a_.mode == 0 ? a_.input_zero : 0), bounds_);
    if (a_.mode != 0) {
      const VFI total = hn::ConvertTo(d, hn::Sub(sum, set_ints(input_taps_ * a_.input_zero)));
      return round_clamp_and_offset(hn::Mul(quotient(total, count), hn::Set(d, a_.multiplier)), bounds_);
    }
    sum = hn::Add(sum, set_ints((divisor_ - input_taps_) * a_.input_zero));
    const VI half = set_ints(divisor_ / 2);
    sum = hn::IfThenElse(hn::Gt(sum, hn::Zero(I32())), hn::Add(sum, half), hn::Sub(sum, half));
    return clamp_and_offset(hn::ConvertTo(I32(), hn::Trunc(quotient(hn::ConvertTo(d, sum), count))), bounds_);
  }

 private:
  const Attrs& a_;
  ClampRange bounds_;
  int32_t input_taps_, divisor_;
};

template <class T>
void pool_row(const Attrs& a, const WindowGeometry& g, const NhwcView& x, const NhwcView& y, int32_t n, int32_t output_row,
              int32_t pad_end_h, int32_t pad_end_w) {
  const int32_t iy = output_row * g.stride_h - g.pad_h;
  const Taps v(iy, g.dilation_h, g.kernel_h, x.h, pad_end_h);
  for (int32_t column = 0; column < y.w; ++column) {
    const int32_t ix = column * g.stride_w - g.pad_w;
    const Taps h(ix, g.dilation_w, g.kernel_w, x.w, pad_end_w);
    const int32_t input_taps = (v.last - v.first) * (h.last - h.first), count = a.count_include_pad != 0 ? v.padded * h.padded : input_taps;
    const Mean mean(a, dtype_of<T>, input_taps, count);
    T* out = reinterpret_cast<T*>(y.at(n, output_row, column));
    for (int32_t k = 0; k < y.c; k += kIntLanes) {
      VI sum = hn::Zero(I32());
      for (int32_t ky = v.first; ky < v.last; ++ky) {
        const uint8_t* from = x.at(n, iy + ky * g.dilation_h, ix + h.first * g.dilation_w) + k;
        for (int32_t kx = h.first; kx < h.last; ++kx, from += x.column * g.dilation_w)
          sum = hn::Add(sum, load_as_ints(reinterpret_cast<const T*>(from), y.c - k));
      }
      store_ints(mean(sum), y.c - k, out + k);
    }
  }
}

struct KernelSize {
  int32_t size[2] = {1, 1};
  KernelSize(const Attrs& a, const Tensor& x) {
    for (int i = 0; i < x.rank() - 2; ++i) size[i] = a.kernel[i] == 0 ? x.dim(i + 1) : a.kernel[i];
  }
};

template <class T>
Status q_avg_pool_bytes(const OpContext& c) noexcept {
  const Attrs& a = c.attrs<Attrs>();
  const NhwcView x(c.input(0)), y(c.output(0));
  const int spatial = c.input(0).rank() - 2;
  const WindowGeometry g(a, KernelSize(a, c.input(0)).size, spatial);
  const RowRange rows(c, y, spatial == 1);
  const int32_t height = rows.end - rows.begin;
  if (height <= 0 || y.n <= 0) return Status::kOk;
  const double work = static_cast<double>(y.n) * height * y.w * y.c * (2.0 * g.kernel_h * g.kernel_w + 10);
  const Threads* threads = thread_count(c.threads, work) < 2 ? nullptr : c.threads;
  parallel_for(threads, static_cast<uint32_t>(y.n * height), [&](uint32_t i) {
    const int32_t row = static_cast<int32_t>(i);
    pool_row<T>(a, g, x, y, row / height, rows.begin + row % height, spatial == 1 ? 0 : a.pads_end[0], a.pads_end[spatial - 1]);
  });
  return Status::kOk;
}

}  // namespace

KernelFn select_q_avg_pool(const OpContext& c) noexcept {
  const Attrs& a = c.attrs<Attrs>();
  const Tensor& x = c.input(0);
  if (x.rank() > 4 || (x.dtype() != DType::s8 && x.dtype() != DType::u8)) return nullptr;
  if (x.rank() == 3 && (!c.rows.all() || x.desc->ring_rows != 0 || c.output(0).desc->ring_rows != 0)) return nullptr;
  const KernelSize k(a, x);
  if (int64_t{k.size[0]} * k.size[1] > kMaxTaps) return nullptr;
  return x.dtype() == DType::s8 ? &q_avg_pool_bytes<int8_t> : &q_avg_pool_bytes<uint8_t>;
}

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
