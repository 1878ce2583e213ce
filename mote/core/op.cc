#include "mote/core/op.h"

namespace mote {

Status OpContext::set_output_dim(int i, int axis, int32_t size) const noexcept {
  const int32_t index = operands[input_count + i];
  const Tensor& t = tensors[index];
  if (size < 0 || (bounds != nullptr && size > bounds[index].dims[axis])) return {Status::kShape, Why::kBound};
  if (t.desc->dims[axis] == size) return Status::kOk;
  if ((t.desc->dynamic >> axis & 1) == 0) return {Status::kShape, Why::kBound};
  // Dynamic tensors have their descriptor in instance memory; the verifier sees to it.
  TensorDesc& actual = *const_cast<TensorDesc*>(t.desc);
  actual.dims[axis] = size;
  set_dense_strides(actual);
  return Status::kOk;
}

int32_t InferContext::value(int i, int32_t index) const noexcept {
  const Tensor& t = op_.input(i);
  if (t.dtype() == DType::s32) return t.as<const int32_t>()[index];
  const int64_t v = t.as<const int64_t>()[index];
  return v > 0x7fffffff ? 0x7fffffff : v < -0x7fffffff ? -0x7fffffff : static_cast<int32_t>(v);
}

void InferContext::same_as(int o, int i, DType dtype) const noexcept {
  const TensorDesc& d = in(i);
  TensorType& t = out(o);
  t.dtype = dtype;
  t.rank = d.rank;
  for (int k = 0; k < kMaxRank; ++k) t.dims[k] = d.dims[k];
}

Status InferContext::broadcast(int o, int first, int last, DType dtype) const noexcept {
  TensorType& t = out(o);
  t = TensorType{};
  t.dtype = dtype;
  for (int i = first; i <= last; ++i)
    if (has(i) && in(i).rank > t.rank) t.rank = in(i).rank;
  for (int k = 0; k < t.rank; ++k) t.dims[k] = 1;
  for (int i = first; i <= last; ++i) {
    if (!has(i)) continue;
    const TensorDesc& d = in(i);
    const int lead = t.rank - d.rank;
    for (int k = 0; k < d.rank; ++k) {
      int32_t& size = t.dims[lead + k];
      if (d.dims[k] == size || d.dims[k] == 1) continue;
      if (size != 1) return reject(Why::kBroadcast, size, d.dims[k]);
      size = d.dims[k];
    }
  }
  return Status::kOk;
}

Status InferContext::set(int o, DType dtype, int rank, const int32_t* dims) const noexcept {
  if (rank > kMaxRank) return reject(Why::kRank, kMaxRank, rank);
  TensorType& t = out(o);
  t = TensorType{};
  t.dtype = dtype;
  t.rank = static_cast<uint8_t>(rank);
  for (int k = 0; k < rank; ++k) {
    if (dims[k] < 0 && dims[k] != kDimUnknown) return reject(Why::kNegativeDim, 0, dims[k]);
    t.dims[k] = dims[k];
  }
  return Status::kOk;
}

Status InferContext::require(int i, DTypeMask types) const noexcept {
  if (!has(i)) return reject(Why::kInputMissing, i, -1);
  if ((mask_of(in(i).dtype) & types) == 0) return reject(Why::kDType, types, static_cast<uint8_t>(in(i).dtype));
  return Status::kOk;
}

Status InferContext::axis(int32_t value, int rank, int* out_axis) const noexcept {
  if (value < -rank || value >= rank) return reject(Why::kAxis, rank, value);
  *out_axis = value < 0 ? value + rank : value;
  return Status::kOk;
}

Status InferContext::reject(Why why, int64_t expected, int64_t found) const noexcept {
  const Status status{Status::kShape, why};
  if (diagnostic_ != nullptr) {
    diagnostic_->status = status;
    diagnostic_->expected = static_cast<int32_t>(expected);
    diagnostic_->found = static_cast<int32_t>(found);
  }
  return status;
}

}  // namespace mote
