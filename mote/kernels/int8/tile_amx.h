#pragma once

// The micro-kernel of processors with tiles: up to two tiles of 16 rows by two panels of 16 outputs, 64 k at a time. A step of a panel
// (16 fours of k, 16 outputs) is a tile as it lies in the file; rows of the left side are read where they are.

#include <immintrin.h>

#include "mote/kernels/common/tiles_amx.h"
#include "mote/kernels/int8/tile.h"

namespace mote::kernels::MOTE_ISA_NAME {

inline constexpr int kAmxRows = 16, kAmxDepth = 64;
inline constexpr int kAmxStepBytes = kAmxDepth * kPanel;

// The left side's rows, each in runs of neighbours.
struct AmxBlock {
  const uint8_t* left[2];  // of each tile
  int64_t left_stride;     // bytes from row to row
  const int64_t* run_offsets;
  int32_t runs, run_steps;  // steps of 64 k
  const int8_t* weights[2];
  const int8_t* last[2];  // a step with fewer k, zeros behind them; null: none
  int32_t* sums;          // rows of sum_stride
  int64_t sum_stride;
};

// Sums that are still to become bytes: up to 32 rows of one or two panels. Two rows at a time, while tiles are multiplied.
class AmxEnding {
 public:
  static constexpr int32_t kRows = 2 * kAmxRows, kStride = 2 * kPanel;

  AmxEnding() = default;
  // Outputs [at, at + count), to out[row] + at; out has an even number of rows, of which the last need not be wanted.
  AmxEnding(const TileEnd* end, const int32_t* sums, int32_t rows, int32_t at, int32_t count, uint8_t* const* out)
      : end_(end), sums_(sums), out_(out), rows_(rows), at_(at), count_(count) {}

  MOTE_INLINE void go_on(int32_t rows) {
    if (row_ < rows_) some_rows(rows);
  }
  MOTE_INLINE void finish_all() { go_on(kRows); }

 private:
  __attribute__((noinline)) void some_rows(int32_t rows) {
    const int32_t stop = row_ + rows < rows_ ? row_ + rows : rows_;
    for (; row_ < stop; row_ += 2) {
      if (count_ > kPanel) two_rows<2>();
      else two_rows<1>();
    }
  }
  template <int NV>
  MOTE_INLINE void two_rows() const {
    __m512i sums[2][NV];
    unroll<2>([&](auto m) MOTE_LAMBDA {
      unroll<NV>([&](auto v) MOTE_LAMBDA {
        sums[m][v] = _mm512_add_epi32(_mm512_load_si512(sums_ + (row_ + m) * kStride + v * kPanel),
                                      _mm512_load_si512(end_->base + at_ + v * kPanel));
      });
    });
    finish<2, NV>(*end_, out_ + row_, at_, count_, sums);
  }
  const TileEnd* end_ = nullptr;
  const int32_t* sums_ = nullptr;
  uint8_t* const* out_ = nullptr;
  int32_t row_ = 0, rows_ = 0, at_ = 0, count_ = 0;
};

// Tiles 0 to 3 are sums, 4 and 5 the left side, 6 and 7 weights.
template <bool Signed, int M, int N>
MOTE_INLINE void amx_step(const uint8_t* const* left, int64_t stride, const int8_t* w0, const int8_t* w1) {
  _tile_loadd(6, w0, 64);
  if constexpr (N > 1) _tile_loadd(7, w1, 64);
  _tile_loadd(4, left[0], stride);
  if constexpr (Signed) _tile_dpbssd(0, 4, 6);
  else _tile_dpbusd(0, 4, 6);
  if constexpr (N > 1) {
    if constexpr (Signed) _tile_dpbssd(1, 4, 7);
    else _tile_dpbusd(1, 4, 7);
  }
  if constexpr (M > 1) {
    _tile_loadd(5, left[1], stride);
    if constexpr (Signed) _tile_dpbssd(2, 5, 6);
    else _tile_dpbusd(2, 5, 6);
    if constexpr (N > 1) {
      if constexpr (Signed) _tile_dpbssd(3, 5, 7);
      else _tile_dpbusd(3, 5, 7);
    }
  }
}

// before: what ends meanwhile.
template <bool Signed, int M, int N>
void amx_multiply(const AmxBlock& t, AmxEnding* before) {
  const int32_t rows_of_step = (AmxEnding::kRows / (t.runs * t.run_steps + 1) + 2) & ~1;
  _tile_zero(0);
  if constexpr (N > 1) _tile_zero(1);
  if constexpr (M > 1) _tile_zero(2);
  if constexpr (M > 1 && N > 1) _tile_zero(3);
  const int8_t *w0 = t.weights[0], *w1 = t.weights[N - 1];
  const uint8_t* left[2] = {t.left[0], t.left[M - 1]};
  for (int32_t run = 0; run < t.runs; ++run) {
    left[0] = t.left[0] + t.run_offsets[run];
    left[1] = t.left[M - 1] + t.run_offsets[run];
    for (int32_t step = 0; step < t.run_steps; ++step) {
      amx_step<Signed, M, N>(left, t.left_stride, w0, w1);
      before->go_on(rows_of_step);
      left[0] += kAmxDepth, left[1] += kAmxDepth;
      w0 += kAmxStepBytes, w1 += kAmxStepBytes;
    }
  }
  if (t.last[0] != nullptr) amx_step<Signed, M, N>(left, t.left_stride, t.last[0], t.last[N - 1]);
  before->finish_all();
  const int64_t bytes = t.sum_stride * 4;
  _tile_stored(0, t.sums, bytes);
  if constexpr (N > 1) _tile_stored(1, t.sums + kPanel, bytes);
  if constexpr (M > 1) _tile_stored(2, t.sums + kAmxRows * t.sum_stride, bytes);
  if constexpr (M > 1 && N > 1) _tile_stored(3, t.sums + kAmxRows * t.sum_stride + kPanel, bytes);
}

using AmxFn = void (*)(const AmxBlock&, AmxEnding*);
MOTE_INLINE AmxFn amx_tile_of(bool is_signed, bool two_tiles, bool two_panels) {
  static constexpr AmxFn kFns[] = {&amx_multiply<false, 1, 1>, &amx_multiply<false, 1, 2>, &amx_multiply<false, 2, 1>,
                                   &amx_multiply<false, 2, 2>, &amx_multiply<true, 1, 1>,  &amx_multiply<true, 1, 2>,
                                   &amx_multiply<true, 2, 1>,  &amx_multiply<true, 2, 2>};
  return kFns[is_signed * 4 + two_tiles * 2 + two_panels];
}

}  // namespace mote::kernels::MOTE_ISA_NAME
