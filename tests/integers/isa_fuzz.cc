// One program, one result, whatever the instruction set: programs and inputs from the fuzzer's bytes.

#include <cstdio>
#include <cstdlib>

#include "tests/integers/integer_program.h"
#include "tests/integers/run_everywhere.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mote;
  fuzz::Dice dice(data, size);
  emit::FileBytes file;
  std::string error;
  if (!integers::make_program(dice, &file, &error)) return 0;
  integers::Everywhere result;
  if (!integers::run_everywhere(file.span(), dice, &result, &error)) result.difference = "a program that was built does not run: " + error;
  if (result.difference.empty()) return 0;
  std::fprintf(stderr, "isa_fuzz: %s\n", result.difference.c_str());
  std::abort();
}
