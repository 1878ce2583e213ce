// Matrix products and lookups in tables of vectors.

#include "mote/compiler/frontends/tflite/products.h"
#include "mote/ops/dequantize/dequantize.h"
#include "mote/ops/gather/gather.h"
#include "mote/ops/matmul/matmul.h"
#include "mote/ops/q_matmul/q_matmul.h"

namespace mote::frontends::tflite {
namespace {

bool is_float_type(DType t) { return t == DType::f32 || t == DType::f16 || t == DType::bf16; }

// x (..., M, K) times weights (N, K) or (..., N, K), float weights excepted.
Value* quantized_product(Op& op, Value* x, Value* weights, Value* bias, const Stage& stage, bool asymmetric) {
  ops::q_matmul::Attrs a;
  if (stage.x.dtype != DType::f32) {
    const MultiplierOperands m = set_stage(op, stage, bias, &a);
    return op.b.op(OpId::q_matmul, a, {x, weights, bias, m.value, m.shift});
  }
  if (x == nullptr) return nullptr;
  const Hybrid h = hybrid_input(op, x, x->type.rank() - 1, asymmetric);
  a.to = static_cast<uint32_t>(DType::f32);
  a.weight_zero = stage.weights.quant.count() == 1 ? stage.weights.zero() : 0;
  Value* scales = filter_scales(op, stage.weights);
  return activate(op, op.b.op(OpId::q_matmul, a, {h.x, weights, bias, scales, nullptr, h.zero, nullptr, h.scale}), stage.act);
}

}  // namespace

void import_fully_connected(Op& op) {
  const auto& o = op.options<fb::FullyConnectedOptions>();
  if (o.weights_format() != fb::FullyConnectedOptionsWeightsFormat::DEFAULT)
    return op.fail("the weights are shuffled for one kind of CPU", "convert the model again without this optimisation");
  Value *x = op.value(0), *w = op.value(1, true), *bias = op.value(2);
  if (x == nullptr || w == nullptr) return op.fail("input or weights are missing");
  if (w->type.rank() != 2 || w->type.dims[1] < 1) return op.fail("expected weights (N, K), found " + describe(op.in(1)));
  const int32_t depth = w->type.dims[1];
  const Dims& dims = x->type.dims;
  const bool keep = o.keep_num_dims() && dims.size() >= 2 && dims.back() == depth;
  if (!keep && (dims.size() != 2 || dims[1] != depth)) x = op.b.reshape(x, {-1, depth});
  if (!op.ok()) return;
  if (bias != nullptr && bias->type.rank() != 1) bias = op.b.reshape(bias, {-1});
  Value* y = nullptr;
  if (is_float_type(w->type.dtype)) {
    ops::matmul::Attrs a;
    a.transpose_b = 1;
    set_activation(op, o.fused_activation_function(), &a);
    y = op.b.op(OpId::matmul, a, {x, w, bias});
  } else {
    const Stage stage{op.in(0), op.in(1), op.out(0), o.fused_activation_function(), false, true};
    y = quantized_product(op, x, w, bias, stage, o.asymmetric_quantize_inputs());
  }
  if (y != nullptr && o.keep_num_dims() && !keep && dims.size() == 1) y = op.b.reshape(y, {w->type.dims[0]});
  op.set(y);
}

void import_batch_matmul(Op& op) {
  const auto& o = op.options<fb::BatchMatMulOptions>();
  Value *x = op.value(0), *y = op.value(1);
  if (x == nullptr || y == nullptr || x->type.rank() < 2 || y->type.rank() < 2)
    return op.fail("expected two inputs of at least 2 dimensions");
  const auto turned = [&](Value* v) {
    Dims perm(v->type.dims.size());
    for (size_t i = 0; i < perm.size(); ++i) perm[i] = static_cast<int32_t>(i);
    std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
    return permute(op, v, perm);
  };
  if (is_float_type(y->type.dtype) || (!op.in(1).quant.present() && y->type.dtype == DType::s32)) {
    ops::matmul::Attrs a;
    a.transpose_a = o.adj_x() ? 1 : 0;
    a.transpose_b = o.adj_y() ? 1 : 0;
    return op.set(op.b.op(OpId::matmul, a, {x, y}));
  }
  if (o.adj_x()) x = turned(x);
  if (!o.adj_y()) y = turned(y);
  if (op.out().dtype == DType::s32) {
    ops::q_matmul::Attrs a;
    a.to = static_cast<uint32_t>(DType::s32);
    a.input_zero = op.in(0).zero();
    a.weight_zero = op.in(1).zero();
    return op.set(op.b.op(OpId::q_matmul, a, {x, y}));
  }
  op.set(quantized_product(op, x, y, nullptr, {op.in(0), op.in(1), op.out(0), ActivationFunctionType::NONE, true, false},
                           o.asymmetric_quantize_inputs()));
}

// inputs: ids, table.
void import_embedding_lookup(Op& op) {
  Value *ids = op.value(0), *table = op.value(1);
  Value* rows = op.b.op(OpId::gather, ops::gather::Attrs{}, {table, ids});
  if (rows == nullptr || op.out().dtype == rows->type.dtype) return op.set(rows);
  if (op.out().dtype != DType::f32 || !need_scale(op, op.in(1)))
    return op.fail("expected an output of type f32, found " + describe(op.out()));
  Value* scales = filter_scales(op, op.in(1));
  if (op.in(1).quant.count() == 1) return op.set(op.b.op(OpId::dequantize, ops::dequantize::Attrs{}, {rows, op.b.reshape(scales, {})}));
  Value* chosen = op.b.op(OpId::gather, ops::gather::Attrs{}, {scales, ids});
  if (chosen == nullptr) return;
  std::vector<int64_t> axes;
  for (int i = chosen->type.rank(); i < rows->type.rank(); ++i) axes.push_back(i);
  op.set(op.b.op(OpId::mul, {op.b.cast(rows, DType::f32), op.b.unsqueeze(chosen, axes)}));
}

}  // namespace mote::frontends::tflite
