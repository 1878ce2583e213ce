#include "mote/backends/opencl/blob.h"

#include <cstring>

namespace mote::backends::opencl {
namespace {

// Last in a blob; in front of it the tuning's text, and before that a byte for each tensor.
struct Mark {
  uint32_t narrow_bytes, tuning_bytes;
  char magic[8];
};
constexpr char kMagic[8] = {'m', 'o', 't', 'e', 'c', 'l', '0', '2'};

}  // namespace

std::vector<uint8_t> bytes_of(const BlobEnd& end) {
  std::vector<uint8_t> out = end.narrow;
  out.insert(out.end(), end.tuning.begin(), end.tuning.end());
  Mark mark{static_cast<uint32_t>(end.narrow.size()), static_cast<uint32_t>(end.tuning.size()), {}};
  std::memcpy(mark.magic, kMagic, sizeof kMagic);
  const auto* bytes = reinterpret_cast<const uint8_t*>(&mark);
  out.insert(out.end(), bytes, bytes + sizeof mark);
  return out;
}

bool read_blob(const uint8_t* data, uint64_t size, uint64_t* program_bytes, BlobEnd* out) {
  Mark mark;
  if (size < sizeof mark) return false;
  std::memcpy(&mark, data + size - sizeof mark, sizeof mark);
  const uint64_t rest = size - sizeof mark, narrow = mark.narrow_bytes, tuning = mark.tuning_bytes;
  if (std::memcmp(mark.magic, kMagic, sizeof kMagic) != 0 || narrow + tuning > rest) return false;
  *program_bytes = rest - narrow - tuning;
  const uint8_t* at = data + *program_bytes;
  out->narrow.assign(at, at + narrow);
  out->tuning.assign(at + narrow, at + narrow + tuning);
  return true;
}

}  // namespace mote::backends::opencl
