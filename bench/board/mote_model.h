#pragma once

// A program in flash and its one instance, for "bench_model.h".

#include <cstdint>

namespace bench {

struct Sizes {
  uint32_t instance, scratch, arena;
};
constexpr uint32_t rounded(uint32_t bytes) { return (bytes + 63) / 64 * 64; }
constexpr unsigned memory_bytes(const Sizes& s) { return rounded(s.instance) + rounded(s.scratch) + rounded(s.arena); }

// Verifies the program and makes an instance in `memory`, aligned to 64. 0: done.
int open(const unsigned char* program, uint32_t bytes, const Sizes& sizes, uint8_t* memory);
int run_model();
void* input(uint32_t i);
const void* output(uint32_t i);

}  // namespace bench
