#pragma once

// The f32 GEMM micro-kernel: MR rows of the LHS times NP panels of packed weights (P, see panels.h), with all accumulators in registers
// over the whole of K. The LHS is read through indirection pointers, run by run (the taps of a convolution, or all of K as one run), so it
// needs no packing and convolutions need no im2col.

#include "mote/kernels/common/epilogue.h"
#include "mote/kernels/gemm/panels.h"

namespace mote::kernels::MOTE_ISA_NAME::gemm {

// As many accumulators as fit the vector registers beside a row of weights and one broadcast LHS value; fewer with 32 vector registers,
// where the row pointers would run out of general registers.
inline constexpr int kTilePanels = kRegisters == 32 && kPanelVectors == 1 ? 2 : 1;
inline constexpr int kTileRows = kTilePanels == 2 ? 12 : (kRegisters - kPanelVectors - 2) / kPanelVectors;

// What a tile's LHS provides, without knowing the weights.
struct LhsTile {
  const float* const* rows;       // indirection pointers, [run][row of the tile]
  int32_t runs, run_length;       // K = runs * run_length
  float* const* out;              // [row of the tile]
  const float* const* residual;   // likewise, or null
  int64_t out_offset = 0;         // offset of the first output from `out` and `residual`, elements
  int32_t first_output, outputs;  // first output (index into bias and scales), and how many (at most NP * 16)
};

// Weights are untyped here: only the micro-kernel knows P.
struct TileArgs : LhsTile {
  const void* panel;     // of the first output
  int64_t panel_stride;  // bytes from one panel to the next
  const void* prefetch;  // prefetched meanwhile, kPrefetchBytes for every 4 k; may be any address
};
inline constexpr int kPrefetchBytes = 128;

// Stores the outputs of a tile, all but EpilogueF32::apply_slow_activation(), which the caller applies to longer rows.
using MicrokernelFn = void (*)(const TileArgs&, const EpilogueF32&);

// Loads and stores the vectors of NP panels in a row of memory. The last panel may be partial: masked where masks are cheap.
template <int NP>
class PanelVectors {
 public:
  MOTE_INLINE explicit PanelVectors(int32_t count) : last_(hn::FirstN(F32(), static_cast<size_t>(count - (NP - 1) * kPanel))) {}
  MOTE_INLINE bool fit(int32_t count) const { return kMasks || count == NP * kPanel; }
  template <class V>
  MOTE_INLINE VF load(V v, const float* row) const {
    if constexpr (kMasks && V::value == NP - 1) return hn::MaskedLoad(last_, F32(), row + v * kLanes);
    else return MOTE_ISA_NAME::load(row + v * kLanes);
  }
  template <class V>
  MOTE_INLINE void store(V v, VF acc, float* row) const {
    if constexpr (kMasks && V::value == NP - 1) hn::BlendedStore(acc, last_, F32(), row + v * kLanes);
    else MOTE_ISA_NAME::store(acc, row + v * kLanes);
  }

 private:
  static constexpr bool kMasks = HWY_ARCH_X86 && kPanelVectors == 1;
  hn::Mask<F32> last_;
};

// Generic epilogue, for accumulators that need more than bias and clamp, or a partial last panel: spills them and stores row by row.
template <int MR, int NP>
MOTE_INLINE void store_partial_tile(const LhsTile& t, const EpilogueF32& epilogue, const VF (&acc)[MR][NP * kPanelVectors]) {
  alignas(64) float rows[MR][NP * kPanel];
  unroll<MR>([&](auto m) MOTE_LAMBDA {
    unroll<NP * kPanelVectors>([&](auto v) MOTE_LAMBDA { hn::Store(acc[m][v], F32(), rows[m] + v * kLanes); });
  });
  for (int m = 0; m < MR; ++m)
    epilogue.store_row(rows[m], t.first_output, t.outputs, t.residual != nullptr ? t.residual[m] + t.out_offset : nullptr,
                       t.out[m] + t.out_offset);
}

// acc[v] += *x * b[v]. A value that is used once is broadcast by the multiply-add itself: on Zen 4 a separate broadcast takes a third
// longer.
template <int N>
MOTE_INLINE void add_products(const float* x, const VF (&b)[N], VF (&acc)[N]) {
#if HWY_ARCH_X86 && defined(__GNUC__)
  if constexpr (N == 1 && kLanes == 16) {
    auto raw = acc[0].raw;
    __asm__("vfmadd231ps %2%{1to16%}, %1, %0" : "+v"(raw) : "v"(b[0].raw), "m"(*x));
    acc[0].raw = raw;
    return;
  }
#endif
  const VF value = broadcast(*x);
  unroll<N>([&](auto v) MOTE_LAMBDA { add_product(acc[v], value, b[v]); });
}

// f(m, v) for every row and vector of a tile, with compile-time indices.
template <int MR, int N, class F>
MOTE_INLINE void for_each_accumulator(const F& f) {
  unroll<MR>([&](auto m) MOTE_LAMBDA { unroll<N>([&](auto v) MOTE_LAMBDA { f(m, v); }); });
}

// Accumulators of each output. The few of a single row would stall on the latency of the multiply-add, so they have two, used alternately.
// (The order of additions must not depend on NP, which depends on how threads share the panels.)
template <int MR>
inline constexpr int kChainsFor = MR == 1 && kPanelVectors <= 2 ? 2 : 1;

template <class P, int MR, int NP>
void microkernel_f32(const TileArgs& t, const EpilogueF32& epilogue) {
  using Element = typename P::Element;
  constexpr int kVectors = NP * kPanelVectors, kChains = kChainsFor<MR>, kSteps = 4 / P::kGroup;
  const PanelVectors<NP> vectors(t.outputs);
  const bool simple = vectors.fit(t.outputs) && epilogue.simple();
  VF acc[MR][kVectors];
  unroll<kVectors>([&](auto v) MOTE_LAMBDA {
    const VF first = simple && epilogue.bias() != nullptr ? vectors.load(v, epilogue.bias() + t.first_output) : hn::Zero(F32());
    unroll<MR>([&](auto m) MOTE_LAMBDA { acc[m][v] = first; });
  });
  VF extra[kChains][MR][kVectors];  // the second accumulators; [0] is unused
  unroll<kChains>([&](auto i) MOTE_LAMBDA {
    for_each_accumulator<MR, kVectors>([&](auto m, auto v) MOTE_LAMBDA { extra[i][m][v] = hn::Zero(F32()); });
  });
  const auto* weights = static_cast<const Element*>(t.panel);
  const auto* prefetch = static_cast<const char*>(t.prefetch);
  for (int32_t run = 0; run < t.runs; ++run) {
    const float* a[MR];
    unroll<MR>([&](auto m) MOTE_LAMBDA { a[m] = t.rows[run * MR + m]; });
    // One k group: multiply-adds for k, k + 1, ... of which `count` exist.
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
          constexpr int kChain = (decltype(nth)::value * P::kGroup + decltype(i)::value) % kChains;
          add_products(a[m] + k + i, b, kChain == 0 ? acc[m] : extra[kChain][m]);
        });
      });
    };
    int32_t k = 0;
    for (; k + 4 <= t.run_length; k += 4, weights += kSteps * kPanel, prefetch += kPrefetchBytes) {
      if constexpr (MR > 1) __builtin_prefetch(prefetch, 0, 2), __builtin_prefetch(prefetch + 64, 0, 2);  // one row: hardware does
      unroll<kSteps>([&](auto i) MOTE_LAMBDA { step(i, k + i * P::kGroup, weights + i * kPanel, P::kGroup); });
    }
    for (; k < t.run_length; k += P::kGroup, weights += kPanel) step(Index<0>{}, k, weights, t.run_length - k);
  }
  unroll<kChains - 1>([&](auto i) MOTE_LAMBDA {
    for_each_accumulator<MR, kVectors>([&](auto m, auto v) MOTE_LAMBDA { acc[m][v] = hn::Add(acc[m][v], extra[i + 1][m][v]); });
  });
  if (!simple) return store_partial_tile<MR, NP>(t, epilogue, acc);
  // Loaded before the first store, which the compiler must assume to alias them.
  const VF lo = epilogue.lowest(), hi = epilogue.highest();
  float* const* out = t.out;
  const int64_t offset = t.out_offset;
  if (const float* const* residual = t.residual; residual != nullptr) {
    for_each_accumulator<MR, kVectors>([&](auto m, auto v)
                                           MOTE_LAMBDA { acc[m][v] = hn::Add(acc[m][v], vectors.load(v, residual[m] + offset)); });
  }
  unroll<MR>([&](auto m) MOTE_LAMBDA {
    float* to = out[m] + offset;
    unroll<kVectors>([&](auto v) MOTE_LAMBDA { vectors.store(v, clamp(acc[m][v], lo, hi), to); });
  });
}

// Panels that a tile of so many rows takes at once: few rows leave registers for more panels, and need more accumulators to hide latency. A
// single row is bound by memory, which is fastest with a few streams.
inline constexpr int kPanelsForFewRows = 4 / kPanelVectors, kPanelsForOneRow = kPanelVectors == 4 ? 2 : kPanelsForFewRows;
MOTE_INLINE int32_t panels_at_once(int32_t rows) {
  if (rows == 1) return kPanelsForOneRow;
  if (rows <= 3) return kPanelsForFewRows > kTilePanels ? kPanelsForFewRows : kTilePanels;
  return kTilePanels;
}

template <class P, int NP, int... M>
MOTE_INLINE MicrokernelFn microkernel_of(int32_t rows, std::integer_sequence<int, M...>) {
  static constexpr MicrokernelFn kTiles[] = {&microkernel_f32<P, M + 1, NP>...};
  return kTiles[rows - 1];
}

// f32 has a micro-kernel for every tile height. Other weights have one for kTileRows and for the powers of two below (see RowTiles), which
// keeps the library small.
template <class P>
inline constexpr bool kEveryHeight = std::is_same_v<P, PanelF32>;

template <class P, int NP>
MOTE_INLINE MicrokernelFn microkernel_of(int32_t rows) {
  if constexpr (kEveryHeight<P>) return microkernel_of<P, NP>(rows, std::make_integer_sequence<int, kTileRows>{});
  if (rows == kTileRows) return &microkernel_f32<P, kTileRows, NP>;
  if constexpr (kTileRows > 8) {
    if (rows == 8) return &microkernel_f32<P, 8, NP>;
  }
  return rows == 4 ? &microkernel_f32<P, 4, NP> : rows == 2 ? &microkernel_f32<P, 2, NP> : &microkernel_f32<P, 1, NP>;
}

}  // namespace mote::kernels::MOTE_ISA_NAME::gemm

#if HWY_ARCH_X86 && defined(__GNUC__)
#include "mote/kernels/gemm/microkernel_half_panel.h"
#endif

namespace mote::kernels::MOTE_ISA_NAME::gemm {

// The micro-kernel for `rows` rows (1 to kTileRows) and the first panels of `outputs` outputs; *taken: how many panels it computes.
template <class P>
MicrokernelFn microkernel_for(int32_t rows, int32_t outputs, int32_t* taken) {
  const int32_t panels = (outputs + kPanel - 1) / kPanel;
#if HWY_ARCH_X86 && defined(__GNUC__)
  if constexpr (kLanes == 16 && std::is_same_v<P, PanelF32>) {
    const bool half_last =
        rows >= kHalfPanelMinRows && outputs <= kTilePanels * kPanel && outputs > 0 && (outputs - 1) % kPanel < kPanel / 2;
    if (half_last && panels == 1)
      return *taken = 1, half_panel_microkernel_of(rows, std::make_integer_sequence<int, kTileRows - kHalfPanelMinRows + 1>{});
    if (half_last) return *taken = 1, microkernel_of<P, 1>(rows);
  }
#endif
  if constexpr (kPanelsForOneRow > kPanelsForFewRows) {
    if (rows == 1 && panels >= kPanelsForOneRow)
      return *taken = kPanelsForOneRow, microkernel_of<P, kPanelsForOneRow>(rows, std::make_integer_sequence<int, 1>{});
  }
  if constexpr (kPanelsForFewRows > kTilePanels) {
    if (rows <= 3 && panels >= kPanelsForFewRows)
      return *taken = kPanelsForFewRows,
             microkernel_of<P, kPanelsForFewRows>(rows, std::make_integer_sequence < int, kEveryHeight<P> ? 3 : 2 > {});
  }
  if (panels >= kTilePanels) return *taken = kTilePanels, microkernel_of<P, kTilePanels>(rows);
  return *taken = 1, microkernel_of<P, 1>(rows);
}

}  // namespace mote::kernels::MOTE_ISA_NAME::gemm

#if HWY_ARCH_ARM_A64
#include "mote/kernels/gemm/microkernel_neon.h"
#endif

namespace mote::kernels::MOTE_ISA_NAME::gemm {

// Packed weights as the loop nest around the micro-kernel sees them, whatever their type.
struct Weights {
  const uint8_t* data;   // of the first output
  int64_t panel_stride;  // bytes
  int32_t group;         // k of a group (P::kGroup)
  bool every_height;     // there is a micro-kernel for every tile height (kEveryHeight)
  MicrokernelFn (*microkernel_for)(int32_t rows, int32_t outputs, int32_t* taken);
  const uint8_t* panel(int32_t i) const { return data + i * panel_stride; }
};
// The packed weights of w, K = k, from output `first` (a multiple of kPanel) on. Precondition: has_panels().
Weights weights_of(const Tensor& w, int32_t k, int32_t first) noexcept;

}  // namespace mote::kernels::MOTE_ISA_NAME::gemm
