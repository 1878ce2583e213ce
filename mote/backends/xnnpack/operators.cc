#include "mote/backends/xnnpack/operators.h"

#include "mote/backends/common/families.h"

namespace mote::backends::xnnpack {
namespace {

struct Family {
  OpId first, last;
  const char* (*lower)(const OpView&, Session*);
};
constexpr Family kFamilies[] = {
    {OpId::copy, OpId::reshape, &lower_move},        {OpId::concat, OpId::pad, &lower_move},
    {OpId::abs, OpId::mish, &lower_unary},           {OpId::add, OpId::div, &lower_binary},
    {OpId::minimum, OpId::prelu, &lower_binary},     {OpId::reduce_mean, OpId::reduce_mean, &lower_mean},
    {OpId::softmax, OpId::softmax, &lower_softmax},  {OpId::matmul, OpId::matmul, &lower_product},
    {OpId::conv, OpId::conv_transpose, &lower_conv}, {OpId::max_pool, OpId::avg_pool, &lower_pool},
};

const char* check_operands(const OpView& op) {
  if (op.outputs.empty() || !op.outputs[0].present) return "it has no first output";
  for (const Operand& o : op.outputs) {
    if (!o.present) continue;
    if (o.dtype != DType::f32) return "only f32 is computed there";
    if (o.count() == 0) return "an empty tensor";
  }
  for (const Operand& o : op.inputs) {
    if (!o.present) continue;
    if (o.dtype != DType::f32 && o.data == nullptr) return "only f32 is computed there";
    if (o.count() == 0 && o.dtype == DType::f32) return "an empty tensor";
    if (o.layout != Layout::kPlain && (o.layout != Layout::kPanel16 || (o.dtype != DType::f32 && o.dtype != DType::f16)))
      return "weights in a packed form it does not read";
  }
  return op.inputs.empty() || op.inputs[0].dtype != DType::f32 ? "only f32 is computed there" : nullptr;
}

}  // namespace

const char* lower_op(const OpView& op, Session* s) { return lower_by_family(kFamilies, check_operands, op, s); }

}  // namespace mote::backends::xnnpack
