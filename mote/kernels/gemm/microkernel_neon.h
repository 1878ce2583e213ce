#pragma once

// The micro-kernel for f32 weights on 64-bit Arm: four LHS values of a row are loaded at once and multiplied by lane (fmla by element).
// It takes any number of panels; a last panel of at most 8 outputs costs half. microkernel.h includes this.

#include "mote/kernels/common/zeros.h"
#include "mote/kernels/gemm/microkernel_neon_panel.h"

namespace mote::kernels::MOTE_ISA_NAME::gemm {

// Multiply-adds of K consecutive k for MR rows.
template <int MR, int NV, int K>
MOTE_INLINE void multiply_add_by_lane(const VF (&x)[MR], const float* weights, VF (&acc)[MR][NV]) {
  unroll<K>([&](auto k) MOTE_LAMBDA {
    unroll<NV / 2>([&](auto pair) MOTE_LAMBDA {
      const VF a = load(weights + k * kPanel + pair * 8), b = load(weights + k * kPanel + pair * 8 + 4);
      unroll<MR>([&](auto m) MOTE_LAMBDA {
        acc[m][2 * pair].raw = vfmaq_laneq_f32(acc[m][2 * pair].raw, a.raw, x[m].raw, k);
        acc[m][2 * pair + 1].raw = vfmaq_laneq_f32(acc[m][2 * pair + 1].raw, b.raw, x[m].raw, k);
      });
    });
  });
}

// The clamp of the epilogue as scalars.
struct ClampRange {
  explicit ClampRange(const EpilogueF32& epilogue)
      : lo(hn::GetLane(epilogue.clamped(broadcast(-HUGE_VALF)))), hi(hn::GetLane(epilogue.clamped(broadcast(HUGE_VALF)))) {}
  float lo, hi;
};

// Broadcast load, at this point of the program: the compiler would otherwise hold the value in a register that the accumulators need.
MOTE_INLINE VF broadcast_late(const float& v) {
  VF r;
  __asm__ volatile("ld1r {%0.4s}, %1" : "=w"(r.raw) : "Q"(v));
  return r;
}

// Generic epilogue, for accumulators that need more than bias and clamp, or partial vectors.
template <int MR, int NV>
__attribute__((noinline)) void store_rows(const LhsTile& t, const EpilogueF32& epilogue, int64_t offset, const float (*rows)[NV * kLanes]) {
  const int32_t remaining = t.outputs - static_cast<int32_t>(offset), count = remaining < NV * kLanes ? remaining : NV * kLanes;
  for (int m = 0; m < MR; ++m)
    epilogue.store_row(rows[m], t.first_output + static_cast<int32_t>(offset), count,
                       t.residual != nullptr ? t.residual[m] + t.out_offset + offset : nullptr, t.out[m] + t.out_offset + offset);
}

MOTE_INLINE const float* panel_at(const TileArgs& t, int64_t offset) {
  return reinterpret_cast<const float*>(static_cast<const char*>(t.panel) + offset / kPanel * t.panel_stride);
}

// NV vectors of outputs from `offset` on. rows: the indirection pointers of the first run.
template <int MR, int NV>
MOTE_INLINE void compute_panel_by_lane(const TileArgs& t, const EpilogueF32& epilogue, const ClampRange& limits,
                                       const float* const (&rows)[MR], int64_t offset) {
  const bool simple = t.outputs - offset >= NV * kLanes && epilogue.simple();
  VF acc[MR][NV];
  unroll<NV>([&](auto v) MOTE_LAMBDA {
    const VF first = simple && epilogue.bias() != nullptr ? load(epilogue.bias() + t.first_output + offset + v * kLanes) : hn::Zero(F32());
    unroll<MR>([&](auto m) MOTE_LAMBDA { acc[m][v] = first; });
  });
  const float* weights = panel_at(t, offset);
  const float* a[MR];
  unroll<MR>([&](auto m) MOTE_LAMBDA { a[m] = rows[m]; });
  for (int32_t run = 0;;) {
    int64_t k = 0;
    for (; k + 4 <= t.run_length; k += 4, weights += 4 * kPanel) {
      VF x[MR];
      unroll<MR>([&](auto m) MOTE_LAMBDA { x[m] = load(a[m] + k); });
      multiply_add_by_lane<MR, NV, 4>(x, weights, acc);
    }
    for (; k < t.run_length; ++k, weights += kPanel) {
      VF x[MR];
      unroll<MR>([&](auto m) MOTE_LAMBDA { x[m] = broadcast(a[m][k]); });
      multiply_add_by_lane<MR, NV, 1>(x, weights, acc);
    }
    if (++run >= t.runs) break;
    unroll<MR>([&](auto m) MOTE_LAMBDA { a[m] = t.rows[run * MR + m]; });
  }
  if (!simple) {
    alignas(16) float all[MR][NV * kLanes];
    unroll<MR>([&](auto m) MOTE_LAMBDA { unroll<NV>([&](auto v) MOTE_LAMBDA { store(acc[m][v], all[m] + v * kLanes); }); });
    return store_rows<MR, NV>(t, epilogue, offset, all);
  }
  if (t.residual != nullptr) {
    unroll<MR>([&](auto m) MOTE_LAMBDA {
      unroll<NV>([&](auto v) MOTE_LAMBDA { acc[m][v] = hn::Add(acc[m][v], load(t.residual[m] + t.out_offset + offset + v * kLanes)); });
    });
  }
  const VF lo = broadcast_late(limits.lo), hi = broadcast_late(limits.hi);
  unroll<MR>([&](auto m) MOTE_LAMBDA {
    float* out = t.out[m] + t.out_offset + offset;
    unroll<NV>([&](auto v) MOTE_LAMBDA { store(clamp(acc[m][v], lo, hi), out + v * kLanes); });
  });
}

template <int MR>
void microkernel_f32_by_lane(const TileArgs& t, const EpilogueF32& epilogue) {
  const float* rows[MR];
  unroll<MR>([&](auto m) MOTE_LAMBDA { rows[m] = t.rows[m]; });
  const ClampRange limits(epilogue);
  int64_t offset = 0;
  if (t.runs == 1 && t.run_length % 4 == 0 && t.run_length > 0 && epilogue.simple() && t.residual == nullptr) {
    for (; offset + kPanel <= t.outputs; offset += kPanel) {
      const float* bias = epilogue.bias() != nullptr ? epilogue.bias() + t.first_output + offset : kZeros;
      panel_f32_asm<MR>(rows, t.run_length, panel_at(t, offset), bias, &limits.lo, &limits.hi, t.out, t.out_offset + offset);
    }
  }
  for (; offset + kPanel / 2 < t.outputs; offset += kPanel) compute_panel_by_lane<MR, 4>(t, epilogue, limits, rows, offset);
  if (offset < t.outputs) compute_panel_by_lane<MR, 2>(t, epilogue, limits, rows, offset);
}

template <int... M>
MOTE_INLINE MicrokernelFn by_lane_microkernel_of(int32_t rows, std::integer_sequence<int, M...>) {
  static constexpr MicrokernelFn kTiles[] = {&microkernel_f32_by_lane<M + 1>...};
  return kTiles[rows - 1];
}
// A single row uses the generic micro-kernel, which takes several panels at once.
template <>
inline MicrokernelFn microkernel_for<PanelF32>(int32_t rows, int32_t outputs, int32_t* taken) {
  const int32_t panels = (outputs + kPanel - 1) / kPanel;
  if (rows == 1 && panels >= kPanelsForOneRow) {
    *taken = kPanelsForOneRow;
    return &microkernel_f32<PanelF32, 1, kPanelsForOneRow>;
  }
  *taken = panels;
  return by_lane_microkernel_of(rows, std::make_integer_sequence<int, kTileRows>{});
}

}  // namespace mote::kernels::MOTE_ISA_NAME::gemm
