#pragma once

// Operators that can work on transposed operands: what changes in their attributes, and how their results are then transposed.

#include <optional>
#include <vector>

#include "mote/compiler/passes/rewrite.h"

namespace mote::passes {

// A node in another layout. Input i is wanted as transpose(x, inputs[i]), empty meaning as it is; outputs come out as
// transpose(y, outputs[o]).
struct Permuted {
  std::vector<Dims> inputs;
  std::vector<Dims> outputs;
  std::vector<uint8_t> attrs;
};

// How a node can work when input `index` comes as transpose(x, perm). None when it cannot.
std::optional<Permuted> permuted(const Node& node, size_t index, const Dims& perm);

// transpose(x, perm) moves only axes of size 1.
bool is_trivial(const Type& type, const Dims& perm);
bool is_identity(const Dims& perm);
Type permuted_type(const Type& type, const Dims& perm);

}  // namespace mote::passes
