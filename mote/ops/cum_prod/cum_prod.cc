#include "mote/ops/cum_prod/cum_prod.h"

#include "mote/ops/common/product.h"

namespace mote::ops::cum_prod {
namespace {

template <class T>
struct CumProd {
  static Status run(const OpContext& c) noexcept { return run_scan<T, Product<Compute<T>>>(c); }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::cum_prod, CumProd>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::cum_prod
