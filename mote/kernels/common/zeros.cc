#include "mote/kernels/common/zeros.h"

namespace mote::kernels {

alignas(64) const float kZeros[kZeroCount] = {};

}  // namespace mote::kernels
