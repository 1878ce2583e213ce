// 3x3 convolutions by Winograd's F(4x4, 3x3). For a block of tiles: transform each 6x6 input tile to 36 points, one GEMM with the
// transformed weights for each point, inverse transform to 4x4 outputs.

#include "mote/kernels/common/nhwc_view.h"
#include "mote/kernels/common/zeros.h"
#include "mote/kernels/gemm/gemm_f32.h"
#include "mote/ops/conv_winograd/conv_winograd.h"

namespace mote::kernels::MOTE_ISA_NAME::gemm {
namespace {

using ops::conv_winograd::Attrs;
using namespace ops::winograd;

const auto constant = [](float v) MOTE_LAMBDA { return broadcast(v); };

struct WinogradConv {
  NhwcView x, y, residual;
  bool has_residual;
  int32_t pad_h, pad_w, tiles_y, tiles_x;
  Weights weights;  // for every point: panels (O/16, C, 16)
  EpilogueF32 epilogue;
};

// Image, row and column of a tile's first output.
struct TilePosition {
  TilePosition(const WinogradConv& conv, int32_t tile)
      : n(tile / (conv.tiles_y * conv.tiles_x)), y(tile / conv.tiles_x % conv.tiles_y * kOut), x(tile % conv.tiles_x * kOut) {}
  int32_t n, y, x;
};

// Transforms a tile's input: for each point its channels, a row of the GEMM's LHS, at values + point * point_step.
void transform_tile(const WinogradConv& conv, const TilePosition& origin, float* values, int64_t point_step) {
  const float* rows[kPoints];
  for (int i = 0; i < kIn; ++i) {
    const int32_t iy = origin.y - conv.pad_h + i, first = origin.x - conv.pad_w;
    const bool inside = iy >= 0 && iy < conv.x.h;
    const uint8_t* row = inside ? conv.x.at(origin.n, iy, 0) : nullptr;
    for (int j = 0; j < kIn; ++j) {
      const int32_t ix = first + j;
      rows[i * kIn + j] = inside && ix >= 0 && ix < conv.x.w ? reinterpret_cast<const float*>(row + ix * conv.x.column) : kZeros;
    }
  }
  for (int32_t c = 0; c < conv.x.c; c += kLanes) {
    const int32_t remaining = conv.x.c - c;
    VF columns[kPoints];
    for (int j = 0; j < kIn; ++j) {
      VF d[kIn];
      unroll<kIn>([&](auto i) MOTE_LAMBDA { d[i] = load_partial(rows[i * kIn + j] + c, remaining); });
      transform_input(d, 1, constant, columns + j, kIn);
    }
    for (int i = 0; i < kIn; ++i) {
      VF v[kIn];
      transform_input(columns + i * kIn, 1, constant, v, 1);
      unroll<kIn>([&](auto j) MOTE_LAMBDA { store_partial(v[j], remaining, values + (i * kIn + j) * point_step + c); });
    }
  }
}

// Inverse transform of a tile's accumulators, epilogue, and store of the outputs that exist.
void store_tile(const WinogradConv& conv, const TilePosition& origin, const float* accumulators, int64_t point_step) {
  const int32_t height = conv.y.h - origin.y < kOut ? conv.y.h - origin.y : kOut,
                width = conv.y.w - origin.x < kOut ? conv.y.w - origin.x : kOut;
  float* to[kOut][kOut];
  const float* residual[kOut][kOut];
  for (int32_t i = 0; i < height; ++i) {
    uint8_t* row = conv.y.at(origin.n, origin.y + i, origin.x);
    const uint8_t* residual_row = conv.has_residual ? conv.residual.at(origin.n, origin.y + i, origin.x) : nullptr;
    for (int32_t j = 0; j < width; ++j) {
      to[i][j] = reinterpret_cast<float*>(row + j * conv.y.column);
      if (conv.has_residual) residual[i][j] = reinterpret_cast<const float*>(residual_row + j * conv.residual.column);
    }
  }
  const VF lo = conv.epilogue.lowest(), hi = conv.epilogue.highest();
  for (int32_t o = 0; o < conv.y.c; o += kLanes) {
    const VF bias = conv.epilogue.bias() != nullptr ? load(conv.epilogue.bias() + o) : hn::Zero(F32());
    VF columns[kOut * kIn];
    for (int j = 0; j < kIn; ++j) {
      VF m[kIn];
      unroll<kIn>([&](auto i) MOTE_LAMBDA { m[i] = load(accumulators + (i * kIn + j) * point_step + o); });
      transform_sums(m, 1, constant, columns + j, kIn);
    }
    for (int32_t i = 0; i < height; ++i) {
      VF out[kOut];
      transform_sums(columns + i * kIn, 1, constant, out, 1);
      unroll<kOut>([&](auto j) MOTE_LAMBDA {
        if (j >= width) return;
        VF sum = hn::Add(out[j], bias);
        if (conv.has_residual) sum = hn::Add(sum, load(residual[i][j] + o));
        store(clamp(sum, lo, hi), to[i][j] + o);
      });
    }
  }
  for (int32_t i = 0; conv.epilogue.has_slow_activation() && i < height; ++i)
    conv.epilogue.apply_slow_activation(to[i], width, 0, conv.y.c);
}

// The LHS of a point's GEMM (see gemm_f32_range): dense rows, as are the outputs. Rows behind the last repeat it.
struct DenseRows {
  const float* lhs;
  float* out;
  int32_t k, outputs, last;
  bool has_residual() const { return false; }
  void row_pointers(int32_t first, int32_t count, const float** pointers, float** to, const float**, LhsTile* t) const {
    t->runs = 1;
    t->run_length = k;
    for (int32_t i = 0; i < count; ++i) {
      const int32_t row = first + i < last ? first + i : last;
      pointers[i] = lhs + int64_t{row} * k;
      to[i] = out + int64_t{row} * outputs;
    }
  }
};

// Tiles that are computed together. Working memory: their transformed inputs at every point, then the accumulators.
struct TileBlock {
  TileBlock(const WinogradConv& j, int32_t first_tile, int32_t count, float* work)
      : conv(j), first(first_tile), tiles(count), values(work), accumulators(work + int64_t{kPoints} * count * j.x.c) {}
  void transform(int32_t i) const {
    transform_tile(conv, TilePosition(conv, first + i), values + int64_t{i} * conv.x.c, int64_t{tiles} * conv.x.c);
  }
  void multiply_point(int point) const {
    const int32_t channels = conv.x.c, outputs = conv.y.c;
    const DenseRows rows{values + int64_t{point} * tiles * channels, accumulators + int64_t{point} * tiles * outputs, channels, outputs,
                         tiles - 1};
    // A GEMM of one row accumulates in another order (microkernel.h), and the number of threads decides whether a tile is alone in its
    // block: such a tile is computed twice.
    const int32_t count = tiles == 1 ? 2 : tiles;
    const RowTiles row_tiles(count);
    GemmShape p{count, outputs, channels, conv.weights};
    p.weights.data += int64_t{point} * outputs * channels * 4;
    gemm_f32_range(p, rows, EpilogueF32(nullptr, nullptr, 1, 0, 0, 0), row_tiles, {0, row_tiles.count, 0, outputs / kPanel});
  }
  void store(int32_t i) const {
    store_tile(conv, TilePosition(conv, first + i), accumulators + int64_t{i} * conv.y.c, int64_t{tiles} * conv.y.c);
  }

  const WinogradConv& conv;
  int32_t first, tiles;
  float *values, *accumulators;
};

void compute_block(const TileBlock& b) {
  for (int32_t i = 0; i < b.tiles; ++i) b.transform(i);
  for (int point = 0; point < kPoints; ++point) b.multiply_point(point);
  for (int32_t i = 0; i < b.tiles; ++i) b.store(i);
}

// Threads share the points, so that each weight is read by one thread single_thread.
void compute_by_points(const TileBlock& b, const Threads* threads) {
  const auto tiles = static_cast<uint32_t>(b.tiles);
  parallel_for(threads, tiles, [&](uint32_t i) { b.transform(static_cast<int32_t>(i)); });
  parallel_for(threads, kPoints, [&](uint32_t i) { b.multiply_point(static_cast<int>(i)); });
  parallel_for(threads, tiles, [&](uint32_t i) { b.store(static_cast<int32_t>(i)); });
}

Status conv_winograd_f32(const OpContext& c) noexcept {
  const Attrs& a = c.attrs<Attrs>();
  const NhwcView x(c.input(0)), y(c.output(0));
  const float* bias = c.has_input(2) ? c.input(2).as<const float>() : nullptr;
  const WinogradConv conv{x,
                          y,
                          c.has_input(3) ? NhwcView(c.input(3)) : NhwcView(),
                          c.has_input(3),
                          a.pads_begin[0],
                          a.pads_begin[1],
                          (y.h + kOut - 1) / kOut,
                          (y.w + kOut - 1) / kOut,
                          weights_of(c.input(1), x.c, 0),
                          EpilogueF32(bias, nullptr, 1, a.activation, a.act_a, a.act_b)};
  const int32_t tiles = y.n * conv.tiles_y * conv.tiles_x;
  if (tiles == 0 || y.c == 0) return Status::kOk;
  const uint32_t threads = thread_count(c.threads, static_cast<double>(tiles) * kPoints * x.c * y.c);
  const int64_t floats_per_tile = tile_floats(x.c, y.c);
  const auto capacity = static_cast<int32_t>(c.output(1).dim(0) / floats_per_tile);  // tiles in working memory: a block at least, or all
  float* work = c.output(1).as<float>();
  // With room for all tiles any number of threads may work; otherwise each thread has a block of its own.
  const bool by_thread = capacity < tiles;
  if (threads > 1 && !by_thread && !weights_are_near(x.c, y.c))
    return compute_by_points(TileBlock(conv, 0, tiles, work), c.threads), Status::kOk;
  const bool single_thread = threads < 2 || (by_thread && static_cast<uint32_t>(capacity) < c.threads->count);
  int32_t block = block_tiles(x.c, y.c, tiles);
  const auto tiles_per_thread = static_cast<int32_t>((static_cast<uint32_t>(tiles) + threads - 1) / threads);
  if (!single_thread && block > tiles_per_thread) block = tiles_per_thread;
  if (!single_thread && by_thread && block > capacity / static_cast<int32_t>(c.threads->count))
    block = capacity / static_cast<int32_t>(c.threads->count);
  const auto blocks = static_cast<uint32_t>((tiles + block - 1) / block);
  parallel_for_thread(single_thread ? nullptr : c.threads, blocks, [&](uint32_t i, uint32_t thread) {
    const Range r = part_of(tiles, i, blocks);
    compute_block(TileBlock(conv, r.first, r.size, work + floats_per_tile * (by_thread ? static_cast<int32_t>(thread) * block : r.first)));
  });
  return Status::kOk;
}

}  // namespace

KernelFn select_conv_winograd(const OpContext& c) noexcept {
  const Tensor &x = c.input(0), &w = c.input(1);
  return w.desc->layout == Layout::kPanel16 && x.dim(3) > 0 && x.dim(3) <= kZeroCount ? &conv_winograd_f32 : nullptr;
}

}  // namespace mote::kernels::MOTE_ISA_NAME::gemm
