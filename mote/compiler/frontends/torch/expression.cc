#include "mote/compiler/frontends/torch/expression.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

namespace mote::frontends::torch {
namespace {

constexpr int kMostNested = 64;
constexpr int64_t kLargestSize = int64_t{1} << 40;  // larger sizes are no sizes

// A call "Name(arguments)"; Symbol and Integer carry their text.
struct Term {
  std::string name, text;
  std::vector<Term> arguments;
};

class Reader {
 public:
  explicit Reader(const std::string& text) : text_(text) {}

  bool read(Term* out) { return term(out, 0) && (skip(), at_ == text_.size()); }

 private:
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::string word() {
    skip();
    const size_t begin = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_' || text_[at_] == '.' || text_[at_] == '-'))
      ++at_;
    return text_.substr(begin, at_ - begin);
  }

  bool term(Term* out, int depth) {
    if (depth > kMostNested) return false;
    out->name = word();
    if (out->name.empty() || !take('(')) return false;
    if (out->name == "Symbol") return symbol(out);
    if (out->name == "Integer") {
      out->text = word();
      return !out->text.empty() && out->text.size() < 19 && take(')');
    }
    if (take(')')) return true;
    do {
      out->arguments.emplace_back();
      if (!term(&out->arguments.back(), depth + 1)) return false;
    } while (take(','));
    return take(')');
  }

  bool symbol(Term* out) {
    if (!take('\'')) return false;
    const size_t end = text_.find('\'', at_);
    if (end == std::string::npos) return false;
    out->text = text_.substr(at_, end - at_);
    at_ = text_.find(')', end);
    if (at_ == std::string::npos) return false;
    ++at_;
    return true;
  }

  const std::string& text_;
  size_t at_ = 0;
};

using Bounds = std::optional<Range>;

Range between(int64_t a, int64_t b) {
  Range r;
  r.min = std::clamp(std::min(a, b), -kLargestSize, kLargestSize);
  r.max = std::clamp(std::max(a, b), -kLargestSize, kLargestSize);
  r.bounded = true;
  return r;
}

int64_t times(int64_t a, int64_t b) {
  const double exact = static_cast<double>(a) * static_cast<double>(b);
  return exact > static_cast<double>(kLargestSize) ? kLargestSize : exact < -static_cast<double>(kLargestSize) ? -kLargestSize : a * b;
}

int64_t floor_div(int64_t a, int64_t b) { return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0); }

Bounds combine(const std::string& name, const Range& a, const Range& b) {
  if (name == "Add") return between(a.min + b.min, a.max + b.max);
  if (name == "Max") return between(std::max(a.min, b.min), std::max(a.max, b.max));
  if (name == "Min") return between(std::min(a.min, b.min), std::min(a.max, b.max));
  if (name == "Mul") {
    const int64_t p[] = {times(a.min, b.min), times(a.min, b.max), times(a.max, b.min), times(a.max, b.max)};
    return between(*std::min_element(p, p + 4), *std::max_element(p, p + 4));
  }
  if (name == "Pow" && b.min == b.max && b.min >= 0 && b.min <= 4 && a.min >= 0) {
    int64_t low = 1, high = 1;
    for (int64_t i = 0; i < b.min; ++i) low = times(low, a.min), high = times(high, a.max);
    return between(low, high);
  }
  if ((name == "FloorDiv" || name == "CleanDiv") && b.min > 0)
    return between(std::min(floor_div(a.min, b.min), floor_div(a.min, b.max)), std::max(floor_div(a.max, b.min), floor_div(a.max, b.max)));
  if ((name == "Mod" || name == "PythonMod") && b.min > 0) return between(0, a.min >= 0 ? std::min(a.max, b.max - 1) : b.max - 1);
  return std::nullopt;
}

Bounds evaluate(const Term& t, const std::map<std::string, Range>& ranges) {
  if (t.name == "Integer") {
    const int64_t v = std::strtoll(t.text.c_str(), nullptr, 10);
    return between(v, v);
  }
  if (t.name == "Symbol") {
    const auto it = ranges.find(t.text);
    return it == ranges.end() || !it->second.bounded ? std::nullopt : Bounds(between(it->second.min, it->second.max));
  }
  if (t.arguments.size() == 1 && (t.name == "ToInt" || t.name == "Identity")) return evaluate(t.arguments[0], ranges);
  Bounds total;
  for (const Term& a : t.arguments) {
    const Bounds next = evaluate(a, ranges);
    if (!next) return std::nullopt;
    total = total ? combine(t.name, *total, *next) : next;
    if (!total) return std::nullopt;
  }
  return total;
}

std::string write(const Term& t) {
  if (t.name == "Integer" || t.name == "Symbol") return t.text;
  const bool infix = t.name == "Add" || t.name == "Mul";
  std::string out = infix ? "" : t.name + "(";
  for (size_t i = 0; i < t.arguments.size(); ++i) {
    const bool inner = infix && t.name == "Mul" && t.arguments[i].name == "Add";
    const std::string part = write(t.arguments[i]);
    out += (i == 0 ? "" : t.name == "Add" ? "+" : t.name == "Mul" ? "*" : ", ") + (inner ? "(" + part + ")" : part);
  }
  return infix ? out : out + ")";
}

}  // namespace

std::string symbol_name(const std::string& expression) {
  Term t;
  return Reader(expression).read(&t) && t.name == "Symbol" ? t.text : "";
}

std::optional<Range> bounds_of(const std::string& expression, const std::map<std::string, Range>& ranges) {
  Term t;
  return Reader(expression).read(&t) ? evaluate(t, ranges) : std::nullopt;
}

std::string readable(const std::string& expression) {
  Term t;
  return Reader(expression).read(&t) ? write(t) : expression;
}

}  // namespace mote::frontends::torch
