// ai.onnx.ml, and steps of optimisers: what small models of tables are made of.

#include <cmath>

#include "tests/differential/draw.h"

namespace mote::differential {
namespace {

using ::onnx::TensorProto;

constexpr char kDomain[] = "ai.onnx.ml", kTraining[] = "ai.onnx.preview.training";

std::vector<float> numbers(Draw& d, int count, float most) {
  std::vector<float> out;
  for (int i = 0; i < count; ++i) out.push_back(most * (static_cast<float>(d.c.below(33)) / 16 - 1));
  return out;
}

bool features(Draw& d, Value* x) {
  const Value* p = d.any([&](const Value& v) {
    return v.type == TensorProto::FLOAT && v.rank() == 2 && !v.open(1) && v.dim(1) > 0 && v.dim(1) <= 24 && v.most < 1e3f;
  });
  if (d.real != TensorProto::FLOAT) return false;
  if (p != nullptr) *x = d.in(*p);
  return p != nullptr || any_shaped(d, {d.c.between(1, 5), d.c.between(1, 12)}, x);
}

bool prepared(Draw& d) {
  Value x, y;
  if (!features(d, &x)) return false;
  const int n = x.dim(1);
  static const char* const norms[] = {"MAX", "L1", "L2"};
  const uint32_t kind = d.c.below(6);
  if (kind == 0) {
    if (!d.node("Scaler", {x.name}, x.type, (x.most + 1) * 2, same_as(x), &y,
                [&](Node& node) { node.domain(kDomain).floats("offset", numbers(d, n, 1)).floats("scale", numbers(d, n, 2)); }))
      return false;
  } else if (kind == 1) {
    const std::string norm = d.c.of(norms);
    // Of a row of zeros ONNX Runtime and the specification say different things: its numbers keep away from it.
    Value moved;
    if (!above(d, x, 0.25f, &moved)) return false;
    if (!d.node("Normalizer", {moved.name}, x.type, 1, same_as(x), &y, [&](Node& node) { node.domain(kDomain).s("norm", norm); }))
      return false;
  } else if (kind == 2) {
    if (!d.node("Imputer", {x.name}, x.type, x.most + 1, same_as(x), &y,
                [&](Node& node) { node.domain(kDomain).floats("imputed_value_floats", numbers(d, n, 1)).f("replaced_value_float", 0); }))
      return false;
  } else if (kind == 3) {
    if (!d.node("Binarizer", {x.name}, x.type, 1, same_as(x), &y, [&](Node& node) { node.domain(kDomain).f("threshold", 0.375f); }))
      return false;
  } else if (kind == 4) {
    const int picked = d.c.between(1, 6);
    const auto shape = [&](size_t s) { return Dims{x.shapes[s][0], picked}; };
    if (!d.node("ArrayFeatureExtractor", {x.name, d.integers(TensorProto::INT64, {1, picked}, 0, n - 1)}, x.type, x.most, shape, &y,
                [](Node& node) { node.domain(kDomain); }))
      return false;
  } else {
    const auto shape = [&](size_t s) { return Dims{x.shapes[s][0], 2 * n}; };
    if (!d.node("FeatureVectorizer", {x.name, x.name}, x.type, x.most, shape, &y, [&](Node& node) {
          node.domain(kDomain).ints("inputdimensions", {n, n});
        }))
      return false;
  }
  d.push(y);
  return true;
}

// Codes of categories.
bool categories(Draw& d) {
  const Value* p = d.any([](const Value& v) { return v.type == TensorProto::INT64 && v.rank() >= 1 && v.rank() <= 3; });
  if (p == nullptr) return false;
  const Value x = *p;
  Value y;
  if (d.c.chance(50)) {
    const auto shape = [&](size_t s) {
      Dims out = x.shapes[s];
      out.push_back(4);
      return out;
    };
    if (!d.node("OneHotEncoder", {x.name}, TensorProto::FLOAT, 1, shape, &y, [](Node& node) {
          node.domain(kDomain).ints("cats_int64s", {0, 1, 3, 7}).i("zeros", 1);
        }))
      return false;
  } else if (!d.node("LabelEncoder", {x.name}, TensorProto::INT64, 50, same_as(x), &y, [](Node& node) {
               node.domain(kDomain).ints("keys_int64s", {0, 1, 2, 5}).ints("values_int64s", {5, 11, -3, 50}).i("default_int64", -1);
             })) {
    return false;
  }
  d.push(y);
  return true;
}

bool linear(Draw& d) {
  Value x, y;
  if (!features(d, &x)) return false;
  const int n = x.dim(1), rows = d.c.between(2, 5);
  const auto shape = [&](size_t s) { return Dims{x.shapes[s][0], rows}; };
  const auto column = [&](size_t s) { return Dims{x.shapes[s][0], 1}; };
  const auto labels = [&](size_t s) { return Dims{x.shapes[s][0]}; };
  const float most = x.most * static_cast<float>(n) + 1;
  const uint32_t kind = d.c.below(3);
  if (kind == 0) {
    if (!d.node("LinearRegressor", {x.name}, x.type, most, shape, &y, [&](Node& node) {
          node.domain(kDomain).i("targets", rows).floats("coefficients", numbers(d, n * rows, 1)).floats("intercepts", numbers(d, rows, 1));
        }))
      return false;
  } else if (kind == 1) {
    std::vector<int64_t> classes;
    for (int i = 0; i < rows; ++i) classes.push_back(10 * i);
    std::vector<Value> outs;
    if (!d.mixed_nodes("LinearClassifier", {x.name}, {TensorProto::INT64, x.type}, most, {labels, shape}, &outs, [&](Node& node) {
          node.domain(kDomain).floats("coefficients", numbers(d, n * rows, 1)).floats("intercepts", numbers(d, rows, 1));
          node.ints("classlabels_ints", classes).s("post_transform", d.c.chance(50) ? "SOFTMAX" : "NONE");
        }))
      return false;
    d.push(outs[0]);
    y = outs[1];
  } else {
    static const char* const kernels[] = {"LINEAR", "RBF", "SIGMOID"};
    const int supports = d.c.between(1, 4);
    const std::string kernel = d.c.of(kernels);
    if (!d.node("SVMRegressor", {x.name}, x.type, most * 4, column, &y, [&](Node& node) {
          node.domain(kDomain).s("kernel_type", kernel).i("n_supports", supports).floats("kernel_params", {0.25f, 0.5f, 2});
          node.floats("coefficients", numbers(d, supports, 1)).floats("support_vectors", numbers(d, n * supports, 1)).floats("rho", {0.5f});
        }))
      return false;
  }
  d.push(y);
  return true;
}

// Two trees of three nodes over features of an input of the graph: rounding takes no other branch.
bool trees(Draw& d) {
  if (d.real != TensorProto::FLOAT) return false;
  Value x, y;
  const int n = d.c.between(1, 6);
  if (!any_shaped(d, {d.c.between(1, 5), n}, &x, true)) return false;
  const int rows = x.dim(0);
  const bool classes = d.c.chance(40);
  const auto forest = [&](Node& node) {
    node.domain(kDomain).ints("nodes_treeids", {0, 0, 0, 1, 1, 1}).ints("nodes_nodeids", {0, 1, 2, 0, 1, 2});
    node.ints("nodes_featureids", {static_cast<int64_t>(d.c.below(static_cast<uint32_t>(n))), 0, 0,
                                   static_cast<int64_t>(d.c.below(static_cast<uint32_t>(n))), 0, 0});
    node.strings("nodes_modes", {"BRANCH_LEQ", "LEAF", "LEAF", "BRANCH_LT", "LEAF", "LEAF"});
    node.floats("nodes_values", {0.375f, 0, 0, -0.25f, 0, 0});
    node.ints("nodes_truenodeids", {1, 0, 0, 1, 0, 0}).ints("nodes_falsenodeids", {2, 0, 0, 2, 0, 0});
    const std::string of = classes ? "class" : "target";
    node.ints((of + "_treeids").c_str(), {0, 0, 1, 1}).ints((of + "_nodeids").c_str(), {1, 2, 1, 2});
    node.ints((of + "_ids").c_str(), {0, 1, 1, 2}).floats((of + "_weights").c_str(), {0.5f, 1.25f, -0.75f, 2});
    if (classes) node.ints("classlabels_int64s", {4, 5, 6});
    else node.i("n_targets", 3);
  };
  if (classes) {
    std::vector<Value> outs;
    if (!d.mixed_nodes("TreeEnsembleClassifier", {x.name}, {TensorProto::INT64, x.type}, 8, {fixed({rows}), fixed({rows, 3})}, &outs,
                       forest))
      return false;
    d.push(outs[0]);
    y = outs[1];
  } else if (!d.node("TreeEnsembleRegressor", {x.name}, x.type, 8, fixed({rows, 3}), &y, forest)) {
    return false;
  }
  d.push(y);
  return true;
}

bool optimiser(Draw& d) {
  const Value* p = d.any([](const Value& v) { return v.type == TensorProto::FLOAT && v.is_static() && v.most < 100; });
  if (p == nullptr || d.real != TensorProto::FLOAT) return false;
  const Value x = d.in(*p);
  static const char* const ops[] = {"Adagrad", "Adam", "Momentum"};
  const uint32_t which = d.c.below(3);
  std::vector<std::string> in = {d.scalar(0.125f, x.type), d.int64_scalar(d.c.between(0, 3)), x.name, d.reals(x.dims(), 1),
                                 d.reals(x.dims(), 0.5f, 1)};
  if (which == 1) in.push_back(d.reals(x.dims(), 0.5f, 1));
  std::vector<Value> outs;
  if (!d.nodes(ops[which], in, x.type, x.most * 2 + 4, std::vector<ShapeFn>(which == 1 ? 3 : 2, same_as(x)), &outs, [&](Node& n) {
        n.domain(kTraining).f("norm_coefficient", 0.25f);
        if (which == 0) n.f("decay_factor", 0.125f).f("epsilon", 1e-3f);
        if (which == 1) n.f("alpha", 0.75f).f("beta", 0.875f).f("epsilon", 1e-3f);
        if (which == 2) n.f("alpha", 0.75f).f("beta", 0.5f).s("mode", d.c.chance(50) ? "nesterov" : "standard");
      }))
    return false;
  for (const Value& v : outs) d.push(v);
  return true;
}

}  // namespace

const std::vector<Line>& classic_lines();
const std::vector<Line>& classic_lines() {
  static const std::vector<Line> lines = {{prepared, 5}, {categories, 2}, {linear, 4}, {trees, 3}, {optimiser, 2}};
  return lines;
}

}  // namespace mote::differential
