// Random bits that a state decides: the counter-based generators Threefry and Philox (Salmon and others, SC 2011), all blocks at once.

#include <algorithm>

#include "mote/compiler/frontends/common/random_numbers.h"
#include "mote/compiler/frontends/tflite/moves.h"
#include "mote/compiler/frontends/tflite/stablehlo.h"
#include "mote/ops/bitcast/bitcast.h"

namespace mote::frontends::tflite {
namespace {

using Bits = RandomBits;

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
  Value* counters = w.counters(first, blocks);
  std::vector<Value*> x{w.low(counters), w.high(counters)};
  if (!three) x.insert(x.end(), {w.low(number(last == 2 ? 2 : 0)), w.high(number(last == 2 ? 2 : 0))});
  x = three ? threefry(w, key, x) : w.philox(key, x);
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

// LiteRT's numbers for the same seeds, of which it takes the low 32 bits. Where both seeds are 0 it takes others each time it is loaded;
// here the operators' names differ.
void import_random(Op& op) {
  const auto& o = op.options<fb::RandomOptions>();
  Int64s shape;
  if (!op.need_ints(0, "the shape", &shape)) return;
  if (op.out().dtype != DType::f32) return op.fail("expected f32 numbers, found " + describe(op.out()));
  const int32_t first = static_cast<int32_t>(o.seed()), second = static_cast<int32_t>(o.seed2());
  const uint64_t other = seed_of(op.b.name());
  const Dims dims = to_dims(op, shape);
  if (std::any_of(dims.begin(), dims.end(), [](int32_t d) { return d < 0; })) return op.fail("expected sizes of at least 0");
  RandomNumbers r(op.b, static_cast<uint64_t>(first), first != 0 || second != 0 ? static_cast<uint64_t>(second) : other);
  if (op.ok()) op.set(op.code() == fb::BuiltinOperator::RANDOM_UNIFORM ? r.uniform(dims) : r.normal(dims));
}

}  // namespace mote::frontends::tflite
