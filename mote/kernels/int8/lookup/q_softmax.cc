#include "mote/kernels/int8/lookup/softmax.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {
namespace {

// Scalar loads: x86 gathers are not faster.
class ScalarExpTable {
 public:
  explicit ScalarExpTable(const int32_t* exponentials) : exponentials_(exponentials) {}
  MOTE_INLINE void look_up(hn::Vec<Block8> distance, int32_t count, int32_t* out) const {
    alignas(64) uint8_t index[kBlock];
    hn::Store(distance, Block8(), index);
    for (int32_t i = 0; i < kBlock; i += 8) unroll<8>([&](auto k) MOTE_LAMBDA { out[i + k] = exponentials_[index[i + k]]; });
    for (int32_t i = count; i < kBlock; ++i) out[i] = 0;
  }
  static MOTE_INLINE void store(const VI* v, const ByteClampRange& bounds, int32_t count, uint8_t* y) {
    store_bytes<4>(v, bounds, count, y);
  }

 private:
  const int32_t* exponentials_;
};

}  // namespace

KernelFn select_q_softmax(const OpContext& c) noexcept { return supports_softmax(c) ? &softmax_s8<ScalarExpTable> : nullptr; }

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
