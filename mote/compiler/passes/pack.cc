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

template <class T>
void pack_rows(const Value& w, Layout layout, uint32_t n_count, uint32_t k_count, uint8_t* out) {
  const uint32_t group = panel_shape(layout, w.type.dtype).k_group;
  for (uint32_t n = 0; n < n_count; ++n) {
    const uint8_t* from = w.data.data + size_t{n} * k_count * sizeof(T);
    for (uint32_t k = 0; k < k_count; ++k, from += sizeof(T))
      std::memcpy(out + panel_offset(layout, w.type.dtype, n, k, k_count) + k % group * sizeof(T), from, sizeof(T));
  }
}

void pack_nibbles(const Value& w, uint32_t n_count, uint32_t k_count, uint8_t* out) {
  for (uint32_t n = 0; n < n_count; ++n) {
    for (uint32_t k = 0; k < k_count; ++k) {
      uint8_t& to = out[panel_offset(Layout::kPanel16k8, DType::s4, n, k, k_count) + k % 4];
      to = static_cast<uint8_t>(to | nibble(w.data.data, size_t{n} * k_count + k) << (k % 8 >= 4 ? 4 : 0));
    }
  }
}

ir::Bytes packed(const Value& w, Layout layout, uint32_t n_count, uint32_t k_count) {
  std::vector<uint8_t> out(panel_bytes(layout, w.type.dtype, n_count, k_count));
  switch (dtype_bytes(w.type.dtype)) {
    case 4: pack_rows<uint32_t>(w, layout, n_count, k_count, out.data()); break;
    case 2: pack_rows<uint16_t>(w, layout, n_count, k_count, out.data()); break;
    case 1: pack_rows<uint8_t>(w, layout, n_count, k_count, out.data()); break;
    default: pack_nibbles(w, n_count, k_count, out.data()); break;
  }
  return ir::Bytes::own(std::move(out));
}

bool pack_value(Graph& graph, Value* w) {
  const Layout layout = panel_for(w->type.dtype);
  if (layout == Layout::kPlain || w->layout != Layout::kPlain || w->type.rank() < 2 || w->type.count() == 0 || w->users.empty())
    return false;
  for (const Node* user : w->users)
    if (!reads_panels(*user, w)) return false;
  const uint32_t n = static_cast<uint32_t>(w->type.dims[0]), k = static_cast<uint32_t>(w->type.count() / w->type.dims[0]);
  if (w->result_uses > 0 || panel_bytes(layout, w->type.dtype, n, k) > kMaxTensorBytes) return false;
  ir::Bytes bytes = packed(*w, layout, n, k);
  const bool pairs = layout == Layout::kPanel16k4 && pairs_fit(reinterpret_cast<const int8_t*>(bytes.data), bytes.size);
  graph.replace_uses(w,
                     graph.add_constant(w->type.dtype, w->type.dims, std::move(bytes), w->name, pairs ? Layout::kPanel16k4Pairs : layout));
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
