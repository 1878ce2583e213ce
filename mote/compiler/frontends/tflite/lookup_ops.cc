// Rows of tables: by key, and weighted sums of them.

#include <algorithm>

#include "mote/compiler/frontends/tflite/moves.h"
#include "mote/compiler/frontends/tflite/stablehlo.h"
#include "mote/ops/scatter_nd/scatter_nd.h"

namespace mote::frontends::tflite {
namespace {

// Adds `rows` up in zeros of shape `dims`, where `at` says.
Value* summed(Op& op, const Int64s& dims, Value* at, Value* rows) {
  Words w(op.b);
  Value* zeros = w.fill(0, dtype_of_value(rows), w.ints(dims));
  return op.ok() ? op.b.op(OpId::scatter_nd, ops::scatter_nd::Attrs{ops::kScatterAdd}, {zeros, at, rows}) : nullptr;
}

}  // namespace

// inputs: ids (n), where each one goes (n, r), the dense shape of that (r), weights (n), table. What goes to one place along all axes but
// the last of the dense shape is summed up.
void import_embedding_lookup_sparse(Op& op) {
  const fb::CombinerType combiner = op.options<fb::EmbeddingLookupSparseOptions>().combiner();
  Value *ids = op.value(0), *at = op.value(1), *weights = op.value(3), *table = op.value(4);
  Int64s dense;
  if (!op.need_ints(2, "the dense shape", &dense)) return;
  if (rank_of(ids) != 1 || rank_of(at) != 2 || rank_of(weights) != 1 || rank_of(table) < 2 || dense.empty() ||
      dims_of(at)[1] != static_cast<int64_t>(dense.size()))
    return op.fail("expected ids (n), places (n, r), a shape (r), weights (n) and a table of rank 2 or more, found " + describe(op.in(1)));
  if (op.type_in(3) != DType::f32 || op.type_in(4) != DType::f32)
    return op.fail("expected weights and a table of f32, found " + describe(op.in(4)));
  Words w(op.b);
  const int64_t r = static_cast<int64_t>(dense.size());
  // Without a leading axis all goes to one place, which has an axis of its own until the end.
  at = r > 1 ? w.slice(at, 1, 0, r - 1) : w.op(OpId::mul, {at, w.number(0, at)});
  Int64s buckets(dense.begin(), dense.end() - 1), axes, sizes;
  if (buckets.empty()) buckets.push_back(1);
  sizes = buckets;
  for (int i = 1; i < rank_of(table); ++i) {
    if (!is_fixed(table, i)) return op.fail("the table must have rows of a known size");
    sizes.push_back(dims_of(table)[static_cast<size_t>(i)]);
    axes.push_back(i);
  }
  Value* y = summed(op, sizes, at, w.mul(w.gather(table, ids, 0), w.unsqueeze(weights, axes)));
  if (combiner != fb::CombinerType::SUM) {
    const bool mean = combiner == fb::CombinerType::MEAN;
    Value* total = summed(op, buckets, at, mean ? weights : w.mul(weights, weights));
    if (!mean) total = w.sqrt(total);
    // Places that nothing goes to stay 0.
    Value* count = summed(op, buckets, at, w.fill(1, DType::s32, w.shape_of(weights)));
    total = w.op(OpId::where, {w.op(OpId::greater, {count, w.number(0, DType::s32)}), total, w.number(1, DType::f32)});
    Int64s inner;
    for (size_t i = 0; i < axes.size(); ++i) inner.push_back(static_cast<int64_t>(buckets.size() + i));
    y = w.div(y, w.unsqueeze(total, inner));
  }
  op.set(r > 1 ? y : w.squeeze(y, {0}));
}

// inputs: what is looked up (n), keys (m) in ascending order, values (m, ...). A binary search; 0 where there is no such key.
void import_hashtable_lookup(Op& op) {
  Value *wanted = op.value(0), *keys = op.value(1), *values = op.value(2);
  if (rank_of(wanted) != 1 || rank_of(keys) != 1 || rank_of(values) < 1 || !is_fixed(keys, 0) || dims_of(keys)[0] < 1 ||
      dims_of(keys)[0] != dims_of(values)[0])
    return op.fail("expected lookups (n), as many keys as values and at least one, found keys " + describe(op.in(1)));
  if (op.in(2).source_type == fb::TensorType::STRING) return op.fail("values that are strings are not supported");
  Words w(op.b);
  const int64_t count = dims_of(keys)[0];
  int64_t step = 1;
  while (step * 2 < count) step *= 2;
  Value* last = w.number(static_cast<double>(count - 1), DType::s32);
  Value* at = w.op(OpId::mul, {wanted, w.number(0, wanted)});
  for (at = w.cast(at, DType::s32); step > 0 && op.ok(); step /= 2) {
    Value* next = w.op(OpId::minimum, {w.add(at, static_cast<double>(step)), last});
    at = w.op(OpId::where, {w.op(OpId::less_equal, {w.gather(keys, next, 0), wanted}), next, at});
  }
  Value* hit = w.op(OpId::equal, {w.gather(keys, at, 0), wanted});
  Int64s axes;
  for (int i = 1; i < rank_of(values); ++i) axes.push_back(i);
  op.set(0, w.op(OpId::where, {w.unsqueeze(hit, axes), w.gather(values, at, 0), w.number(0, values)}));
  op.set(1, w.cast(hit, DType::u8));
}

}  // namespace mote::frontends::tflite
