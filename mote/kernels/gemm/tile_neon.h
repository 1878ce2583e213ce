#pragma once

// The micro-kernel for f32 weights on 64-bit Arm: four values of a row are loaded at once and multiplied from their lanes. It goes over any
// number of panels; the last one costs half where it is half empty. tile.h includes this.

#include "mote/kernels/common/zeros.h"
#include "mote/kernels/gemm/panel_neon.h"

namespace mote::kernels::MOTE_ISA_NAME {

// Products of K values of MR rows with their weights.
template <int MR, int NV, int K>
MOTE_INLINE void add_values(const VF (&x)[MR], const float* weights, VF (&sum)[MR][NV]) {
  unroll<K>([&](auto k) MOTE_LAMBDA {
    unroll<NV / 2>([&](auto pair) MOTE_LAMBDA {
      const VF a = load(weights + k * kPanel + pair * 8), b = load(weights + k * kPanel + pair * 8 + 4);
      unroll<MR>([&](auto m) MOTE_LAMBDA {
        sum[m][2 * pair].raw = vfmaq_laneq_f32(sum[m][2 * pair].raw, a.raw, x[m].raw, k);
        sum[m][2 * pair + 1].raw = vfmaq_laneq_f32(sum[m][2 * pair + 1].raw, b.raw, x[m].raw, k);
      });
    });
  });
}

// What outputs are clamped to.
struct Limits {
  explicit Limits(const Finish& finish)
      : lo(hn::GetLane(finish.clamped(broadcast(-HUGE_VALF)))), hi(hn::GetLane(finish.clamped(broadcast(HUGE_VALF)))) {}
  float lo, hi;
};

// Loaded here and now: the compiler would keep it in a register that the products need.
MOTE_INLINE VF repeated(const float& v) {
  VF r;
  __asm__ volatile("ld1r {%0.4s}, %1" : "=w"(r.raw) : "Q"(v));
  return r;
}

// Sums that need more than a clamp, or that fill their vectors only in part.
template <int MR, int NV>
__attribute__((noinline)) void store_rows(const TileRows& t, const Finish& finish, int64_t at, const float (*rows)[NV * kLanes]) {
  const int32_t left = t.count - static_cast<int32_t>(at), count = left < NV * kLanes ? left : NV * kLanes;
  for (int m = 0; m < MR; ++m)
    finish.store_row(rows[m], t.first + static_cast<int32_t>(at), count, t.residual != nullptr ? t.residual[m] + t.at + at : nullptr,
                     t.out[m] + t.at + at);
}

MOTE_INLINE const float* panel_at(const Tile& t, int64_t at) {
  return reinterpret_cast<const float*>(static_cast<const char*>(t.panel) + at / kPanel * t.panel_stride);
}

// NV vectors of outputs from `at` on. rows: of the first run.
template <int MR, int NV>
MOTE_INLINE void panel_by_lanes(const Tile& t, const Finish& finish, const Limits& limits, const float* const (&rows)[MR], int64_t at) {
  const bool simple = t.count - at >= NV * kLanes && finish.simple();
  VF sum[MR][NV];
  unroll<NV>([&](auto v) MOTE_LAMBDA {
    const VF first = simple && finish.bias() != nullptr ? load(finish.bias() + t.first + at + v * kLanes) : hn::Zero(F32());
    unroll<MR>([&](auto m) MOTE_LAMBDA { sum[m][v] = first; });
  });
  const float* weights = panel_at(t, at);
  const float* a[MR];
  unroll<MR>([&](auto m) MOTE_LAMBDA { a[m] = rows[m]; });
  for (int32_t run = 0;;) {
    int64_t k = 0;
    for (; k + 4 <= t.run_length; k += 4, weights += 4 * kPanel) {
      VF x[MR];
      unroll<MR>([&](auto m) MOTE_LAMBDA { x[m] = load(a[m] + k); });
      add_values<MR, NV, 4>(x, weights, sum);
    }
    for (; k < t.run_length; ++k, weights += kPanel) {
      VF x[MR];
      unroll<MR>([&](auto m) MOTE_LAMBDA { x[m] = broadcast(a[m][k]); });
      add_values<MR, NV, 1>(x, weights, sum);
    }
    if (++run >= t.runs) break;
    unroll<MR>([&](auto m) MOTE_LAMBDA { a[m] = t.rows[run * MR + m]; });
  }
  if (!simple) {
    alignas(16) float all[MR][NV * kLanes];
    unroll<MR>([&](auto m) MOTE_LAMBDA { unroll<NV>([&](auto v) MOTE_LAMBDA { store(sum[m][v], all[m] + v * kLanes); }); });
    return store_rows<MR, NV>(t, finish, at, all);
  }
  if (t.residual != nullptr) {
    unroll<MR>([&](auto m) MOTE_LAMBDA {
      unroll<NV>([&](auto v) MOTE_LAMBDA { sum[m][v] = hn::Add(sum[m][v], load(t.residual[m] + t.at + at + v * kLanes)); });
    });
  }
  const VF lo = repeated(limits.lo), hi = repeated(limits.hi);
  unroll<MR>([&](auto m) MOTE_LAMBDA {
    float* out = t.out[m] + t.at + at;
    unroll<NV>([&](auto v) MOTE_LAMBDA { store(clamp(sum[m][v], lo, hi), out + v * kLanes); });
  });
}

template <int MR>
void tile_by_lanes(const Tile& t, const Finish& finish) {
  const float* rows[MR];
  unroll<MR>([&](auto m) MOTE_LAMBDA { rows[m] = t.rows[m]; });
  const Limits limits(finish);
  int64_t at = 0;
  if (t.runs == 1 && t.run_length % 4 == 0 && t.run_length > 0 && finish.simple() && t.residual == nullptr) {
    for (; at + kPanel <= t.count; at += kPanel) {
      const float* bias = finish.bias() != nullptr ? finish.bias() + t.first + at : kZeros;
      clamped_panel<MR>(rows, t.run_length, panel_at(t, at), bias, &limits.lo, &limits.hi, t.out, t.at + at);
    }
  }
  for (; at + kPanel / 2 < t.count; at += kPanel) panel_by_lanes<MR, 4>(t, finish, limits, rows, at);
  if (at < t.count) panel_by_lanes<MR, 2>(t, finish, limits, rows, at);
}

template <int... M>
MOTE_INLINE TileFn by_lanes(int32_t rows, std::integer_sequence<int, M...>) {
  static constexpr TileFn kTiles[] = {&tile_by_lanes<M + 1>...};
  return kTiles[rows - 1];
}
// One row is left to the micro-kernel that takes several panels at once.
template <>
inline TileFn tile_for<PanelF32>(int32_t rows, int32_t outputs, int32_t* taken) {
  const int32_t panels = (outputs + kPanel - 1) / kPanel;
  if (rows == 1 && panels >= kOneRow) {
    *taken = kOneRow;
    return &tile<PanelF32, 1, kOneRow>;
  }
  *taken = panels;
  return by_lanes(rows, std::make_integer_sequence<int, kTileRows>{});
}

}  // namespace mote::kernels::MOTE_ISA_NAME
