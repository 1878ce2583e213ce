#include "mote/compiler/frontends/common/random_numbers.h"

#include "mote/compiler/ir/infer.h"

namespace mote::frontends {
namespace {

constexpr int64_t kMostNumbers = int64_t{1} << 28;
constexpr double kTurn = 6.283185307179586476925;

int64_t count_of(const ir::Dims& dims) { return ir::Type{DType::f32, dims, 0}.count(); }

}  // namespace

uint64_t seed_of(const std::string& name) {
  uint64_t h = 14695981039346656037u;  // FNV-1a
  for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return h;
}

Value* RandomBits::counters(Value* first, int64_t blocks) {
  Value* steps = op(OpId::range, {number(0, DType::s64), number(static_cast<double>(blocks), DType::s64), number(1, DType::s64)});
  return plus(first, cast(steps, DType::u64));
}

std::vector<Value*> RandomBits::philox(std::vector<Value*> key, std::vector<Value*> x) {
  constexpr uint64_t kFactors[2] = {0xD2511F53, 0xCD9E8D57};
  constexpr uint32_t kSteps[2] = {0x9E3779B9, 0xBB67AE85};
  for (int round = 0; round < 10; ++round) {
    Value* p0 = mul(wide(x[0]), wide_constant(kFactors[0]));
    Value* p1 = mul(wide(x[2]), wide_constant(kFactors[1]));
    x = {xor_(xor_(high(p1), x[1]), key[0]), low(p1), xor_(xor_(high(p0), x[3]), key[1]), low(p0)};
    for (size_t k = 0; k < 2; ++k) key[k] = plus(key[k], constant(kSteps[k]));
  }
  return x;
}

std::vector<Value*> RandomNumbers::take(const ir::Dims& dims) {
  const ir::Type type{DType::f32, dims, 0};
  if (!type.fits() || type.count() > kMostNumbers) {
    fail("expected at most 2^28 random numbers");
    return {};
  }
  const int64_t blocks = (type.count() + 3) / 4;
  Value* counter = b.graph().add_state(b.name() + "/counter", DType::u64, {1});
  Value* now = b.ok() ? b.op(OpId::copy, {counter}) : nullptr;
  Value* next = plus(now, wide_constant(static_cast<uint64_t>(blocks)));
  if (!b.ok()) return {};
  ir::Node* n = b.graph().add_node(b.block(), ir::kAssign, nullptr, 0, {counter, next}, 0, b.name());
  std::string error;
  if (!ir::infer(*n, &error)) {
    fail(error);
    return {};
  }
  Value* at = counters(now, blocks);
  const auto half = [&](uint64_t v, int i) { return constant(static_cast<uint32_t>(v >> (32 * i))); };
  return philox({half(seed_, 0), half(seed_, 1)}, {low(at), high(at), half(seed2_, 0), half(seed2_, 1)});
}

Value* RandomNumbers::unit(Value* words) {
  Value* kept = op(OpId::bitwise_and, {words, constant(0x7fffffu)});
  return mul(cast(kept, DType::f32), 1.0 / (1 << 23));
}

Value* RandomNumbers::shaped(const std::vector<Value*>& parts, const ir::Dims& dims) {
  std::vector<Value*> columns;
  for (Value* v : parts) columns.push_back(unsqueeze(v, {1}));
  Value* flat = slice(reshape(concat(columns, 1), {-1}), 0, 0, count_of(dims));
  return reshape(flat, std::vector<int64_t>(dims.begin(), dims.end()));
}

Value* RandomNumbers::uniform(const ir::Dims& dims) {
  if (count_of(dims) == 0) return b.graph().constant<float>(dims, {});
  std::vector<Value*> parts;
  for (Value* words : take(dims)) parts.push_back(unit(words));
  return parts.empty() ? nullptr : shaped(parts, dims);
}

// Two numbers from two, by Box and Muller.
Value* RandomNumbers::normal(const ir::Dims& dims) {
  if (count_of(dims) == 0) return b.graph().constant<float>(dims, {});
  const std::vector<Value*> words = take(dims);
  std::vector<Value*> parts;
  for (size_t i = 0; i + 1 < words.size(); i += 2) {
    Value* u = op(OpId::maximum, {unit(words[i]), number(1.0e-7, DType::f32)});
    Value* radius = sqrt(mul(op(OpId::log, {u}), -2));
    Value* angle = mul(unit(words[i + 1]), kTurn);
    parts.push_back(mul(op(OpId::sin, {angle}), radius));
    parts.push_back(mul(op(OpId::cos, {angle}), radius));
  }
  return parts.empty() ? nullptr : shaped(parts, dims);
}

}  // namespace mote::frontends
