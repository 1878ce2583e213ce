#include "mote/compiler/frontends/onnx/forest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "mote/ops/common/arg_reduce.h"
#include "mote/ops/gather_elements/gather_elements.h"

namespace mote::frontends::onnx {
namespace {

constexpr int kMaxLevels = 256;
constexpr size_t kMaxMembers = 1u << 25;

template <class T, class Get>
Value* column(NodeContext& c, const Forest& forest, const Get& get) {
  std::vector<T> values;
  for (const Forest::Node& n : forest.nodes) values.push_back(static_cast<T>(get(n)));
  return c.b.graph().constant<T>({static_cast<int32_t>(values.size())}, values);
}

Value* real_table(NodeContext& c, DType type, const ir::Dims& dims, const std::vector<double>& values) {
  if (type == DType::f64) return c.b.graph().constant<double>(dims, values);
  return c.b.graph().constant<float>(dims, std::vector<float>(values.begin(), values.end()));
}

// Walks one level down at a time: `at` (N, trees) holds the node each tree has reached.
class Walk {
 public:
  Walk(NodeContext& context, const Forest& forest, Value* x) : c(context), d(context), forest_(forest), x_(x) {
    feature_ = column<int64_t>(c, forest, [](const Forest::Node& n) { return n.feature; });
    on_true_ = column<int64_t>(c, forest, [](const Forest::Node& n) { return n.on_true; });
    on_false_ = column<int64_t>(c, forest, [](const Forest::Node& n) { return n.on_false; });
    mode_ = column<int64_t>(c, forest, [](const Forest::Node& n) { return static_cast<int64_t>(n.mode); });
    missing_ = column<int64_t>(c, forest, [](const Forest::Node& n) { return n.missing_is_true ? 1 : 0; });
    std::vector<double> splits;
    for (const Forest::Node& n : forest.nodes) {
      splits.push_back(n.split);
      if (!n.leaf) modes_.insert(n.mode);
      any_missing_ = any_missing_ || n.missing_is_true;
    }
    split_ = real_table(c, forest.type, {static_cast<int32_t>(splits.size())}, splits);
    members_ = split_;
    if (modes_.count(BranchMode::kMember) != 0) members_ = member_table();
  }

  Value* run(int depth) {
    const int32_t trees = static_cast<int32_t>(forest_.roots.size());
    Value* roots = c.b.graph().constant<int64_t>({1, trees}, forest_.roots);
    Value* at = d.op(OpId::expand, {roots, d.concat({d.size_of(x_, 0), d.ints({trees})}, 0)});
    for (int i = 0; i < depth && at != nullptr; ++i)
      at = d.op(OpId::where, {decision(at), d.gather(on_true_, at, 0), d.gather(on_false_, at, 0)});
    return at;
  }

 private:
  Value* decision(Value* at) {
    ops::gather_elements::Attrs along;
    along.axis = 1;
    Value* value = c.b.op(OpId::gather_elements, along, {x_, d.gather(feature_, at, 0)});
    if (value == nullptr) return nullptr;
    Value* result = nullptr;
    for (const BranchMode mode : modes_) {
      Value* holds = compare(mode, value, at);
      if (modes_.size() > 1) {
        Value* meant = d.op(OpId::equal, {d.gather(mode_, at, 0), d.number(static_cast<int>(mode), DType::s64)});
        holds = d.op(OpId::logical_and, {meant, holds});
      }
      result = result == nullptr ? holds : d.op(OpId::logical_or, {result, holds});
    }
    if (!any_missing_) return result;
    Value* excused = d.op(OpId::logical_and, {d.op(OpId::is_nan, {value}), d.cast(d.gather(missing_, at, 0), DType::boolean)});
    return d.op(OpId::logical_or, {result, excused});
  }

  Value* compare(BranchMode mode, Value* value, Value* at) {
    if (mode == BranchMode::kMember) {
      Value* equal = d.op(OpId::equal, {d.unsqueeze(value, {2}), d.gather(members_, at, 0)});
      return d.reduce(OpId::reduce_any, equal, {2}, false);
    }
    static constexpr OpId kCompare[] = {OpId::less_equal, OpId::less, OpId::greater_equal, OpId::greater, OpId::equal, OpId::not_equal};
    return d.op(kCompare[static_cast<int>(mode)], {value, d.gather(split_, at, 0)});
  }

  // The sets of all nodes, as long as the longest; NaN equals nothing.
  Value* member_table() {
    size_t longest = 1;
    for (const Forest::Node& n : forest_.nodes) longest = std::max(longest, n.members.size());
    if (longest > kMaxMembers / forest_.nodes.size()) {
      c.fail("sets of " + std::to_string(longest) + " values are too large for so many nodes");
      return split_;
    }
    std::vector<double> table(forest_.nodes.size() * longest, std::numeric_limits<double>::quiet_NaN());
    for (size_t i = 0; i < forest_.nodes.size(); ++i)
      std::copy(forest_.nodes[i].members.begin(), forest_.nodes[i].members.end(), table.begin() + static_cast<long>(i * longest));
    return real_table(c, forest_.type, {static_cast<int32_t>(forest_.nodes.size()), static_cast<int32_t>(longest)}, table);
  }

  NodeContext& c;
  Decompose d;
  const Forest& forest_;
  Value* x_;
  std::set<BranchMode> modes_;
  bool any_missing_ = false;
  Value *feature_, *on_true_, *on_false_, *mode_, *missing_, *split_, *members_;
};

}  // namespace

double Forest::idle_weight() const {
  const double most = type == DType::f64 ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
  return aggregate == Aggregate::kMin ? most : aggregate == Aggregate::kMax ? -most : 0;
}

bool forest_depth(NodeContext& c, const Forest& forest, int* out) {
  const int64_t count = static_cast<int64_t>(forest.nodes.size());
  std::vector<int64_t> level = forest.roots;
  for (*out = 0; !level.empty(); ++*out) {
    std::set<int64_t> next;
    for (const int64_t i : level) {
      if (i < 0 || i >= count || *out > kMaxLevels) {
        c.fail("a branch leads to a node that does not exist, in circles, or more than " + std::to_string(kMaxLevels) + " levels down");
        return false;
      }
      const Forest::Node& n = forest.nodes[static_cast<size_t>(i)];
      if (!n.leaf) next.insert({n.on_true, n.on_false});
    }
    level.assign(next.begin(), next.end());
  }
  --*out;
  return true;
}

Value* evaluate_forest(NodeContext& c, const Forest& forest, Value* x) {
  Decompose d(c);
  int depth;
  if (rank_of(x) != 2) c.fail("expected a matrix (N, features), found rank " + std::to_string(rank_of(x)));
  if (forest.roots.empty() || forest.targets < 1 || forest.targets > 1 << 20) c.fail("expected at least one tree and one target");
  if (!c.b.ok() || !forest_depth(c, forest, &depth)) return nullptr;
  x = d.cast(x, forest.type);
  Value* leaves = Walk(c, forest, x).run(depth);
  Value* table =
      real_table(c, forest.type, {static_cast<int32_t>(forest.nodes.size()), static_cast<int32_t>(forest.targets)}, forest.weights);
  static constexpr OpId kReduce[] = {OpId::reduce_mean, OpId::reduce_sum, OpId::reduce_min, OpId::reduce_max};
  return d.reduce(kReduce[static_cast<int>(forest.aggregate)], d.gather(table, leaves, 0), {1}, false);
}

// What of a normal distribution lies below: its inverse, by the formula that ONNX Runtime uses (Winitzki's, with its digits of pi).
Value* probit(NodeContext& c, Value* probability) {
  Decompose d(c);
  constexpr double kFit = 0.147, kPi = 3.14159;
  Value* x = d.add(d.mul(probability, 2), -1);
  Value* log = d.op(OpId::log, {d.mul(d.sub(d.number(1, x), x), d.add(x, 1))});
  Value* half = d.add(d.mul(log, 0.5), 2 / (kPi * kFit));
  Value* square = d.sub(d.sqrt(d.sub(d.mul(half, half), d.div(log, kFit))), half);
  return d.mul(d.mul(d.op(OpId::sign, {x}), d.sqrt(square)), std::sqrt(2.0));
}

Value* post_transform(NodeContext& c, Value* scores, const std::string& kind) {
  Decompose d(c);
  if (kind == "PROBIT") return probit(c, scores);
  if (kind == "NONE") return scores;
  if (kind == "LOGISTIC") return d.op(OpId::sigmoid, {scores});
  if (kind == "SOFTMAX") return d.softmax(scores, rank_of(scores) - 1);
  if (kind != "SOFTMAX_ZERO") {
    c.fail("post_transform " + kind + " is not possible", "use NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT");
    return nullptr;
  }
  // Zeros stay zero, the others share one.
  Value* away = d.op(OpId::greater, {d.op(OpId::abs, {scores}), d.number(1e-7, scores)});
  Value* power = d.op(OpId::exp, {d.sub(scores, d.reduce(OpId::reduce_max, scores, {-1}))});
  Value* kept = d.op(OpId::where, {away, power, d.number(0, scores)});
  return d.div(kept, d.reduce(OpId::reduce_sum, kept, {-1}));
}

ClassLabels class_labels(const NodeContext& c, const char* ints, const char* strings) {
  const auto* texts = c.attr(strings);
  if (texts == nullptr || texts->strings_size() == 0) return {c.attr_ints(ints), false};
  return {c.importer.texts().indices_of(texts->strings()), true};
}

Value* labels_of(NodeContext& c, const ClassLabels& labels, Value* classes) {
  Value* picked = Decompose(c).gather(Decompose(c).ints(labels.values), classes, 0);
  if (picked != nullptr && labels.texts) c.importer.texts().mark(picked);
  return picked;
}

void set_labels(NodeContext& c, Value* scores, const ClassLabels& labels) {
  if (!c.wants(0)) return;
  if (labels.count() == 0) return c.fail("has no labels of its classes");
  ops::ArgAttrs a;
  a.axis = 1;
  a.keep_dims = 0;
  Value* best = c.b.ok() ? c.b.op(OpId::arg_max, a, {scores}) : nullptr;
  if (best != nullptr) c.out(0, labels_of(c, labels, best));
}

}  // namespace mote::frontends::onnx
