#include "mote/kernels/common/activate.h"

namespace mote::kernels::MOTE_ISA_NAME {
namespace {

template <Activation Kind>
void activate_row(float a, float b, float* const* row, int32_t rows, int64_t at, int32_t count) {
  const VF va = broadcast(a), vb = broadcast(b);
  for (int32_t r = 0; r < rows; ++r) map_row(row[r] + at, row[r] + at, count, [&](VF v) MOTE_LAMBDA { return activate<Kind>(v, va, vb); });
}

template <int... K>
ActivateFn row_for(uint32_t kind, std::integer_sequence<int, K...>) {
  static constexpr ActivateFn kRows[] = {&activate_row<static_cast<Activation>(K)>...};
  return kRows[kind];
}

}  // namespace

ActivateFn activate_row_for(uint32_t kind) {
  return row_for(kind, std::make_integer_sequence<int, static_cast<int>(ops::kActivationCount)>{});
}

}  // namespace mote::kernels::MOTE_ISA_NAME
