#include "tests/differential/noise.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "mote/compiler/emit/builder.h"
#include "mote/core/half.h"
#include "mote/ops/op_id.h"
#include "tests/fuzz/dice.h"

namespace mote::differential {
namespace {

constexpr int kTrials = 8, kMoreTrials = 96;
// Of the value: what kernels with approximations of their own, other orders of sums and Winograd's form stay within.
constexpr double kReal = 0x1p-19, kHalf = 0x1p-9;
// Of the sum of the terms' magnitudes: products that are rounded before they are added, or are not (fused multiply-add), other orders.
constexpr double kTerms = 0x1p-22;
// Of a step of the code: fixed-point multipliers and biases as 32-bit codes are that far from the numbers they stand for.
constexpr double kCode = 0.1;

fuzz::Dice dice(1);
// To one side or the other by the full amount: what lies nearer to a tie than that falls to either side in half of the trials.
double noise() { return (dice.raw() >> 31) != 0 ? 1 : -1; }

// Operators that give their operands' own bits, or whose result is exact.
bool is_exact(OpId id) {
  if (id <= OpId::bitcast) return true;
  switch (id) {
    case OpId::abs:
    case OpId::neg:
    case OpId::sign:
    case OpId::ceil:
    case OpId::floor:
    case OpId::round:
    case OpId::trunc:
    case OpId::relu:
    case OpId::clip:
    case OpId::minimum:
    case OpId::maximum:
    case OpId::reduce_max:
    case OpId::reduce_min:
    case OpId::max_pool:
    case OpId::max_unpool: return true;
    default: return false;
  }
}

// Operators that add: where their terms cancel, the result is rounding error, and in another order may be exactly 0.
bool adds(OpId id) {
  switch (id) {
    case OpId::add:
    case OpId::sub:
    case OpId::matmul:
    case OpId::conv:
    case OpId::conv_transpose:
    case OpId::reduce_sum:
    case OpId::reduce_mean: return true;
    default: return false;
  }
}

// Results so small that vectors of some machines call them 0 and others do not.
bool underflows(OpId id) { return id == OpId::sigmoid || id == OpId::exp || id == OpId::softmax; }

template <class T>
void shake(T* data, int32_t count, double unit) {
  for (int32_t i = 0; i < count; ++i)
    data[i] = T(static_cast<float>(static_cast<double>(static_cast<float>(data[i])) * (1 + unit * noise())));
}

// Small factors move no number over 0, and nothing that is compared with it or becomes a boolean: what lies so near, does become 0.
template <class T>
void drop(T* data, int32_t count, double below) {
  for (int32_t i = 0; i < count; ++i)
    if (std::fabs(static_cast<double>(static_cast<float>(data[i]))) < below && noise() > 0) data[i] = T(0.0f);
}

template <class T>
void shake_result(T* data, int32_t count, double unit, double least_normal, bool sums) {
  double largest = 0;
  for (int32_t i = 0; sums && i < count; ++i) {
    const double v = std::fabs(static_cast<double>(static_cast<float>(data[i])));
    if (std::isfinite(v)) largest = std::max(largest, v);
  }
  shake(data, count, unit);
  // Denormals too: vectors of some machines have none.
  drop(data, count, std::max(largest * unit / 8, 2 * least_normal));
}

void shake(const Tensor& t, bool sums) {
  if (t.data == nullptr || !is_dense(*t.desc)) return;
  if (t.dtype() == DType::f32) shake_result(t.as<float>(), t.count(), kReal, 0x1p-126, sums);
  if (t.dtype() == DType::f16) shake_result(t.as<f16>(), t.count(), kHalf, 0x1p-14, sums);
}

// Runs an operator with other numbers in place of some operands and outputs; null: its own.
Status run_with(const OpDef& def, const OpContext& c, const std::vector<void*>& data) {
  std::vector<Tensor> tensors;
  std::vector<int32_t> operands;
  for (int i = 0; i < c.input_count + c.output_count; ++i) {
    operands.push_back(c.operands[i] < 0 ? -1 : static_cast<int32_t>(tensors.size()));
    if (c.operands[i] < 0) continue;
    tensors.push_back(c.tensors[c.operands[i]]);
    if (static_cast<size_t>(i) < data.size() && data[static_cast<size_t>(i)] != nullptr) tensors.back().data = data[static_cast<size_t>(i)];
  }
  OpContext moved = c;
  moved.tensors = tensors.data();
  moved.operands = operands.data();
  return def.select(moved)(moved);
}

// The terms of an operator that adds, as magnitudes. Where they cancel, rounding is no part of the result, which may even be exactly 0, but
// still one of these.
class Terms {
 public:
  // Of f32 operands that lie densely; others have none.
  Terms(OpId id, const OpContext& c) {
    if (!adds(id) || c.output_count != 1 || !c.has_output(0) || c.output(0).dtype() != DType::f32) return;
    for (int i = 0; i < c.input_count; ++i) {
      magnitudes_.emplace_back();
      if (!c.has_input(i) || c.input(i).dtype() != DType::f32) continue;
      if (c.input(i).data == nullptr || !is_dense(*c.input(i).desc)) return;
      const auto* x = c.input(i).as<float>();
      for (int32_t k = 0; k < c.input(i).count(); ++k) magnitudes_.back().push_back(std::fabs(x[k]) * (id == OpId::sub && i == 1 ? -1 : 1));
    }
    known_ = true;
  }
  // Moves the operator's results by a part of them.
  void shake(const OpDef& def, const OpContext& c) {
    const Tensor& y = c.output(0);
    if (!known_ || y.data == nullptr || !is_dense(*y.desc)) return;
    std::vector<float> sums(static_cast<size_t>(y.count()));
    std::vector<void*> data;
    for (std::vector<float>& m : magnitudes_) data.push_back(m.empty() ? nullptr : m.data());
    data.push_back(sums.data());
    if (!run_with(def, c, data).ok()) return;
    for (size_t i = 0; i < sums.size(); ++i)
      if (std::isfinite(sums[i])) y.as<float>()[i] += static_cast<float>(kTerms * noise() * static_cast<double>(sums[i]));
  }

 private:
  bool known_ = false;
  std::vector<std::vector<float>> magnitudes_;
};

// Quantizes numbers that lie a little beside those given: a tie, or what is almost one, may go either way.
Status quantize_beside(const OpDef& def, const OpContext& c) {
  const Tensor& x = c.input(0);
  if (x.dtype() != DType::f32 || !c.has_input(1) || c.input(1).dtype() != DType::f32 || c.input(1).count() == 0) return def.select(c)(c);
  std::vector<float> beside(x.as<float>(), x.as<float>() + x.count());
  const float step = *c.input(1).as<float>();
  // Each at random, or all in one of the directions that other ways to round ties have: sums of many then move further than by chance.
  const uint32_t how = dice.below(6);
  // By different amounts: what is furthest from a tie hides, where it always falls to the other side, what a nearer one after it does.
  static constexpr double kAmounts[] = {kCode, kCode / 16, 0};
  const double amount = kAmounts[dice.below(3)];
  for (float& v : beside) {
    const double away = v < 0 ? -1 : 1;
    v += step * static_cast<float>(amount * (how < 2 ? noise() : how == 2 ? 1 : how == 3 ? -1 : how == 4 ? away : -away));
  }
  return run_with(def, c, {beside.data()});
}

// Codes of numbers near a tie become the neighbouring code. (Not by moving the numbers: their scale would move with them.)
void recode_beside(const std::vector<float>& x, const OpContext& c) {
  const Tensor &y = c.output(0), &scales = c.output(1), &zeros = c.output(2);
  if (x.empty() || !is_dense(*y.desc) || scales.count() == 0) return;
  const bool is_unsigned = y.dtype() == DType::u8;
  const int32_t least = is_unsigned ? 0 : -128, most = is_unsigned ? 255 : 127;
  const size_t row = x.size() / static_cast<size_t>(scales.count());
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t r = i / row;
    const int32_t zero = zeros.dtype() == DType::u8 ? zeros.as<uint8_t>()[r] : zeros.as<int32_t>()[r];
    const double v = static_cast<double>(x[i]) / static_cast<double>(scales.as<float>()[r]), below = std::floor(v);
    if (!(std::fabs(v - below - 0.5) < kCode)) continue;
    const double code = std::clamp<double>(below + (noise() > 0 ? 1 : 0) + zero, least, most);
    if (is_unsigned) y.as<uint8_t>()[i] = static_cast<uint8_t>(code);
    else y.as<int8_t>()[i] = static_cast<int8_t>(code);
  }
}

// Norms subtract a mean: where all elements are equal, its rounding is all that is left.
bool subtracts_mean(OpId id) {
  return id == OpId::layer_norm || id == OpId::instance_norm || id == OpId::group_norm || id == OpId::mean_variance_norm ||
         id == OpId::reduce_var;
}
Status normalize_beside(const OpDef& def, const OpContext& c) {
  const Tensor& x = c.input(0);
  if (x.dtype() != DType::f32 || !is_dense(*x.desc)) return def.select(c)(c);
  std::vector<float> beside(x.as<float>(), x.as<float>() + x.count());
  shake(beside.data(), x.count(), kReal);
  return run_with(def, c, {beside.data()});
}

// Of a dense operand, for element i of the shape that it is broadcast to.
template <class T>
double broadcast_element(const Tensor& t, const TensorDesc& to, int32_t i) {
  int32_t at = 0, step = 1;
  for (int k = to.rank - 1; k >= 0; i /= to.dims[k], --k) {
    const int own = k - (to.rank - t.rank());
    if (own < 0) break;
    at += t.dim(own) == 1 ? 0 : i % to.dims[k] * step;
    step *= t.dim(own);
  }
  return static_cast<double>(static_cast<float>(t.as<T>()[at]));
}

// Numbers are moved past what they are compared with, never onto it: those that nearly agree are equal in half of the trials.
template <class T>
void meet(const Tensor& a, const Tensor& b, const Tensor& equal, double unit) {
  if (!is_dense(*a.desc) || !is_dense(*b.desc) || !is_dense(*equal.desc)) return;
  for (int32_t i = 0; i < equal.count(); ++i) {
    const double x = broadcast_element<T>(a, *equal.desc, i), y = broadcast_element<T>(b, *equal.desc, i);
    if (x != y && std::fabs(x - y) <= 2 * unit * std::fabs(x) && noise() > 0) equal.as<uint8_t>()[i] = 1;
  }
}

// Vectors take erf from an approximation that is within 1e-7 of it (kernels/common/math.h): where gelu is nearly 0, that is more than a few
// units of it.
constexpr double kErf = 1e-7;
void shake_tail(const std::vector<float>& x, const Tensor& y) {
  if (!is_dense(*y.desc)) return;
  for (size_t i = 0; i < x.size(); ++i) y.as<float>()[i] += static_cast<float>(kErf * noise() * std::fabs(static_cast<double>(x[i])));
}

// A Fourier transform adds all that it reads: a result that is small beside others is what their terms left.
void shake_transform(const Tensor& y) {
  if (y.dtype() != DType::f32 || !is_dense(*y.desc)) return;
  float largest = 0;
  for (int32_t i = 0; i < y.count(); ++i)
    if (std::isfinite(y.as<float>()[i])) largest = std::max(largest, std::fabs(y.as<float>()[i]));
  for (int32_t i = 0; i < y.count(); ++i) y.as<float>()[i] += static_cast<float>(kTerms * noise()) * largest;
}

void raise_zeros(const Tensor& y) {
  if (y.dtype() != DType::f32 || !is_dense(*y.desc)) return;
  for (int32_t i = 0; i < y.count(); ++i)
    if (y.as<float>()[i] == 0 && noise() > 0) y.as<float>()[i] = 0x1p-126f;
}

// Operators of which a few units of the result are not all that rounding may do.
void shake_more(OpId op, const std::vector<float>& before, const OpContext& c) {
  const DType type = c.has_input(0) ? c.input(0).dtype() : DType::kNone;
  if (op == OpId::equal && type == DType::f32) meet<float>(c.input(0), c.input(1), c.output(0), kReal);
  if (op == OpId::equal && type == DType::f16) meet<f16>(c.input(0), c.input(1), c.output(0), kHalf);
  if (op == OpId::gelu && !before.empty()) shake_tail(before, c.output(0));
  if (op == OpId::dynamic_quantize && !before.empty()) recode_beside(before, c);
  if (op == OpId::dft || op == OpId::stft) shake_transform(c.output(0));
  if (underflows(op)) raise_zeros(c.output(0));
}

Status run_shaken(uint16_t id, const OpContext& c) {
  const OpDef& def = *emit::builtin_registry().find(id, nullptr);
  const auto op = static_cast<OpId>(id);
  if (op == OpId::quantize) return quantize_beside(def, c);
  // What an operator reads it may overwrite.
  std::vector<float> before;
  if ((op == OpId::gelu || op == OpId::dynamic_quantize) && c.input(0).dtype() == DType::f32 && is_dense(*c.input(0).desc))
    before.assign(c.input(0).as<float>(), c.input(0).as<float>() + c.input(0).count());
  Terms terms(op, c);
  const Status status = subtracts_mean(op) ? normalize_beside(def, c) : def.select(c)(c);
  if (!status.ok() || is_exact(op)) return status;
  shake_more(op, before, c);
  terms.shake(def, c);
  for (int i = 0; i < c.output_count; ++i)
    if (c.has_output(i)) shake(c.output(i), adds(op));
  return status;
}

template <uint16_t id>
Status shaken(const OpContext& c) noexcept {
  return run_shaken(id, c);
}

KernelFn select_shaken(uint16_t op, const OpContext&) noexcept {
  switch (op) {
#define MOTE_OP(id, name) \
  case id:                \
    return &shaken<id>;
#include "mote/ops/ops.def"
#undef MOTE_OP
    default: return nullptr;
  }
}

}  // namespace

bool measure_spread(ConstBytes reference, const std::vector<driver::Array>& inputs, const std::vector<driver::Array>& outputs,
                    std::vector<std::vector<double>>* spread, std::string* error, bool more) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  dice = fuzz::Dice(1);
  driver::HostProgram program;
  if (!program.open(reference, {}, {}, error, nullptr, &select_shaken)) return false;
  std::vector<std::vector<double>> still;
  spread->clear();
  for (const driver::Array& a : outputs) {
    still.push_back(driver::to_doubles(a));
    spread->emplace_back(still.back().size(), 0.0);
  }
  for (int trial = 0; trial < (more ? kMoreTrials : kTrials); ++trial) {
    std::vector<driver::Array> moved_inputs = inputs, found;
    for (driver::Array& a : moved_inputs)
      if (a.dtype == DType::f32) shake(reinterpret_cast<float*>(a.data.data()), static_cast<int32_t>(a.data.size() / 4), kReal);
    if (!program.run(0, moved_inputs, &found, error)) return false;
    for (size_t o = 0; o < outputs.size(); ++o) {
      const std::vector<double> moved = driver::to_doubles(found[o]);
      std::vector<double>& s = (*spread)[o];
      if (found[o].dims != outputs[o].dims) std::fill(s.begin(), s.end(), kInfinite);
      else
        for (size_t i = 0; i < s.size(); ++i) {
          const double by = std::fabs(moved[i] - still[o][i]);
          const bool same = moved[i] == still[o][i] || (std::isnan(moved[i]) && std::isnan(still[o][i]));
          s[i] = std::max(s[i], same ? 0 : std::isfinite(by) ? by : kInfinite);
        }
    }
  }
  return true;
}

}  // namespace mote::differential
