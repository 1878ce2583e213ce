#include "mote/compiler/quant/smooth.h"

#include <algorithm>
#include <cmath>

#include "mote/compiler/quant/prepare.h"
#include "mote/ops/layer_norm/layer_norm.h"
#include "mote/ops/matmul/matmul.h"
#include "mote/ops/rms_norm/rms_norm.h"

namespace mote::quant {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

constexpr double kDeviations = 3;  // that values of a channel reach
constexpr double kMaxSmoothing = 64;

// The factor or shift of each channel; empty when it is not a constant for each.
std::vector<double> channel_numbers(const Value* v, int64_t channels) {
  if (v == nullptr || !v->is_constant() || v->type.dtype != DType::f32 || v->type.count() != channels || v->type.rank() == 0 ||
      v->type.dims.back() != channels)
    return {};
  return passes::constant_numbers(v);
}

bool over_last_axis(const Node& n) {
  if (!n.is(OpId::layer_norm) && !n.is(OpId::rms_norm)) return false;
  const int rank = n.inputs[0]->type.rank();
  if (n.outputs[0] == nullptr || n.outputs[0]->type.dtype != DType::f32 || rank < 2) return false;
  const int32_t axis = n.is(OpId::layer_norm) ? n.attributes<ops::layer_norm::Attrs>().axis : n.attributes<ops::rms_norm::Attrs>().axis;
  return axis == -1 || axis == rank - 1;
}

bool is_reader(const Node& n, const Value* x) {
  return n.is(OpId::matmul) && can_be_integer(n) && n.inputs[0] == x && n.attributes<ops::matmul::Attrs>().transpose_a == 0 &&
         std::count(n.inputs.begin(), n.inputs.end(), x) == 1;
}

// Calls f(element, input channel) for all weights.
template <class F>
void for_each_weight(const Node& n, std::vector<double>* w, const F& f) {
  const auto columns = static_cast<size_t>(n.inputs[passes::kWeights]->type.dims[1]);
  const bool rows_first = n.attributes<ops::matmul::Attrs>().transpose_b != 0;
  for (size_t i = 0; i < w->size(); ++i) f((*w)[i], rows_first ? i % columns : i / columns);
}

class Smoother {
 public:
  Smoother(Graph& graph, Node& norm) : graph_(graph), norm_(norm), y_(norm.outputs[0]) {}

  bool run(double strength) {
    const int64_t channels = y_->type.dims.back();
    scale_ = channel_numbers(norm_.input(1), channels);
    if (scale_.empty()) return false;
    if (norm_.input(2) != nullptr && (shift_ = channel_numbers(norm_.input(2), channels)).empty()) return false;
    for (Node* n : y_->users) (is_reader(*n, y_) ? readers_ : others_).push_back(n);
    if (readers_.empty()) return false;
    find_factors(strength);
    return write();
  }

 private:
  void find_factors(double strength) {
    std::vector<double> reach(scale_.size(), 1e-9);
    for (const Node* n : readers_) {
      std::vector<double> w = passes::constant_numbers(n->inputs[passes::kWeights]);
      for_each_weight(*n, &w, [&](double v, size_t c) { reach[c] = std::max(reach[c], std::fabs(v)); });
    }
    double mean = 0;
    for (size_t c = 0; c < scale_.size(); ++c) {
      const double peak = std::max(kDeviations * std::fabs(scale_[c]) + (shift_.empty() ? 0 : std::fabs(shift_[c])), 1e-9);
      factors_.push_back(std::pow(peak, strength) / std::pow(reach[c], 1 - strength));
      mean += std::log(factors_.back()) / static_cast<double>(scale_.size());
    }
    for (double& f : factors_) f = std::clamp(f / std::exp(mean), 1 / kMaxSmoothing, kMaxSmoothing);
  }

  Value* vector(const Value* like, std::vector<double> numbers, bool divide) {
    for (size_t c = 0; c < numbers.size(); ++c) numbers[c] = divide ? numbers[c] / factors_[c] : numbers[c] * factors_[c];
    return passes::float_constant(graph_, DType::f32, like->type.dims, numbers, like->name);
  }

  bool write() {
    ir::NodeBuilder b(graph_, *norm_.block, norm_.name, next());
    if (!others_.empty() || y_->result_uses > 0) {
      Value* back = b.op(OpId::mul, {y_, passes::float_constant(graph_, DType::f32, {static_cast<int32_t>(factors_.size())}, factors_)});
      if (back == nullptr) return false;
      graph_.replace_uses(y_, back);
      graph_.set_input(back->producer, 0, y_);
      for (Node* n : readers_) graph_.set_input(n, 0, y_);
      std::swap(back->name, y_->name);
    }
    for (Node* n : readers_) {
      const Value* w = n->inputs[passes::kWeights];
      std::vector<double> numbers = passes::constant_numbers(w);
      for_each_weight(*n, &numbers, [&](double& v, size_t c) { v *= factors_[c]; });
      graph_.set_input(n, passes::kWeights, passes::float_constant(graph_, DType::f32, w->type.dims, numbers, w->name));
    }
    graph_.set_input(&norm_, 1, vector(norm_.inputs[1], scale_, true));
    if (!shift_.empty()) graph_.set_input(&norm_, 2, vector(norm_.inputs[2], shift_, true));
    return true;
  }

  Node* next() const {
    const auto it = std::next(norm_.place);
    return it == norm_.block->nodes.end() ? nullptr : it->get();
  }

  Graph& graph_;
  Node& norm_;
  Value* y_;
  std::vector<double> scale_, shift_, factors_;
  std::vector<Node*> readers_, others_;
};

}  // namespace

bool smooth(ir::Graph& graph, float strength) {
  if (!(strength > 0)) return false;
  return passes::each_node(
      graph, [&](Node& n) { return n.is_operator() && over_last_axis(n) && Smoother(graph, n).run(static_cast<double>(strength)); });
}

}  // namespace mote::quant
