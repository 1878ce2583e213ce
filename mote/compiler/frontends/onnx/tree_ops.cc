// Decision trees of ai.onnx.ml: read into tables here, evaluated by forest.cc.

#include <algorithm>
#include <set>

#include "mote/compiler/frontends/onnx/forest.h"

namespace mote::frontends::onnx {
namespace {

constexpr size_t kMaxNodes = 1u << 22, kMaxWeights = 1u << 25;

std::vector<double> reals(NodeContext& c, const char* as_floats, const char* as_tensor, DType* type = nullptr) {
  std::vector<double> out;
  const auto* a = as_tensor == nullptr ? nullptr : c.attr(as_tensor);
  if (a != nullptr && a->has_t()) {
    Value* v = c.constant(a->t());
    if (v != nullptr && !ir::known_floats(*v, &out)) c.fail(std::string("attribute ") + as_tensor + ": expected floats");
    if (v != nullptr && type != nullptr) *type = v->type.dtype;
    return out;
  }
  const auto floats = as_floats == nullptr ? std::vector<float>{} : c.attr_floats(as_floats);
  return {floats.begin(), floats.end()};
}

bool branch_mode(const std::string& name, BranchMode* out, bool* leaf) {
  static const char* const kNames[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"};
  *leaf = name == "LEAF";
  for (size_t i = 0; i < 6; ++i) {
    if (name != kNames[i]) continue;
    *out = static_cast<BranchMode>(i);
    return true;
  }
  return *leaf;
}

// Weights that (tree, node) pairs name, for each target.
struct WeightNames {
  const char *trees, *nodes, *targets, *values, *values_tensor;
};

// The form of TreeEnsembleRegressor and -Classifier: nodes named by tree and number.
class NamedNodes {
 public:
  NamedNodes(NodeContext& context, Forest* out) : c(context), forest(*out) {}

  bool read(const WeightNames& names) { return read_nodes() && link() && read_weights(names); }
  std::set<int64_t> named_targets;
  bool all_positive = true;

 private:
  bool read_nodes() {
    const auto trees = c.attr_ints("nodes_treeids"), numbers = c.attr_ints("nodes_nodeids"), features = c.attr_ints("nodes_featureids");
    const auto yes = c.attr_ints("nodes_truenodeids"), no = c.attr_ints("nodes_falsenodeids");
    const auto missing = c.attr_ints("nodes_missing_value_tracks_true");
    const auto splits = reals(c, "nodes_values", "nodes_values_as_tensor", &forest.type);
    const auto* modes = c.attr("nodes_modes");
    const size_t n = trees.size();
    if (modes == nullptr || n == 0 || n > kMaxNodes || numbers.size() != n || features.size() != n || yes.size() != n || no.size() != n ||
        splits.size() != n || static_cast<size_t>(modes->strings_size()) != n)
      return fail("the lists that describe the trees' nodes differ in length");
    forest.nodes.resize(n);
    for (size_t i = 0; i < n; ++i) {
      Forest::Node& node = forest.nodes[i];
      if (!branch_mode(modes->strings(static_cast<int>(i)), &node.mode, &node.leaf))
        return fail("mode " + modes->strings(static_cast<int>(i)) + " is not possible");
      node.split = splits[i];
      node.feature = node.leaf ? 0 : features[i];
      node.on_true = yes[i];
      node.on_false = no[i];
      node.missing_is_true = i < missing.size() && missing[i] != 0;
      if (!index_.insert({{trees[i], numbers[i]}, static_cast<int64_t>(i)}).second) return fail("two nodes have the same number");
      tree_.push_back(trees[i]);
    }
    return true;
  }

  // Numbers of nodes become indices; what nothing leads to is a root.
  bool link() {
    std::vector<bool> led_to(forest.nodes.size());
    for (size_t i = 0; i < forest.nodes.size(); ++i) {
      Forest::Node& n = forest.nodes[i];
      for (int64_t* to : {&n.on_true, &n.on_false}) {
        const auto it = n.leaf ? index_.end() : index_.find({tree_[i], *to});
        if (!n.leaf && it == index_.end()) return fail("a branch leads to a node that does not exist");
        *to = n.leaf ? static_cast<int64_t>(i) : it->second;
        if (!n.leaf) led_to[static_cast<size_t>(*to)] = true;
      }
    }
    for (size_t i = 0; i < led_to.size(); ++i)
      if (!led_to[i]) forest.roots.push_back(static_cast<int64_t>(i));
    return true;
  }

  bool read_weights(const WeightNames& names) {
    const auto trees = c.attr_ints(names.trees), numbers = c.attr_ints(names.nodes), targets = c.attr_ints(names.targets);
    const auto values = reals(c, names.values, names.values_tensor);
    if (trees.size() != values.size() || numbers.size() != values.size() || targets.size() != values.size())
      return fail("the lists that describe the leaves' weights differ in length");
    if (forest.targets < 1 || forest.targets > static_cast<int64_t>(kMaxNodes / forest.nodes.size() + 1) * 64)
      return fail("too many targets");
    forest.weights.assign(forest.nodes.size() * static_cast<size_t>(forest.targets), forest.idle_weight());
    for (size_t i = 0; i < values.size(); ++i) {
      const auto it = index_.find({trees[i], numbers[i]});
      if (it == index_.end() || targets[i] < 0 || targets[i] >= forest.targets) return fail("a weight belongs to no leaf or target");
      double& weight = forest.weights[static_cast<size_t>(it->second * forest.targets + targets[i])];
      weight = weight == forest.idle_weight() ? values[i] : weight + values[i];
      named_targets.insert(targets[i]);
      all_positive = all_positive && values[i] >= 0;
    }
    return true;
  }

  bool fail(const std::string& why) {
    c.fail(why);
    return false;
  }

  NodeContext& c;
  Forest& forest;
  std::map<std::pair<int64_t, int64_t>, int64_t> index_;
  std::vector<int64_t> tree_;
};

Value* add_base(NodeContext& c, const Forest& forest, Value* scores) {
  const auto base = reals(c, "base_values", "base_values_as_tensor");
  if (base.empty() || scores == nullptr) return scores;
  if (base.size() != 1 && static_cast<int64_t>(base.size()) != forest.targets) c.fail("expected one base value for each target");
  Value* row = c.b.graph().constant<double>({static_cast<int32_t>(base.size())}, base);
  return Decompose(c).add(scores, Decompose(c).cast(row, forest.type));
}

void import_tree_regressor(NodeContext& c) {
  static const std::map<std::string, Aggregate> kAggregates = {
      {"AVERAGE", Aggregate::kMean}, {"SUM", Aggregate::kSum}, {"MIN", Aggregate::kMin}, {"MAX", Aggregate::kMax}};
  const auto aggregate = kAggregates.find(c.attr_string("aggregate_function", "SUM"));
  if (aggregate == kAggregates.end()) return c.fail("attribute aggregate_function: expected AVERAGE, SUM, MIN or MAX");
  Forest forest;
  forest.targets = c.attr_int("n_targets", 1);
  forest.aggregate = aggregate->second;
  NamedNodes nodes(c, &forest);
  if (!nodes.read({"target_treeids", "target_nodeids", "target_ids", "target_weights", "target_weights_as_tensor"})) return;
  Value* y = add_base(c, forest, evaluate_forest(c, forest, c.in(0)));
  y = post_transform(c, y, c.attr_string("post_transform", "NONE"));
  c.out(0, Decompose(c).cast(y, DType::f32));
}

// One score for two classes becomes two, as ONNX Runtime has it.
Value* both_classes(NodeContext& c, Value* score, bool all_positive, const std::string& transform) {
  Decompose d(c);
  if (all_positive) return d.concat({d.sub(d.number(1, score), score), score}, 1);
  Value* both = d.concat({d.op(OpId::neg, {score}), score}, 1);
  return transform == "LOGISTIC" ? d.op(OpId::sigmoid, {both}) : both;
}

void import_tree_classifier(NodeContext& c) {
  const ClassLabels labels = class_labels(c, "classlabels_int64s");
  const int64_t classes = static_cast<int64_t>(labels.count());
  Forest forest;
  forest.targets = classes;
  NamedNodes nodes(c, &forest);
  if (!nodes.read({"class_treeids", "class_nodeids", "class_ids", "class_weights", "class_weights_as_tensor"})) return;
  Value* scores = evaluate_forest(c, forest, c.in(0));
  const std::string transform = c.attr_string("post_transform", "NONE");
  if (classes == 2 && nodes.named_targets.size() == 1) {
    const int only = static_cast<int>(*nodes.named_targets.begin());
    const auto base = reals(c, "base_values", "base_values_as_tensor");
    Value* score = scores == nullptr ? nullptr : Decompose(c).slice(scores, 1, only, only + 1);
    if (!base.empty() && score != nullptr) score = Decompose(c).add(score, base.back());
    scores = both_classes(c, score, nodes.all_positive, transform);
  } else {
    scores = post_transform(c, add_base(c, forest, scores), transform);
  }
  scores = Decompose(c).cast(scores, DType::f32);
  set_labels(c, scores, labels);
  c.out(1, scores);
}

// Sets of kMember nodes lie one after the other, each ended by NaN, in the order in which a walk (true branch first) meets the nodes.
bool read_members(NodeContext& c, Forest* forest) {
  const auto values = reals(c, nullptr, "membership_values");
  size_t next = 0;
  std::vector<int64_t> open(forest->roots.rbegin(), forest->roots.rend());
  for (size_t visited = 0; !open.empty(); ++visited) {
    const int64_t at = open.back();
    open.pop_back();
    if (at < 0 || at >= static_cast<int64_t>(forest->nodes.size()) || visited > 4 * kMaxNodes) break;  // forest_depth tells
    Forest::Node& n = forest->nodes[static_cast<size_t>(at)];
    if (n.leaf) continue;
    open.push_back(n.on_false);
    open.push_back(n.on_true);
    if (n.mode != BranchMode::kMember) continue;
    n.members.clear();
    while (next < values.size() && values[next] == values[next]) n.members.push_back(values[next++]);
    if (next++ >= values.size()) return c.fail("membership_values has fewer sets than nodes need"), false;
  }
  return true;
}

// Branches come first, then the leaves.
bool read_ensemble(NodeContext& c, Forest* forest) {
  const auto features = c.attr_ints("nodes_featureids"), yes = c.attr_ints("nodes_truenodeids"), no = c.attr_ints("nodes_falsenodeids");
  const auto yes_leaf = c.attr_ints("nodes_trueleafs"), no_leaf = c.attr_ints("nodes_falseleafs"), targets = c.attr_ints("leaf_targetids");
  const auto missing = c.attr_ints("nodes_missing_value_tracks_true");
  const auto splits = reals(c, nullptr, "nodes_splits", &forest->type), weights = reals(c, nullptr, "leaf_weights");
  std::vector<int64_t> modes;
  const auto* mode_tensor = c.attr("nodes_modes");
  Value* mode_values = mode_tensor != nullptr && mode_tensor->has_t() ? c.constant(mode_tensor->t()) : nullptr;
  if (mode_values == nullptr || !ir::known_ints(*mode_values, &modes)) return c.fail("attribute nodes_modes: expected integers"), false;
  const size_t n = features.size(), leaves = weights.size();
  if (n > kMaxNodes || leaves > kMaxNodes || yes.size() != n || no.size() != n || yes_leaf.size() != n || no_leaf.size() != n ||
      splits.size() != n || modes.size() != n || targets.size() != leaves)
    return c.fail("the lists that describe the trees' nodes differ in length"), false;
  forest->nodes.resize(n + leaves);
  const int64_t first_leaf = static_cast<int64_t>(n);
  for (size_t i = 0; i < n; ++i) {
    Forest::Node& node = forest->nodes[i];
    if (modes[i] > static_cast<int64_t>(BranchMode::kMember)) return c.fail("mode " + std::to_string(modes[i]) + " does not exist"), false;
    node.mode = static_cast<BranchMode>(modes[i]);
    node.split = splits[i];
    node.feature = features[i];
    node.on_true = yes[i] + (yes_leaf[i] != 0 ? first_leaf : 0);
    node.on_false = no[i] + (no_leaf[i] != 0 ? first_leaf : 0);
    node.missing_is_true = i < missing.size() && missing[i] != 0;
  }
  if (forest->targets < 1 || forest->targets > static_cast<int64_t>(kMaxWeights / (forest->nodes.size() + 1)))
    return c.fail("attribute n_targets is missing or out of range"), false;
  forest->weights.assign(forest->nodes.size() * static_cast<size_t>(forest->targets), forest->idle_weight());
  for (size_t i = 0; i < leaves; ++i) {
    Forest::Node& node = forest->nodes[n + i];
    node.leaf = true;
    node.on_true = node.on_false = first_leaf + static_cast<int64_t>(i);
    if (targets[i] < 0 || targets[i] >= forest->targets) return c.fail("a leaf belongs to no target"), false;
    forest->weights[(n + i) * static_cast<size_t>(forest->targets) + static_cast<size_t>(targets[i])] = weights[i];
  }
  return true;
}

void import_tree_ensemble(NodeContext& c) {
  static const char* const kTransforms[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  const int64_t aggregate = c.attr_int("aggregate_function", 1), transform = c.attr_int("post_transform", 0);
  if (aggregate < 0 || aggregate > 3 || transform < 0 || transform > 4)
    return c.fail("aggregate_function or post_transform is out of range");
  Forest forest;
  forest.aggregate = static_cast<Aggregate>(aggregate);
  forest.targets = c.attr_int("n_targets", 0);
  forest.roots = c.attr_ints("tree_roots");
  if (!read_ensemble(c, &forest) || !read_members(c, &forest)) return;
  Value* y = post_transform(c, evaluate_forest(c, forest, c.in(0)), kTransforms[transform]);
  c.out(0, Decompose(c).cast(y, c.in(0)->type.dtype));
}

}  // namespace

void add_tree_ops(OpTable& table);
void add_tree_ops(OpTable& table) {
  add_lines(table,
            {{"TreeEnsemble", import_tree_ensemble},
             {"TreeEnsembleRegressor", import_tree_regressor},
             {"TreeEnsembleClassifier", import_tree_classifier}},
            "ai.onnx.ml");
}

}  // namespace mote::frontends::onnx
