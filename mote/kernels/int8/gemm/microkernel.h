#pragma once

// The micro-kernel of x86, WebAssembly and 32-bit Arm: a tile of LHS rows times vectors of outputs, with all accumulators in registers.
// 64-bit Arm has its own (microkernel_neon.h).

#include "mote/kernels/int8/gemm/lhs_packer.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {

inline constexpr int kTileOutputs = kTileVectors * kVectorOutputs;
inline constexpr int kKGroupBytes = kPanel * 4;  // one K group (four k) of a panel

// LHS rows may overlap; each consists of runs of adjacent elements (the rows of a convolution's window). Weights: panels (K / 4, 16, 4).
struct TileArgs {
  const Lhs* lhs;
  int32_t row_stride, runs;          // elements
  int32_t run_stride, run_k_groups;  // elements; K groups of a run
  const int8_t* weights;             // of the first output
  int64_t panel_stride;              // bytes
  int32_t* accumulators;             // [row][kTileOutputs]
  // With an epilogue, which takes the accumulators while they are in registers, outputs [first_output, outputs) are computed and stored,
  // any number of them. Without one (null), up to kTileOutputs accumulators are stored to `accumulators`.
  int32_t outputs = kTileOutputs, first_output = 0;
  const struct RegisterEpilogue* epilogue = nullptr;
  bool has_minus_128 = false;  // a weight is -128 (see kMinus128Overflows)
};

using TileFn = void (*)(const TileArgs&);

}  // namespace mote::kernels::MOTE_ISA_NAME::int8

#if defined(__aarch64__)
#include "mote/kernels/int8/gemm/microkernel_neon.h"
#else
#if defined(__AVX512VNNI__) || defined(__AVXVNNI__) || defined(MOTE_ISA_MADDUBS)
#include "mote/kernels/int8/requantize/register_epilogue_x86.h"
#else
#include "mote/kernels/int8/requantize/register_epilogue_none.h"
#endif

namespace mote::kernels::MOTE_ISA_NAME::int8 {

inline constexpr bool kMinus128Overflows = false, kAccumulatesRowPairs = false;
alignas(64) inline constexpr int32_t kZeroBase[kTileOutputs] = {};

// Small tiles alternate between several sets of accumulators: with fewer than eight independent chains the latency of dot() would show.
template <int MR, int NV>
inline constexpr int kAccumulatorSets = MR* NV >= 8   ? 1
                                        : MR* NV >= 4 ? 2
                                                      : 4;

// Accumulators of MR rows and NV vectors of outputs from `output` on, initialised with `base`.
template <int MR, int NV>
MOTE_INLINE void microkernel_s8(const TileArgs& t, int32_t output, const int32_t* base, Register (&out)[MR][NV]) {
  constexpr int kSets = kAccumulatorSets<MR, NV>;
  Register acc[kSets][MR][NV];
  unroll<kSets>([&](auto s) MOTE_LAMBDA {
    unroll<MR>([&](auto m) MOTE_LAMBDA {
      unroll<NV>([&](auto v) MOTE_LAMBDA {
        if constexpr (kHasRegisterEpilogue && s == 0) acc[s][m][v] = load_register(base + output + v * kVectorOutputs);
        else acc[s][m][v] = zero_register();
      });
    });
  });
  const int8_t* weights = t.weights + output / kPanel * t.panel_stride + output % kPanel * 4;
  // Behind the last panel the same panel is read again; the results are not stored.
  const int64_t next_panel = t.outputs - output > kPanel ? t.panel_stride : 0;
  const int64_t stride = t.row_stride;
  for (int32_t run = 0; run < t.runs; ++run) {
    // One base address per three rows: base, base + stride and base + 2 * stride are x86 addressing modes.
    constexpr int kBaseAddresses = (MR + 2) / 3;
    const Lhs* first[kBaseAddresses];
    unroll<kBaseAddresses>([&](auto i) MOTE_LAMBDA { first[i] = t.lhs + run * t.run_stride + 3 * i * stride; });
    // Without the attribute the compiler outlines this and keeps the accumulators in memory.
    const auto multiply_group = [&](auto s, int32_t k, const int8_t* from) __attribute__((always_inline)) {
      Operand w[NV];
      unroll<NV>([&](auto v) MOTE_LAMBDA {
        constexpr int kFirst = v * kVectorOutputs;
        w[v] = load_weights(from + kFirst / kPanel * next_panel + kFirst % kPanel * 4);
      });
      unroll<MR>([&](auto m) MOTE_LAMBDA {
        const Operand x = broadcast(first[m / 3] + m % 3 * stride + k * 4);
        unroll<NV>([&](auto v) MOTE_LAMBDA { acc[s][m][v] = dot(acc[s][m][v], x, w[v]); });
      });
    };
    int32_t k = 0;
    for (; k + 4 <= t.run_k_groups; k += 4, weights += 4 * kKGroupBytes)
      unroll<4>([&](auto i) MOTE_LAMBDA { multiply_group(Index<i % kSets>{}, k + i, weights + i * kKGroupBytes); });
    for (; k < t.run_k_groups; ++k, weights += kKGroupBytes) multiply_group(Index<0>{}, k, weights);
  }
  unroll<MR>([&](auto m) MOTE_LAMBDA {
    unroll<NV>([&](auto v) MOTE_LAMBDA {
      out[m][v] = acc[0][m][v];
      unroll<kSets - 1>([&](auto s) MOTE_LAMBDA { out[m][v] = add(out[m][v], acc[s + 1][m][v]); });
    });
  });
}

// Tiles wider than one panel also exist in a one-panel form, for the last panel of an odd number. Only the two tallest heights have it:
// most rows are in such tiles.
inline constexpr int kOnePanelVectors = kTileOutputs > kPanel ? kPanel / kVectorOutputs : kTileVectors;
inline constexpr bool has_one_panel_tile(int rows) { return kOnePanelVectors < kTileVectors && rows > kTileRows - 2; }

template <int MR, int NV>
void tile_s8(const TileArgs& t) {
  const RegisterEpilogue* epilogue = kHasRegisterEpilogue ? t.epilogue : nullptr;
  const int32_t* base = epilogue != nullptr ? epilogue->base : kZeroBase;
  int32_t output = t.first_output;
  do {
    if constexpr (kHasRegisterEpilogue && NV > kOnePanelVectors && has_one_panel_tile(MR)) {
      if (epilogue != nullptr && t.outputs - output <= kPanel) {
        TileArgs last = t;
        last.first_output = output;
        return tile_s8<MR, kOnePanelVectors>(last);
      }
    }
    Register acc[MR][NV];
    microkernel_s8<MR, NV>(t, output, base, acc);
    // Keeps the compiler from loading the epilogue's constants before the loop, where the accumulators need the registers.
    if (kHasRegisterEpilogue) __asm__ volatile("" ::: "memory");
    if (epilogue != nullptr) requantize_and_store<MR, NV>(*epilogue, output, t.outputs - output, acc);
    else unroll<MR>([&](auto m) MOTE_LAMBDA { store_accumulators<NV>(acc[m], t.accumulators + m * kTileOutputs); });
    output += NV * kVectorOutputs;
  } while (epilogue != nullptr && output < t.outputs);
}

template <int... M>
MOTE_INLINE TileFn select_tile(int32_t rows, std::integer_sequence<int, M...>) {
  static constexpr TileFn kTiles[] = {&tile_s8<M + 1, kTileVectors>...};
  return kTiles[rows - 1];
}
// The micro-kernel for `rows` rows (1 to kTileRows); one_panel: at most kPanel outputs are wanted.
MOTE_INLINE TileFn select_tile(int32_t rows, bool one_panel) {
  if constexpr (has_one_panel_tile(kTileRows)) {
    if (one_panel && rows == kTileRows) return &tile_s8<kTileRows, kOnePanelVectors>;
    if (one_panel && rows == kTileRows - 1) return &tile_s8<kTileRows - 1, kOnePanelVectors>;
  }
  return select_tile(rows, std::make_integer_sequence<int, kTileRows>{});
}

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
#endif
