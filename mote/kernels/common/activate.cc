#include "mote/kernels/common/activate.h"

namespace mote::kernels::MOTE_ISA_NAME {
namespace {

template <Activation Kind>
void activate_row(float a, float b, float* const* row, int32_t rows, int64_t first, int32_t count) {
  const VF va = broadcast(a), vb = broadcast(b);
  for (int32_t r = 0; r < rows; ++r)
    map_row(row[r] + first, row[r] + first, count, [&](VF v) MOTE_LAMBDA { return activate<Kind>(v, va, vb); });
}

template <int... K>
ActivateFn function_of(uint32_t kind, std::integer_sequence<int, K...>) {
  static constexpr ActivateFn kFunctions[] = {&activate_row<static_cast<Activation>(K)>...};
  return kFunctions[kind];
}

}  // namespace

ActivateFn activate_row_for(uint32_t kind) {
  return function_of(kind, std::make_integer_sequence<int, static_cast<int>(ops::kActivationCount)>{});
}

}  // namespace mote::kernels::MOTE_ISA_NAME
