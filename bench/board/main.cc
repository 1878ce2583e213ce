// Runs a model on a QEMU board: prints instructions, stack, and whether the outputs are the expected ones. The build gives
// "bench_model.h", which says how the model is called (bench/tiny writes it).

#include <cstdint>
#include <cstring>

#include "bench/board/counter.h"
#include "bench_model.h"
#include "tests/baremetal/semihosting.h"

extern "C" {
extern uint32_t bss_end;
}

namespace {

alignas(64) uint8_t memory[bench::kMemoryBytes];

constexpr uint32_t kPaint = 0x5aa5c33c;
constexpr uint32_t kDeepest = 8192;  // bytes below the stack pointer that are looked at, where RAM has as many

const volatile uint32_t* deepest(const volatile uint32_t* top) {
  const uint32_t left = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(top) - reinterpret_cast<uintptr_t>(&bss_end));
  return top - (left < kDeepest ? left : kDeepest) / 4;
}
[[gnu::noinline]] void paint() {
  volatile uint32_t* sp = static_cast<uint32_t*>(__builtin_frame_address(0)) - 16;
  for (const volatile uint32_t* end = deepest(sp); sp > end;) *--sp = kPaint;
}
// Bytes that were written below here since paint().
[[gnu::noinline]] uint32_t depth() {
  const volatile uint32_t* top = static_cast<uint32_t*>(__builtin_frame_address(0)) - 16;
  const volatile uint32_t* p = deepest(top);
  while (p < top && *p == kPaint) ++p;
  return static_cast<uint32_t>(top - p) * 4 + 64;
}

void line(const char* what, uint64_t value) {
  mote::board::print(what);
  mote::board::print(" ");
  mote::board::print(value);
  mote::board::print("\n");
}

}  // namespace

extern "C" int board_main();
int board_main() {
  mote::board::start_counter();
  paint();
  const uint64_t begin = mote::board::exact_instructions();
  const uint64_t empty = mote::board::exact_instructions() - begin;
  const int opened = bench::init(memory);
  const uint64_t ready = mote::board::exact_instructions();
  if (opened != 0) {
    line("FAIL: the model does not open, step", static_cast<uint64_t>(opened));
    return 1;
  }
  bench::fill(memory);
  const uint64_t start = mote::board::exact_instructions();
  const int code = bench::run(memory);
  const uint64_t end = mote::board::exact_instructions();
  line("init_instructions", ready - begin - 2 * empty);
  line("invoke_instructions", end - start - empty);
  line("stack_bytes", depth());
  const bool same = code == 0 && bench::same(memory);
  mote::board::print(same ? "PASS\n" : "FAIL: the outputs differ from the host's\n");
  return same ? 0 : 1;
}
