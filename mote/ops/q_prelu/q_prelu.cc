#include "mote/ops/q_prelu/q_prelu.h"

namespace mote::ops::q_prelu {
namespace {

class Prelu {
 public:
  explicit Prelu(const Attrs& a) : a_(a) {}

  template <class T>
  int32_t operator()(T x, T alpha) const {
    const int32_t p = int32_t{x} - a_.input_zero, q = int32_t{alpha} - a_.alpha_zero;
    const int32_t v = p >= 0 ? scale_by(p, a_.positive_multiplier, a_.positive_shift)
                             : scale_by(wrap_to_s32(int64_t{p} * q), a_.negative_multiplier, a_.negative_shift);
    return saturate_to<T>(int64_t{v} + a_.output_zero);
  }

 private:
  Attrs a_;
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_binary<OpId::q_prelu, Prelu, Attrs>(c, Types{}); }

}  // namespace mote::ops::q_prelu
