// libFuzzer: bytes as a model. With -DMOTE_STRUCTURED mutations know what the bytes mean.

#include <cstring>

#include "tests/fuzz_models/compile_untrusted.h"
#include "tests/fuzz_models/mutate_model.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  mote::fuzz::compile_untrusted({data, size}, size % 8 == 0);
  return 0;
}

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed) {
  mote::fuzz::Dice dice(seed);
  if (dice.chance(20)) return LLVMFuzzerMutate(data, size, max_size);
  mote::fuzz::ModelBytes bytes(data, data + size);
  mote::fuzz::mutate_model(bytes, dice);
  const size_t out = bytes.size() < max_size ? bytes.size() : max_size;
  if (out > 0) std::memcpy(data, bytes.data(), out);
  return out;
}
