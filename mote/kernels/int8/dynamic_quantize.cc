// Scales found from the values themselves (ops/dynamic_quantize).

#include "mote/ops/dynamic_quantize/dynamic_quantize.h"

#include "mote/kernels/common/nest.h"
#include "mote/kernels/int8/sum.h"

namespace mote::kernels::MOTE_ISA_NAME {
namespace {

using ops::dynamic_quantize::Attrs;
using ops::dynamic_quantize::Mode;

struct Params {
  float scale = 1, inverse = 0;  // inverse 0: divide by the scale
  int32_t zero = 0, lo = -128, hi = 127;
};

float size_of(float x) { return x < 0 ? -x : x; }

// To the nearest, as ops::round_to_s32 does it; the value is within s32.
int32_t nearest_even(float x) {
  const FloatOfInts d;
  const Bounds wide(-(1 << 20), 1 << 20, 0, DType::s32);
  return hn::GetLane(round_within(hn::Set(d, x), wide));
}
int32_t nearest_away(double x) {
  if (!(x == x)) return 0;
  if (x > 1000) return 1000;
  if (x < -1000) return -1000;
  const int32_t whole = static_cast<int32_t>(x);
  const double rest = x - whole;
  return rest >= 0.5 ? whole + 1 : rest <= -0.5 ? whole - 1 : whole;
}
int32_t within(int32_t v, int32_t lo, int32_t hi) { return v < lo ? lo : v > hi ? hi : v; }

Params params_of(Mode mode, float lo, float hi) {
  Params p;
  if (mode == Mode::kOnnx) {
    p.lo = 0, p.hi = 255;
    p.scale = lo == hi ? 1.0f : (hi - lo) / 255.0f;
    p.zero = within(nearest_even(0.0f - lo / p.scale), p.lo, p.hi);
  } else if (mode == Mode::kSymmetric) {
    p.lo = -127;
    const float reach = size_of(lo) > size_of(hi) ? size_of(lo) : size_of(hi);
    if (reach > 0) p.scale = reach / 127.0f, p.inverse = 127.0f / reach;
  } else if (lo != hi) {
    const double least = -128, most = 127, scale = (static_cast<double>(hi) - lo) / (most - least), low = lo / scale, high = hi / scale;
    const double zero = -least + (low < 0 ? -low : low) < most + (high < 0 ? -high : high) ? least - low : most - high;
    p.zero = within(nearest_away(zero), p.lo, p.hi);
    p.scale = static_cast<float>(scale);
    p.inverse = 1.0f / p.scale;
  }
  return p;
}

struct Extremes {
  VFI lo = hn::Zero(FloatOfInts()), hi = hn::Zero(FloatOfInts());
  // NaN leaves them as they are.
  MOTE_INLINE void add(const float* x, int32_t n) {
    for (int32_t i = 0; i < n; i += kIntLanes) {
      const VFI v = load_narrow(x + i, n - i);
#if HWY_ARCH_ARM_V7  // whose least and largest of NaN and a number are NaN
      lo = hn::IfThenElse(hn::Lt(v, lo), v, lo);
      hi = hn::IfThenElse(hn::Lt(hi, v), v, hi);
#else
      lo = hn::Min(v, lo);
      hi = hn::Max(v, hi);
#endif
    }
  }
  float least() const { return hn::GetLane(hn::MinOfLanes(FloatOfInts(), lo)); }
  float most() const { return hn::GetLane(hn::MaxOfLanes(FloatOfInts(), hi)); }
};

MOTE_INLINE void quantize_run(const Params& p, const float* x, uint8_t* y, int32_t n) {
  const FloatOfInts d;
  Bounds bounds(p.lo, p.hi, p.zero, DType::s32);
  if (p.inverse != 0) bounds = Bounds(p.lo, p.hi, 0, DType::s32);
  const VFI scale = hn::Set(d, p.scale), inverse = hn::Set(d, p.inverse), zero = hn::Set(d, static_cast<float>(p.zero));
  for (int32_t i = 0; i < n; i += kIntLanes) {
    VFI v = load_narrow(x + i, n - i);
    if (p.inverse == 0) {
      v = quotient(v, scale);
    } else {
      v = hn::Mul(v, inverse);
      v = round_away(p.zero == 0 ? v : hn::Add(zero, v));
    }
    store_ints(round_within(v, bounds), n - i, y + i);
  }
}

Status run(const OpContext& c) noexcept {
  const Attrs& a = c.attrs<Attrs>();
  const Tensor &x = c.input(0), &y = c.output(0);
  const int axis = a.mode == 0 ? 0 : a.axis < 0 ? a.axis + x.rank() : a.axis;
  // Rows and what lies within one, each as loops of their own.
  Nest<2> rows, inner;
  for (int i = 0; i < x.rank(); ++i) {
    const int64_t steps[] = {x.stride(i), y.stride(i)};
    (i < axis ? rows : inner).push(x.dim(i), steps);
  }
  const int32_t widths[] = {4, 1};
  inner.close(widths);
  if (rows.depth == 0) rows.close(widths);
  int32_t number = 0;
  const auto row = [&](int64_t x_at, int64_t y_at) {
    Extremes e;
    if (inner.length() > 0 && inner.runs() > 0)
      walk_runs(inner, 0, inner.runs(), 0, inner.length(), [&](const int64_t* at, const int64_t*, int32_t n) {
        e.add(reinterpret_cast<const float*>(x.as<uint8_t>() + x_at + at[0]), n);
      });
    const Params p = params_of(static_cast<Mode>(a.mode), e.least(), e.most());
    each_run(inner, c.threads, 8, [&](const int64_t* at, const int64_t*, int32_t n) {
      quantize_run(p, reinterpret_cast<const float*>(x.as<uint8_t>() + x_at + at[0]), y.as<uint8_t>() + y_at + at[1], n);
    });
    c.output(1).as<float>()[number] = p.scale;
    if (a.mode == 0) c.output(2).as<uint8_t>()[number] = static_cast<uint8_t>(p.zero);
    else c.output(2).as<int32_t>()[number] = p.zero;
    ++number;
  };
  if (rows.runs() > 0 && rows.length() > 0)
    walk_runs(rows, 0, rows.runs(), 0, rows.length(), [&](const int64_t* at, const int64_t* steps, int32_t n) {
      for (int32_t i = 0; i < n; ++i) row(at[0] + i * steps[0], at[1] + i * steps[1]);
    });
  return Status::kOk;
}

}  // namespace

KernelFn select_dynamic_quantize(const OpContext& c) noexcept { return c.input(0).rank() > 0 ? &run : nullptr; }

}  // namespace mote::kernels::MOTE_ISA_NAME
