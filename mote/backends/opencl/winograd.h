#pragma once

// 3x3 convolutions in Winograd's form.

#include "mote/backends/opencl/device_types.h"
#include "mote/backends/opencl/plan.h"

namespace mote::backends::opencl {

// Whether the form has fewer costs than the plain product, which takes so many units of work. Of stride and dilation 1, one group.
bool winograd_pays(const WindowArgs& w, double product_units);

void add_winograd(const OpView& op, Recorder& r, const WindowArgs& w, const FinishArgs& f);

}  // namespace mote::backends::opencl
