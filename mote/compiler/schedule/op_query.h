#pragma once

// Calls an operator's infer() for a step of a plan as the verifier of the program will: with upper bounds for dynamic sizes, and with
// the contents of constants alone.

#include <vector>

#include "mote/compiler/schedule/plan.h"
#include "mote/core/op.h"
#include "mote/runtime/op_registry.h"

namespace mote::schedule {

// The definition of a step's operator; null for control steps and unknown ones.
const OpDef* definition(const OpRegistry& ops, const Step& step);

class OpQuery {
 public:
  // The plan's tensors must stay where they are.
  OpQuery(const Plan& plan, const Step& step, const OpDef& def);

  const OpContext& context() const { return context_; }
  // True when infer() runs again at run time: an operand is dynamic, or sizes depend on data.
  bool dynamic() const { return dynamic_; }
  // One type for each output.
  Status infer(std::vector<TensorType>* types, Diagnostic* diagnostic) const;

 private:
  const OpDef& def_;
  std::vector<mote::Tensor> tensors_;
  std::vector<int32_t> operands_;
  std::vector<uint32_t> attrs_;
  OpContext context_;
  bool dynamic_;
};

}  // namespace mote::schedule
