#pragma once

// Winograd's F(4x4, 3x3): a 3x3 convolution computes 4x4 outputs at once from 6x6 inputs, with 36 products instead of 144. Inputs, weights
// and sums are brought to and from that form by these one-dimensional transforms, applied to columns and then to rows. V: anything with +,
// - and * (numbers, vectors).

#include <cstdint>

namespace mote::ops::winograd {

constexpr int kOut = 4, kIn = 6, kPoints = kIn * kIn;

template <class V, class C>
inline __attribute__((always_inline)) void transform_input(const V* d, int step, C constant, V* out, int out_step) {
  const V four = constant(4.0f), five = constant(5.0f), two = constant(2.0f);
  const V d0 = d[0], d1 = d[step], d2 = d[2 * step], d3 = d[3 * step], d4 = d[4 * step], d5 = d[5 * step];
  const V a = d4 - four * d2, b = d3 - four * d1, c = d4 - d2, e = two * (d3 - d1);
  out[0] = four * d0 - five * d2 + d4;
  out[out_step] = a + b;
  out[2 * out_step] = a - b;
  out[3 * out_step] = c + e;
  out[4 * out_step] = c - e;
  out[5 * out_step] = four * d1 - five * d3 + d5;
}

template <class V, class C>
inline __attribute__((always_inline)) void transform_sums(const V* m, int step, C constant, V* out, int out_step) {
  const V a = m[step] + m[2 * step], b = m[step] - m[2 * step], c = m[3 * step] + m[4 * step], d = m[3 * step] - m[4 * step];
  out[0] = m[0] + a + c;
  out[out_step] = b + constant(2.0f) * d;
  out[2 * out_step] = a + constant(4.0f) * c;
  out[3 * out_step] = b + constant(8.0f) * d + m[5 * step];
}

// Three weights to six.
inline void transform_weights(const double* g, int step, double* out, int out_step) {
  const double g0 = g[0], g1 = g[step], g2 = g[2 * step];
  out[0] = g0 / 4;
  out[out_step] = -(g0 + g1 + g2) / 6;
  out[2 * out_step] = -(g0 - g1 + g2) / 6;
  out[3 * out_step] = g0 / 24 + g1 / 12 + g2 / 6;
  out[4 * out_step] = g0 / 24 - g1 / 12 + g2 / 6;
  out[5 * out_step] = g2;
}

// Tiles of 4x4 outputs in a result of (N, H, W, O).
inline int64_t tile_count(const int32_t* dims) {
  return int64_t{dims[0]} * ((int64_t{dims[1]} + kOut - 1) / kOut) * ((int64_t{dims[2]} + kOut - 1) / kOut);
}

// What a tile takes while it is worked on: its inputs and its sums at every point.
inline int64_t tile_floats(int32_t channels, int32_t outputs) { return kPoints * (int64_t{channels} + outputs); }

// Tiles that one thread works on together. Each block reads all weights: from the cache next to it a few tiles are worth that, from
// farther away as many as leave it room.
constexpr int64_t kNearWeights = 1 << 18, kNearTiles = 24, kBlockFloats = 1 << 18;
inline bool weights_are_near(int32_t channels, int32_t outputs) { return kPoints * int64_t{channels} * outputs <= kNearWeights; }
inline int32_t block_tiles(int32_t channels, int32_t outputs, int64_t tiles) {
  const int64_t fit = weights_are_near(channels, outputs) ? kNearTiles : kBlockFloats / (tile_floats(channels, outputs) + 1);
  // A quarter more than fits is better than another block.
  const int64_t n = fit < 1 ? 1 : tiles <= fit + fit / 4 ? tiles : fit;
  return static_cast<int32_t>(n);
}

// Working memory: a block each for two threads, or one block for both where weights are near. More threads have smaller blocks.
inline int64_t work_floats(int32_t channels, int32_t outputs, int64_t tiles) {
  const int64_t most = (weights_are_near(channels, outputs) ? 1 : 2) * int64_t{block_tiles(channels, outputs, tiles)};
  return tile_floats(channels, outputs) * (most < tiles ? most : tiles);
}

}  // namespace mote::ops::winograd
