#include "mote/platform/cpu.h"
#include "mote/platform/cpu_hwcap.h"

namespace mote {
namespace {

constexpr Hwcap kHwcaps[] = {
#define MOTE_HWCAP_ARM64(feature, word, bit) {feature, word, bit},
#include "mote/core/isa.def"
};

}  // namespace

// NEON is part of the architecture.
uint32_t cpu_features() noexcept { return kCpuNeon | features_of(kHwcaps); }

}  // namespace mote
