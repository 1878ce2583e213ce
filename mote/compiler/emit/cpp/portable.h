#pragma once

// What the call of an operator's portable kernel needs: attributes, descriptors, scratch memory.

#include <string>
#include <vector>

#include "mote/compiler/emit/cpp/source.h"
#include "mote/core/op.h"
#include "mote/ops/op_docs.h"

namespace mote::emit {

// All attributes that this version knows; a file may have been written with fewer.
std::vector<uint8_t> attributes_of(const program::ProgramRecords& records, const Instruction& n, const OpDoc& doc);

// The initializer of a mote::TensorDesc.
std::string descriptor_text(const TensorDesc& d);

// Scratch memory of the portable kernel on one thread. `tensors`: the operands that are present, in order.
uint64_t scratch_bytes_of(const program::ProgramRecords& records, const Instruction& n, const OpDef& def, const OpDoc& doc,
                          const std::vector<Tensor>& tensors);

// True when an output overlaps an input in a way that the operator does not permit: only kernels that compute in order may do that.
bool overlaps_input(const Source& source, const Instruction& n);

}  // namespace mote::emit
