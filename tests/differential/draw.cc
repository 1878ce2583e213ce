#include "tests/differential/draw.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace mote::differential {
namespace {

using ::onnx::AttributeProto;
using ::onnx::TensorProto;

constexpr int64_t kMostElements = 12000;  // of a tensor: tiny ones make tails, and are fast
constexpr float kMostReal = 1e6f, kMostHalf = 500;

}  // namespace

int64_t count_of(const Dims& dims) {
  int64_t n = 1;
  for (const int d : dims) n *= d;
  return n;
}

Dims broadcast(const Dims& a, const Dims& b) {
  Dims out(std::max(a.size(), b.size()), 1);
  for (size_t i = 0; i < out.size(); ++i) {
    const int x = i < a.size() ? a[a.size() - 1 - i] : 1, y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) return kIllegal;
    out[out.size() - 1 - i] = x == 1 ? y : x;
  }
  return out;
}

bool is_int(Type t) {
  return t == TensorProto::INT8 || t == TensorProto::UINT8 || t == TensorProto::INT16 || t == TensorProto::UINT16 ||
         t == TensorProto::INT32 || t == TensorProto::INT64;
}

bool Value::open(int axis) const {
  for (const Dims& d : shapes)
    if (d[static_cast<size_t>(axis)] != dim(axis)) return true;
  return false;
}
bool Value::is_static() const {
  for (int i = 0; i < rank(); ++i)
    if (open(i)) return false;
  return true;
}

AttributeProto* Node::add(const char* name, AttributeProto::AttributeType type) {
  AttributeProto* a = p_->add_attribute();
  a->set_name(name);
  a->set_type(type);
  return a;
}
Node& Node::i(const char* name, int64_t v) { return add(name, AttributeProto::INT)->set_i(v), *this; }
Node& Node::f(const char* name, float v) { return add(name, AttributeProto::FLOAT)->set_f(v), *this; }
Node& Node::s(const char* name, const std::string& v) { return add(name, AttributeProto::STRING)->set_s(v), *this; }
Node& Node::ints(const char* name, const std::vector<int64_t>& v) {
  AttributeProto* a = add(name, AttributeProto::INTS);
  for (const int64_t x : v) a->add_ints(x);
  return *this;
}
Node& Node::floats(const char* name, const std::vector<float>& v) {
  AttributeProto* a = add(name, AttributeProto::FLOATS);
  for (const float x : v) a->add_floats(x);
  return *this;
}
Node& Node::strings(const char* name, const std::vector<std::string>& v) {
  AttributeProto* a = add(name, AttributeProto::STRINGS);
  for (const std::string& x : v) a->add_strings(x);
  return *this;
}
Node& Node::tensor(const char* name, const TensorProto& v) { return *add(name, AttributeProto::TENSOR)->mutable_t() = v, *this; }
Node& Node::graph(const char* name, const ::onnx::GraphProto& v) { return *add(name, AttributeProto::GRAPH)->mutable_g() = v, *this; }
Node& Node::domain(const char* name) { return p_->set_domain(name), *this; }

const Value* Draw::any(const std::function<bool(const Value&)>& fits) {
  std::vector<size_t> found;
  for (size_t i = values.size(); i-- > 0;)
    if (!values[i].closed && fits(values[i])) found.push_back(i);
  if (found.empty()) return nullptr;
  return &values[found[c.chance(35) ? c.below(static_cast<uint32_t>(found.size())) : 0]];
}

const Value* Draw::any_real(int least_rank, int most_rank) {
  return any([&](const Value& v) { return v.type == real && v.rank() >= least_rank && v.rank() <= most_rank; });
}

bool Draw::nodes(const char* op, const std::vector<std::string>& inputs, Type type, float most, const std::vector<ShapeFn>& shapes,
                 std::vector<Value>* outs, const std::function<void(Node&)>& attributes) {
  return mixed_nodes(op, inputs, std::vector<Type>(shapes.size(), type), most, shapes, outs, attributes);
}

bool Draw::mixed_nodes(const char* op, const std::vector<std::string>& inputs, const std::vector<Type>& types, float most,
                       const std::vector<ShapeFn>& shapes, std::vector<Value>* outs, const std::function<void(Node&)>& attributes) {
  const Type type = types[0];
  if ((type == TensorProto::FLOAT && !(most < kMostReal)) || (type == TensorProto::FLOAT16 && !(most < kMostHalf))) return false;
  std::vector<Value> made;
  std::vector<bool> legal = legal_;
  for (size_t o = 0; o < shapes.size(); ++o) {
    const ShapeFn& shape = shapes[o];
    Value v;
    v.type = types[o];
    v.most = std::max(most, 1e-3f);
    for (size_t s = 0; s < samples(); ++s) {
      Dims d = shape(s);
      const bool bad = std::any_of(d.begin(), d.end(), [](int x) { return x < 0; });
      if (bad && s == 0) return false;
      if (bad) legal[s] = false;
      // Where it is illegal the shape at the bound stands in: nothing is run there.
      v.shapes.push_back(bad ? v.shapes[0] : std::move(d));
    }
    if (v.rank() > 6 || count_of(v.dims()) > kMostElements) return false;
    made.push_back(std::move(v));
  }
  // Sizes that a window or slice does not permit: rarely.
  if (legal != legal_ && !c.chance(20)) return false;
  legal_ = legal;
  ::onnx::NodeProto* n = graph_->add_node();
  n->set_op_type(op);
  n->set_name(fresh("n"));
  for (const std::string& name : inputs) {
    n->add_input(name);
    for (Value& v : values) v.used |= v.name == name;
  }
  for (Value& v : made) {
    v.name = fresh("v");
    n->add_output(v.name);
  }
  Node node(n);
  if (attributes) attributes(node);
  *outs = std::move(made);
  return true;
}

bool Draw::node(const char* op, const std::vector<std::string>& inputs, Type type, float most, const ShapeFn& shape, Value* out,
                const std::function<void(Node&)>& attributes) {
  std::vector<Value> outs;
  if (!nodes(op, inputs, type, most, {shape}, &outs, attributes)) return false;
  *out = std::move(outs[0]);
  return true;
}

Value Draw::in(const Value& v) {
  if (!quantized || v.dequantized() || v.type != TensorProto::FLOAT || c.chance(7)) return v;
  return quantize(v);
}

void Draw::push(Value v, const Value* like) {
  if (quantized && v.type == TensorProto::FLOAT && !v.dequantized() && !c.chance(15)) v = quantize(v, like);
  values.push_back(std::move(v));
}

// Through codes of 8 bits (rarely 16) and back.
Value Draw::quantize(const Value& v, const Value* like) {
  Value q, out;
  std::string scale, zero;
  float scale_value;
  int zero_value = 0;
  Type code = TensorProto::INT8;
  if (like != nullptr && like->dequantized() && !c.chance(30)) {
    scale = like->scale, zero = like->zero, scale_value = like->scale_value, zero_value = like->zero_value, code = like->code;
  } else {
    const uint32_t kind = c.below(12);
    // Mostly one type in a graph: what fuses asks for it.
    code = kind < 10 ? code_ : kind == 10 ? (code_ == TensorProto::INT8 ? TensorProto::UINT8 : TensorProto::INT8) : TensorProto::INT16;
    const bool wide = code == TensorProto::INT16, one_sided = code == TensorProto::UINT8;
    // Codes saturate now and then.
    const float range = v.most * static_cast<float>(1 + c.below(7)) / 4.0f;
    scale_value = range / (wide ? 32000.0f : 127.0f);
    if (c.chance(25)) scale_value = std::exp2(std::round(std::log2(scale_value)));  // ties happen
    zero_value = one_sided ? (c.chance(50) ? static_cast<int>(c.below(256)) : 128) : wide ? 0 : c.chance(40) ? c.between(0, 255) - 128 : 0;
    scale = scalar(scale_value, TensorProto::FLOAT);
    zero = scalar(static_cast<float>(zero_value), code);
  }
  const auto same = [&](size_t s) { return v.shapes[s]; };
  if (!node("QuantizeLinear", {v.name, scale, zero}, code, 1, same, &q)) return v;
  if (!node("DequantizeLinear", {q.name, scale, zero}, TensorProto::FLOAT, std::max(v.most, 1e-3f), same, &out)) return v;
  out.scale = scale, out.zero = zero, out.scale_value = scale_value, out.zero_value = zero_value, out.code = code;
  return out;
}

int Draw::channels() {
  static const int edges[] = {15, 16, 17, 12, 20, 24, 31, 32, 33, 40, 47, 48, 49, 56, 63, 64, 65, 72, 80, 96, 97, 112, 127, 128, 129, 130};
  const uint32_t kind = c.below(8);
  return kind < 4 ? c.between(1, 8) : kind < 6 ? c.of(edges) : c.between(1, 130);
}
int Draw::extent() { return c.chance(15) ? c.between(1, 20) : c.between(1, 8); }

void Draw::draw_symbols() {
  const uint32_t count = c.chance(30) ? 1 + c.below(2) : 0;
  for (uint32_t i = 0; i < count; ++i) {
    Symbol s;
    s.name = i == 0 ? "n" : "m";
    s.least = static_cast<int>(c.below(3));
    s.most = s.least + 1 + c.between(0, 8);
    symbols_.push_back(s);
  }
  // Every size of one symbol; of two those that a walk through both comes to. The bounds come first.
  sizes_.push_back({});
  for (const Symbol& s : symbols_) sizes_[0].push_back(s.most);
  for (int step = 0; count > 0 && step < 10; ++step) {
    Dims d;
    for (size_t i = 0; i < symbols_.size(); ++i) {
      const Symbol& s = symbols_[i];
      d.push_back(s.least + (i == 0 ? step : step * 3 + 1) % (s.most - s.least + 1));
    }
    if (std::find(sizes_.begin(), sizes_.end(), d) == sizes_.end()) sizes_.push_back(d);
  }
  legal_.assign(sizes_.size(), true);
}

void Draw::profile() {
  const uint32_t kind = c.below(20);
  quantized = kind >= 8 && kind < 16;
  if (kind >= 16 && kind < 19) real = TensorProto::FLOAT16;
  if (quantized && c.chance(35)) code_ = TensorProto::UINT8;
  out_.data_seed = c.below(1u << 16);
}

void Draw::add_input() {
  Value v;
  v.name = fresh("x");
  const uint32_t type = c.below(24);
  static const Type others[] = {TensorProto::INT32, TensorProto::INT64, TensorProto::INT8, TensorProto::UINT8, TensorProto::BOOL};
  v.type = type < 19 ? real : others[type - 19];
  v.most = is_int(v.type) ? 100 : 2;
  static const int ranks[] = {4, 4, 4, 4, 4, 3, 3, 3, 2, 2, 2, 1, 1, 5, 0};
  const int rank = c.of(ranks);
  Dims dims;
  if (rank == 4 || rank == 5) dims = {c.chance(20) ? 2 : 1, channels()};
  else if (rank == 3) dims = {c.chance(30) ? 2 : 1};
  while (static_cast<int>(dims.size()) < rank)
    dims.push_back(rank < 4 && static_cast<int>(dims.size()) + 1 == rank ? channels() : extent());
  while (count_of(dims) > kMostElements / 2)
    for (int& d : dims) d = (d + 1) / 2;
  if (rank > 0 && c.chance(2)) dims[c.below(static_cast<uint32_t>(rank))] = 0;
  std::vector<int> symbols(static_cast<size_t>(rank), -1);
  for (size_t i = 0; i < symbols_.size() && rank > 0; ++i)
    if (c.chance(80)) symbols[c.chance(60) ? 0 : c.below(static_cast<uint32_t>(rank))] = static_cast<int>(i);
  for (const Dims& size : sizes_) {
    Dims d = dims;
    for (size_t i = 0; i < d.size(); ++i)
      if (symbols[i] >= 0) d[i] = size[static_cast<size_t>(symbols[i])];
    v.shapes.push_back(std::move(d));
  }
  out_.inputs.push_back({v.name, v.type, v.most, {}});
  input_symbols_.push_back(symbols);
  ::onnx::ValueInfoProto* info = graph_->add_input();
  info->set_name(v.name);
  auto* t = info->mutable_type()->mutable_tensor_type();
  t->set_elem_type(v.type);
  auto* shape = t->mutable_shape();
  for (size_t i = 0; i < dims.size(); ++i) {
    auto* d = shape->add_dim();
    if (symbols[i] >= 0) d->set_dim_param(symbols_[static_cast<size_t>(symbols[i])].name);
    else d->set_dim_value(v.shapes[0][i]);
  }
  values.push_back(std::move(v));
}

void Draw::finish() {
  bool any_output = false;
  for (size_t i = out_.inputs.size(); i < values.size(); ++i) {
    const Value& v = values[i];
    if (v.used && !c.chance(10)) continue;
    any_output = true;
    ::onnx::ValueInfoProto* info = graph_->add_output();
    info->set_name(v.name);
    auto* t = info->mutable_type()->mutable_tensor_type();
    t->set_elem_type(v.type);
    for (int a = 0; a < v.rank(); ++a) {
      auto* d = t->mutable_shape()->add_dim();
      if (v.closed || v.open(a) || !symbols_.empty()) d->set_dim_param(v.name + "_" + std::to_string(a));
      else d->set_dim_value(v.dim(a));
    }
  }
  if (!any_output) {
    ::onnx::NodeProto* n = graph_->add_node();
    n->set_op_type("Identity");
    n->add_input(values[0].name);
    n->add_output("y");
    ::onnx::ValueInfoProto* info = graph_->add_output();
    info->set_name("y");
    info->mutable_type()->mutable_tensor_type()->set_elem_type(values[0].type);
  }
  drop_unused_symbols();
  for (size_t s = 0; s < sizes_.size(); ++s) {
    if (!legal_[s] || std::find(out_.sizes.begin(), out_.sizes.end(), sizes_[s]) != out_.sizes.end()) continue;
    out_.sizes.push_back(sizes_[s]);
    for (size_t i = 0; i < out_.inputs.size(); ++i) out_.inputs[i].shapes.push_back(values[i].shapes[s]);
  }
}

void Draw::drop_unused_symbols() {
  std::vector<bool> used(symbols_.size(), false);
  for (const std::vector<int>& of_input : input_symbols_)
    for (const int s : of_input)
      if (s >= 0) used[static_cast<size_t>(s)] = true;
  for (size_t i = symbols_.size(); i-- > 0;) {
    if (used[i]) {
      out_.symbols.insert(out_.symbols.begin(), symbols_[i]);
      continue;
    }
    for (Dims& d : sizes_) d.erase(d.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

Case Draw::run() {
  out_.model.set_ir_version(10);
  auto* opset = out_.model.add_opset_import();
  opset->set_domain("");
  graph_ = out_.model.mutable_graph();
  graph_->set_name("g");
  profile();
  Ways& w = out_.ways;
  if (c.chance(50)) {
    w.exact = c.chance(20);
    w.winograd = !c.chance(20);
    w.io_in_arena = c.chance(15);
    w.in_place = !c.chance(10);
    w.overlap_rows = c.chance(15);
    w.strips = static_cast<int>(c.chance(40) ? 1 + c.below(2) : 0);
    w.wide = c.chance(30);
  }
  draw_symbols();
  for (uint32_t i = 0, n = 1 + (c.chance(35) ? 1 + c.below(2) : 0); i < n; ++i) add_input();
  for (int step = 0; step < 9; ++step) {
    c.mark();
    if (step > 0 && !c.chance(82)) break;
    static const Family usual[] = {kElements, kElements, kElements, kMoves,     kMoves,     kIndices,  kWindows,  kWindows,
                                   kWindows,  kWindows,  kProducts, kProducts,  kNorms,     kIntegers, kPatterns, kNorms,
                                   kVision,   kContrib,  kContrib,  kFunctions, kFunctions, kControl,  kClassic,  kPatterns};
    const auto& lines = family_lines(c.of(usual));
    int total = 0;
    for (const Line& l : lines) total += l.weight;
    int at = static_cast<int>(c.below(static_cast<uint32_t>(total)));
    size_t which = 0;
    while (at >= lines[which].weight) at -= lines[which++].weight;
    lines[which].draw(*this);
  }
  c.mark();
  finish();
  opset->set_version(opset_);
  std::set<std::string> domains;
  for (const auto& n : graph_->node())
    if (!n.domain().empty() && domains.insert(n.domain()).second) {
      auto* own = out_.model.add_opset_import();
      own->set_domain(n.domain());
      own->set_version(n.domain() == "ai.onnx.ml" ? 3 : 1);
    }
  out_.choices = c.taken();
  out_.marks = c.marks();
  return std::move(out_);
}

Case draw_case(uint64_t seed) {
  Choices choices(seed);
  return Draw(choices).run();
}
Case draw_case(std::vector<uint32_t> list) {
  Choices choices(std::move(list));
  return Draw(choices).run();
}

namespace {
void collect_operators(const ::onnx::GraphProto& graph, std::set<std::string>* names) {
  for (const auto& n : graph.node()) {
    names->insert((n.domain().empty() ? "" : n.domain() + ".") + n.op_type());
    for (const auto& a : n.attribute())
      if (a.has_g()) collect_operators(a.g(), names);
  }
}
}  // namespace

std::string operators_of(const ::onnx::ModelProto& model) {
  std::set<std::string> names;
  collect_operators(model.graph(), &names);
  std::string text;
  for (const std::string& n : names) text += (text.empty() ? "" : " ") + n;
  return text;
}

}  // namespace mote::differential
