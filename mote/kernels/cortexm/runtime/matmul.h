#pragma once

// s8 matrix products.

#include "mote/kernels/cortexm/runtime/depthwise.h"
#include "mote/ops/q_matmul/q_matmul.h"

namespace mote::cortexm {

constexpr int32_t kInputBlock = 1024;  // inputs (K) of a block

// Blocked over output channels and K, so that buffers fit the stack.
inline Status matmul(const OpContext& c) noexcept {
  const auto& a = c.attrs<ops::q_matmul::Attrs>();
  const Tensor &x = c.input(0), &w = c.input(1);
  const int32_t inputs = w.dim(1), outputs = w.dim(0), rows = static_cast<int32_t>(x.count()) / inputs;
  const Epilogue epilogue(c, a);
  const bool real = c.input(ops::kEpilogueMultiplier).dtype() == DType::f64;
  uint32_t pairs[kInputBlock / 2];
  for (int32_t m = 0; m < rows; ++m) {
    for (int32_t first = 0; first < outputs; first += kBlock) {
      const int32_t end = outputs - first < kBlock ? outputs : first + kBlock;
      int32_t sums[kBlock + 1] = {};
      for (int32_t k = 0; k < inputs; k += kInputBlock) {
        const int32_t count = inputs - k < kInputBlock ? inputs - k : kInputBlock;
        spread<1>(x.as<const int8_t>() + m * inputs + k, count, a.input_zero, pairs);
        for (int32_t o = first; o < end; o += 2) {
          const int8_t *w0 = w.as<const int8_t>() + o * inputs + k, *w1 = o + 1 < end ? w0 + inputs : w0;
          dot_2<1>(pairs, w0, w1, count, sums + (o - first));
        }
      }
      for (int32_t o = first; o < end; ++o) {
        const int32_t sum = ops::wrap_to_s32(int64_t{sums[o - first]} + epilogue.bias(o));
        c.output(0).as<int8_t>()[m * outputs + o] = static_cast<int8_t>(real ? epilogue.exact_real(sum, o) : epilogue.exact(sum, o));
      }
    }
  }
  return Status::kOk;
}

}  // namespace mote::cortexm
