#include "mote/ops/window/window.h"

namespace mote::ops::window {
namespace {

struct Series {
  double a0, a1, a2;
  explicit Series(const Attrs& a) noexcept {
    switch (a.kind) {
      case kHann: a0 = 0.5, a1 = 0.5, a2 = 0; break;
      case kHamming: a0 = 25.0 / 46, a1 = 21.0 / 46, a2 = 0; break;
      case kBlackman: a0 = 0.42, a1 = 0.5, a2 = 0.08; break;
      default: a0 = a.a0, a1 = a.a1, a2 = a.a2;
    }
  }
};

template <class T>
struct Window {
  static Status run(const OpContext& c) noexcept {
    const Attrs& a = c.attrs<Attrs>();
    const Series s(a);
    T* y = c.output(0).as<T>();
    const int32_t n = c.output(0).dim(0);
    const double period = a.periodic != 0 ? n : n - 1.0;
    for (int32_t i = 0; i < n; ++i) {
      const double angle = 6.283185307179586476925 * i / period;
      y[i] = static_cast<T>(n == 1 ? 1.0 : s.a0 - s.a1 * std::cos(angle) + s.a2 * std::cos(2 * angle));
    }
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::window, Window>(c.output(0).dtype(), Types{}); }

}  // namespace mote::ops::window
