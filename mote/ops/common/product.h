#pragma once

#include "mote/ops/common/wrap.h"

namespace mote::ops {

// A product of any number of factors; integers wrap.
template <class C>
class Product {
 public:
  void add(C v) noexcept { product_ = wrap_mul(product_, v); }
  C value() const noexcept { return product_; }

 private:
  C product_ = C(1);
};

}  // namespace mote::ops
