#pragma once

// The micro-kernel: rows of the packed left side times vectors of weights, the sums in registers from the first product to the last.

#include "mote/kernels/int8/writer.h"

namespace mote::kernels::MOTE_ISA_NAME {

inline constexpr int kTileOutputs = kTileVectors * kVectorOutputs;
inline constexpr int kStepBytes = kPanel * 4;  // of a panel, for four k

// The left side: rows that may overlap, each in runs of neighbours. Weights: panels (K / 4, 16, 4).
struct Tile {
  const Left* left;
  int32_t row_stride, runs;       // elements
  int32_t run_stride, run_steps;  // elements, and fours of k
  const int8_t* weights;          // of the first output
  int64_t panel_stride;           // bytes
  int32_t* sums;                  // [row][kTileOutputs]
  // Outputs that there are, from `first` on: with an end any number of them, for micro-kernels that end in registers (kTileEnds). Where it
  // is null they end as sums. careful: whether weights of -128 need care.
  int32_t outputs = kTileOutputs, first = 0;
  const struct TileEnd* end = nullptr;
  bool careful = false;
};

using TileFn = void (*)(const Tile&);

}  // namespace mote::kernels::MOTE_ISA_NAME

#if defined(__aarch64__)
#include "mote/kernels/int8/tile_neon.h"
#else
#if defined(__AVX512VNNI__) || defined(__AVXVNNI__) || defined(MOTE_DOT_PAIRS)
#include "mote/kernels/int8/end_x86.h"
#else
#include "mote/kernels/int8/end_none.h"
#endif

namespace mote::kernels::MOTE_ISA_NAME {

inline constexpr bool kLeastMatters = false, kPairsOfRows = false;
alignas(64) inline constexpr int32_t kNoBase[kTileOutputs] = {};

// Short tiles take turns between several sets of sums, so that one sum need not wait for the other.
template <int MR, int NV>
inline constexpr int kSets = MR* NV >= 8   ? 1
                             : MR* NV >= 4 ? 2
                                           : 4;

// The sums of NV vectors of outputs from `at` on, beginning with `base`.
template <int MR, int NV>
MOTE_INLINE void panel_s8(const Tile& t, int32_t at, const int32_t* base, Register (&out)[MR][NV]) {
  constexpr int kS = kSets<MR, NV>;
  Register sum[kS][MR][NV];
  unroll<kS>([&](auto s) MOTE_LAMBDA {
    unroll<MR>([&](auto m) MOTE_LAMBDA {
      unroll<NV>([&](auto v) MOTE_LAMBDA {
        if constexpr (kTileEnds && s == 0) sum[s][m][v] = load_register(base + at + v * kVectorOutputs);
        else sum[s][m][v] = zero_register();
      });
    });
  });
  const int8_t* weights = t.weights + at / kPanel * t.panel_stride + at % kPanel * 4;
  // Where there is no further panel, the last one is read again for outputs that nobody wants.
  const int64_t next_panel = t.outputs - at > kPanel ? t.panel_stride : 0;
  const int64_t stride = t.row_stride;
  for (int32_t run = 0; run < t.runs; ++run) {
    // Rows by threes: what the processor's addresses reach from one register.
    constexpr int kBases = (MR + 2) / 3;
    const Left* first[kBases];
    unroll<kBases>([&](auto i) MOTE_LAMBDA { first[i] = t.left + run * t.run_stride + 3 * i * stride; });
    // Left to itself, the compiler makes a function of it and keeps the sums in memory.
    const auto step = [&](auto s, int32_t k, const int8_t* from) __attribute__((always_inline)) {
      Operand w[NV];
      unroll<NV>([&](auto v) MOTE_LAMBDA {
        constexpr int kFirst = v * kVectorOutputs;
        w[v] = load_weights(from + kFirst / kPanel * next_panel + kFirst % kPanel * 4);
      });
      unroll<MR>([&](auto m) MOTE_LAMBDA {
        const Operand x = broadcast(first[m / 3] + m % 3 * stride + k * 4);
        unroll<NV>([&](auto v) MOTE_LAMBDA { sum[s][m][v] = dot(sum[s][m][v], x, w[v]); });
      });
    };
    int32_t k = 0;
    for (; k + 4 <= t.run_steps; k += 4, weights += 4 * kStepBytes)
      unroll<4>([&](auto i) MOTE_LAMBDA { step(Index<i % kS>{}, k + i, weights + i * kStepBytes); });
    for (; k < t.run_steps; ++k, weights += kStepBytes) step(Index<0>{}, k, weights);
  }
  unroll<MR>([&](auto m) MOTE_LAMBDA {
    unroll<NV>([&](auto v) MOTE_LAMBDA {
      out[m][v] = sum[0][m][v];
      unroll<kS - 1>([&](auto s) MOTE_LAMBDA { out[m][v] = add(out[m][v], sum[s + 1][m][v]); });
    });
  });
}

// Vectors of a panel, where tiles have more, and the heights of tiles that have micro-kernels for it: most of those that there are.
inline constexpr int kOnePanelVectors = kTileOutputs > kPanel ? kPanel / kVectorOutputs : kTileVectors;
inline constexpr bool has_panel_tile(int rows) { return kOnePanelVectors < kTileVectors && rows > kTileRows - 2; }

template <int MR, int NV>
void tile_s8(const Tile& t) {
  const TileEnd* end = kTileEnds ? t.end : nullptr;
  const int32_t* base = end != nullptr ? end->base : kNoBase;
  int32_t at = t.first;
  do {
    if constexpr (kTileEnds && NV > kOnePanelVectors && has_panel_tile(MR)) {
      if (end != nullptr && t.outputs - at <= kPanel) {
        Tile last = t;
        last.first = at;
        return tile_s8<MR, kOnePanelVectors>(last);
      }
    }
    Register sum[MR][NV];
    panel_s8<MR, NV>(t, at, base, sum);
    // What comes now is loaded now: the compiler would keep it in registers that the products need.
    if (kTileEnds) __asm__ volatile("" ::: "memory");
    if (end != nullptr) finish<MR, NV>(*end, at, t.outputs - at, sum);
    else unroll<MR>([&](auto m) MOTE_LAMBDA { store_sums<NV>(sum[m], t.sums + m * kTileOutputs); });
    at += NV * kVectorOutputs;
  } while (end != nullptr && at < t.outputs);
}

template <int... M>
MOTE_INLINE TileFn tile_of(int32_t rows, std::integer_sequence<int, M...>) {
  static constexpr TileFn kTiles[] = {&tile_s8<M + 1, kTileVectors>...};
  return kTiles[rows - 1];
}
// The micro-kernel for `rows` rows (1 to kTileRows) and the tile's outputs, or at least for a panel of them.
MOTE_INLINE TileFn tile_of(int32_t rows, bool one_panel) {
  if constexpr (has_panel_tile(kTileRows)) {
    if (one_panel && rows == kTileRows) return &tile_s8<kTileRows, kOnePanelVectors>;
    if (one_panel && rows == kTileRows - 1) return &tile_s8<kTileRows - 1, kOnePanelVectors>;
  }
  return tile_of(rows, std::make_integer_sequence<int, kTileRows>{});
}

}  // namespace mote::kernels::MOTE_ISA_NAME
#endif
