#pragma once

// The graph level: what to compute. Values are assigned once; nodes carry Mote's own operators (mote/ops) and, for control flow,
// blocks of their own. Host code. A Graph owns all its parts; pointers into it stay valid until the part is erased.

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mote/core/op.h"
#include "mote/core/tensor.h"
#include "mote/ops/op_id.h"

namespace mote::ir {

class Graph;
struct Node;
struct Block;

using Dims = std::vector<int32_t>;

// Nodes that are no operators; beside OpId in Node::op.
enum : uint16_t {
  kIf = 0xff01,      // inputs: condition. blocks: then, else, without arguments; their results are the outputs.
  kLoop = 0xff02,    // inputs: trip count?, condition?, carried... . block: arguments (trip s64, condition bool, carried...), results
                     // (condition, carried..., scanned...). outputs: carried..., scanned... (stacked along a new axis 0). Loop::max_trips
                     // bounds it.
  kAssign = 0xff10,  // inputs: a state value, what it becomes. No outputs. Takes effect at its place in the block.
};
constexpr uint16_t kCustom = kAssign + 1;  // an operator found by Node::symbol alone

// Element type and shape. Where bit i of `dynamic` is set, dims[i] is an upper bound and running tells the size.
struct Type {
  DType dtype = DType::kNone;
  Dims dims;
  uint8_t dynamic = 0;

  int rank() const { return static_cast<int>(dims.size()); }
  bool is_static() const { return dynamic == 0; }
  int64_t count() const;       // elements, at the bounds
  uint64_t byte_size() const;  // dense, plain, at the bounds
  bool fits() const;           // at most 8 dimensions, and strides below 2 GiB even where a size is 0
};
bool operator==(const Type& a, const Type& b);
inline bool operator!=(const Type& a, const Type& b) { return !(a == b); }

// Bytes shared by whoever needs them: parts of a mapped model file, or computed.
struct Bytes {
  std::shared_ptr<const void> owner;
  const uint8_t* data = nullptr;
  size_t size = 0;

  static Bytes copy_of(const void* data, size_t size);
  static Bytes own(std::vector<uint8_t>&& bytes);
  bool present() const { return owner != nullptr; }
};

// What is known of a value in one sample of the open sizes (see Graph::sample_count).
struct Facts {
  Dims dims;
  Bytes data;  // the elements, dense, where they could be computed (shape arithmetic)
};

enum class ValueKind : uint8_t { kInput, kConstant, kState, kArgument, kResult };

// Scale and zero point that an input's or output's integers stand for; told to users, not used in computing.
struct QuantNote {
  float scale = 0;
  int32_t zero_point = 0;
};

struct Value {
  ValueKind kind = ValueKind::kResult;
  int id = 0;        // unique in the graph, never used again
  std::string name;  // as the model's author wrote it; may be empty
  Type type;
  Layout layout = Layout::kPlain;  // constants may be packed
  Bytes data;                      // of constants; the first content of states (absent: zeros)
  Node* producer = nullptr;        // of kResult
  Block* block = nullptr;          // of kInput and kArgument
  std::vector<Node*> users;        // once for each operand that names this value
  int result_uses = 0;             // how often blocks name it as a result
  std::vector<Facts> facts;        // one for each sample; empty before inference
  std::vector<int> symbols;        // of an input: which symbol each dimension is, -1: none
  std::optional<Type> declared;    // what the model says of it; kDimUnknown where it does not say. Bounds for data-dependent sizes.
  std::optional<QuantNote> quant;

  bool is_constant() const { return kind == ValueKind::kConstant; }
  bool unused() const { return users.empty() && result_uses == 0; }
  bool has_one_use() const { return users.size() + static_cast<size_t>(result_uses) == 1; }
};

struct Node {
  uint16_t op = 0;  // OpId, or one of the node kinds above
  std::vector<uint8_t> attrs;
  std::vector<Value*> inputs;   // null: absent
  std::vector<Value*> outputs;  // null: absent
  std::vector<std::unique_ptr<Block>> blocks;
  std::string name;       // the node of the source model it comes from
  std::string symbol;     // of kCustom
  int64_t max_trips = 0;  // of kLoop
  Block* block = nullptr;
  std::list<std::unique_ptr<Node>>::iterator place;

  bool is(OpId id) const { return op == static_cast<uint16_t>(id); }
  bool is_operator() const { return op < 0x8000; }
  Value* input(size_t i) const { return i < inputs.size() ? inputs[i] : nullptr; }
  Value* output(size_t i = 0) const { return i < outputs.size() ? outputs[i] : nullptr; }
  template <class A>
  A attributes() const;  // a copy of the attribute struct
  template <class A>
  void set_attributes(const A& a);
};

// A list of nodes in an order that respects the values' dependencies; nodes that touch the same state keep their order.
struct Block {
  Graph* graph = nullptr;
  Node* owner = nullptr;  // the control node it belongs to; null for a method's block
  std::vector<Value*> arguments;
  std::list<std::unique_ptr<Node>> nodes;
  std::vector<Value*> results;
};

struct Method {
  std::string name;
  std::unique_ptr<Block> block;
  std::vector<std::string> input_names, output_names;  // one for each argument and result of the block
};

// A dimension of inputs whose size only the caller of the program knows.
struct Symbol {
  std::string name;
  int32_t min = 1, max = 1;
  Dims more = {};  // sizes beside the ends and the middle that inference looks at; as many for every symbol of a graph
};

// At these samples sizes that depend on data are at their maximum; at the others they are small.
inline bool at_bounds(size_t sample) { return sample == 0 || sample > 2; }

// A node of the model's file as its front end met it: for reports of what became of it.
struct SourceNode {
  std::string op, name;  // "Conv", "/features/0/Conv"; nodes of the graph that stand for it have this name
  bool refused = false;  // by the front end
};

// An operator of the model that its front end does not have, written as a custom one for the user to fill in. One for each kind: same
// operator, attributes, types and shapes.
struct MissingOp {
  struct Tensor {
    std::string name;  // as the first node of this kind calls it; empty: absent
    Type type;
  };
  std::string symbol;                                           // Node::symbol of its nodes
  std::string op, why;                                          // "acme.Blend"; what the front end said of it
  std::vector<std::pair<std::string, std::string>> attributes;  // as texts: numbers, lists of numbers in brackets, strings in quotes
  std::vector<Tensor> inputs, outputs;
  std::vector<std::string> nodes;  // of the model
};

class Graph {
 public:
  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  std::vector<Method> methods;
  std::vector<Symbol> symbols;
  std::vector<std::pair<std::string, std::string>> metadata, evidence;  // for the program file
  std::vector<SourceNode> source_nodes;  // in the order they were imported; calls of functions: what they call
  std::vector<MissingOp> missing_ops;    // where these may be left to the user (ImportOptions::partial)

  // Samples: sizes to look at when shapes are inferred. In sample 0 every symbol, and every size that depends on data, is at its
  // maximum; in sample 1 at its minimum; in sample 2 symbols are in the middle; in those behind it they are Symbol::more.
  size_t sample_count() const { return symbols.empty() ? 2 : 3 + symbols[0].more.size(); }
  int32_t symbol_size(size_t symbol, size_t sample) const;

  Method& add_method(const std::string& name);
  // An input of a method. symbols[i] >= 0: dimension i is that symbol (dims[i] is then not read).
  Value* add_input(Method& method, const std::string& name, DType dtype, const Dims& dims, const std::vector<int>& symbols = {});
  void add_output(Method& method, const std::string& name, Value* value);
  Value* add_constant(DType dtype, const Dims& dims, Bytes data, const std::string& name = "", Layout layout = Layout::kPlain);
  Value* add_state(const std::string& name, DType dtype, const Dims& dims, Bytes first = {});
  // An argument of a control node's block. Its sizes are those of `like`; facts about contents are not taken over.
  Value* add_argument(Block& block, const std::string& name, const Type& type, const std::vector<Facts>& like = {});

  template <class T>
  Value* constant(const Dims& dims, const std::vector<T>& values,
                  const std::string& name = "");  // T: float, int32_t, int64_t, int8_t, uint8_t ...
  template <class T>
  Value* scalar(T value) {
    return constant<T>({}, {value});
  }

  // Adds a node at the end of a block or in front of `before`. Outputs are made; their types are set by infer(node) (infer.h).
  Node* add_node(Block& block, uint16_t op, const void* attrs, size_t attrs_bytes, const std::vector<Value*>& inputs, size_t outputs,
                 const std::string& name, Node* before = nullptr);
  Block& add_block(Node* owner);
  // More outputs of a control node, whose blocks tell how many there are.
  void add_outputs(Node* node, size_t count);

  void set_input(Node* node, size_t index, Value* value);
  void add_result(Block& block, Value* value);
  void set_result(Block& block, size_t index, Value* value);
  // Everyone who used `from` uses `to`. Block results too.
  void replace_uses(Value* from, Value* to);
  // Erases a node whose outputs nobody uses, with its blocks.
  void erase(Node* node);
  // Moves a node in front of another of the same block.
  void move_before(Node* node, Node* before);

  const std::list<std::unique_ptr<Value>>& values() const { return values_; }
  std::vector<Value*> states() const;
  // Drops constants and states nobody uses.
  void drop_unused_values();

 private:
  Value* make_value(ValueKind kind, const std::string& name);
  void unlink(Value* value, Node* user);

  std::list<std::unique_ptr<Value>> values_;
  int next_id_ = 0;
};

// --- templates ---

template <class A>
A Node::attributes() const {
  A a{};
  const size_t n = attrs.size() < sizeof(A) ? attrs.size() : sizeof(A);
  if (n > 0) __builtin_memcpy(static_cast<void*>(&a), attrs.data(), n);
  return a;
}
template <class A>
void Node::set_attributes(const A& a) {
  const auto* p = reinterpret_cast<const uint8_t*>(&a);
  attrs.assign(p, p + attrs_size<A>);
}
template <class T>
Value* Graph::constant(const Dims& dims, const std::vector<T>& values, const std::string& name) {
  return add_constant(dtype_of<T>, dims, Bytes::copy_of(values.data(), values.size() * sizeof(T)), name);
}

}  // namespace mote::ir
