#include "mote/compiler/quant/equalise.h"

#include <algorithm>
#include <cmath>

#include "mote/compiler/quant/prepare.h"
#include "mote/compiler/quant/recipe.h"
#include "mote/ops/common/activation.h"
#include "mote/ops/conv/conv.h"

namespace mote::quant {
namespace {

using ir::Node;
using ir::Value;

constexpr float kMaxFactor = 16;
// Exponent of the scaling, 1 for full use of the range: leaves headroom for inputs that the calibration data lacks.
constexpr float kPower = 0.5f;

// Activations that commute with scaling of channels: factors keep channels within the range of the tensor's largest one, so a clamp
// affects the same elements.
bool scales_through(const Node& n) {
  const passes::Activation a = passes::activation_of(n);
  switch (static_cast<ops::Activation>(a.kind)) {
    case ops::Activation::kNone:
    case ops::Activation::kRelu:
    case ops::Activation::kRelu6: return true;
    case ops::Activation::kClamp: return a.a == 0 && a.b > 0;
    default: return false;
  }
}

// Input channels per row of weights, and rows per group.
struct Shape {
  int64_t channels = 0, rows_per_group = 0;
  bool separate = false;  // depthwise: each channel has rows of its own
};
Shape shape_of(const Node& n) {
  const ir::Type& w = n.inputs[passes::kWeights]->type;
  const int64_t rows = passes::channels_of(n);
  if (n.is(OpId::matmul)) return {w.count() / std::max<int64_t>(1, rows), rows, false};
  const auto groups = static_cast<int64_t>(n.attributes<ops::conv::Attrs>().groups);
  return {w.dims.back(), rows / std::max<int64_t>(1, groups), groups > 1 && w.dims.back() == 1};
}

// The product that is the only reader of another's output; null when its weights cannot be matched to those channels.
Node* second_of(const Node& first) {
  const Value* v = first.outputs[0];
  if (!can_be_integer(first) || first.is(OpId::conv_transpose) || !v->has_one_use() || v->users.empty()) return nullptr;
  Node* n = v->users[0];
  if (n->block != first.block || !n->is_operator() || !can_be_integer(*n) || n->inputs[0] != v || n->is(OpId::conv_transpose))
    return nullptr;
  const Shape s = shape_of(*n);
  const int64_t channels = v->type.dims.empty() ? 0 : v->type.dims.back();
  if (channels != passes::channels_of(first)) return nullptr;
  if (s.separate) return s.rows_per_group > 0 && s.rows_per_group * channels == passes::channels_of(*n) ? n : nullptr;
  return s.channels == channels ? n : nullptr;
}

// Calls visit(input channel, weight) for all weights.
template <class Visit>
void for_each_weight(const Node& n, WeightRows* rows, Visit visit) {
  const Shape s = shape_of(n);
  for (int64_t r = 0; r < rows->rows; ++r)
    for (int64_t c = 0; c < rows->columns; ++c)
      visit(static_cast<size_t>(s.separate ? r / s.rows_per_group : c % s.channels),
            &rows->values[static_cast<size_t>(r * rows->columns + c)]);
}

}  // namespace

void add_peaks(const driver::Array& a, std::vector<float>* peaks) {
  if (a.dtype != DType::f32 || a.dims.empty() || a.dims.back() <= 0) return;
  const auto channels = static_cast<size_t>(a.dims.back());
  if (peaks->empty()) peaks->assign(channels, 0);
  if (peaks->size() != channels) return;
  const auto* x = reinterpret_cast<const float*>(a.data.data());
  for (size_t i = 0, c = 0; i < a.data.size() / sizeof(float); ++i, c = c + 1 == channels ? 0 : c + 1)
    if (std::isfinite(x[i])) (*peaks)[c] = std::max((*peaks)[c], std::fabs(x[i]));
}

std::vector<float> EqualPair::factors(const std::vector<float>& peaks) const {
  const float largest = peaks.empty() ? 0 : *std::max_element(peaks.begin(), peaks.end());
  const float widest = reach.empty() ? 0 : *std::max_element(reach.begin(), reach.end());
  std::vector<float> all(peaks.size(), 1);
  for (size_t c = 0; c < peaks.size() && largest > 0; ++c) {
    const float room = std::min(largest / std::max(peaks[c], largest * 1e-6f), kMaxFactor);
    // In a row shared by all channels weights lose the resolution that activations gain: the geometric mean of both is taken.
    const float share = reach.empty() ? 1 : widest > 0 ? std::max(reach[c] / widest, 1e-3f) : 1;
    all[c] = reach.empty() ? std::pow(room, kPower) : std::clamp(std::sqrt(room * share), 1.0f, room);
  }
  return all;
}

std::vector<EqualPair> equal_pairs(const ir::Method& method) {
  std::vector<EqualPair> pairs;
  for (const auto& n : method.block->nodes) {
    EqualPair p;
    if (!n->is_operator() || !can_be_integer(*n) || !scales_through(*n)) continue;
    const Node* second = second_of(*n);
    if (second == nullptr) continue;
    p.id = n->outputs[0]->id;
    if (!shape_of(*second).separate) {
      p.reach.assign(static_cast<size_t>(passes::channels_of(*n)), 0);
      WeightRows rows = weight_rows(*second);
      if (QuantWeights given; exact_weights(rows, &given)) continue;  // scaling would move them off their grid
      for_each_weight(*second, &rows,
                      [&](size_t channel, const float* w) { p.reach[channel] = std::max(p.reach[channel], std::fabs(*w)); });
    }
    pairs.push_back(std::move(p));
  }
  return pairs;
}

void equalise(ir::Graph& graph, const ChannelFactors& factors) {
  for (const auto& node : graph.methods[0].block->nodes) {
    Node& n = *node;
    if (n.outputs.empty() || n.outputs[0] == nullptr) continue;
    const auto it = factors.find(n.outputs[0]->id);
    if (it == factors.end()) continue;
    const std::vector<float>& f = it->second;
    Node* second = second_of(n);
    if (second == nullptr || f.size() != static_cast<size_t>(passes::channels_of(n))) continue;
    WeightRows rows = weight_rows(n);
    for (size_t i = 0; i < rows.values.size(); ++i) rows.values[i] *= f[i / static_cast<size_t>(rows.columns)];
    set_weight_rows(graph, n, std::move(rows));
    if (n.input(passes::kBias) != nullptr) {
      std::vector<double> bias = passes::bias_of(n);
      for (size_t c = 0; c < bias.size(); ++c) bias[c] *= static_cast<double>(f[c]);
      graph.set_input(&n, passes::kBias,
                      passes::float_constant(graph, DType::f32, {static_cast<int32_t>(bias.size())}, bias, n.name + ".bias"));
    }
    rows = weight_rows(*second);
    for_each_weight(*second, &rows, [&](size_t channel, float* w) { *w /= f[channel]; });
    set_weight_rows(graph, *second, std::move(rows));
  }
}

}  // namespace mote::quant
