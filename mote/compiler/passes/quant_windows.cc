// Windows of q_conv whose rows end within four elements, as of images with three channels: columns of weights that count for nothing are
// added. Kernels that multiply four elements at a time then read rows of the input as they lie, instead of copying each window. Results are
// the same.

#include <algorithm>

#include "mote/compiler/ir/infer.h"
#include "mote/compiler/passes/rewrite.h"
#include "mote/ops/q_conv/q_conv.h"

namespace mote::passes {
namespace {

constexpr int32_t kTogether = 4;

bool widen(Graph& graph, Node& n) {
  if (!n.is(OpId::q_conv)) return false;
  auto a = n.attributes<ops::q_conv::Attrs>();
  const Value* w = n.inputs[1];
  if (!w->is_constant() || w->layout != Layout::kPlain || w->type.dtype != DType::s8 || w->type.rank() != 4 || a.groups != 1) return false;
  if (a.dilations[1] != 1 || a.wide != 0 || n.input(ops::kEpilogueWZero) != nullptr) return false;
  const Dims& old = w->type.dims;
  const int32_t width = old[2], channels = old[3], row = width * channels;
  if (width < 2 || row == 0 || row % kTogether == 0) return false;
  Dims dims = old;
  while (dims[2] * channels % kTogether != 0) ++dims[2];
  if (dims[2] * 2 > width * 3) return false;  // half as many products again, and no more
  const size_t rows = w->data.size / static_cast<size_t>(row), wide = static_cast<size_t>(dims[2]) * static_cast<size_t>(channels);
  std::vector<int8_t> codes(rows * wide, static_cast<int8_t>(a.weight_zero));
  for (size_t r = 0; r < rows; ++r)
    std::copy_n(reinterpret_cast<const int8_t*>(w->data.data) + r * static_cast<size_t>(row), row,
                codes.begin() + static_cast<long>(r * wide));
  a.pads_end[1] += dims[2] - width;
  std::vector<Value*> inputs = n.inputs;
  inputs[1] = graph.constant<int8_t>(dims, codes, w->name);
  NodeBuilder b(graph, *n.block, n.name, &n);
  return replace_by(graph, n, b.op(OpId::q_conv, a, inputs));
}

}  // namespace

bool quant_windows(Graph& graph, const PassOptions&) {
  return each_node(graph, [&](Node& n) { return widen(graph, n); });
}

}  // namespace mote::passes
