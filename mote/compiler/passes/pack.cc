// Constant weights into panels of 16 output channels (DESIGN.md, section 5): the layout that kernels of every CPU read.

#include <cstring>

#include "mote/compiler/ir/evaluate.h"
#include "mote/compiler/passes/linear.h"
#include "mote/core/layout.h"
#include "mote/ops/matmul/matmul.h"

namespace mote::passes {
namespace {

Layout panel_for(DType t) {
  switch (t) {
    case DType::f32:
    case DType::f16: return Layout::kPanel16;
    case DType::bf16: return Layout::kPanel16k2;
    case DType::s8: return Layout::kPanel16k4;
    case DType::s4: return Layout::kPanel16k8;
    default: return Layout::kPlain;
  }
}

// A node that may read input 1 in panels, all other operands given.
bool reads_panels(const Node& n, const Value* w) {
  if (!n.is_operator() || (ir::op_flags(n) & kPackedWeights) == 0 || n.input(kWeights) != w) return false;
  for (size_t i = 0; i < n.inputs.size(); ++i)
    if (i != kWeights && n.inputs[i] == w) return false;
  if (n.is(OpId::matmul)) return w->type.rank() == 2 && n.attributes<ops::matmul::Attrs>().transpose_b == 1;
  return !n.is(OpId::q_matmul) || w->type.rank() == 2;
}

int nibble(const uint8_t* data, size_t i) { return i % 2 != 0 ? data[i / 2] >> 4 : data[i / 2] & 15; }

ir::Bytes packed(const Value& w, Layout layout, uint32_t n_count, uint32_t k_count) {
  const DType t = w.type.dtype;
  const uint32_t width = dtype_bytes(t), group = panel_shape(layout, t).k_group;
  std::vector<uint8_t> out(panel_bytes(layout, t, n_count, k_count));
  for (uint32_t n = 0; n < n_count; ++n) {
    for (uint32_t k = 0; k < k_count; ++k) {
      const size_t i = size_t{n} * k_count + k;
      uint8_t* to = out.data() + panel_offset(layout, t, n, k, k_count);
      if (width != 0) std::memcpy(to + k % group * width, w.data.data + i * width, width);
      else to[k % 4] = static_cast<uint8_t>(to[k % 4] | nibble(w.data.data, i) << (k % 8 >= 4 ? 4 : 0));
    }
  }
  return ir::Bytes::own(std::move(out));
}

bool pack_value(Graph& graph, Value* w) {
  const Layout layout = panel_for(w->type.dtype);
  if (layout == Layout::kPlain || w->layout != Layout::kPlain || w->type.rank() < 2 || w->type.count() == 0 || w->users.empty()) return false;
  for (const Node* user : w->users)
    if (!reads_panels(*user, w)) return false;
  const uint32_t n = static_cast<uint32_t>(w->type.dims[0]), k = static_cast<uint32_t>(w->type.count() / w->type.dims[0]);
  if (w->result_uses > 0 || panel_bytes(layout, w->type.dtype, n, k) > kMaxTensorBytes) return false;
  graph.replace_uses(w, graph.add_constant(w->type.dtype, w->type.dims, packed(*w, layout, n, k), w->name, layout));
  return true;
}

}  // namespace

bool pack(Graph& graph, const PassOptions&) {
  std::vector<Value*> constants;
  for (const auto& v : graph.values())
    if (v->is_constant()) constants.push_back(v.get());
  bool changed = false;
  for (Value* w : constants) changed |= pack_value(graph, w);
  return changed;
}

}  // namespace mote::passes
