#include "mote/compiler/frontends/executorch/open_axes.h"

#include <algorithm>

namespace mote::frontends::executorch {
namespace {

constexpr size_t kMostTrials = 24;           // imports of the whole program
constexpr size_t kMostInstructions = 20000;  // of programs that are imported more than once

using Axis = std::pair<size_t, size_t>;  // input, axis

struct Candidate {
  std::vector<Axis> axes;  // that vary together
  int32_t bound = 0;
};

std::string place_name(const Axis& axis) { return "input_" + std::to_string(axis.first) + "." + std::to_string(axis.second); }

const fb::Tensor* input_tensor(const fb::ExecutionPlan& plan, uint32_t n) {
  const int32_t index = plan.inputs()->Get(n);
  const uint32_t count = plan.values() == nullptr ? 0 : plan.values()->size();
  return index < 0 || static_cast<uint32_t>(index) >= count ? nullptr : plan.values()->Get(static_cast<uint32_t>(index))->val_as_Tensor();
}

bool is_bound(const fb::Tensor* t) {
  return t != nullptr && t->sizes() != nullptr && t->shape_dynamism() == fb::TensorShapeDynamism::DYNAMIC_BOUND;
}

class Search {
 public:
  Search(const Program& program, const ImportOptions& options, const Trial& trial) : program_(program), options_(options), trial_(trial) {}

  OpenAxes run() {
    if (!collect()) return {};
    OpenAxes best = wanted_;
    size_t most = explained(best);
    if (most == kFails) return best;
    // The axes of one size together first: a batch or a sequence length that several inputs share; then each alone.
    for (const Candidate& c : candidates_) {
      if (most == dynamic_ || trials_ >= kMostTrials) break;
      OpenAxes more = best;
      for (const Axis& axis : c.axes) more.emplace(axis, place_name(c.axes.front()));
      if (more.size() == best.size()) continue;
      const size_t now = explained(more);
      if (now == kFails || now <= most) continue;
      best = more;
      most = now;
    }
    return best;
  }

 private:
  static constexpr size_t kFails = ~size_t{0};

  // Dynamic inputs' axes that may vary, batch axes first. False when the program has none.
  bool collect() {
    std::vector<Axis> axes;
    size_t instructions = 0;
    for (const fb::ExecutionPlan* plan : *program_.table().execution_plan()) {
      if (plan->chains() != nullptr && plan->chains()->size() == 1 && plan->chains()->Get(0)->instructions() != nullptr)
        instructions += plan->chains()->Get(0)->instructions()->size();
      for (uint32_t n = 0; plan->inputs() != nullptr && n < plan->inputs()->size(); ++n) {
        const fb::Tensor* t = input_tensor(*plan, n);
        if (!is_bound(t)) continue;
        for (uint32_t k = 0; k < t->sizes()->size(); ++k) add(axes, {n, k}, t->sizes()->Get(k));
      }
    }
    if (bounds_.empty() || instructions > kMostInstructions) return !wanted_.empty();
    std::stable_sort(axes.begin(), axes.end(), [](const Axis& a, const Axis& b) { return a.second < b.second; });
    for (const Axis& a : axes) {
      Candidate c{{a}, bounds_[a]};
      for (const Axis& b : axes)
        if (b.first != a.first && b.second == a.second && bounds_[b] == c.bound) c.axes.push_back(b);
      if (c.axes.size() > 1 && c.axes.front() < c.axes[1]) candidates_.push_back(c);
    }
    for (const Axis& a : axes) candidates_.push_back({{a}, bounds_[a]});
    return true;
  }

  void add(std::vector<Axis>& axes, const Axis& axis, int32_t bound) {
    const auto shape = options_.shapes.find("input_" + std::to_string(axis.first));
    const bool other = shape != options_.shapes.end() && axis.second < shape->second.size() && shape->second[axis.second] != bound;
    const bool asked = options_.dims.count(place_name(axis)) != 0 || other;
    if (asked) wanted_.emplace(axis, place_name(axis));
    if (bound < 2 || !bounds_.emplace(axis, bound).second) return;
    if (!asked) axes.push_back(axis);
  }

  // How many of the tensors that the program calls dynamic are so in the graph; kFails where it cannot be imported, or one is dynamic that
  // the program calls static.
  size_t explained(const OpenAxes& open) {
    ir::Graph graph;
    torch::ExportedModel model;
    ++trials_;
    if (!trial_(open, graph, &model)) return kFails;
    size_t found = 0;
    dynamic_ = 0;
    for (size_t i = 0; i < model.methods.size() && i < graph.methods.size(); ++i)
      if (!count(*model.methods[i].program, *graph.methods[i].block, &found)) return kFails;
    return found;
  }

  bool count(const torch::ProgramDef& program, const ir::Block& block, size_t* found) {
    for (const auto& node : block.nodes) {
      for (const ir::Value* v : node->outputs) {
        const auto meta = program.graph.tensors.find(v->name);
        if (meta == program.graph.tensors.end()) continue;
        const bool says = std::any_of(meta->second.sizes.begin(), meta->second.sizes.end(),
                                      [](const torch::SymNumber& s) { return !s.expression.empty(); });
        if (v->type.dynamic != 0 && !says) return false;
        dynamic_ += says ? 1 : 0;
        *found += v->type.dynamic != 0 ? 1 : 0;
      }
    }
    return true;
  }

  const Program& program_;
  const ImportOptions& options_;
  const Trial& trial_;
  std::map<Axis, int32_t> bounds_;
  std::vector<Candidate> candidates_;
  OpenAxes wanted_;
  size_t dynamic_ = ~size_t{0}, trials_ = 0;
};

}  // namespace

OpenAxes find_open_axes(const Program& program, const ImportOptions& options, const Trial& trial) {
  return Search(program, options, trial).run();
}

}  // namespace mote::frontends::executorch
