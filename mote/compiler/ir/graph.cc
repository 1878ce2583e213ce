#include "mote/compiler/ir/graph.h"

#include <algorithm>
#include <cstring>

#include "mote/core/layout.h"
#include "mote/core/size.h"

namespace mote::ir {

int64_t Type::count() const {
  int64_t n = 1;
  for (int32_t d : dims) {
    if (d <= 0) return 0;
    if (n > INT64_MAX / d) return INT64_MAX;
    n *= d;
  }
  return n;
}

uint64_t Type::byte_size() const { return bytes_of_elements(dtype, static_cast<uint64_t>(count())); }

bool Type::fits() const {
  uint64_t n = 1;
  for (const int32_t d : dims) n = times(n, static_cast<uint64_t>(std::max(d, 1)));
  return dims.size() <= static_cast<size_t>(kMaxRank) && n <= kMaxTensorBytes && bytes_of_elements(dtype, n) <= kMaxTensorBytes;
}

bool operator==(const Type& a, const Type& b) { return a.dtype == b.dtype && a.dims == b.dims && a.dynamic == b.dynamic; }

Bytes Bytes::own(std::vector<uint8_t>&& bytes) {
  auto held = std::make_shared<std::vector<uint8_t>>(std::move(bytes));
  Bytes b;
  b.data = held->data();
  b.size = held->size();
  b.owner = std::move(held);
  return b;
}

Bytes Bytes::copy_of(const void* data, size_t size) {
  std::vector<uint8_t> bytes(size);
  if (size > 0) std::memcpy(bytes.data(), data, size);
  return own(std::move(bytes));
}

int32_t Graph::symbol_size(size_t symbol, size_t sample) const {
  const Symbol& s = symbols[symbol];
  if (sample > 2) return sample - 3 < s.more.size() ? s.more[sample - 3] : s.max;
  return sample == 0 ? s.max : sample == 1 ? s.min : s.min + (s.max - s.min) / 2;
}

Value* Graph::make_value(ValueKind kind, const std::string& name) {
  values_.push_back(std::make_unique<Value>());
  Value* v = values_.back().get();
  v->kind = kind;
  v->name = name;
  v->id = next_id_++;
  return v;
}

Method& Graph::add_method(const std::string& name) {
  methods.emplace_back();
  Method& m = methods.back();
  m.name = name;
  m.block = std::make_unique<Block>();
  m.block->graph = this;
  return m;
}

Value* Graph::add_input(Method& method, const std::string& name, DType dtype, const Dims& dims, const std::vector<int>& of) {
  Value* v = make_value(ValueKind::kInput, name);
  v->block = method.block.get();
  v->type = {dtype, dims, 0};
  v->symbols = of;
  v->facts.assign(sample_count(), Facts{dims, {}});
  for (size_t i = 0; i < of.size() && i < dims.size(); ++i) {
    if (of[i] < 0) continue;
    const size_t symbol = static_cast<size_t>(of[i]);
    v->type.dims[i] = symbols[symbol].max;
    if (symbols[symbol].min != symbols[symbol].max) v->type.dynamic = static_cast<uint8_t>(v->type.dynamic | 1u << i);
    for (size_t s = 0; s < sample_count(); ++s) v->facts[s].dims[i] = symbol_size(symbol, s);
  }
  method.block->arguments.push_back(v);
  method.input_names.push_back(name);
  return v;
}

void Graph::add_output(Method& method, const std::string& name, Value* value) {
  add_result(*method.block, value);
  method.output_names.push_back(name);
}

Value* Graph::add_constant(DType dtype, const Dims& dims, Bytes data, const std::string& name, Layout layout) {
  Value* v = make_value(ValueKind::kConstant, name);
  v->type = {dtype, dims, 0};
  v->layout = layout;
  v->data = std::move(data);
  v->facts.assign(sample_count(), Facts{dims, layout == Layout::kPlain ? v->data : Bytes{}});
  return v;
}

Value* Graph::add_state(const std::string& name, DType dtype, const Dims& dims, Bytes first) {
  Value* v = make_value(ValueKind::kState, name);
  v->type = {dtype, dims, 0};
  v->data = std::move(first);
  v->facts.assign(sample_count(), Facts{dims, {}});
  return v;
}

Value* Graph::add_argument(Block& block, const std::string& name, const Type& type, const std::vector<Facts>& like) {
  Value* v = make_value(ValueKind::kArgument, name);
  v->block = &block;
  v->type = type;
  v->facts.assign(sample_count(), Facts{type.dims, {}});
  for (size_t s = 0; s < v->facts.size() && s < like.size(); ++s) v->facts[s].dims = like[s].dims;
  block.arguments.push_back(v);
  return v;
}

Node* Graph::add_node(Block& block, uint16_t op, const void* attrs, size_t attrs_bytes, const std::vector<Value*>& inputs, size_t outputs,
                      const std::string& name, Node* before) {
  auto made = std::make_unique<Node>();
  Node* n = made.get();
  n->op = op;
  n->name = name;
  n->block = &block;
  if (attrs_bytes > 0) n->attrs.assign(static_cast<const uint8_t*>(attrs), static_cast<const uint8_t*>(attrs) + attrs_bytes);
  n->place = block.nodes.insert(before != nullptr ? before->place : block.nodes.end(), std::move(made));
  n->inputs = inputs;
  for (Value* v : inputs)
    if (v != nullptr) v->users.push_back(n);
  add_outputs(n, outputs);
  return n;
}

void Graph::add_outputs(Node* node, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    Value* v = make_value(ValueKind::kResult, "");
    v->producer = node;
    node->outputs.push_back(v);
  }
}

Block& Graph::add_block(Node* owner) {
  owner->blocks.push_back(std::make_unique<Block>());
  Block& b = *owner->blocks.back();
  b.graph = this;
  b.owner = owner;
  return b;
}

void Graph::unlink(Value* value, Node* user) {
  if (value == nullptr) return;
  const auto it = std::find(value->users.begin(), value->users.end(), user);
  if (it != value->users.end()) value->users.erase(it);
}

void Graph::set_input(Node* node, size_t index, Value* value) {
  if (index >= node->inputs.size()) node->inputs.resize(index + 1, nullptr);
  unlink(node->inputs[index], node);
  node->inputs[index] = value;
  if (value != nullptr) value->users.push_back(node);
}

void Graph::add_result(Block& block, Value* value) {
  block.results.push_back(value);
  if (value != nullptr) ++value->result_uses;
}

void Graph::set_result(Block& block, size_t index, Value* value) {
  if (block.results[index] != nullptr) --block.results[index]->result_uses;
  block.results[index] = value;
  if (value != nullptr) ++value->result_uses;
}

namespace {

// Calls f for a block and all blocks inside of it.
template <class F>
void each_block(Block& block, const F& f) {
  f(block);
  for (const auto& n : block.nodes)
    for (const auto& b : n->blocks) each_block(*b, f);
}

}  // namespace

void Graph::replace_uses(Value* from, Value* to) {
  if (from == to) return;
  for (Node* user : from->users) {
    for (Value*& v : user->inputs)
      if (v == from) v = to;
    to->users.push_back(user);
  }
  from->users.clear();
  if (from->result_uses == 0) return;
  for (Method& m : methods) {
    each_block(*m.block, [&](Block& b) {
      for (size_t i = 0; i < b.results.size(); ++i)
        if (b.results[i] == from) set_result(b, i, to);
    });
  }
}

void Graph::erase(Node* node) {
  for (const auto& b : node->blocks) {
    for (size_t i = 0; i < b->results.size(); ++i) set_result(*b, i, nullptr);
    while (!b->nodes.empty()) erase(b->nodes.back().get());
    for (Value* a : b->arguments) {
      a->kind = ValueKind::kResult;
      a->producer = nullptr;
      a->id = -1;
    }
  }
  for (Value* v : node->inputs) unlink(v, node);
  for (Value* v : node->outputs) {
    if (v == nullptr) continue;
    v->kind = ValueKind::kResult;
    v->producer = nullptr;
    v->id = -1;  // swept by drop_unused_values
  }
  node->block->nodes.erase(node->place);
}

void Graph::move_before(Node* node, Node* before) {
  if (node == before) return;
  node->block->nodes.splice(before->place, node->block->nodes, node->place);
}

std::vector<Value*> Graph::states() const {
  std::vector<Value*> out;
  for (const auto& v : values_)
    if (v->kind == ValueKind::kState) out.push_back(v.get());
  return out;
}

void Graph::drop_unused_values() {
  values_.remove_if([](const std::unique_ptr<Value>& v) {
    const bool erased = v->kind == ValueKind::kResult && v->producer == nullptr;
    const bool idle = (v->kind == ValueKind::kConstant || v->kind == ValueKind::kState) && v->unused();
    return (erased && v->unused()) || idle;
  });
}

}  // namespace mote::ir
