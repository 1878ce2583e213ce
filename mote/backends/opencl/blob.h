#pragma once

// A blob: the piece's program, and behind it what was found out about the piece when it was compiled.

#include <cstdint>
#include <string>
#include <vector>

namespace mote::backends::opencl {

struct BlobEnd {
  std::vector<uint8_t> narrow;  // of each tensor, 1: stored as f16; empty: none (storage.h)
  std::string tuning;           // group sizes found on a device (tuning.h); empty: none
};

std::vector<uint8_t> bytes_of(const BlobEnd& end);

// False for bytes that are no blob. The program is the first *program_bytes.
bool read_blob(const uint8_t* data, uint64_t size, uint64_t* program_bytes, BlobEnd* out);

}  // namespace mote::backends::opencl
