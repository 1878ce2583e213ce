#include "mote/backends/opencl/winograd.h"

#include "mote/backends/opencl/products.h"
#include "mote/ops/common/winograd.h"

namespace mote::backends::opencl {
namespace {

namespace wg = ops::winograd;

constexpr double kTransform = 8 * 2 * wg::kPoints;  // one tile of one channel, in multiply-adds of a product: measured on CPUs and GPUs
constexpr double kTwoLaunches = 2e6;                // of the two launches more, likewise
constexpr int64_t kMostFloats = int64_t{1} << 27;

WinogradArgs args_of(const WindowArgs& w) {
  return {w.batch,
          w.in_h,
          w.in_w,
          w.in_c,
          w.out_h,
          w.out_w,
          w.out_c,
          w.pad_h,
          w.pad_w,
          parts_of(w.out_h, wg::kOut),
          parts_of(w.out_w, wg::kOut)};
}

int64_t tiles_of(const WinogradArgs& p) { return int64_t{p.batch} * p.tiles_h * p.tiles_w; }

}  // namespace

bool winograd_profitable(const WindowArgs& w, double product_units_plain) {
  const WinogradArgs p = args_of(w);
  const int64_t tiles = tiles_of(p), channels = int64_t{p.in_c} + p.out_c;
  if (tiles * channels * wg::kPoints > kMostFloats) return false;
  const Tile t = tile_for(static_cast<int32_t>(tiles), p.out_c, wg::kPoints, 1);
  return wg::kPoints * product_units(t, static_cast<int32_t>(tiles), p.out_c, p.in_c) +
             kTransform * static_cast<double>(tiles) * static_cast<double>(channels) + kTwoLaunches <
         product_units_plain;
}

Place Recorder::winograd_weights(const Operand& w, int32_t n, int32_t c, int32_t padded) {
  if (counting_) return {0, 0};
  const auto [known, is_new] = weights_.try_emplace(Weights(w, n, c, padded, WeightForm::kWinograd));
  if (!is_new) return known->second.place;
  take_columns(int64_t{wg::kPoints} * c, padded, sizeof(float));
  const std::vector<float> plain = plain_weights(w, n, 9 * c);
  std::vector<float> out(static_cast<size_t>(wg::kPoints) * static_cast<size_t>(c) * static_cast<size_t>(padded), 0.0f);
  for (int32_t o = 0; o < n; ++o) {
    for (int32_t i = 0; i < c; ++i) {
      double g[9], half[18], full[36];
      for (int32_t k = 0; k < 9; ++k)
        g[k] = plain[(static_cast<size_t>(o) * 9 + static_cast<size_t>(k)) * static_cast<size_t>(c) + static_cast<size_t>(i)];
      for (int k = 0; k < 3; ++k) wg::transform_weights(g + k, 3, half + k, 3);
      for (int k = 0; k < 6; ++k) wg::transform_weights(half + 3 * k, 1, full + 6 * k, 1);
      for (int32_t k = 0; k < wg::kPoints; ++k)
        out[(static_cast<size_t>(k) * static_cast<size_t>(c) + static_cast<size_t>(i)) * static_cast<size_t>(padded) +
            static_cast<size_t>(o)] = static_cast<float>(full[k]);
    }
  }
  return known->second.place = add_constant(out.data(), out.size());
}

void add_winograd(const OpView& op, Recorder& r, const WindowArgs& w, const FinishArgs& f) {
  const WinogradArgs p = args_of(w);
  const auto tiles = static_cast<int32_t>(tiles_of(p));
  const auto place = [&](size_t i) { return op.has(i) ? op.inputs[i].place : Place{}; };
  const Place points = r.workspace(static_cast<uint64_t>(tiles) * static_cast<uint64_t>(p.in_c + p.out_c) * wg::kPoints);
  const Place sums{points.buffer, points.offset + wg::kPoints * tiles * p.in_c};
  const Place weights = r.winograd_weights(op.inputs[1], p.out_c, p.in_c, padded_columns(p.out_c));
  r.launch_positions(op, "winograd_input", p.in_c, tiles).tensor(op.inputs[0].place).tensor(points).value(p).each(2 * wg::kPoints);
  const Tile t = tile_for(tiles, p.out_c, wg::kPoints, r.compute_units());
  ProductArgs q{};
  q.rows = tiles, q.cols = p.out_c, q.padded_cols = padded_columns(p.out_c), q.k = q.k_part = p.in_c;
  q.plain = q.batched = q.kernel_w = q.in_c = q.out_h = q.out_w = 1;
  r.launch(
       op, t.kernel,
       {static_cast<size_t>(parts_of(q.cols, t.cols) * t.group_x), static_cast<size_t>(parts_of(q.rows, t.rows) * t.group_y), wg::kPoints},
       {static_cast<size_t>(t.group_x), static_cast<size_t>(t.group_y), 1})
      .plain()
      .tensor(points)
      .tensor(weights)
      .tensor({})
      .tensor({})
      .tensor({})
      .tensor(sums)
      .value(q)
      .value(FinishArgs{})
      .value(1.0f)
      .each(product_units(t, t.rows, t.cols, q.k) / (t.group_x * t.group_y));
  r.launch_positions(op, "winograd_output", p.out_c, tiles)
      .tensor(sums)
      .tensor(place(2))
      .tensor(place(3))
      .tensor(op.outputs[0].place)
      .value(p)
      .value(f)
      .each(2 * wg::kPoints);
}

}  // namespace mote::backends::opencl
