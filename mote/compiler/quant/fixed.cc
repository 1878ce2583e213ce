#include "mote/compiler/quant/fixed.h"

#include <algorithm>

#include "mote/compiler/ir/multiplier.h"
#include "mote/compiler/passes/rewrite.h"
#include "mote/ops/common/quant_binary.h"
#include "mote/ops/common/quant_epilogue.h"
#include "mote/ops/q_avg_pool/q_avg_pool.h"
#include "mote/ops/q_conv/q_conv.h"
#include "mote/ops/q_mul/q_mul.h"
#include "mote/ops/q_reduce/q_reduce.h"

namespace mote::quant {
namespace {

using ir::Graph;
using ir::Multiplier;
using ir::Node;
using ir::quantize_multiplier;
using ir::Value;

constexpr int kSumBits = 20;  // left shift of both operands of an addition, as in TFLite

// 16-bit operands shifted left would overflow the 32-bit accumulator; such additions keep their f32 factors.
bool is_byte(const Node& n) { return dtype_bits(n.outputs[0]->type.dtype) == 8; }

void fix_sum(ops::QuantBinaryAttrs* a) {
  if (a->mode != static_cast<uint32_t>(ops::QuantMode::kReal)) return;
  const double twice = 2 * static_cast<double>(std::max(a->a_scale, a->b_scale));
  const Multiplier from_a = quantize_multiplier(static_cast<double>(a->a_scale) / twice),
                   from_b = quantize_multiplier(static_cast<double>(a->b_scale) / twice),
                   to_y = quantize_multiplier(twice / ((1 << kSumBits) * static_cast<double>(a->y_scale)));
  a->mode = static_cast<uint32_t>(ops::QuantMode::kFixed);
  a->left_shift = kSumBits;
  a->a_multiplier = from_a.value, a->a_shift = from_a.shift;
  a->b_multiplier = from_b.value, a->b_shift = from_b.shift;
  a->y_multiplier = to_y.value, a->y_shift = to_y.shift;
}

void fix_product(Graph& graph, Node& n) {
  Value* m = n.input(ops::kEpilogueMultiplier);
  if (m == nullptr || !m->is_constant() || m->type.dtype != DType::f32 || dtype_bits(n.outputs[0]->type.dtype) > 16) return;
  std::vector<int32_t> values, shifts;
  for (const double real : passes::constant_numbers(m)) {
    const Multiplier f = quantize_multiplier(real);
    values.push_back(f.value);
    shifts.push_back(f.shift);
  }
  graph.set_input(&n, ops::kEpilogueMultiplier, graph.constant<int32_t>(m->type.dims, values));
  while (n.inputs.size() <= ops::kEpilogueShift) n.inputs.push_back(nullptr);
  graph.set_input(&n, ops::kEpilogueShift, graph.constant<int32_t>(m->type.dims, shifts));
}

void fix_mul(Node& n) {
  auto a = n.attributes<ops::q_mul::Attrs>();
  if (a.mode != 1) return;
  const Multiplier m =
      quantize_multiplier(static_cast<double>(a.a_scale) * static_cast<double>(a.b_scale) / static_cast<double>(a.y_scale));
  a.mode = 0;
  a.multiplier = m.value;
  a.shift = m.shift;
  n.set_attributes(a);
}

void fix_reduce(Node& n) {
  auto a = n.attributes<ops::q_reduce::Attrs>();
  if (a.mode != 1) return;
  const Multiplier m = quantize_multiplier(static_cast<double>(a.real_multiplier));
  a.mode = 0;
  a.multiplier = m.value;
  a.shift = m.shift;
  n.set_attributes(a);
}

void fix_pool(Node& n) {
  auto a = n.attributes<ops::q_avg_pool::Attrs>();
  if (a.mode != 1 || a.multiplier != 1 || a.input_zero != a.output_zero) return;
  a.mode = 0;
  n.set_attributes(a);
}

void fix(Graph& graph, Node& n) {
  switch (static_cast<OpId>(n.op)) {
    case OpId::q_conv: {
      fix_product(graph, n);
      auto a = n.attributes<ops::q_conv::Attrs>();
      if (n.input(ops::q_conv::kResidual) == nullptr || !is_byte(n)) return;
      ops::QuantBinaryAttrs sum = ops::q_conv::sum_attrs(a);
      fix_sum(&sum);
      ops::q_conv::set_sum_attrs(a, sum);
      n.set_attributes(a);
      return;
    }
    case OpId::q_conv_transpose:
    case OpId::q_matmul: return fix_product(graph, n);
    case OpId::q_add:
    case OpId::q_sub: {
      if (!is_byte(n)) return;
      auto a = n.attributes<ops::QuantBinaryAttrs>();
      fix_sum(&a);
      n.set_attributes(a);
      return;
    }
    case OpId::q_reduce: return fix_reduce(n);
    case OpId::q_avg_pool: return fix_pool(n);
    default: return;
  }
}

}  // namespace

void use_fixed_point(ir::Graph& graph, bool all) {
  passes::each_node(graph, [&](Node& n) {
    if (n.is(OpId::q_mul)) fix_mul(n);
    else if (all && n.is_operator()) fix(graph, n);
    return false;
  });
}

}  // namespace mote::quant
