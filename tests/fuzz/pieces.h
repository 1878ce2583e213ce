#pragma once

#include <string>

#include "mote/api/backend.h"
#include "mote/api/backend_compiler.h"
#include "mote/compiler/emit/writer.h"
#include "tests/fuzz/dice.h"

namespace mote::fuzz {

// A backend whose blobs are Mote programs: what computes them, what compiles for it.
struct PieceBackend {
  const mote_backend* device;
  const mote_backend_compiler* compiler;
};

// A program with a delegate around a random piece that the backend supports. Mostly; the rest is what a compiler would never make: operands
// of other types and sizes than the piece has, damaged pieces that verify nevertheless, several calls that overlap with the CPU's work.
// False when this roll of the dice gave none.
bool make_delegating_program(const PieceBackend& backend, Dice& dice, emit::FileBytes* out);

// Changes fields of the pieces inside of a program (see mutate_program), where there are any.
void mutate_blobs(ByteSpan file, Dice& dice);

}  // namespace mote::fuzz
