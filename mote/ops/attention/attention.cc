#include "mote/ops/attention/attention.h"

#include <cmath>
#include <limits>

namespace mote::ops::attention {
namespace {

// The keys that query `position` (its place among the keys) may attend to.
struct KeyRange {
  int64_t begin, end;
};
KeyRange keys_of(const Attrs& a, int64_t position, int64_t keys) {
  KeyRange r{0, keys};
  if (a.is_causal != 0 && position + 1 < r.end) r.end = position + 1;
  if (a.right_window >= 0 && position + a.right_window + 1 < r.end) r.end = position + a.right_window + 1;
  if (a.left_window >= 0 && position - a.left_window > r.begin) r.begin = position - a.left_window;
  return r;
}

// Reads a mask broadcast to (B, Hq, S, T) as a number to add; -inf leaves the key out.
template <class T>
class Mask {
 public:
  using C = Compute<T>;
  explicit Mask(const OpContext& c) : tensor_(c.has_input(3) ? &c.input(3) : nullptr) {}
  void row(int32_t b, int32_t h, int32_t s) {
    if (tensor_ == nullptr) return;
    const int32_t index[4] = {b, h, s, 0};
    const TensorDesc& d = *tensor_->desc;
    offset_ = 0;
    for (int i = 0; i + 1 < d.rank; ++i) offset_ += d.dims[i] == 1 ? 0 : index[4 - d.rank + i] * d.strides[i];
    step_ = d.rank > 0 && d.dims[d.rank - 1] != 1 ? 1 : 0;
  }
  C operator()(int32_t t) const {
    if (tensor_ == nullptr) return 0;
    if (tensor_->dtype() == DType::boolean)
      return tensor_->at<const uint8_t>(offset_)[t * step_] != 0 ? C(0) : -std::numeric_limits<C>::infinity();
    return tensor_->at<const T>(offset_)[t * step_];
  }

 private:
  const Tensor* tensor_;
  int32_t offset_ = 0, step_ = 0;
};

template <class T>
struct Attention {
  using C = Compute<T>;

  // One query: a single pass over the keys. The sums are rescaled whenever a larger score appears.
  static void query(const OpContext& c, const T* q, int32_t key_offset, int32_t value_offset, KeyRange range, const Mask<T>& mask,
                    T* y) noexcept {
    const Attrs& a = c.attrs<Attrs>();
    const Tensor &k = c.input(1), &v = c.input(2);
    const int32_t depth = k.dim(3), width = v.dim(3);
    const C scale = a.scale != 0 ? C(a.scale) : C(1) / std::sqrt(C(depth > 0 ? depth : 1)), cap = a.softcap;
    C* sums = reinterpret_cast<C*>(c.scratch.data);
    for (int32_t i = 0; i < width; ++i) sums[i] = 0;
    C peak = -std::numeric_limits<C>::infinity(), total = 0;
    for (int32_t t = static_cast<int32_t>(range.begin); t < range.end; ++t) {
      const C bias = mask(t);
      if (bias == -std::numeric_limits<C>::infinity()) continue;
      const T* key = k.at<const T>(key_offset + t * k.stride(2));
      C score = 0;
      for (int32_t i = 0; i < depth; ++i) score += static_cast<C>(q[i]) * static_cast<C>(key[i]);
      score *= scale;
      if (cap > 0) score = std::tanh(score / cap) * cap;
      score += bias;
      if (score == -std::numeric_limits<C>::infinity()) continue;
      if (score > peak) {
        const C shrink = std::exp(peak - score);
        total *= shrink;
        for (int32_t i = 0; i < width; ++i) sums[i] *= shrink;
        peak = score;
      }
      const C weight = std::exp(score - peak);
      const T* value = v.at<const T>(value_offset + t * v.stride(2));
      total += weight;
      for (int32_t i = 0; i < width; ++i) sums[i] += weight * static_cast<C>(value[i]);
    }
    for (int32_t i = 0; i < width; ++i) y[i] = static_cast<T>(total == 0 ? C(0) : sums[i] / total);
  }

  static Status run(const OpContext& c) noexcept {
    const Attrs& a = c.attrs<Attrs>();
    const Tensor &q = c.input(0), &k = c.input(1), &v = c.input(2), &y = c.output(0);
    const int32_t group = k.dim(1) > 0 ? q.dim(1) / k.dim(1) : 1;
    Mask<T> mask(c);
    for (int32_t b = 0; b < q.dim(0); ++b) {
      int64_t keys = k.dim(2), offset = a.cached != 0 ? keys - q.dim(2) : 0;
      if (c.has_input(4)) {
        const int64_t used = index_at(c.input(4), b);
        if (used < 0 || used > keys) return {Status::kInvalidArgument, Why::kIndexRange};
        keys = used;
        offset = used - q.dim(2);
      }
      for (int32_t h = 0; h < q.dim(1); ++h) {
        for (int32_t s = 0; s < q.dim(2); ++s) {
          mask.row(b, h, s);
          query(c, q.at<const T>(b * q.stride(0) + h * q.stride(1) + s * q.stride(2)), b * k.stride(0) + h / group * k.stride(1),
                b * v.stride(0) + h / group * v.stride(1), keys_of(a, s + offset, keys), mask,
                y.at<T>(b * y.stride(0) + h * y.stride(1) + s * y.stride(2)));
        }
      }
    }
    return Status::kOk;
  }
};

}  // namespace

Scratch scratch(const OpContext& c) noexcept { return scratch_numbers(static_cast<uint64_t>(c.input(2).dim(3)), c.input(0).dtype()); }
KernelFn select(const OpContext& c) noexcept { return pick<OpId::attention, Attention>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::attention
