#include "mote/ops/q_mul/q_mul.h"

namespace mote::ops::q_mul {
namespace {

class Product {
 public:
  explicit Product(const Attrs& a) : a_(a) {}

  template <class T>
  int32_t operator()(T x, T y) const {
    const int32_t p = int32_t{x} - a_.a_zero, q = int32_t{y} - a_.b_zero;
    const int32_t v = a_.mode == 0 ? scale_by(wrap_to_s32(int64_t{p} * q), a_.multiplier, a_.shift)
                                   : round_to_s32(static_cast<float>(p) * a_.a_scale * (static_cast<float>(q) * a_.b_scale) / a_.y_scale);
    return clamp_to(int64_t{v} + a_.y_zero, clamp_range(a_.clamp_lo, a_.clamp_hi, dtype_of<T>));
  }

 private:
  Attrs a_;
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_binary<OpId::q_mul, Product, Attrs>(c, Types{}); }

}  // namespace mote::ops::q_mul
