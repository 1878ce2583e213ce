#include <cstdlib>
#include <cstring>
#include <map>

#include "mote/compiler/ir/infer.h"
#include "mote/compiler/ir/text.h"
#include "mote/compiler/ir/text_reader.h"
#include "mote/compiler/ir/text_words.h"
#include "mote/core/layout.h"
#include "mote/ops/op_docs.h"

namespace mote::ir {
namespace {

constexpr uint64_t kMaxConstantBytes = 1u << 30;
constexpr int kMaxDepth = 64;

// What stands left of the equal sign, for one output.
struct Defined {
  std::string name;
  std::optional<Type> type, declared;
  std::optional<QuantNote> quant;
};

class Parser : private TextReader {
 public:
  Parser(const std::string& text, Graph& graph) : TextReader(text), graph_(graph) {}

  bool run(std::string* error) {
    while (ok() && !end()) item();
    if (!ok() && error != nullptr) *error = error_text();
    return ok();
  }

 private:
  // --- types and contents ---
  Type type(std::vector<int>* symbols = nullptr) {
    Type t;
    const std::string name = word();
    t.dtype = dtype_from_name(name.c_str());
    if (t.dtype == DType::kNone) fail("expected an element type, found '" + name + "'");
    if (!expect('[')) return t;
    while (ok() && peek() != ']') {
      if (t.rank() == kMaxRank) fail("more than 8 dimensions");
      t.dims.push_back(dimension(t, symbols));
      if (!accept(',')) break;
    }
    expect(']');
    return t;
  }
  int32_t dimension(Type& t, std::vector<int>* symbols) {
    if (symbols != nullptr) symbols->push_back(-1);
    if (!accept('?')) return integer32();
    if (symbols != nullptr && peek() == '"') {
      const std::string name = string();
      for (size_t i = 0; i < graph_.symbols.size(); ++i)
        if (graph_.symbols[i].name == name) symbols->back() = static_cast<int>(i);
      if (symbols->back() < 0) fail("unknown symbol \"" + name + "\"");
      return 1;
    }
    if (peek() == ',' || peek() == ']') return kDimUnknown;
    t.dynamic = static_cast<uint8_t>(t.dynamic | 1u << t.rank());
    return integer32();
  }
  uint64_t bytes_of(const Type& t, Layout layout) {
    for (const int32_t d : t.dims)
      if (d < 0) fail("a constant's sizes must be known");
    const uint64_t n = static_cast<uint64_t>(t.count());
    uint64_t bytes = t.byte_size();
    if (n > kMaxConstantBytes || bytes > kMaxConstantBytes) fail("a constant of " + print(t) + " is too large");
    if (layout != Layout::kPlain && t.rank() > 0 && t.dims[0] > 0)
      bytes = panel_bytes(layout, t.dtype, static_cast<uint32_t>(t.dims[0]), static_cast<uint32_t>(n / static_cast<uint64_t>(t.dims[0])));
    return ok() ? bytes : 0;
  }
  Bytes contents(const Type& t, Layout layout = Layout::kPlain) {
    std::vector<uint8_t> bytes(bytes_of(t, layout));
    if (peek() == '{') elements(t, bytes);
    else if (peek() == '<') fail("the bytes of this constant were not printed");
    else if (accept_word("seed")) random(t, static_cast<uint32_t>(integer()), bytes);
    else if (accept_word("hex")) unhex(string(), bytes);
    else fail("expected the contents of a constant, found '" + word_or_char() + "'");
    return Bytes::own(std::move(bytes));
  }
  void elements(const Type& t, std::vector<uint8_t>& bytes) {
    const uint32_t width = dtype_bytes(t.dtype);
    if (width == 0) fail("elements of 4 bits are given in hex");
    expect('{');
    for (size_t i = 0; ok() && i < static_cast<size_t>(t.count()); ++i) {
      if (i > 0) expect(',');
      const std::string s = number();
      if (ok() && !element_from_text(t.dtype, s, bytes.data() + i * width)) fail("'" + s + "' is no " + dtype_name(t.dtype));
    }
    expect('}');
  }
  void random(const Type& t, uint32_t seed, std::vector<uint8_t>& bytes) {
    const uint32_t width = dtype_bytes(t.dtype);
    const bool real = (mask_of(t.dtype) & kFloat) != 0;
    for (size_t i = 0; i < bytes.size(); i += width == 0 ? 1 : width) {
      seed = seed * 1664525u + 1013904223u;
      const int32_t n = static_cast<int32_t>(seed >> 24) - (t.dtype == DType::u8 ? 0 : 128);
      const int32_t sixteenths = n / 8;  // exact in every float type, and short as text
      if (width <= 1) bytes[i] = static_cast<uint8_t>(t.dtype == DType::boolean ? n & 1 : n);
      else element_from_text(t.dtype, real ? std::to_string(sixteenths / 16.0) : std::to_string(n & 127), bytes.data() + i);
    }
  }
  void unhex(const std::string& s, std::vector<uint8_t>& bytes) {
    if (ok() && s.size() != bytes.size() * 2)
      fail("expected " + std::to_string(bytes.size()) + " bytes, found " + std::to_string(s.size() / 2));
    for (size_t i = 0; ok() && i < bytes.size(); ++i) {
      const std::string pair = s.substr(i * 2, 2);
      char* e = nullptr;
      bytes[i] = static_cast<uint8_t>(std::strtoul(pair.c_str(), &e, 16));
      if (e != pair.c_str() + 2) fail("no hexadecimal digits in '" + pair + "'");
    }
  }

  // --- values ---
  std::string reference() {
    for (const char mark : {'%', '@', '$'})
      if (accept(mark)) return mark + word();
    fail("expected a value, found '" + word_or_char() + "'");
    return "";
  }
  Value* operand() {
    if (accept_word("_")) return nullptr;
    if (std::strchr("%@$", peek()) == nullptr) {
      const Type t = type();
      const Bytes b = ok() ? contents(t) : Bytes{};
      return ok() ? graph_.add_constant(t.dtype, t.dims, b) : nullptr;
    }
    const std::string name = reference();
    const auto it = values_.find(name);
    if (it != values_.end()) return it->second;
    fail("unknown value " + name);
    return nullptr;
  }
  void define(const std::string& name, Value* v) {
    if (ok() && !values_.emplace(name, v).second) fail("value " + name + " is defined twice");
  }
  Defined defined() {
    Defined d;
    if (accept_word("_")) return d;
    d.name = reference();
    if (accept(':')) d.type = type();
    if (accept_word("declared")) d.declared = type();
    d.quant = quant();
    return d;
  }
  std::optional<QuantNote> quant() {
    if (!accept_word("quant")) return {};
    QuantNote q;
    expect('(');
    if (!element_from_text(DType::f32, number(), reinterpret_cast<uint8_t*>(&q.scale))) fail("no scale");
    expect(',');
    q.zero_point = integer32();
    expect(')');
    return q;
  }

  // --- items ---
  void item() {
    const std::string w = word();
    if (w == "symbol") symbol();
    else if (w == "metadata") pair(graph_.metadata);
    else if (w == "evidence") pair(graph_.evidence);
    else if (w == "state") state();
    else if (w == "constant") constant();
    else if (w == "method") method();
    else fail("expected symbol, metadata, evidence, state, constant or method, found '" + (w.empty() ? std::string(1, peek()) : w) + "'");
  }
  void symbol() {
    Symbol s;
    s.name = string();
    const std::string range = number();
    const size_t dots = range.find("..");
    const bool good = dots != std::string::npos &&
                      element_from_text(DType::s32, range.substr(0, dots), reinterpret_cast<uint8_t*>(&s.min)) &&
                      element_from_text(DType::s32, range.substr(dots + 2), reinterpret_cast<uint8_t*>(&s.max));
    if (!good || s.min < 0 || s.min > s.max) fail("expected MIN..MAX, found '" + range + "'");
    while (ok() && accept(',')) s.more.push_back(integer32());
    if (!graph_.symbols.empty() && s.more.size() != graph_.symbols[0].more.size()) fail("expected as many sizes as of the first symbol");
    graph_.symbols.push_back(s);
  }
  void pair(std::vector<std::pair<std::string, std::string>>& list) {
    const std::string key = string();
    list.emplace_back(key, string());
  }
  void state() {
    const std::string name = reference();
    expect(':');
    const Type t = type();
    const Bytes first = accept('=') ? contents(t) : Bytes{};
    if (ok()) define(name, graph_.add_state(name.substr(1), t.dtype, t.dims, first));
  }
  void constant() {
    const std::string name = reference();
    expect(':');
    const Type t = type();
    Layout layout = Layout::kPlain;
    if (peek() != '=' && !layout_from_name(word(), &layout)) fail("unknown layout");
    expect('=');
    const Bytes b = ok() ? contents(t, layout) : Bytes{};
    if (ok()) define(name, graph_.add_constant(t.dtype, t.dims, b, name.substr(1), layout));
  }
  void method();
  void body(Block& block, int depth);
  void statement(Block& block, int depth);
  void attributes(Node& node, const OpDoc* doc);
  void attribute(Node& node, const OpDoc& doc);
  void blocks(Node& node, int depth);
  void finish(Node& node, const std::vector<Defined>& outputs);

  Graph& graph_;
  std::map<std::string, Value*> values_;
};

void Parser::method() {
  Method& m = graph_.add_method(string());
  expect('(');
  while (ok() && peek() != ')') {
    const std::string ref = reference(), name = string();
    expect(':');
    std::vector<int> symbols;
    const Type t = type(&symbols);
    if (!ok()) return;
    Value* v = graph_.add_input(m, name, t.dtype, t.dims, symbols);
    v->quant = quant();
    define(ref, v);
    if (!accept(',')) break;
  }
  expect(')');
  expect('-');
  expect('>');
  expect('(');
  while (ok() && peek() == '"') {
    m.output_names.push_back(string());
    accept(',');
  }
  expect(')');
  expect('{');
  body(*m.block, 0);
  if (ok() && m.block->results.size() != m.output_names.size()) fail("a method yields one value for each output name");
}

void Parser::body(Block& block, int depth) {
  if (depth > kMaxDepth) fail("blocks nested too deeply");
  while (ok() && !accept_word("yield")) statement(block, depth);
  while (ok() && peek() != '}') {
    Value* v = operand();
    if (ok()) graph_.add_result(block, v);
    if (!accept(',')) break;
  }
  expect('}');
}

void Parser::statement(Block& block, int depth) {
  std::vector<Defined> outputs;
  const size_t start = place();
  while (ok() && (peek() == '%' || peek_word() == "_")) {
    outputs.push_back(defined());
    if (!accept(',')) break;
  }
  if (!outputs.empty()) expect('=');
  const std::string name = word();
  const uint16_t op = op_from_name(name);
  if (op == 0) {
    fail("unknown operator '" + name + "'");
    return;
  }
  const std::string symbol = op == kCustom ? string() : "";
  std::vector<Value*> inputs;
  expect('(');
  while (ok() && peek() != ')') {
    inputs.push_back(operand());
    if (!accept(',')) break;
  }
  expect(')');
  if (!ok()) return;
  const OpDoc* doc = find_op_doc(op);
  const std::vector<uint8_t> defaults = doc != nullptr ? doc->default_attrs : std::vector<uint8_t>{};
  Node* node = graph_.add_node(block, op, defaults.data(), defaults.size(), inputs, outputs.size(), "");
  node->symbol = symbol;
  attributes(*node, doc);
  if (accept_word("trips")) node->max_trips = integer();
  if (peek() == '"') node->name = string();
  if (op == kIf || op == kLoop) blocks(*node, depth + 1);
  if (!ok()) return;
  blame(start);
  finish(*node, outputs);
  blame(std::string::npos);
}

void Parser::attributes(Node& node, const OpDoc* doc) {
  if (node.op == kCustom && accept_word("hex")) {
    const std::string s = string();
    node.attrs.resize(s.size() / 2);
    unhex(s, node.attrs);
  }
  if (doc == nullptr || !accept('{')) return;
  while (ok() && peek() != '}') {
    attribute(node, *doc);
    if (!accept(',')) break;
  }
  expect('}');
}

void Parser::attribute(Node& node, const OpDoc& doc) {
  const std::string name = word();
  for (const AttrDoc& f : doc.attrs) {
    if (f.name != name) continue;
    expect('=');
    std::string text;
    uint32_t n = 0;
    if (f.array) expect('[');
    do text += (n++ > 0 ? ", " : "") + number();
    while (ok() && f.array && accept(','));
    if (f.array) expect(']');
    // Elements that are left out have their default values.
    AttrDoc rest = f;
    const uint32_t width = f.kind <= AttrDoc::Kind::kF32 ? 4 : f.kind <= AttrDoc::Kind::kU16 ? 2 : 1;
    if (ok() && n < f.count) {
      rest.offset += n * width;
      rest.count -= n;
      const std::string left = attr_to_text(rest, doc.default_attrs.data());
      text += ", " + left.substr(1, left.size() - 2);
    }
    if (ok() && (n > f.count || !attr_from_text(f, f.array ? "[" + text + "]" : text, node.attrs.data())))
      fail("attribute " + name + " of " + doc.name + " cannot be [" + text + "]");
    return;
  }
  fail("operator " + doc.name + " has no attribute '" + name + "'");
}

void Parser::blocks(Node& node, int depth) {
  expect('{');
  while (ok()) {
    Block& b = graph_.add_block(&node);
    if (accept_word("arguments")) {
      while (ok()) {
        const Defined d = defined();
        if (ok() && !d.type) fail("an argument needs a type");
        if (!ok()) return;
        const Value* like = node.input(b.arguments.size());
        const bool same = like != nullptr && like->type == *d.type;
        define(d.name, graph_.add_argument(b, "", *d.type, same ? like->facts : std::vector<Facts>{}));
        if (!accept(',')) break;
      }
    }
    body(b, depth);
    if (!accept('{')) break;
  }
}

void Parser::finish(Node& node, const std::vector<Defined>& outputs) {
  for (size_t i = 0; ok() && i < outputs.size(); ++i) {
    node.outputs[i]->declared = outputs[i].declared;
    node.outputs[i]->quant = outputs[i].quant;
    if (!outputs[i].name.empty()) continue;
    node.outputs[i]->producer = nullptr;
    node.outputs[i] = nullptr;
  }
  std::string why;
  if (ok() && node.op != kAssign && !infer(node, &why)) fail(op_name(node.op) + ": " + why);
  for (size_t i = 0; ok() && i < outputs.size(); ++i) {
    Value* v = node.outputs[i];
    if (v == nullptr) continue;
    if (node.op == kCustom && outputs[i].type) v->type = *outputs[i].type;
    if (outputs[i].type && *outputs[i].type != v->type)
      fail("value " + outputs[i].name + " is " + print(v->type) + ", the text says " + print(*outputs[i].type));
    define(outputs[i].name, v);
  }
}

}  // namespace

bool parse(const std::string& text, Graph& graph, std::string* error) { return Parser(text, graph).run(error); }

}  // namespace mote::ir
