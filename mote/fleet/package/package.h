#pragma once

// .mpkg: one file with everything that belongs to a version of a model.
//
//   0   "MOTEPKG1"
//   8   length of the manifest, 64 bits, little-endian
//   16  manifest (canonical JSON), zeros up to a multiple of 4096: the header
//       payload: files, each at a multiple of 4096, zeros between them
//
// Who has verified the header's digest can verify every chunk of the payload as it comes.

#include <functional>
#include <string>
#include <vector>

#include "mote/fleet/base/files.h"
#include "mote/fleet/package/manifest.h"

namespace mote::fleet::package {

struct SourceFile {
  std::string name, path;
};

// Writes a package. `manifest` comes without files, payload_bytes and chunks: they are filled in. Throws Error; nothing is at `path` then
// but what was there before.
Manifest create(Files& files, Manifest manifest, const std::vector<SourceFile>& sources, const std::string& path);

// The header of a package. Throws Error when it is not one; the payload is not read.
struct Header {
  Manifest manifest;
  uint64_t bytes = 0;  // where the payload starts
  std::string sha256;  // of those bytes
};
Header read_header(Files& files, const std::string& path);
Header parse_header(std::string_view start);  // the package, or as much of its start as has the header
bool is_package(std::string_view start);      // does it begin as one?
// How much of a package's start parse_header() needs: from its first 16 bytes.
uint64_t header_bytes(std::string_view first16);

// Reads everything: length, each chunk, each file, zeros in between. Throws Error at the first difference.
Header verify(Files& files, const std::string& path);

// Is this chunk of the payload what the manifest says?
bool chunk_matches(const Manifest& manifest, uint64_t index, std::string_view bytes);

// Writes one file of a verified package to `to`.
void extract(Files& files, const std::string& path, const Header& header, const std::string& name, const std::string& to);

}  // namespace mote::fleet::package
