#pragma once

// The loops around the tiles' micro-kernel: blocks of up to 64 rows by 64 outputs, whose sums go to the stage while they are in the cache.
// Rows of the left side are read where they lie, or from lines of a padded input (lines_amx.h), or are packed first.

#include "mote/kernels/int8/lines_amx.h"
#include "mote/kernels/int8/product.h"

namespace mote::kernels::MOTE_ISA_NAME {

inline constexpr int32_t kAmxBlock = 64;       // rows, and outputs
inline constexpr int32_t kAmxMaxDepth = 4096;  // k of rows that are packed

// Left sides have, besides visit():
//   direct(first, count, bytes, &at, &stride)  how many rows from `first` on (up to count) lie `stride` apart, `bytes` readable in each
//   lines(), write_line(first, line, columns, writer)
template <class L>
class AmxMultiplier {
 public:
  AmxMultiplier(const Product& p, const L& left, const Stage& stage)
      : p_(p),
        left_(left),
        stage_(stage),
        shape_(stage.has_w_zero() || stage.x_zero_varies() ? LineShape{} : left.lines()),
        zero_(stage.x_zero(0)),
        sums_needed_(stage.has_w_zero()),
        panel_stride_(int64_t{(p.k + 3) / 4} * kStepBytes),
        depth_((p.k + kAmxDepth - 1) / kAmxDepth * kAmxDepth) {}

  void run(const Threads* threads) {
    const int32_t panels = (p_.outputs + kPanel - 1) / kPanel;
    const double work = static_cast<double>(p_.rows) * p_.outputs * (p_.k / 24 + 4);
    const Traffic bytes{int64_t{p_.rows} * p_.k, panels * panel_stride_, int64_t{p_.rows} * p_.outputs};
    choose_units(useful_threads(threads, work));
    const int32_t units = p_.rows / (height_ * width_) * units_of_height();
    const Split split(units, units, panels, kAmxBlock / kPanel, work, threads, bytes);
    split.run([&](int32_t first, int32_t count, int32_t first_panel, int32_t panel_count) {
      const int32_t end = (first_panel + panel_count) * kPanel;
      part(first, count, first_panel * kPanel, end < p_.outputs ? end : p_.outputs);
    });
  }

 private:
  // Some outputs, and what they need.
  struct Outputs64s {
    int32_t first, count;  // within the product
    const int8_t* weights;
    Columns columns;
    alignas(64) int8_t last[Columns::kCount / kPanel * kAmxStepBytes];  // the last step of each panel, where it has fewer k
    const TileEnd* end;                                                 // null: sums go to the stage
  };
  struct Rows {
    alignas(64) uint8_t packed[kAmxRows * kAmxMaxDepth + kAmxDepth];
    alignas(64) int32_t sums[kAmxBlock * kAmxBlock];
    alignas(64) uint8_t unwanted[Columns::kCount + 64];  // outputs of windows between rows
    uint8_t *out[kAmxBlock], *shifted_out[kAmxBlock + 1];
    const uint8_t *residual[kAmxBlock], *shifted_residual[kAmxBlock];
    RowTerms terms[kAmxBlock];
    Lines lines;
  };

  // Rows are taken in units: rows of outputs whose lines fit, with threads few enough for each to have some; or 64 rows.
  void choose_units(uint32_t threads) {
    const bool in_place = shape_.run_length % kAmxDepth == 0;
    int32_t together = 0;
    if (shape_.runs > 0 && (in_place || p_.k <= kAmxMaxDepth)) {
      const int32_t parts = threads > 1 ? static_cast<int32_t>(threads) * 2 : 1, enough = (kAmxBlock + shape_.width - 1) / shape_.width;
      int32_t most = (shape_.height + parts - 1) / parts;
      if (most < enough) most = enough < shape_.height ? enough : shape_.height;
      together = shape_.fitting(most);
    }
    how_ = together == 0 ? How::kRows : in_place ? How::kLines : How::kWindows;
    if (together == 0) height_ = p_.rows, width_ = 1, together_ = kAmxBlock;
    else height_ = shape_.height, width_ = shape_.width, together_ = together;
  }
  int32_t units_of_height() const { return (height_ + together_ - 1) / together_; }

  void part(int32_t first_unit, int32_t units, int32_t begin, int32_t end) const {
    const AmxScope scope;
    Outputs64s o;
    Rows rows;
    for (o.first = begin; o.first < end; o.first += Columns::kCount) {
      o.count = end - o.first < Columns::kCount ? end - o.first : Columns::kCount;
      o.weights = p_.weights + o.first / kPanel * panel_stride_;
      describe(&o);
      const TileEnd bytes(o.columns.base, o.columns.multiplier, o.columns.right, nullptr, stage_.bounds(), stage_.type(),
                          stage_.has_real());
      o.end = ends_as_bytes(stage_, o.columns, left_.has_residual()) ? &bytes : nullptr;
      for (int32_t u = first_unit; u < first_unit + units; ++u) {
        const int32_t line = u % units_of_height() * together_, first = u / units_of_height() * height_ + line;
        const int32_t count = height_ - line < together_ ? height_ - line : together_;
        if (how_ == How::kRows) single_rows(first, count, o, &rows);
        else from_lines(first * width_, count, o, &rows);
      }
    }
  }

  void describe(Outputs64s* o) const {
    stage_.describe(p_.first_output + o->first, o->count, p_.k, &o->columns);
    if (stage_.x_zero_varies() || zero_ != 0) sum_weights(o->weights, p_.k, o->count, o->columns.weight);
    if (!stage_.x_zero_varies() && zero_ != 0) stage_.add_zero_points(zero_, p_.k, o->count, &o->columns);
    if (p_.k % kAmxDepth == 0) return;
    const int32_t whole = p_.k / kAmxDepth, rest = p_.k % kAmxDepth, steps = (rest + 3) / 4;
    // The left side may have anything behind its last k.
    const uint32_t mask = rest % 4 == 0 ? ~0u : (1u << rest % 4 * 8) - 1;
    for (int32_t panel = 0; panel * kPanel < o->count; ++panel) {
      const int8_t* from = o->weights + panel * panel_stride_ + whole * kAmxStepBytes;
      int8_t* to = o->last + panel * kAmxStepBytes;
      for (int32_t i = 0; i < kAmxDepth / 4; ++i) {
        const __m512i v = i < steps ? _mm512_loadu_si512(from + i * kStepBytes) : zero_register();
        _mm512_store_si512(to + i * kStepBytes, i == steps - 1 ? _mm512_and_si512(v, _mm512_set1_epi32(static_cast<int>(mask))) : v);
      }
    }
  }

  // Rows one by one: where they lie, or packed, as many as there is room for.
  void single_rows(int32_t first, int32_t count, const Outputs64s& o, Rows* rows) const {
    const int32_t room = kAmxMaxDepth / depth_ * kAmxRows;
    for (int32_t some; count > 0; first += some, count -= some) {
      const uint8_t* at = nullptr;
      int64_t stride = 0;
      some = sums_needed_ ? 0 : left_.direct(first, count, depth_, &at, &stride) / kAmxRows * kAmxRows;
      if (some == 0) {
        some = count < room ? count : room;
        at = rows->packed, stride = depth_;
        if (sums_needed_) name_rows<true, true>(first, some, rows);
        else name_rows<true, false>(first, some, rows);
      } else {
        name_rows<false, false>(first, some, rows);
      }
      multiply_rows(at, stride, some, o, rows);
    }
  }
  // `count` rows that are named, and all outputs.
  void multiply_rows(const uint8_t* left, int64_t stride, int32_t count, const Outputs64s& o, Rows* rows) const {
    AmxEnding ending;
    if (o.end != nullptr) aim(0, count, o, rows);
    for (int32_t out = 0; out < o.count; out += kAmxBlock) {
      multiply_block(left, stride, kNoOffsets, 1, count, out, o, rows, &ending);
      if (o.end == nullptr) finish(0, count, out, o, rows);
    }
    ending.finish_all();
  }
  // Bytes of row i of a block go to shifted_out[i].
  void aim(int32_t row, int32_t count, const Outputs64s& o, Rows* rows) const {
    for (int32_t i = 0; i < count; ++i) rows->shifted_out[row + i] = rows->out[i] + p_.first_output + o.first;
    rows->shifted_out[row + count] = rows->unwanted;
  }

  // `count` rows of outputs from lines.
  void from_lines(int32_t first, int32_t count, const Outputs64s& o, Rows* rows) const {
    Lines& lines = rows->lines;
    lines.fill(shape_, left_, LeftForm(p_.is_signed, zero_), static_cast<uint8_t>(zero_), first, count);
    if (how_ == How::kWindows) return from_windows(first, count * shape_.width, o, rows);
    const int32_t pitch = shape_.pitch(), windows = (count - 1) * pitch + shape_.width;
    for (int32_t out = 0; out < o.count; out += kAmxBlock) {
      for (int32_t at = 0; at < windows; at += kAmxBlock) {
        const int32_t some = windows - at < kAmxBlock ? windows - at : kAmxBlock;
        AmxEnding ending;
        if (o.end != nullptr) {
          for (int32_t i = 0; i <= some; ++i) rows->shifted_out[i] = rows->unwanted;
          each_row(at, some, [&](int32_t row, int32_t number, int32_t count_of_row) {
            name_rows<false, false>(first + number, count_of_row, rows);
            for (int32_t i = 0; i < count_of_row; ++i) rows->shifted_out[row + i] = rows->out[i] + p_.first_output + o.first;
          });
        }
        multiply_block(lines.window(shape_, at), shape_.window_stride(), lines.offsets, shape_.runs, some, out, o, rows, &ending);
        ending.finish_all();
        if (o.end != nullptr) continue;
        each_row(at, some, [&](int32_t row, int32_t number, int32_t count_of_row) {
          name_rows<false, false>(first + number, count_of_row, rows);
          finish(row, count_of_row, out, o, rows);
        });
      }
    }
  }
  // Of `some` windows from `at` on, those that are wanted: f(window, output, count) for each row of outputs.
  template <class F>
  MOTE_INLINE void each_row(int32_t at, int32_t some, const F& f) const {
    const int32_t pitch = shape_.pitch();
    for (int32_t y = at / pitch; y * pitch < at + some; ++y) {
      const int32_t x = at > y * pitch ? at - y * pitch : 0, room = at + some - y * pitch, end = room < shape_.width ? room : shape_.width;
      if (x < end) f(y * pitch + x - at, y * shape_.width + x, end - x);
    }
  }

  // Windows whose runs are too short for tiles are put together.
  void from_windows(int32_t first, int32_t count, const Outputs64s& o, Rows* rows) const {
    const int32_t fit = kAmxMaxDepth / depth_ * kAmxRows, room = fit < kAmxBlock ? fit : kAmxBlock;
    for (int32_t at = 0; at < count; at += room) {
      const int32_t some = count - at < room ? count - at : room;
      for (int32_t i = 0; i < some; ++i) {
        const uint8_t* from = rows->lines.window(shape_, (at + i) / shape_.width * shape_.pitch() + (at + i) % shape_.width);
        uint8_t* to = rows->packed + i * depth_;
        for (int32_t run = 0; run < shape_.runs; ++run, to += shape_.run_length)
          copy_on(to, from + rows->lines.offsets[run], shape_.run_length);
      }
      name_rows<false, false>(first + at, some, rows);
      multiply_rows(rows->packed, depth_, some, o, rows);
    }
  }
  // n bytes and up to 63 more, read and written.
  static MOTE_INLINE void copy_on(uint8_t* to, const uint8_t* from, int32_t n) {
    if (n <= 16) return _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
    if (n <= 32) return _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
    for (int32_t i = 0; i < n; i += 64) _mm512_storeu_si512(to + i, _mm512_loadu_si512(from + i));
  }

  // Where rows go, and what belongs to them; with Pack, they are packed too.
  template <bool Pack, bool Sum>
  void name_rows(int32_t first, int32_t count, Rows* rows) const {
    const bool varies = stage_.x_zero_varies();
    left_.visit(first, count, 0, p_.k, [&](int32_t i, uint8_t* out, const uint8_t* residual, int32_t number, const auto& write) {
      const int32_t zero = varies ? stage_.x_zero(number) : zero_;
      rows->out[i] = out;
      rows->residual[i] = residual;
      const int32_t excess = varies ? zero : 0;
      rows->terms[i] = {wrapping_mul(p_.k, excess), wrapping_sub(0, excess), stage_.x_scale(number)};
      if constexpr (Pack) {
        const LeftForm form(p_.is_signed, zero);
        RowWriter<Sum> writer(form, static_cast<uint8_t>(zero), p_.k, rows->packed + i * depth_, nullptr);
        write(writer);
        rows->terms[i].zero_factor = wrapping_sub(rows->terms[i].zero_factor, writer.finish());
      }
    });
  }

  // Sums of up to 64 rows and the 64 outputs from `out` on; where the outputs have an end, the bytes of all but the last of them.
  void multiply_block(const uint8_t* left, int64_t stride, const int64_t* offsets, int32_t runs, int32_t count, int32_t out,
                      const Outputs64s& o, Rows* rows, AmxEnding* ending) const {
    const int32_t panels = (o.count - out + kPanel - 1) / kPanel, end = panels < kAmxBlock / kPanel ? panels : kAmxBlock / kPanel;
    const bool last = p_.k % kAmxDepth != 0;
    AmxBlock b{};
    b.left_stride = stride;
    b.run_offsets = offsets;
    b.runs = runs;
    b.run_steps = p_.k / runs / kAmxDepth;
    b.sum_stride = o.end != nullptr ? AmxEnding::kStride : kAmxBlock;
    for (int32_t panel = 0; panel < end; panel += 2) {
      const int32_t number = out / kPanel + panel;
      for (int i = 0; i < 2; ++i) {
        b.weights[i] = o.weights + (number + i) * panel_stride_;
        b.last[i] = last ? o.last + (number + i) * kAmxStepBytes : nullptr;
      }
      for (int32_t row = 0; row < count; row += 2 * kAmxRows) {
        b.left[0] = left + row * stride;
        b.left[1] = b.left[0] + kAmxRows * stride;
        b.sums = o.end != nullptr ? other_sums(b.sums, rows) : rows->sums + row * kAmxBlock + panel * kPanel;
        amx_tile_of(p_.is_signed, row + kAmxRows < count, panel + 1 < end)(b, ending);
        const int32_t at = out + panel * kPanel, some = count - row < AmxEnding::kRows ? count - row : AmxEnding::kRows;
        if (o.end != nullptr) *ending = AmxEnding(o.end, b.sums, some, at, o.count - at, rows->shifted_out + row);
      }
    }
  }

  // Two places in turn: one is written while the other is read.
  static int32_t* other_sums(const int32_t* used, Rows* rows) {
    return rows->sums + (used == rows->sums ? AmxEnding::kRows * AmxEnding::kStride : 0);
  }

  void finish(int32_t sum_row, int32_t count, int32_t out, const Outputs64s& o, Rows* rows) const {
    const int32_t width = static_cast<int32_t>(dtype_bytes(stage_.type())), shift = (p_.first_output + o.first + out) * width;
    const bool residual = left_.has_residual();
    for (int32_t i = 0; i < count; ++i) rows->shifted_out[i] = rows->out[i] + shift;
    for (int32_t i = 0; residual && i < count; ++i) rows->shifted_residual[i] = rows->residual[i] + shift;
    stage_.store(o.columns,
                 {rows->sums + sum_row * kAmxBlock, kAmxBlock, count, out, o.count - out < kAmxBlock ? o.count - out : kAmxBlock,
                  rows->shifted_out, residual ? rows->shifted_residual : nullptr, rows->terms, sums_needed_ || stage_.x_zero_varies()});
  }

  enum class How { kRows, kLines, kWindows };
  static constexpr int64_t kNoOffsets[1] = {0};

  const Product& p_;
  const L& left_;
  const Stage& stage_;
  LineShape shape_;
  int32_t zero_;
  bool sums_needed_;
  int64_t panel_stride_;
  int32_t depth_;  // k in whole steps
  How how_ = How::kRows;
  int32_t height_ = 1, width_ = 1, together_ = 1;
};

// Instruction sets with tiles serve what is large enough for them; the set below serves the rest.
inline constexpr bool kTilesAlone = true;
inline bool pays(int64_t rows, int64_t outputs, int64_t k, const LineShape& lines) {
  const bool fits = k <= kAmxMaxDepth || (lines.run_length % kAmxDepth == 0 && lines.fitting(1) > 0);
  // Measured: with fewer k the set below is faster.
  return rows >= 8 && outputs >= 8 && k >= 64 && fits;
}

template <class L>
void multiply(const Product& p, const L& left, const Stage& stage, const Threads* threads) {
  if (p.rows > 0 && p.outputs > 0) AmxMultiplier<L>(p, left, stage).run(threads);
}

}  // namespace mote::kernels::MOTE_ISA_NAME
