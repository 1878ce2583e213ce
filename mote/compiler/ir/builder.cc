#include "mote/compiler/ir/builder.h"

#include <algorithm>

#include "mote/compiler/ir/infer.h"
#include "mote/ops/cast/cast.h"
#include "mote/ops/op_docs.h"
#include "mote/ops/reshape/reshape.h"
#include "mote/ops/transpose/transpose.h"

namespace mote::ir {

std::vector<Value*> NodeBuilder::add(uint16_t op, const void* attrs, size_t attrs_bytes, const std::vector<Value*>& inputs,
                                     size_t outputs) {
  if (!ok()) return {};
  // A small file must not ask for endless work.
  constexpr size_t kMaxValues = 1u << 23;
  if (graph_.values().size() > kMaxValues) {
    fail("the model becomes more than " + std::to_string(kMaxValues) + " values");
    return {};
  }
  const OpDoc* doc = find_op_doc(op);
  if (attrs_bytes == 0 && doc != nullptr) {
    attrs = doc->default_attrs.data();
    attrs_bytes = doc->default_attrs.size();
  }
  Node* n = graph_.add_node(block_, op, attrs, attrs_bytes, inputs, outputs, name_, before_);
  for (size_t i = 0; i < n->outputs.size() && i < declared_.size(); ++i) n->outputs[i]->declared = declared_[i];
  std::string error;
  if (infer(*n, &error)) {
    for (Value* v : n->outputs)
      if (v->type.is_static()) v->declared.reset();
    return n->outputs;
  }
  graph_.erase(n);
  fail(error);
  return {};
}

Value* NodeBuilder::reshape(Value* x, const Dims& dims) {
  if (!ok()) return nullptr;
  ops::reshape::Attrs a;
  if (dims.size() > static_cast<size_t>(kMaxRank)) {
    fail("a shape has " + std::to_string(dims.size()) + " dimensions; at most 8 are possible");
    return nullptr;
  }
  a.rank = static_cast<int32_t>(dims.size());
  std::copy(dims.begin(), dims.end(), a.dims);
  return op(OpId::reshape, a, {x});
}

Value* NodeBuilder::transpose(Value* x, const Dims& perm) {
  if (!ok()) return nullptr;
  ops::transpose::Attrs a;
  if (perm.size() > static_cast<size_t>(kMaxRank)) {
    fail("a permutation has " + std::to_string(perm.size()) + " axes; at most 8 are possible");
    return nullptr;
  }
  a.rank = static_cast<int32_t>(perm.size());
  std::copy(perm.begin(), perm.end(), a.perm);
  return op(OpId::transpose, a, {x});
}

Value* NodeBuilder::cast(Value* x, DType to) {
  if (!ok() || x->type.dtype == to) return x;
  ops::cast::Attrs a;
  a.to = static_cast<int32_t>(to);
  return op(OpId::cast, a, {x});
}

// A dimension as reshape writes it: its size, or where it is dynamic 0 ("the input's size") or -1.
Value* NodeBuilder::unsqueeze(Value* x, const std::vector<int64_t>& axes) {
  if (!ok()) return nullptr;
  const int64_t rank = x->type.rank() + static_cast<int64_t>(axes.size());
  std::vector<bool> added(static_cast<size_t>(rank), false);
  for (int64_t a : axes) {
    if (a < 0) a += rank;
    if (a < 0 || a >= rank || rank > kMaxRank || added[static_cast<size_t>(a)]) {
      fail("axis " + std::to_string(a) + " cannot be added to a tensor of rank " + std::to_string(x->type.rank()));
      return nullptr;
    }
    added[static_cast<size_t>(a)] = true;
  }
  std::vector<int> from;
  int next = 0;
  for (bool is_new : added) from.push_back(is_new ? -1 : next++);
  return reshape_keeping(x, from);
}

Value* NodeBuilder::squeeze(Value* x, const std::vector<int64_t>& axes) {
  if (!ok()) return nullptr;
  const int rank = x->type.rank();
  std::vector<bool> gone(static_cast<size_t>(rank), false);
  for (int64_t a : axes) {
    const int64_t axis = a < 0 ? a + rank : a;
    if (axis < 0 || axis >= rank || x->type.dims[static_cast<size_t>(axis)] != 1) {
      fail("axis " + std::to_string(a) + " of a tensor of rank " + std::to_string(rank) + " cannot be removed: its size must be 1");
      return nullptr;
    }
    gone[static_cast<size_t>(axis)] = true;
  }
  std::vector<int> from;
  for (int i = 0; i < rank; ++i)
    if (!gone[static_cast<size_t>(i)]) from.push_back(i);
  return reshape_keeping(x, from);
}

Value* NodeBuilder::reshape_keeping(Value* x, const std::vector<int>& from) {
  Dims dims;
  int open = 0;
  for (size_t i = 0; i < from.size(); ++i) {
    const bool dynamic = from[i] >= 0 && (x->type.dynamic >> from[i] & 1) != 0;
    dims.push_back(from[i] < 0 ? 1 : x->type.dims[static_cast<size_t>(from[i])]);
    if (!dynamic) continue;
    // 0 takes the input's size at the same place; -1 infers one other open size.
    if (from[i] == static_cast<int>(i)) dims.back() = 0;
    else dims.back() = -1, ++open;
  }
  // -1 has no meaning beside a size of 0.
  const auto may_be_zero = [&](size_t i) {
    const auto f = static_cast<size_t>(from[i]);
    if (from[i] < 0) return false;
    if ((x->type.dynamic >> f & 1) == 0) return x->type.dims[f] == 0;
    return open > 0 && f == i && std::any_of(x->facts.begin(), x->facts.end(), [&](const Facts& k) { return k.dims[f] == 0; });
  };
  bool has_zero_size = false;
  for (size_t i = 0; i < from.size(); ++i) has_zero_size |= may_be_zero(i);
  if (open <= 1 && !(has_zero_size && x->type.dynamic != 0)) {
    if (x->type.dynamic != 0) return reshape(x, dims);
    ops::reshape::Attrs a;
    a.rank = static_cast<int32_t>(dims.size());
    a.allow_zero = 1;
    std::copy(dims.begin(), dims.end(), a.dims);
    return op(OpId::reshape, a, {x});
  }
  // Several open sizes that move: gather the new shape from the old one.
  Value* shape = op(OpId::shape_of, {x});
  if (shape == nullptr) return nullptr;
  std::vector<int64_t> index;
  for (int f : from) index.push_back(f < 0 ? x->type.rank() : f);
  Value* padded = op(OpId::concat, {cast(shape, DType::s64), graph_.constant<int64_t>({1}, {1})});
  Value* wanted =
      padded == nullptr ? nullptr : op(OpId::gather, {padded, graph_.constant<int64_t>({static_cast<int32_t>(index.size())}, index)});
  ops::reshape::Attrs a;
  a.allow_zero = 1;
  return wanted == nullptr ? nullptr : op(OpId::reshape, a, {x, wanted});
}

}  // namespace mote::ir
