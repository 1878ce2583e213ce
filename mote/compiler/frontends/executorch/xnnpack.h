#pragma once

// The XNNPACK delegate of ExecuTorch: the serialized graph that its partitioner leaves in a program becomes operators of Mote.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mote/compiler/ir/graph.h"
#include "mote/compiler/ir/problem.h"

namespace mote::frontends::executorch {

// Data of the program that delegates name: from a key to the bytes (named data of the program and of .ptd files beside it). Nothing where
// there is no such key. Constants may share the bytes with their owner.
using NamedData = std::function<std::optional<ir::Bytes>(std::string_view key)>;

// True when the bytes carry the signature of such a payload.
bool is_xnnpack(const ir::Bytes& payload);

// How many inputs and outputs a payload has: an instruction lists both in one row, inputs first. False when it cannot be read.
bool xnnpack_arity(const ir::Bytes& payload, size_t* inputs, size_t* outputs);

// One call of the XNNPACK delegate. Writes its operators at the end of `block`; `inputs` and `outputs` have as many values as
// xnnpack_arity() says, in the order of the row. Sizes are in the order of memory: a tensor (N, C, H, W) that lies channels last is
// (N, H, W, C) here. `declared` is what the program says of them (sizes are upper bounds where `dynamic` is set). False with problems told,
// all at once; `place` names the instruction ("forward, instruction 3"). The payload is not trusted.
bool import_xnnpack(const ir::Bytes& payload, const NamedData& data, ir::Graph& graph, ir::Block& block,
                    const std::vector<ir::Value*>& inputs, const std::vector<ir::Type>& declared, std::vector<ir::Value*>* outputs,
                    ir::Problems& problems, const std::string& place);

}  // namespace mote::frontends::executorch
