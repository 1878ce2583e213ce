#pragma once

// The one place that knows the program table is a FlatBuffer.

#include "mote/format/reader.h"

namespace mote {

// Bytes 8-11 of a file say "MOTE".
bool table_has_identifier(const uint8_t* file) noexcept;

// Verifies the FlatBuffer `table` (size prefix included) and points `out` at its vectors. False when it is malformed.
bool find_parts(ConstBytes table, ProgramTable* out) noexcept;

}  // namespace mote
