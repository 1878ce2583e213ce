#include "mote/compiler/frontends/tflite/products.h"

#include <cstring>

#include "mote/compiler/frontends/tflite/import.h"
#include "mote/ops/dynamic_quantize/dynamic_quantize.h"

namespace mote::frontends::tflite {

MultiplierOperands stage_multipliers(Op& op, const Stage& s) {
  if (!need_scale(op, s.x) || !need_scale(op, s.weights) || !need_scale(op, s.out)) return {};
  const uint32_t n = s.weights.quant.count();
  const double out = static_cast<double>(s.out.scale());
  if (n == 1 && !s.real && (s.float_product || s.x.dtype == DType::u8))
    return operands(op, {quantize_multiplier(static_cast<double>(s.x.scale() * s.weights.scale()) / out)});
  std::vector<double> real;
  std::vector<Multiplier> fixed;
  for (uint32_t i = 0; i < n; ++i) {
    real.push_back(static_cast<double>(s.x.scale()) * static_cast<double>(s.weights.quant.scale_at(i)) / out);
    fixed.push_back(quantize_multiplier(real.back()));
  }
  if (s.real) return {op.b.graph().constant<double>({static_cast<int32_t>(n)}, real), nullptr};
  return operands(op, fixed);
}

Hybrid hybrid_input(Op& op, Value* x, int axis, bool asymmetric) {
  ops::dynamic_quantize::Attrs a;
  a.mode = static_cast<uint32_t>(asymmetric ? ops::dynamic_quantize::Mode::kAsymmetric : ops::dynamic_quantize::Mode::kSymmetric);
  a.axis = axis;
  const std::vector<Value*> out = op.b.ops(OpId::dynamic_quantize, a, {x}, 3);
  if (out.empty()) return {};
  return {out[0], out[1], asymmetric ? out[2] : nullptr};
}

Value* filter_scales(Op& op, const Tensor& filter) {
  if (!need_scale(op, filter)) return nullptr;
  const std::vector<float> s(filter.quant.scale->begin(), filter.quant.scale->end());
  return op.b.graph().constant<float>({static_cast<int32_t>(s.size())}, s);
}

Value* permute(Op& op, Value* x, const Dims& perm) {
  if (x == nullptr || !op.ok()) return nullptr;
  // A weight of 16 bits that is widened: the small one is turned.
  if (x->producer != nullptr && x->producer->is(OpId::cast) && x->producer->input(0)->is_constant() &&
      x->producer->input(0)->type.dtype == DType::f16)
    return op.b.cast(permute(op, x->producer->input(0), perm), x->type.dtype);
  const size_t width = dtype_bytes(x->type.dtype);
  if (!x->is_constant() || width == 0) return op.b.transpose(x, perm);
  const size_t rank = perm.size();
  Dims dims(rank);
  std::vector<size_t> stride(rank, width), step(rank);
  for (size_t i = rank; i-- > 1;) stride[i - 1] = stride[i] * static_cast<size_t>(x->type.dims[i]);
  for (size_t i = 0; i < rank; ++i) {
    dims[i] = x->type.dims[static_cast<size_t>(perm[i])];
    step[i] = stride[static_cast<size_t>(perm[i])];
  }
  std::vector<uint8_t> bytes;
  std::string error;
  if (!op.importer.take_bytes(x->data.size, &bytes, &error)) {
    op.fail(error);
    return nullptr;
  }
  std::vector<int32_t> index(rank, 0);
  size_t from = 0;
  for (size_t to = 0; to < bytes.size(); to += width) {
    std::memcpy(bytes.data() + to, x->data.data + from, width);
    for (size_t i = rank; i-- > 0;) {
      from += step[i];
      if (++index[i] < dims[i]) break;
      from -= step[i] * static_cast<size_t>(dims[i]);
      index[i] = 0;
    }
  }
  return op.b.graph().add_constant(x->type.dtype, dims, ir::Bytes::own(std::move(bytes)), x->name);
}

}  // namespace mote::frontends::tflite
