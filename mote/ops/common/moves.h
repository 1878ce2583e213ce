#pragma once

// What operators that move elements share. Moves look at the width of an element, never at its type, so that a kernel is built
// four times and not thirteen.

#include <cstring>

#include "mote/ops/common/select.h"

namespace mote::ops {

// Visits every element of a grid in row-major order and gives, for each of N operands, the byte offset of the element under the
// operand's own strides, which may be zero or negative. Grids may have more dimensions than tensors (blocks, repeats).
// `dims` and `strides` are borrowed.
template <int N>
class GridWalk {
 public:
  struct Strides {
    const int32_t* of[N];
  };

  GridWalk(int rank, const int32_t* dims, const Strides& strides) : dims_(dims), strides_(strides), rank_(rank) {
    for (int i = 0; i < rank; ++i) empty_ = empty_ || dims[i] <= 0;
  }

  // Moves to the first, then to each following element. False when there is none left. Out of line: it is large, and shared by all.
  [[gnu::noinline]] bool next() {
    if (fresh_) {
      fresh_ = false;
      return !empty_;
    }
    for (int i = rank_ - 1; i >= 0; --i) {
      if (index[i] + 1 < dims_[i]) {
        ++index[i];
        for (int k = 0; k < N; ++k) offset[k] += strides_.of[k][i];
        return true;
      }
      for (int k = 0; k < N; ++k) offset[k] -= index[i] * strides_.of[k][i];
      index[i] = 0;
    }
    return false;
  }

  int32_t offset[N] = {};  // bytes
  int32_t index[2 * kMaxRank] = {};

 private:
  const int32_t* dims_;
  Strides strides_;
  int rank_;
  bool fresh_ = true;
  bool empty_ = false;
};

// One element of width W, whatever its type; from and to may be the same.
template <class W>
void put(W* to, const W* from) noexcept {
  std::memmove(to, from, sizeof(W));
}

// Copies a grid of elements of width W.
template <class W>
void copy_grid(int rank, const int32_t* dims, const void* from, const int32_t* from_strides, void* to, const int32_t* to_strides) noexcept {
  // The innermost dimension is walked here, the others by the grid.
  const int outer = rank > 0 ? rank - 1 : 0;
  const int32_t length = rank > 0 ? dims[outer] : 1, width = sizeof(W);
  const int32_t from_step = rank > 0 ? from_strides[outer] : width, to_step = rank > 0 ? to_strides[outer] : width;
  GridWalk<2> w(outer, dims, {{from_strides, to_strides}});
  while (length > 0 && w.next()) {
    const auto* x = static_cast<const uint8_t*>(from) + w.offset[0];
    auto* y = static_cast<uint8_t*>(to) + w.offset[1];
    if (from_step == width && to_step == width) {
      std::memmove(y, x, static_cast<size_t>(length) * sizeof(W));
      continue;
    }
    for (ptrdiff_t i = 0; i < length; ++i) put(reinterpret_cast<W*>(y + i * to_step), reinterpret_cast<const W*>(x + i * from_step));
  }
}

// The same for a width known only when running.
inline void copy_grid(uint32_t width, int rank, const int32_t* dims, const void* from, const int32_t* from_strides, void* to,
                      const int32_t* to_strides) noexcept {
  switch (width) {
    case 1: return copy_grid<uint8_t>(rank, dims, from, from_strides, to, to_strides);
    case 2: return copy_grid<uint16_t>(rank, dims, from, from_strides, to, to_strides);
    case 4: return copy_grid<uint32_t>(rank, dims, from, from_strides, to, to_strides);
    default: return copy_grid<uint64_t>(rank, dims, from, from_strides, to, to_strides);
  }
}

// Byte offset of the element with this row-major number.
inline int32_t offset_of(const TensorDesc& d, int32_t flat) noexcept {
  int32_t bytes = 0;
  for (int i = d.rank - 1; i >= 0; --i) {
    bytes += flat % d.dims[i] * d.strides[i];
    flat /= d.dims[i];
  }
  return bytes;
}

namespace detail {
constexpr DTypeMask width_mask(uint32_t bytes) {
  DTypeMask m = 0;
  for (uint8_t v = 1; v < kDTypeCount; ++v)
    if (dtype_bytes(static_cast<DType>(v)) == bytes) m |= mask_of(static_cast<DType>(v));
  return m & kAny;
}
template <OpId Op, template <class> class Kernel, class W>
void pick_one_width(DType t, KernelFn& fn) noexcept {
  if constexpr ((selected_types(Op) & width_mask(sizeof(W))) != 0) {
    if (dtype_bytes(t) == sizeof(W)) fn = &Kernel<W>::run;
  }
}
}  // namespace detail

// The function Kernel<W>::run for the unsigned integer W that is as wide as `t`. A width is built when a selected type has it.
template <OpId Op, template <class> class Kernel>
KernelFn pick_width(DType t) noexcept {
  KernelFn fn = nullptr;
  detail::pick_one_width<Op, Kernel, uint8_t>(t, fn);
  detail::pick_one_width<Op, Kernel, uint16_t>(t, fn);
  detail::pick_one_width<Op, Kernel, uint32_t>(t, fn);
  detail::pick_one_width<Op, Kernel, uint64_t>(t, fn);
  return fn;
}

// Sets output o's shape from 64-bit sizes; refuses negative ones (kDimUnknown is fine) and more bytes than a tensor may have.
inline Status set_shape(const InferContext& c, int o, DType dtype, int rank, const int64_t* dims) noexcept {
  if (rank < 0 || rank > kMaxRank) return c.reject(Why::kRank, kMaxRank, rank);
  int32_t sizes[kMaxRank] = {};
  int64_t bytes = dtype_bytes(dtype);
  for (int i = 0; i < rank; ++i) {
    if (dims[i] < 0 && dims[i] != kDimUnknown) return c.reject(Why::kNegativeDim, 0, dims[i]);
    if (dims[i] > 0) bytes = dims[i] > kMaxTensorBytes ? dims[i] : bytes * dims[i];
    if (bytes > kMaxTensorBytes) return c.reject(Why::kShapeOverflow, kMaxTensorBytes, bytes);
    sizes[i] = static_cast<int32_t>(dims[i]);
  }
  return c.set(o, dtype, rank, sizes);
}

// True when an attribute that names an element type names one of these.
constexpr bool names_type(int32_t value, DTypeMask types) { return value > 0 && value < kDTypeCount && (types >> value & 1) != 0; }

// The longest list that operators sort: their scratch memory, some words per element, must be countable in 32 bits.
constexpr int32_t kMaxSorted = 1 << 28;

// An axis that infer() has accepted, to 0..rank-1.
constexpr int checked_axis(int32_t axis, int rank) { return axis < 0 ? axis + rank : axis; }

// infer() of operators with two inputs that must have one type.
inline Status require_same_type(const InferContext& c, int i, int as) noexcept {
  if (!c.has(i)) return c.reject(Why::kInputMissing, i, -1);
  if (c.in(i).dtype == c.in(as).dtype) return Status::kOk;
  return c.reject(Why::kDTypeMismatch, static_cast<uint8_t>(c.in(as).dtype), static_cast<uint8_t>(c.in(i).dtype));
}

}  // namespace mote::ops
