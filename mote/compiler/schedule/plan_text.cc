#include "mote/compiler/schedule/plan_text.h"

#include <algorithm>
#include <cstdio>

#include "mote/compiler/ir/text_words.h"
#include "mote/compiler/text/words.h"
#include "mote/ops/op_docs.h"

namespace mote::schedule {
namespace {

using text::quoted;
using text::Words;

constexpr const char* kStorages[] = {"constant", "arena", "state", "input", "output"};
constexpr int64_t kMaxNumber = 0x7fffffff;

std::string number(uint64_t v) { return std::to_string(v); }

class Printer {
 public:
  Printer(const Plan& plan, bool bytes) : plan_(plan), bytes_(bytes) {}

  std::string run() {
    line("plan lower_bound " + number(plan_.lower_bound));
    for (const auto& [key, text] : plan_.metadata) line("metadata " + quoted(key) + " " + quoted(text));
    for (const auto& [key, text] : plan_.evidence) line("evidence " + quoted(key) + " " + quoted(text));
    for (const Bank& b : plan_.banks)
      line("bank " + quoted(b.name) + " size " + number(b.size) + " limit " + number(b.limit) + " align " + number(b.alignment));
    for (const Buffer& b : plan_.buffers)
      line("buffer bank " + number(b.bank) + " at " + number(b.offset) + " bytes " + number(b.bytes) + " align " + number(b.alignment) +
           (b.state ? " kept" : ""));
    for (const Constant& c : plan_.constants)
      line("constant " + quoted(c.name) + " " +
           (bytes_ ? text::hex_text(c.data.data, c.data.size) : text::digest_text(c.data.data, c.data.size)));
    for (size_t i = 0; i < plan_.tensors.size(); ++i) tensor(i);
    for (const State& s : plan_.states) line("state " + quoted(s.name) + " " + operand(s.tensor) + " from " + operand(s.init));
    for (const Method& m : plan_.methods) method(m);
    return out_;
  }

 private:
  void line(const std::string& s) { out_ += std::string(static_cast<size_t>(depth_) * 2, ' ') + s + "\n"; }
  static std::string operand(TensorId t) { return t < 0 ? "_" : std::to_string(t); }

  void tensor(size_t i) {
    const Tensor& t = plan_.tensors[i];
    TensorDesc dense = t.desc;
    set_dense_strides(dense);
    std::string s = "tensor " + number(i) + " " + dtype_name(t.desc.dtype) + " " + text::sizes_text(t.desc) + " " +
                    kStorages[static_cast<size_t>(t.desc.storage)] + " " + std::to_string(t.place) + " +" + number(t.at);
    if (t.desc.layout != Layout::kPlain) s += " " + ir::layout_name(t.desc.layout);
    else if (!std::equal(dense.strides, dense.strides + kMaxRank, t.desc.strides))
      s += " strides " + text::list_text(t.desc.strides, t.desc.rank);
    if (t.desc.ring_rows != 0) s += " ring " + number(t.desc.ring_rows);
    if (t.quant) {
      char q[64];
      std::snprintf(q, sizeof q, " quant %.9g %d", static_cast<double>(t.quant->scale), t.quant->zero_point);
      s += q;
    }
    if (!t.name.empty()) s += " " + quoted(t.name);
    line(s);
  }

  void method(const Method& m) {
    line("method " + quoted(m.name));
    for (const Io& io : m.inputs) line("input " + operand(io.tensor) + " " + quoted(io.name));
    for (const Io& io : m.outputs) line("output " + operand(io.tensor) + " " + quoted(io.name));
    steps(m.first_step, m.first_step + m.step_count);
    line("end");
  }

  void steps(size_t first, size_t end) {
    ++depth_;
    for (size_t i = first; i < end && i < plan_.steps.size(); ++i) {
      const Step& s = plan_.steps[i];
      line(text_of(s));
      if (!s.is_control()) continue;
      steps(i + 1, i + 1 + s.body);
      if (s.is(ControlOp::kIf)) {
        line("else");
        steps(i + 1 + s.body, i + 1 + s.body + s.otherwise);
      }
      line("end");
      i += s.body + s.otherwise;
    }
    --depth_;
  }

  std::string text_of(const Step& s) const {
    const OpDoc* doc = find_op_doc(s.op);
    std::string t = s.is(ControlOp::kIf)         ? "if"
                    : s.is(ControlOp::kLoop)     ? "loop"
                    : s.is(ControlOp::kStrip)    ? "strip"
                    : s.is(ControlOp::kDelegate) ? "delegate"
                    : s.op == ir::kCustom        ? "custom " + quoted(s.symbol)
                    : doc != nullptr             ? doc->name
                                                 : "?";
    for (TensorId x : s.inputs) t += " " + operand(x);
    if (!s.outputs.empty()) t += " ->";
    for (TensorId x : s.outputs) t += " " + operand(x);
    if (s.is(ControlOp::kLoop) || s.is(ControlOp::kStrip)) t += " trips " + number(s.trips);
    if (!s.is_control() || s.is(ControlOp::kDelegate)) t += " " + text::attrs_text(s.op, s.attrs);
    if (s.in_order) t += " in_order";
    if (s.rows.rows != 0)
      t += " rows " + std::to_string(s.rows.begin) + " " + std::to_string(s.rows.step) + " " + std::to_string(s.rows.rows);
    if (!s.name.empty()) t += " " + quoted(s.name);
    return t;
  }

  const Plan& plan_;
  const bool bytes_;
  std::string out_;
  int depth_ = 0;
};

class Parser {
 public:
  bool run(const std::string& text, Plan* out, std::string* error) {
    if (!text::each_line(
            text, [this](Words& w) { item(w); }, error))
      return false;
    if (in_method_) {
      *error = "the last method has no end";
      return false;
    }
    *out = std::move(plan_);
    return true;
  }

 private:
  static TensorId operand(Words& w) { return w.accept("_") ? kNone : static_cast<TensorId>(w.number(0, kMaxNumber)); }

  void item(Words& w) {
    if (in_method_) return step(w);
    const std::string kind = w.word();
    if (kind == "plan") {
      w.expect("lower_bound");
      plan_.lower_bound = static_cast<uint64_t>(w.number(0, INT64_MAX));
    } else if (kind == "metadata" || kind == "evidence") {
      const std::string key = w.text();
      (kind == "metadata" ? plan_.metadata : plan_.evidence).emplace_back(key, w.text());
    } else if (kind == "bank") {
      bank(w);
    } else if (kind == "buffer") {
      buffer(w);
    } else if (kind == "constant") {
      const std::string name = w.text();
      plan_.constants.push_back({ir::Bytes::own(w.bytes()), name});
    } else if (kind == "tensor") {
      tensor(w);
    } else if (kind == "state") {
      State s;
      s.name = w.text();
      s.tensor = operand(w);
      w.expect("from");
      s.init = operand(w);
      plan_.states.push_back(s);
    } else if (kind == "method") {
      in_method_ = true;
      plan_.methods.emplace_back();
      plan_.methods.back().name = w.text();
      plan_.methods.back().first_step = static_cast<uint32_t>(plan_.steps.size());
    } else {
      w.fail("'" + kind + "' begins no line of a plan");
    }
  }

  void bank(Words& w) {
    Bank b;
    b.name = w.text();
    w.expect("size");
    b.size = static_cast<uint64_t>(w.number(0, INT64_MAX));
    w.expect("limit");
    b.limit = static_cast<uint64_t>(w.number(0, INT64_MAX));
    w.expect("align");
    b.alignment = static_cast<uint32_t>(w.number(1, kMaxNumber));
    plan_.banks.push_back(b);
  }

  void buffer(Words& w) {
    Buffer b;
    w.expect("bank");
    b.bank = static_cast<uint8_t>(w.number(0, 255));
    w.expect("at");
    b.offset = static_cast<uint64_t>(w.number(0, INT64_MAX));
    w.expect("bytes");
    b.bytes = static_cast<uint64_t>(w.number(0, INT64_MAX));
    w.expect("align");
    b.alignment = static_cast<uint32_t>(w.number(1, kMaxNumber));
    b.state = w.accept("kept");
    plan_.buffers.push_back(b);
  }

  template <size_t N>
  static uint8_t choice(Words& w, const char* const (&names)[N]) {
    const std::string s = w.word();
    const auto found = std::find(names, names + N, s);
    if (found == names + N) w.fail("unknown word '" + s + "'");
    return static_cast<uint8_t>(found - names);
  }

  void tensor(Words& w) {
    if (w.number(0, kMaxNumber) != static_cast<int64_t>(plan_.tensors.size())) return w.fail("tensors are numbered in order");
    Tensor t;
    t.desc.dtype = w.dtype();
    w.sizes(&t.desc);
    t.desc.storage = static_cast<Storage>(choice(w, kStorages));
    t.place = static_cast<int32_t>(w.number(-1, kMaxNumber));
    const std::string at = w.word();
    if (at.size() < 2 || at[0] != '+') return w.fail("expected +BYTES, found '" + at + "'");
    t.at = static_cast<uint64_t>(Words(at.substr(1)).number(0, INT64_MAX));
    set_dense_strides(t.desc);
    if (w.peek().rfind("panel", 0) == 0) {
      const std::string name = w.word();
      if (!ir::layout_from_name(name, &t.desc.layout)) return w.fail("unknown word '" + name + "'");
      std::fill(t.desc.strides, t.desc.strides + kMaxRank, 0);
    }
    if (w.accept("strides")) {
      const std::vector<int32_t> strides = w.list();
      if (strides.size() != t.desc.rank) return w.fail("expected a stride for each dimension");
      std::copy(strides.begin(), strides.end(), t.desc.strides);
    }
    if (w.accept("ring")) t.desc.ring_rows = static_cast<uint16_t>(w.number(1, 0xffff));
    if (w.accept("quant")) {
      const std::string scale = w.word();
      t.quant = ir::QuantNote{std::strtof(scale.c_str(), nullptr), static_cast<int32_t>(w.number(INT32_MIN, kMaxNumber))};
    }
    if (!w.at_end()) t.name = w.text();
    plan_.tensors.push_back(std::move(t));
  }

  void close(Words& w) {
    if (open_.empty()) {
      Method& m = plan_.methods.back();
      m.step_count = static_cast<uint32_t>(plan_.steps.size()) - m.first_step;
      in_method_ = false;
      return;
    }
    Step& s = plan_.steps[open_.back().step];
    const auto count = static_cast<uint32_t>(plan_.steps.size() - open_.back().step - 1);
    if (s.is(ControlOp::kIf) != open_.back().in_else) return w.fail("an if has two branches");
    if (s.is(ControlOp::kIf)) s.otherwise = count - s.body;
    else s.body = count;
    open_.pop_back();
  }

  void step(Words& w) {
    Method& m = plan_.methods.back();
    const std::string op = w.word();
    if (op == "input" || op == "output") {
      Io io;
      io.tensor = operand(w);
      io.name = w.text();
      (op == "input" ? m.inputs : m.outputs).push_back(io);
      return;
    }
    if (op == "end") return close(w);
    if (op == "else") {
      if (open_.empty() || open_.back().in_else || !plan_.steps[open_.back().step].is(ControlOp::kIf)) return w.fail("else without if");
      plan_.steps[open_.back().step].body = static_cast<uint32_t>(plan_.steps.size() - open_.back().step - 1);
      open_.back().in_else = true;
      return;
    }
    Step s;
    const OpDoc* doc = find_op_doc(op);
    if (op == "if") s.op = static_cast<uint16_t>(ControlOp::kIf);
    else if (op == "loop") s.op = static_cast<uint16_t>(ControlOp::kLoop);
    else if (op == "strip") s.op = static_cast<uint16_t>(ControlOp::kStrip);
    else if (op == "delegate") s.op = static_cast<uint16_t>(ControlOp::kDelegate);
    else if (op == "custom") s.op = ir::kCustom, s.symbol = w.text();
    else if (doc != nullptr) s.op = doc->id;
    else return w.fail("unknown operator '" + op + "'");
    rest_of_step(w, s);
    if (s.is_control()) open_.push_back({plan_.steps.size(), false});
    plan_.steps.push_back(std::move(s));
  }

  static void rest_of_step(Words& w, Step& s) {
    const auto is_operand = [&] { return w.peek() == "_" || (!w.peek().empty() && w.peek()[0] >= '0' && w.peek()[0] <= '9'); };
    while (is_operand()) s.inputs.push_back(operand(w));
    if (w.accept("->"))
      while (is_operand()) s.outputs.push_back(operand(w));
    if (s.is(ControlOp::kLoop) || s.is(ControlOp::kStrip)) {
      w.expect("trips");
      s.trips = static_cast<uint32_t>(w.number(0, 0xffffffffll));
    }
    if ((!s.is_control() || s.is(ControlOp::kDelegate)) && !text::attrs_from_text(s.op, w.word(), &s.attrs)) w.fail("wrong attributes");
    s.in_order = w.accept("in_order");
    if (w.accept("rows")) {
      s.rows.begin = static_cast<int32_t>(w.number(-kMaxNumber, kMaxNumber));
      s.rows.step = static_cast<int32_t>(w.number(-kMaxNumber, kMaxNumber));
      s.rows.rows = static_cast<int32_t>(w.number(0, kMaxNumber));
    }
    if (!w.at_end()) s.name = w.text();
  }

  struct Open {
    size_t step;
    bool in_else;
  };
  Plan plan_;
  std::vector<Open> open_;
  bool in_method_ = false;
};

}  // namespace

std::string print(const Plan& plan, bool bytes) { return Printer(plan, bytes).run(); }

bool parse(const std::string& text, Plan* out, std::string* error) { return Parser().run(text, out, error); }

}  // namespace mote::schedule
