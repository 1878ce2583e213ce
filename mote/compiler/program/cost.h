#pragma once

#include "mote/compiler/program/records.h"
#include "mote/format/reader.h"

namespace mote::program {

// What an instruction costs when it runs once over all of its operands, sizes at their upper bounds.
struct Cost {
  uint64_t macs = 0;            // multiply-adds, as the operator's definition has them
  uint64_t products = 0;        // of these, what the algorithm cannot do without (Winograd, causal attention, Fourier: fewer)
  uint64_t read_bytes = 0;      // operands that are not constants
  uint64_t constant_bytes = 0;  // constants
  uint64_t written_bytes = 0;
  bool integer = false;  // the products are of integers
  uint64_t bytes() const { return read_bytes + constant_bytes + written_bytes; }
};

// The parts of a program that costs are made of: of records that are being written, or of a file's table. Structure is verified.
struct CostSource {
  explicit CostSource(const ProgramRecords& r);
  explicit CostSource(const ProgramTable& t) : tensors(t.tensors), operands(t.operands), attrs(t.attrs), instructions(t.instructions) {}
  Span<const TensorDesc> tensors;
  Span<const int32_t> operands;
  ConstBytes attrs;
  Span<const Instruction> instructions;
};

Cost cost_of(const CostSource& program, const Instruction& n);

// How many calls make one pass over the operands of each instruction: the trips of the strips it stands in, else 1.
std::vector<uint64_t> calls_per_pass(const CostSource& program);

// Counts the multiply-adds and the operand bytes of every instruction once, into the certificate. What stands there already
// (a compiler may know better, with loops) is kept.
void state_costs(ProgramRecords& records);

}  // namespace mote::program
