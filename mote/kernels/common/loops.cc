#include "mote/kernels/common/loops.h"

namespace mote::kernels::MOTE_ISA_NAME {

#define MOTE_LOOPS(n)                                                                                     \
  template void for_run_range<n>(const StridedLoopNest<n>&, int64_t, int64_t, int32_t, int32_t, RunBody); \
  template void for_each_run<n>(const StridedLoopNest<n>&, const Threads*, double, RunBody, int32_t);     \
  template void for_each_run<n>(const TensorDesc&, const TensorDesc* const*, Rows, const Threads*, double, RunBody);
MOTE_LOOPS(2)
MOTE_LOOPS(3)
MOTE_LOOPS(4)
#undef MOTE_LOOPS

}  // namespace mote::kernels::MOTE_ISA_NAME
