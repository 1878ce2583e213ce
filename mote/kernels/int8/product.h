#pragma once

// The loops around the micro-kernel, for anything that can name the rows of its left side. A few rows are packed (in the
// form that the processor multiplies), all outputs of a block are computed from them, and the next rows follow.

#include "mote/kernels/common/parallel.h"
#include "mote/kernels/int8/bytes.h"
#include "mote/kernels/int8/stage.h"
#include "mote/kernels/int8/tile.h"

namespace mote::kernels::MOTE_ISA_NAME {

// Elements of a row that are packed at a time; longer rows are summed up piece by piece.
inline constexpr int32_t kMaxDepth = 30 * 1024 / static_cast<int32_t>(kTileRows * sizeof(Left)) / kChunk * kChunk;

// What writers of rows may copy together first.
#if defined(__AVX512BW__)
inline constexpr int32_t kBufferBytes = 64;
#else
inline constexpr int32_t kBufferBytes = kTileRows * kMaxDepth + 64;
#endif

// Where elements are bytes: those of the lines under a tile (see fitting_lines).
inline constexpr int32_t kLineBytes = sizeof(Left) == 1 ? 2048 : 0;

// Weights in panels of runs that begin with a four of their own; 0: runs are not padded so. Neighbours would be others than those that
// dot_pairs.h was promised to fit.
#if HWY_ARCH_X86 && !defined(MOTE_DOT_PAIRS)
inline constexpr int32_t kPaddedBytes = 12 * 1024;
#else
inline constexpr int32_t kPaddedBytes = 0;
#endif

// Weights: panels (N / 16, K / 4, 16, 4) of outputs `first_output` and on.
struct Product {
  int32_t rows, outputs, k;
  const int8_t* weights;
  int32_t first_output;
  bool is_signed;  // x
};

struct Part {
  int32_t first_tile, tiles, first_panel, panels;
};

// `rows` rows in tiles of nearly equal height (whole ones first, where rows are multiplied in pairs), none of which goes beyond a multiple
// of `width`.
struct RowTiles {
  RowTiles(int32_t rows, int32_t n) : width(n), per_width((n + kTileRows - 1) / kTileRows), count(rows / n * per_width) {}
  int32_t begin(int32_t tile) const {
    if (kPairsOfRows) return tile / per_width * width + tile % per_width * kTileRows;
    return tile / per_width * width + static_cast<int32_t>(int64_t{width} * (tile % per_width) / per_width);
  }
  // True for the first tile of a width.
  bool begins(int32_t tile) const { return tile % per_width == 0; }
  int32_t width, per_width, count;
};

// Sums of the weights of `count` outputs, a whole number of panels.
inline void sum_weights(const int8_t* weights, int32_t k, int32_t count, int32_t* sums) {
  const int32_t steps = (k + 3) / 4;
  constexpr int kVectors = kPanel / kVectorOutputs;
  for (; count > 0; count -= kPanel, sums += kPanel) {
    Register sum[kVectors];
    unroll<kVectors>([&](auto v) { sum[v] = zero_register(); });
    for (int32_t i = 0; i < steps; ++i, weights += kStepBytes)
      unroll<kVectors>([&](auto v) { sum[v] = add_weights(sum[v], load_weights(weights + v * kVectorOutputs * 4)); });
    store_sums<kVectors>(sum, sums);
  }
}

// True where one of the weights is -128.
inline bool has_least(const int8_t* weights, int64_t bytes) {
  const hn::CappedTag<int8_t, 16> d;
  auto least = hn::Zero(d);
  for (int64_t i = 0; i < bytes; i += 64)
    unroll<4>([&](auto v) MOTE_LAMBDA { least = hn::Min(least, hn::LoadU(d, weights + i + v * 16)); });
  return !hn::AllFalse(d, hn::Eq(least, hn::Set(d, -128)));
}

// Sums may become bytes in the micro-kernel's registers.
MOTE_INLINE bool ends_as_bytes(const Stage& s, const Columns& columns, bool residual) {
  const bool bytes = s.type() == DType::s8 || s.type() == DType::u8;
  return kTileEnds && bytes && s.bounds().lo <= s.bounds().hi && !s.has_double() &&
         (s.has_real() ? columns.small || kAnyReal : columns.simple) && !residual && !s.has_w_zero() && !s.x_zero_varies();
}

// Left: visit(first, count, k_begin, k_end, f) calls f(i, out, residual, number, write) for `count` rows. number tells the zero point's
// place; write(writer) puts elements [k_begin, k_end) into a RowWriter. Where strip() has runs, neighbouring rows overlap: write_run(first,
// count, run, writer) puts what run `run` of `count` rows reads, and nothing has to be copied for each of them. line(first) tells where the
// rows of a strip from `first` on lie and go.
struct Strip {
  int32_t runs = 0, run_length = 0, row_stride = 0, width = 0;  // elements; rows that are neighbours
  int32_t elements(int32_t rows) const { return (rows - 1) * row_stride + run_length; }
  int32_t steps() const { return (run_length + 3) / 4; }  // of a run
};
struct Line {
  const uint8_t* in;  // the rows, row_stride elements apart and just as they are read; null where they do not lie so
  uint8_t* out;
  const uint8_t* residual;
  int64_t out_step, residual_step;  // bytes from row to row
  int32_t number, number_step = 0;  // of the first row's scale, and from row to row

  MOTE_INLINE void advance(int32_t rows, int32_t row_stride) {
    if (in != nullptr) in += int64_t{rows} * row_stride;
    out += rows * out_step;
    number += rows * number_step;
    if (residual != nullptr) residual += rows * residual_step;
  }
};

// The weights of a panel with every run of them padded to whole fours.
inline void pad_runs(const int8_t* weights, const Strip& s, int8_t* to) {
  const int32_t fours = (s.runs * s.run_length + 3) / 4;
  for (int32_t run = 0; run < s.runs; ++run) {
    for (int32_t step = 0; step < s.steps(); ++step, to += kStepBytes) {
      const int32_t k = run * s.run_length + step * 4, shift = k % 4 * 8, left = s.run_length - step * 4;
      const int8_t* from = weights + k / 4 * kStepBytes;
      const int64_t next = k / 4 + 1 < fours ? kStepBytes : 0;
      const VI mask = set_ints(left >= 4 ? -1 : (1 << left * 8) - 1);
      for (int i = 0; i < kStepBytes; i += kIntLanes * 4) {
        const auto a = hn::BitCast(hn::RebindToUnsigned<I32>(), load_ints(reinterpret_cast<const int32_t*>(from + i)));
        VI v = hn::BitCast(I32(), hn::ShiftRightSame(a, shift));
        if (shift != 0) v = hn::Or(v, hn::ShiftLeftSame(load_ints(reinterpret_cast<const int32_t*>(from + next + i)), 32 - shift));
        hn::StoreU(hn::And(v, mask), I32(), reinterpret_cast<int32_t*>(to + i));
      }
    }
  }
}

template <class L>
class Multiplier {
 public:
  Multiplier(const Product& p, const L& left, const Stage& stage)
      : p_(p),
        left_(left),
        stage_(stage),
        padded_(fitting_padded(left.strip(), stage)),
        strip_(padded_ ? left.strip() : fitting(left.strip(), stage)),
        lines_(strip_.runs > 0 ? Strip{} : fitting_lines(left.strip(), stage)),
        tiles_(p.rows, strip_.runs > 0   ? strip_.width
                       : lines_.runs > 0 ? lines_.width
                                         : p.rows),
        zero_(stage.x_zero(0)),
        sums_needed_(stage.has_w_zero()),
        panel_stride_(int64_t{(p.k + 3) / 4} * kStepBytes) {}

  void run(const Threads* threads) {
    const int32_t panels = (p_.outputs + kPanel - 1) / kPanel;
    // The end of a sum takes as long as ten steps or so.
    const double work = static_cast<double>(p_.rows) * p_.outputs * (p_.k / 4 + 10);
    const int32_t row_bytes = strip_.runs > 0 ? strip_.row_stride : lines_.runs > 0 ? lines_.row_stride : p_.k;
    const Traffic bytes{int64_t{p_.rows} * row_bytes, int64_t{p_.outputs} * p_.k, int64_t{p_.rows} * p_.outputs};
    Split split(tiles_.count, tiles_.count, panels, kTileOutputs > kPanel ? kTileOutputs / kPanel : 1, work, threads, bytes);
    split.run([&](int32_t first_tile, int32_t tile_count, int32_t first_panel, int32_t panel_count) {
      part({first_tile, tile_count, first_panel, panel_count});
    });
  }

 private:
  // Sums of rows, and zero points of their own, need rows one by one.
  static Strip fitting(const Strip& s, const Stage& stage) {
    const bool fits = s.run_length % 4 == 0 && s.runs * round_up(s.elements(kTileRows)) <= kTileRows * kMaxDepth;
    return fits && !stage.has_w_zero() && !stage.x_zero_varies() ? s : Strip{};
  }
  // Runs that end within four elements: all rows of a line are read from the same elements, with weights that are padded.
  static bool fitting_padded(const Strip& s, const Stage& stage) {
    if (kPaddedBytes == 0 || s.runs < 2 || s.run_length % 4 == 0 || stage.has_w_zero() || stage.x_zero_varies()) return false;
    const int32_t panels = kTileOutputs > kPanel ? kTileOutputs / kPanel : 1;
    return s.steps() * 8 <= s.run_length * 3 && s.runs * s.steps() * kStepBytes * panels <= kPaddedBytes &&
           s.runs * round_up(s.elements(s.width)) <= kTileRows * kMaxDepth;
  }
  // Other runs that end so are copied row by row, but from lines that were brought together once for all rows.
  static Strip fitting_lines(const Strip& s, const Stage& stage) {
    const bool fits = kLineBytes > 0 && s.runs * round_up(s.elements(kTileRows)) <= kLineBytes && s.runs * s.run_length <= kMaxDepth;
    return fits && s.runs > 1 && !stage.has_w_zero() && !stage.x_zero_varies() ? s : Strip{};
  }
  // Values are multiplied without a change.
  bool as_they_are() const { return sizeof(Left) == 1 && LeftForm(p_.is_signed, zero_).same(); }
  static int32_t round_up(int32_t elements) { return (elements + kChunk - 1) / kChunk * kChunk; }

  struct Rows {
    alignas(64) Left packed[kTileRows * kMaxDepth + kChunk];
    alignas(64) uint8_t buffer[kBufferBytes];
    alignas(64) Left lines[kLineBytes + kChunk];
    alignas(64) int8_t weights[kPaddedBytes + kChunk];
    int32_t run_stride;  // of a padded line
    alignas(64) int32_t sums[kTileRows * kTileOutputs], more[kTileRows * kTileOutputs];
    uint8_t* out[kTileRows];
    const uint8_t* residual[kTileRows];
    uint8_t* shifted_out[kTileRows];
    const uint8_t* shifted_residual[kTileRows];
    RowTerms terms[kTileRows];
  };

  void part(const Part& part) const {
    Columns columns;
    Rows rows;
    // Blocks of outputs whose weights stay in the second-level cache while the rows go by; with few rows, in the first-level one.
    constexpr int64_t kWeightsInCache = 384 * 1024;
    int64_t block = kWeightsInCache / panel_stride_ * kPanel / kTileOutputs * kTileOutputs;
    if (block > Columns::kCount) block = Columns::kCount;
    const int64_t padded_stride = int64_t{strip_.runs} * strip_.steps() * kStepBytes;
    if (padded_ && block > kPaddedBytes / padded_stride * kPanel)
      block = kPaddedBytes / padded_stride * kPanel / kTileOutputs * kTileOutputs;
    if (block < kTileOutputs || part.tiles == 1) block = kTileOutputs < kPanel ? kPanel : kTileOutputs;
    const int32_t begin = part.first_panel * kPanel, panels_end = (part.first_panel + part.panels) * kPanel;
    const int32_t end = panels_end < p_.outputs ? panels_end : p_.outputs;
    for (int32_t first = begin; first < end; first += static_cast<int32_t>(block)) {
      const int32_t count = end - first < block ? end - first : static_cast<int32_t>(block);
      const int8_t* weights = p_.weights + first / kPanel * panel_stride_;
      describe(first, count, weights, &columns);
      const TileEnd tile_end(columns.base, columns.multiplier, columns.right, rows.shifted_out, stage_.bounds(), stage_.type(),
                             stage_.has_real());
      const TileEnd* used_end = ends_as_bytes(stage_, columns, left_.has_residual()) ? &tile_end : nullptr;
      for (int32_t i = 0; padded_ && i < (count + kPanel - 1) / kPanel; ++i)
        pad_runs(weights + i * panel_stride_, strip_, rows.weights + i * padded_stride);
      if (padded_) weights = rows.weights;
      const bool lines = strip_.runs > 0 || lines_.runs > 0;
      Line line{};
      int32_t line_begin = 0;
      const int32_t rows_end = tiles_.begin(part.first_tile + part.tiles);
      const Tile in_place = tile_in_place(weights, columns, count, used_end, &rows);
      for (int32_t tile = part.first_tile, row = tiles_.begin(tile), next; tile < part.first_tile + part.tiles; ++tile, row = next) {
        next = tiles_.begin(tile + 1);
        if (lines && (tile == part.first_tile || tiles_.begins(tile))) {
          line = left_.line(row);
          const int32_t width_end = (row / tiles_.width + 1) * tiles_.width, some = (width_end < rows_end ? width_end : rows_end) - row;
          line_begin = row;
          rows.run_stride = round_up(strip_.elements(some));
          if (padded_) pack_strip(strip_, row, some, rows.packed, &rows);
        }
        if (line.in != nullptr && in_place.end != nullptr) multiply_line(in_place, line, next - row, p_.first_output + first, &rows);
        else multiply_rows(row, next - row, row - line_begin, line, first, count, weights, columns, used_end, &rows);
        line.advance(next - row, strip_.row_stride);
      }
    }
  }

  // Rows that are read where they lie and end in registers need no more than this for each tile; `end` is null where there are none.
  Tile tile_in_place(const int8_t* weights, const Columns& columns, int32_t outputs, const TileEnd* tile_end, Rows* rows) const {
    Tile t{nullptr, strip_.row_stride, 1, 0, strip_.run_length / 4, weights, panel_stride_, rows->sums};
    t.careful = columns.least;
    t.outputs = outputs;
    if (kTileEnds && as_they_are() && strip_.runs == 1) t.end = tile_end;
    return t;
  }
  MOTE_INLINE void multiply_line(Tile t, const Line& line, int32_t count, int32_t output, Rows* rows) const {
    t.left = reinterpret_cast<const Left*>(line.in);
    uint8_t* out = line.out + output;
    for (int32_t i = 0; i < count; ++i, out += line.out_step) rows->shifted_out[i] = out;
    tile_of(count, t.outputs <= kPanel)(t);
  }

  void describe(int32_t first, int32_t count, const int8_t* weights, Columns* columns) const {
    stage_.describe(p_.first_output + first, count, p_.k, columns);
    columns->least = kLeastMatters && has_least(weights, (count + kPanel - 1) / kPanel * panel_stride_);
    const int32_t excess = zero_ - LeftForm(p_.is_signed, zero_).offset();
    if (!stage_.x_zero_varies() && excess == 0) return;
    sum_weights(weights, p_.k, count, columns->weight);
    if (!stage_.x_zero_varies()) stage_.add_zero_points(excess, p_.k, count, columns);
  }

  // Packs elements [k_begin, k_end) of the rows.
  template <bool Sum>
  void pack(int32_t first, int32_t count, int32_t k_begin, int32_t k_end, Rows* rows) const {
    const bool varies = stage_.x_zero_varies();
    left_.visit(first, count, k_begin, k_end, [&](int32_t i, uint8_t* out, const uint8_t* residual, int32_t number, const auto& write) {
      const int32_t zero = varies ? stage_.x_zero(number) : zero_;
      const LeftForm form(p_.is_signed, zero);
      rows->out[i] = out;
      rows->residual[i] = residual;
      RowWriter<Sum> writer(form, static_cast<uint8_t>(zero), k_end - k_begin, rows->packed + i * round_up(k_end - k_begin), rows->buffer);
      write(writer);
      const int32_t sum = writer.finish();
      RowTerms& t = rows->terms[i];
      const int32_t excess = varies ? wrapping_sub(zero, form.offset()) : 0;
      if (k_begin == 0) t = {wrapping_mul(p_.k, excess), wrapping_sub(0, excess), stage_.x_scale(number)};
      t.zero_factor = wrapping_sub(t.zero_factor, sum);
    });
  }
  // The runs of a strip, one behind the other.
  void pack_strip(const Strip& strip, int32_t first, int32_t count, Left* to, Rows* rows) const {
    const LeftForm form(p_.is_signed, zero_);
    const int32_t elements = strip.elements(count);
    for (int32_t run = 0; run < strip.runs; ++run) {
      RowWriter<false> writer(form, static_cast<uint8_t>(zero_), elements, to + run * round_up(elements), rows->buffer);
      left_.write_run(first, count, run, writer);
      writer.finish();
    }
  }
  // Rows from lines: copies may go beyond the end of a run, the next one is written over it.
  void pack_lines(int32_t first, int32_t count, Rows* rows) const {
    pack_strip(lines_, first, count, rows->lines, rows);
    const int32_t line = round_up(lines_.elements(count)), length = lines_.run_length;
    uint8_t* to = reinterpret_cast<uint8_t*>(rows->packed);
    const uint8_t* from = reinterpret_cast<const uint8_t*>(rows->lines);
    for (int32_t i = 0; i < count; ++i, to += round_up(p_.k), from += lines_.row_stride) {
      const uint8_t* in = from;
      uint8_t* out = to;
      for (int32_t run = 0; run < lines_.runs; ++run, in += line, out += length) {
        store_block(load_block(in), out);
        for (int32_t k = 16; k < length; k += 16) store_block(load_block(in + k), out + k);
      }
      // The last four may be incomplete.
      constexpr uint8_t kNone[4] = {};
      copy_as<uint32_t>(out, kNone);
    }
  }
  // Where the outputs of a strip go.
  void name_rows(const Line& line, int32_t count, Rows* rows) const {
    for (int32_t i = 0; i < count; ++i) {
      rows->out[i] = line.out + i * line.out_step;
      rows->residual[i] = line.residual + i * line.residual_step;
      rows->terms[i] = {0, 0, stage_.x_scale(line.number + i * line.number_step)};
    }
  }
  void pack(int32_t first, int32_t count, int32_t k_begin, int32_t k_end, Rows* rows) const {
    if (sums_needed_) pack<true>(first, count, k_begin, k_end, rows);
    else pack<false>(first, count, k_begin, k_end, rows);
  }

  // line: where the rows lie and go, if those of a strip; place: the first one's number in a padded line.
  void multiply_rows(int32_t first, int32_t count, int32_t place, const Line& line, int32_t first_output, int32_t outputs,
                     const int8_t* weights, const Columns& columns, const TileEnd* tile_end, Rows* rows) const {
    const bool strip = strip_.runs > 0, whole = strip || p_.k <= kMaxDepth;
    const Left* left = rows->packed;
    if (strip || lines_.runs > 0) {
      if (tile_end == nullptr) name_rows(line, count, rows);
      else
        for (int32_t i = 0; i < count; ++i) rows->shifted_out[i] = line.out + i * line.out_step + p_.first_output + first_output;
      if (padded_) left = rows->packed + place * strip_.row_stride;
      else if (as_they_are() && line.in != nullptr) left = reinterpret_cast<const Left*>(line.in);
      else if (strip) pack_strip(strip_, first, count, rows->packed, rows);
      else pack_lines(first, count, rows);
    } else if (whole) {
      pack(first, count, 0, p_.k, rows);
    }
    const int32_t width = static_cast<int32_t>(dtype_bytes(stage_.type()));
    Tile t{left, round_up(p_.k), 1, 0, (p_.k + 3) / 4, weights, panel_stride_, rows->sums};
    if (strip)
      t.row_stride = strip_.row_stride, t.runs = strip_.runs, t.run_stride = padded_ ? rows->run_stride : round_up(strip_.elements(count)),
      t.run_steps = strip_.steps();
    if (padded_) t.panel_stride = int64_t{strip_.runs} * strip_.steps() * kStepBytes;
    t.careful = columns.least;
    if (whole && tile_end != nullptr) {
      for (int32_t i = 0; !strip && lines_.runs == 0 && i < count; ++i)
        rows->shifted_out[i] = rows->out[i] + p_.first_output + first_output;
      t.outputs = outputs;
      t.end = tile_end;
      return tile_of(count, t.outputs <= kPanel)(t);
    }
    for (int32_t at = 0; at < outputs; at += kTileOutputs) {
      const int32_t some = outputs - at < kTileOutputs ? outputs - at : kTileOutputs;
      t.weights = weights + at / kPanel * t.panel_stride + at % kPanel * 4;
      t.outputs = some;
      const TileFn tile = tile_of(count, some <= kPanel);
      if (whole) tile(t);
      else sum_pieces(first, count, tile, t, rows);
      const int32_t shift = (p_.first_output + first_output + at) * width;
      for (int32_t i = 0; i < count; ++i) rows->shifted_out[i] = rows->out[i] + shift;
      for (int32_t i = 0; left_.has_residual() && i < count; ++i) rows->shifted_residual[i] = rows->residual[i] + shift;
      stage_.store(columns, {rows->sums, kTileOutputs, count, at, some, rows->shifted_out,
                             left_.has_residual() ? rows->shifted_residual : nullptr, rows->terms, sums_needed_ || stage_.x_zero_varies()});
    }
  }

  void sum_pieces(int32_t first, int32_t count, TileFn tile, Tile t, Rows* rows) const {
    for (int32_t k = 0; k < p_.k; k += kMaxDepth) {
      const int32_t end = p_.k - k < kMaxDepth ? p_.k : k + kMaxDepth;
      pack(first, count, k, end, rows);
      t.run_steps = (end - k + 3) / 4;
      t.row_stride = round_up(end - k);
      t.sums = k == 0 ? rows->sums : rows->more;
      tile(t);
      t.weights += t.run_steps * kStepBytes;
      for (int32_t i = 0; k > 0 && i < count * kTileOutputs; i += kIntLanes)
        hn::Store(hn::Add(hn::Load(I32(), rows->sums + i), hn::Load(I32(), rows->more + i)), I32(), rows->sums + i);
    }
  }

  const Product& p_;
  const L& left_;
  const Stage& stage_;
  bool padded_;
  Strip strip_, lines_;
  RowTiles tiles_;
  int32_t zero_;
  bool sums_needed_;
  int64_t panel_stride_;
};

}  // namespace mote::kernels::MOTE_ISA_NAME
