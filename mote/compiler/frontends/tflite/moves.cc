#include "mote/compiler/frontends/tflite/moves.h"

#include <algorithm>

namespace mote::frontends::tflite {

Dims to_dims(Op& op, const std::vector<int64_t>& values) {
  Dims out;
  for (const int64_t v : values) {
    if (v < INT32_MIN || v > INT32_MAX) op.fail("the number " + std::to_string(v) + " does not fit 32 bits");
    out.push_back(static_cast<int32_t>(v));
  }
  return out;
}

Value* declare(Op& op, Value* v, uint32_t output) {
  if (v == nullptr || v->type.dynamic == 0 || v->producer == nullptr) return v;
  const Tensor& t = op.out(output);
  if (t.dims.size() != v->type.dims.size()) return v;
  v->declared = ir::Type{t.dtype, t.dims, 0};
  std::string error;
  if (!ir::infer(*v->producer, &error)) op.fail(error);
  return v;
}

Value* int_vector(Op& op, const std::vector<int64_t>& values) {
  return op.b.graph().constant<int64_t>({static_cast<int32_t>(values.size())}, values);
}

}  // namespace mote::frontends::tflite
