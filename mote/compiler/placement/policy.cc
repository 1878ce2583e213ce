#include "mote/compiler/placement/policy.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace mote::placement {
namespace {

constexpr size_t kMostBytes = 1 << 20;

bool contains(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// One line of the text after the other; a policy needs strings, lists of strings and whole numbers.
class Parser {
 public:
  Parser(const std::string& text, Policy& out, std::string& error) : text_(text), out_(out), error_(error) {}

  bool run() {
    rule_ = &out_.all;
    table_ = "";
    for (skip_blank(); error_.empty() && !at_end(); skip_blank()) {
      if (accept('[')) table();
      else entry();
      if (error_.empty()) end_of_line();
    }
    return error_.empty();
  }

 private:
  bool at_end() const { return at_ >= text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[at_]; }
  bool accept(char c) {
    spaces();
    if (peek() != c || at_end()) return false;
    ++at_;
    return true;
  }
  void fail(const std::string& what) {
    if (!error_.empty()) return;
    const auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(std::min(at_, text_.size())), '\n');
    error_ = "line " + std::to_string(line) + ": " + what;
  }
  void spaces() {
    while (peek() == ' ' || peek() == '\t') ++at_;
  }
  void comment() {
    if (peek() == '#')
      while (!at_end() && peek() != '\n') ++at_;
  }
  void skip_blank() {
    for (;;) {
      spaces();
      comment();
      if (peek() != '\n' && peek() != '\r') return;
      ++at_;
    }
  }
  void end_of_line() {
    spaces();
    comment();
    if (peek() == '\r') ++at_;
    if (!at_end() && peek() != '\n') fail("expected the end of the line, found '" + text_.substr(at_, 12) + "'");
  }
  std::string bare() {
    spaces();
    std::string s;
    while (std::isalnum(static_cast<unsigned char>(peek())) != 0 || peek() == '_' || peek() == '-') s += text_[at_++];
    if (s.empty()) fail("expected a name");
    return s;
  }
  std::string string() {
    std::string s;
    if (!accept('"')) {
      fail("expected a string in quotes");
      return s;
    }
    while (!at_end() && peek() != '"' && peek() != '\n') {
      if (peek() == '\\' && at_ + 1 < text_.size()) ++at_;
      s += text_[at_++];
    }
    if (!accept('"')) fail("a string is not closed");
    return s;
  }
  std::vector<std::string> strings() {
    std::vector<std::string> list;
    if (!accept('[')) fail("expected a list, [\"cpu\"]");
    for (skip_blank(); error_.empty() && !accept(']'); skip_blank()) {
      list.push_back(string());
      skip_blank();
      if (!accept(',') && peek() != ']') fail("expected ',' or ']' in a list");
    }
    return list;
  }
  uint64_t number(uint64_t most) {
    spaces();
    uint64_t v = 0;
    if (std::isdigit(static_cast<unsigned char>(peek())) == 0) fail("expected a whole number");
    while (std::isdigit(static_cast<unsigned char>(peek())) != 0 || peek() == '_') {
      const char c = text_[at_++];
      if (c == '_') continue;
      v = v * 10 + static_cast<uint64_t>(c - '0');
      if (v > most) {
        fail("a number is larger than " + std::to_string(most));
        return 0;
      }
    }
    return v;
  }

  void table() {
    const std::string kind = bare();
    std::string name;
    if (accept('.')) name = peek() == '"' ? string() : bare();
    if (!accept(']')) return fail("expected ']'");
    table_ = kind + "." + name;
    if (!tables_.insert(table_).second) return fail("the table [" + kind + "] with this name is there twice");
    if (kind == "default" && name.empty()) rule_ = &out_.all;
    else if (kind == "op" && !name.empty()) rule_ = &out_.ops[name];
    else if (kind == "node" && !name.empty()) rule_ = &out_.nodes[name];
    else fail("expected [default], [op.NAME] or [node.\"NAME\"], found [" + kind + "]");
  }

  void entry() {
    const std::string key = bare();
    if (!keys_.insert(table_ + "\n" + key).second) return fail("the key '" + key + "' is there twice");
    if (error_.empty() && !accept('=')) return fail("expected '=' behind '" + key + "'");
    const bool all = rule_ == &out_.all;
    if (key == "require") rule_->require = strings();
    else if (key == "allow") rule_->allow = strings();
    else if (key == "forbid") rule_->forbid = strings();
    else if (key == "fallback" && all) fallback();
    else if (key == "max_partitions" && all) out_.max_partitions = static_cast<uint32_t>(number(1u << 20));
    else if (key == "max_transfer_bytes" && all) out_.max_transfer_bytes = number(uint64_t{1} << 50), out_.has_transfer_limit = true;
    else fail("the key '" + key + "' is not known" + (all ? "" : " here"));
  }

  void fallback() {
    const std::string how = string();
    if (how == "refuse") out_.fallback = Fallback::kRefuse;
    else if (how == "listed") out_.fallback = Fallback::kListed;
    else fail("fallback: expected \"refuse\" or \"listed\", found \"" + how + "\"");
  }

  const std::string& text_;
  Policy& out_;
  std::string& error_;
  size_t at_ = 0;
  Rule* rule_ = nullptr;
  std::string table_;
  std::set<std::string> tables_, keys_;
};

// The most particular list that says something.
const std::vector<std::string>& list_of(const Policy& p, const std::string& op, const std::string& node,
                                        std::vector<std::string> Rule::*which) {
  if (const auto n = p.nodes.find(node); n != p.nodes.end() && !(n->second.*which).empty()) return n->second.*which;
  if (const auto o = p.ops.find(op); o != p.ops.end() && !(o->second.*which).empty()) return o->second.*which;
  return p.all.*which;
}

// A rule for one node that allows something goes before a more general demand.
const std::vector<std::string>& choices(const Policy& p, const std::string& op, const std::string& node) {
  const Rule* rules[] = {nullptr, nullptr, &p.all};
  if (const auto n = p.nodes.find(node); n != p.nodes.end()) rules[0] = &n->second;
  if (const auto o = p.ops.find(op); o != p.ops.end()) rules[1] = &o->second;
  for (const Rule* r : rules) {
    if (r != nullptr && !r->require.empty()) return r->require;
    if (r != nullptr && !r->allow.empty()) return r->allow;
  }
  return p.all.allow;
}

}  // namespace

bool Policy::forbids(const std::string& op, const std::string& node, const std::string& backend) const {
  return contains(list_of(*this, op, node, &Rule::forbid), backend);
}

bool Policy::permits(const std::string& op, const std::string& node, const std::string& backend) const {
  if (forbids(op, node, backend)) return false;
  const std::vector<std::string>& list = choices(*this, op, node);
  return list.empty() || contains(list, backend);
}

std::string Policy::wanted(const std::string& op, const std::string& node) const {
  std::string names;
  for (const std::string& b : choices(*this, op, node))
    if (!forbids(op, node, b)) names += (names.empty() ? "" : " or ") + b;
  return names.empty() ? "a backend" : names;
}

bool parse_policy(const std::string& text, Policy* out, std::string* error) {
  error->clear();
  if (text.size() > kMostBytes) {
    *error = "expected a policy of at most " + std::to_string(kMostBytes) + " bytes, found " + std::to_string(text.size());
    return false;
  }
  Policy p;
  p.text = text;
  if (!Parser(text, p, *error).run()) return false;
  *out = std::move(p);
  return true;
}

}  // namespace mote::placement
