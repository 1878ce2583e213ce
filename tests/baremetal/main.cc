// A model in flash on a microcontroller without an operating system: verified, run in exactly the certificate's bytes,
// compared with its golden outputs. Prints what it took.

#include "digits_data.h"
#include "mote/ops/op_table.h"
#include "tests/baremetal/semihosting.h"
#include "tests/cross/golden_run.h"

extern "C" {
extern uint32_t text_begin, text_end, data_begin, bss_end, stack_top;
}

namespace {

alignas(64) uint8_t memory[48 * 1024];

void line(const char* what, uint64_t value, const char* unit) {
  mote::board::print(what);
  mote::board::print(value);
  mote::board::print(unit);
  mote::board::print("\n");
}

uint64_t bytes_between(const uint32_t& begin, const uint32_t& end) {
  return reinterpret_cast<uintptr_t>(&end) - reinterpret_cast<uintptr_t>(&begin);
}

}  // namespace

extern "C" int board_main();
int board_main() {
  mote::board::start_counter();
  const mote::OpRegistry ops(mote::builtin_ops());
  mote::testing::GoldenOptions options;
  options.now = &mote::board::instructions;
  const mote::testing::GoldenReport report = run_golden_examples({mote_digits, mote_digits_size}, memory, ops, options);
  line("code           ", bytes_between(text_begin, text_end), " bytes");
  line("model in flash ", mote_digits_size, " bytes");
  line("instance       ", report.instance_bytes, " bytes");
  line("arena          ", report.bank_bytes, " bytes");
  line("scratch        ", report.scratch_bytes, " bytes");
  line("open + verify  ", report.open_ticks, " instructions");
  line("create         ", report.create_ticks, " instructions");
  line("run            ", report.run_ticks, " instructions");
  line("examples       ", report.examples, " right");
  if (report.status.ok()) {
    mote::board::print("PASS\n");
    return 0;
  }
  mote::board::print("FAIL: ");
  mote::board::print(report.step);
  line(", status ", report.status.bits() & 0xff, "");
  line("reason ", report.status.bits() >> 8, "");
  return 1;
}
