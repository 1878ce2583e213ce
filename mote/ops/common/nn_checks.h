#pragma once

#include <initializer_list>

#include "mote/ops/common/int_list.h"

namespace mote::ops {

// Checks that input i has element type `dtype`.
inline Status require_type(const InferContext& c, int i, DType dtype) noexcept {
  if (!c.has(i)) return c.reject(Why::kInputMissing, i, -1);
  if (c.in(i).dtype != dtype) return c.reject(Why::kDTypeMismatch, static_cast<uint8_t>(dtype), static_cast<uint8_t>(c.in(i).dtype));
  return Status::kOk;
}

// Checks that input i has exactly these sizes.
inline Status require_dims(const InferContext& c, int i, std::initializer_list<int64_t> dims) noexcept {
  if (c.in(i).rank != dims.size()) return c.reject(Why::kRank, static_cast<int64_t>(dims.size()), c.in(i).rank);
  int k = 0;
  for (int64_t d : dims) {
    if (c.in(i).dims[k] != d) return c.reject(Why::kDimMismatch, d, c.in(i).dims[k]);
    ++k;
  }
  return Status::kOk;
}

// Both of the above, for an input that must be there.
inline Status require_operand(const InferContext& c, int i, DType dtype, std::initializer_list<int64_t> dims) noexcept {
  MOTE_TRY(require_type(c, i, dtype));
  return require_dims(c, i, dims);
}

inline Status require_rank(const InferContext& c, int i, int rank) noexcept {
  return c.in(i).rank == rank ? Status(Status::kOk) : c.reject(Why::kRank, rank, c.in(i).rank);
}

// Refuses an attribute outside of [least, most].
inline Status require_range(const InferContext& c, int64_t value, int64_t least, int64_t most) noexcept {
  if (value < least || value > most) return c.reject(Why::kAttribute, value < least ? least : most, value);
  return Status::kOk;
}

// Refuses sizes whose product is more than a tensor may hold.
inline Status require_elements(const InferContext& c, DType dtype, std::initializer_list<int64_t> dims) noexcept {
  int64_t bytes = dtype_bytes(dtype);
  for (int64_t d : dims) {
    if (d > 0 && bytes > static_cast<int64_t>(kMaxTensorBytes) / d) return c.reject(Why::kShapeOverflow, kMaxTensorBytes, d);
    bytes *= d > 0 ? d : 1;
  }
  return Status::kOk;
}

// Working memory for `count` numbers of the type in which `dtype` is computed.
inline Scratch scratch_numbers(uint64_t count, DType dtype) noexcept {
  constexpr uint32_t kMost = 0xfffffff0u;  // more than any tensor: nothing has so much
  const int shift = dtype == DType::f64 ? 3 : 2;
  return {count > kMost >> shift ? kMost : static_cast<uint32_t>(count) << shift, 0};
}

// An integer of a dense s32 or s64 tensor.
inline int64_t index_at(const Tensor& t, int32_t i) noexcept {
  return load_int(t.dtype(), t.at<const uint8_t>(i * static_cast<int32_t>(dtype_bytes(t.dtype()))));
}

}  // namespace mote::ops
