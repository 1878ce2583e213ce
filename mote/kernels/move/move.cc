// Strided copies, transposes and fills; see move.h.

#include "mote/kernels/move/move.h"

#include <cstring>

namespace mote::kernels::MOTE_ISA_NAME::move {
namespace {

template <class W>
MOTE_INLINE W get(const uint8_t* p) {
  W v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <class W>
MOTE_INLINE void set(uint8_t* p, W v) {
  std::memcpy(p, &v, sizeof v);
}

struct Block16 {
  uint64_t a, b;
};

// Copies sizeof(W) to 2 * sizeof(W) bytes with two loads and stores that overlap.
template <class W>
MOTE_INLINE void copy_with_overlap(uint8_t* to, const uint8_t* from, int64_t bytes) {
  const W a = get<W>(from), b = get<W>(from + bytes - sizeof(W));
  set(to, a);
  set(to + bytes - sizeof(W), b);
}

template <class W>
void fill(uint8_t* to, W value, int32_t n) {
  const hn::CappedTag<W, 64 / sizeof(W)> d;
  constexpr int32_t kWidth = static_cast<int32_t>(hn::MaxLanes(d));
  W* out = reinterpret_cast<W*>(to);
  int32_t i = 0;
  for (; i + kWidth <= n; i += kWidth) hn::StoreU(hn::Set(d, value), d, out + i);
  for (; i < n; ++i) out[i] = value;
}

// One run whose elements are not contiguous on both sides.
template <class W>
void copy_strided_run(const uint8_t* from, int64_t from_step, uint8_t* to, int64_t to_step, int32_t n) {
  if (from_step == 0 && to_step == sizeof(W)) return fill(to, get<W>(from), n);
  for (int32_t i = 0; i < n; ++i, from += from_step, to += to_step) set(to, get<W>(from));
}

template <class W>
void transpose_scalar(const Transpose& t, int32_t row, int32_t rows, int32_t column, int32_t columns) {
  for (int32_t c = column; c < column + columns; ++c) {
    const uint8_t* from = t.from + row * t.row_step + c * static_cast<int64_t>(sizeof(W));
    uint8_t* to = t.to + c * t.column_step + row * static_cast<int64_t>(sizeof(W));
    for (int32_t r = 0; r < rows; ++r, from += t.row_step, to += sizeof(W)) set(to, get<W>(from));
  }
}

template <class W>
inline constexpr int kSquare = 16 / sizeof(W);

// Transposes kSquare x kSquare elements in registers: each of log2(kSquare) rounds interleaves the first half of the rows with the second.
template <class W>
MOTE_INLINE void transpose_square(const Transpose& t, int32_t row, int32_t column) {
  constexpr int kN = kSquare<W>;
  const hn::FixedTag<W, kN> d;
  using V = hn::Vec<decltype(d)>;
  V now[kN], next[kN];
  unroll<kN>([&](auto r) MOTE_LAMBDA { now[r] = hn::LoadU(d, reinterpret_cast<const W*>(t.from + (row + r) * t.row_step) + column); });
  for (int width = kN; width > 1; width /= 2) {
    unroll<kN / 2>([&](auto r) MOTE_LAMBDA {
      next[2 * r] = hn::InterleaveLower(d, now[r], now[r + kN / 2]);
      next[2 * r + 1] = hn::InterleaveUpper(d, now[r], now[r + kN / 2]);
    });
    unroll<kN>([&](auto r) MOTE_LAMBDA { now[r] = next[r]; });
  }
  unroll<kN>([&](auto c) MOTE_LAMBDA { hn::StoreU(now[c], d, reinterpret_cast<W*>(t.to + (column + c) * t.column_step) + row); });
}

// Three rows to interleaved triples (planar to interleaved RGB).
template <class W>
void interleave_three_rows(const Transpose& t, int32_t column, int32_t columns) {
  const hn::FixedTag<W, kSquare<W>> d;
  const auto plane = [&](int r, int32_t c) { return reinterpret_cast<const W*>(t.from + r * t.row_step) + c; };
  int32_t c = column;
  for (; c + kSquare<W> <= column + columns; c += kSquare<W>) {
    hn::StoreInterleaved3(hn::LoadU(d, plane(0, c)), hn::LoadU(d, plane(1, c)), hn::LoadU(d, plane(2, c)), d,
                          reinterpret_cast<W*>(t.to + c * t.column_step));
  }
  transpose_scalar<W>(t, 0, 3, c, column + columns - c);
}

// Columns [first, first + count), in blocks of one cache line of the source.
template <class W>
void transpose_columns(const Transpose& t, int32_t first, int32_t count) {
  constexpr int32_t kBlock = 64 / sizeof(W), kN = kSquare<W>;
  if constexpr (sizeof(W) == 1 || sizeof(W) == 4)
    if (t.rows == 3 && t.column_step == 3 * sizeof(W)) return interleave_three_rows<W>(t, first, count);
  for (int32_t c = first; c < first + count; c += kBlock) {
    const int32_t columns = first + count - c < kBlock ? first + count - c : kBlock;
    int32_t r = 0;
    for (; r + kN <= t.rows; r += kN) {
      int32_t i = 0;
      for (; i + kN <= columns; i += kN) transpose_square<W>(t, r, c + i);
      if (i < columns) transpose_scalar<W>(t, r, kN, c + i, columns - i);
    }
    if (r < t.rows) transpose_scalar<W>(t, r, t.rows - r, c, columns);
  }
}

// The loop that is contiguous on a side (0: source, 1: destination); -1: none.
int contiguous_loop(const StridedCopy& m, int side, uint32_t width) {
  for (int i = m.depth - 1; i >= 0; --i)
    if (m.stride[i][side] == width) return i;
  return -1;
}

template <class W>
void copy_transposed(const StridedCopy& m, int row_loop, int column_loop, const uint8_t* from, uint8_t* to, const Threads* threads) {
  StridedCopy outer;
  for (int i = 0; i < m.depth; ++i)
    if (i != row_loop && i != column_loop) push(&outer, m.size[i], m.stride[i][0], m.stride[i][1]);
  // The columns are the innermost loop, which threads may split.
  const int32_t columns = m.size[column_loop];
  outer.size[outer.depth] = columns;
  outer.stride[outer.depth][0] = sizeof(W);
  outer.stride[outer.depth][1] = m.stride[column_loop][1];
  ++outer.depth;
  const int64_t column_step = m.stride[column_loop][1];
  const auto body = [&](const int64_t* offset, const int64_t*, int32_t n) {
    transpose_columns<W>({from + offset[0], to + offset[1], m.stride[row_loop][0], column_step, m.size[row_loop], n}, 0, n);
  };
  for_each_run(outer, threads, 2.0 * m.size[row_loop] * sizeof(W), body);
}

// Short contiguous runs: the two innermost loops are handled at once, without the loop nest's overhead for each run.
void copy_short_runs(const StridedCopy& m, const uint8_t* from, uint8_t* to, int64_t bytes, const Threads* threads) {
  StridedCopy outer = m;
  --outer.depth;
  const auto rows = [&](const int64_t* offset, const int64_t* step, int32_t n) {
    const uint8_t* source = from + offset[0];
    uint8_t* target = to + offset[1];
    const auto for_each = [&](const auto& copy) {
      for (int32_t i = 0; i < n; ++i, source += step[0], target += step[1]) copy(target, source);
    };
    if (bytes == 32) for_each([](uint8_t* t, const uint8_t* f) { copy_with_overlap<Block16>(t, f, 32); });
    else if (bytes >= 16)
      for_each([bytes](uint8_t* t, const uint8_t* f) {
        for (int64_t i = 0; i + 16 < bytes; i += 16) set(t + i, get<Block16>(f + i));
        set(t + bytes - 16, get<Block16>(f + bytes - 16));
      });
    else for_each([bytes](uint8_t* t, const uint8_t* f) { copy_bytes(t, f, bytes); });
  };
  for_each_run(outer, threads, static_cast<double>(bytes) + 20, rows, 1);
}

template <class W>
void copy_elements(StridedCopy m, const uint8_t* from, uint8_t* to, const Threads* threads) {
  constexpr int64_t kWidth = sizeof(W);
  if (m.depth == 0) {
    const int32_t widths[2] = {kWidth, kWidth};
    m.ensure_contiguous(widths);
  }
  const int last = m.depth - 1;
  const bool runs = m.stride[last][0] == kWidth && m.stride[last][1] == kWidth;
  const int rows = contiguous_loop(m, 1, kWidth), columns = contiguous_loop(m, 0, kWidth);
  if (!runs && rows >= 0 && columns >= 0 && rows != columns && m.size[rows] > 1) {
    return copy_transposed<W>(m, rows, columns, from, to, threads);
  }
  constexpr int64_t kShort = 256;
  if (runs && last > 0 && m.size[last] * kWidth <= kShort) return copy_short_runs(m, from, to, m.size[last] * kWidth, threads);
  for_each_run(m, threads, runs ? kWidth : 2 * kWidth + 8, [&](const int64_t* offset, const int64_t* step, int32_t n) {
    if (runs) copy_bytes(to + offset[1], from + offset[0], n * kWidth);
    else copy_strided_run<W>(from + offset[0], step[0], to + offset[1], step[1], n);
  });
}

}  // namespace

void copy_bytes(uint8_t* to, const uint8_t* from, int64_t bytes) noexcept {
  if (bytes > 64) std::memmove(to, from, static_cast<size_t>(bytes));
  else if (bytes >= 32) {
    const auto a = get<Block16>(from), b = get<Block16>(from + 16), c = get<Block16>(from + bytes - 32),
               d = get<Block16>(from + bytes - 16);
    set(to, a), set(to + 16, b), set(to + bytes - 32, c), set(to + bytes - 16, d);
  } else if (bytes >= 16) copy_with_overlap<Block16>(to, from, bytes);
  else if (bytes >= 8) copy_with_overlap<uint64_t>(to, from, bytes);
  else if (bytes >= 4) copy_with_overlap<uint32_t>(to, from, bytes);
  else
    for (int64_t i = 0; i < bytes; ++i) to[i] = from[i];
}

void fill_elements(uint8_t* to, const void* value, uint32_t width, int32_t n) noexcept {
  const uint8_t* v = static_cast<const uint8_t*>(value);
  switch (width) {
    case 1: return fill(to, get<uint8_t>(v), n);
    case 2: return fill(to, get<uint16_t>(v), n);
    case 4: return fill(to, get<uint32_t>(v), n);
    default: return fill(to, get<uint64_t>(v), n);
  }
}

void transpose_32(const Transpose& t) noexcept { transpose_columns<uint32_t>(t, 0, t.columns); }

void move(StridedCopy loops, uint32_t width, const void* source, void* target, const Threads* threads) noexcept {
  const uint8_t* from = static_cast<const uint8_t*>(source);
  uint8_t* to = static_cast<uint8_t*>(target);
  switch (width) {
    case 1: return copy_elements<uint8_t>(loops, from, to, threads);
    case 2: return copy_elements<uint16_t>(loops, from, to, threads);
    case 4: return copy_elements<uint32_t>(loops, from, to, threads);
    default: return copy_elements<uint64_t>(loops, from, to, threads);
  }
}

}  // namespace mote::kernels::MOTE_ISA_NAME::move
