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

struct Sixteen {
  uint64_t a, b;
};

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

template <class W>
inline constexpr int kSquare = 16 / sizeof(W);

// kSquare rows and columns: each round interleaves the first half of the rows with the second.
template <class W>
MOTE_INLINE void turn_square(const Turn& t, int32_t row, int32_t column) {
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

// Three planes to pixels of three: what cameras' pictures need.
template <class W>
void join_three(const Turn& t, int32_t column, int32_t columns) {
  const hn::FixedTag<W, kSquare<W>> d;
  const auto plane = [&](int r, int32_t c) { return reinterpret_cast<const W*>(t.from + r * t.row_step) + c; };
  int32_t c = column;
  for (; c + kSquare<W> <= column + columns; c += kSquare<W>) {
    hn::StoreInterleaved3(hn::LoadU(d, plane(0, c)), hn::LoadU(d, plane(1, c)), hn::LoadU(d, plane(2, c)), d,
                          reinterpret_cast<W*>(t.to + c * t.column_step));
  }
  turn_some<W>(t, 0, 3, c, column + columns - c);
}

// Columns in blocks that are one cache line of the source.
template <class W>
void turn(const Turn& t, int32_t first, int32_t count) {
  constexpr int32_t kBlock = 64 / sizeof(W), kN = kSquare<W>;
  if constexpr (sizeof(W) == 1 || sizeof(W) == 4)
    if (t.rows == 3 && t.column_step == 3 * sizeof(W)) return join_three<W>(t, first, count);
  for (int32_t c = first; c < first + count; c += kBlock) {
    const int32_t columns = first + count - c < kBlock ? first + count - c : kBlock;
    int32_t r = 0;
    for (; r + kN <= t.rows; r += kN) {
      int32_t i = 0;
      for (; i + kN <= columns; i += kN) turn_square<W>(t, r, c + i);
      if (i < columns) turn_some<W>(t, r, kN, c + i, columns - i);
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

// Runs of neighbours that are short: two loops at once, so that nothing but the copies is done for each of them.
void move_short_runs(const Moves& m, const uint8_t* from, uint8_t* to, int64_t bytes, const Threads* threads) {
  Moves outer = m;
  --outer.depth;
  const auto rows = [&](const int64_t* offset, const int64_t* step, int32_t n) {
    const uint8_t* source = from + offset[0];
    uint8_t* target = to + offset[1];
    const auto each = [&](const auto& copy) {
      for (int32_t i = 0; i < n; ++i, source += step[0], target += step[1]) copy(target, source);
    };
    if (bytes == 32) each([](uint8_t* t, const uint8_t* f) { copy_ends<Sixteen>(t, f, 32); });
    else if (bytes >= 16)
      each([bytes](uint8_t* t, const uint8_t* f) {
        for (int64_t i = 0; i + 16 < bytes; i += 16) set(t + i, get<Sixteen>(f + i));
        set(t + bytes - 16, get<Sixteen>(f + bytes - 16));
      });
    else each([bytes](uint8_t* t, const uint8_t* f) { copy_bytes(t, f, bytes); });
  };
  each_run(outer, threads, static_cast<double>(bytes) + 20, rows, 1);
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
  constexpr int64_t kShort = 256;
  if (runs && last > 0 && m.size[last] * kWidth <= kShort) return move_short_runs(m, from, to, m.size[last] * kWidth, threads);
  each_run(m, threads, runs ? kWidth : 2 * kWidth + 8, [&](const int64_t* offset, const int64_t* step, int32_t n) {
    if (runs) copy_bytes(to + offset[1], from + offset[0], n * kWidth);
    else move_apart<W>(from + offset[0], step[0], to + offset[1], step[1], n);
  });
}

}  // namespace

void copy_bytes(uint8_t* to, const uint8_t* from, int64_t bytes) noexcept {
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
