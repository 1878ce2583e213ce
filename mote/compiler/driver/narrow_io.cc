#include "mote/compiler/driver/narrow_io.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "mote/compiler/frontends/common/notes.h"
#include "mote/compiler/ir/builder.h"
#include "mote/compiler/ir/infer.h"
#include "mote/ops/dequantize/dequantize.h"
#include "mote/ops/quantize/quantize.h"

namespace mote::driver {
namespace {

using ir::Node;
using ir::QuantNote;
using ir::Value;

bool is_narrow(DType t) { return t == DType::s8 || t == DType::u8; }

// The one scale and zero point of a quantize or dequantize node whose integers have 8 bits.
bool grid_of(const Node& n, DType integers, QuantNote* out) {
  std::vector<double> scale;
  std::vector<int64_t> zero = {0};
  if (!is_narrow(integers) || n.input(1) == nullptr || !ir::known_floats(*n.input(1), &scale) || scale.size() != 1) return false;
  if (n.input(2) != nullptr && (!ir::known_ints(*n.input(2), &zero) || zero.size() != 1)) return false;
  *out = {static_cast<float>(scale[0]), static_cast<int32_t>(zero[0])};
  return true;
}

bool same(const QuantNote& a, const QuantNote& b) { return a.scale == b.scale && a.zero_point == b.zero_point; }

class Narrower {
 public:
  Narrower(ir::Graph& graph, ir::Method& method, const std::map<int, QuantNote>& outputs)
      : graph_(graph), method_(method), outputs_(outputs) {}

  // How many inputs and outputs became narrow.
  int run() {
    for (const auto& n : method_.block->nodes) quantized_ |= n->is(OpId::quantize) || n->is(OpId::dequantize);
    int count = 0;
    for (size_t i = 0; i < method_.block->arguments.size(); ++i) {
      Value* v = method_.block->arguments[i];
      if (v->type.dtype != DType::f32) continue;
      if (input(v)) ++count;
      else left_.push_back("input '" + method_.input_names[i] + "'");
    }
    for (size_t i = 0; i < method_.block->results.size(); ++i) {
      if (method_.block->results[i]->type.dtype != DType::f32) continue;
      if (output(i)) ++count;
      else left_.push_back("output '" + method_.output_names[i] + "'");
    }
    return count;
  }
  const std::vector<std::string>& left() const { return left_; }

 private:
  Value* zero_of(DType type, int32_t zero) {
    return type == DType::s8 ? graph_.scalar<int8_t>(static_cast<int8_t>(zero)) : graph_.scalar<uint8_t>(static_cast<uint8_t>(zero));
  }

  bool input(Value* v) {
    QuantNote how;
    DType type = DType::kNone;
    for (const Node* n : v->users) {
      if (!n->is(OpId::quantize) || n->inputs[0] != v || !grid_of(*n, n->outputs[0]->type.dtype, &how)) continue;
      type = n->outputs[0]->type.dtype;
      break;
    }
    if (type == DType::kNone) return false;
    // Who reads these very numbers reads the input; everybody else what they stand for.
    const std::vector<Node*> users = v->users;
    v->type.dtype = type;
    v->quant = how;
    std::vector<Node*> others;
    for (Node* n : users) {
      QuantNote own;
      const bool quantizes = n->is(OpId::quantize) && n->inputs[0] == v && n->outputs[0]->type.dtype == type && grid_of(*n, type, &own);
      if (!quantizes || !same(own, how)) {
        if (std::find(others.begin(), others.end(), n) == others.end()) others.push_back(n);
        continue;
      }
      if (n->outputs[0]->result_uses > 0) {  // a result must not be an input
        for (size_t i = 1; i < n->inputs.size(); ++i) graph_.set_input(n, i, nullptr);
        n->inputs.resize(1);
        n->op = static_cast<uint16_t>(OpId::copy);
        n->attrs.clear();
        continue;
      }
      graph_.replace_uses(n->outputs[0], v);
      graph_.erase(n);
    }
    if (others.empty() && v->result_uses == 0) return true;
    ir::NodeBuilder b(graph_, *method_.block, v->name, method_.block->nodes.empty() ? nullptr : method_.block->nodes.front().get());
    Value* real = b.op(OpId::dequantize, ops::dequantize::Attrs{}, {v, graph_.scalar<float>(how.scale), zero_of(type, how.zero_point)});
    for (Node* n : others)
      for (size_t i = 0; i < n->inputs.size(); ++i)
        if (n->inputs[i] == v) graph_.set_input(n, i, real);
    for (size_t i = 0; i < method_.block->results.size(); ++i)
      if (method_.block->results[i] == v) graph_.set_result(*method_.block, i, real);
    return true;
  }

  bool output(size_t index) {
    Value* v = method_.block->results[index];
    Node* maker = v->producer;
    QuantNote how;
    if (maker != nullptr && maker->is(OpId::dequantize) && grid_of(*maker, maker->inputs[0]->type.dtype, &how)) {
      Value* codes = maker->inputs[0];
      if (codes->kind != ir::ValueKind::kResult || codes->result_uses > 0)
        codes = ir::NodeBuilder(graph_, *method_.block, v->name).op(OpId::copy, {codes});
      return give(index, codes, how);
    }
    if (const auto known = outputs_.find(v->id); known != outputs_.end()) how = known->second;
    else if (quantized_ && maker != nullptr && (maker->is(OpId::softmax) || maker->is(OpId::sigmoid))) how = {1.f / 256, -128};
    else return false;
    ir::NodeBuilder b(graph_, *method_.block, maker != nullptr ? maker->name : v->name);
    return give(
        index, b.op(OpId::quantize, ops::quantize::Attrs{}, {v, graph_.scalar<float>(how.scale), zero_of(DType::s8, how.zero_point)}), how);
  }

  bool give(size_t index, Value* codes, const QuantNote& how) {
    if (codes == nullptr) return false;
    Value* before = method_.block->results[index];
    codes->quant = how;
    if (codes->name.empty()) codes->name = before->name;
    graph_.set_result(*method_.block, index, codes);
    if (before->unused() && before->producer != nullptr) graph_.erase(before->producer);
    return true;
  }

  ir::Graph& graph_;
  ir::Method& method_;
  const std::map<int, QuantNote>& outputs_;
  std::vector<std::string> left_;
  bool quantized_ = false;
};

}  // namespace

bool narrow_io(ir::Graph& graph, const std::map<int, QuantNote>& outputs, std::string* error) {
  int count = 0;
  std::string left;
  for (ir::Method& m : graph.methods) {
    Narrower n(graph, m, outputs);
    count += n.run();
    for (const std::string& name : n.left()) left += (left.empty() ? "" : ", ") + name;
  }
  if (count == 0) {
    *error = left.empty() ? "the model has no inputs and outputs of f32"
                          : "no scale is known of " + left + ": expected a quantized model, or --quantize int8 with it";
    return false;
  }
  if (!left.empty()) frontends::add_note(graph, "--io int8: no scale is known of " + left + ", which stays f32");
  return true;
}

const Quant* quant_of(const ProgramTable& table, uint32_t tensor) {
  for (const Quant& q : table.quants)
    if (q.tensor == tensor) return &q;
  return nullptr;
}

Array quantized(const Array& real, DType to, const QuantNote& how) {
  Array out{to, real.dims, std::vector<uint8_t>(real.data.size() / sizeof(float))};
  const float least = to == DType::s8 ? -128.f : 0.f;
  for (size_t i = 0; i < out.data.size(); ++i) {
    float v;
    std::memcpy(&v, real.data.data() + i * sizeof v, sizeof v);
    const float code =
        std::isnan(v) ? static_cast<float>(how.zero_point) : std::nearbyint(v / how.scale) + static_cast<float>(how.zero_point);
    out.data[i] = static_cast<uint8_t>(static_cast<int32_t>(std::clamp(code, least, least + 255.f)));
  }
  return out;
}

Array dequantized(const Array& codes, const QuantNote& how) {
  Array out{DType::f32, codes.dims, std::vector<uint8_t>(codes.data.size() * sizeof(float))};
  for (size_t i = 0; i < codes.data.size(); ++i) {
    const int32_t code = codes.dtype == DType::s8 ? static_cast<int8_t>(codes.data[i]) : codes.data[i];
    const float v = static_cast<float>(code - how.zero_point) * how.scale;
    std::memcpy(out.data.data() + i * sizeof v, &v, sizeof v);
  }
  return out;
}

void to_codes(const ProgramTable& t, std::vector<Array>* inputs) {
  const Method& m = t.methods[0];
  for (uint32_t i = 0; i < m.input_count && i < inputs->size(); ++i) {
    const uint32_t tensor = t.ios[m.first_input + i].tensor;
    const Quant* q = quant_of(t, tensor);
    const DType type = t.tensors[tensor].dtype;
    Array& a = (*inputs)[i];
    if (q != nullptr && a.dtype == DType::f32 && is_narrow(type)) a = quantized(a, type, {q->scale, q->zero_point});
  }
}

void to_real(const ProgramTable& t, std::vector<Array>* outputs) {
  const Method& m = t.methods[0];
  for (uint32_t i = 0; i < m.output_count && i < outputs->size(); ++i) {
    const Quant* q = quant_of(t, t.ios[m.first_output + i].tensor);
    Array& a = (*outputs)[i];
    if (q != nullptr && is_narrow(a.dtype)) a = dequantized(a, {q->scale, q->zero_point});
  }
}

bool run_real(HostProgram& program, const std::vector<Array>& inputs, std::vector<Array>* outputs, std::string* error) {
  std::vector<Array> given = inputs;
  to_codes(program.program().table(), &given);
  if (!program.run(0, given, outputs, error)) return false;
  to_real(program.program().table(), outputs);
  return true;
}

}  // namespace mote::driver
