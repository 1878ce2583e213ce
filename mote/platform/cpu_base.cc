// Processors whose base is all that is known.

#include "mote/platform/cpu.h"

namespace mote {

#if defined(__aarch64__)
uint32_t cpu_features() noexcept { return kCpuNeon; }
#elif defined(__wasm_simd128__)
uint32_t cpu_features() noexcept { return kCpuWasmSimd; }
#else
uint32_t cpu_features() noexcept { return 0; }
#endif

}  // namespace mote
