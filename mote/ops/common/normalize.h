#pragma once

// What normalisations share. A slice is the set of elements whose statistics are taken together: those that differ only in the
// `inner` dimensions of a mask.

#include <cmath>

#include "mote/ops/common/axes_walk.h"
#include "mote/ops/common/linear.h"
#include "mote/ops/common/long_sum.h"

namespace mote::ops {

// Operands under one rank: broadcast ones have strides of 0. Absent ones have no data.
struct NormOperands {
  struct Operand {
    TensorDesc desc{};
    void* data = nullptr;
    template <class T>
    T* at(int32_t bytes) const {
      return reinterpret_cast<T*>(static_cast<uint8_t*>(data) + bytes);
    }
  };
  Operand x, y, scale, bias;
  Operand mean, inverse;  // one value per slice, written when present

  NormOperands(const Tensor& in, const Tensor& out) : x{*in.desc, in.data}, y{*out.desc, out.data} {}
};

inline NormOperands::Operand optional_operand(const OpContext& c, int i, int rank) {
  return c.has_input(i) ? NormOperands::Operand{broadcast_to(*c.input(i).desc, rank), c.input(i).data} : NormOperands::Operand{};
}

// y = (x - mean) * factor(variance) * scale + bias, slice by slice. Without `centre`, mean is 0 and variance the mean square.
template <class T, class Factor>
void normalize_slices(const NormOperands& o, uint32_t inner, bool centre, const Factor& factor) noexcept {
  using C = Compute<T>;
  const auto value = [](const NormOperands::Operand& from, int32_t bytes) { return static_cast<C>(*from.at<const T>(bytes)); };
  AxesWalk<6> outer(o.x.desc, ~inner, {&o.x.desc, &o.y.desc, &o.scale.desc, &o.bias.desc, &o.mean.desc, &o.inverse.desc});
  while (outer.next()) {
    const int32_t* base = outer.offset;
    LongSum<C> sum, squares;
    int32_t count = 0;
    for (AxesWalk<1> w(o.x.desc, inner, {&o.x.desc}); w.next(); ++count) sum.add(centre ? value(o.x, base[0] + w.offset[0]) : C(0));
    const C divisor = static_cast<C>(count > 0 ? count : 1);
    const C mean = sum.value() / divisor;
    for (AxesWalk<1> w(o.x.desc, inner, {&o.x.desc}); w.next();) {
      const C v = value(o.x, base[0] + w.offset[0]) - mean;
      squares.add_square(v);
    }
    const C inverse = factor(squares.value() / divisor);
    if (o.mean.data != nullptr) *o.mean.at<C>(base[4]) = mean;
    if (o.inverse.data != nullptr) *o.inverse.at<C>(base[5]) = inverse;
    AxesWalk<4> w(o.x.desc, inner, {&o.x.desc, &o.y.desc, &o.scale.desc, &o.bias.desc});
    while (w.next()) {
      C v = (value(o.x, base[0] + w.offset[0]) - mean) * inverse;
      if (o.scale.data != nullptr) v *= value(o.scale, base[2] + w.offset[2]);
      if (o.bias.data != nullptr) v += value(o.bias, base[3] + w.offset[3]);
      *o.y.at<T>(base[1] + w.offset[1]) = static_cast<T>(v);
    }
  }
}

// 1 / sqrt(variance + epsilon), the usual factor.
struct InverseDeviation {
  float epsilon;
  template <class C>
  C operator()(C variance) const {
    return 1 / std::sqrt(variance + static_cast<C>(epsilon));
  }
};

// Dimensions from `axis` on. A scalar has one slice of one element.
constexpr uint32_t axes_from(int axis) { return ~0u << axis; }

inline Status check_epsilon(const InferContext& c, float epsilon) noexcept {
  return epsilon >= 0 && epsilon < 1e30f ? Status(Status::kOk) : c.reject(Why::kAttribute);
}

// Checks that optional input i has input 0's type and broadcasts to its shape.
inline Status check_factor(const InferContext& c, int i) noexcept {
  if (!c.has(i)) return Status::kOk;
  MOTE_TRY(require_same_type(c, i));
  MOTE_TRY(require_plain(c, i));
  const TensorDesc &x = c.in(0), &d = c.in(i);
  if (d.rank > x.rank) return c.reject(Why::kRank, x.rank, d.rank);
  for (int k = 0; k < d.rank; ++k) {
    const int32_t size = x.dims[x.rank - d.rank + k];
    if (d.dims[k] != 1 && d.dims[k] != size) return c.reject(Why::kBroadcast, size, d.dims[k]);
  }
  return Status::kOk;
}

// Dimension `axis` of a shape; a scalar has one element along its only axis.
inline int32_t size_along(const TensorDesc& d, int axis) { return d.rank > 0 ? d.dims[axis] : 1; }
inline int positive_axis(int32_t axis, int rank) { return axis < 0 ? axis + (rank > 0 ? rank : 1) : axis; }

}  // namespace mote::ops
