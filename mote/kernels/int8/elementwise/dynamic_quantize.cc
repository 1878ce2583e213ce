// Quantization with scales and zero points derived from the data's range (ops/dynamic_quantize).

#include "mote/ops/dynamic_quantize/dynamic_quantize.h"

#include "mote/kernels/common/loops.h"
#include "mote/kernels/int8/requantize/add.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {
namespace {

using ops::dynamic_quantize::Attrs;
using ops::dynamic_quantize::Mode;

struct Params {
  float scale = 1, inverse = 0;  // inverse 0: divide by the scale
  int32_t zero = 0, lo = -128, hi = 127;
};

float magnitude(float x) { return x < 0 ? -x : x; }

// Rounds half to even as ops::round_to_s32 does; the result fits s32.
int32_t round_half_even_s32(float x) {
  const FloatOfInts d;
  const ClampRange range(-(1 << 20), 1 << 20, 0, DType::s32);
  return hn::GetLane(round_clamp_and_offset(hn::Set(d, x), range));
}
int32_t round_half_away_s32(double x) {
  if (!(x == x)) return 0;
  if (x > 1000) return 1000;
  if (x < -1000) return -1000;
  const int32_t truncated = static_cast<int32_t>(x);
  const double fraction = x - truncated;
  return fraction >= 0.5 ? truncated + 1 : fraction <= -0.5 ? truncated - 1 : truncated;
}
int32_t clamp(int32_t v, int32_t lo, int32_t hi) { return v < lo ? lo : v > hi ? hi : v; }

Params make_params(Mode mode, float lo, float hi) {
  Params p;
  if (mode == Mode::kOnnx) {
    p.lo = 0, p.hi = 255;
    p.scale = lo == hi ? 1.0f : (hi - lo) / 255.0f;
    p.zero = clamp(round_half_even_s32(0.0f - lo / p.scale), p.lo, p.hi);
  } else if (mode == Mode::kSymmetric) {
    p.lo = -127;
    const float max_magnitude = magnitude(lo) > magnitude(hi) ? magnitude(lo) : magnitude(hi);
    if (max_magnitude > 0) p.scale = max_magnitude / 127.0f, p.inverse = 127.0f / max_magnitude;
  } else if (lo != hi) {
    const double qmin = -128, qmax = 127, scale = (static_cast<double>(hi) - lo) / (qmax - qmin), low = lo / scale, high = hi / scale;
    const double zero = -qmin + (low < 0 ? -low : low) < qmax + (high < 0 ? -high : high) ? qmin - low : qmax - high;
    p.zero = clamp(round_half_away_s32(zero), p.lo, p.hi);
    p.scale = static_cast<float>(scale);
    p.inverse = 1.0f / p.scale;
  }
  return p;
}

struct MinMax {
  VFI lo = hn::Zero(FloatOfInts()), hi = hn::Zero(FloatOfInts());
  // NaN are ignored.
  MOTE_INLINE void add(const float* x, int32_t n) {
    for (int32_t i = 0; i < n; i += kIntLanes) {
      const VFI v = load_narrow(x + i, n - i);
#if HWY_ARCH_ARM_V7  // minimum and maximum of NaN and a number are NaN there
      lo = hn::IfThenElse(hn::Lt(v, lo), v, lo);
      hi = hn::IfThenElse(hn::Lt(hi, v), v, hi);
#else
      lo = hn::Min(v, lo);
      hi = hn::Max(v, hi);
#endif
    }
  }
  float min() const { return hn::GetLane(hn::MinOfLanes(FloatOfInts(), lo)); }
  float max() const { return hn::GetLane(hn::MaxOfLanes(FloatOfInts(), hi)); }
};

MOTE_INLINE void quantize_elements(const Params& p, const float* x, uint8_t* y, int32_t n) {
  const FloatOfInts d;
  ClampRange bounds(p.lo, p.hi, p.zero, DType::s32);
  if (p.inverse != 0) bounds = ClampRange(p.lo, p.hi, 0, DType::s32);
  const VFI scale = hn::Set(d, p.scale), inverse = hn::Set(d, p.inverse), zero = hn::Set(d, static_cast<float>(p.zero));
  for (int32_t i = 0; i < n; i += kIntLanes) {
    VFI v = load_narrow(x + i, n - i);
    if (p.inverse == 0) {
      v = quotient(v, scale);
    } else {
      v = hn::Mul(v, inverse);
      v = round_half_away(p.zero == 0 ? v : hn::Add(zero, v));
    }
    store_ints(round_clamp_and_offset(v, bounds), n - i, y + i);
  }
}

Status dynamic_quantize_f32(const OpContext& c) noexcept {
  const Attrs& a = c.attrs<Attrs>();
  const Tensor &x = c.input(0), &y = c.output(0);
  const int axis = a.mode == 0 ? 0 : a.axis < 0 ? a.axis + x.rank() : a.axis;
  // Rows with parameters of their own, and the elements of a row, as two loop nests.
  StridedLoopNest<2> rows, inner;
  for (int i = 0; i < x.rank(); ++i) {
    const int64_t steps[] = {x.stride(i), y.stride(i)};
    (i < axis ? rows : inner).push(x.dim(i), steps);
  }
  const int32_t widths[] = {4, 1};
  inner.ensure_contiguous(widths);
  if (rows.depth == 0) rows.ensure_contiguous(widths);
  int32_t row_index = 0;
  const auto quantize_row = [&](int64_t x_at, int64_t y_at) {
    MinMax e;
    if (inner.length() > 0 && inner.runs() > 0)
      for_run_range(inner, 0, inner.runs(), 0, inner.length(), [&](const int64_t* at, const int64_t*, int32_t n) {
        e.add(reinterpret_cast<const float*>(x.as<uint8_t>() + x_at + at[0]), n);
      });
    const Params p = make_params(static_cast<Mode>(a.mode), e.min(), e.max());
    for_each_run(inner, c.threads, 8, [&](const int64_t* at, const int64_t*, int32_t n) {
      quantize_elements(p, reinterpret_cast<const float*>(x.as<uint8_t>() + x_at + at[0]), y.as<uint8_t>() + y_at + at[1], n);
    });
    c.output(1).as<float>()[row_index] = p.scale;
    if (a.mode == 0) c.output(2).as<uint8_t>()[row_index] = static_cast<uint8_t>(p.zero);
    else c.output(2).as<int32_t>()[row_index] = p.zero;
    ++row_index;
  };
  if (rows.runs() > 0 && rows.length() > 0)
    for_run_range(rows, 0, rows.runs(), 0, rows.length(), [&](const int64_t* at, const int64_t* steps, int32_t n) {
      for (int32_t i = 0; i < n; ++i) quantize_row(at[0] + i * steps[0], at[1] + i * steps[1]);
    });
  return Status::kOk;
}

}  // namespace

KernelFn select_dynamic_quantize(const OpContext& c) noexcept { return c.input(0).rank() > 0 ? &dynamic_quantize_f32 : nullptr; }

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
