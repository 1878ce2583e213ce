#pragma once

// Passes over packed weights: panels (K / 4, 16, 4), each step of four k (a K group) kKGroupBytes long.

#include "mote/kernels/int8/gemm/microkernel.h"
#include "mote/kernels/int8/gemm/row_access.h"
#include "mote/kernels/int8/requantize/lanes.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {

// Sums over k of the weights of each of `count` outputs, rounded up to whole panels. They correct for the zero point of the LHS.
inline void column_sums(const int8_t* weights, int32_t k, int32_t count, int32_t* out_sums) {
  const int32_t k_groups = (k + 3) / 4;
  constexpr int kVectors = kPanel / kVectorOutputs;
  for (; count > 0; count -= kPanel, out_sums += kPanel) {
    Register acc[kVectors];
    unroll<kVectors>([&](auto v) { acc[v] = zero_register(); });
    for (int32_t i = 0; i < k_groups; ++i, weights += kKGroupBytes)
      unroll<kVectors>([&](auto v) { acc[v] = add_weights(acc[v], load_weights(weights + v * kVectorOutputs * 4)); });
    store_accumulators<kVectors>(acc, out_sums);
  }
}

// True when one of the weights is -128.
inline bool has_minus_128(const int8_t* weights, int64_t bytes) {
  const hn::CappedTag<int8_t, 16> d;
  auto minimum = hn::Zero(d);
  for (int64_t i = 0; i < bytes; i += 64)
    unroll<4>([&](auto v) MOTE_LAMBDA { minimum = hn::Min(minimum, hn::LoadU(d, weights + i + v * 16)); });
  return !hn::AllFalse(d, hn::Eq(minimum, hn::Set(d, -128)));
}

// Copies one panel so that each run starts with a K group of its own; the last group of a run is filled up with zero weights. LHS elements
// behind the end of a run are then multiplied by zero.
inline void pad_panel_runs(const int8_t* weights, const RunLayout& layout, int8_t* to) {
  const int32_t k_groups = (layout.runs * layout.run_length + 3) / 4;
  for (int32_t run = 0; run < layout.runs; ++run) {
    for (int32_t group = 0; group < layout.k_groups(); ++group, to += kKGroupBytes) {
      const int32_t k = run * layout.run_length + group * 4, shift = k % 4 * 8, remaining = layout.run_length - group * 4;
      const int8_t* from = weights + k / 4 * kKGroupBytes;
      const int64_t next = k / 4 + 1 < k_groups ? kKGroupBytes : 0;
      const VI mask = set_ints(remaining >= 4 ? -1 : (1 << remaining * 8) - 1);
      for (int i = 0; i < kKGroupBytes; i += kIntLanes * 4) {
        const auto a = hn::BitCast(hn::RebindToUnsigned<I32>(), load_ints(reinterpret_cast<const int32_t*>(from + i)));
        VI v = hn::BitCast(I32(), hn::ShiftRightSame(a, shift));
        if (shift != 0) v = hn::Or(v, hn::ShiftLeftSame(load_ints(reinterpret_cast<const int32_t*>(from + next + i)), 32 - shift));
        hn::StoreU(hn::And(v, mask), I32(), reinterpret_cast<int32_t*>(to + i));
      }
    }
  }
}

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
