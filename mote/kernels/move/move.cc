#include "mote/kernels/move/move.h"

#include <cstring>

namespace mote::kernels::MOTE_ISA_NAME {
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

// First and last W of the range, which may overlap.
template <class W>
MOTE_INLINE void copy_ends(uint8_t* to, const uint8_t* from, int64_t bytes) {
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

// Elements that are not neighbours on both sides.
template <class W>
void move_apart(const uint8_t* from, int64_t from_step, uint8_t* to, int64_t to_step, int32_t n) {
  if (from_step == 0 && to_step == sizeof(W)) return fill(to, get<W>(from), n);
  for (int32_t i = 0; i < n; ++i, from += from_step, to += to_step) set(to, get<W>(from));
}

template <class W>
void turn_some(const Turn& t, int32_t row, int32_t rows, int32_t column, int32_t columns) {
  for (int32_t c = column; c < column + columns; ++c) {
    const uint8_t* from = t.from + row * t.row_step + c * static_cast<int64_t>(sizeof(W));
    uint8_t* to = t.to + c * t.column_step + row * static_cast<int64_t>(sizeof(W));
    for (int32_t r = 0; r < rows; ++r, from += t.row_step, to += sizeof(W)) set(to, get<W>(from));
  }
}

MOTE_INLINE void turn_4x4(const Turn& t, int32_t row, int32_t column) {
  const hn::FixedTag<uint32_t, 4> d;
  const auto source = [&](int r) { return hn::LoadU(d, reinterpret_cast<const uint32_t*>(t.from + (row + r) * t.row_step) + column); };
  const auto put = [&](int c, hn::Vec<decltype(d)> v) {
    hn::StoreU(v, d, reinterpret_cast<uint32_t*>(t.to + (column + c) * t.column_step) + row);
  };
  const auto r0 = source(0), r1 = source(1), r2 = source(2), r3 = source(3);
  const auto a = hn::InterleaveLower(d, r0, r2), b = hn::InterleaveLower(d, r1, r3);
  const auto e = hn::InterleaveUpper(d, r0, r2), f = hn::InterleaveUpper(d, r1, r3);
  put(0, hn::InterleaveLower(d, a, b));
  put(1, hn::InterleaveUpper(d, a, b));
  put(2, hn::InterleaveLower(d, e, f));
  put(3, hn::InterleaveUpper(d, e, f));
}

// Three planes to pixels of three: what cameras' pictures need.
void join_three(const Turn& t, int32_t column, int32_t columns) {
  const hn::FixedTag<uint32_t, 4> d;
  const auto plane = [&](int r, int32_t c) { return reinterpret_cast<const uint32_t*>(t.from + r * t.row_step) + c; };
  int32_t c = column;
  for (; c + 4 <= column + columns; c += 4) {
    hn::StoreInterleaved3(hn::LoadU(d, plane(0, c)), hn::LoadU(d, plane(1, c)), hn::LoadU(d, plane(2, c)), d,
                          reinterpret_cast<uint32_t*>(t.to + c * t.column_step));
  }
  turn_some<uint32_t>(t, 0, 3, c, column + columns - c);
}

// Columns in blocks that are one cache line of the source.
template <class W>
void turn(const Turn& t, int32_t first, int32_t count) {
  constexpr int32_t kBlock = 64 / sizeof(W);
  if (sizeof(W) == 4 && t.rows == 3 && t.column_step == 12) return join_three(t, first, count);
  for (int32_t c = first; c < first + count; c += kBlock) {
    const int32_t columns = first + count - c < kBlock ? first + count - c : kBlock;
    if (sizeof(W) != 4) {
      turn_some<W>(t, 0, t.rows, c, columns);
      continue;
    }
    int32_t r = 0;
    for (; r + 4 <= t.rows; r += 4) {
      int32_t i = 0;
      for (; i + 4 <= columns; i += 4) turn_4x4(t, r, c + i);
      if (i < columns) turn_some<W>(t, r, 4, c + i, columns - i);
    }
    if (r < t.rows) turn_some<W>(t, r, t.rows - r, c, columns);
  }
}

// The loop whose elements are neighbours on a side (0: source, 1: destination); -1: there is none.
int neighbours(const Moves& m, int side, uint32_t width) {
  for (int i = m.depth - 1; i >= 0; --i)
    if (m.stride[i][side] == width) return i;
  return -1;
}

template <class W>
void move_turned(const Moves& m, int row_loop, int column_loop, const uint8_t* from, uint8_t* to, const Threads* threads) {
  Moves outer;
  for (int i = 0; i < m.depth; ++i)
    if (i != row_loop && i != column_loop) push(&outer, m.size[i], m.stride[i][0], m.stride[i][1]);
  // The columns are the innermost loop, so that threads may share them.
  const int32_t columns = m.size[column_loop];
  outer.size[outer.depth] = columns;
  outer.stride[outer.depth][0] = sizeof(W);
  outer.stride[outer.depth][1] = m.stride[column_loop][1];
  ++outer.depth;
  const int64_t column_step = m.stride[column_loop][1];
  const auto body = [&](const int64_t* offset, const int64_t*, int32_t n) {
    turn<W>({from + offset[0], to + offset[1], m.stride[row_loop][0], column_step, m.size[row_loop], n}, 0, n);
  };
  each_run(outer, threads, 2.0 * m.size[row_loop] * sizeof(W), body);
}

template <class W>
void move_elements(Moves m, const uint8_t* from, uint8_t* to, const Threads* threads) {
  constexpr int64_t kWidth = sizeof(W);
  if (m.depth == 0) {
    const int32_t widths[2] = {kWidth, kWidth};
    m.close(widths);
  }
  const int last = m.depth - 1;
  const bool runs = m.stride[last][0] == kWidth && m.stride[last][1] == kWidth;
  const int rows = neighbours(m, 1, kWidth), columns = neighbours(m, 0, kWidth);
  if (!runs && rows >= 0 && columns >= 0 && rows != columns && m.size[rows] > 1) {
    return move_turned<W>(m, rows, columns, from, to, threads);
  }
  each_run(m, threads, kWidth, [&](const int64_t* offset, const int64_t* step, int32_t n) {
    if (runs) copy_bytes(to + offset[1], from + offset[0], n * kWidth);
    else move_apart<W>(from + offset[0], step[0], to + offset[1], step[1], n);
  });
}

}  // namespace

void copy_bytes(uint8_t* to, const uint8_t* from, int64_t bytes) noexcept {
  struct Sixteen {
    uint64_t a, b;
  };
  if (bytes > 64) std::memmove(to, from, static_cast<size_t>(bytes));
  else if (bytes >= 32) {
    const auto a = get<Sixteen>(from), b = get<Sixteen>(from + 16), c = get<Sixteen>(from + bytes - 32),
               d = get<Sixteen>(from + bytes - 16);
    set(to, a), set(to + 16, b), set(to + bytes - 32, c), set(to + bytes - 16, d);
  } else if (bytes >= 16) copy_ends<Sixteen>(to, from, bytes);
  else if (bytes >= 8) copy_ends<uint64_t>(to, from, bytes);
  else if (bytes >= 4) copy_ends<uint32_t>(to, from, bytes);
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

void turn_32(const Turn& t) noexcept { turn<uint32_t>(t, 0, t.columns); }

void move(Moves moves, uint32_t width, const void* source, void* target, const Threads* threads) noexcept {
  const uint8_t* from = static_cast<const uint8_t*>(source);
  uint8_t* to = static_cast<uint8_t*>(target);
  switch (width) {
    case 1: return move_elements<uint8_t>(moves, from, to, threads);
    case 2: return move_elements<uint16_t>(moves, from, to, threads);
    case 4: return move_elements<uint32_t>(moves, from, to, threads);
    default: return move_elements<uint64_t>(moves, from, to, threads);
  }
}

}  // namespace mote::kernels::MOTE_ISA_NAME
