#pragma once

// The GEMM for AMX: blocks of up to 64 rows by 64 outputs, whose accumulators go from tiles through the L1 cache to the epilogue. LHS rows
// are read in place, or from a padded copy of the input (padded_rows_amx.h), or are packed first.

#include "mote/kernels/int8/gemm/gemm_s8.h"
#include "mote/kernels/int8/gemm/padded_rows_amx.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {

inline constexpr int32_t kAmxBlockSize = 64;     // rows, and outputs, of a block
inline constexpr int32_t kAmxMaxPackedK = 4096;  // longest rows that can be packed

// Row sources have, besides visit_rows() (row_access.h):
//   rows_in_place(first, count, bytes, &row, &stride)  how many rows, up to count, lie `stride` bytes apart with `bytes` readable in each
//   padded_shape()                                     shape of the padded input that windows can be read from
//   write_padded_row(first, i, columns, packer)        puts input row i, counted from the first one that LHS row `first` reads
template <class RowSource>
class GemmAmxS8 {
 public:
  GemmAmxS8(const GemmShape& p, const RowSource& lhs, const RequantEpilogue& epilogue)
      : p_(p),
        lhs_(lhs),
        epilogue_(epilogue),
        shape_(epilogue.has_w_zero() || epilogue.x_zero_varies() ? PaddedRowsShape{} : lhs.padded_shape()),
        zero_(epilogue.x_zero(0)),
        row_sums_needed_(epilogue.has_w_zero()),
        panel_stride_(int64_t{(p.k + 3) / 4} * kKGroupBytes),
        padded_k_((p.k + kAmxStepK - 1) / kAmxStepK * kAmxStepK) {}

  void run(const Threads* threads) {
    const int32_t panels = (p_.outputs + kPanel - 1) / kPanel;
    const double work = static_cast<double>(p_.rows) * p_.outputs * (p_.k / 24 + 4);
    const BytesMoved bytes{int64_t{p_.rows} * p_.k, panels * panel_stride_, int64_t{p_.rows} * p_.outputs};
    choose_units(thread_count(threads, work));
    const int32_t units = p_.rows / (height_ * width_) * units_of_height();
    const TilePartition split(units, units, panels, kAmxBlockSize / kPanel, work, threads, bytes);
    split.run([&](int32_t first, int32_t count, int32_t first_panel, int32_t panel_count) {
      const int32_t end = (first_panel + panel_count) * kPanel;
      compute_part(first, count, first_panel * kPanel, end < p_.outputs ? end : p_.outputs);
    });
  }

 private:
  // A block of output channels.
  struct ChannelBlock {
    int32_t first, count;  // within the GEMM
    const int8_t* weights;
    ChannelParams params;
    alignas(64) int8_t k_tail[ChannelParams::kCount / kPanel * kAmxTileBytes];  // last step of each panel, zero behind K
    const RegisterEpilogue* register_epilogue;                                  // null: accumulators go to RequantEpilogue
  };
  struct Workspace {
    alignas(64) uint8_t packed[kAmxRows * kAmxMaxPackedK + kAmxStepK];
    alignas(64) int32_t accumulators[kAmxBlockSize * kAmxBlockSize];
    alignas(64) uint8_t discarded[ChannelParams::kCount + 64];  // outputs of windows that straddle rows
    uint8_t *out[kAmxBlockSize], *shifted_out[kAmxBlockSize + 1];
    const uint8_t *residual[kAmxBlockSize], *shifted_residual[kAmxBlockSize];
    RowCorrection terms[kAmxBlockSize];
    PaddedRows padded_rows;
  };

  // Chooses how rows are read and the unit in which threads take them: as many output rows as the padded copy holds, but few enough that
  // every thread gets some; or 64 LHS rows.
  void choose_units(uint32_t threads) {
    const bool in_place = shape_.run_length % kAmxStepK == 0;
    int32_t rows_per_unit = 0;
    if (shape_.runs > 0 && (in_place || p_.k <= kAmxMaxPackedK)) {
      const int32_t parts = threads > 1 ? static_cast<int32_t>(threads) * 2 : 1,
                    min_rows = (kAmxBlockSize + shape_.width - 1) / shape_.width;
      int32_t rows = (shape_.height + parts - 1) / parts;
      if (rows < min_rows) rows = min_rows < shape_.height ? min_rows : shape_.height;
      rows_per_unit = shape_.max_output_rows(rows);
    }
    row_access_ = rows_per_unit == 0 ? AmxRowAccess::kRows : in_place ? AmxRowAccess::kPaddedRows : AmxRowAccess::kGatheredWindows;
    if (rows_per_unit == 0) height_ = p_.rows, width_ = 1, rows_per_unit_ = kAmxBlockSize;
    else height_ = shape_.height, width_ = shape_.width, rows_per_unit_ = rows_per_unit;
  }
  int32_t units_of_height() const { return (height_ + rows_per_unit_ - 1) / rows_per_unit_; }

  void compute_part(int32_t first_unit, int32_t units, int32_t begin, int32_t end) const {
    const AmxScope scope;
    ChannelBlock block;
    Workspace ws;
    for (block.first = begin; block.first < end; block.first += ChannelParams::kCount) {
      block.count = end - block.first < ChannelParams::kCount ? end - block.first : ChannelParams::kCount;
      block.weights = p_.weights + block.first / kPanel * panel_stride_;
      load_params(&block);
      const RegisterEpilogue register_epilogue(block.params.base, block.params.multiplier, block.params.right_shift, nullptr,
                                               epilogue_.bounds(), epilogue_.type(), epilogue_.has_real());
      block.register_epilogue = requantizes_in_registers(epilogue_, block.params, lhs_.has_residual()) ? &register_epilogue : nullptr;
      for (int32_t u = first_unit; u < first_unit + units; ++u) {
        const int32_t row = u % units_of_height() * rows_per_unit_, first = u / units_of_height() * height_ + row;
        const int32_t count = height_ - row < rows_per_unit_ ? height_ - row : rows_per_unit_;
        if (row_access_ == AmxRowAccess::kRows) compute_rows(first, count, block, &ws);
        else compute_padded_rows(first * width_, count, block, &ws);
      }
    }
  }

  void load_params(ChannelBlock* block) const {
    epilogue_.load_params(p_.first_output + block->first, block->count, p_.k, &block->params);
    if (epilogue_.x_zero_varies() || zero_ != 0) column_sums(block->weights, p_.k, block->count, block->params.weight_sum);
    if (!epilogue_.x_zero_varies() && zero_ != 0) epilogue_.add_zero_points(zero_, p_.k, block->count, &block->params);
    if (p_.k % kAmxStepK == 0) return;
    const int32_t full_steps = p_.k / kAmxStepK, tail = p_.k % kAmxStepK, tail_groups = (tail + 3) / 4;
    // LHS rows may have any bytes behind their last k: the weights there are zero.
    const uint32_t mask = tail % 4 == 0 ? ~0u : (1u << tail % 4 * 8) - 1;
    for (int32_t panel = 0; panel * kPanel < block->count; ++panel) {
      const int8_t* from = block->weights + panel * panel_stride_ + full_steps * kAmxTileBytes;
      int8_t* to = block->k_tail + panel * kAmxTileBytes;
      for (int32_t i = 0; i < kAmxStepK / 4; ++i) {
        const __m512i v = i < tail_groups ? _mm512_loadu_si512(from + i * kKGroupBytes) : zero_register();
        _mm512_store_si512(to + i * kKGroupBytes,
                           i == tail_groups - 1 ? _mm512_and_si512(v, _mm512_set1_epi32(static_cast<int>(mask))) : v);
      }
    }
  }

  // Rows in place where the source has at least a tile of them, else packed, as many as the workspace holds.
  void compute_rows(int32_t first, int32_t count, const ChannelBlock& block, Workspace* ws) const {
    const int32_t max_rows = kAmxMaxPackedK / padded_k_ * kAmxRows;
    for (int32_t tile_rows; count > 0; first += tile_rows, count -= tile_rows) {
      const uint8_t* lhs = nullptr;
      int64_t stride = 0;
      tile_rows = row_sums_needed_ ? 0 : lhs_.rows_in_place(first, count, padded_k_, &lhs, &stride) / kAmxRows * kAmxRows;
      if (tile_rows == 0) {
        tile_rows = count < max_rows ? count : max_rows;
        lhs = ws->packed, stride = padded_k_;
        if (row_sums_needed_) set_output_rows<true, true>(first, tile_rows, ws);
        else set_output_rows<true, false>(first, tile_rows, ws);
      } else {
        set_output_rows<false, false>(first, tile_rows, ws);
      }
      multiply_rows(lhs, stride, tile_rows, block, ws);
    }
  }
  // `count` rows, whose outputs set_output_rows has set, times all outputs of the block.
  void multiply_rows(const uint8_t* lhs, int64_t stride, int32_t count, const ChannelBlock& block, Workspace* ws) const {
    AmxPendingEpilogue pending;
    if (block.register_epilogue != nullptr) set_epilogue_rows(0, count, block, ws);
    for (int32_t out = 0; out < block.count; out += kAmxBlockSize) {
      multiply_block(lhs, stride, kSingleRun, 1, count, out, block, ws, &pending);
      if (block.register_epilogue == nullptr) store_accumulators_of(0, count, out, block, ws);
    }
    pending.finish_rows();
  }
  // Where the register epilogue stores row i of a block: shifted_out[i].
  void set_epilogue_rows(int32_t row, int32_t count, const ChannelBlock& block, Workspace* ws) const {
    for (int32_t i = 0; i < count; ++i) ws->shifted_out[row + i] = ws->out[i] + p_.first_output + block.first;
    ws->shifted_out[row + count] = ws->discarded;
  }

  // `count` output rows from a padded copy of the input.
  void compute_padded_rows(int32_t first, int32_t count, const ChannelBlock& block, Workspace* ws) const {
    PaddedRows& padded_rows = ws->padded_rows;
    padded_rows.fill(shape_, lhs_, LhsEncoding(p_.is_signed, zero_), static_cast<uint8_t>(zero_), first, count);
    if (row_access_ == AmxRowAccess::kGatheredWindows) return compute_gathered_windows(first, count * shape_.width, block, ws);
    const int32_t windows_per_row = shape_.windows_per_row(), windows = (count - 1) * windows_per_row + shape_.width;
    for (int32_t out = 0; out < block.count; out += kAmxBlockSize) {
      for (int32_t first_window = 0; first_window < windows; first_window += kAmxBlockSize) {
        const int32_t window_count = windows - first_window < kAmxBlockSize ? windows - first_window : kAmxBlockSize;
        AmxPendingEpilogue pending;
        if (block.register_epilogue != nullptr) {
          for (int32_t i = 0; i <= window_count; ++i) ws->shifted_out[i] = ws->discarded;
          for_each_output_row(first_window, window_count, [&](int32_t row, int32_t output, int32_t row_count) {
            set_output_rows<false, false>(first + output, row_count, ws);
            for (int32_t i = 0; i < row_count; ++i) ws->shifted_out[row + i] = ws->out[i] + p_.first_output + block.first;
          });
        }
        multiply_block(padded_rows.window(shape_, first_window), shape_.window_stride(), padded_rows.offsets, shape_.runs, window_count,
                       out, block, ws, &pending);
        pending.finish_rows();
        if (block.register_epilogue != nullptr) continue;
        for_each_output_row(first_window, window_count, [&](int32_t row, int32_t output, int32_t row_count) {
          set_output_rows<false, false>(first + output, row_count, ws);
          store_accumulators_of(row, row_count, out, block, ws);
        });
      }
    }
  }
  // Of the windows [first_window, first_window + window_count), those that belong to outputs: f(window, output, count) for each output row.
  template <class F>
  MOTE_INLINE void for_each_output_row(int32_t first_window, int32_t window_count, const F& f) const {
    const int32_t windows_per_row = shape_.windows_per_row();
    for (int32_t y = first_window / windows_per_row; y * windows_per_row < first_window + window_count; ++y) {
      const int32_t x = first_window > y * windows_per_row ? first_window - y * windows_per_row : 0,
                    available = first_window + window_count - y * windows_per_row,
                    end = available < shape_.width ? available : shape_.width;
      if (x < end) f(y * windows_per_row + x - first_window, y * shape_.width + x, end - x);
    }
  }

  // Runs shorter than an AMX step: windows are gathered from the padded copy into contiguous rows.
  void compute_gathered_windows(int32_t first, int32_t count, const ChannelBlock& block, Workspace* ws) const {
    const int32_t fit = kAmxMaxPackedK / padded_k_ * kAmxRows, max_rows = fit < kAmxBlockSize ? fit : kAmxBlockSize;
    for (int32_t first_row = 0; first_row < count; first_row += max_rows) {
      const int32_t row_count = count - first_row < max_rows ? count - first_row : max_rows;
      for (int32_t i = 0; i < row_count; ++i) {
        const uint8_t* from =
            ws->padded_rows.window(shape_, (first_row + i) / shape_.width * shape_.windows_per_row() + (first_row + i) % shape_.width);
        uint8_t* to = ws->packed + i * padded_k_;
        for (int32_t run = 0; run < shape_.runs; ++run, to += shape_.run_length)
          copy_wide(to, from + ws->padded_rows.offsets[run], shape_.run_length);
      }
      set_output_rows<false, false>(first + first_row, row_count, ws);
      multiply_rows(ws->packed, padded_k_, row_count, block, ws);
    }
  }
  // Copies n bytes; may read and write up to 63 more.
  static MOTE_INLINE void copy_wide(uint8_t* to, const uint8_t* from, int32_t n) {
    if (n <= 16) return _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
    if (n <= 32) return _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
    for (int32_t i = 0; i < n; i += 64) _mm512_storeu_si512(to + i, _mm512_loadu_si512(from + i));
  }

  // Sets output pointers, residuals and zero-point corrections of the rows; with Pack also packs them, with Sum adding up their elements.
  template <bool Pack, bool Sum>
  void set_output_rows(int32_t first, int32_t count, Workspace* ws) const {
    const bool varies = epilogue_.x_zero_varies();
    lhs_.visit_rows(first, count, 0, p_.k, [&](int32_t i, uint8_t* out, const uint8_t* residual, int32_t quant_index, const auto& write) {
      const int32_t zero = varies ? epilogue_.x_zero(quant_index) : zero_;
      ws->out[i] = out;
      ws->residual[i] = residual;
      const int32_t excess = varies ? zero : 0;
      ws->terms[i] = {wrapping_mul(p_.k, excess), wrapping_sub(0, excess), epilogue_.x_scale(quant_index)};
      if constexpr (Pack) {
        const LhsEncoding encoding(p_.is_signed, zero);
        LhsPacker<Sum> packer(encoding, static_cast<uint8_t>(zero), p_.k, ws->packed + i * padded_k_, nullptr);
        write(packer);
        ws->terms[i].zero_factor = wrapping_sub(ws->terms[i].zero_factor, packer.finish());
      }
    });
  }

  // Multiplies up to 64 rows with up to 64 outputs from `out` on. With a register epilogue the accumulators of a tile pair are requantized
  // while the next pair is multiplied; the last pair remains in `pending`.
  void multiply_block(const uint8_t* lhs, int64_t stride, const int64_t* offsets, int32_t runs, int32_t count, int32_t out,
                      const ChannelBlock& block, Workspace* ws, AmxPendingEpilogue* pending) const {
    const int32_t panels = (block.count - out + kPanel - 1) / kPanel,
                  end = panels < kAmxBlockSize / kPanel ? panels : kAmxBlockSize / kPanel;
    const bool has_k_tail = p_.k % kAmxStepK != 0;
    AmxTileArgs args{};
    args.lhs_stride = stride;
    args.run_offsets = offsets;
    args.runs = runs;
    args.run_k_groups = p_.k / runs / kAmxStepK;
    args.acc_stride = block.register_epilogue != nullptr ? AmxPendingEpilogue::kStride : kAmxBlockSize;
    for (int32_t panel = 0; panel < end; panel += 2) {
      const int32_t first_panel = out / kPanel + panel;
      for (int i = 0; i < 2; ++i) {
        args.weights[i] = block.weights + (first_panel + i) * panel_stride_;
        args.k_tail[i] = has_k_tail ? block.k_tail + (first_panel + i) * kAmxTileBytes : nullptr;
      }
      for (int32_t row = 0; row < count; row += 2 * kAmxRows) {
        args.lhs[0] = lhs + row * stride;
        args.lhs[1] = args.lhs[0] + kAmxRows * stride;
        args.accumulators = block.register_epilogue != nullptr ? other_accumulators(args.accumulators, ws)
                                                               : ws->accumulators + row * kAmxBlockSize + panel * kPanel;
        select_amx_tiles(p_.is_signed, row + kAmxRows < count, panel + 1 < end)(args, pending);
        const int32_t first_output = out + panel * kPanel,
                      row_count = count - row < AmxPendingEpilogue::kRows ? count - row : AmxPendingEpilogue::kRows;
        if (block.register_epilogue != nullptr)
          *pending = AmxPendingEpilogue(block.register_epilogue, args.accumulators, row_count, first_output, block.count - first_output,
                                        ws->shifted_out + row);
      }
    }
  }

  // Double buffering: tiles are stored to one half while the pending epilogue reads the other.
  static int32_t* other_accumulators(const int32_t* used, Workspace* ws) {
    return ws->accumulators + (used == ws->accumulators ? AmxPendingEpilogue::kRows * AmxPendingEpilogue::kStride : 0);
  }

  void store_accumulators_of(int32_t acc_row, int32_t count, int32_t out, const ChannelBlock& block, Workspace* ws) const {
    const int32_t width = static_cast<int32_t>(dtype_bytes(epilogue_.type())), shift = (p_.first_output + block.first + out) * width;
    const bool residual = lhs_.has_residual();
    for (int32_t i = 0; i < count; ++i) ws->shifted_out[i] = ws->out[i] + shift;
    for (int32_t i = 0; residual && i < count; ++i) ws->shifted_residual[i] = ws->residual[i] + shift;
    epilogue_.store(block.params, {ws->accumulators + acc_row * kAmxBlockSize, kAmxBlockSize, count, out,
                                   block.count - out < kAmxBlockSize ? block.count - out : kAmxBlockSize, ws->shifted_out,
                                   residual ? ws->shifted_residual : nullptr, ws->terms, row_sums_needed_ || epilogue_.x_zero_varies()});
  }

  enum class AmxRowAccess { kRows, kPaddedRows, kGatheredWindows };
  static constexpr int64_t kSingleRun[1] = {0};

  const GemmShape& p_;
  const RowSource& lhs_;
  const RequantEpilogue& epilogue_;
  PaddedRowsShape shape_;
  int32_t zero_;
  bool row_sums_needed_;
  int64_t panel_stride_;
  int32_t padded_k_;  // k, rounded up to whole AMX steps
  AmxRowAccess row_access_ = AmxRowAccess::kRows;
  int32_t height_ = 1, width_ = 1, rows_per_unit_ = 1;
};

// AMX serves GEMMs that are large enough; the variant that this one extends serves the rest.
inline constexpr bool kTilesOnly = true;
inline bool is_profitable(int64_t rows, int64_t outputs, int64_t k, const PaddedRowsShape& shape) {
  const bool fits = k <= kAmxMaxPackedK || (shape.run_length % kAmxStepK == 0 && shape.max_output_rows(1) > 0);
  // Measured: below these sizes the variant that this one extends is faster.
  return rows >= 8 && outputs >= 8 && k >= 64 && fits;
}

template <class RowSource>
void gemm_s8(const GemmShape& p, const RowSource& lhs, const RequantEpilogue& epilogue, const Threads* threads) {
  if (p.rows > 0 && p.outputs > 0) GemmAmxS8<RowSource>(p, lhs, epilogue).run(threads);
}

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
