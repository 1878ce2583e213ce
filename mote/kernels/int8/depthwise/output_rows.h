#pragma once

// The loop nest over rows of outputs of 3x3 and 5x5 windows for a block of channels (tap_layouts.h). A column of the window is loaded and
// interleaved once and used by every output it lies under; accumulators start from the bias and are requantized in registers. README.md has
// a diagram.

#include "mote/kernels/int8/depthwise/tap_layouts.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {

// Tiling of windows of K x K taps with stride S. A column has four taps. For 3x3 with stride 1 they serve two outputs, one below the other:
// the second one's weights start one tap lower. The fifth row of 5x5 windows is read along the row, in groups of four pixels from the first
// output of the tile on; outputs that start at another pixel of a group have weights of their own.
// Packed: the tensor has few channels, and several pixels side by side fill a block; columns are not shared between outputs.
template <class F, int K, int S, bool Packed>
struct DepthwiseTiling {
  using Layout = F;
  using Register = typename F::Register;
  using Column = typename F::Column;
  static constexpr int kKernel = K, kStride = S;
  static constexpr bool kPacked = Packed;
  static constexpr bool kHas32Registers = kRegisters == 32;
  static constexpr int kOutputRows = K == 3 && S == 1 ? 2 : 1;          // outputs, one below the other
  static constexpr int kColumnTaps = K == 3 ? 3 + kOutputRows - 1 : 4;  // taps of a column
  // Accumulator registers. Stride 2 of 5x5 with PairTaps would be much code for rare layers.
  static constexpr int kAccRegisters = K == 5 && S == 2 && F::kRegisters == 2 ? 4 : 8;
  static constexpr int kOutputColumns =
      Packed ? (F::kPixels + kOutputRows - 1) / kOutputRows : kAccRegisters / kOutputRows / F::kRegisters;  // outputs side by side
  static constexpr int kOutputs = kOutputColumns * kOutputRows;
  static constexpr int kColumnStep = Packed ? K : S;  // columns from one output to the next
  static constexpr int kColumns = (kOutputColumns - 1) * kColumnStep + K;
  static constexpr int kReused = kHas32Registers && !Packed ? K - S : 0;  // columns of a tile that the next one reuses
};
inline constexpr int kMaxTaps = 5, kMaxSlots = kMaxTaps + 2 * 4;

// The four taps of each weight slot: first columns, per row of outputs, then the groups along the fifth row. The first `unique` slots hold
// every tap once.
struct TapGroups {
  // outputs_per_group: outputs that start within four pixels, at most.
  constexpr TapGroups(int kernel, int stride, int outputs_per_group)
      : count(kernel == 3 ? (stride == 1 ? 6 : 3) : kernel + 2 * (outputs_per_group < 4 / stride ? outputs_per_group : 4 / stride)),
        unique(kernel == 3 ? 3 : 7),
        taps() {
    for (int slot = 0; slot < count; ++slot) {
      for (int i = 0; i < 4; ++i) {
        const int row = i - slot / kernel, group = slot - kernel, kx = group % 2 * 4 + i - group / 2 * stride;
        if (kernel == 3 || group < 0) taps[slot][i] = static_cast<int8_t>(row >= 0 && row < kernel ? row * kernel + slot % kernel : -1);
        else taps[slot][i] = static_cast<int8_t>(kx >= 0 && kx < kernel ? 4 * kernel + kx : -1);
      }
    }
  }
  int32_t count, unique;
  int8_t taps[kMaxSlots][4];  // index into the window, -1: none
};
// Requantization of accumulators that are in registers.
struct DepthwiseEpilogue {
  DepthwiseEpilogue(const ClampRange& bounds, DType type, bool is_real) : clamp(bounds, type), real_multipliers(is_real) {}
  // N times four vectors, as F::gather() gives them.
  template <int N>
  MOTE_INLINE void requantize(VI (*v)[4]) const {
    unroll<4>([&](auto i) MOTE_LAMBDA {
      const FloatOfInts d;
      if (real_multipliers) {
        const VFI scale = hn::BitCast(d, multiplier[i]);
        unroll<N>([&](auto n) MOTE_LAMBDA { v[n][i] = round_half_even(hn::Mul(hn::ConvertTo(d, v[n][i]), scale)); });
      } else {
        const FastFixedPointScale<> scale = fixed_point[i];
        unroll<N>([&](auto n) MOTE_LAMBDA { v[n][i] = scale(v[n][i]); });
      }
    });
  }
  ByteClampRange clamp;
  VI multiplier[4];
  FastFixedPointScale<> fixed_point[4];
  bool real_multipliers;
};

// Arguments of the loop nest: one row of outputs, or two, one below the other.
struct DepthwiseRows {
  const uint8_t* input_rows[kMaxTaps];  // rows of the input, at the block's first channel
  int64_t column_steps[kMaxTaps];       // bytes from column to column
  const uint8_t* zero_points;
  int32_t x, input_width;  // column under the first tap of the first output; width of the input
  uint8_t flip;
  const uint8_t* weights;
  const int32_t* initial;  // start values of accumulators, in the layout's order
  int32_t outputs, height;
  int32_t* accumulators;  // null, or where accumulators go instead of outputs: [output column][output row][channel]
  bool accumulate;        // add to what is in `accumulators`
  const DepthwiseEpilogue* epilogue;
  uint8_t* out[2];
  int64_t out_step;
  // Packed: offsets of a window's pixels, and bytes of a row of outputs; an output is then as many pixels as fill a block.
  int64_t pixel_offsets[3];
  int32_t row_bytes;
};

// The accumulators of a tile: output column by output column, those below after those above.
template <class P>
using TileAccumulators = typename P::Register[P::kOutputs][P::Layout::kRegisters];

// Columns outside of the input are zero points.
MOTE_INLINE const uint8_t* tap_address(const DepthwiseRows& s, int32_t row, int32_t x) {
  return static_cast<uint32_t>(x) < static_cast<uint32_t>(s.input_width) ? s.input_rows[row] + x * s.column_steps[row] : s.zero_points;
}

template <class P, class Mask>
MOTE_INLINE typename P::Column load_column(const DepthwiseRows& s, const Mask& mask, int32_t x) {
  const uint8_t* taps[P::kColumnTaps];
  unroll<P::kColumnTaps>([&](auto r) MOTE_LAMBDA { taps[r] = tap_address(s, r, x); });
  return P::Layout::template load_column<P::kColumnTaps>(taps, mask);
}

// Column J of a tile whose first output is o: column J % K of the window of output o + J / K.
template <class P, int J, class Mask>
MOTE_INLINE typename P::Column load_packed_column(const DepthwiseRows& s, const Mask& mask, int32_t o) {
  const uint8_t* taps[P::kColumnTaps];
  unroll<P::kColumnTaps>(
      [&](auto r) MOTE_LAMBDA { taps[r] = s.input_rows[r] + s.pixel_offsets[J % P::kKernel] + (o + J / P::kKernel) * s.out_step; });
  return P::Layout::template load_column<P::kColumnTaps>(taps, mask);
}

// Adds column J of a tile to every output it lies under.
template <class P, int J>
MOTE_INLINE void accumulate_column(const DepthwiseRows& s, const typename P::Column& column, TileAccumulators<P>& acc) {
  unroll<P::kOutputs>([&](auto q) MOTE_LAMBDA {
    constexpr int kTap = J - q / P::kOutputRows * P::kColumnStep, kSlot = q % P::kOutputRows * P::kKernel + kTap;
    if constexpr (kTap >= 0 && kTap < P::kKernel)
      P::Layout::template accumulate<P::kColumnTaps>(acc[q], column, s.weights + kSlot * P::Layout::kSlotBytes);
  });
}

// The fifth row of 5x5 windows, by groups of four pixels. A window covers two groups at most, and where in the first one it starts decides
// which weights it has.
template <class P, class Mask>
MOTE_INLINE void accumulate_fifth_row(const DepthwiseRows& s, const Mask& mask, int32_t x, TileAccumulators<P>& acc) {
  unroll<(P::kColumns + 3) / 4>([&](auto group) MOTE_LAMBDA {
    const uint8_t* pixels[4];
    unroll<4>([&](auto i) MOTE_LAMBDA { pixels[i] = tap_address(s, 4, x + group * 4 + i); });
    const auto column = P::Layout::template load_column<4>(pixels, mask);
    unroll<P::kOutputColumns>([&](auto q) MOTE_LAMBDA {
      constexpr int kPart = group - q * P::kStride / 4, kStart = q * P::kStride % 4 / P::kStride;
      constexpr int kSlot = P::kKernel + kStart * 2 + kPart;
      if constexpr (kPart == 0 || kPart == 1) P::Layout::template accumulate<4>(acc[q], column, s.weights + kSlot * P::Layout::kSlotBytes);
    });
  });
}

// For RequantEpilogue: outputs o and on, as accumulators.
template <class P>
MOTE_INLINE void store_accumulators(const DepthwiseRows& s, int32_t o, const TileAccumulators<P>& acc) {
  using F = typename P::Layout;
  unroll<P::kOutputs>([&](auto q) MOTE_LAMBDA {
    int32_t* to = s.accumulators + (o * P::kOutputRows + q) * F::kChannels;
    unroll<F::kRegisters>([&](auto i) MOTE_LAMBDA {
      int32_t* at = to + i * F::kLanes;
      F::store(s.accumulate ? F::add_ints(acc[q][i], F::load(at)) : acc[q][i], at);
    });
  });
}

// Stores the outputs of one register of bytes, number `Vector` of the tile whose first output is o. Those beyond the row are not stored.
template <class P, int Vector>
MOTE_INLINE void store_byte_vector(const DepthwiseRows& s, int32_t o, ByteVector bytes) {
  using F = typename P::Layout;
  unroll<F::kPixels>([&](auto pixel) MOTE_LAMBDA {
    constexpr int kOutput = Vector * F::kPixels + pixel, kRow = kOutput % P::kOutputRows;
    const int32_t column = o + kOutput / P::kOutputRows;
    if (column >= s.outputs || kRow >= s.height) return;
    uint8_t* to = s.out[kRow] + column * s.out_step;
    const int64_t remaining = P::kPacked ? s.row_bytes - column * s.out_step : 0;
    if constexpr (P::kPacked)
      F::template store_partial_bytes<pixel>(bytes, static_cast<int32_t>(remaining < s.out_step ? remaining : s.out_step), to);
    else F::template store_bytes<pixel>(bytes, to);
  });
}

// Two registers of bytes at a time, so that the epilogue's constants are loaded once for both.
template <class P>
MOTE_INLINE void requantize_and_store_tile(const DepthwiseRows& s, int32_t o, const TileAccumulators<P>& acc) {
  using F = typename P::Layout;
  constexpr int kByteVectors = P::kOutputs / F::kPixels, kTogether = kByteVectors > 1 ? 2 : 1;
  unroll<kByteVectors / kTogether>([&](auto g) MOTE_LAMBDA {
    VI v[kTogether][4];
    unroll<kTogether>([&](auto i) MOTE_LAMBDA { F::gather(acc + (g * kTogether + i) * F::kPixels, v[i]); });
    s.epilogue->template requantize<kTogether>(v);
    unroll<kTogether>([&](auto i) MOTE_LAMBDA { store_byte_vector<P, g * kTogether + i>(s, o, F::to_bytes(v[i], s.epilogue->clamp)); });
  });
}

template <class F, int K, int S, bool Packed = false>
void compute_rows(const DepthwiseRows& s) {
  using P = DepthwiseTiling<F, K, S, Packed>;
  const auto mask = F::broadcast(s.flip);
  typename F::Column reused[P::kReused + 1];
  unroll<P::kReused>([&](auto j) MOTE_LAMBDA { reused[j] = load_column<P>(s, mask, s.x + j); });
  for (int32_t o = 0, x = s.x; o < s.outputs; o += P::kOutputColumns, x += P::kOutputColumns * S) {
    TileAccumulators<P> acc;
    unroll<P::kOutputs>(
        [&](auto q) MOTE_LAMBDA { unroll<F::kRegisters>([&](auto i) MOTE_LAMBDA { acc[q][i] = F::load(s.initial + i * F::kLanes); }); });
    unroll<P::kColumns>([&](auto j) MOTE_LAMBDA {
      typename F::Column column;
      if constexpr (Packed) column = load_packed_column<P, j>(s, mask, o);
      else if constexpr (j < P::kReused) column = reused[j];
      else column = load_column<P>(s, mask, x + j);
      accumulate_column<P, j>(s, column, acc);
      if constexpr (P::kReused > 0 && j >= P::kOutputColumns * S) reused[j - P::kOutputColumns * S] = column;
    });
    if constexpr (K == 5) accumulate_fifth_row<P>(s, mask, x, acc);
    // Keeps loads of the epilogue's constants behind the products: hoisted, they would spill accumulators.
    __asm__ volatile("" ::: "memory");
    if (s.accumulators != nullptr) {
      store_accumulators<P>(s, o, acc);
      continue;
    }
    requantize_and_store_tile<P>(s, o, acc);
  }
}

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
