#pragma once

#include "mote/core/span.h"
#include "mote/format/program.h"

namespace mote {

// The parts of a program table, borrowed from the bytes they were read from. Copyable, owns nothing.
struct ProgramTable {
  uint16_t major = 0, minor = 0;
  ConstBytes strings;              // NUL-terminated texts, one after the other; offset 0 is the empty one
  Span<const uint32_t> requires_;  // strings: features a reader must know
  const Certificate* certificate = nullptr;
  Span<const Bank> banks;
  Span<const Segment> segments;
  Span<const TensorDesc> tensors;
  Span<const int32_t> operands;
  ConstBytes attrs;
  Span<const Instruction> instructions;
  Span<const Method> methods;
  Span<const Io> ios;
  Span<const State> states;
  Span<const Step> steps;
  Span<const OpName> op_names;
  Span<const uint32_t> source_names;  // strings, one per instruction; may be empty
  Span<const BackendRecord> backends;
  Span<const Placement> placements;
  uint32_t policy = 0;  // string
  Span<const Golden> goldens;
  Span<const Quant> quants;
  Span<const Pair> metadata;
  Span<const Pair> evidence;

  const char* string(uint32_t offset) const { return reinterpret_cast<const char*>(strings.data) + offset; }
};

// Bytes of the program table at the start of a file, read from its first four bytes, these included. `head` has at least 4 bytes.
uint32_t table_bytes(const uint8_t* head) noexcept;

// Finds the parts of the table at the start of `file` (which may hold only the table) and proves its structure: that every
// vector lies inside, every index, offset and range points to something that exists, every tensor lies inside its bank or
// segment, control ranges nest. One pass, no allocation. `file_size` is the size of the whole file.
// What the instructions mean is the runtime's to check (mote/runtime/verify.h).
Status read_table(ConstBytes file, uint64_t file_size, ProgramTable* out, Diagnostic* diagnostic) noexcept;

// Bytes a tensor spans from its first to past its last, 0 when it is empty. For descriptors whose shape was verified.
uint32_t extent_bytes(const TensorDesc& d) noexcept;

}  // namespace mote
