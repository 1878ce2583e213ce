// Zeros that a pad adds around the spatial dimensions become the padding of the convolution or pool that reads them.

#include <algorithm>

#include "mote/compiler/ir/infer.h"
#include "mote/compiler/passes/linear.h"
#include "mote/ops/avg_pool/avg_pool.h"
#include "mote/ops/clip/clip.h"
#include "mote/ops/common/activation.h"
#include "mote/ops/conv/conv.h"
#include "mote/ops/max_pool/max_pool.h"
#include "mote/ops/pad/pad.h"
#include "mote/ops/q_conv/q_conv.h"

namespace mote::passes {
namespace {

// The pad in front of a node when it only adds `value` to spatial dimensions.
Node* spatial_pad(const Node& n, float value) {
  Node* p = made_by(n.inputs[0], OpId::pad);
  if (p == nullptr || p->inputs.size() != 1 || !reads_no_state(*p)) return nullptr;
  const auto a = p->attributes<ops::pad::Attrs>();
  const int rank = n.inputs[0]->type.rank();
  if (a.mode != ops::pad::kConstant || a.value != value || rank < 3) return nullptr;
  for (int i = 0; i < rank; ++i) {
    const bool spatial = i > 0 && i < rank - 1;
    if (a.begin[i] < 0 || a.end[i] < 0 || (!spatial && (a.begin[i] != 0 || a.end[i] != 0))) return nullptr;
  }
  return p;
}

template <class A>
void add_pads(const Node& pad, A* a) {
  const auto p = pad.attributes<ops::pad::Attrs>();
  for (int i = 0; i + 2 < pad.inputs[0]->type.rank(); ++i) {
    a->pads_begin[i] += p.begin[i + 1];
    a->pads_end[i] += p.end[i + 1];
  }
}

template <class A>
bool absorb(Graph& graph, Node& n, const Node& pad, A a) {
  add_pads(pad, &a);
  std::vector<Value*> inputs = n.inputs;
  inputs[0] = pad.inputs[0];
  NodeBuilder b(graph, *n.block, joined_name(pad.name, n.name), &n);
  return replace_by(graph, n, b.op(static_cast<OpId>(n.op), a, inputs));
}

bool never_negative(const Value* v) {
  const Node* n = v->producer;
  if (n == nullptr || !n->is_operator()) return false;
  if (n->is(OpId::relu) || n->is(OpId::sigmoid) || n->is(OpId::hard_sigmoid) || n->is(OpId::softmax)) return true;
  if (n->is(OpId::clip)) return n->inputs.size() == 1 && n->attributes<ops::clip::Attrs>().lo >= 0;
  if (n->is(OpId::max_pool) || n->is(OpId::pad)) return false;
  const uint32_t kind = is_linear(*n) ? activation_of(*n).kind : 0;
  return kind == static_cast<uint32_t>(ops::Activation::kRelu) || kind == static_cast<uint32_t>(ops::Activation::kRelu6) ||
         kind == static_cast<uint32_t>(ops::Activation::kSigmoid);
}

// Every window of a pool meets at least one element when no padding is as large as the window.
bool narrow(const ops::max_pool::Attrs& a, int spatial) {
  for (int i = 0; i < spatial; ++i)
    if (a.dilations[i] != 1 || a.pads_begin[i] >= a.kernel[i] || a.pads_end[i] >= a.kernel[i]) return false;
  return true;
}

bool max_pool(Graph& graph, Node& n) {
  const auto a = n.attributes<ops::max_pool::Attrs>();
  const Node* p = spatial_pad(n, 0);
  if (p == nullptr || n.outputs.size() != 1 || a.ceil_mode != 0 || !never_negative(p->inputs[0])) return false;
  ops::max_pool::Attrs wide = a;
  add_pads(*p, &wide);
  return narrow(wide, p->inputs[0]->type.rank() - 2) && absorb(graph, n, *p, a);
}

bool avg_pool(Graph& graph, Node& n) {
  auto a = n.attributes<ops::avg_pool::Attrs>();
  const Node* p = spatial_pad(n, 0);
  if (p == nullptr || a.ceil_mode != 0) return false;
  const bool own = std::any_of(a.pads_begin, a.pads_begin + 3, [](int32_t v) { return v != 0; }) ||
                   std::any_of(a.pads_end, a.pads_end + 3, [](int32_t v) { return v != 0; });
  if (own && a.count_include_pad == 0 && a.divisor_override == 0) return false;
  a.count_include_pad = 1;
  return absorb(graph, n, *p, a);
}

}  // namespace

bool fuse_pads(Graph& graph, const PassOptions&) {
  return each_node(graph, [&](Node& n) {
    if (n.is(OpId::max_pool)) return max_pool(graph, n);
    if (n.is(OpId::avg_pool)) return avg_pool(graph, n);
    if (n.is(OpId::conv)) {
      const Node* p = spatial_pad(n, 0);
      return p != nullptr && absorb(graph, n, *p, n.attributes<ops::conv::Attrs>());
    }
    if (!n.is(OpId::q_conv) || n.input(5) != nullptr) return false;  // x_zero known only when running
    const auto a = n.attributes<ops::q_conv::Attrs>();
    const Node* p = spatial_pad(n, static_cast<float>(a.input_zero));
    return p != nullptr && absorb(graph, n, *p, a);
  });
}

}  // namespace mote::passes
