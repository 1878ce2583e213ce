#include "mote/platform/cpu_x86.h"

#include <cpuid.h>

#include <atomic>

#include "mote/platform/cpu.h"
#include "mote/platform/cpu_tiles.h"

namespace mote {
namespace {

constexpr int kOsXsave = 27;  // leaf 1, register C: XGETBV is there

void ask(uint32_t leaf, uint32_t sub, uint32_t* words) {
  if (__get_cpuid_count(leaf, sub, words, words + 1, words + 2, words + 3) == 0) words[0] = words[1] = words[2] = words[3] = 0;
}

bool bit(uint32_t word, int i) { return (word >> i & 1) != 0; }

uint32_t saved_states() {
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

}  // namespace

uint32_t features_of(const CpuIdX86& id) noexcept {
  uint32_t missing = 0, known = 0;
  for (const CpuBitX86& b : kCpuBitsX86) {
    known |= b.feature;
    if (!bit(id.words[b.leaf][b.word], b.bit)) missing |= b.feature;
  }
  // Where the system does not save a register, instructions on it fault.
  const auto saves = [&](uint32_t states) {
    return bit(id.words[CpuIdX86::kOne][CpuIdX86::kC], kOsXsave) && (id.saved_states & states) == states;
  };
  if (!id.may_use_tiles) missing |= kCpuAmx;
    // A feature's row comes behind that of the feature it requires.
#define MOTE_FEATURE(name, bit, requires, states) \
  if (!saves(states) || (missing & (requires)) != 0) missing |= name;
#include "mote/core/isa.def"
  return known & ~missing;
}

namespace {

uint32_t ask_features() {
  CpuIdX86 id;
  ask(1, 0, id.words[CpuIdX86::kOne]);
  if (!bit(id.words[CpuIdX86::kOne][CpuIdX86::kC], kOsXsave)) return 0;
  ask(7, 0, id.words[CpuIdX86::kSeven]);
  ask(7, 1, id.words[CpuIdX86::kSevenOne]);
  ask(0x80000001, 0, id.words[CpuIdX86::kExtended]);
  id.saved_states = saved_states();
  // Asking the system for tiles has a price: only where there are some.
  id.may_use_tiles = true;
  id.may_use_tiles = (features_of(id) & kCpuAmx) != 0 && may_use_tiles();
  return features_of(id);
}

}  // namespace

// Asked once: in a virtual machine the host answers CPUID, which took 153 us for the five questions. Threads that ask at the same time find
// the same.
uint32_t cpu_features() noexcept {
  constexpr uint32_t kKnown = 1u << 31;
  static std::atomic<uint32_t> answer{0};
  uint32_t found = answer.load(std::memory_order_relaxed);
  if (found == 0) answer.store(found = ask_features() | kKnown, std::memory_order_relaxed);
  return found & ~kKnown;
}

}  // namespace mote
