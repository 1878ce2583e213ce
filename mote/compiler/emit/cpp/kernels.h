#pragma once

// Which instructions have a kernel in mote/kernels/cortexm, and what is emitted for them.

#include <optional>
#include <set>

#include "mote/compiler/emit/cpp/source.h"
#include "mote/compiler/schedule/plan.h"

namespace mote::emit {

enum class Isa : uint8_t { kDsp, kHelium };

// A call of a kernel: `name(geometry, operands...)`.
struct KernelCall {
  std::string header;           // "conv.h"
  std::string type;             // "Conv"
  std::string geometry;         // initializer; '@' stands for the number of the call
  std::string sum;              // initializer of kSum@, where the geometry names it
  std::string function;         // "conv"
  std::vector<int32_t> inputs;  // tensors, in the order of the kernel's parameters, the output last; -1: null
  std::string more;             // parameters behind the output, ", 12"
  bool by_rows = false;         // then begin and end follow; called for one image of a batch after the other
  bool in_order = false;        // computes pixel after pixel: the output may lie on the input where that is read no more
  uint32_t scratch_bytes = 0;   // more than 0: then scratch follows
  std::string scratch_type = "uint32_t*";

  KernelCall() = default;
  KernelCall(std::string from, std::string of, std::string name, std::string how, std::vector<int32_t> operands)
      : header(std::move(from)), type(std::move(of)), geometry(std::move(how)), function(std::move(name)), inputs(std::move(operands)) {}
};

// Nothing where there is none for these operands: the operator's portable kernel is called.
std::optional<KernelCall> find_kernel(const Source& source, const Instruction& n, Isa isa, Constants* constants);

// For schedule::PlanOptions::in_order: which steps have a kernel that computes pixel after pixel.
std::vector<bool> steps_in_order(const schedule::Plan& plan, Isa isa);

}  // namespace mote::emit
