#include "mote/ops/q_reduce/q_reduce.h"

namespace mote::ops::q_reduce {
namespace {

template <class T>
struct Reduce {
  static Status run(const OpContext& c) noexcept {
    const Attrs& a = c.attrs<Attrs>();
    return run_reduce<T>(c, reduction(a), [&a](const Reduced<T>& values) {
      const int64_t n = values.count();
      if (static_cast<Kind>(a.kind) == Kind::kMax) {
        T most = std::numeric_limits<T>::min();
        values.each([&most](T v) { most = v > most ? v : most; });
        return most;
      }
      if (static_cast<Kind>(a.kind) == Kind::kMin) {
        T least = std::numeric_limits<T>::max();
        values.each([&least](T v) { least = v < least ? v : least; });
        return least;
      }
      int64_t sum = 0;
      values.each([&sum](T v) { sum += v; });
      return saturate_to<T>(n == 0 ? a.output_zero : scaled(a, sum - n * a.input_zero, n));
    });
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::q_reduce, Reduce>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::q_reduce
