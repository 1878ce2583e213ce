#pragma once

// The AVX-512 micro-kernel for a partial last panel of at most 8 outputs, with f32 weights: 256-bit vectors, of which processors execute
// twice as many. Results have the same bits as those of microkernel_f32(). microkernel.h includes this.

namespace mote::kernels::MOTE_ISA_NAME::gemm {

inline constexpr int kHalfPanelMinRows = kTileRows - 1;  // the usual height of tiles; lower ones use microkernel_f32()

template <int MR>
void microkernel_f32_half_panel(const TileArgs& t, const EpilogueF32& epilogue) {
  if (!epilogue.simple()) return microkernel_f32<PanelF32, MR, 1>(t, epilogue);
  const hn::Half<F32> d;
  using V = hn::Vec<hn::Half<F32>>;
  const auto mask = hn::FirstN(d, static_cast<size_t>(t.outputs));
  const V first = epilogue.bias() != nullptr ? hn::MaskedLoad(mask, d, epilogue.bias() + t.first_output) : hn::Zero(d);
  V acc[MR];
  unroll<MR>([&](auto m) MOTE_LAMBDA { acc[m] = first; });
  const auto* weights = static_cast<const float*>(t.panel);
  for (int32_t run = 0; run < t.runs; ++run) {
    const float* a[MR];
    unroll<MR>([&](auto m) MOTE_LAMBDA { a[m] = t.rows[run * MR + m]; });
    const auto step = [&](int32_t k, const float* w) MOTE_LAMBDA {
      const V b = hn::LoadU(d, w);
      unroll<MR>([&](auto m) MOTE_LAMBDA {
        auto raw = acc[m].raw;
        __asm__("vfmadd231ps %2%{1to8%}, %1, %0" : "+v"(raw) : "v"(b.raw), "m"(a[m][k]));
        acc[m].raw = raw;
      });
    };
    int32_t k = 0;
    for (; k + 4 <= t.run_length; k += 4, weights += 4 * kPanel) unroll<4>([&](auto i) MOTE_LAMBDA { step(k + i, weights + i * kPanel); });
    for (; k < t.run_length; ++k, weights += kPanel) step(k, weights);
  }
  const V lo = hn::LowerHalf(d, epilogue.lowest()), hi = hn::LowerHalf(d, epilogue.highest());
  float* const* out = t.out;
  const int64_t offset = t.out_offset;
  if (const float* const* residual = t.residual; residual != nullptr)
    unroll<MR>([&](auto m) MOTE_LAMBDA { acc[m] = hn::Add(acc[m], hn::MaskedLoad(mask, d, residual[m] + offset)); });
  unroll<MR>([&](auto m) MOTE_LAMBDA { hn::BlendedStore(hn::Min(hi, hn::Max(lo, acc[m])), mask, d, out[m] + offset); });
}

template <int... M>
MOTE_INLINE MicrokernelFn half_panel_microkernel_of(int32_t rows, std::integer_sequence<int, M...>) {
  static constexpr MicrokernelFn kTiles[] = {&microkernel_f32_half_panel<kHalfPanelMinRows + M>...};
  return kTiles[rows - kHalfPanelMinRows];
}

}  // namespace mote::kernels::MOTE_ISA_NAME::gemm
