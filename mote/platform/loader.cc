#include "mote/platform/loader.h"

#include <cstring>

#include "mote/format/sha256.h"

namespace mote {
namespace {

Status read_file(void* self, uint64_t offset, ByteSpan to) { return static_cast<const File*>(self)->read_at(offset, to); }

Status read_bytes(void* self, uint64_t offset, ByteSpan to) {
  std::memcpy(to.data, static_cast<const ConstBytes*>(self)->data + offset, to.size);
  return Status::kOk;
}

}  // namespace

Status ByteSource::read_at(uint64_t offset, ByteSpan to) const noexcept {
  if (read == nullptr || offset > size || to.size > size - offset) return {Status::kIo, Why::kFileRead};
  return to.size > 0 ? read(self, offset, to) : Status(Status::kOk);
}

ByteSource byte_source(const File& file) noexcept { return {const_cast<File*>(&file), file.size(), &read_file}; }
ByteSource byte_source(const ConstBytes& bytes) noexcept { return {const_cast<ConstBytes*>(&bytes), bytes.size, &read_bytes}; }

Status find_table_size(const ByteSource& source, uint32_t* out_bytes) noexcept {
  // Four bytes of size, four of the root's place, four that say "MOTE".
  uint8_t head[12];
  if (source.size < sizeof head) return {Status::kCorrupt, Why::kNotAProgram};
  MOTE_TRY(source.read_at(0, head));
  if (std::memcmp(head + 8, "MOTE", 4) != 0) return {Status::kCorrupt, Why::kNotAProgram};
  const uint32_t bytes = table_bytes(head);
  if (bytes < sizeof head || bytes > source.size) return {Status::kCorrupt, Why::kTruncated};
  *out_bytes = bytes;
  return Status::kOk;
}

Status load_table(const ByteSource& source, ByteSpan memory, ProgramTable* out, Diagnostic* diagnostic) noexcept {
  uint32_t bytes = 0;
  Status status = find_table_size(source, &bytes);
  if (status.ok() && memory.size < bytes) status = {Status::kOutOfMemory, Why::kBufferSize};
  if (status.ok()) status = source.read_at(0, {memory.data, bytes});
  if (!status.ok()) {
    if (diagnostic != nullptr) {
      *diagnostic = Diagnostic{};
      diagnostic->status = status;
      if (status.why() == Why::kBufferSize) diagnostic->expected = clamp32(bytes), diagnostic->found = clamp32(memory.size);
    }
    return status;
  }
  return read_table({memory.data, bytes}, source.size, out, diagnostic);
}

Status load_segment(const ByteSource& source, const Segment& segment, ByteSpan memory, bool check_digest) noexcept {
  if (memory.size < segment.size) return {Status::kOutOfMemory, Why::kBufferSize};
  if (segment.size > 0 && reinterpret_cast<uintptr_t>(memory.data) % segment.alignment != 0)
    return {Status::kInvalidArgument, Why::kBufferAlignment};
  const ByteSpan to{memory.data, static_cast<size_t>(segment.size)};
  MOTE_TRY(source.read_at(segment.offset, to));
  return check_digest ? check_segment(segment, to) : Status(Status::kOk);
}

Status check_segment(const Segment& segment, ConstBytes bytes) noexcept {
  Sha256 hash;
  hash.update({bytes.data, static_cast<size_t>(segment.size)});
  uint8_t digest[32];
  hash.finish(digest);
  if (std::memcmp(digest, segment.sha256, sizeof digest) != 0) return {Status::kDigest, Why::kDigestMismatch};
  return Status::kOk;
}

}  // namespace mote
