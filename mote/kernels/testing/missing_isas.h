#pragma once

#include <cstring>
#include <string>

#include "mote/kernels/select.h"
#include "mote/platform/cpu.h"

namespace mote::kerneltest {

// The column `arch` of core/isa.def for the processor family that this is compiled for.
#if defined(__x86_64__) || defined(_M_X64)
constexpr char kArch[] = "x86";
#elif defined(__aarch64__) || defined(_M_ARM64)
constexpr char kArch[] = "arm64";
#elif defined(__arm__)
constexpr char kArch[] = "arm";
#elif defined(__wasm__)
constexpr char kArch[] = "wasm";
#else
constexpr char kArch[] = "none";
#endif

// The ISA variants of core/isa.def for this processor family whose kernels cannot be tried here, each with the reason: " amx (this machine
// lacks it)", " avx512 (not in this build)". Empty: all are tried. Tests print it, so that none is silently one of fewer variants.
inline std::string missing_isas() {
  struct Row {
    const char *name, *arch;
  };
  static constexpr Row kRows[] = {
#define MOTE_ISA(name, arch, extends, features, kernels, flags, gcc_flags, tested) {#name, #arch},
#include "mote/core/isa.def"
  };
  std::string missing;
  for (const Row& row : kRows) {
    if (std::strcmp(row.arch, kArch) != 0) continue;
    const char* reason = "not in this build";
    for (uint8_t i = 1; i < static_cast<uint8_t>(kernels::Isa::kCount); ++i) {
      const auto isa = static_cast<kernels::Isa>(i);
      if (std::strcmp(kernels::isa_name(isa), row.name) == 0) reason = kernels::can_run(isa, cpu_features()) ? "" : "this machine lacks it";
    }
    if (*reason != 0) missing += std::string(" ") + row.name + " (" + reason + ")";
  }
  return missing;
}

}  // namespace mote::kerneltest
