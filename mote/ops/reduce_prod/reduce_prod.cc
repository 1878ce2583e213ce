#include "mote/ops/reduce_prod/reduce_prod.h"

#include "mote/ops/common/product.h"

namespace mote::ops::reduce_prod {
namespace {

template <class T>
struct ReduceProd {
  static Status run(const OpContext& c) noexcept {
    return run_reduce<T>(c, c.attrs<Attrs>(), [](const Reduced<T>& x) {
      Product<Compute<T>> product;
      x.each([&](Compute<T> v) { product.add(v); });
      return product.value();
    });
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::reduce_prod, ReduceProd>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::reduce_prod
