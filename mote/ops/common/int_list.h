#pragma once

#include "mote/core/op.h"

namespace mote::ops {

// An s32 or s64 element.
inline int64_t load_int(DType t, const void* p) noexcept {
  return t == DType::s32 ? *static_cast<const int32_t*>(p) : *static_cast<const int64_t*>(p);
}

// An index into a dimension, negative ones counted from its end; -1 when it points outside.
inline int32_t index_in(int64_t index, int32_t size) noexcept {
  if (index < 0) index += size;
  return index >= 0 && index < size ? static_cast<int32_t>(index) : -1;
}

// Checks a vector (or scalar) of s32 or s64 with at most `most` elements.
inline Status require_ints(const InferContext& c, int i, int32_t most) noexcept {
  MOTE_TRY(c.require(i, kIndex));
  if (c.in(i).rank > 1) return c.reject(Why::kRank, 1, c.in(i).rank);
  const int32_t n = c.in(i).rank == 0 ? 1 : c.in(i).dims[0];
  return n <= most ? Status(Status::kOk) : c.reject(Why::kDimMismatch, most, n);
}

// Checks an input that holds exactly one element.
inline Status require_one(const InferContext& c, int i, DTypeMask types) noexcept {
  MOTE_TRY(c.require(i, types));
  for (int k = 0; k < c.in(i).rank; ++k)
    if (c.in(i).dims[k] != 1) return c.reject(Why::kDimMismatch, 1, c.in(i).dims[k]);
  return Status::kOk;
}

// Sizes, axes and counts that come from an input when it is there and from attributes otherwise.
class IntList {
 public:
  IntList(const OpContext& c, int input, const int32_t* attrs, int32_t attr_count) : attrs_(attrs), count_(attr_count) {
    if (!c.has_input(input)) return;
    from_ = &c.input(input);
    count_ = from_->rank() == 0 ? 1 : from_->dim(0);
  }
  int32_t count() const { return count_; }
  // False while the values of a run-time input cannot be read yet.
  bool known() const { return from_ == nullptr || from_->data != nullptr || count_ == 0; }
  // Clamped to 32 bits (and never the most negative value), so that sums and negations of a few cannot overflow.
  int64_t operator[](int32_t i) const {
    if (from_ == nullptr) return attrs_[i] < -kLimit ? -kLimit : attrs_[i];
    const int64_t v = load_int(from_->dtype(), from_->at<uint8_t>(i * static_cast<int32_t>(dtype_bytes(from_->dtype()))));
    return v > kLimit ? kLimit : v < -kLimit ? -kLimit : v;
  }

 private:
  static constexpr int64_t kLimit = 0x7fffffff;
  const Tensor* from_ = nullptr;
  const int32_t* attrs_;
  int32_t count_;
};

}  // namespace mote::ops
