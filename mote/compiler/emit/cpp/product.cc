#include "mote/compiler/emit/cpp/product.h"

#include <cmath>

namespace mote::emit {

std::vector<int32_t> Product::channel_words(size_t group) const {
  std::vector<int32_t> words;
  for (const cortexm::Channel& c : channels) words.insert(words.end(), {c.bias, c.multiplier, c.add, c.shift});
  words.resize((channels.size() + group - 1) / group * group * 4);
  return words;
}

std::vector<uint8_t> Product::blocks(int32_t count, int32_t block) const {
  std::vector<uint8_t> out;
  for (int32_t n = 0; n < outputs; n += count)
    for (int32_t k = 0; k < inputs; k += block)
      for (int32_t i = n; i < n + count; ++i)
        for (int32_t j = k; j < k + block; ++j) out.push_back(i < outputs && j < inputs ? static_cast<uint8_t>(weight(i, j)) : 0);
  return out;
}

std::vector<int32_t> Product::channel_blocks(bool by_two) const {
  std::vector<int32_t> words;
  const size_t step = by_two ? 2 : 1;
  for (size_t n = 0; n < channels.size(); n += 4) {
    const size_t first = by_two ? n / 8 * 8 + n / 4 % 2 : n;
    std::vector<cortexm::Channel> four(4);
    for (size_t i = 0; i < 4 && first + i * step < channels.size(); ++i) four[i] = channels[first + i * step];
    for (const cortexm::Channel& c : four) words.push_back(c.bias);
    for (const cortexm::Channel& c : four) words.push_back(c.multiplier);
    for (const cortexm::Channel& c : four) words.push_back(c.add);
    for (const cortexm::Channel& c : four) words.push_back(-c.shift);
  }
  return words;
}

template <class A>
bool read_product(const Source& s, const Instruction& n, const A& a, Product* out) {
  Product& p = *out;
  const int32_t w = s.input(n, 1), bias = s.input(n, ops::kEpilogueBias), multiplier = s.input(n, ops::kEpilogueMultiplier),
                shift = s.input(n, ops::kEpilogueShift);
  const TensorDesc& d = s.desc(w);
  for (const int i : {ops::kEpilogueXZero, ops::kEpilogueWZero, ops::kEpilogueXScale})
    if (s.input(n, static_cast<uint32_t>(i)) >= 0) return false;
  for (const int32_t t : {w, bias, multiplier, shift})
    if (t >= 0 && s.desc(t).storage != Storage::kConstant) return false;
  if (d.dtype != DType::s8 || a.weight_zero != 0 || a.wide != 0 || multiplier < 0 || element_count(d) == 0) return false;
  p.outputs = d.dims[0];
  p.inputs = element_count(d) / d.dims[0];
  p.x_zero = a.input_zero;
  p.y_zero = a.output_zero;
  const ops::IntRange range = ops::clamp_range(a.clamp_lo, a.clamp_hi, DType::s8);
  p.lo = range.lo;
  p.hi = range.hi;
  const ops::Weights<int8_t> weights(s.constant(w));
  const DType type = s.desc(multiplier).dtype;
  const auto pick = [&](int32_t t, int32_t i) { return s.desc(t).rank == 0 || s.desc(t).dims[0] == 1 ? 0 : i; };
  for (int32_t i = 0; i < p.outputs; ++i) {
    for (int32_t k = 0; k < p.inputs; ++k) p.weights.push_back(static_cast<int8_t>(weights(i, k)));
    p.biases.push_back(bias < 0 ? 0 : ops::vector_int(s.constant(bias), pick(bias, i)));
    const Tensor m = s.constant(multiplier);
    if (type == DType::s32) {
      p.multipliers.push_back(ops::vector_int(m, pick(multiplier, i)));
      p.shifts.push_back(ops::vector_int(s.constant(shift), pick(shift, i)));
      p.factors.push_back(std::ldexp(p.multipliers.back(), p.shifts.back() - 31));
    } else if (type == DType::f32) {
      p.factors.push_back(static_cast<double>(m.as<const float>()[pick(multiplier, i)]));
    } else {
      p.factors.push_back(m.as<const double>()[pick(multiplier, i)]);
    }
  }
  p.half_away = type == DType::f64;
  p.f32 = type == DType::f32;
  return true;
}
template bool read_product(const Source&, const Instruction&, const ops::q_conv::Attrs&, Product*);
template bool read_product(const Source&, const Instruction&, const ops::q_matmul::Attrs&, Product*);

namespace {

// The operator's own arithmetic (ops/common/quant_epilogue.h).
Wanted wanted(const Product& p, int32_t i) {
  const auto n = static_cast<size_t>(i);
  Wanted w;
  w.zero = p.y_zero, w.lo = p.lo, w.hi = p.hi;
  w.multiplier = p.factors[n];
  w.of = [&p, n](int32_t sum) {
    int32_t v;
    if (!p.multipliers.empty()) v = ops::scale_by(sum, p.multipliers[n], p.shifts[n]);
    else if (p.f32) v = ops::round_to_s32(static_cast<float>(sum) * static_cast<float>(p.factors[n]));
    else v = ops::round_to_s32(static_cast<double>(sum) * p.factors[n], ops::Rounding::kHalfAway);
    return ops::clamp_to(int64_t{v} + p.y_zero, p.lo, p.hi);
  };
  int64_t offset = p.biases[n], below = 0, above = 0;
  for (int32_t k = 0; k < p.inputs; ++k) {
    const int64_t weight = p.weight(i, k);
    offset -= weight * p.x_zero;
    below += weight * (weight > 0 ? -128 : 127);
    above += weight * (weight > 0 ? 127 : -128);
  }
  w.least = offset + below;
  w.most = offset + above;
  return w;
}

bool solve(Product* p, const std::vector<Wanted>& all, int left) {
  p->left = left;
  p->channels.clear();
  for (int32_t i = 0; i < p->outputs; ++i) {
    const auto n = static_cast<size_t>(i);
    cortexm::Channel c{};
    int64_t bias = p->biases[n];
    for (int32_t k = 0; k < p->inputs; ++k) bias -= int64_t{p->weight(i, k)} * p->x_zero;
    c.bias = static_cast<int32_t>(bias);
    if (bias != c.bias || !find_requant(all[n], left, &c)) return false;
    p->channels.push_back(c);
  }
  return true;
}

// The sums within [-limit, limit], when the others give the same results as the nearest of them.
bool cut(int64_t limit, Wanted* w) {
  const int64_t least = std::max(w->least, -limit), most = std::min(w->most, limit);
  if (least > most || w->of(static_cast<int32_t>(w->least)) != w->of(static_cast<int32_t>(least)) ||
      w->of(static_cast<int32_t>(w->most)) != w->of(static_cast<int32_t>(most)))
    return false;
  w->least = least;
  w->most = most;
  return true;
}

bool solve_limited(Product* p, std::vector<Wanted> all, int left) {
  p->limit = static_cast<int32_t>((int64_t{1} << (31 - left)) - 1);
  for (Wanted& w : all)
    if (!cut(p->limit, &w)) return false;
  return solve(p, all, left);
}

}  // namespace

bool find_channels(Product* p, bool may_limit) {
  std::vector<Wanted> all;
  int most = 24;
  for (int32_t i = 0; i < p->outputs; ++i) {
    all.push_back(wanted(*p, i));
    if (!says_nothing(all.back())) most = std::min(most, most_left(all.back().least, all.back().most));
  }
  if (most < 0) return false;
  // Two roundings are the same only with the same first one; single ones want a fine grid.
  if (!p->multipliers.empty() && most >= 1 && solve(p, all, 1)) return true;
  for (int left = most; left >= 0; --left)
    if (solve(p, all, left)) return true;
  for (int left = 24; may_limit && left > most; --left)
    if (left > 0 && solve_limited(p, all, left)) return true;
  return false;
}

}  // namespace mote::emit
