#include "mote/compiler/frontends/onnx/quant_stage.h"

#include "mote/ops/quantize/quantize.h"

namespace mote::frontends::onnx {

bool known_zero(const Value* zero, int32_t* out) {
  *out = 0;
  if (zero == nullptr) return true;
  std::vector<int64_t> known;
  if (!ir::known_ints(*zero, &known) || known.empty()) return false;
  for (int64_t z : known)
    if (z != known[0]) return false;
  *out = static_cast<int32_t>(known[0]);
  return true;
}

Value* quantize_with(Decompose& d, Value* x, Value* zero, DType to) {
  ops::quantize::Attrs a;
  a.to = static_cast<uint32_t>(to);
  if (!d.b.ok()) return nullptr;
  if (zero != nullptr && zero->type.count() != 1) {
    d.fail("y_zero_point: expected one, found " + std::to_string(zero->type.count()));
    return nullptr;
  }
  Value* one = d.b.graph().constant<float>(dims_of(zero), {1});  // of the zero point's shape, () or (1)
  return zero != nullptr ? d.b.op(OpId::quantize, a, {x, one, zero}) : d.b.op(OpId::quantize, a, {x, one});
}

}  // namespace mote::frontends::onnx
