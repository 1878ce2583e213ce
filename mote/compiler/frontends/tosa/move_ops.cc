// Operators that move elements without computing: shapes, order, parts.

#include <algorithm>

#include "mote/compiler/frontends/tosa/import.h"
#include "mote/ops/pad/pad.h"
#include "mote/ops/reverse/reverse.h"
#include "mote/ops/scatter_nd/scatter_nd.h"
#include "mote/ops/slice/slice.h"
#include "mote/ops/tile/tile.h"

namespace mote::frontends::tosa {
namespace {

int32_t size_of(Op& op, int64_t v, const char* what) {
  if (v < INT32_MIN || v > INT32_MAX) op.fail(std::string(what) + " " + std::to_string(v) + " is too large");
  return op.ok() ? static_cast<int32_t>(v) : 0;
}

// (N, K, C) as (N * K, C), and the indices (N, W) as rows of that. False after an error.
bool as_rows(Op& op, Value** values, Value** indices) {
  if (!op.ok()) return false;
  const Dims &v = dims_of(*values), &i = dims_of(*indices);
  const DType t = (*indices)->type.dtype;
  if (v.size() != 3 || i.size() != 2 || v[0] != i[0] || (t != DType::s32 && t != DType::s64)) {
    op.fail("expected values (N, K, C) and INT32 indices (N, W), found " + describe(op.in(0)) + " and " + describe(op.in(1)));
    return false;
  }
  if (!(*values)->type.is_static() || !(*indices)->type.is_static()) {
    op.fail("expected fixed sizes", "give them with --shape");
    return false;
  }
  if (int64_t{v[0]} * v[1] > INT32_MAX) {
    op.fail("expected fewer rows than 2^31");
    return false;
  }
  std::vector<int32_t> first;
  std::string error;
  if (!op.importer.take_bytes(uint64_t{static_cast<uint32_t>(v[0])} * 4, &error)) op.fail(error);
  for (int32_t n = 0; op.ok() && n < v[0]; ++n) first.push_back(n * v[1]);
  if (!op.ok()) return false;
  const int32_t n = v[0], k = v[1], c = v[2];
  if (n != 1) *indices = op.add(op.cast(*indices, DType::s32), op.constant_s32(first, {n, 1}));
  *values = op.reshape(*values, {int64_t{n} * k, c});
  return op.ok();
}

}  // namespace

// Constants are read from the tensors where they are used.
void import_const(Op& op) {
  if (op.outputs() != 1) return op.fail("expected one output, found " + std::to_string(op.outputs()));
  std::string error;
  Value* v = op.importer.value_of(op.scope, op.source.outputs[0], &error);
  if (v == nullptr) return op.fail(error);
  op.set(v);
}

void import_concat(Op& op) {
  std::vector<Value*> parts;
  for (size_t i = 0; i < op.inputs(); ++i) parts.push_back(op.value(i));
  if (!op.ok()) return;
  op.set(op.concat(parts, op.axis(op.attributes<fb::ConcatAttribute>().axis(), rank_of(parts[0]))));
}

void import_reshape(Op& op) {
  std::vector<int64_t> dims;
  Value* x = op.value(0);
  if (!op.need_ints(1, "shape", &dims, 0, kMaxRank)) return;
  for (const int64_t d : dims) size_of(op, d, "size");
  op.set(op.reshape(x, dims));
}

void import_transpose(Op& op) {
  Value* x = op.value(0);
  int32_t perm[kMaxRank] = {};
  const int rank = rank_of(x);
  if (!op.list(op.attributes<fb::TransposeAttribute>().perms(), "perms", static_cast<uint32_t>(rank), 0, perm)) return;
  for (int i = 0; i < rank; ++i) op.axis(perm[i], rank);
  op.set(op.transpose(x, std::vector<int>(perm, perm + rank)));
}

void import_reverse(Op& op) {
  Value* x = op.value(0);
  ops::reverse::Attrs a;
  a.count = 1;
  a.axes[0] = op.axis(op.attributes<fb::ReverseAttribute>().axis(), rank_of(x));
  if (op.ok()) op.set(op.b.op(OpId::reverse, a, {x}));
}

void import_slice(Op& op) {
  Value* x = op.value(0);
  const size_t rank = static_cast<size_t>(rank_of(x));
  std::vector<int64_t> start, size;
  if (!op.need_sizes(1, "start", rank, &start) || !op.need_sizes(2, "size", rank, &size)) return;
  if (rank == 0) return op.set(op.op(OpId::copy, {x}));
  ops::slice::Attrs a;
  a.count = static_cast<int32_t>(rank);
  for (size_t i = 0; i < rank; ++i) {
    if (start[i] < 0 || size[i] < -1 || start[i] > INT32_MAX || size[i] > INT32_MAX || start[i] + size[i] > x->type.dims[i])
      return op.fail("the slice from " + std::to_string(start[i]) + " of size " + std::to_string(size[i]) + " is not inside dimension " +
                     std::to_string(i));
    a.axes[i] = static_cast<int32_t>(i);
    a.starts[i] = static_cast<int32_t>(start[i]);
    a.ends[i] = size[i] < 0 ? INT32_MAX : static_cast<int32_t>(start[i] + size[i]);
    a.steps[i] = 1;
  }
  op.set(op.b.op(OpId::slice, a, {x}));
}

void import_tile(Op& op) {
  Value* x = op.value(0);
  std::vector<int64_t> repeats;
  if (!op.need_sizes(1, "multiples", static_cast<size_t>(rank_of(x)), &repeats)) return;
  ops::tile::Attrs a;
  for (size_t i = 0; i < repeats.size(); ++i) a.repeats[i] = size_of(op, repeats[i], "multiple");
  if (op.ok()) op.set(repeats.empty() ? op.op(OpId::copy, {x}) : op.b.op(OpId::tile, a, {x}));
}

void import_pad(Op& op) {
  Value *x = op.value(0), *with = op.value(2);
  const size_t rank = static_cast<size_t>(rank_of(x));
  std::vector<int64_t> pads;
  if (!op.ok() || !op.need_sizes(1, "padding", 2 * rank, &pads)) return;
  ops::pad::Attrs a;
  for (size_t i = 0; i < rank; ++i) {
    a.begin[i] = size_of(op, pads[2 * i], "padding");
    a.end[i] = size_of(op, pads[2 * i + 1], "padding");
  }
  if (op.ok()) op.set(op.b.op(OpId::pad, a, {x, op.reshape(with, {})}));
}

void import_gather(Op& op) {
  Value *values = op.value(0), *indices = op.value(1);
  if (!as_rows(op, &values, &indices)) return;
  op.set(op.gather(values, indices, 0));
}

void import_scatter(Op& op) {
  Value *values = op.value(0), *indices = op.value(1), *input = op.value(2);
  if (!as_rows(op, &values, &indices)) return;
  const Dims all = dims_of(op.value(0)), list = dims_of(indices);
  indices = op.reshape(indices, {list[0], list[1], 1});
  Value* y = op.ok() ? op.b.op(OpId::scatter_nd, ops::scatter_nd::Attrs{}, {values, indices, input}) : nullptr;
  op.set(op.reshape(y, {all[0], all[1], all[2]}));
}

}  // namespace mote::frontends::tosa
