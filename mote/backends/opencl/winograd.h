#pragma once

// 3x3 convolutions in Winograd's form.

#include "mote/backends/opencl/device_types.h"
#include "mote/backends/opencl/plan.h"

namespace mote::backends::opencl {

// Whether Winograd's form costs less than the direct GEMM, which takes `product_units` of work. Stride and dilation 1, one group.
bool winograd_profitable(const WindowArgs& w, double product_units);

void add_winograd(const OpView& op, Recorder& r, const WindowArgs& w, const FinishArgs& f);

}  // namespace mote::backends::opencl
