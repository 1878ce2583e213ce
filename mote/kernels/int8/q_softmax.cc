#include "mote/kernels/int8/softmax.h"

namespace mote::kernels::MOTE_ISA_NAME {
namespace {

// One by one: processors gather no faster.
class Table {
 public:
  explicit Table(const int32_t* exponentials) : exponentials_(exponentials) {}
  MOTE_INLINE void look_up(hn::Vec<Block8> below, int32_t count, int32_t* out) const {
    alignas(64) uint8_t index[kBlock];
    hn::Store(below, Block8(), index);
    for (int32_t i = 0; i < kBlock; i += 8) unroll<8>([&](auto k) MOTE_LAMBDA { out[i + k] = exponentials_[index[i + k]]; });
    for (int32_t i = count; i < kBlock; ++i) out[i] = 0;
  }
  static MOTE_INLINE void store(const VI* v, const ByteBounds& bounds, int32_t count, uint8_t* y) { store_bytes<4>(v, bounds, count, y); }

 private:
  const int32_t* exponentials_;
};

}  // namespace

KernelFn select_q_softmax(const OpContext& c) noexcept { return can_softmax(c) ? &run_softmax<Table> : nullptr; }

}  // namespace mote::kernels::MOTE_ISA_NAME
