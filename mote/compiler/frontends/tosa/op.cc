#include "mote/compiler/frontends/tosa/op.h"

#include <algorithm>

#include "mote/compiler/frontends/tosa/import.h"
#include "mote/ops/bitcast/bitcast.h"

namespace mote::frontends::tosa {
namespace {

const Tensor& tensor_at(const Scope& scope, const Names& names, size_t i) {
  static const Tensor kAbsent;
  const Tensor* t = i < names.size() ? scope.region->tensor(names[i]) : nullptr;
  return t == nullptr ? kAbsent : *t;
}

}  // namespace

Op::Op(Importer& importer_, Scope& scope_, const Operator& source_, ir::NodeBuilder& builder)
    : Words(builder), importer(importer_), scope(scope_), source(source_) {
  results_.resize(outputs(), nullptr);
}

const Tensor& Op::in(size_t i) const { return tensor_at(scope, source.inputs, i); }
const Tensor& Op::out(size_t i) const { return tensor_at(scope, source.outputs, i); }

Value* Op::value(size_t i) {
  if (!ok()) return nullptr;
  if (i >= inputs()) {
    fail("input " + std::to_string(i) + " is missing");
    return nullptr;
  }
  std::string error;
  Value* v = importer.value_of(scope, source.inputs[i], &error);
  if (v == nullptr) fail(error);
  return v;
}

bool Op::need_ints(size_t i, const char* what, std::vector<int64_t>* to, size_t least, size_t most) {
  if (!ok()) return false;
  const std::string place = std::string(what) + " (input " + std::to_string(i) + ")";
  if (i >= inputs()) {
    fail(place + " is missing");
    return false;
  }
  if (const std::vector<int64_t>* sizes = importer.shape_of(scope, source.inputs[i])) {
    *to = *sizes;
  } else {
    const Value* v = value(i);
    if (v == nullptr) return false;
    if (!ir::known_ints(*v, to)) {
      fail(place + " must be known when compiling; found a value computed at run time");
      return false;
    }
  }
  if (to->size() < least || to->size() > most) {
    fail(place + " must have " + std::to_string(least) + (most > least ? " to " + std::to_string(most) : "") + " elements; found " +
         std::to_string(to->size()));
    return false;
  }
  return true;
}

int64_t Op::zero(size_t i, const char* what) {
  const Value* v = value(i);
  if (v == nullptr) return 0;
  if (is_float(v->type.dtype)) {
    std::vector<double> real;
    if (!ir::known_floats(*v, &real) || real.size() != 1 || real[0] != 0) fail(std::string(what) + " of floats must be a constant 0");
    return 0;
  }
  std::vector<int64_t> one;
  return need_ints(i, what, &one, 1, 1) ? one[0] : 0;
}

bool Op::list(const Vector<int32_t>* from, const char* what, uint32_t count, int32_t least, int32_t* to) {
  const uint32_t found = from == nullptr ? 0 : from->size();
  if (found != count) fail("expected " + std::to_string(count) + " numbers in '" + what + "', found " + std::to_string(found));
  for (uint32_t i = 0; ok() && i < count; ++i) {
    to[i] = from->Get(i);
    if (to[i] < least) fail("expected at least " + std::to_string(least) + " in '" + what + "', found " + std::to_string(to[i]));
  }
  return ok();
}

int Op::axis(int32_t from, int rank) {
  if (from >= 0 && from < rank) return from;
  fail("expected an axis below " + std::to_string(rank) + ", found " + std::to_string(from));
  return 0;
}

void Op::set(size_t i, Value* v) {
  if (!ok() || v == nullptr || i >= results_.size()) return;
  results_[i] = v;
  if (v->kind == ir::ValueKind::kResult && v->name.empty()) v->name = std::string(source.outputs[i]);
}

void Op::set_shape(std::vector<int64_t> values) {
  if (!ok()) return;
  if (values.size() > 2 * kMaxRank) return fail("expected at most " + std::to_string(2 * kMaxRank) + " sizes");
  if (!source.outputs.empty()) scope.sizes[source.outputs[0]] = std::move(values);
}

Value* Op::bitcast(Value* x, DType to) {
  if (x == nullptr || x->type.dtype == to) return x;
  ops::bitcast::Attrs a;
  a.to = static_cast<int32_t>(to);
  return b.ok() ? b.op(OpId::bitcast, a, {x}) : nullptr;
}

Value* Op::clamp(Value* x, int64_t lo, int64_t hi) {
  if (x == nullptr) return nullptr;
  const auto bound = [&](int64_t v) {
    return x->type.dtype == DType::s64 ? b.graph().scalar<int64_t>(v) : number(static_cast<double>(v), x);
  };
  return op(OpId::minimum, {op(OpId::maximum, {x, bound(lo)}), bound(hi)});
}

void Op::fail(const std::string& what, const std::string& advice) {
  if (!ok()) return;
  b.fail(what);
  advice_ = advice;
}

OpImporter find_importer(fb::Op code) {
  switch (code) {
#define MOTE_TOSA_OP(code, function, inputs) \
  case fb::Op::code:                         \
    return {&function, inputs};
#include "mote/compiler/frontends/tosa/ops.def"
#undef MOTE_TOSA_OP
    default: return {};
  }
}

}  // namespace mote::frontends::tosa
