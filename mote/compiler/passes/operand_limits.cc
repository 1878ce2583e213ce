// Joins and cuts with more operands than an instruction can have: class heads and recurrent layers that exporters unroll.

#include <algorithm>

#include "mote/compiler/ir/infer.h"
#include "mote/compiler/passes/rewrite.h"
#include "mote/ops/concat/concat.h"
#include "mote/ops/slice/slice.h"
#include "mote/ops/split/split.h"
#include "mote/runtime/verify.h"

namespace mote::passes {
namespace {

constexpr size_t kMostJoined = kMaxOperands - 1;  // the result is an operand too

// Joins groups of parts, then the groups. The groups are inner joins, which lie in the outer one's memory where the plan can have that.
bool join_in_groups(Graph& graph, Node& n) {
  if (n.inputs.size() <= kMostJoined) return false;
  const auto a = n.attributes<ops::concat::Attrs>();
  NodeBuilder b(graph, *n.block, n.name, &n);
  std::vector<Value*> parts = n.inputs;
  while (parts.size() > kMostJoined) {
    std::vector<Value*> groups;
    for (size_t at = 0; at < parts.size(); at += kMostJoined) {
      const std::vector<Value*> group(parts.begin() + static_cast<std::ptrdiff_t>(at),
                                      parts.begin() + static_cast<std::ptrdiff_t>(std::min(at + kMostJoined, parts.size())));
      groups.push_back(group.size() == 1 ? group[0] : b.op(OpId::concat, a, group));
    }
    parts = std::move(groups);
  }
  return replace_by(graph, n, b.op(OpId::concat, a, parts));
}

// The sizes of a split's parts; none where only running tells.
std::vector<int64_t> part_sizes(const Node& n, int64_t whole) {
  std::vector<int64_t> sizes;
  const int64_t parts = static_cast<int64_t>(n.outputs.size()), each = (whole + parts - 1) / parts;
  if (n.input(1) == nullptr) {
    for (int64_t i = 0; i < parts; ++i) sizes.push_back(std::min(each, whole - each * i));
  } else if (!n.input(1)->is_constant() || !ir::known_ints(*n.input(1), &sizes) || static_cast<int64_t>(sizes.size()) != parts) {
    return {};
  }
  return sizes;
}

// Each part that has a use by itself. Only where the size along the axis is fixed, so that the sizes say where each part begins.
bool cut_one_by_one(Graph& graph, Node& n) {
  if (n.outputs.size() <= kMaxOutputs) return false;
  Value* x = n.inputs[0];
  const int axis = axis_of(n.attributes<ops::split::Attrs>().axis, x->type.rank());
  if (axis < 0 || (x->type.dynamic >> axis & 1) != 0) return false;
  const std::vector<int64_t> sizes = part_sizes(n, x->type.dims[static_cast<size_t>(axis)]);
  if (sizes.empty()) return false;
  ops::slice::Attrs cut;
  cut.axes[0] = axis;
  cut.steps[0] = 1;
  cut.count = 1;
  NodeBuilder b(graph, *n.block, n.name, &n);
  std::vector<Value*> made;
  for (size_t o = 0; o < sizes.size(); ++o) {
    cut.starts[0] = cut.ends[0];
    cut.ends[0] += static_cast<int32_t>(sizes[o]);
    made.push_back(n.outputs[o] == nullptr ? nullptr : b.op(OpId::slice, cut, {x}));
  }
  for (size_t o = 0; o < made.size(); ++o)
    if (n.outputs[o] != nullptr && (made[o] == nullptr || made[o]->type != n.outputs[o]->type)) return false;
  for (size_t o = 0; o < made.size(); ++o) {
    if (made[o] == nullptr) continue;
    made[o]->name = n.outputs[o]->name;
    made[o]->quant = n.outputs[o]->quant;
    graph.replace_uses(n.outputs[o], made[o]);
  }
  erase_unused(graph, &n);
  return true;
}

}  // namespace

bool operand_limits(Graph& graph, const PassOptions&) {
  return each_node(graph, [&](Node& n) {
    if (n.is(OpId::concat)) return join_in_groups(graph, n);
    return n.is(OpId::split) && cut_one_by_one(graph, n);
  });
}

}  // namespace mote::passes
