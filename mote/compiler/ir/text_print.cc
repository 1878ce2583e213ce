#include <cmath>
#include <cstdio>
#include <cstring>
#include <set>
#include <unordered_map>

#include "mote/compiler/ir/text.h"
#include "mote/compiler/ir/text_words.h"
#include "mote/ops/op_docs.h"

namespace mote::ir {
namespace {

std::string join(const std::vector<std::string>& parts, const char* between = ", ") {
  std::string s;
  for (size_t i = 0; i < parts.size(); ++i) s += (i > 0 ? between : "") + parts[i];
  return s;
}

uint64_t digest(const Bytes& b) {
  uint64_t h = 0xcbf29ce484222325u;
  for (size_t i = 0; i < b.size; ++i) h = (h ^ b.data[i]) * 0x100000001b3u;
  return h;
}

std::string hex(const Bytes& b) {
  static const char digits[] = "0123456789abcdef";
  std::string s;
  s.reserve(b.size * 2);
  for (size_t i = 0; i < b.size; ++i) {
    s += digits[b.data[i] >> 4];
    s += digits[b.data[i] & 15];
  }
  return s;
}

// The attribute's elements up to the last that is not as by default; empty when all are.
std::string changed(const AttrDoc& field, const uint8_t* attrs, const uint8_t* defaults) {
  const auto split = [](std::string s) {
    if (!s.empty() && s.front() == '[') s = s.substr(1, s.size() - 2);
    std::vector<std::string> out;
    for (size_t at = 0; at <= s.size();) {
      const size_t end = std::min(s.find(", ", at), s.size());
      out.push_back(s.substr(at, end - at));
      at = end + 2;
    }
    return out;
  };
  std::vector<std::string> now = split(attr_to_text(field, attrs));
  const std::vector<std::string> before = split(attr_to_text(field, defaults));
  while (!now.empty() && now.back() == before[now.size() - 1]) now.pop_back();
  if (now.empty()) return "";
  return field.array ? "[" + join(now, ",") + "]" : now[0];
}

std::string attributes(const Node& node) {
  if (node.op == kCustom) {
    const Bytes raw = Bytes::copy_of(node.attrs.data(), node.attrs.size());
    return node.attrs.empty() ? "" : " hex\"" + hex(raw) + "\"";
  }
  const OpDoc* doc = find_op_doc(node.op);
  if (doc == nullptr || doc->attrs_size == 0) return "";
  std::vector<uint8_t> bytes = node.attrs;
  bytes.resize(std::max<size_t>(doc->attrs_size, bytes.size()));
  std::vector<std::string> parts;
  for (const AttrDoc& f : doc->attrs)
    if (const std::string s = changed(f, bytes.data(), doc->default_attrs.data()); !s.empty()) parts.push_back(f.name + "=" + s);
  return parts.empty() ? "" : " {" + join(parts) + "}";
}

class Printer {
 public:
  Printer(const Graph& graph, const TextOptions& options) : graph_(graph), options_(options) {}

  std::string run() {
    for (const Symbol& s : graph_.symbols) {
      std::string more;
      for (const int32_t size : s.more) more += ", " + std::to_string(size);
      line("symbol " + quoted(s.name) + " " + std::to_string(s.min) + ".." + std::to_string(s.max) + more);
    }
    for (const auto& [key, text] : graph_.metadata) line("metadata " + quoted(key) + " " + quoted(text));
    for (const auto& [key, text] : graph_.evidence) line("evidence " + quoted(key) + " " + quoted(text));
    for (const Value* v : graph_.states()) {
      names_[v] = unique('$', v->name);
      line("state " + names_[v] + ": " + print(v->type) + (v->data.present() ? " = " + contents(*v) : ""));
    }
    for (const auto& v : graph_.values()) {
      if (!v->is_constant() || v->unused() || elements(*v, nullptr)) continue;
      names_[v.get()] = unique('@', v->name);
      line("constant " + names_[v.get()] + ": " + print(v->type) + layout(*v) + " = " + contents(*v));
    }
    for (const Method& m : graph_.methods) method(m);
    return out_;
  }

 private:
  void line(const std::string& s) { out_ += std::string(static_cast<size_t>(depth_) * 2, ' ') + s + "\n"; }

  std::string unique(char mark, const std::string& name) {
    std::string word;
    for (const char c : name) word += is_word(c) ? c : '_';
    std::string s = word;
    for (int i = 2; s.empty() || !used_.insert(mark + s).second; ++i) s = (word.empty() ? "_" : word + "~") + std::to_string(i);
    return mark + s;
  }
  static std::string layout(const Value& v) { return v.layout == Layout::kPlain ? "" : " " + layout_name(v.layout); }

  // True when the constant may stand in its operand; its elements in braces in *text.
  bool elements(const Value& v, std::string* text) const {
    if (v.layout != Layout::kPlain || v.type.count() > static_cast<int64_t>(options_.inline_elements)) return false;
    if (dtype_bytes(v.type.dtype) == 0) return false;
    std::vector<std::string> parts;
    for (int64_t i = 0; i < v.type.count(); ++i) {
      parts.push_back(element_to_text(v.type.dtype, v.data.data + static_cast<size_t>(i) * dtype_bytes(v.type.dtype)));
      if (parts.back().empty()) return false;
    }
    if (text != nullptr) *text = print(v.type) + "{" + join(parts) + "}";
    return true;
  }
  std::string contents(const Value& v) const {
    if (options_.bytes) return "hex\"" + hex(v.data) + "\"";
    char s[64];
    std::snprintf(s, sizeof s, "<%zu bytes %016llx>", v.data.size, static_cast<unsigned long long>(digest(v.data)));
    return s;
  }

  std::string use(const Value* v) {
    if (v == nullptr) return "_";
    if (std::string text; v->is_constant() && elements(*v, &text)) return text;
    const auto it = names_.find(v);
    return it == names_.end() ? "%undefined" : it->second;
  }
  std::string define(const Value* v) {
    if (v == nullptr) return "_";
    names_[v] = "%" + std::to_string(next_++);
    std::string s = names_[v] + ": " + print(v->type);
    if (v->declared && v->type.dynamic != 0) s += " declared " + print(*v->declared);
    return s + quant(*v);
  }
  static std::string quant(const Value& v) {
    if (!v.quant) return "";
    char s[64];
    std::snprintf(s, sizeof s, " quant(%.9g, %d)", static_cast<double>(v.quant->scale), v.quant->zero_point);
    return s;
  }

  // An input's type names the symbols: any symbol that has the sizes of the dimension in every sample means the same.
  std::string input_type(const Value& v) const {
    std::vector<std::string> dims;
    for (int i = 0; i < v.type.rank(); ++i) {
      std::string text = ((v.type.dynamic >> i & 1) != 0 ? "?" : "") + std::to_string(v.type.dims[static_cast<size_t>(i)]);
      for (size_t s = 0; s < graph_.symbols.size() && (v.type.dynamic >> i & 1) != 0; ++s) {
        bool same = v.facts.size() == graph_.sample_count();
        for (size_t k = 0; same && k < v.facts.size(); ++k) same = v.facts[k].dims[static_cast<size_t>(i)] == graph_.symbol_size(s, k);
        if (!same) continue;
        text = "?" + quoted(graph_.symbols[s].name);
        break;
      }
      dims.push_back(text);
    }
    return std::string(dtype_name(v.type.dtype)) + "[" + join(dims, ",") + "]";
  }

  void method(const Method& m) {
    std::vector<std::string> in, out;
    for (size_t i = 0; i < m.block->arguments.size(); ++i) {
      const Value* v = m.block->arguments[i];
      names_[v] = "%" + std::to_string(next_++);
      in.push_back(names_[v] + " " + quoted(m.input_names[i]) + ": " + input_type(*v) + quant(*v));
    }
    for (const std::string& name : m.output_names) out.push_back(quoted(name));
    line("method " + quoted(m.name) + "(" + join(in) + ") -> (" + join(out) + ") {");
    body(*m.block);
    line("}");
  }

  void body(const Block& b) {
    ++depth_;
    for (const auto& n : b.nodes) node(*n);
    std::vector<std::string> results;
    for (const Value* v : b.results) results.push_back(use(v));
    line("yield " + join(results));
    --depth_;
  }

  void node(const Node& n) {
    std::vector<std::string> in, out;
    for (const Value* v : n.inputs) in.push_back(use(v));
    std::string s = op_name(n.op) + (n.op == kCustom ? " " + quoted(n.symbol) : "") + "(" + join(in) + ")" + attributes(n);
    if (n.op == kLoop) s += " trips " + std::to_string(n.max_trips);
    if (!n.name.empty()) s += " " + quoted(n.name);
    for (const Value* v : n.outputs) out.push_back(define(v));
    line((out.empty() ? "" : join(out) + " = ") + s + (n.blocks.empty() ? "" : " {"));
    if (n.blocks.empty()) return;
    for (size_t i = 0; i < n.blocks.size(); ++i) {
      if (i > 0) line("} {");
      std::vector<std::string> arguments;
      ++depth_;
      for (const Value* v : n.blocks[i]->arguments) arguments.push_back(define(v));
      if (!arguments.empty()) line("arguments " + join(arguments));
      --depth_;
      body(*n.blocks[i]);
    }
    line("}");
  }

  const Graph& graph_;
  const TextOptions& options_;
  std::unordered_map<const Value*, std::string> names_;
  std::set<std::string> used_;
  std::string out_;
  int next_ = 0, depth_ = 0;
};

}  // namespace

std::string print(const Graph& graph, const TextOptions& options) { return Printer(graph, options).run(); }

std::string print(const Type& type) {
  std::vector<std::string> dims;
  for (int i = 0; i < type.rank(); ++i) {
    const int32_t d = type.dims[static_cast<size_t>(i)];
    dims.push_back(((type.dynamic >> i & 1) != 0 || d == kDimUnknown ? "?" : "") + (d == kDimUnknown ? "" : std::to_string(d)));
  }
  return std::string(dtype_name(type.dtype)) + "[" + join(dims, ",") + "]";
}

std::string print(const Node& node) {
  const auto use = [](const Value* v) {
    if (v == nullptr) return std::string("_");
    return (v->is_constant() ? "@" : v->kind == ValueKind::kState ? "$" : "%") + std::to_string(v->id);
  };
  std::vector<std::string> in, out;
  for (const Value* v : node.inputs) in.push_back(use(v) + (v == nullptr ? "" : ": " + print(v->type)));
  for (const Value* v : node.outputs) out.push_back(use(v) + (v == nullptr ? "" : ": " + print(v->type)));
  return join(out) + (out.empty() ? "" : " = ") + op_name(node.op) + "(" + join(in) + ")" + attributes(node) +
         (node.name.empty() ? "" : " " + quoted(node.name));
}

}  // namespace mote::ir
