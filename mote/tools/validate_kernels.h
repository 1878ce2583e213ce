#pragma once

// A program with every set of kernels that this machine can run, for `mote validate`.

#include <functional>
#include <string>
#include <vector>

#include "mote/compiler/driver/kernel_check.h"
#include "mote/tools/npy.h"

namespace mote::tools {

using Arrays = std::vector<NpyArray>;  // inputs or outputs of one run

// One set of kernels with a number of threads.
struct KernelRuns {
  std::string kernels;
  uint32_t threads = 1;
  size_t runs = 0;      // inputs it was tried on
  std::string problem;  // what it got wrong; empty: nothing
};

struct KernelValidation {
  std::vector<KernelRuns> sets;                       // the one that is used by default comes first
  std::vector<driver::KernelDifference> differences;  // instructions that a fast kernel computes differently than the portable one
  std::string set;                                    // of those
  std::vector<Arrays> outputs;                        // of the default set, for each input
  bool passed() const;
};

// How far the work is, 0 to 1.
using PartHeard = std::function<void(double part)>;

// Runs the first method of a program on each of `inputs`: the default set on one and two threads, every other one on one thread, portable
// ones (slow) on as many inputs as `portable_work` multiply-adds allow, at least one. agrees(sample, outputs) judges; the same set gives
// the same bits with every number of threads. The default set is compared with the portable kernels instruction by instruction.
KernelValidation validate_kernels(ConstBytes file, ConstBytes external, const std::vector<Arrays>& inputs, uint64_t portable_work,
                                  const std::function<bool(size_t sample, const Arrays& outputs)>& agrees, const PartHeard& heard = {});

// The first instruction whose kernels of a set differ from the portable ones on these inputs of a method; "" when none does.
std::string differing_instruction(ConstBytes file, ConstBytes external, const std::string& kernels, uint32_t method, const Arrays& inputs);

}  // namespace mote::tools
