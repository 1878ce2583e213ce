#pragma once

#include <string>
#include <vector>

#include "mote/compiler/ir/graph.h"

namespace mote::ir {

// One operand of an operator that is asked or run at compile time.
struct Operand {
  bool present = false;
  DType dtype = DType::kNone;
  Dims dims;
  Layout layout = Layout::kPlain;
  Bytes data;  // absent: not known
};

// The types an operator gives for these operands; kDimUnknown where it cannot say. False with *error when it refuses them.
bool ask_types(const Node& node, const std::vector<Operand>& inputs, std::vector<TensorType>* out, std::string* error);

// Runs the portable kernel of an operator. `types` come from ask_types with unknown sizes replaced by bounds, which bits of `unknown`
// (one mask for each output) mark; on return they are the actual sizes. False when the kernel fails or there is none.
bool run_operator(const Node& node, const std::vector<Operand>& inputs, const std::vector<uint8_t>& unknown, std::vector<TensorType>* types,
                  std::vector<Bytes>* out);

// The flags of a node's operator; 0 when it has none.
uint16_t op_flags(const Node& node);

}  // namespace mote::ir
