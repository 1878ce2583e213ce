#include <algorithm>
#include <cstring>

#include "mote/compiler/frontends/torch/import.h"

namespace mote::frontends::torch {
namespace {

std::vector<int64_t> dense_strides(const std::vector<int64_t>& shape) {
  std::vector<int64_t> out(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) out[i - 1] = out[i] * std::max<int64_t>(shape[i], 1);
  return out;
}

bool is_dense(const TensorData& t) {
  const std::vector<int64_t> dense = dense_strides(t.shape);
  for (size_t i = 0; i < t.shape.size() && !t.strides.empty(); ++i)
    if (t.shape[i] > 1 && t.strides[i] != dense[i]) return false;
  return true;
}

// Copies the elements into row-major order, innermost axis last.
void gather_elements(const TensorData& t, size_t axis, const uint8_t* from, size_t width, uint8_t** to) {
  if (axis == t.shape.size()) {
    std::memcpy(*to, from, width);
    *to += width;
    return;
  }
  for (int64_t i = 0; i < t.shape[axis]; ++i)
    gather_elements(t, axis + 1, from + i * t.strides[axis] * static_cast<int64_t>(width), width, to);
}

}  // namespace

bool dense_bytes(const TensorData& t, ir::Dims* dims, ir::Bytes* out, std::string* error) {
  const uint64_t width = dtype_bytes(t.dtype);
  if (width == 0) {
    *error = "has an element type that Mote does not have";
    return false;
  }
  if (t.shape.size() > static_cast<size_t>(kMaxRank) || (!t.strides.empty() && t.strides.size() != t.shape.size())) {
    *error = "expected at most " + std::to_string(kMaxRank) + " dimensions and a stride for each";
    return false;
  }
  uint64_t count = 1;
  const bool empty = std::find(t.shape.begin(), t.shape.end(), 0) != t.shape.end();
  bool fine = t.offset >= 0 && static_cast<uint64_t>(t.offset) <= t.bytes.size / width;
  // The last element lies where every index is at its end; strides below zero do not come from torch.
  uint64_t last = fine ? static_cast<uint64_t>(t.offset) : 0;
  const std::vector<int64_t> strides = t.strides.empty() ? dense_strides(t.shape) : t.strides;
  for (size_t i = 0; i < t.shape.size() && fine; ++i) {
    fine = t.shape[i] >= 0 && t.shape[i] <= INT32_MAX && strides[i] >= 0 && strides[i] <= INT32_MAX;
    if (!fine) break;
    count *= static_cast<uint64_t>(t.shape[i]);
    if (!empty) last += static_cast<uint64_t>(t.shape[i] - 1) * static_cast<uint64_t>(strides[i]);
    fine = count <= kMaxTensorBytes / width && last <= t.bytes.size;
    dims->push_back(static_cast<int32_t>(t.shape[i]));
  }
  if (!fine || (count > 0 && last >= t.bytes.size / width)) {
    *error = "its elements do not lie inside its " + std::to_string(t.bytes.size) + " bytes";
    return false;
  }
  const size_t bytes = static_cast<size_t>(count * width);
  const uint8_t* begin = t.bytes.data + static_cast<size_t>(t.offset) * width;
  if (is_dense(t)) {
    *out = {t.bytes.owner, begin, bytes};
    if (!out->present()) *out = ir::Bytes::copy_of(begin, bytes);
    return true;
  }
  // Strides of 0 repeat elements: a small file must not ask for much memory.
  constexpr uint64_t kSmall = 1u << 24;
  if (bytes > kSmall && bytes / kMostRepeats > t.bytes.size) {
    *error = "repeats its " + std::to_string(t.bytes.size) + " bytes more than " + std::to_string(kMostRepeats) + " times";
    return false;
  }
  std::vector<uint8_t> made(bytes);
  uint8_t* to = made.data();
  if (count > 0) gather_elements(t, 0, begin, width, &to);
  *out = ir::Bytes::own(std::move(made));
  return true;
}

}  // namespace mote::frontends::torch
