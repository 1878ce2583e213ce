#pragma once

// How fast an instruction could run at most on a machine: its arithmetic at the peak rate, its operands at the bandwidth of where they lie.

#include "mote/compiler/program/cost.h"
#include "mote/compiler/target/target.h"

namespace mote::tools {

struct Bound {
  double compute_us = 0, memory_us = 0;
  target::Level level = target::kL1;  // that most of memory_us is spent on
  double us() const { return compute_us > memory_us ? compute_us : memory_us; }
  // "compute", "L2", or "-" when there is nothing to do.
  const char* limit() const;
};

// Bytes fill the levels from the nearest one on: of what is twice as large as a cache, half comes from there and half from the next level.
// Activations were written a moment ago, so an instruction's operands compete with each other alone; a run goes over all of its constants,
// so they compete with the whole program.
class Roofline {
 public:
  // footprint_bytes: constants, activations, inputs and outputs of the program.
  Roofline(const target::Target& target, uint32_t threads, uint64_t footprint_bytes);

  // Of `calls` calls, which together make one pass over the operands (program::calls_per_pass()).
  Bound of(const program::Cost& cost, uint64_t calls) const;

  const target::Rates& rates() const { return rates_; }

 private:
  using Parts = std::array<double, target::kLevelCount>;  // how much of some bytes each level holds

  target::Target target_;
  target::Rates rates_;
  Parts footprint_parts_;
};

}  // namespace mote::tools
