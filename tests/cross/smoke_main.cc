// The bundled model on any system that has a C library: verified, run in exactly the certificate's bytes, compared with its
// golden outputs. What Windows, WebAssembly and macOS builds run.

#include <cstdio>

#include "digits_data.h"
#include "mote/ops/op_table.h"
#include "tests/cross/golden_run.h"

int main() {
  alignas(64) static uint8_t memory[48 * 1024];
  const mote::OpRegistry ops(mote::builtin_ops());
  const mote::testing::GoldenReport r = mote::testing::run_golden_examples({mote_digits, mote_digits_size}, memory, ops, {});
  std::printf("instance %u, arena %u, scratch %u bytes; %u examples right, worst error %g\n", r.instance_bytes, r.bank_bytes,
              r.scratch_bytes, r.examples, static_cast<double>(r.worst));
  if (r.status.ok()) {
    std::puts("PASS");
    return 0;
  }
  std::printf("FAIL: %s: %s (%s)\n", r.step, mote::status_text(r.status.code()), mote::why_text(r.status.why()));
  return 1;
}
