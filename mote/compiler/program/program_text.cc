#include "mote/compiler/program/program_text.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "mote/compiler/program/record_fields.h"
#include "mote/compiler/text/words.h"
#include "mote/ops/op_docs.h"

namespace mote::program {
namespace {

using text::Words;

constexpr const char* kStorages[] = {"constant", "arena", "state", "input", "output"};
constexpr const char* kControls[] = {"if", "loop", "strip", "delegate"};
constexpr int64_t kMost = 0x7fffffff;

// The lists of small records, each under the word its lines begin with.
template <class R, class F>
void each_list(R& r, const F& f) {
  f("bank", r.banks);
  f("method", r.methods);
  f("io", r.ios);
  f("state", r.states);
  f("step", r.steps);
  f("op_name", r.op_names);
  f("backend", r.backends);
  f("placement", r.placements);
  f("golden", r.goldens);
  f("quant", r.quants);
  f("metadata", r.metadata);
  f("evidence", r.evidence);
}

class FieldPrinter {
 public:
  FieldPrinter(const ProgramRecords& r, std::string& out) : r_(r), out_(out) {}
  template <class T>
  void operator()(const char* name, T value) {
    char s[40];
    if constexpr (std::is_same_v<T, float>) std::snprintf(s, sizeof s, "%.9g", static_cast<double>(value));
    else std::snprintf(s, sizeof s, "%s", std::to_string(value).c_str());
    out_ += std::string(" ") + name + " " + s;
  }
  void text(const char* name, uint32_t offset) {
    const auto& bytes = r_.strings.bytes();
    out_ += std::string(" ") + name + " " + text::quoted(offset < bytes.size() ? reinterpret_cast<const char*>(bytes.data()) + offset : "");
  }

 private:
  const ProgramRecords& r_;
  std::string& out_;
};

class Printer {
 public:
  Printer(const ProgramRecords& r, bool bytes) : r_(r), bytes_(bytes) {}

  std::string run() {
    out_ = "program " + std::to_string(r_.major) + " " + std::to_string(r_.minor) + "\n";
    const auto& pool = r_.strings.bytes();
    for (size_t at = 1; at < pool.size(); at += std::strlen(text(at)) + 1) out_ += "string " + text::quoted(text(at)) + "\n";
    for (uint32_t f : r_.required_features) out_ += "requires " + text::quoted(text(f)) + "\n";
    if (r_.policy != 0) out_ += "policy " + text::quoted(text(r_.policy)) + "\n";
    record("certificate", r_.certificate);
    for (const SegmentData& s : r_.segments)
      out_ += "segment kind " + std::to_string(static_cast<int>(s.kind)) + " flags " + std::to_string(s.flags) + " reserve " +
              std::to_string(s.reserve) + " " +
              (bytes_ ? text::hex_text(s.bytes.data(), s.bytes.size()) : text::digest_text(s.bytes.data(), s.bytes.size())) + "\n";
    for (size_t i = 0; i < r_.tensors.size(); ++i) tensor(i);
    each_list(r_, [&](const char* word, const auto& list) {
      for (const auto& one : list) record(word, one);
    });
    for (size_t i = 0; i < r_.instructions.size(); ++i) instruction(i);
    return out_;
  }

 private:
  const char* text(size_t offset) const { return reinterpret_cast<const char*>(r_.strings.bytes().data()) + offset; }

  template <class R>
  void record(const char* word, R value) {
    out_ += word;
    FieldPrinter p(r_, out_);
    fields(p, value);
    out_ += "\n";
  }

  void tensor(size_t i) {
    const TensorDesc& d = r_.tensors[i];
    out_ += "tensor " + std::to_string(i) + " " + dtype_name(d.dtype) + " " + text::sizes_text(d) + " " +
            kStorages[static_cast<size_t>(d.storage)] + " " + std::to_string(d.bank) + " at " + std::to_string(d.offset) + " layout " +
            std::to_string(static_cast<int>(d.layout));
    TensorDesc dense = d;
    set_dense_strides(dense);
    if (std::memcmp(dense.strides, d.strides, sizeof d.strides) != 0) out_ += " strides " + text::list_text(d.strides, d.rank);
    if (d.ring_rows != 0) out_ += " ring " + std::to_string(d.ring_rows);
    out_ += "\n";
  }

  void instruction(size_t i) {
    const Instruction& n = r_.instructions[i];
    const std::vector<uint8_t> attrs(r_.attrs.begin() + n.attrs, r_.attrs.begin() + n.attrs + n.attrs_size);
    const OpDoc* doc = find_op_doc(n.op);
    const size_t control = n.op - static_cast<size_t>(ControlOp::kIf);
    out_ += "do " + (doc != nullptr ? doc->name : control < std::size(kControls) ? kControls[control] : std::to_string(n.op));
    for (uint32_t k = 0; k < uint32_t{n.input_count} + n.output_count; ++k) {
      const int32_t t = r_.operands[n.operands + k];
      out_ += std::string(k == n.input_count ? " ->" : "") + " " + (t < 0 ? "_" : std::to_string(t));
    }
    out_ += " " + text::attrs_text(n.op, attrs);
    if (!r_.source_names.empty()) out_ += " " + text::quoted(text(r_.source_names[i]));
    out_ += "\n";
  }

  const ProgramRecords& r_;
  const bool bytes_;
  std::string out_;
};

class FieldParser {
 public:
  FieldParser(Words& words, StringPool& strings) : w_(words), strings_(strings) {}
  template <class T>
  void operator()(const char* name, T& value) {
    w_.expect(name);
    const std::string s = w_.word();
    if (!w_.ok()) return;
    char* end = nullptr;
    if constexpr (std::is_same_v<T, float>) {
      value = std::strtof(s.c_str(), &end);
    } else if constexpr (std::is_signed_v<T>) {
      const long long v = std::strtoll(s.c_str(), &end, 10);
      value = static_cast<T>(v);
      if (value != v) end = nullptr;
    } else {
      const unsigned long long v = std::strtoull(s.c_str(), &end, 10);
      value = static_cast<T>(v);
      if (value != v) end = nullptr;
    }
    if (end == nullptr || end == s.c_str() || *end != 0) w_.fail(std::string("no ") + name + ": '" + s + "'");
  }
  void text(const char* name, uint32_t& offset) {
    w_.expect(name);
    const std::string s = w_.text();
    if (w_.ok()) offset = strings_.add(s);
  }

 private:
  Words& w_;
  StringPool& strings_;
};

class Parser {
 public:
  bool run(const std::string& text, ProgramRecords* out, std::string* error) {
    if (!text::each_line(
            text, [this](Words& w) { item(w); }, error))
      return false;
    *out = std::move(r_);
    return true;
  }

 private:
  template <class R>
  void record(Words& w, R* out) {
    FieldParser p(w, r_.strings);
    fields(p, *out);
  }

  void item(Words& w) {
    const std::string kind = w.word();
    bool found = false;
    each_list(r_, [&](const char* word, auto& list) {
      if (found || kind != word) return;
      found = true;
      list.emplace_back();
      record(w, &list.back());
    });
    if (found) return;
    if (kind == "program") {
      r_.major = static_cast<uint16_t>(w.number(0, 0xffff));
      r_.minor = static_cast<uint16_t>(w.number(0, 0xffff));
    } else if (kind == "string") {
      r_.strings.add(w.text());
    } else if (kind == "requires") {
      r_.required_features.push_back(r_.strings.add(w.text()));
    } else if (kind == "policy") {
      r_.policy = r_.strings.add(w.text());
    } else if (kind == "certificate") {
      record(w, &r_.certificate);
    } else if (kind == "segment") {
      segment(w);
    } else if (kind == "tensor") {
      tensor(w);
    } else if (kind == "do") {
      instruction(w);
    } else {
      w.fail("'" + kind + "' begins no line of a program");
    }
  }

  void segment(Words& w) {
    SegmentData s;
    w.expect("kind");
    s.kind = static_cast<SegmentKind>(w.number(0, 3));
    w.expect("flags");
    s.flags = static_cast<uint8_t>(w.number(0, 255));
    w.expect("reserve");
    s.reserve = static_cast<uint64_t>(w.number(0, INT64_MAX));
    s.bytes = w.bytes();
    r_.segments.push_back(std::move(s));
  }

  void tensor(Words& w) {
    if (w.number(0, kMost) != static_cast<int64_t>(r_.tensors.size())) return w.fail("tensors are numbered in order");
    TensorDesc d{};
    d.dtype = w.dtype();
    w.sizes(&d);
    const std::string storage = w.word();
    const auto found = std::find(kStorages, kStorages + std::size(kStorages), storage);
    if (found == kStorages + std::size(kStorages)) return w.fail("unknown storage '" + storage + "'");
    d.storage = static_cast<Storage>(found - kStorages);
    d.bank = static_cast<uint8_t>(w.number(0, 255));
    w.expect("at");
    d.offset = static_cast<uint64_t>(w.number(0, INT64_MAX));
    w.expect("layout");
    d.layout = static_cast<Layout>(w.number(0, 255));
    set_dense_strides(d);
    if (w.accept("strides")) {
      const std::vector<int32_t> strides = w.list();
      if (strides.size() != d.rank) return w.fail("expected a stride for each dimension");
      std::copy(strides.begin(), strides.end(), d.strides);
    }
    if (w.accept("ring")) d.ring_rows = static_cast<uint16_t>(w.number(1, 0xffff));
    r_.tensors.push_back(d);
  }

  uint16_t op_of(Words& w) {
    const std::string name = w.word();
    for (size_t i = 0; i < std::size(kControls); ++i)
      if (name == kControls[i]) return static_cast<uint16_t>(static_cast<size_t>(ControlOp::kIf) + i);
    if (const OpDoc* doc = find_op_doc(name)) return doc->id;
    return static_cast<uint16_t>(Words(name).number(1, 0xffff));
  }

  void instruction(Words& w) {
    Instruction n{};
    n.op = op_of(w);
    if (n.op == 0) return w.fail("unknown operator");
    n.operands = static_cast<uint32_t>(r_.operands.size());
    const auto is_operand = [&] { return w.peek() == "_" || (!w.peek().empty() && w.peek()[0] >= '0' && w.peek()[0] <= '9'); };
    const auto operand = [&] { r_.operands.push_back(w.accept("_") ? -1 : static_cast<int32_t>(w.number(0, kMost))); };
    for (; is_operand(); ++n.input_count) operand();
    if (w.accept("->"))
      for (; is_operand(); ++n.output_count) operand();
    std::vector<uint8_t> attrs;
    if (!text::attrs_from_text(n.op, w.word(), &attrs) || attrs.size() > 0xffff) return w.fail("wrong attributes");
    r_.attrs.resize((r_.attrs.size() + 3) / 4 * 4);
    n.attrs = static_cast<uint32_t>(r_.attrs.size());
    n.attrs_size = static_cast<uint16_t>(attrs.size());
    r_.attrs.insert(r_.attrs.end(), attrs.begin(), attrs.end());
    r_.instructions.push_back(n);
    if (!w.at_end()) r_.source_names.push_back(r_.strings.add(w.text()));
  }

  ProgramRecords r_;
};

}  // namespace

std::string print(const ProgramRecords& records, bool bytes) { return Printer(records, bytes).run(); }

bool parse(const std::string& text, ProgramRecords* out, std::string* error) { return Parser().run(text, out, error); }

}  // namespace mote::program
