// Random bits that a state decides: the counter-based generators Threefry and Philox (Salmon and others, SC 2011), all blocks at once.

#include <algorithm>

#include "mote/compiler/frontends/tflite/stablehlo.h"
#include "mote/ops/bitcast/bitcast.h"

namespace mote::frontends::tflite {
namespace {

// Arithmetic on 32-bit words; blocks lie along axis 0.
class Bits : public Words {
 public:
  using Words::Words;

  Value* constant(uint32_t v) { return b.graph().constant<uint32_t>({1}, {v}); }
  Value* xor_(Value* x, Value* y) { return op(OpId::bitwise_xor, {x, y}); }
  Value* plus(Value* x, Value* y) { return op(OpId::add, {x, y}); }
  Value* left(Value* x, uint32_t by) { return op(OpId::shift_left, {x, constant(by)}); }
  Value* right(Value* x, uint32_t by) { return op(OpId::shift_right, {x, constant(by)}); }
  Value* rotated(Value* x, uint32_t by) { return op(OpId::bitwise_or, {left(x, by), right(x, 32 - by)}); }

  Value* wide(Value* x) { return cast(x, DType::u64); }
  Value* low(Value* x) { return cast(op(OpId::bitwise_and, {x, b.graph().constant<uint64_t>({1}, {0xffffffffu})}), DType::u32); }
  Value* high(Value* x) { return low(op(OpId::shift_right, {x, b.graph().constant<uint64_t>({1}, {32})})); }

  // (n, words) to the u64 numbers that pairs of words make.
  Value* joined(Value* low_words, Value* high_words) {
    Value* up = op(OpId::shift_left, {wide(high_words), b.graph().constant<uint64_t>({1}, {32})});
    return op(OpId::bitwise_or, {up, wide(low_words)});
  }
};

// Two words from two, 20 rounds.
std::vector<Value*> threefry(Bits& w, const std::vector<Value*>& key, std::vector<Value*> x) {
  constexpr uint32_t kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}}, kParity = 0x1BD11BDA;
  const std::vector<Value*> keys{key[0], key[1], w.xor_(w.xor_(key[0], key[1]), w.constant(kParity))};
  x = {w.plus(x[0], keys[0]), w.plus(x[1], keys[1])};
  for (uint32_t group = 0; group < 5; ++group) {
    for (const uint32_t by : kRotations[group % 2]) {
      x[0] = w.plus(x[0], x[1]);
      x[1] = w.xor_(w.rotated(x[1], by), x[0]);
    }
    x[0] = w.plus(x[0], keys[(group + 1) % 3]);
    x[1] = w.plus(x[1], w.plus(keys[(group + 2) % 3], w.constant(group + 1)));
  }
  return x;
}

// Four words from four, 10 rounds.
std::vector<Value*> philox(Bits& w, std::vector<Value*> key, std::vector<Value*> x) {
  constexpr uint64_t kFactors[2] = {0xD2511F53, 0xCD9E8D57};
  constexpr uint32_t kSteps[2] = {0x9E3779B9, 0xBB67AE85};
  for (int round = 0; round < 10; ++round) {
    Value* p0 = w.mul(w.wide(x[0]), w.b.graph().constant<uint64_t>({1}, {kFactors[0]}));
    Value* p1 = w.mul(w.wide(x[2]), w.b.graph().constant<uint64_t>({1}, {kFactors[1]}));
    x = {w.xor_(w.xor_(w.high(p1), x[1]), key[0]), w.low(p1), w.xor_(w.xor_(w.high(p0), x[3]), key[1]), w.low(p0)};
    for (size_t k = 0; k < 2; ++k) key[k] = w.plus(key[k], w.constant(kSteps[k]));
  }
  return x;
}

}  // namespace

// input: the state, u64 (2), or (3) with Philox: a key, then a counter. outputs: the next state, whose counter has moved on by the blocks
// that were taken, and the bits.
void import_rng_bit_generator(Op& op) {
  const auto* o = op.source.table->builtin_options2_as_StablehloRngBitGeneratorOptions();
  Value* state = op.value(0);
  const Tensor& y = op.out(1);
  const bool pairs = y.dtype == DType::s64 || y.dtype == DType::u64, three = o != nullptr && o->algorithm() == fb::RngAlgorithm::THREEFRY;
  if (o == nullptr || static_cast<int>(o->algorithm()) > 2) return op.fail("the options are missing, or name no known algorithm");
  if (dtype_of_value(state) != DType::u64 || rank_of(state) != 1 || !is_fixed(state, 0) || dims_of(state)[0] < 2 ||
      dims_of(state)[0] > (three ? 2 : 3))
    return op.fail("expected a state of 2 u64, or of 3 with Philox, found " + describe(op.in(0)));
  if ((!pairs && y.dtype != DType::s32 && y.dtype != DType::u32) || std::any_of(y.dims.begin(), y.dims.end(), [](int d) { return d < 0; }))
    return op.fail("expected bits as integers of 32 or 64 bits and a known shape, found " + describe(y));
  const ir::Type type{y.dtype, y.dims, 0};
  const int64_t count = type.count() * (pairs ? 2 : 1), words = three ? 2 : 4, blocks = (count + words - 1) / words;
  if (!type.fits() || blocks > INT32_MAX / 4) return op.fail("expected fewer than 2^31 words, found " + describe(y));
  Bits w(op.b);
  const auto number = [&](int i) { return w.slice(state, 0, i, i + 1); };
  const int last = dims_of(state)[0] - 1;
  const std::vector<Value*> key{w.low(number(0)), w.high(number(0))};
  Value* first = number(1);
  Value* steps = w.op(OpId::range, {w.number(0, DType::s64), w.number(static_cast<double>(blocks), DType::s64), w.number(1, DType::s64)});
  Value* counters = w.plus(first, w.cast(steps, DType::u64));
  std::vector<Value*> x{w.low(counters), w.high(counters)};
  if (!three) x.insert(x.end(), {w.low(number(last == 2 ? 2 : 0)), w.high(number(last == 2 ? 2 : 0))});
  x = three ? threefry(w, key, x) : philox(w, key, x);
  std::vector<Value*> columns;
  for (size_t i = 0; i < x.size(); i += pairs ? 2 : 1) columns.push_back(w.unsqueeze(pairs ? w.joined(x[i], x[i + 1]) : x[i], {1}));
  Value* bits = w.slice(w.reshape(w.concat(columns, 1), {-1}), 0, 0, type.count());
  bits = w.reshape(bits, Int64s(y.dims.begin(), y.dims.end()));
  const bool is_signed = y.dtype == DType::s32 || y.dtype == DType::s64;
  if (is_signed && op.ok()) bits = op.b.op(OpId::bitcast, ops::bitcast::Attrs{static_cast<int32_t>(y.dtype)}, {bits});
  std::vector<Value*> next{number(0), w.plus(first, w.b.graph().constant<uint64_t>({1}, {static_cast<uint64_t>(blocks)}))};
  if (last == 2) next.push_back(number(2));
  op.set(0, w.concat(next, 0));
  op.set(1, bits);
}

}  // namespace mote::frontends::tflite
