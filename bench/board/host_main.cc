// An emitted model on the host: fails when its outputs differ from the program's.

#include "bench_model.h"

int main() {
  alignas(16) static uint8_t memory[bench::kMemoryBytes];
  if (bench::init(memory) != 0) return 1;
  bench::fill(memory);
  return bench::run(memory) == 0 && bench::same(memory) ? 0 : 1;
}
