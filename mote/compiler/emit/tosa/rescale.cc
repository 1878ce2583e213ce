#include "mote/compiler/emit/tosa/rescale.h"

#include <cmath>

#include "mote/compiler/ir/infer.h"

namespace mote::emit::tosa {
namespace {

constexpr int32_t kLeastShift = 2, kMostShift = 62;

// A factor as multiplier / 2^shift with 31 significant bits. False where RESCALE has no such shift.
bool split_factor(double factor, int32_t* multiplier, int32_t* shift) {
  int exponent = 0;
  const double fraction = std::frexp(factor, &exponent);
  int64_t m = std::llround(std::ldexp(fraction, 31));
  int64_t s = 31 - int64_t{exponent};
  if (m == int64_t{1} << 31) m /= 2, --s;
  for (; s > kMostShift && m > 0; --s) m = (m + 1) / 2;
  *multiplier = static_cast<int32_t>(m);
  *shift = static_cast<int32_t>(std::max<int64_t>(s, 0));
  return std::isfinite(factor) && factor >= 0 && s >= kLeastShift;
}

// RESCALE and value() step from k - 1 to k near (k - 1/2) / factor: they agree everywhere when they agree around all of these places.
// *budget: how many sums may still be compared.
bool agrees(double factor, int32_t multiplier, int32_t shift, const std::function<int64_t(int64_t)>& value, ops::IntRange range,
            int64_t* budget) {
  constexpr double kMostSum = 2147483647.0;
  const auto clamped = [&](int64_t v) { return std::clamp<int64_t>(v, range.lo, range.hi); };
  for (int64_t k = int64_t{range.lo} + 1; k <= range.hi; ++k) {
    const double place = (static_cast<double>(k) - 0.5) / factor;
    if (!(std::fabs(place) < kMostSum)) continue;
    const int64_t near = static_cast<int64_t>(std::floor(place)), width = 2 + (std::abs(near) >> 23);
    if ((*budget -= 2 * width + 1) < 0) return false;
    for (int64_t sum = near - width; sum <= near + width; ++sum)
      if (std::abs(sum) < INT32_MAX && clamped(rescaled(sum, multiplier, shift)) != clamped(value(sum))) return false;
  }
  return true;
}

}  // namespace

int64_t rescaled(int64_t x, int32_t multiplier, int32_t shift) { return (x * multiplier + (int64_t{1} << (shift - 1))) >> shift; }

Scale fixed_scale(Writer& w, const std::vector<int64_t>& multiplier, const std::vector<int64_t>& shift) {
  Scale s;
  for (size_t i = 0; i < multiplier.size(); ++i) {
    const int64_t right = 31 - shift[i];
    if (multiplier[i] < 0 || multiplier[i] > INT32_MAX || right < kLeastShift || right > kMostShift)
      w.fail("RESCALE has multipliers from 0 and shifts of " + std::to_string(kLeastShift) + " to " + std::to_string(kMostShift) +
             ", found " + std::to_string(multiplier[i]) + " and " + std::to_string(right));
    // RESCALE takes values below 2^(shift - 1): all of them for channels that count nothing, whose sums may be anything.
    s.multiplier.push_back(static_cast<int32_t>(multiplier[i]));
    s.shift.push_back(static_cast<int32_t>(multiplier[i] == 0 ? std::max<int64_t>(right, 32) : right));
    s.twice = s.twice || right > 31;
  }
  return s;
}

bool read_scale(Writer& w, const Value* multiplier, const Value* shift, bool wide, Scale* s) {
  std::vector<int64_t> m, k;
  if (multiplier == nullptr || shift == nullptr || multiplier->type.dtype != DType::s32 || !ir::known_ints(*multiplier, &m) ||
      !ir::known_ints(*shift, &k) || m.size() != k.size() || m.empty()) {
    w.fail("TOSA scales with constant integers");
    return false;
  }
  if (!wide) *s = fixed_scale(w, m, k);
  for (size_t i = 0; wide && i < m.size(); ++i) {
    s->multiplier.push_back(static_cast<int32_t>(m[i] < 0x7fff0000 ? (m[i] + (1 << 15)) >> 16 : 0x7fff));
    s->shift.push_back(static_cast<int32_t>(std::clamp<int64_t>(15 - k[i], 1, kMostShift)));
    s->wide = true;
    if (m[i] < 0 || s->shift.back() < kLeastShift) w.fail("a multiplier or shift is outside of what RESCALE takes");
  }
  return w.ok();
}

Scale nearest_scale(Writer& w, const std::vector<double>& factors) {
  Scale s;
  s.multiplier.resize(factors.size());
  s.shift.resize(factors.size());
  for (size_t i = 0; i < factors.size(); ++i)
    if (!split_factor(factors[i], &s.multiplier[i], &s.shift[i]))
      w.fail("the factor " + std::to_string(factors[i]) + " is outside of what RESCALE takes");
  return s;
}

Scale fitted_scale(Writer& w, const std::vector<double>& factors, const std::function<int64_t(int64_t, size_t)>& value,
                   ops::IntRange range) {
  int64_t budget = int64_t{1} << 24;
  Scale s = nearest_scale(w, factors);
  bool fits = w.ok();
  for (size_t i = 0; fits && i < factors.size(); ++i) {
    const int32_t middle = s.multiplier[i];
    if (factors[i] == 0) continue;
    fits = false;
    for (const int32_t step : {0, 1, -1, 2, -2}) {
      if (middle > INT32_MAX - 2 || fits) break;
      s.multiplier[i] = middle + step;
      fits = agrees(
          factors[i], middle + step, s.shift[i], [&](int64_t sum) { return value(sum, i); }, range, &budget);
    }
    if (!fits) s.multiplier[i] = middle;
  }
  if (!fits) w.note_rounding();
  return s;
}

Operand rescale(Writer& w, const Operand& x, const Scale& s) {
  const int32_t n = static_cast<int32_t>(s.shift.size());
  const bool odd_zero = (x.type != fb::DType::INT8 && s.in_zero != 0) || (s.to != fb::DType::INT8 && s.out_zero != 0);
  if (odd_zero) w.fail("RESCALE has zero points of 8 bits only");
  if (n > 1 && (x.dims.empty() || n != x.dims.back())) w.fail("TOSA scales along the last dimension");
  if (!w.ok()) return {};
  const auto mode = s.twice ? fb::RoundingMode::DOUBLE_ROUND : fb::RoundingMode::SINGLE_ROUND;
  const auto kind = fb::CreateRescaleAttribute(w.b, !s.wide, mode, n > 1, false, false).Union();
  const fb::DType unit = s.wide ? fb::DType::INT16 : fb::DType::INT32;
  return w.op(fb::Op::RESCALE, fb::Attribute::RescaleAttribute, kind,
              {x, w.numbers(unit, {n}, {s.multiplier.begin(), s.multiplier.end()}),
               w.numbers(fb::DType::INT8, {n}, {s.shift.begin(), s.shift.end()}), w.zero(x.type, s.in_zero), w.zero(s.to, s.out_zero)},
              s.to, x.dims);
}

Operand widened(Writer& w, const Value* v, int32_t zero, int rank, int left) {
  const Operand x = w.signed_of(v, rank);
  if (!w.ok()) return {};
  // RESCALE takes values below 2^(shift - 1): 8 bits and a difference of them leave room for a shift of 20.
  const bool inside = x.type == fb::DType::INT8 && left <= 20;
  Scale s = fixed_scale(w, {1 << 30}, {1 + (inside ? left : 0)});
  s.in_zero = signed_value(zero, v->type.dtype);
  const Operand y = rescale(w, x, s);
  return inside || left == 0 || !w.ok() ? y : w.binary(fb::Op::LOGICAL_LEFT_SHIFT, y, w.number(fb::DType::INT32, left, rank));
}

Operand bounded(Writer& w, const Operand& x, DType t, int32_t lo, int32_t hi) {
  const ops::IntRange all = ops::int_range(t);
  if (!w.ok() || (lo <= all.lo && hi >= all.hi)) return x;
  return w.clamp(x, signed_value(std::max(lo, all.lo), t), signed_value(std::min(hi, all.hi), t));
}

}  // namespace mote::emit::tosa
