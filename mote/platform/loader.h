#pragma once

// Where a program's bytes come from.
//   memory, flash     the caller has them already: ProgramSource{bytes}
//   mapped file       MappedFile (file.h): ProgramSource{mapped.bytes()}
//   read in parts     this header: the table into one piece of memory, then the segments that are wanted into others
// Nothing here allocates; the caller owns all memory.

#include "mote/format/reader.h"
#include "mote/platform/file.h"

namespace mote {

// Bytes that can be read at any position: a file, a flash chip behind a bus, a test that fails on purpose.
struct ByteSource {
  void* self = nullptr;
  uint64_t size = 0;
  // Fills all of `to` or returns a failure. Never called with bytes outside [0, size).
  Status (*read)(void* self, uint64_t offset, ByteSpan to) = nullptr;

  // Checks the range first. Io/FileRead when it lies outside.
  Status read_at(uint64_t offset, ByteSpan to) const noexcept;
};

ByteSource byte_source(const File& file) noexcept;         // borrows the file
ByteSource byte_source(const ConstBytes& bytes) noexcept;  // borrows the span itself, not only its bytes

// Bytes the program table at the start of the source has: what load_table() needs memory for. Corrupt/NotAProgram,
// Corrupt/Truncated, or what the source says.
Status find_table_size(const ByteSource& source, uint32_t* out_bytes) noexcept;

// Reads the table into `memory` (16-byte aligned, at least find_table_size() bytes) and proves its structure.
Status load_table(const ByteSource& source, ByteSpan memory, ProgramTable* out, Diagnostic* diagnostic) noexcept;

// Reads one segment into `memory` (as aligned as the segment states, at least its size) and, on request, compares its digest.
// An external segment is read from the source of the weights file, at the same offset.
Status load_segment(const ByteSource& source, const Segment& segment, ByteSpan memory, bool check_digest) noexcept;

// Digest/DigestMismatch unless SHA-256 of `bytes` is what the table states.
Status check_segment(const Segment& segment, ConstBytes bytes) noexcept;

}  // namespace mote
