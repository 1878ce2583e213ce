// 3x3 convolutions by Winograd's F(4x4, 3x3): inputs of a block of tiles to 36 points each, one product with the transformed weights for
// every point, sums back to 4x4 outputs.

#include "mote/kernels/common/plane.h"
#include "mote/kernels/common/zeros.h"
#include "mote/kernels/gemm/product.h"
#include "mote/ops/conv_winograd/conv_winograd.h"

namespace mote::kernels::MOTE_ISA_NAME {
namespace {

using ops::conv_winograd::Attrs;
using namespace ops::winograd;

const auto constant = [](float v) MOTE_LAMBDA { return broadcast(v); };

struct Job {
  Plane x, y, residual;
  bool has_residual;
  int32_t pad_h, pad_w, tiles_y, tiles_x;
  Weights weights;  // for every point: panels (O/16, C, 16)
  Finish finish;
};

// A tile by its number.
struct TileAt {
  TileAt(const Job& job, int32_t tile)
      : n(tile / (job.tiles_y * job.tiles_x)), y(tile / job.tiles_x % job.tiles_y * kOut), x(tile % job.tiles_x * kOut) {}
  int32_t n, y, x;
};

// One row of a matrix for each tile; points lie `tiles` rows apart.
void transform_tile(const Job& job, const TileAt& at, float* values, int64_t point_step) {
  const float* rows[kPoints];
  for (int i = 0; i < kIn; ++i) {
    const int32_t iy = at.y - job.pad_h + i, first = at.x - job.pad_w;
    const bool inside = iy >= 0 && iy < job.x.h;
    const uint8_t* row = inside ? job.x.at(at.n, iy, 0) : nullptr;
    for (int j = 0; j < kIn; ++j) {
      const int32_t ix = first + j;
      rows[i * kIn + j] = inside && ix >= 0 && ix < job.x.w ? reinterpret_cast<const float*>(row + ix * job.x.column) : kZeros;
    }
  }
  for (int32_t c = 0; c < job.x.c; c += kLanes) {
    const int32_t left = job.x.c - c;
    VF columns[kPoints];
    for (int j = 0; j < kIn; ++j) {
      VF d[kIn];
      unroll<kIn>([&](auto i) MOTE_LAMBDA { d[i] = load_some(rows[i * kIn + j] + c, left); });
      transform_input(d, 1, constant, columns + j, kIn);
    }
    for (int i = 0; i < kIn; ++i) {
      VF v[kIn];
      transform_input(columns + i * kIn, 1, constant, v, 1);
      unroll<kIn>([&](auto j) MOTE_LAMBDA { store_some(v[j], left, values + (i * kIn + j) * point_step + c); });
    }
  }
}

void store_tile(const Job& job, const TileAt& at, const float* sums, int64_t point_step) {
  const int32_t high = job.y.h - at.y < kOut ? job.y.h - at.y : kOut, wide = job.y.w - at.x < kOut ? job.y.w - at.x : kOut;
  float* to[kOut][kOut];
  const float* residual[kOut][kOut];
  for (int32_t i = 0; i < high; ++i) {
    uint8_t* row = job.y.at(at.n, at.y + i, at.x);
    const uint8_t* more = job.has_residual ? job.residual.at(at.n, at.y + i, at.x) : nullptr;
    for (int32_t j = 0; j < wide; ++j) {
      to[i][j] = reinterpret_cast<float*>(row + j * job.y.column);
      if (job.has_residual) residual[i][j] = reinterpret_cast<const float*>(more + j * job.residual.column);
    }
  }
  const VF lo = job.finish.lowest(), hi = job.finish.highest();
  for (int32_t o = 0; o < job.y.c; o += kLanes) {
    const VF bias = job.finish.bias() != nullptr ? load(job.finish.bias() + o) : hn::Zero(F32());
    VF columns[kOut * kIn];
    for (int j = 0; j < kIn; ++j) {
      VF m[kIn];
      unroll<kIn>([&](auto i) MOTE_LAMBDA { m[i] = load(sums + (i * kIn + j) * point_step + o); });
      transform_sums(m, 1, constant, columns + j, kIn);
    }
    for (int32_t i = 0; i < high; ++i) {
      VF out[kOut];
      transform_sums(columns + i * kIn, 1, constant, out, 1);
      unroll<kOut>([&](auto j) MOTE_LAMBDA {
        if (j >= wide) return;
        VF sum = hn::Add(out[j], bias);
        if (job.has_residual) sum = hn::Add(sum, load(residual[i][j] + o));
        store(clamp(sum, lo, hi), to[i][j] + o);
      });
    }
  }
  for (int32_t i = 0; job.finish.has_after() && i < high; ++i) job.finish.activate_after(to[i], wide, 0, job.y.c);
}

// Dense rows on both sides.
struct DenseRows {
  const float* left;
  float* out;
  int32_t k, outputs;
  bool has_residual() const { return false; }
  void rows(int32_t first, int32_t count, const float** pointers, float** to, const float**, TileRows* t) const {
    t->runs = 1;
    t->run_length = k;
    for (int32_t i = 0; i < count; ++i) {
      pointers[i] = left + int64_t{first + i} * k;
      to[i] = out + int64_t{first + i} * outputs;
    }
  }
};

// Tiles that are worked on together: their values at every point, then their sums.
struct Block {
  Block(const Job& j, int32_t first_tile, int32_t count, float* work)
      : job(j), first(first_tile), tiles(count), values(work), sums(work + int64_t{kPoints} * count * j.x.c) {}
  void transform(int32_t i) const { transform_tile(job, TileAt(job, first + i), values + int64_t{i} * job.x.c, int64_t{tiles} * job.x.c); }
  void multiply(int point) const {
    const int32_t channels = job.x.c, outputs = job.y.c;
    const DenseRows rows{values + int64_t{point} * tiles * channels, sums + int64_t{point} * tiles * outputs, channels, outputs};
    const RowTiles row_tiles(tiles);
    Product p{tiles, outputs, channels, job.weights};
    p.weights.data += int64_t{point} * outputs * channels * 4;
    multiply_part(p, rows, Finish(nullptr, nullptr, 1, 0, 0, 0), row_tiles, {0, row_tiles.count, 0, outputs / kPanel});
  }
  void store(int32_t i) const { store_tile(job, TileAt(job, first + i), sums + int64_t{i} * job.y.c, int64_t{tiles} * job.y.c); }

  const Job& job;
  int32_t first, tiles;
  float *values, *sums;
};

void run_block(const Block& b) {
  for (int32_t i = 0; i < b.tiles; ++i) b.transform(i);
  for (int point = 0; point < kPoints; ++point) b.multiply(point);
  for (int32_t i = 0; i < b.tiles; ++i) b.store(i);
}

// Threads share the points, so that each weight is read by one of them.
void run_by_points(const Block& b, const Threads* threads) {
  const auto tiles = static_cast<uint32_t>(b.tiles);
  parallel_for(threads, tiles, [&](uint32_t i) { b.transform(static_cast<int32_t>(i)); });
  parallel_for(threads, kPoints, [&](uint32_t i) { b.multiply(static_cast<int>(i)); });
  parallel_for(threads, tiles, [&](uint32_t i) { b.store(static_cast<int32_t>(i)); });
}

Status run_winograd(const OpContext& c) noexcept {
  const Attrs& a = c.attrs<Attrs>();
  const Plane x(c.input(0)), y(c.output(0));
  const float* bias = c.has_input(2) ? c.input(2).as<const float>() : nullptr;
  const Job job{x,
                y,
                c.has_input(3) ? Plane(c.input(3)) : Plane(),
                c.has_input(3),
                a.pads_begin[0],
                a.pads_begin[1],
                (y.h + kOut - 1) / kOut,
                (y.w + kOut - 1) / kOut,
                weights_of(c.input(1), x.c, 0),
                Finish(bias, nullptr, 1, a.activation, a.act_a, a.act_b)};
  const int32_t tiles = y.n * job.tiles_y * job.tiles_x;
  if (tiles == 0 || y.c == 0) return Status::kOk;
  const uint32_t threads = useful_threads(c.threads, static_cast<double>(tiles) * kPoints * x.c * y.c);
  const int64_t each = tile_floats(x.c, y.c);
  const auto room = static_cast<int32_t>(c.output(1).dim(0) / each);  // at least a block, or every tile
  float* work = c.output(1).as<float>();
  // Where every tile has a place of its own, any number of threads may work; otherwise each has its part of the room.
  const bool by_thread = room < tiles;
  if (threads > 1 && !by_thread && !weights_are_near(x.c, y.c)) return run_by_points(Block(job, 0, tiles, work), c.threads), Status::kOk;
  const bool alone = threads < 2 || (by_thread && static_cast<uint32_t>(room) < c.threads->count);
  int32_t block = block_tiles(x.c, y.c, tiles);
  const auto share = static_cast<int32_t>((static_cast<uint32_t>(tiles) + threads - 1) / threads);
  if (!alone && block > share) block = share;
  if (!alone && by_thread && block > room / static_cast<int32_t>(c.threads->count)) block = room / static_cast<int32_t>(c.threads->count);
  const auto blocks = static_cast<uint32_t>((tiles + block - 1) / block);
  parallel_for_thread(alone ? nullptr : c.threads, blocks, [&](uint32_t i, uint32_t thread) {
    const Range r = part_of(tiles, i, blocks);
    run_block(Block(job, r.first, r.size, work + each * (by_thread ? static_cast<int32_t>(thread) * block : r.first)));
  });
  return Status::kOk;
}

}  // namespace

KernelFn select_conv_winograd(const OpContext& c) noexcept {
  const Tensor &x = c.input(0), &w = c.input(1);
  return w.desc->layout == Layout::kPanel16 && x.dim(3) > 0 && x.dim(3) <= kZeroCount ? &run_winograd : nullptr;
}

}  // namespace mote::kernels::MOTE_ISA_NAME
