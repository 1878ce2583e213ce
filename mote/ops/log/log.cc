#include "mote/ops/log/log.h"

#include <cmath>

namespace mote::ops::log {
namespace {

struct Log {
  template <class C>
  C operator()(C x) const {
    return std::log(x);
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_unary<OpId::log, Log, Attrs>(c, Types{}); }

}  // namespace mote::ops::log
