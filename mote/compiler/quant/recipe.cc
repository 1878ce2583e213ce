#include "mote/compiler/quant/recipe.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "mote/compiler/ir/infer.h"
#include "mote/compiler/quant/prepare.h"
#include "mote/compiler/quant/probe.h"
#include "mote/ops/conv/conv.h"
#include "mote/ops/dequantize/dequantize.h"
#include "mote/ops/matmul/matmul.h"
#include "mote/ops/quantize/quantize.h"

namespace mote::quant {
namespace {

using ir::Dims;
using ir::Graph;
using ir::Node;
using ir::Value;

bool columns_first(const Node& n) { return n.is(OpId::matmul) && n.attributes<ops::matmul::Attrs>().transpose_b == 0; }

// Elements of the operator's weights as rows of channels, or back.
template <class T>
std::vector<T> transposed(const std::vector<T>& in, size_t rows, size_t columns) {
  std::vector<T> out(in.size());
  for (size_t r = 0; r < rows; ++r)
    for (size_t c = 0; c < columns; ++c) out[c * rows + r] = in[r * columns + c];
  return out;
}

class RecipeWriter {
 public:
  RecipeWriter(const Recipe& recipe, const DynamicForms& forms, Graph& graph, const std::set<int>& expose, std::string* error)
      : recipe_(recipe), forms_(forms), graph_(graph), method_(graph.methods[0]), expose_(expose), error_(*error) {}

  bool run() {
    const IntegerLayout layout = integer_layout(method_, recipe_.in_float, recipe_.fuse_residuals());
    std::map<int, Value*> shown;  // value -> the value that readers outside see
    for (const auto& n : method_.block->nodes)
      for (Value* v : n->outputs)
        if (v != nullptr) shown[v->id] = v;
    for (Value* v : method_.block->arguments) shown[v->id] = v;
    for (Node* n : layout.products)
      if (!write_weights(*n)) return false;
    for (const auto& [node, operand] : layout.constants)
      if (!write_constant(*node, operand)) return false;
    for (Value* v : layout.values) {
      const Grid* grid = recipe_.grid(v->id);
      if (grid == nullptr) return fail("no range was observed for '" + v->name + "'");
      Value* d = write_pair(v, *grid);
      if (d == nullptr) return false;
      shown[v->id] = d;
    }
    for (const int id : expose_)
      if (shown.count(id) > 0) graph_.add_output(method_, shown_name(id), shown[id]);
    return !recipe_.keep_dynamic || write_dynamic_forms();
  }

 private:
  bool fail(const std::string& why) {
    error_ = "quantizing: " + why;
    return false;
  }

  bool write_dynamic_forms() {
    DynamicInputs inputs;
    for (auto it = method_.block->nodes.begin(); it != method_.block->nodes.end() && error_.empty();) {
      Node& n = **it++;
      QuantWeights weights;
      if (!n.is_operator() || !can_be_integer(n) || recipe_.in_float.count(n.outputs[0]->id) == 0) continue;
      if (const DynamicForm* form = form_of(forms_, n, &weights)) write_dynamic(graph_, n, *form, weights, &inputs, &error_);
    }
    return error_.empty();
  }

  Value* write_pair(Value* v, const Grid& g) {
    ir::Block& block = *method_.block;
    Node* before = nullptr;
    const auto next = v->producer == nullptr ? block.nodes.begin() : std::next(v->producer->place);
    if (next != block.nodes.end()) before = next->get();
    const std::vector<Node*> users = v->users;
    ir::NodeBuilder b(graph_, block, "", before);
    Value* scale = graph_.scalar<float>(recipe_.wide ? with_16_bits(g).scale : g.scale);
    Value* zero = recipe_.wide ? graph_.scalar<int16_t>(0) : graph_.scalar<int8_t>(static_cast<int8_t>(g.zero));
    ops::quantize::Attrs how;
    if (recipe_.wide) how.to = static_cast<uint32_t>(DType::s16);
    Value* q = b.op(OpId::quantize, how, {v, scale, zero});
    Value* d = q == nullptr ? nullptr : b.op(OpId::dequantize, ops::dequantize::Attrs{}, {q, scale, zero});
    if (d == nullptr) {
      fail(b.error());
      return nullptr;
    }
    graph_.replace_uses(v, d);
    graph_.set_input(q->producer, 0, v);
    d->name = v->name;
    return d;
  }

  bool write_weights(Node& n) {
    const int id = n.outputs[0]->id;
    const WeightRows rows = weight_rows(n, recipe_.pairs);
    const auto given = recipe_.weights.find(id);
    QuantWeights q = given != recipe_.weights.end() ? given->second : nearest_weights(rows);
    std::vector<double> bias = passes::bias_of(n);
    const auto shift = recipe_.bias_shift.find(id);
    if (shift != recipe_.bias_shift.end()) {
      for (size_t i = 0; i < bias.size() && i < shift->second.size(); ++i) bias[i] += shift->second[i];
      std::vector<Value*> inputs = n.inputs;
      Value* b = passes::float_constant(graph_, DType::f32, {static_cast<int32_t>(bias.size())}, bias, n.name + ".bias");
      if (n.inputs.size() > passes::kBias) graph_.set_input(&n, passes::kBias, b);
      else {
        n.inputs.push_back(nullptr);
        graph_.set_input(&n, passes::kBias, b);
      }
    }
    const Grid* x = recipe_.grid(n.inputs[0]->id);
    if (x == nullptr) return fail("no range was observed for the input of '" + n.name + "'");
    if (!recipe_.wide) fit_bias(rows, bias, x->scale, &q);
    const bool columns = columns_first(n);
    std::vector<int8_t> codes =
        columns ? transposed(q.codes, static_cast<size_t>(rows.rows), static_cast<size_t>(rows.columns)) : std::move(q.codes);
    const Value* w = n.inputs[passes::kWeights];
    ops::dequantize::Attrs a;
    a.axis = columns ? 1 : 0;
    return write_dequantize(n, passes::kWeights, graph_.constant<int8_t>(w->type.dims, codes, w->name),
                            graph_.constant<float>({static_cast<int32_t>(q.scales.size())}, q.scales), nullptr, a);
  }

  bool write_constant(Node& n, size_t operand) {
    const Value* c = n.inputs[operand];
    const std::vector<double> numbers = passes::constant_numbers(c);
    Range range;
    for (const double v : numbers) range = {std::min(range.lo, v), std::max(range.hi, v)};
    if (recipe_.wide) return write_wide_constant(n, operand, numbers, with_16_bits(grid_of(range, true)).scale);
    const Grid g = grid_of(range, false);
    std::vector<int8_t> codes;
    for (const double v : numbers)
      codes.push_back(static_cast<int8_t>(std::clamp(std::nearbyint(v / static_cast<double>(g.scale)) + g.zero, -128.0, 127.0)));
    return write_dequantize(n, operand, graph_.constant<int8_t>(c->type.dims, codes, c->name), graph_.scalar<float>(g.scale),
                            graph_.scalar<int8_t>(static_cast<int8_t>(g.zero)), {});
  }

  bool write_wide_constant(Node& n, size_t operand, const std::vector<double>& numbers, float scale) {
    const Value* c = n.inputs[operand];
    std::vector<int16_t> codes;
    for (const double v : numbers)
      codes.push_back(static_cast<int16_t>(std::clamp(std::nearbyint(v / static_cast<double>(scale)), -32767.0, 32767.0)));
    return write_dequantize(n, operand, graph_.constant<int16_t>(c->type.dims, codes, c->name), graph_.scalar<float>(scale),
                            graph_.scalar<int16_t>(0), {});
  }

  bool write_dequantize(Node& n, size_t operand, Value* codes, Value* scales, Value* zero, const ops::dequantize::Attrs& a) {
    ir::NodeBuilder b(graph_, *n.block, n.name, &n);
    std::vector<Value*> inputs = {codes, scales};
    if (zero != nullptr) inputs.push_back(zero);
    Value* d = b.op(OpId::dequantize, a, inputs);
    if (d == nullptr) return fail(b.error());
    graph_.set_input(&n, operand, d);
    return true;
  }

  const Recipe& recipe_;
  const DynamicForms& forms_;
  Graph& graph_;
  ir::Method& method_;
  const std::set<int>& expose_;
  std::string& error_;
};

}  // namespace

WeightRows weight_rows(const ir::Node& n, bool pairs) {
  const Value* w = n.inputs[passes::kWeights];
  WeightRows out;
  out.pairs = pairs && !(n.is(OpId::conv) && n.attributes<ops::conv::Attrs>().groups > 1);
  out.rows = passes::channels_of(n);
  out.columns = w->type.count() / std::max<int64_t>(1, out.rows);
  out.values.resize(static_cast<size_t>(w->type.count()));
  std::memcpy(out.values.data(), w->data.data, std::min(w->data.size, out.values.size() * sizeof(float)));
  if (columns_first(n)) out.values = transposed(out.values, static_cast<size_t>(out.columns), static_cast<size_t>(out.rows));
  return out;
}

void set_weight_rows(ir::Graph& graph, ir::Node& n, WeightRows rows) {
  if (columns_first(n)) rows.values = transposed(rows.values, static_cast<size_t>(rows.rows), static_cast<size_t>(rows.columns));
  const Value* w = n.inputs[passes::kWeights];
  graph.set_input(&n, passes::kWeights, graph.constant<float>(w->type.dims, rows.values, w->name));
}

const Grid* Recipe::grid(int value) const {
  for (const auto* all : {&grids, &spare})
    if (const auto it = all->find(value); it != all->end()) return &it->second;
  return nullptr;
}

bool apply(const Recipe& recipe, const DynamicForms& forms, ir::Graph& graph, const std::set<int>& expose, std::string* error) {
  return RecipeWriter(recipe, forms, graph, expose, error).run();
}

const DynamicForm* form_of(const DynamicForms& forms, const ir::Node& n, QuantWeights* weights) {
  const auto it = named_in(forms, n.name);
  return it != forms.end() && exact_weights(weight_rows(n), weights) ? &it->second : nullptr;
}

}  // namespace mote::quant
