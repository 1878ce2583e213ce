#pragma once

// Kernel size, strides, dilations and padding of a 1-d or 2-d convolution or pool. 1-d ones have height 1.

#include "mote/core/op.h"

namespace mote::kernels::MOTE_ISA_NAME {

struct WindowGeometry {
  int32_t kernel_h = 1, kernel_w, stride_h = 1, stride_w, dilation_h = 1, dilation_w, pad_h = 0, pad_w;

  // kernel: one size for each spatial dimension. A: attributes with the members of ops/common/window.h.
  template <class A>
  WindowGeometry(const A& a, const int32_t* kernel, int spatial) {
    const int w = spatial - 1;
    kernel_w = kernel[w];
    stride_w = a.strides[w];
    dilation_w = a.dilations[w];
    pad_w = a.pads_begin[w];
    if (spatial < 2) return;
    kernel_h = kernel[0];
    stride_h = a.strides[0];
    dilation_h = a.dilations[0];
    pad_h = a.pads_begin[0];
  }
};

}  // namespace mote::kernels::MOTE_ISA_NAME
