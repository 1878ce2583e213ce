#include "mote/ops/mod/mod.h"

#include <cmath>

#include "mote/ops/common/integer_math.h"

namespace mote::ops::mod {
namespace {

struct Mod {
  template <class C>
  C operator()(C a, C b) const {
    C r;
    if constexpr (std::is_integral_v<C>) r = remainder_of_dividend(a, b);
    else r = std::fmod(a, b);
    return signs_differ(r, b) ? static_cast<C>(r + b) : r;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_binary<OpId::mod, Mod, Attrs>(c, Types{}); }

}  // namespace mote::ops::mod
