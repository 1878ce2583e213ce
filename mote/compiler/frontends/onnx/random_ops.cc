// Random numbers: those of a generator in the program (common/random_numbers.h), which the seed of the node begins.

#include <cstring>

#include "mote/compiler/frontends/common/notes.h"
#include "mote/compiler/frontends/common/random_numbers.h"
#include "mote/compiler/frontends/onnx/decompose.h"
#include "mote/compiler/frontends/onnx/op_support.h"

namespace mote::frontends::onnx {
namespace {

// Nodes without a seed differ by their names.
RandomNumbers generator(NodeContext& c) {
  uint64_t seed = 0, name = 0;
  const float given = c.attr_float("seed", 0);
  uint32_t bits;
  std::memcpy(&bits, &given, sizeof bits);
  if (c.attr("seed") != nullptr) seed = bits;
  else name = seed_of(c.b.name());
  add_note(c.b.graph(),
           c.b.name() + ": the random numbers are those of a generator in the program, which begins the same each time it is loaded");
  return {c.b, seed, name};
}

// As large as x, whose sizes may be open: numbers for the bounds, cut.
Value* cut_to(Decompose& d, Value* numbers, Value* x) {
  if (!d.b.ok() || x->type.dynamic == 0) return numbers;
  std::vector<int64_t> zeros(static_cast<size_t>(rank_of(x)), 0);
  ir::Type like{dtype_of_value(numbers), dims_of(x), x->type.dynamic};
  d.b.declare({like});
  Value* y = d.op(OpId::slice, {numbers, d.ints(zeros), d.shape_of(x)});
  d.b.declare({});
  return y;
}

template <bool kNormal>
Value* drawn(NodeContext& c, const ir::Dims& dims) {
  RandomNumbers r = generator(c);
  if (kNormal) return r.add(r.mul(r.normal(dims), c.attr_float("scale", 1)), c.attr_float("mean", 0));
  const double low = c.attr_float("low", 0), high = c.attr_float("high", 1);
  return r.add(r.mul(r.uniform(dims), high - low), low);
}

DType wanted_type(NodeContext& c, DType otherwise) {
  const int64_t given = c.attr_int("dtype", ::onnx::TensorProto::UNDEFINED);
  return given == ::onnx::TensorProto::UNDEFINED ? otherwise : to_dtype(static_cast<int>(given));
}

template <bool kNormal>
void import_random(NodeContext& c) {
  ir::Dims dims;
  for (const int64_t d : c.attr_ints("shape")) dims.push_back(to_s32(d));
  for (const int32_t d : dims)
    if (d < 0) return c.fail("expected sizes of at least 0 in shape");
  c.out(0, Decompose(c).cast(drawn<kNormal>(c, dims), wanted_type(c, DType::f32)));
}

template <bool kNormal>
void import_random_like(NodeContext& c) {
  Decompose d(c);
  Value* y = drawn<kNormal>(c, dims_of(c.in(0)));
  c.out(0, d.cast(cut_to(d, y, c.in(0)), wanted_type(c, dtype_of_value(c.in(0)))));
}

// 1 where a number is below the probability.
void import_bernoulli(NodeContext& c) {
  Decompose d(c);
  Value* p = c.in(0);
  RandomNumbers r = generator(c);
  Value* u = cut_to(d, r.uniform(dims_of(p)), p);
  c.out(0, d.cast(d.op(OpId::less, {d.cast(u, dtype_of_value(p)), p}), wanted_type(c, dtype_of_value(p))));
}

// Logits (B, K) to classes (B, samples): how many of the summed probabilities, scaled to 1, a number is not below.
void import_multinomial(NodeContext& c) {
  Decompose d(c);
  Value* x = c.in(0);
  const int64_t samples = c.attr_int("sample_size", 1);
  if (rank_of(x) != 2 || !is_fixed(x, 0) || !is_fixed(x, 1)) return c.fail("expected logits of two fixed sizes");
  if (samples < 1 || samples > 1 << 20) return c.fail("expected a sample_size of 1 to 2^20, found " + std::to_string(samples));
  const int32_t rows = dims_of(x)[0], classes = dims_of(x)[1];
  RandomNumbers r = generator(c);
  Value* u = r.uniform({rows, to_s32(samples), 1});
  Value* sums = d.op(OpId::cum_sum, {d.softmax(d.cast(x, DType::f32), 1), d.number(1, DType::s64)});
  // The last sum is 1 but for rounding: every number is below it.
  Value* below = d.reshape(d.slice(sums, 1, 0, classes - 1), {rows, 1, classes - 1});
  Value* passed = d.cast(d.op(OpId::greater_equal, {u, below}), DType::s32);
  c.out(0, d.cast(d.reduce(OpId::reduce_sum, passed, {2}, false), wanted_type(c, DType::s32)));
}

}  // namespace

void add_random_ops(OpTable& table);
void add_random_ops(OpTable& table) {
  add_lines(table, {{"RandomNormal", import_random<true>, 1, 0},
                    {"RandomNormalLike", import_random_like<true>},
                    {"RandomUniform", import_random<false>, 1, 0},
                    {"RandomUniformLike", import_random_like<false>},
                    {"Multinomial", import_multinomial},
                    {"Bernoulli", import_bernoulli}});
}

}  // namespace mote::frontends::onnx
