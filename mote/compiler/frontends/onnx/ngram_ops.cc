// TfIdfVectorizer over integers: how often each sequence of a list occurs in the rows of x, with gaps of equal width allowed.

#include <algorithm>

#include "mote/compiler/frontends/onnx/op_support.h"

namespace mote::frontends::onnx {
namespace {

constexpr int64_t kMaxGram = 64, kMaxSteps = 1024, kMaxColumns = 1 << 24;  // each element of each step is an operator

// Sequences of one length, by the place of the element: values[j] holds element j of each.
struct Grams {
  int64_t length = 0;
  std::vector<std::vector<int64_t>> values;
};

// Counts (N, sequences) in x (N, C), elements `step` apart. elements[j]: element j of each sequence.
Value* count_grams(Decompose& d, Value* x, const std::vector<Value*>& elements, int64_t step) {
  const int64_t length = static_cast<int64_t>(elements.size());
  Value* equal = nullptr;
  for (int64_t j = 0; j < length; ++j) {
    const int64_t behind = (length - 1 - j) * step;
    Value* here = d.slice(x, 1, j * step, behind == 0 ? INT32_MAX : -behind);
    Value* same = d.op(OpId::equal, {d.unsqueeze(here, {2}), elements[static_cast<size_t>(j)]});
    equal = equal == nullptr ? same : d.op(OpId::logical_and, {equal, same});
  }
  return d.reduce(OpId::reduce_sum, d.cast(equal, DType::f32), {1}, false);
}

// The list of sequences, those of length 1 first; counts[i] is where those of length i + 1 begin.
bool read_grams(NodeContext& c, std::vector<Grams>* out) {
  const auto pool = c.attr_ints("pool_int64s"), starts = c.attr_ints("ngram_counts");
  if (pool.empty()) return c.fail("sequences of strings are not possible", "use integers"), false;
  for (size_t i = 0; i < starts.size(); ++i) {
    const int64_t begin = starts[i], end = i + 1 < starts.size() ? starts[i + 1] : static_cast<int64_t>(pool.size());
    const int64_t length = static_cast<int64_t>(i) + 1;
    if (begin < 0 || end < begin || end > static_cast<int64_t>(pool.size()) || (end - begin) % length != 0 || length > kMaxGram)
      return c.fail("ngram_counts does not fit the list of sequences"), false;
    Grams g;
    g.length = length;
    g.values.resize(static_cast<size_t>(length));
    for (int64_t k = begin; k < end; ++k) g.values[static_cast<size_t>((k - begin) % length)].push_back(pool[static_cast<size_t>(k)]);
    out->push_back(std::move(g));
  }
  return true;
}

// Puts the counts of all sequences where ngram_indexes says; what it leaves out is 0.
Value* place_columns(NodeContext& c, Value* counts, int64_t count) {
  Decompose d(c);
  const auto places = c.attr_ints("ngram_indexes");
  const bool fits = static_cast<int64_t>(places.size()) == count && !places.empty() && *std::min_element(places.begin(), places.end()) >= 0;
  const int64_t columns = fits ? *std::max_element(places.begin(), places.end()) + 1 : 0;
  if (!fits || columns > kMaxColumns) return c.fail("expected a place for each of the " + std::to_string(count) + " sequences"), nullptr;
  std::vector<int64_t> from(static_cast<size_t>(columns), count);  // one past the end: a column of zeros
  for (size_t i = 0; i < places.size(); ++i) from[static_cast<size_t>(places[i])] = static_cast<int64_t>(i);
  return d.gather(d.pad(counts, {0, 0}, {0, 1}), d.ints(from), 1);
}

void import_tf_idf(NodeContext& c) {
  Decompose d(c);
  const int64_t shortest = c.attr_int("min_gram_length", 1), longest = c.attr_int("max_gram_length", 1),
                skip = c.attr_int("max_skip_count", 0);
  const std::string mode = c.attr_string("mode", "TF");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF") return c.fail("attribute mode: expected TF, IDF or TFIDF, found '" + mode + "'");
  if (skip < 0 || skip >= kMaxSteps / std::clamp<int64_t>(longest, 1, kMaxGram)) return c.fail("attribute max_skip_count is out of range");
  std::vector<Grams> grams;
  if (!read_grams(c, &grams)) return;
  const bool row = rank_of(c.in(0)) == 1;
  Value* x = d.cast(row ? d.unsqueeze(c.in(0), {0}) : c.in(0), DType::s64);
  if (rank_of(x) != 2) return c.fail("expected (length) or (batch, length), found rank " + std::to_string(rank_of(x)));
  std::vector<Value*> parts;
  int64_t count = 0;
  for (const Grams& g : grams) {
    const int64_t n = static_cast<int64_t>(g.values[0].size());
    if (n == 0) continue;
    count += n;
    std::vector<Value*> elements;
    for (const auto& values : g.values) elements.push_back(d.ints(values));
    const bool counted = g.length >= shortest && g.length <= longest;
    Value* sum = count_grams(d, x, elements, 1);
    for (int64_t step = 2; counted && g.length > 1 && step <= skip + 1; ++step) sum = d.add(sum, count_grams(d, x, elements, step));
    parts.push_back(counted ? sum : d.mul(sum, 0.0));
  }
  Value* y = parts.empty() ? nullptr : place_columns(c, d.concat(parts, 1), count);
  if (y != nullptr && mode == "IDF") y = d.op(OpId::minimum, {y, d.number(1, y)});
  if (const auto weights = c.attr_floats("weights"); y != nullptr && mode != "TF" && !weights.empty())
    y = d.mul(y, place_columns(c, c.b.graph().constant<float>({1, static_cast<int32_t>(weights.size())}, weights), count));
  if (parts.empty()) return c.fail("the list of sequences is empty");
  c.out(0, row ? d.squeeze(y, {0}) : y);
}

}  // namespace

void add_ngram_ops(OpTable& table);
void add_ngram_ops(OpTable& table) { add_lines(table, {{"TfIdfVectorizer", import_tf_idf}}); }

}  // namespace mote::frontends::onnx
