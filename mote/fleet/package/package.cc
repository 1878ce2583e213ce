#include "mote/fleet/package/package.h"

#include <algorithm>

#include "mote/fleet/base/digest.h"
#include "mote/fleet/base/error.h"
#include "mote/fleet/base/text.h"

namespace mote::fleet::package {
namespace {

constexpr std::string_view kMagic = "MOTEPKG1";
constexpr uint64_t kAlign = 4096, kPrefix = 16;

uint64_t round_up(uint64_t n) { return (n + kAlign - 1) / kAlign * kAlign; }

std::string header_text(const Manifest& m) {
  const std::string manifest = manifest_text(m);
  if (manifest.size() > kMaxManifestBytes) throw Error("the manifest would have more than 4 MiB");
  std::string out(kMagic);
  for (int i = 0; i < 8; ++i) out += static_cast<char>(manifest.size() >> (8 * i) & 255);
  out += manifest;
  out.resize(round_up(out.size()), '\0');
  return out;
}

// Reads a range of a file piece by piece.
void for_each_piece(Files& files, const std::string& path, uint64_t offset, uint64_t bytes,
                    const std::function<void(std::string_view)>& use) {
  while (bytes > 0) {
    const std::string piece = files.read(path, offset, std::min(bytes, kChunkBytes));
    if (piece.empty()) throw Error(path + ": ends too early");
    use(piece);
    offset += piece.size();
    bytes -= piece.size();
  }
}

std::string digest_range(Files& files, const std::string& path, uint64_t offset, uint64_t bytes) {
  Digest d;
  for_each_piece(files, path, offset, bytes, [&](std::string_view piece) { d.add(piece); });
  return d.finish();
}

void copy_range(Files& files, const std::string& from, uint64_t offset, uint64_t bytes, const std::string& to, uint64_t at) {
  for_each_piece(files, from, offset, bytes, [&](std::string_view piece) {
    files.write(to, at, piece);
    at += piece.size();
  });
}

// Where each source lies, and its digest.
void place_files(Files& files, Manifest& m, const std::vector<SourceFile>& sources) {
  m.files.clear();
  m.payload_bytes = 0;
  for (const SourceFile& s : sources) {
    const std::optional<uint64_t> bytes = files.size(s.path);
    if (!bytes) throw Error(s.path + " does not exist");
    const uint64_t offset = round_up(m.payload_bytes);
    m.files.push_back({s.name, offset, *bytes, digest_range(files, s.path, 0, *bytes)});
    m.payload_bytes = offset + *bytes;
  }
}

void write_payload(Files& files, Manifest& m, const std::vector<SourceFile>& sources, const std::string& to, uint64_t start) {
  const std::string zeros(kAlign, '\0');
  uint64_t end = 0;
  for (size_t i = 0; i < sources.size(); ++i) {
    files.write(to, start + end, std::string_view(zeros).substr(0, m.files[i].offset - end));
    copy_range(files, sources[i].path, 0, m.files[i].bytes, to, start + m.files[i].offset);
    end = m.files[i].offset + m.files[i].bytes;
  }
  for (uint64_t at = 0, k = 0; at < m.payload_bytes; at += kChunkBytes, ++k)
    m.chunks[k] = digest_range(files, to, start + at, std::min(kChunkBytes, m.payload_bytes - at));
}

}  // namespace

Manifest create(Files& files, Manifest m, const std::vector<SourceFile>& sources, const std::string& path) {
  place_files(files, m, sources);
  // The header's length does not depend on the digests, only on their number.
  m.chunks.assign((m.payload_bytes + kChunkBytes - 1) / kChunkBytes, std::string(kSha256Bytes, '\0'));
  const uint64_t start = header_text(m).size();
  const std::string next = path + ".new";
  try {
    files.create(next);
    write_payload(files, m, sources, next, start);
    files.write(next, 0, header_text(m));
    files.sync(next);
    verify(files, next);  // also finds sources that have changed meanwhile
    files.rename(next, path);
  } catch (...) {
    files.remove(next);
    throw;
  }
  files.sync_dir(folder_of(path));
  return m;
}

bool is_package(std::string_view start) { return start.size() >= kPrefix && start.substr(0, kMagic.size()) == kMagic; }

uint64_t header_bytes(std::string_view first16) {
  if (!is_package(first16)) throw Error("not a Mote package");
  uint64_t size = 0;
  for (size_t i = kPrefix; i > kMagic.size(); --i) size = size << 8 | static_cast<unsigned char>(first16[i - 1]);
  if (size > kMaxManifestBytes) throw Error("the manifest claims " + std::to_string(size) + " bytes; 4 MiB are the most");
  return round_up(kPrefix + size);
}

Header parse_header(std::string_view start) {
  const uint64_t bytes = header_bytes(start);
  if (start.size() < bytes) throw Error("the package ends inside its header");
  uint64_t size = 0;
  for (size_t i = kPrefix; i > kMagic.size(); --i) size = size << 8 | static_cast<unsigned char>(start[i - 1]);
  start = start.substr(0, bytes);
  if (start.find_first_not_of('\0', kPrefix + size) != std::string_view::npos) throw Error("the header does not end with zeros");
  return {within("manifest", [&] { return parse_manifest(start.substr(kPrefix, size)); }), bytes, digest(start)};
}

Header read_header(Files& files, const std::string& path) {
  if (!files.size(path)) throw Error(path + " does not exist");
  return within(path, [&] {
    const uint64_t bytes = header_bytes(files.read(path, 0, kPrefix));
    return parse_header(files.read(path, 0, bytes));
  });
}

bool chunk_matches(const Manifest& m, uint64_t index, std::string_view bytes) {
  if (index >= m.chunks.size() || bytes.size() != std::min(kChunkBytes, m.payload_bytes - index * kChunkBytes)) return false;
  return digest(bytes) == m.chunks[index];
}

Header verify(Files& files, const std::string& path) {
  Header header = read_header(files, path);
  const Manifest& m = header.manifest;
  within(path, [&] {
    if (files.size(path) != header.bytes + m.payload_bytes)
      throw Error(std::to_string(files.size(path).value_or(0)) + " bytes, " + std::to_string(header.bytes + m.payload_bytes) + " expected");
    for (uint64_t k = 0; k < m.chunks.size(); ++k) {
      const uint64_t at = k * kChunkBytes;
      if (!chunk_matches(m, k, files.read(path, header.bytes + at, std::min(kChunkBytes, m.payload_bytes - at))))
        throw Error("chunk " + std::to_string(k) + " is not what the manifest says");
    }
    uint64_t end = 0;
    for (const File& f : m.files) {
      for_each_piece(files, path, header.bytes + end, f.offset - end, [&](std::string_view gap) {
        if (gap.find_first_not_of('\0') != std::string_view::npos) throw Error("something lies between the files, before " + f.name);
      });
      if (digest_range(files, path, header.bytes + f.offset, f.bytes) != f.sha256) throw Error(f.name + " is not what the manifest says");
      end = f.offset + f.bytes;
    }
    if (end != m.payload_bytes) throw Error("something lies behind the last file");
  });
  return header;
}

void extract(Files& files, const std::string& path, const Header& header, const std::string& name, const std::string& to) {
  const auto& list = header.manifest.files;
  const auto found = std::find_if(list.begin(), list.end(), [&](const File& f) { return f.name == name; });
  if (found == list.end()) throw Error(path + " has no file " + name);
  files.create(to);
  copy_range(files, path, header.bytes + found->offset, found->bytes, to, 0);
  files.sync(to);
  if (digest_file(files, to) != found->sha256) throw Error(name + " is not what the manifest says");
}

}  // namespace mote::fleet::package
