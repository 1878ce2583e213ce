#include "mote/ops/q_softmax/q_softmax.h"

#include "mote/ops/common/row_walk.h"

namespace mote::ops::q_softmax {
namespace {

template <class T>
T greatest(const T* x, int32_t n) {
  T most = x[0];
  for (int32_t i = 1; i < n; ++i) most = x[i] > most ? x[i] : most;
  return most;
}

template <class T>
struct Softmax {
  static Status run(const OpContext& c) noexcept {
    const Attrs& a = c.attrs<Attrs>();
    const Tensor &x = c.input(0), &y = c.output(0);
    const IntRange range = int_range(y.dtype());
    const int32_t width = static_cast<int32_t>(dtype_bytes(y.dtype()));
    RowWalk<2> walk(*y.desc, {x.desc, y.desc});
    while (walk.next()) {
      const T* in = x.at<const T>(walk.offset[0]);
      const int32_t most = greatest(in, walk.length);
      int64_t sum = 0;  // 12 integer bits; more than 4096 equal elements saturate
      for (int32_t i = 0; i < walk.length; ++i)
        if (in[i] - most >= a.diff_min) sum += exp_of(a, in[i] - most).template rescale<12>().raw;
      int exponent;
      const Fixed<int32_t, 0> scale{reciprocal(sum, width, &exponent)};
      for (int32_t i = 0; i < walk.length; ++i) {
        int64_t v = range.lo;
        if (in[i] - most >= a.diff_min) v += rounding_shift_right((scale * exp_of(a, in[i] - most)).raw, exponent);
        store_int(y, walk.offset[1] + i * width, clamp_to(v, range));
      }
    }
    return Status::kOk;
  }
};

template <>
struct Softmax<int16_t> {
  static int16_t exp_of(const Attrs& a, const int16_t* table, int32_t below) {
    return interpolate_table(saturate_to<int16_t>(int64_t{scale_by(below, a.multiplier, a.shift)} + 32767), table);
  }
  static Status run(const OpContext& c) noexcept {
    const Attrs& a = c.attrs<Attrs>();
    const Tensor &x = c.input(0), &y = c.output(0);
    const int16_t *exp_table = c.input(1).as<const int16_t>(), *reciprocals = c.input(2).as<const int16_t>();
    RowWalk<2> walk(*y.desc, {x.desc, y.desc});
    while (walk.next()) {
      const int16_t* in = x.at<const int16_t>(walk.offset[0]);
      int16_t* out = y.at<int16_t>(walk.offset[1]);
      const int32_t most = greatest(in, walk.length);
      int64_t wide_sum = 0;
      for (int32_t i = 0; i < walk.length; ++i) wide_sum += out[i] = exp_of(a, exp_table, in[i] - most);
      const int32_t sum = clamp_to(wide_sum, 1, 0x7fffffff);
      const int zeros = leading_zeros(static_cast<uint32_t>(sum)), shift = 31 - zeros;
      const int64_t shifted = ((int64_t{sum} << (zeros - 1)) + (1 << 13)) >> 14;
      const int64_t scale = interpolate_table(saturate_to<int16_t>(shifted - ((1 << 15) + (1 << 16))), reciprocals);
      const int64_t half = shift > 0 ? int64_t{1} << (shift - 1) : 0;
      for (int32_t i = 0; i < walk.length; ++i) out[i] = static_cast<int16_t>(clamp_to((out[i] * scale + half) >> shift, 0, 32767));
    }
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::q_softmax, Softmax>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::q_softmax
