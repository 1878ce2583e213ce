#include "mote/compiler/quant/weights.h"

#include <algorithm>
#include <cmath>

#include "mote/compiler/quant/dynamic.h"
#include "mote/compiler/quant/expose.h"
#include "mote/compiler/quant/prepare.h"
#include "mote/compiler/quant/smooth.h"
#include "mote/ops/cast/cast.h"
#include "mote/ops/conv/conv.h"
#include "mote/ops/dequantize/dequantize.h"
#include "mote/ops/embedding/embedding.h"
#include "mote/ops/gather/gather.h"
#include "mote/ops/matmul/matmul.h"
#include "mote/ops/op_docs.h"

namespace mote::quant {
namespace {

using ir::Dims;
using ir::Graph;
using ir::Node;
using ir::NodeBuilder;
using ir::Value;

constexpr int64_t kFewWeights = 256;  // too few to be worth scales
constexpr int64_t kManyWeights = 16384;
constexpr int64_t kFewFor4Bits = 1024;  // 4 bits would save little and cost accuracy

bool rows_first(const Node& n) { return !n.is(OpId::matmul) || n.attributes<ops::matmul::Attrs>().transpose_b != 0; }

// A convolution that is a matrix product: single values, each used once.
bool is_pointwise(const Node& n) {
  if (!n.is(OpId::conv)) return false;
  const auto a = n.attributes<ops::conv::Attrs>();
  const Dims& w = n.inputs[passes::kWeights]->type.dims;
  for (size_t i = 0; i + 2 < w.size(); ++i)
    if (w[i + 1] != 1 || a.strides[i] != 1 || a.pads_begin[i] != 0 || a.pads_end[i] != 0) return false;
  return a.groups == 1;
}

// Convolutions whose small weights have fast kernels, groups and all (kernels/weights).
bool has_groups(const Node& n) {
  if (!n.is(OpId::conv)) return false;
  const Dims& w = n.inputs[passes::kWeights]->type.dims;
  const auto a = n.attributes<ops::conv::Attrs>();
  if (a.groups != 1 || w.size() > 4 || w.back() > 4096) return false;
  // Short rows are slow; the first convolution of a network has few weights anyway.
  if (w.back() < 8 && !is_pointwise(n) && n.inputs[passes::kWeights]->type.count() < kManyWeights) return false;
  const size_t last = w.size() - 3;  // the width, whose taps are one run where nothing is added at its sides
  const int64_t lines = w.size() == 4 ? w[1] : 1, width = w[last + 1];
  const bool whole = a.pads_begin[last] == 0 && a.pads_end[last] == 0 && a.dilations[last] == 1 && width * w.back() <= 4096;
  return lines * (whole ? 1 : width) <= 128;
}

// Each channel alone: no kernel widens such weights inside, so they have scales as groups do.
bool is_depthwise(const Node& n) {
  if (!n.is(OpId::conv)) return false;
  const Dims& w = n.inputs[passes::kWeights]->type.dims;
  return w.size() <= 4 && w.back() == 1 && w[0] > 1 && n.attributes<ops::conv::Attrs>().groups == w[0];
}

}  // namespace

bool is_table(const Node& n) {
  if (!n.is(OpId::gather) || !n.inputs[0]->is_constant() || n.inputs[0]->type.dtype != DType::f32) return false;
  const auto a = n.attributes<ops::gather::Attrs>();
  const ir::Type& t = n.inputs[0]->type;
  return t.rank() == 2 && (a.axis == 0 || a.axis == -2) && a.batch_dims == 0 && t.count() >= kFewWeights && t.dims[1] >= 8 &&
         n.inputs[0]->layout == Layout::kPlain && n.inputs[1]->type.rank() < kMaxRank;
}

namespace {

template <class T>
Value* float_table(Graph& graph, const Value& w) {
  const std::vector<double> numbers = passes::constant_numbers(&w);
  const double limit = std::is_same_v<T, f16> ? 65504.0 : 3.3e38;
  if (std::any_of(numbers.begin(), numbers.end(), [&](double v) { return !(std::fabs(v) <= limit); })) return nullptr;
  return passes::float_constant(graph, dtype_of<T>, w.type.dims, numbers, w.name);
}
Value* halves(Graph& graph, const Value& w, Scheme scheme) {
  return scheme == Scheme::kFp16Weights ? float_table<f16>(graph, w) : float_table<bf16>(graph, w);
}

Value* scales_constant(Graph& graph, const GroupWeights& g, const Dims& dims, const std::vector<float>& scales) {
  if (!g.half) return graph.constant<float>(dims, scales);
  return passes::float_constant(graph, DType::f16, dims, std::vector<double>(scales.begin(), scales.end()));
}

// (rows, groups) as (groups, rows).
template <class T>
std::vector<T> turned(const std::vector<T>& in, const GroupWeights& g) {
  std::vector<T> out(in.size());
  const auto groups = static_cast<size_t>(g.groups()), rows = static_cast<size_t>(g.rows);
  for (size_t r = 0; r < rows; ++r)
    for (size_t i = 0; i < groups; ++i) out[i * rows + r] = in[r * groups + i];
  return out;
}

Value* nibble_constant(Graph& graph, const GroupWeights& g, const Dims& dims, const std::string& name) {
  return graph.add_constant(DType::s4, dims, ir::Bytes::own(nibbles_of(g.codes)), name);
}
Dims matrix_of(const GroupWeights& g) { return {static_cast<int32_t>(g.rows), static_cast<int32_t>(g.columns)}; }

class CompactWriter {
 public:
  CompactWriter(const CompactOptions& options, const CompactRecipe& recipe, Graph& graph, std::vector<CompactOp>* ops)
      : options_(options), recipe_(recipe), graph_(graph), ops_(*ops) {}

  bool run(std::string* error) {
    passes::each_node(graph_, [&](Node& n) {
      if (n.is_operator() && error_.empty()) visit(n);
      return false;
    });
    *error = error_;
    return error_.empty();
  }

 private:
  void visit(Node& n) {
    const bool table = is_table(n);
    if (!table && !can_be_integer(n)) return;
    const OpDoc* doc = find_op_doc(n.op);
    CompactOp op = {n.outputs[0]->id, n.name, doc != nullptr ? doc->name : "", "f32", ""};
    const Value* w = n.inputs[table ? 0 : passes::kWeights];
    if (is_named(options_.in_float, n.name)) op.note = "kept as asked";
    else if (w->type.count() < kFewWeights) op.note = kFew;
    else if (table) write_table(n, &op);
    else write_product(n, &op);
    ops_.push_back(op);
  }

  void write_product(Node& n, CompactOp* op) {
    switch (options_.scheme) {
      case Scheme::kFp16Weights:
      case Scheme::kBf16Weights: return write_halves(n, op);
      case Scheme::kInt4Weights:
        if (n.inputs[passes::kWeights]->type.count() < kFewFor4Bits) {
          op->note = kFew;
          return write_bytes(n, op);
        }
        if (n.is(OpId::matmul) && n.attributes<ops::matmul::Attrs>().transpose_a == 0) return write_groups(n, op);
        if (is_pointwise(n) || has_groups(n)) return write_groups(n, op);
        op->note = "4 bits serve matrix products, and convolutions of one group";
        return write_bytes(n, op);
      case Scheme::kInt8Dynamic:
        if (DynamicForm form; dynamic_form(n, &form) && write_dynamic(graph_, n, form, bytes_of(n), &dynamic_, &error_)) {
          op->precision = "int8 dynamic";
          return;
        }
        op->note = "its input cannot be quantized while running";
        return write_bytes(n, op);
      default: return write_bytes(n, op);
    }
  }

  QuantWeights bytes_of(const Node& n) const {
    const auto given = recipe_.bytes.find(n.outputs[0]->id);
    if (given != recipe_.bytes.end()) return given->second;
    const WeightRows rows = weight_rows(n, options_.pairs && options_.scheme == Scheme::kInt8Dynamic);
    return options_.weight_scales ? best_scaled_weights(rows) : nearest_weights(rows);
  }

  // The passes decide whether kernels read the small type as it is (passes/weights.cc).
  void write_halves(Node& n, CompactOp* op) {
    if (passes::better_as_floats(n, options_.scheme == Scheme::kFp16Weights ? DType::f16 : DType::bf16)) {
      op->note = kNoKernel;
      return;
    }
    Value* small = halves(graph_, *n.inputs[passes::kWeights], options_.scheme);
    if (small == nullptr) {
      op->note = "weights are out of the type's range";
      return;
    }
    NodeBuilder b(graph_, *n.block, n.name, &n);
    Value* wide = b.cast(small, DType::f32);
    if (wide == nullptr) return fail(b);
    graph_.set_input(&n, passes::kWeights, wide);
    op->precision = options_.scheme == Scheme::kFp16Weights ? "f16 weights" : "bf16 weights";
  }

  // 8 bits, one group with a scale for each output.
  void write_group_of_bytes(Node& n, CompactOp* op) {
    const QuantWeights q = bytes_of(n);
    const Value* w = n.inputs[passes::kWeights];
    const auto channels = static_cast<int32_t>(q.scales.size());
    auto a = n.attributes<ops::conv::Attrs>();
    a.group_size = static_cast<int32_t>(w->type.count() / channels);
    NodeBuilder b(graph_, *n.block, n.name, &n);
    Value* y = b.op(OpId::conv, a,
                    {n.inputs[0], graph_.constant<int8_t>(w->type.dims, q.codes, w->name), n.input(passes::kBias),
                     n.input(passes::kResidual), graph_.constant<float>({1, channels}, q.scales)});
    if (y == nullptr) return fail(b);
    y->name = n.outputs[0]->name;
    op->precision = "int8 weights";
    if (!passes::replace_by(graph_, n, y)) op->precision = "f32", op->note = "the product could not be replaced";
  }

  void write_bytes(Node& n, CompactOp* op) {
    if (is_depthwise(n)) return write_group_of_bytes(n, op);
    if (passes::better_as_floats(n, DType::s8)) {
      if (has_groups(n)) return write_group_of_bytes(n, op);
      op->note = kNoKernel;
      return;
    }
    const QuantWeights q = bytes_of(n);
    const Value* w = n.inputs[passes::kWeights];
    NodeBuilder b(graph_, *n.block, n.name, &n);
    ops::dequantize::Attrs a;
    a.axis = rows_first(n) ? 0 : 1;
    const auto rows = static_cast<size_t>(q.scales.size()), columns = q.codes.size() / std::max<size_t>(1, rows);
    std::vector<int8_t> codes = q.codes;
    if (!rows_first(n))
      for (size_t r = 0; r < rows; ++r)
        for (size_t c = 0; c < columns; ++c) codes[c * rows + r] = q.codes[r * columns + c];
    Value* d =
        b.op(OpId::dequantize, a,
             {graph_.constant<int8_t>(w->type.dims, codes, w->name), graph_.constant<float>({static_cast<int32_t>(rows)}, q.scales)});
    if (d == nullptr) return fail(b);
    graph_.set_input(&n, passes::kWeights, d);
    op->precision = "int8 weights";
  }

  void write_groups(Node& n, CompactOp* op) {
    const auto given = recipe_.groups.find(n.outputs[0]->id);
    const GroupWeights g = given != recipe_.groups.end() ? given->second : group_weights(weight_rows(n), options_.groups);
    const Dims beside = {static_cast<int32_t>(g.groups()), static_cast<int32_t>(g.rows)};
    const bool matrix = n.is(OpId::matmul) || is_pointwise(n);
    const Value* w = n.inputs[passes::kWeights];
    Value* zeros = g.zeros.empty() ? nullptr : graph_.constant<int8_t>(beside, turned(g.zeros, g));
    std::vector<Value*> inputs = {n.inputs[0], nibble_constant(graph_, g, matrix ? matrix_of(g) : w->type.dims, w->name),
                                  n.input(passes::kBias), n.input(passes::kResidual),
                                  scales_constant(graph_, g, beside, turned(g.scales, g))};
    if (zeros != nullptr) inputs.push_back(zeros);
    NodeBuilder b(graph_, *n.block, n.name, &n);
    Value* y = matrix ? b.op(OpId::matmul, matrix_attributes(n, g), inputs) : b.op(OpId::conv, window_attributes(n, g), inputs);
    if (y == nullptr) return fail(b);
    y->name = n.outputs[0]->name;
    op->precision = "int4 weights";
    if (!passes::replace_by(graph_, n, y)) op->precision = "f32", op->note = "the product could not be replaced";
  }

  static ops::matmul::Attrs matrix_attributes(const Node& n, const GroupWeights& g) {
    ops::matmul::Attrs a;
    if (n.is(OpId::matmul)) a = n.attributes<ops::matmul::Attrs>();
    const passes::Activation act = passes::activation_of(n);
    a.transpose_b = 1;
    a.group_size = static_cast<int32_t>(g.size);
    a.groups_first = 1;
    a.activation = act.kind, a.act_a = act.a, a.act_b = act.b;
    return a;
  }
  static ops::conv::Attrs window_attributes(const Node& n, const GroupWeights& g) {
    auto a = n.attributes<ops::conv::Attrs>();
    a.group_size = static_cast<int32_t>(g.size);
    return a;
  }

  void write_table(Node& n, CompactOp* op) {
    const Value* w = n.inputs[0];
    WeightRows rows{w->type.dims[0], w->type.dims[1], {}, false};
    for (const double v : passes::constant_numbers(w)) rows.values.push_back(static_cast<float>(v));
    ops::embedding::Attrs a;
    std::vector<Value*> inputs = {nullptr, n.inputs[1]};
    if (options_.scheme == Scheme::kFp16Weights || options_.scheme == Scheme::kBf16Weights) {
      inputs[0] = halves(graph_, *w, options_.scheme);
      op->precision = options_.scheme == Scheme::kFp16Weights ? "f16 weights" : "bf16 weights";
    } else if (options_.scheme == Scheme::kInt4Weights) {
      const GroupWeights g = group_weights(rows, options_.groups);
      const Dims beside = {static_cast<int32_t>(g.rows), static_cast<int32_t>(g.groups())};
      a.group_size = static_cast<int32_t>(g.size);
      inputs[0] = nibble_constant(graph_, g, matrix_of(g), w->name);
      inputs.push_back(scales_constant(graph_, g, beside, g.scales));
      if (!g.zeros.empty()) inputs.push_back(graph_.constant<int8_t>(beside, g.zeros));
      op->precision = "int4 weights";
    } else {
      const QuantWeights q = options_.weight_scales ? best_scaled_weights(rows) : nearest_weights(rows);
      inputs[0] = graph_.constant<int8_t>(w->type.dims, q.codes, w->name);
      inputs.push_back(graph_.constant<float>({w->type.dims[0]}, q.scales));
      op->precision = "int8 weights";
    }
    NodeBuilder b(graph_, *n.block, n.name, &n);
    Value* y = inputs[0] == nullptr ? nullptr : b.op(OpId::embedding, a, inputs);
    if (y != nullptr) y->name = n.outputs[0]->name;
    if (!passes::replace_by(graph_, n, y)) op->precision = "f32", op->note = "the table could not be replaced";
  }

  void fail(const NodeBuilder& b) { error_ = "quantizing weights: " + b.error(); }

  const CompactOptions& options_;
  const CompactRecipe& recipe_;
  Graph& graph_;
  std::vector<CompactOp>& ops_;
  DynamicInputs dynamic_;
  std::string error_;
};

void prepare_compact(const CompactOptions& options, Graph& graph) {
  widen_constants(graph);
  open_single_steps(graph);
  if (options.scheme != Scheme::kInt8Dynamic) return;
  smooth(graph, options.smooth);
  prepare(graph);
}

}  // namespace

std::vector<ir::Node*> compact_products(const CompactOptions& options, ir::Graph& graph) {
  prepare_compact(options, graph);
  std::vector<Node*> all;
  for (const auto& n : graph.methods[0].block->nodes)
    if (can_be_integer(*n) && !is_named(options.in_float, n->name) && n->inputs[passes::kWeights]->type.count() >= kFewWeights)
      all.push_back(n.get());
  return all;
}

bool write_compact(const CompactOptions& options, const CompactRecipe& recipe, ir::Graph& graph, std::vector<CompactOp>* ops,
                   std::string* error) {
  prepare_compact(options, graph);
  ops->clear();
  return CompactWriter(options, recipe, graph, ops).run(error);
}

}  // namespace mote::quant
