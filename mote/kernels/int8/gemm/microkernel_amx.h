#pragma once

// The AMX micro-kernel: up to two tiles of 16 LHS rows by two panels of 16 outputs, 64 k in a step. A step of a panel (16 K groups of 16
// outputs) has the layout of a tile as it is packed; LHS rows are loaded with their stride.

#include <immintrin.h>

#include "mote/kernels/common/tiles_amx.h"
#include "mote/kernels/int8/gemm/microkernel.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {

inline constexpr int kAmxRows = 16, kAmxStepK = 64;
inline constexpr int kAmxTileBytes = kAmxStepK * kPanel;

// LHS rows consist of runs of adjacent elements, as in TileArgs.
struct AmxTileArgs {
  const uint8_t* lhs[2];  // first row of each tile
  int64_t lhs_stride;     // bytes from row to row
  const int64_t* run_offsets;
  int32_t runs, run_k_groups;  // steps of kAmxStepK in a run
  const int8_t* weights[2];
  const int8_t* k_tail[2];  // last step, if K is no multiple of kAmxStepK: zero weights behind K; else null
  int32_t* accumulators;    // rows of acc_stride
  int64_t acc_stride;
};

// The epilogue of the previous tile pair: up to 32 rows of one or two panels. It is computed two rows at a time between the steps of the
// next pair, so that vector instructions overlap with tile multiplications.
class AmxPendingEpilogue {
 public:
  static constexpr int32_t kRows = 2 * kAmxRows, kStride = 2 * kPanel;

  AmxPendingEpilogue() = default;
  // Outputs [first_output, first_output + count) go to out[row] + first_output. `out` has an even number of rows; the last may point to
  // scratch memory.
  AmxPendingEpilogue(const RegisterEpilogue* epilogue, const int32_t* accumulators, int32_t rows, int32_t first_output, int32_t count,
                     uint8_t* const* out)
      : epilogue_(epilogue), accumulators_(accumulators), out_(out), rows_(rows), first_output_(first_output), count_(count) {}

  MOTE_INLINE void advance(int32_t rows) {
    if (row_ < rows_) requantize_rows(rows);
  }
  MOTE_INLINE void finish_rows() { advance(kRows); }

 private:
  __attribute__((noinline)) void requantize_rows(int32_t rows) {
    const int32_t stop = row_ + rows < rows_ ? row_ + rows : rows_;
    for (; row_ < stop; row_ += 2) {
      if (count_ > kPanel) requantize_row_pair<2>();
      else requantize_row_pair<1>();
    }
  }
  template <int NV>
  MOTE_INLINE void requantize_row_pair() const {
    __m512i accumulators[2][NV];
    unroll<2>([&](auto m) MOTE_LAMBDA {
      unroll<NV>([&](auto v) MOTE_LAMBDA {
        accumulators[m][v] = _mm512_add_epi32(_mm512_load_si512(accumulators_ + (row_ + m) * kStride + v * kPanel),
                                              _mm512_load_si512(epilogue_->base + first_output_ + v * kPanel));
      });
    });
    requantize_and_store<2, NV>(*epilogue_, out_ + row_, first_output_, count_, accumulators);
  }
  const RegisterEpilogue* epilogue_ = nullptr;
  const int32_t* accumulators_ = nullptr;
  uint8_t* const* out_ = nullptr;
  int32_t row_ = 0, rows_ = 0, first_output_ = 0, count_ = 0;
};

// One step. Tiles 0 to 3 are accumulators, 4 and 5 the LHS, 6 and 7 weights.
template <bool Signed, int M, int N>
MOTE_INLINE void amx_multiply_step(const uint8_t* const* lhs, int64_t stride, const int8_t* w0, const int8_t* w1) {
  _tile_loadd(6, w0, 64);
  if constexpr (N > 1) _tile_loadd(7, w1, 64);
  _tile_loadd(4, lhs[0], stride);
  if constexpr (Signed) _tile_dpbssd(0, 4, 6);
  else _tile_dpbusd(0, 4, 6);
  if constexpr (N > 1) {
    if constexpr (Signed) _tile_dpbssd(1, 4, 7);
    else _tile_dpbusd(1, 4, 7);
  }
  if constexpr (M > 1) {
    _tile_loadd(5, lhs[1], stride);
    if constexpr (Signed) _tile_dpbssd(2, 5, 6);
    else _tile_dpbusd(2, 5, 6);
    if constexpr (N > 1) {
      if constexpr (Signed) _tile_dpbssd(3, 5, 7);
      else _tile_dpbusd(3, 5, 7);
    }
  }
}

// pending: the epilogue that runs in between.
template <bool Signed, int M, int N>
void amx_tiles_s8(const AmxTileArgs& t, AmxPendingEpilogue* pending) {
  const int32_t rows_per_step = (AmxPendingEpilogue::kRows / (t.runs * t.run_k_groups + 1) + 2) & ~1;
  _tile_zero(0);
  if constexpr (N > 1) _tile_zero(1);
  if constexpr (M > 1) _tile_zero(2);
  if constexpr (M > 1 && N > 1) _tile_zero(3);
  const int8_t *w0 = t.weights[0], *w1 = t.weights[N - 1];
  const uint8_t* lhs[2] = {t.lhs[0], t.lhs[M - 1]};
  for (int32_t run = 0; run < t.runs; ++run) {
    lhs[0] = t.lhs[0] + t.run_offsets[run];
    lhs[1] = t.lhs[M - 1] + t.run_offsets[run];
    for (int32_t step = 0; step < t.run_k_groups; ++step) {
      amx_multiply_step<Signed, M, N>(lhs, t.lhs_stride, w0, w1);
      pending->advance(rows_per_step);
      lhs[0] += kAmxStepK, lhs[1] += kAmxStepK;
      w0 += kAmxTileBytes, w1 += kAmxTileBytes;
    }
  }
  if (t.k_tail[0] != nullptr) amx_multiply_step<Signed, M, N>(lhs, t.lhs_stride, t.k_tail[0], t.k_tail[N - 1]);
  pending->finish_rows();
  const int64_t bytes = t.acc_stride * 4;
  _tile_stored(0, t.accumulators, bytes);
  if constexpr (N > 1) _tile_stored(1, t.accumulators + kPanel, bytes);
  if constexpr (M > 1) _tile_stored(2, t.accumulators + kAmxRows * t.acc_stride, bytes);
  if constexpr (M > 1 && N > 1) _tile_stored(3, t.accumulators + kAmxRows * t.acc_stride + kPanel, bytes);
}

using AmxTilesFn = void (*)(const AmxTileArgs&, AmxPendingEpilogue*);
MOTE_INLINE AmxTilesFn select_amx_tiles(bool is_signed, bool two_tiles, bool two_panels) {
  static constexpr AmxTilesFn kFns[] = {&amx_tiles_s8<false, 1, 1>, &amx_tiles_s8<false, 1, 2>, &amx_tiles_s8<false, 2, 1>,
                                        &amx_tiles_s8<false, 2, 2>, &amx_tiles_s8<true, 1, 1>,  &amx_tiles_s8<true, 1, 2>,
                                        &amx_tiles_s8<true, 2, 1>,  &amx_tiles_s8<true, 2, 2>};
  return kFns[is_signed * 4 + two_tiles * 2 + two_panels];
}

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
