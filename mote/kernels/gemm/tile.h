#pragma once

// The micro-kernel of products with packed f32 weights: MR rows of the left side times NP panels (K, 16) of the right side, the sums in
// registers from the first product to the last. The left side is read through pointers, run by run (the taps of a convolution, or
// one run of K), so nothing is copied before.

#include "mote/kernels/common/finish.h"

namespace mote::kernels::MOTE_ISA_NAME {

// Sums that fit the registers, beside a row of weights and one value of the left side; with 32 registers a few less, because the pointers
// of more rows would not fit theirs.
inline constexpr int kTilePanels = kRegisters == 32 && kPanelVectors == 1 ? 2 : 1;
inline constexpr int kTileRows = kTilePanels == 2 ? 12 : (kRegisters - kPanelVectors - 2) / kPanelVectors;

struct Tile {
  const float* const* rows;      // [run][row of the tile]
  int32_t runs, run_length;      // K = runs * run_length
  const float* panel;            // of the first output
  int64_t panel_stride;          // elements from one panel to the next
  float* const* out;             // [row of the tile], at the first output
  const float* const* residual;  // likewise, or null
  int32_t first, count;          // outputs: where in bias and scales, and how many (at most NP * 16)
};

// Stores its sums finished, but for Finish::activate_after(), which the caller does over longer rows.
using TileFn = void (*)(const Tile&, const Finish&);

// The sums are stored from memory where they need more than a clamp, or where the last panel is not full.
template <int MR, int NP>
MOTE_INLINE void store_by_rows(const Tile& t, const Finish& finish, const VF (&sum)[MR][NP * kPanelVectors]) {
  alignas(64) float rows[MR][NP * kPanel];
  unroll<MR>([&](auto m) MOTE_LAMBDA {
    unroll<NP * kPanelVectors>([&](auto v) MOTE_LAMBDA { hn::Store(sum[m][v], F32(), rows[m] + v * kLanes); });
  });
  for (int m = 0; m < MR; ++m) finish.store_row(rows[m], t.first, t.count, t.residual != nullptr ? t.residual[m] : nullptr, t.out[m]);
}

template <int MR, int NP>
void tile_f32(const Tile& t, const Finish& finish) {
  constexpr int kVectors = NP * kPanelVectors;
  const bool simple = t.count == NP * kPanel && finish.simple();
  VF sum[MR][kVectors];
  unroll<kVectors>([&](auto v) MOTE_LAMBDA {
    const VF first = simple && finish.bias() != nullptr ? load(finish.bias() + t.first + v * kLanes) : hn::Zero(F32());
    unroll<MR>([&](auto m) MOTE_LAMBDA { sum[m][v] = first; });
  });
  const float* weights = t.panel;
  for (int32_t run = 0; run < t.runs; ++run) {
    const float* a[MR];
    unroll<MR>([&](auto m) MOTE_LAMBDA { a[m] = t.rows[run * MR + m]; });
    const auto step = [&](int32_t k, const float* w) MOTE_LAMBDA {
      VF b[kVectors];
      unroll<kVectors>([&](auto v) MOTE_LAMBDA { b[v] = load(w + v / kPanelVectors * t.panel_stride + v % kPanelVectors * kLanes); });
      unroll<MR>([&](auto m) MOTE_LAMBDA {
        const VF x = broadcast(a[m][k]);
        unroll<kVectors>([&](auto v) MOTE_LAMBDA { add_product(sum[m][v], x, b[v]); });
      });
    };
    int32_t k = 0;
    for (; k + 4 <= t.run_length; k += 4, weights += 4 * kPanel) {
      unroll<4>([&](auto i) MOTE_LAMBDA { step(k + i, weights + i * kPanel); });
    }
    for (; k < t.run_length; ++k, weights += kPanel) step(k, weights);
  }
  if (!simple) return store_by_rows<MR, NP>(t, finish, sum);
  unroll<MR>([&](auto m) MOTE_LAMBDA {
    float* out = t.out[m];
    unroll<kVectors>([&](auto v) MOTE_LAMBDA {
      if (t.residual != nullptr) sum[m][v] = hn::Add(sum[m][v], load(t.residual[m] + v * kLanes));
      store(finish.clamped(sum[m][v]), out + v * kLanes);
    });
  });
}

// Panels that a tile of so many rows takes at once: few rows leave registers for more of them, and need more sums to keep the units busy.
MOTE_INLINE int32_t panels_at_once(int32_t rows) {
  constexpr int kOneRow = 8 / kPanelVectors, kTwoRows = 4 / kPanelVectors;
  if (rows == 1) return kOneRow > kTilePanels ? kOneRow : kTilePanels;
  if (rows <= 3) return kTwoRows > kTilePanels ? kTwoRows : kTilePanels;
  return kTilePanels;
}

template <int NP, int... M>
MOTE_INLINE TileFn tile_of(int32_t rows, std::integer_sequence<int, M...>) {
  static constexpr TileFn kTiles[] = {&tile_f32<M + 1, NP>...};
  return kTiles[rows - 1];
}

template <int NP>
MOTE_INLINE TileFn tile_of(int32_t rows) {
  return tile_of<NP>(rows, std::make_integer_sequence<int, kTileRows>{});
}

// The micro-kernel for `rows` rows (1 to kTileRows) and at most `panels` panels; *taken: how many it takes.
MOTE_INLINE TileFn tile_for(int32_t rows, int32_t panels, int32_t* taken) {
  constexpr int kOneRow = 8 / kPanelVectors, kTwoRows = 4 / kPanelVectors;
  if constexpr (kOneRow > kTilePanels) {
    if (rows == 1 && panels >= kOneRow) return *taken = kOneRow, tile_of<kOneRow>(rows, std::make_integer_sequence<int, 1>{});
  }
  if constexpr (kTwoRows > kTilePanels) {
    if (rows <= 3 && panels >= kTwoRows) return *taken = kTwoRows, tile_of<kTwoRows>(rows, std::make_integer_sequence<int, 3>{});
  }
  if (panels >= kTilePanels) return *taken = kTilePanels, tile_of<kTilePanels>(rows);
  return *taken = 1, tile_of<1>(rows);
}

}  // namespace mote::kernels::MOTE_ISA_NAME
