#pragma once

// The micro-kernel for a last panel of at most 8 outputs, with f32 weights, on processors that do twice as many products of vectors half as
// wide. The sums are those of tile(), output by output. tile.h includes this.

namespace mote::kernels::MOTE_ISA_NAME {

inline constexpr int kHalfRows = kTileRows - 1;  // tiles of long products are so high; others are left to tile()

template <int MR>
void half_tile(const Tile& t, const Finish& finish) {
  if (!finish.simple()) return tile<PanelF32, MR, 1>(t, finish);
  const hn::Half<F32> d;
  using V = hn::Vec<hn::Half<F32>>;
  const auto some = hn::FirstN(d, static_cast<size_t>(t.count));
  const V first = finish.bias() != nullptr ? hn::MaskedLoad(some, d, finish.bias() + t.first) : hn::Zero(d);
  V sum[MR];
  unroll<MR>([&](auto m) MOTE_LAMBDA { sum[m] = first; });
  const auto* weights = static_cast<const float*>(t.panel);
  for (int32_t run = 0; run < t.runs; ++run) {
    const float* a[MR];
    unroll<MR>([&](auto m) MOTE_LAMBDA { a[m] = t.rows[run * MR + m]; });
    const auto step = [&](int32_t k, const float* w) MOTE_LAMBDA {
      const V b = hn::LoadU(d, w);
      unroll<MR>([&](auto m) MOTE_LAMBDA {
        auto raw = sum[m].raw;
        __asm__("vfmadd231ps %2%{1to8%}, %1, %0" : "+v"(raw) : "v"(b.raw), "m"(a[m][k]));
        sum[m].raw = raw;
      });
    };
    int32_t k = 0;
    for (; k + 4 <= t.run_length; k += 4, weights += 4 * kPanel) unroll<4>([&](auto i) MOTE_LAMBDA { step(k + i, weights + i * kPanel); });
    for (; k < t.run_length; ++k, weights += kPanel) step(k, weights);
  }
  const V lo = hn::LowerHalf(d, finish.lowest()), hi = hn::LowerHalf(d, finish.highest());
  float* const* out = t.out;
  const int64_t at = t.at;
  if (const float* const* residual = t.residual; residual != nullptr)
    unroll<MR>([&](auto m) MOTE_LAMBDA { sum[m] = hn::Add(sum[m], hn::MaskedLoad(some, d, residual[m] + at)); });
  unroll<MR>([&](auto m) MOTE_LAMBDA { hn::BlendedStore(hn::Min(hi, hn::Max(lo, sum[m])), some, d, out[m] + at); });
}

template <int... M>
MOTE_INLINE TileFn half_tile_of(int32_t rows, std::integer_sequence<int, M...>) {
  static constexpr TileFn kTiles[] = {&half_tile<kHalfRows + M>...};
  return kTiles[rows - kHalfRows];
}

}  // namespace mote::kernels::MOTE_ISA_NAME
