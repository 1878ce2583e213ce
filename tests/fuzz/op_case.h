#pragma once

// Random uses of one operator that its infer() accepts. Nothing here knows a particular operator: a case starts at random and is
// repaired by what the operator says when it refuses (which rule, what it expected, what it found).

#include <vector>

#include "mote/core/op.h"
#include "mote/ops/op_docs.h"
#include "tests/fuzz/dice.h"

namespace mote::fuzz {

struct Operand {
  bool present = true;
  bool constant = false;
  TensorDesc desc{};           // dense, or a panel layout
  std::vector<uint8_t> bytes;  // values, as many as the tensor has
};

struct OpCase {
  const OpDef* def = nullptr;
  const OpDoc* doc = nullptr;
  std::vector<uint32_t> attrs;  // attrs_size bytes, rounded up to words
  std::vector<Operand> inputs;
  std::vector<TensorType> outputs;  // as inferred with the values of constants known
};

// The operators of this build that have a name to call them by.
struct KnownOp {
  const OpDef* def;
  const OpDoc* doc;
};
const std::vector<KnownOp>& known_ops();

// Finds a case within a number of tries; false when none was accepted.
bool make_case(const KnownOp& op, Dice& dice, OpCase* out, int tries = 400);

// Asks the operator. With `all_known` the values of every input can be read, as while running.
Status infer_case(OpCase& c, bool all_known, Diagnostic* diagnostic);

// Bytes of the operand's tensor.
size_t operand_bytes(const TensorDesc& desc);

}  // namespace mote::fuzz
