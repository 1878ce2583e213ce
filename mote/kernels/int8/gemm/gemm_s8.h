#pragma once

// The loop nest around the micro-kernel: threads take ranges of row tiles and panels; in a range, blocks of output channels whose weights
// stay in the cache; in a block, row tiles. README.md has the diagram.

#include "mote/kernels/common/parallel.h"
#include "mote/kernels/int8/gemm/microkernel.h"
#include "mote/kernels/int8/gemm/panel_weights.h"
#include "mote/kernels/int8/gemm/row_access.h"
#include "mote/kernels/int8/requantize/epilogue.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {

struct TileRange {
  int32_t first_tile, tiles, first_panel, panels;
};

// Splits `rows` rows into tiles of at most kTileRows rows; no tile crosses a multiple of group_rows. Tiles have nearly equal heights,
// except where rows are multiplied in pairs: there all but the last of a group are full.
struct RowTiles {
  RowTiles(int32_t rows, int32_t rows_per_group)
      : group_rows(rows_per_group), tiles_per_group((group_rows + kTileRows - 1) / kTileRows), count(rows / group_rows * tiles_per_group) {}
  int32_t begin(int32_t tile) const {
    if (kAccumulatesRowPairs) return tile / tiles_per_group * group_rows + tile % tiles_per_group * kTileRows;
    return tile / tiles_per_group * group_rows + static_cast<int32_t>(int64_t{group_rows} * (tile % tiles_per_group) / tiles_per_group);
  }
  bool starts_group(int32_t tile) const { return tile % tiles_per_group == 0; }
  int32_t group_rows, tiles_per_group, count;
};

// The rows of a tile.
struct RowTile {
  int32_t first, count;
  int32_t group_begin;  // first row of the group that is being computed
  RowCursor cursor;     // only for rows in groups
};

// A block of output channels.
struct ChannelBlock {
  int32_t first, count;   // within the GEMM
  const int8_t* weights;  // panels, as the micro-kernel reads them
  int64_t panel_stride;   // bytes
  ChannelParams params;
  const RegisterEpilogue* register_epilogue;  // null: accumulators are stored and go to RequantEpilogue
};

// Memory of one thread.
struct GemmWorkspace {
  alignas(64) Lhs packed[kTileRows * kMaxPackedK + kChunk];
  alignas(64) uint8_t gather[kGatherBytes];
  alignas(64) Lhs copied_runs[kCopiedRunBytes + kChunk];
  alignas(64) int8_t padded_weights[kPaddedWeightBytes + kChunk];
  int32_t run_stride;  // kPaddedRuns: elements between the packed runs of the group
  alignas(64) int32_t accumulators[kTileRows * kTileOutputs], k_block_accumulators[kTileRows * kTileOutputs];
  uint8_t* out[kTileRows];
  const uint8_t* residual[kTileRows];
  uint8_t* shifted_out[kTileRows];  // at the block's or tile's first output
  const uint8_t* shifted_residual[kTileRows];
  RowCorrection terms[kTileRows];
};

// True when the micro-kernel can requantize to bytes while the accumulators are in registers.
MOTE_INLINE bool requantizes_in_registers(const RequantEpilogue& epilogue, const ChannelParams& params, bool residual) {
  const bool bytes = epilogue.type() == DType::s8 || epilogue.type() == DType::u8;
  return kHasRegisterEpilogue && bytes && epilogue.bounds().lo <= epilogue.bounds().hi && !epilogue.has_double() &&
         (epilogue.has_real() ? params.real_below_one || kAnyRealMultiplier : params.fast_fixed_point) && !residual &&
         !epilogue.has_w_zero() && !epilogue.x_zero_varies();
}

template <class RowSource>
class GemmS8 {
 public:
  GemmS8(const GemmShape& p, const RowSource& lhs, const RequantEpilogue& epilogue)
      : p_(p),
        lhs_(lhs),
        epilogue_(epilogue),
        layout_(lhs.run_layout()),
        access_(choose_row_access(p, layout_, epilogue)),
        tiles_(p.rows, rows_in_groups(access_) ? layout_.width : p.rows),
        zero_(epilogue.x_zero(0)),
        row_sums_needed_(epilogue.has_w_zero()),
        panel_stride_(int64_t{(p.k + 3) / 4} * kKGroupBytes) {}

  void run(const Threads* threads) {
    const int32_t panels = (p_.outputs + kPanel - 1) / kPanel;
    // In K groups. The epilogue of an accumulator costs about as much as ten of them.
    const double work = static_cast<double>(p_.rows) * p_.outputs * (p_.k / 4 + 10);
    const int32_t row_bytes = rows_in_groups(access_) ? layout_.row_stride : p_.k;
    const BytesMoved bytes{int64_t{p_.rows} * row_bytes, int64_t{p_.outputs} * p_.k, int64_t{p_.rows} * p_.outputs};
    TilePartition split(tiles_.count, tiles_.count, panels, kTileOutputs > kPanel ? kTileOutputs / kPanel : 1, work, threads, bytes);
    split.run([&](int32_t first_tile, int32_t tile_count, int32_t first_panel, int32_t panel_count) {
      compute_part({first_tile, tile_count, first_panel, panel_count});
    });
  }

 private:
  void compute_part(const TileRange& part) const {
    GemmWorkspace ws;
    ChannelBlock block;
    const int32_t size = channel_block_size(part.tiles), panels_end = (part.first_panel + part.panels) * kPanel;
    const int32_t end = panels_end < p_.outputs ? panels_end : p_.outputs;
    for (block.first = part.first_panel * kPanel; block.first < end; block.first += size) {
      block.count = end - block.first < size ? end - block.first : size;
      load_weights_and_params(&block, &ws);
      const ChannelParams& params = block.params;
      const RegisterEpilogue register_epilogue(params.base, params.multiplier, params.right_shift, ws.shifted_out, epilogue_.bounds(),
                                               epilogue_.type(), epilogue_.has_real());
      const bool in_registers = access_ != RowAccess::kSplitK && requantizes_in_registers(epilogue_, params, lhs_.has_residual());
      block.register_epilogue = in_registers ? &register_epilogue : nullptr;
      compute_block(part, block, &ws);
    }
  }

  // The weights of a block stay in the L2 cache while all row tiles are computed; with a single row tile the L1 cache is enough.
  int32_t channel_block_size(int32_t tiles) const {
    constexpr int64_t kWeightsInCache = 384 * 1024;
    int64_t size = kWeightsInCache / panel_stride_ * kPanel / kTileOutputs * kTileOutputs;
    if (size > ChannelParams::kCount) size = ChannelParams::kCount;
    if (access_ == RowAccess::kPaddedRuns) {
      const int64_t padded = kPaddedWeightBytes / padded_panel_stride() * kPanel;
      if (size > padded) size = padded / kTileOutputs * kTileOutputs;
    }
    if (size < kTileOutputs || tiles == 1) size = kTileOutputs < kPanel ? kPanel : kTileOutputs;
    return static_cast<int32_t>(size);
  }
  int64_t padded_panel_stride() const { return int64_t{layout_.runs} * layout_.k_groups() * kKGroupBytes; }

  void load_weights_and_params(ChannelBlock* block, GemmWorkspace* ws) const {
    const int32_t panels = (block->count + kPanel - 1) / kPanel;
    const int8_t* weights = p_.weights + block->first / kPanel * panel_stride_;
    ChannelParams* params = &block->params;
    epilogue_.load_params(p_.first_output + block->first, block->count, p_.k, params);
    params->has_minus_128 = kMinus128Overflows && has_minus_128(weights, panels * panel_stride_);
    const int32_t excess = zero_ - LhsEncoding(p_.is_signed, zero_).offset();
    if (epilogue_.x_zero_varies() || excess != 0) column_sums(weights, p_.k, block->count, params->weight_sum);
    if (!epilogue_.x_zero_varies() && excess != 0) epilogue_.add_zero_points(excess, p_.k, block->count, params);
    block->weights = weights;
    block->panel_stride = panel_stride_;
    if (access_ != RowAccess::kPaddedRuns) return;
    block->weights = ws->padded_weights;
    block->panel_stride = padded_panel_stride();
    for (int32_t i = 0; i < panels; ++i) pad_panel_runs(weights + i * panel_stride_, layout_, ws->padded_weights + i * block->panel_stride);
  }

  void compute_block(const TileRange& part, const ChannelBlock& block, GemmWorkspace* ws) const {
    const int32_t end_tile = part.first_tile + part.tiles, end_row = tiles_.begin(end_tile);
    const TileArgs args = tile_args(block, ws);
    RowTile rows{};
    rows.first = tiles_.begin(part.first_tile);
    for (int32_t tile = part.first_tile; tile < end_tile; ++tile, rows.first += rows.count) {
      rows.count = tiles_.begin(tile + 1) - rows.first;
      if (rows_in_groups(access_) && (tile == part.first_tile || tiles_.starts_group(tile))) begin_group(end_row, &rows, ws);
      compute_tile(rows, block, args, ws);
      rows.cursor.advance(rows.count, layout_.row_stride);
    }
  }

  // What all row tiles of a block share.
  TileArgs tile_args(const ChannelBlock& block, GemmWorkspace* ws) const {
    TileArgs t{ws->packed, round_up_to_chunk(p_.k), 1, 0, (p_.k + 3) / 4, block.weights, block.panel_stride, ws->accumulators};
    if (microkernel_reads_runs(access_)) t.row_stride = layout_.row_stride, t.runs = layout_.runs, t.run_k_groups = layout_.k_groups();
    t.outputs = block.count;
    t.epilogue = block.register_epilogue;
    t.has_minus_128 = block.params.has_minus_128;
    return t;
  }

  // Positions the cursor at the first row of a group, or of the part of it that this thread computes (up to end_row).
  void begin_group(int32_t end_row, RowTile* rows, GemmWorkspace* ws) const {
    rows->cursor = lhs_.cursor(rows->first);
    rows->group_begin = rows->first;
    if (access_ != RowAccess::kPaddedRuns) return;
    const int32_t group_end = (rows->first / tiles_.group_rows + 1) * tiles_.group_rows;
    const int32_t count = (group_end < end_row ? group_end : end_row) - rows->first;
    ws->run_stride = pack_runs(rows->first, count, ws->packed, ws);
  }

  MOTE_INLINE void compute_tile(const RowTile& rows, const ChannelBlock& block, TileArgs t, GemmWorkspace* ws) const {
    load_lhs(rows, &t, ws);
    if (t.epilogue == nullptr) return compute_with_stored_accumulators(rows, block, t, ws);
    set_register_epilogue_rows(rows, p_.first_output + block.first, ws);
    select_tile(rows.count, t.outputs <= kPanel)(t);
  }

  // Brings the rows of a tile into the form that the micro-kernel reads.
  MOTE_INLINE void load_lhs(const RowTile& rows, TileArgs* t, GemmWorkspace* ws) const {
    switch (access_) {
      case RowAccess::kInPlace: t->lhs = reinterpret_cast<const Lhs*>(rows.cursor.in); break;
      case RowAccess::kSharedRuns: t->run_stride = pack_runs(rows.first, rows.count, ws->packed, ws); break;
      case RowAccess::kPaddedRuns:
        t->lhs = ws->packed + (rows.first - rows.group_begin) * layout_.row_stride;
        t->run_stride = ws->run_stride;
        break;
      case RowAccess::kCopiedRuns: copy_runs(rows.first, rows.count, ws); break;
      case RowAccess::kPackedRows: pack_rows(rows, 0, p_.k, ws); break;
      case RowAccess::kSplitK: break;  // accumulate_k_blocks packs
    }
  }

  // Packs the runs of `count` rows, one behind the other; returns the distance between them.
  int32_t pack_runs(int32_t first, int32_t count, Lhs* to, GemmWorkspace* ws) const {
    const LhsEncoding encoding(p_.is_signed, zero_);
    const int32_t elements = layout_.elements(count), run_stride = round_up_to_chunk(elements);
    for (int32_t run = 0; run < layout_.runs; ++run) {
      LhsPacker<false> packer(encoding, static_cast<uint8_t>(zero_), elements, to + run * run_stride, ws->gather);
      lhs_.write_run(first, count, run, packer);
      packer.finish();
    }
    return run_stride;
  }

  // Packs the runs of the tile and copies its rows from them. A copy may write beyond the end of a run; the next one overwrites that.
  void copy_runs(int32_t first, int32_t count, GemmWorkspace* ws) const {
    const int32_t run_stride = pack_runs(first, count, ws->copied_runs, ws), length = layout_.run_length;
    uint8_t* to = reinterpret_cast<uint8_t*>(ws->packed);
    const uint8_t* from = reinterpret_cast<const uint8_t*>(ws->copied_runs);
    for (int32_t i = 0; i < count; ++i, to += round_up_to_chunk(p_.k), from += layout_.row_stride) {
      const uint8_t* in = from;
      uint8_t* out = to;
      for (int32_t run = 0; run < layout_.runs; ++run, in += run_stride, out += length) {
        store_u8x16(load_u8x16(in), out);
        for (int32_t k = 16; k < length; k += 16) store_u8x16(load_u8x16(in + k), out + k);
      }
      // The last K group may be partial: its other elements are zero.
      constexpr uint8_t kZeros[4] = {};
      copy_as<uint32_t>(out, kZeros);
    }
  }

  // Packs elements [k_begin, k_end) of the rows, one by one, and sets their output pointers and corrections.
  void pack_rows(const RowTile& rows, int32_t k_begin, int32_t k_end, GemmWorkspace* ws) const {
    if (row_sums_needed_) pack_rows_as<true>(rows, k_begin, k_end, ws);
    else pack_rows_as<false>(rows, k_begin, k_end, ws);
  }
  template <bool Sum>
  void pack_rows_as(const RowTile& rows, int32_t k_begin, int32_t k_end, GemmWorkspace* ws) const {
    const bool varies = epilogue_.x_zero_varies();
    const int32_t count = k_end - k_begin, row_stride = round_up_to_chunk(count);
    const auto pack_row = [&](int32_t i, uint8_t* out, const uint8_t* residual, int32_t quant_index, const auto& write) {
      const int32_t zero = varies ? epilogue_.x_zero(quant_index) : zero_;
      const LhsEncoding encoding(p_.is_signed, zero);
      ws->out[i] = out;
      ws->residual[i] = residual;
      LhsPacker<Sum> packer(encoding, static_cast<uint8_t>(zero), count, ws->packed + i * row_stride, ws->gather);
      write(packer);
      const int32_t sum = packer.finish();
      RowCorrection& t = ws->terms[i];
      const int32_t excess = varies ? wrapping_sub(zero, encoding.offset()) : 0;
      if (k_begin == 0) t = {wrapping_mul(p_.k, excess), wrapping_sub(0, excess), epilogue_.x_scale(quant_index)};
      t.zero_factor = wrapping_sub(t.zero_factor, sum);
    };
    lhs_.visit_rows(rows.first, rows.count, k_begin, k_end, pack_row);
  }

  // Where the register epilogue stores the rows, from output `first_output` of the tensor on.
  MOTE_INLINE void set_register_epilogue_rows(const RowTile& rows, int32_t first_output, GemmWorkspace* ws) const {
    if (!rows_in_groups(access_)) {
      for (int32_t i = 0; i < rows.count; ++i) ws->shifted_out[i] = ws->out[i] + first_output;
      return;
    }
    uint8_t* out = rows.cursor.out + first_output;
    for (int32_t i = 0; i < rows.count; ++i, out += rows.cursor.out_step) ws->shifted_out[i] = out;
  }

  // Stores the accumulators of one micro-kernel tile after the other and hands them to RequantEpilogue.
  void compute_with_stored_accumulators(const RowTile& rows, const ChannelBlock& block, TileArgs t, GemmWorkspace* ws) const {
    if (rows_in_groups(access_)) set_rows_from_cursor(rows, ws);
    for (int32_t output = 0; output < block.count; output += kTileOutputs) {
      t.outputs = block.count - output < kTileOutputs ? block.count - output : kTileOutputs;
      t.weights = block.weights + output / kPanel * block.panel_stride + output % kPanel * 4;
      const TileFn tile = select_tile(rows.count, t.outputs <= kPanel);
      if (access_ == RowAccess::kSplitK) accumulate_k_blocks(rows, tile, t, ws);
      else tile(t);
      store_tile(rows, block, output, t.outputs, ws);
    }
  }
  void set_rows_from_cursor(const RowTile& rows, GemmWorkspace* ws) const {
    const RowCursor& cursor = rows.cursor;
    for (int32_t i = 0; i < rows.count; ++i) {
      ws->out[i] = cursor.out + i * cursor.out_step;
      ws->residual[i] = cursor.residual + i * cursor.residual_step;
      ws->terms[i] = {0, 0, epilogue_.x_scale(cursor.quant_index + i * cursor.quant_index_step)};
    }
  }
  void store_tile(const RowTile& rows, const ChannelBlock& block, int32_t output, int32_t count, GemmWorkspace* ws) const {
    const int32_t width = static_cast<int32_t>(dtype_bytes(epilogue_.type())), shift = (p_.first_output + block.first + output) * width;
    const bool residual = lhs_.has_residual();
    for (int32_t i = 0; i < rows.count; ++i) ws->shifted_out[i] = ws->out[i] + shift;
    for (int32_t i = 0; residual && i < rows.count; ++i) ws->shifted_residual[i] = ws->residual[i] + shift;
    epilogue_.store(block.params, {ws->accumulators, kTileOutputs, rows.count, output, count, ws->shifted_out,
                                   residual ? ws->shifted_residual : nullptr, ws->terms, row_sums_needed_ || epilogue_.x_zero_varies()});
  }

  void accumulate_k_blocks(const RowTile& rows, TileFn tile, TileArgs t, GemmWorkspace* ws) const {
    for (int32_t k = 0; k < p_.k; k += kMaxPackedK) {
      const int32_t end = p_.k - k < kMaxPackedK ? p_.k : k + kMaxPackedK;
      pack_rows(rows, k, end, ws);
      t.run_k_groups = (end - k + 3) / 4;
      t.row_stride = round_up_to_chunk(end - k);
      t.accumulators = k == 0 ? ws->accumulators : ws->k_block_accumulators;
      tile(t);
      t.weights += t.run_k_groups * kKGroupBytes;
      for (int32_t i = 0; k > 0 && i < rows.count * kTileOutputs; i += kIntLanes) {
        const VI sum = hn::Add(hn::Load(I32(), ws->accumulators + i), hn::Load(I32(), ws->k_block_accumulators + i));
        hn::Store(sum, I32(), ws->accumulators + i);
      }
    }
  }

  const GemmShape& p_;
  const RowSource& lhs_;
  const RequantEpilogue& epilogue_;
  RunLayout layout_;
  RowAccess access_;
  RowTiles tiles_;
  int32_t zero_;
  bool row_sums_needed_;
  int64_t panel_stride_;
};

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
