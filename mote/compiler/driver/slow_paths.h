#pragma once

// Instructions that no fast kernel serves: said when compiling, not discovered on the device.

#include <string>
#include <vector>

#include "mote/compiler/emit/writer.h"
#include "mote/format/reader.h"
#include "mote/kernels/select.h"

namespace mote::driver {

// Operators with fewer elements than this in every operand cost nothing worth a word.
constexpr int64_t kWorthAWord = 10000;

struct SlowPath {
  std::string op, node;  // "mote::conv"; the model's name for it, where it is known
  std::string reason;
  int64_t elements;  // of the largest operand
  uint32_t instruction = 0;
};

// Those of a lowered program that a machine with this instruction set would run with portable kernels; none for kPortable.
std::vector<SlowPath> slow_paths(const emit::ProgramRecords& records, const OpRegistry& ops, kernels::Isa isa);

// The same of a file's table; structure is verified. `file`: its bytes, `external`: constants that lie in another one, where they are
// known.
std::vector<SlowPath> slow_paths(const ProgramTable& table, ConstBytes file, ConstBytes external, const OpRegistry& ops, kernels::Isa isa);

// The same on a microcontroller whose runtime has mote::cortexm::select, of operands with at least so many elements.
constexpr int64_t kWorthAWordOnBoard = 1000;
std::vector<SlowPath> slow_paths_on_board(const emit::ProgramRecords& records, const OpRegistry& ops, int64_t least);
std::vector<SlowPath> slow_paths_on_board(const ProgramTable& table, ConstBytes file, ConstBytes external, const OpRegistry& ops,
                                          int64_t least);
// The operators' names, each once: "q_softmax".
std::vector<std::string> op_names(const std::vector<SlowPath>& paths);

// A line for the user; several instructions of one operator and reason are one.
std::vector<std::string> describe(const std::vector<SlowPath>& paths);

}  // namespace mote::driver
