#pragma once

// An operator's own view of a call, so that its shape arithmetic (mote/ops) can be asked instead of being written again.

#include "mote/backends/common/piece.h"
#include "mote/core/op.h"

namespace mote::backends {

class ContextOf {
 public:
  explicit ContextOf(const OpView& v) : descs_(v.inputs.size() + v.outputs.size()) {
    size_t at = 0;
    for (const auto* list : {&v.inputs, &v.outputs}) {
      for (const Operand& o : *list) {
        TensorDesc& d = descs_[at];
        d.dtype = o.dtype;
        d.rank = static_cast<uint8_t>(o.rank);
        for (int i = 0; i < o.rank; ++i) d.dims[i] = o.dims[i];
        if (o.layout == Layout::kPlain) set_dense_strides(d);
        tensors_.push_back({&d, const_cast<void*>(o.data)});
        operands_.push_back(o.present ? static_cast<int32_t>(at) : -1);
        ++at;
      }
    }
    context_.tensors = tensors_.data();
    context_.operands = operands_.data();
    context_.attr_bytes = v.attrs;
    context_.input_count = static_cast<uint16_t>(v.inputs.size());
    context_.output_count = static_cast<uint16_t>(v.outputs.size());
  }
  ContextOf(const ContextOf&) = delete;
  ContextOf& operator=(const ContextOf&) = delete;
  const OpContext& get() const { return context_; }

 private:
  std::vector<TensorDesc> descs_;
  std::vector<Tensor> tensors_;
  std::vector<int32_t> operands_;
  OpContext context_;
};

}  // namespace mote::backends
