#pragma once

// The micro-kernel of products of f32 with packed weights (P, see panels.h): MR rows of the left side times NP panels of the right side,
// the sums in registers from the first product to the last. The left side is read through pointers, run by run (the taps of a convolution,
// or one run of K), so nothing is copied before.

#include "mote/kernels/common/finish.h"
#include "mote/kernels/gemm/panels.h"

namespace mote::kernels::MOTE_ISA_NAME {

// Sums that fit the registers, beside a row of weights and one value of the left side; with 32 registers a few less, because the pointers
// of more rows would not fit theirs.
inline constexpr int kTilePanels = kRegisters == 32 && kPanelVectors == 1 ? 2 : 1;
inline constexpr int kTileRows = kTilePanels == 2 ? 12 : (kRegisters - kPanelVectors - 2) / kPanelVectors;

// `rows`, `runs` and `run_length` are the left side's, which need not know about weights.
struct TileRows {
  const float* const* rows;      // [run][row of the tile]
  int32_t runs, run_length;      // K = runs * run_length
  float* const* out;             // [row of the tile]
  const float* const* residual;  // likewise, or null
  int64_t at = 0;                // from these to the first output
  int32_t first, count;          // outputs: where in bias and scales, and how many (at most NP * 16)
};

// Only micro-kernels know what weights are.
struct Tile : TileRows {
  const void* panel;     // of the first output
  int64_t panel_stride;  // bytes from one panel to the next
  const void* ahead;     // kAheadBytes for every 4 products from here on are asked for meanwhile; may lie anywhere
};
inline constexpr int kAheadBytes = 128;

// Stores its sums finished, but for Finish::activate_after(), which the caller does over longer rows.
using TileFn = void (*)(const Tile&, const Finish&);

// The vectors of NP panels in a row of memory, of which the last panel may have fewer outputs than 16: with masks, where they are cheap.
template <int NP>
class Vectors {
 public:
  MOTE_INLINE explicit Vectors(int32_t count) : last_(hn::FirstN(F32(), static_cast<size_t>(count - (NP - 1) * kPanel))) {}
  MOTE_INLINE bool fit(int32_t count) const { return kMasks || count == NP * kPanel; }
  template <class V>
  MOTE_INLINE VF load(V v, const float* row) const {
    if constexpr (kMasks && V::value == NP - 1) return hn::MaskedLoad(last_, F32(), row + v * kLanes);
    else return MOTE_ISA_NAME::load(row + v * kLanes);
  }
  template <class V>
  MOTE_INLINE void store(V v, VF sum, float* row) const {
    if constexpr (kMasks && V::value == NP - 1) hn::BlendedStore(sum, last_, F32(), row + v * kLanes);
    else MOTE_ISA_NAME::store(sum, row + v * kLanes);
  }

 private:
  static constexpr bool kMasks = HWY_ARCH_X86 && kPanelVectors == 1;
  hn::Mask<F32> last_;
};

// The sums are stored from memory where they need more than a clamp, or where the last panel is not full.
template <int MR, int NP>
MOTE_INLINE void store_by_rows(const TileRows& t, const Finish& finish, const VF (&sum)[MR][NP * kPanelVectors]) {
  alignas(64) float rows[MR][NP * kPanel];
  unroll<MR>([&](auto m) MOTE_LAMBDA {
    unroll<NP * kPanelVectors>([&](auto v) MOTE_LAMBDA { hn::Store(sum[m][v], F32(), rows[m] + v * kLanes); });
  });
  for (int m = 0; m < MR; ++m)
    finish.store_row(rows[m], t.first, t.count, t.residual != nullptr ? t.residual[m] + t.at : nullptr, t.out[m] + t.at);
}

// sum[v] += *x * b[v]. A value that is used once is broadcast by the product that uses it: Zen 4 takes a third longer for the two apart.
template <int N>
MOTE_INLINE void add_products(const float* x, const VF (&b)[N], VF (&sum)[N]) {
#if HWY_ARCH_X86 && defined(__GNUC__)
  if constexpr (N == 1 && kLanes == 16) {
    auto raw = sum[0].raw;
    __asm__("vfmadd231ps %2%{1to16%}, %1, %0" : "+v"(raw) : "v"(b[0].raw), "m"(*x));
    sum[0].raw = raw;
    return;
  }
#endif
  const VF value = broadcast(*x);
  unroll<N>([&](auto v) MOTE_LAMBDA { add_product(sum[v], value, b[v]); });
}

template <class P, int MR, int NP>
void tile(const Tile& t, const Finish& finish) {
  using Element = typename P::Element;
  constexpr int kVectors = NP * kPanelVectors;
  // The few sums of a single row would wait for themselves: there are two of each, for every other product one. (The order of sums must not
  // depend on NP, which is chosen by how threads share the panels.)
  constexpr int kSums = MR == 1 && kPanelVectors <= 2 ? 2 : 1;
  const Vectors<NP> vectors(t.count);
  const bool simple = vectors.fit(t.count) && finish.simple();
  VF sum[MR][kVectors];
  unroll<kVectors>([&](auto v) MOTE_LAMBDA {
    const VF first = simple && finish.bias() != nullptr ? vectors.load(v, finish.bias() + t.first) : hn::Zero(F32());
    unroll<MR>([&](auto m) MOTE_LAMBDA { sum[m][v] = first; });
  });
  VF more[kSums][MR][kVectors];  // but the first, which is `sum`
  unroll<kSums>([&](auto i) MOTE_LAMBDA {
    unroll<MR>([&](auto m) MOTE_LAMBDA { unroll<kVectors>([&](auto v) MOTE_LAMBDA { more[i][m][v] = hn::Zero(F32()); }); });
  });
  const auto* weights = static_cast<const Element*>(t.panel);
  const char* ahead = static_cast<const char*>(t.ahead);
  for (int32_t run = 0; run < t.runs; ++run) {
    const float* a[MR];
    unroll<MR>([&](auto m) MOTE_LAMBDA { a[m] = t.rows[run * MR + m]; });
    // The products from k on whose weights lie together, at most `count`.
    const auto step = [&](auto nth, int32_t k, const Element* w, int32_t count) MOTE_LAMBDA {
      typename P::Loaded loaded[kVectors];
      unroll<kVectors>([&](auto v) MOTE_LAMBDA {
        const void* panel = reinterpret_cast<const char*>(w) + v / kPanelVectors * t.panel_stride;
        loaded[v] = P::load(static_cast<const Element*>(panel) + v % kPanelVectors * kLanes);
      });
      unroll<P::kGroup>([&](auto i) MOTE_LAMBDA {
        if (i >= count) return;
        VF b[kVectors];
        unroll<kVectors>([&](auto v) MOTE_LAMBDA { b[v] = P::template part<decltype(i)::value>(loaded[v]); });
        unroll<MR>([&](auto m) MOTE_LAMBDA {
          constexpr int kSum = (decltype(nth)::value * P::kGroup + decltype(i)::value) % kSums;
          add_products(a[m] + k + i, b, kSum == 0 ? sum[m] : more[kSum][m]);
        });
      });
    };
    constexpr int kSteps = 4 / P::kGroup;
    int32_t k = 0;
    for (; k + 4 <= t.run_length; k += 4, weights += kSteps * kPanel, ahead += kAheadBytes) {
      if constexpr (MR > 1) {  // the processor keeps up with the streams of a single row
        __builtin_prefetch(ahead, 0, 2);
        __builtin_prefetch(ahead + 64, 0, 2);
      }
      unroll<kSteps>([&](auto i) MOTE_LAMBDA { step(i, k + i * P::kGroup, weights + i * kPanel, P::kGroup); });
    }
    for (; k < t.run_length; k += P::kGroup, weights += kPanel) step(Index<0>{}, k, weights, t.run_length - k);
  }
  unroll<kSums - 1>([&](auto i) MOTE_LAMBDA {
    unroll<MR>([&](auto m)
                   MOTE_LAMBDA { unroll<kVectors>([&](auto v) MOTE_LAMBDA { sum[m][v] = hn::Add(sum[m][v], more[i + 1][m][v]); }); });
  });
  if (!simple) return store_by_rows<MR, NP>(t, finish, sum);
  // Read before the first store: what the stores reach, the compiler cannot know.
  const VF lo = finish.lowest(), hi = finish.highest();
  float* const* out = t.out;
  const int64_t at = t.at;
  if (const float* const* residual = t.residual; residual != nullptr) {
    unroll<MR>([&](auto m) MOTE_LAMBDA {
      unroll<kVectors>([&](auto v) MOTE_LAMBDA { sum[m][v] = hn::Add(sum[m][v], vectors.load(v, residual[m] + at)); });
    });
  }
  unroll<MR>([&](auto m) MOTE_LAMBDA {
    float* to = out[m] + at;
    unroll<kVectors>([&](auto v) MOTE_LAMBDA { vectors.store(v, clamp(sum[m][v], lo, hi), to); });
  });
}

// Panels that a tile of so many rows takes at once: few rows leave registers for more of them, and need more sums to keep the units busy.
// A single row reads as much as it multiplies, and memory is quickest with a few streams.
inline constexpr int kTwoRows = 4 / kPanelVectors, kOneRow = kPanelVectors == 4 ? 2 : kTwoRows;
MOTE_INLINE int32_t panels_at_once(int32_t rows) {
  if (rows == 1) return kOneRow;
  if (rows <= 3) return kTwoRows > kTilePanels ? kTwoRows : kTilePanels;
  return kTilePanels;
}

template <class P, int NP, int... M>
MOTE_INLINE TileFn tile_of(int32_t rows, std::integer_sequence<int, M...>) {
  static constexpr TileFn kTiles[] = {&tile<P, M + 1, NP>...};
  return kTiles[rows - 1];
}

// f32 has a micro-kernel for every number of rows. Other weights have one for kTileRows and for powers of two below (see RowTiles), so that
// the library stays small.
template <class P>
inline constexpr bool kEveryHeight = std::is_same_v<P, PanelF32>;

template <class P, int NP>
MOTE_INLINE TileFn tile_of(int32_t rows) {
  if constexpr (kEveryHeight<P>) return tile_of<P, NP>(rows, std::make_integer_sequence<int, kTileRows>{});
  if (rows == kTileRows) return &tile<P, kTileRows, NP>;
  if constexpr (kTileRows > 8) {
    if (rows == 8) return &tile<P, 8, NP>;
  }
  return rows == 4 ? &tile<P, 4, NP> : rows == 2 ? &tile<P, 2, NP> : &tile<P, 1, NP>;
}

}  // namespace mote::kernels::MOTE_ISA_NAME

#if HWY_ARCH_X86 && defined(__GNUC__)
#include "mote/kernels/gemm/tile_half.h"
#endif

namespace mote::kernels::MOTE_ISA_NAME {

// The micro-kernel for `rows` rows (1 to kTileRows) and the first of `outputs` outputs; *taken: how many panels it takes.
template <class P>
TileFn tile_for(int32_t rows, int32_t outputs, int32_t* taken) {
  const int32_t panels = (outputs + kPanel - 1) / kPanel;
#if HWY_ARCH_X86 && defined(__GNUC__)
  if constexpr (kLanes == 16 && std::is_same_v<P, PanelF32>) {
    const bool half_last = rows >= kHalfRows && outputs <= kTilePanels * kPanel && outputs > 0 && (outputs - 1) % kPanel < kPanel / 2;
    if (half_last && panels == 1) return *taken = 1, half_tile_of(rows, std::make_integer_sequence<int, kTileRows - kHalfRows + 1>{});
    if (half_last) return *taken = 1, tile_of<P, 1>(rows);
  }
#endif
  if constexpr (kOneRow > kTwoRows) {
    if (rows == 1 && panels >= kOneRow) return *taken = kOneRow, tile_of<P, kOneRow>(rows, std::make_integer_sequence<int, 1>{});
  }
  if constexpr (kTwoRows > kTilePanels) {
    if (rows <= 3 && panels >= kTwoRows)
      return *taken = kTwoRows, tile_of<P, kTwoRows>(rows, std::make_integer_sequence < int, kEveryHeight<P> ? 3 : 2 > {});
  }
  if (panels >= kTilePanels) return *taken = kTilePanels, tile_of<P, kTilePanels>(rows);
  return *taken = 1, tile_of<P, 1>(rows);
}

}  // namespace mote::kernels::MOTE_ISA_NAME

#if HWY_ARCH_ARM_A64
#include "mote/kernels/gemm/tile_neon.h"
#endif

namespace mote::kernels::MOTE_ISA_NAME {

// Weights by what the loops around a micro-kernel need of them: `outputs` outputs of k products each.
struct Weights {
  const uint8_t* data;   // of the first output
  int64_t panel_stride;  // bytes
  int32_t group;         // products whose weights lie together
  bool every_height;     // kEveryHeight
  TileFn (*tile_for)(int32_t rows, int32_t outputs, int32_t* taken);
  const uint8_t* panel(int32_t i) const { return data + i * panel_stride; }
};
// Weights of k products for each output, from output `first` (a multiple of kPanel) on. has_panels() is true.
Weights weights_of(const Tensor& w, int32_t k, int32_t first) noexcept;

}  // namespace mote::kernels::MOTE_ISA_NAME
