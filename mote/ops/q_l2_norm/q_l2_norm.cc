#include "mote/ops/q_l2_norm/q_l2_norm.h"

#include "mote/ops/common/row_walk.h"

namespace mote::ops::q_l2_norm {
namespace {

template <class T>
struct L2Norm {
  // TFLite scales s8 with the 7 bits of 1/128 in the shift, u8 with them in the value.
  static int32_t normal(int32_t v, int32_t multiplier, int32_t shift) {
    if constexpr (std::is_signed_v<T>) return scale_by(v, multiplier, shift + 7);
    else return 128 + scale_by(v * 128, multiplier, shift);
  }
  static Status run(const OpContext& c) noexcept {
    const int32_t zero = c.attrs<Attrs>().input_zero;
    const Tensor &x = c.input(0), &y = c.output(0);
    RowWalk<2> walk(*y.desc, {x.desc, y.desc});
    while (walk.next()) {
      const T* in = x.at<const T>(walk.offset[0]);
      T* out = y.at<T>(walk.offset[1]);
      int64_t sum = 0;
      for (int32_t i = 0; i < walk.length; ++i) sum += int64_t{in[i] - zero} * (in[i] - zero);
      int32_t multiplier, shift;
      inverse_sqrt(saturate_to<int32_t>(sum), &multiplier, &shift);
      for (int32_t i = 0; i < walk.length; ++i) out[i] = saturate_to<T>(normal(in[i] - zero, multiplier, shift));
    }
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::q_l2_norm, L2Norm>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::q_l2_norm
