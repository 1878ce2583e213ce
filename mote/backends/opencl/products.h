#pragma once

// Matrix products by tiles: how large a tile is right, and what that costs. Other forms of convolutions build on it.

#include <cstdint>

namespace mote::backends::opencl {

struct Tile {
  const char* kernel;
  int32_t rows, cols;
  int32_t group_x, group_y;  // work-items
};

constexpr int32_t kColumnPad = 64;  // columns of weights come in such numbers
inline int32_t parts_of(int32_t n, int32_t by) { return (n + by - 1) / by; }
inline int32_t padded_columns(int32_t n) { return parts_of(n, kColumnPad) * kColumnPad; }

// For `count` products of (rows, k) and (k, cols).
Tile tile_for(int32_t rows, int32_t cols, int32_t count, uint32_t compute_units);
// Multiply-adds, those of a tile's empty corner too.
double product_units(const Tile& t, int32_t rows, int32_t cols, int32_t k);

}  // namespace mote::backends::opencl
