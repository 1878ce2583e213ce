// Tensors of Mote and of PyTorch's C++ library, each seen as the other's, without a copy. For those who compile against PyTorch: nothing
// else of Mote includes this header.
//
//   uint32_t run(void*, const mote_op_call* call) {                     // an operator of one's own (custom_op.h)
//     at::Tensor y = mote::aten::view(call->outputs[0]);
//     at::softshrink_out(y, mote::aten::view(call->inputs[0]), 0.5);
//     return MOTE_OK;
//   }
//
// Ownership: a view borrows; what it shows must outlive it. Errors: a type that the other side does not have, or sizes beyond its own,
// throw c10::Error as PyTorch's functions do (TORCH_CHECK).
#ifndef MOTE_API_ATEN_HPP_
#define MOTE_API_ATEN_HPP_

#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>

#include <cstdint>
#include <limits>

#include "mote/api/custom_op.h"
#include "mote/api/program.h"
#include "mote/api/values.hpp"

namespace mote::aten {

inline at::ScalarType scalar_type(mote_dtype dtype) {
  switch (dtype) {
    case MOTE_F32: return at::kFloat;
    case MOTE_F64: return at::kDouble;
    case MOTE_F16: return at::kHalf;
    case MOTE_BF16: return at::kBFloat16;
    case MOTE_S8: return at::kChar;
    case MOTE_U8: return at::kByte;
    case MOTE_S16: return at::kShort;
    case MOTE_U16: return at::kUInt16;
    case MOTE_S32: return at::kInt;
    case MOTE_U32: return at::kUInt32;
    case MOTE_S64: return at::kLong;
    case MOTE_U64: return at::kUInt64;
    case MOTE_BOOL: return at::kBool;
    default: TORCH_CHECK(false, "PyTorch has no element type for Mote's ", static_cast<int>(dtype));
  }
}

inline mote_dtype element_type(at::ScalarType type) {
  for (int d = MOTE_F32; d <= MOTE_BOOL; ++d)
    if (scalar_type(static_cast<mote_dtype>(d)) == type) return static_cast<mote_dtype>(d);
  TORCH_CHECK(false, "Mote has no element type for PyTorch's ", type);
}

// A tensor of Mote: `strides` are bytes.
inline at::Tensor view(void* data, mote_dtype type, const int32_t* dims, const int32_t* strides, uint32_t rank) {
  const at::TensorOptions options = at::TensorOptions().dtype(scalar_type(type));
  const auto item = static_cast<int64_t>(options.dtype().itemsize());
  int64_t sizes[MOTE_MAX_RANK], steps[MOTE_MAX_RANK];
  TORCH_CHECK(rank <= MOTE_MAX_RANK, "a tensor of Mote has at most 8 dimensions, found ", rank);
  for (uint32_t i = 0; i < rank; ++i) {
    TORCH_CHECK(strides[i] % item == 0, "the strides are no multiples of an element");
    sizes[i] = dims[i];
    steps[i] = strides[i] / item;
  }
  return at::from_blob(data, at::IntArrayRef(sizes, rank), at::IntArrayRef(steps, rank), options);
}

// An operand of an operator of one's own. An absent one is an undefined tensor.
inline at::Tensor view(const mote_op_tensor& t) {
  if (t.dtype == 0) return {};
  return view(t.data, static_cast<mote_dtype>(t.dtype), t.dims, t.strides, t.rank);
}

// The other way round: a strided tensor in the CPU's memory as an operand.
class OpTensor {
 public:
  explicit OpTensor(const at::Tensor& tensor) {
    TORCH_CHECK(tensor.device().is_cpu() && tensor.layout() == at::kStrided, "expected a strided tensor in the CPU's memory");
    TORCH_CHECK(tensor.dim() <= MOTE_MAX_RANK, "a tensor of Mote has at most 8 dimensions, found ", tensor.dim());
    for (int64_t i = 0; i < tensor.dim(); ++i) {
      dims_[i] = narrow(tensor.size(i));
      strides_[i] = narrow(tensor.stride(i) * static_cast<int64_t>(tensor.element_size()));
    }
    tensor_ = {tensor.data_ptr(),
               dims_,
               strides_,
               static_cast<uint8_t>(element_type(tensor.scalar_type())),
               static_cast<uint8_t>(tensor.dim()),
               0};
  }
  OpTensor(const OpTensor&) = delete;
  OpTensor& operator=(const OpTensor&) = delete;
  const mote_op_tensor& get() const { return tensor_; }

 private:
  static int32_t narrow(int64_t v) {
    TORCH_CHECK(v >= 0 && v <= std::numeric_limits<int32_t>::max(), "a size or stride is beyond what a tensor of Mote has: ", v);
    return static_cast<int32_t>(v);
  }
  int32_t dims_[MOTE_MAX_RANK] = {}, strides_[MOTE_MAX_RANK] = {};
  mote_op_tensor tensor_{};
};

// Inputs and outputs of mote::Model (mote.hpp): dense tensors of the program's element type.
inline InputView input_view(const at::Tensor& tensor) {
  TORCH_CHECK(tensor.is_contiguous() && tensor.device().is_cpu(), "expected a dense tensor in the CPU's memory: call contiguous()");
  return {tensor.const_data_ptr(), tensor.nbytes(), std::vector<int32_t>(tensor.sizes().begin(), tensor.sizes().end())};
}
inline OutputView output_view(at::Tensor& tensor) {
  TORCH_CHECK(tensor.is_contiguous() && tensor.device().is_cpu(), "expected a dense tensor in the CPU's memory: call contiguous()");
  return {tensor.mutable_data_ptr(), tensor.nbytes(), {}};
}

}  // namespace mote::aten

#endif  // MOTE_API_ATEN_HPP_
