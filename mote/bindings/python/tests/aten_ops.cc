// Operators whose kernels are PyTorch's own, for test_aten.py: mote/api/aten.hpp against the libraries of the PyTorch wheel.
#include <ATen/ops/equal.h>
#include <ATen/ops/softshrink.h>

#include "mote/api/aten.hpp"

namespace {

uint32_t infer(void*, const mote_op_call* call, mote_op_type* out) {
  const mote_op_tensor& x = call->inputs[0];
  out->dtype = x.dtype;
  out->rank = x.rank;
  for (int i = 0; i < x.rank; ++i) out->dims[i] = x.dims[i];
  return 0;
}

// There and back: the same memory, sizes, strides and type.
bool same(const mote_op_tensor& a, const mote_op_tensor& b) {
  if (a.data != b.data || a.dtype != b.dtype || a.rank != b.rank) return false;
  for (int i = 0; i < a.rank; ++i)
    if (a.dims[i] != b.dims[i] || a.strides[i] != b.strides[i]) return false;
  return true;
}

uint32_t run(void*, const mote_op_call* call) {
  const at::Tensor x = mote::aten::view(call->inputs[0]);
  at::Tensor y = mote::aten::view(call->outputs[0]);
  if (!same(mote::aten::OpTensor(x).get(), call->inputs[0]) || !same(mote::aten::OpTensor(y).get(), call->outputs[0])) return 16;
  at::softshrink_out(y, x, 0.5);
  return 0;
}

constexpr mote_custom_op kOps[] = {{MOTE_CUSTOM_OP_ABI, 0, "motetest::aten_shrink", nullptr, 0, 1, 1, 1, 1, &infer, &run, nullptr}};

}  // namespace

extern "C" const mote_custom_op* mote_custom_ops(uint32_t* count) {
  *count = 1;
  return kOps;
}
