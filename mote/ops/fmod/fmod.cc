#include "mote/ops/fmod/fmod.h"

#include <cmath>

#include "mote/ops/common/integer_math.h"

namespace mote::ops::fmod {
namespace {

struct Fmod {
  template <class C>
  C operator()(C a, C b) const {
    if constexpr (std::is_integral_v<C>) return remainder_of_dividend(a, b);
    else return std::fmod(a, b);
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_binary<OpId::fmod, Fmod, Attrs>(c, Types{}); }

}  // namespace mote::ops::fmod
