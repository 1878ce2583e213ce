#include "mote/platform/cpu.h"
#include "mote/platform/cpu_hwcap.h"

namespace mote {
namespace {

constexpr Hwcap kHwcaps[] = {
#define MOTE_HWCAP_ARM(feature, word, bit) {feature, word, bit},
#include "mote/core/isa.def"
};

}  // namespace

uint32_t cpu_features() noexcept { return features_of(kHwcaps); }

}  // namespace mote
