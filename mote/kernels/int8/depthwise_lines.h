#pragma once

// Rows of outputs of 3x3 and 5x5 taps for a block of channels (depthwise_forms.h): a few outputs at a time. A column of the window is
// interleaved once and serves every output it lies under; sums begin as the bias and become bytes in the registers they were added up in.

#include "mote/kernels/int8/depthwise_forms.h"

namespace mote::kernels::MOTE_ISA_NAME {

// How windows of K x K taps, S apart, are read. Columns have four rows, which serve two outputs of 3x3 taps, one below the other, where
// windows are neighbours: the weights of the second are one row lower. The fifth row of 5x5 taps is read along the row, by fours of columns
// that begin with the first of a strip; outputs that begin later have weights of their own.
// Packed: few channels, and as many pixels side by side as a block has room for; columns are those of one output each.
template <class F, int K, int S, bool Packed>
struct Plan {
  static constexpr bool kMany = kRegisters == 32;
  static constexpr int kRows = K == 3 && S == 1 ? 2 : 1;       // outputs, one below the other
  static constexpr int kTapRows = K == 3 ? 3 + kRows - 1 : 4;  // of a column
  // Registers. Pairs of 5x5 taps that are two apart would be much code.
  static constexpr int kSums = K == 5 && S == 2 && F::kRegisters == 2 ? 4 : 8;
  static constexpr int kAcross = Packed ? (F::kPixels + kRows - 1) / kRows : kSums / kRows / F::kRegisters;  // outputs side by side
  static constexpr int kStep = Packed ? K : S;                                                               // columns from one to the next
  static constexpr int kColumns = (kAcross - 1) * kStep + K;
  static constexpr int kKept = kMany && !Packed ? K - S : 0;  // columns that are kept for the next outputs
};
inline constexpr int kMaxTaps = 5, kMaxSlots = kMaxTaps + 2 * 4;

// Weights are kept in slots of four taps. First the columns, row by row of outputs, then what is read along the row; the first `once` slots
// hold every tap.
struct Slots {
  // across: outputs that begin within four columns, at most.
  constexpr Slots(int kernel, int stride, int across)
      : count(kernel == 3 ? (stride == 1 ? 6 : 3) : kernel + 2 * (across < 4 / stride ? across : 4 / stride)),
        once(kernel == 3 ? 3 : 7),
        taps() {
    for (int slot = 0; slot < count; ++slot) {
      for (int i = 0; i < 4; ++i) {
        const int row = i - slot / kernel, line = slot - kernel, kx = line % 2 * 4 + i - line / 2 * stride;
        if (kernel == 3 || line < 0) taps[slot][i] = static_cast<int8_t>(row >= 0 && row < kernel ? row * kernel + slot % kernel : -1);
        else taps[slot][i] = static_cast<int8_t>(kx >= 0 && kx < kernel ? 4 * kernel + kx : -1);
      }
    }
  }
  int32_t count, once;
  int8_t taps[kMaxSlots][4];  // or -1
};
// From sums to bytes.
struct End {
  End(const Bounds& bounds, DType type, bool is_real) : limits(bounds, type), real(is_real) {}
  // Fours of vectors, N of them.
  template <int N>
  MOTE_INLINE void scale(VI (*v)[4]) const {
    unroll<4>([&](auto i) MOTE_LAMBDA {
      const FloatOfInts d;
      if (real) {
        const VFI by = hn::BitCast(d, multiplier[i]);
        unroll<N>([&](auto n) MOTE_LAMBDA { v[n][i] = nearest_small(hn::Mul(hn::ConvertTo(d, v[n][i]), by)); });
      } else {
        const SmallScale<> by = fixed[i];
        unroll<N>([&](auto n) MOTE_LAMBDA { v[n][i] = by(v[n][i]); });
      }
    });
  }
  ByteBounds limits;
  VI multiplier[4];
  SmallScale<> fixed[4];
  bool real;
};

// A row of outputs, or two, one below the other.
struct Lines {
  const uint8_t* rows[kMaxTaps];  // of the input, at the first channel
  int64_t steps[kMaxTaps];        // from column to column
  const uint8_t* zeros;
  int32_t x, width;  // column under the first tap of the first output, columns in all
  uint8_t flip;
  const uint8_t* weights;
  const int32_t* begin;  // what sums begin with, register by register
  int32_t count, height;
  int32_t* sums;  // where they go, output by output, those below after those above; or null
  bool more;      // they are added to what is there
  const End* end;
  uint8_t* out[2];
  int64_t out_step;
  // Packed: from pixel to pixel of a window, and the bytes of all outputs; an output is then as many as fit.
  int64_t taps[3];
  int32_t bytes;
};

template <class F, int K, int S, bool Packed = false>
void lines_of(const Lines& s) {
  using P = Plan<F, K, S, Packed>;
  constexpr int kRows = P::kRows, kTapRows = P::kTapRows;
  const auto flip = F::all(s.flip);
  const auto tap = [&](int32_t row, int32_t x) MOTE_LAMBDA {
    return static_cast<uint32_t>(x) < static_cast<uint32_t>(s.width) ? s.rows[row] + x * s.steps[row] : s.zeros;
  };
  const auto column = [&](int32_t x) MOTE_LAMBDA {
    const uint8_t* at[kTapRows];
    unroll<kTapRows>([&](auto r) MOTE_LAMBDA { at[r] = tap(r, x); });
    return F::template column<kTapRows>(at, flip);
  };
  typename F::Column kept[P::kKept + 1];
  unroll<P::kKept>([&](auto j) MOTE_LAMBDA { kept[j] = column(s.x + j); });
  for (int32_t o = 0, x = s.x; o < s.count; o += P::kAcross, x += P::kAcross * S) {
    typename F::Register sums[P::kAcross * kRows][F::kRegisters];
    unroll<P::kAcross * kRows>(
        [&](auto q) MOTE_LAMBDA { unroll<F::kRegisters>([&](auto i) MOTE_LAMBDA { sums[q][i] = F::load(s.begin + i * F::kLanes); }); });
    unroll<P::kColumns>([&](auto j) MOTE_LAMBDA {
      const auto c = [&]() MOTE_LAMBDA {
        if constexpr (Packed) {
          const uint8_t* at[kTapRows];
          unroll<kTapRows>([&](auto r) MOTE_LAMBDA { at[r] = s.rows[r] + s.taps[j % K] + (o + j / K) * s.out_step; });
          return F::template column<kTapRows>(at, flip);
        } else if constexpr (j < P::kKept) {
          return kept[j];
        } else {
          return column(x + j);
        }
      }();
      unroll<P::kAcross * kRows>([&](auto q) MOTE_LAMBDA {
        constexpr int kTap = j - q / kRows * P::kStep;
        if constexpr (kTap >= 0 && kTap < K) F::template add<kTapRows>(sums[q], c, s.weights + (q % kRows * K + kTap) * F::kSlotBytes);
      });
      if constexpr (P::kKept > 0 && j >= P::kAcross * S) kept[j - P::kAcross * S] = c;
    });
    if constexpr (K == 5) {
      unroll<(P::kColumns + 3) / 4>([&](auto four) MOTE_LAMBDA {
        const uint8_t* at[4];
        unroll<4>([&](auto i) MOTE_LAMBDA { at[i] = tap(4, x + four * 4 + i); });
        const auto c = F::template column<4>(at, flip);
        unroll<P::kAcross>([&](auto q) MOTE_LAMBDA {
          constexpr int kPart = four - q * S / 4, kShift = q * S % 4 / S;
          if constexpr (kPart == 0 || kPart == 1) F::template add<4>(sums[q], c, s.weights + (K + kShift * 2 + kPart) * F::kSlotBytes);
        });
      });
    }
    // What comes now is loaded now: the compiler would keep it in registers that the products need.
    __asm__ volatile("" ::: "memory");
    if (s.sums != nullptr) {
      unroll<P::kAcross * kRows>([&](auto q) MOTE_LAMBDA {
        int32_t* to = s.sums + (o * kRows + q) * F::kChannels;
        unroll<F::kRegisters>([&](auto i) MOTE_LAMBDA {
          int32_t* at = to + i * F::kLanes;
          F::store(s.more ? F::sum(sums[q][i], F::load(at)) : sums[q][i], at);
        });
      });
      continue;
    }
    // Two at a time, so that what they are scaled with is loaded once.
    constexpr int kEnds = P::kAcross * kRows / F::kPixels, kTogether = kEnds > 1 ? 2 : 1;
    unroll<kEnds / kTogether>([&](auto g) MOTE_LAMBDA {
      VI v[kTogether][4];
      unroll<kTogether>([&](auto i) MOTE_LAMBDA { F::together(sums + (g * kTogether + i) * F::kPixels, v[i]); });
      s.end->template scale<kTogether>(v);
      unroll<kTogether>([&](auto i) MOTE_LAMBDA {
        const ByteVector bytes = F::bytes(v[i], s.end->limits);
        unroll<F::kPixels>([&](auto pixel) MOTE_LAMBDA {
          constexpr int kNumber = (g * kTogether + i) * F::kPixels + pixel, kRow = kNumber % kRows;
          const int32_t at = o + kNumber / kRows;
          if (at >= s.count || kRow >= s.height) return;
          uint8_t* to = s.out[kRow] + at * s.out_step;
          const int64_t left = Packed ? s.bytes - at * s.out_step : 0;
          if constexpr (Packed) F::template store_some_bytes<pixel>(bytes, static_cast<int32_t>(left < s.out_step ? left : s.out_step), to);
          else F::template store_bytes<pixel>(bytes, to);
        });
      });
    });
  }
}

}  // namespace mote::kernels::MOTE_ISA_NAME
