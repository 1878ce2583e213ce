// A processor, or a hypervisor, that lacks one of the bits that kernels are compiled for must not be given them.

#include "mote/platform/cpu_x86.h"

#include <gtest/gtest.h>

#include <cstring>

#include "mote/platform/cpu.h"

namespace mote {
namespace {

CpuIdX86 all() {
  CpuIdX86 id;
  std::memset(id.words, 0xff, sizeof id.words);
  id.saved_states = ~0u;
  id.may_use_tiles = true;
  return id;
}

constexpr uint32_t kEverything = kCpuAvx2 | kCpuAvx512 | kCpuAvx512Vnni | kCpuAvx512Vbmi | kCpuAvxVnni | kCpuAmx;

TEST(CpuX86, EveryBitCounts) {
  EXPECT_EQ(features_of(all()), kEverything);
  for (const CpuBitX86& b : kCpuBitsX86) {
    CpuIdX86 id = all();
    id.words[b.leaf][b.word] &= ~(1u << b.bit);
    EXPECT_EQ(features_of(id) & b.feature, 0u) << b.name;
    EXPECT_NE(features_of(all()) & b.feature, 0u) << b.name;
  }
}

// Named one by one: these were compiled for and not asked for.
TEST(CpuX86, BitsThatHypervisorsMask) {
  const auto without = [](const char* name) {
    CpuIdX86 id = all();
    bool found = false;
    for (const CpuBitX86& b : kCpuBitsX86) {
      if (std::strcmp(b.name, name) != 0) continue;
      id.words[b.leaf][b.word] &= ~(1u << b.bit);
      found = true;
    }
    EXPECT_TRUE(found) << name;
    return features_of(id);
  };
  for (const char* name : {"LZCNT", "BMI", "BMI2", "AES", "PCLMUL", "POPCNT", "FMA", "F16C"})
    EXPECT_EQ(without(name) & ~static_cast<uint32_t>(kCpuAmx), 0u) << name;
  EXPECT_EQ(without("AVX512CD") & (kCpuAvx512 | kCpuAvx512Vnni | kCpuAvx512Vbmi), 0u);
  EXPECT_EQ(without("AVX512CD") & (kCpuAvx2 | kCpuAvxVnni), static_cast<uint32_t>(kCpuAvx2 | kCpuAvxVnni));
}

TEST(CpuX86, RegistersThatAreNotSaved) {
  CpuIdX86 id = all();
  id.saved_states = 0x60007;
  EXPECT_EQ(features_of(id), static_cast<uint32_t>(kCpuAvx2 | kCpuAvxVnni | kCpuAmx));
  id.saved_states = 0x3;
  EXPECT_EQ(features_of(id), 0u);
  id = all();
  id.may_use_tiles = false;
  EXPECT_EQ(features_of(id), kEverything & ~static_cast<uint32_t>(kCpuAmx));
  id = all();
  id.words[CpuIdX86::kOne][CpuIdX86::kC] &= ~(1u << 27);
  EXPECT_EQ(features_of(id), 0u);
}

// This machine: what its own compiler says it can run must be found.
TEST(CpuX86, ThisMachine) {
  EXPECT_EQ((cpu_features() & kCpuAvx2) != 0,
            __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"));
  EXPECT_EQ((cpu_features() & kCpuAvx512) != 0, (cpu_features() & kCpuAvx2) != 0 && __builtin_cpu_supports("avx512bw") &&
                                                    __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd"));
}

}  // namespace
}  // namespace mote
