// Support vector machines of ai.onnx.ml: regression.

#include "mote/compiler/frontends/onnx/forest.h"

namespace mote::frontends::onnx {
namespace {

// How alike the rows of x (N, F) and the support vectors (S, F) are: (N, S).
Value* kernel(NodeContext& c, Value* x, Value* vectors) {
  Decompose d(c);
  const std::string kind = c.attr_string("kernel_type", "LINEAR");
  const auto given = c.attr_floats("kernel_params");
  const auto parameter = [&](size_t i) { return i < given.size() ? static_cast<double>(given[i]) : 0.0; };
  const double gamma = parameter(0), offset = parameter(1), degree = parameter(2);
  if (kind == "RBF") {
    Value* apart = d.op(OpId::squared_difference, {d.unsqueeze(x, {1}), d.unsqueeze(vectors, {0})});
    return d.op(OpId::exp, {d.mul(d.reduce(OpId::reduce_sum, apart, {2}, false), -gamma)});
  }
  Value* product = d.matmul(x, vectors, false, true);
  if (kind == "LINEAR") return product;
  Value* moved = d.add(d.mul(product, gamma), offset);
  if (kind == "POLY") return d.pow(moved, degree);
  if (kind == "SIGMOID") return d.op(OpId::tanh, {moved});
  c.fail("attribute kernel_type: expected LINEAR, POLY, RBF or SIGMOID, found '" + kind + "'");
  return nullptr;
}

void import_svm_regressor(NodeContext& c) {
  Decompose d(c);
  Value* x = d.cast(c.in(0), DType::f32);
  const auto coefficients = c.attr_floats("coefficients"), vectors = c.attr_floats("support_vectors"), rho = c.attr_floats("rho");
  const int64_t supports = c.attr_int("n_supports", 0), count = static_cast<int64_t>(coefficients.size());
  if (rank_of(x) != 2 || !is_fixed(x, 1) || rho.empty()) return c.fail("expected a matrix (N, features) and rho");
  const int32_t features = dims_of(x)[1], rows = static_cast<int32_t>(count);
  const bool fits = supports > 0 ? count == supports && static_cast<int64_t>(vectors.size()) == supports * features : count == features;
  if (!fits) return c.fail("the numbers of coefficients and support vectors do not fit " + std::to_string(features) + " features");
  // Without support vectors the coefficients are a line's.
  Value* alike = supports > 0 ? kernel(c, x, c.b.graph().constant<float>({rows, features}, vectors)) : x;
  Value* y = d.add(d.matmul(alike, c.b.graph().constant<float>({rows, 1}, coefficients)), static_cast<double>(rho[0]));
  if (c.attr_int("one_class", 0) != 0)
    y = d.op(OpId::where, {d.op(OpId::greater, {y, d.number(0, DType::f32)}), d.number(1, DType::f32), d.number(-1, DType::f32)});
  c.out(0, post_transform(c, y, c.attr_string("post_transform", "NONE")));
}

}  // namespace

void add_svm_ops(OpTable& table);
void add_svm_ops(OpTable& table) { add_lines(table, {{"SVMRegressor", import_svm_regressor}}, "ai.onnx.ml"); }

}  // namespace mote::frontends::onnx
