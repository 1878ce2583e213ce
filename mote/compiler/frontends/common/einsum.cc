#include "mote/compiler/frontends/common/einsum.h"

#include <algorithm>
#include <map>

namespace mote::frontends {
namespace {

// A label stands for an axis: a letter, or for the axes of "..." a digit ('9' is the last of them).
using Labels = std::string;

struct Term {
  Value* value;
  Labels labels;
};

struct Equation {
  std::vector<Labels> inputs;
  Labels output;
};

bool has(const Labels& l, char label) { return l.find(label) != Labels::npos; }

// One side's term: "...ij" with as many axes for the dots as the operand leaves.
Labels read_term(const std::string& text, int dots) {
  Labels out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '.') {
      out += text[i];
      continue;
    }
    for (int k = 0; k < dots; ++k) out += static_cast<char>('9' - (dots - 1 - k));
    i += 2;
  }
  return out;
}

bool well_formed(const std::string& term) {
  const size_t dots = term.find('.');
  if (dots != std::string::npos && (term.compare(dots, 3, "...") != 0 || term.find('.', dots + 3) != std::string::npos)) return false;
  return std::all_of(term.begin(), term.end(), [](char ch) { return ch == '.' || (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z'); });
}

bool parse(Words& d, std::string text, const std::vector<Value*>& operands, Equation* out) {
  text.erase(std::remove_if(text.begin(), text.end(), [](char ch) { return ch == ' ' || ch == '\t'; }), text.end());
  const size_t arrow = text.find("->");
  const std::string left = text.substr(0, arrow);
  std::vector<std::string> terms(1);
  for (char ch : left) {
    if (ch == ',') terms.emplace_back();
    else terms.back().push_back(ch);
  }
  const std::string right = arrow == std::string::npos ? "" : text.substr(arrow + 2);
  bool fine = terms.size() == operands.size() && well_formed(right);
  int most_dots = 0;
  for (size_t i = 0; fine && i < terms.size(); ++i) {
    const bool dotted = terms[i].find('.') != std::string::npos;
    const int dots = rank_of(operands[i]) - static_cast<int>(terms[i].size()) + (dotted ? 3 : 0);
    fine = well_formed(terms[i]) && (dotted ? dots >= 0 : dots == 0);
    if (!fine) break;
    out->inputs.push_back(read_term(terms[i], dots));
    most_dots = std::max(most_dots, dots);
  }
  if (!fine) {
    d.fail("equation '" + text + "' does not fit its " + std::to_string(operands.size()) + " operands");
    return false;
  }
  out->output = read_term(right, most_dots);
  if (arrow != std::string::npos) return true;
  std::map<char, int> seen;  // without an arrow: the dots, then every letter that stands once, in alphabetical order
  for (const Labels& l : out->inputs)
    for (char ch : l) ++seen[ch];
  for (const auto& [label, count] : seen)
    if (count == 1 || (label >= '0' && label <= '9')) out->output += label;
  return true;
}

// "...ii...": keeps the elements where both indices are equal.
bool take_diagonals(Words& d, Term* t) {
  for (size_t i = 0; i < t->labels.size(); ++i) {
    const size_t j = t->labels.find(t->labels[i], i + 1);
    if (j == Labels::npos) continue;
    const ir::Dims dims = dims_of(t->value);
    if (!is_fixed(t->value, static_cast<int>(i)) || !is_fixed(t->value, static_cast<int>(j)) || dims[i] != dims[j] ||
        !t->value->type.is_static()) {
      d.fail("a diagonal needs two axes of the same fixed size");
      return false;
    }
    std::vector<int> perm;
    std::vector<int64_t> flat, at;
    Labels labels;
    for (size_t k = 0; k < dims.size(); ++k) {
      if (k == i || k == j) continue;
      perm.push_back(static_cast<int>(k));
      flat.push_back(dims[k]);
      labels += t->labels[k];
    }
    perm.push_back(static_cast<int>(i));
    perm.push_back(static_cast<int>(j));
    flat.push_back(int64_t{dims[i]} * dims[j]);
    for (int64_t k = 0; k < dims[i]; ++k) at.push_back(k * (dims[i] + 1));
    t->value = d.gather(d.reshape(d.transpose(t->value, perm), flat), d.ints(at), static_cast<int>(flat.size()) - 1);
    t->labels = labels + t->labels[i];
    return d.b.ok() && take_diagonals(d, t);
  }
  return true;
}

// Sums over the labels that nobody else needs.
void sum_out(Words& d, Term* t, const Labels& needed) {
  std::vector<int64_t> axes;
  Labels left;
  for (size_t i = 0; i < t->labels.size(); ++i) {
    if (has(needed, t->labels[i])) left += t->labels[i];
    else axes.push_back(static_cast<int64_t>(i));
  }
  t->value = d.reduce(OpId::reduce_sum, t->value, axes, false);
  t->labels = left;
}

// Brings the axes into the order of `labels`; missing ones become axes of size 1.
Value* arrange(Words& d, const Term& t, const Labels& labels) {
  std::vector<int> perm;
  std::vector<int64_t> added;
  for (size_t i = 0; i < labels.size(); ++i) {
    const size_t at = t.labels.find(labels[i]);
    if (at == Labels::npos) added.push_back(static_cast<int64_t>(i));
    else perm.push_back(static_cast<int>(at));
  }
  Value* v = d.transpose(t.value, perm);
  return added.empty() ? v : d.unsqueeze(v, added);
}

int64_t product_of(const Value* v, size_t begin, size_t end) {
  int64_t n = 1;
  for (size_t i = begin; i < end; ++i) n *= dims_of(v)[i];
  return n;
}

// Joins the axes [split, rank) into one, given how many there are.
Value* join_tail(Words& d, Value* v, size_t batch, size_t middle) {
  if (!d.b.ok()) return nullptr;
  const ir::Dims dims = dims_of(v);
  std::vector<int64_t> shape(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(batch));
  shape.push_back(product_of(v, batch, batch + middle));
  shape.push_back(product_of(v, batch + middle, dims.size()));
  return d.reshape(v, shape);
}

// Both operands by one matrix product: batch labels are shared and kept, `sum` labels shared and summed.
bool by_matmul(Words& d, const Term& a, const Term& b, const Labels& needed, Term* out) {
  Labels batch, sum, left, right;
  for (char l : a.labels) (!has(b.labels, l) ? left : has(needed, l) ? batch : sum) += l;
  for (char l : b.labels)
    if (!has(a.labels, l)) right += l;
  if (sum.empty() || (mask_of(dtype_of_value(a.value)) & (kFloat | mask_of(DType::s32) | mask_of(DType::s64))) == 0) return false;
  const bool joins = left.size() != 1 || right.size() != 1 || sum.size() != 1;
  if (joins && !(a.value->type.is_static() && b.value->type.is_static())) return false;
  for (char l : batch + sum)  // sizes of 1 broadcast, which a joined axis cannot
    if (dims_of(a.value)[a.labels.find(l)] != dims_of(b.value)[b.labels.find(l)]) return false;
  Value *x = arrange(d, a, batch + left + sum), *y = arrange(d, b, batch + sum + right);
  if (joins) {
    x = join_tail(d, x, batch.size(), left.size());
    y = join_tail(d, y, batch.size(), sum.size());
  }
  out->value = d.matmul(x, y);
  out->labels = batch + left + right;
  if (!joins || !d.b.ok()) return true;
  std::vector<int64_t> dims;
  for (char l : out->labels) dims.push_back(has(a.labels, l) ? dims_of(a.value)[a.labels.find(l)] : dims_of(b.value)[b.labels.find(l)]);
  out->value = d.reshape(out->value, dims);
  return true;
}

Term multiply(Words& d, const Term& a, const Term& b, const Labels& needed) {
  Term out{nullptr, {}};
  if (by_matmul(d, a, b, needed, &out)) return out;
  Labels all = a.labels;
  for (char l : b.labels)
    if (!has(all, l)) all += l;
  out = {d.mul(arrange(d, a, all), arrange(d, b, all)), all};
  sum_out(d, &out, needed);
  return out;
}

}  // namespace

Value* einsum(Words& d, const std::string& equation, const std::vector<Value*>& operands) {
  Equation e;
  if (operands.empty() || !parse(d, equation, operands, &e)) return nullptr;
  Term total{nullptr, {}};
  for (size_t i = 0; i < operands.size() && d.b.ok(); ++i) {
    Term t{operands[i], e.inputs[i]};
    if (!take_diagonals(d, &t)) return nullptr;
    Labels later = e.output;
    for (size_t k = i + 1; k < operands.size(); ++k) later += e.inputs[k];
    sum_out(d, &t, later + total.labels);
    if (i == 0) total = t;
    else if (d.b.ok()) total = multiply(d, total, t, later);
  }
  if (!d.b.ok()) return nullptr;
  for (char l : e.output) {
    if (has(total.labels, l)) continue;
    d.fail(std::string("output label '") + l + "' is in no operand");
    return nullptr;
  }
  sum_out(d, &total, e.output);
  return d.b.ok() ? arrange(d, total, e.output) : nullptr;
}

}  // namespace mote::frontends
