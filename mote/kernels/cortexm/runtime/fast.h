#pragma once

// mote::cortexm::fast: the convolutions and matrix products of the instruction set that this is compiled for.

#if defined(__ARM_FEATURE_MVE)
#include "mote/kernels/cortexm/runtime/helium_conv.h"
namespace mote::cortexm {
namespace fast = helium;
}
#else
#include "mote/kernels/cortexm/runtime/matmul.h"
namespace mote::cortexm {
namespace fast = ::mote::cortexm;
}
#endif
