#pragma once

// One operator with its memory, ready to be called without a program around it.

#include <cstring>
#include <vector>

#include "mote/core/layout.h"
#include "mote/kernels/select.h"
#include "mote/ops/op_id.h"

namespace mote::bench {

struct Operand {
  std::vector<int32_t> dims;
  DType dtype = DType::f32;
  Layout layout = Layout::kPlain;
};

class Call {
 public:
  // The last operand is the output. `work`: operations of one call, a multiply-add being two.
  template <class A>
  Call(OpId op, const A& attrs, const std::vector<Operand>& operands, double work, uint16_t outputs = 1)
      : operations(work), op_(op), attrs_(sizeof attrs / 4 + 1), descs_(operands.size()) {
    std::memcpy(attrs_.data(), &attrs, sizeof attrs);
    for (size_t i = 0; i < operands.size(); ++i) add(operands[i], static_cast<int32_t>(i));
    context_.tensors = tensors_.data();
    context_.operands = numbers_.data();
    context_.attr_bytes = attrs_.data();
    context_.bounds = descs_.data();
    context_.input_count = static_cast<uint16_t>(operands.size() - outputs);
    context_.output_count = outputs;
    // More than any operator here asks for.
    scratch_.resize(size_t{8} << 20);
    context_.scratch = {scratch_.data() + (64 - reinterpret_cast<uintptr_t>(scratch_.data()) % 64), scratch_.size() - 64};
  }
  KernelFn kernel(kernels::Isa isa) const { return kernels::select_for(isa)(static_cast<uint16_t>(op_), context_); }
  const OpContext& context() const { return context_; }
  bool integer() const { return descs_[0].dtype != DType::f32; }
  double operations;
  // What a call reads and writes at least.
  size_t input_bytes() const { return bytes_ - output_bytes_; }
  size_t output_bytes() const { return output_bytes_; }

 private:
  void add(const Operand& operand, int32_t number) {
    TensorDesc& d = descs_[static_cast<size_t>(number)];
    d = {};
    d.dtype = operand.dtype;
    d.rank = static_cast<uint8_t>(operand.dims.size());
    d.layout = operand.layout;
    std::memcpy(d.dims, operand.dims.data(), d.rank * sizeof(int32_t));
    if (d.layout == Layout::kPlain) set_dense_strides(d);
    const auto count = static_cast<uint32_t>(element_count(d)), rows = static_cast<uint32_t>(d.dims[0]);
    const size_t bytes = d.layout == Layout::kPlain ? count * dtype_bytes(d.dtype) : panel_bytes(d.layout, d.dtype, rows, count / rows);
    bytes_ += output_bytes_ = bytes;
    // Small numbers: 0.5 as floats, 0 to 3 as integers.
    memory_.emplace_back(bytes / 4 + 32, d.dtype == DType::f32 ? 0x3f000000u : 0x03020100u);
    uint32_t* at = memory_.back().data();
    while (reinterpret_cast<uintptr_t>(at) % 64 != 0) ++at;
    tensors_.push_back({&d, at});
    numbers_.push_back(number);
  }

  OpId op_;
  std::vector<uint32_t> attrs_;
  std::vector<TensorDesc> descs_;
  std::vector<std::vector<uint32_t>> memory_;
  std::vector<Tensor> tensors_;
  std::vector<int32_t> numbers_;
  std::vector<uint8_t> scratch_;
  size_t bytes_ = 0, output_bytes_ = 0;  // of the last operand
  OpContext context_;
};

}  // namespace mote::bench
