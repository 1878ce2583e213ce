#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mote/compiler/ir/graph.h"

namespace mote::frontends {

struct ZipEntry {
  std::string_view name;
  const uint8_t* data = nullptr;  // as stored
  size_t stored = 0, size = 0;    // bytes in the file, and unpacked
  bool deflated = false;
};

// The files of a zip archive that ends where the bytes end (it may begin anywhere). Empty when there is none or it is damaged.
std::vector<ZipEntry> read_zip(const ir::Bytes& bytes);

// The contents of an entry of at most `most` bytes. False when it is larger, damaged or packed in another way than deflate.
bool unpack(const ZipEntry& entry, size_t most, std::string* out);

}  // namespace mote::frontends
