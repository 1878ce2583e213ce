#include "mote/compiler/frontends/tflite/stablehlo.h"

#include <algorithm>
#include <cstring>

#include "mote/compiler/frontends/tflite/import.h"
#include "mote/ops/pad/pad.h"

namespace mote::frontends::tflite {

Int64s sizes_of(const Value* v) {
  Int64s out;
  for (int i = 0; i < rank_of(v); ++i) out.push_back(is_fixed(v, i) ? dims_of(v)[static_cast<size_t>(i)] : -1);
  return out;
}

// By bytes: FlatBuffers checks where a vector lies by its length alone, so that 64-bit elements may be misaligned.
Int64s list_of(const Vector<int64_t>* v) {
  Int64s out(v == nullptr ? 0 : v->size());
  for (size_t i = 0; i < out.size(); ++i) std::memcpy(&out[i], v->Data() + i * sizeof out[i], sizeof out[i]);
  return out;
}

bool are_axes(Op& op, const Int64s& axes, int rank, const char* what) {
  uint32_t seen = 0;
  for (const int64_t axis : axes) {
    if (axis < 0 || axis >= rank || rank > kMaxRank || (seen >> axis & 1) != 0) {
      op.fail(std::string(what) + ": expected different axes below " + std::to_string(rank) + ", found " + std::to_string(axis));
      return false;
    }
    seen |= 1u << axis;
  }
  return op.ok();
}

Combiner combiner_of(Op& op, int subgraph) {
  const auto& all = op.importer.model().subgraphs;
  if (subgraph < 0 || static_cast<size_t>(subgraph) >= all.size()) {
    op.fail("the body: expected a subgraph below " + std::to_string(all.size()) + ", found " + std::to_string(subgraph));
    return Combiner::kNone;
  }
  const SubGraph& g = all[static_cast<size_t>(subgraph)];
  if (g.operators.empty() && g.inputs.size() == 2 && g.outputs.size() == 1 && g.outputs[0] == g.inputs[1]) return Combiner::kSecond;
  if (g.operators.size() == 1 && g.inputs.size() == 2 && g.outputs.size() == 1) {
    switch (g.operators[0].code) {
      case BuiltinOperator::ADD:
      case BuiltinOperator::STABLEHLO_ADD: return Combiner::kAdd;
      case BuiltinOperator::MUL:
      case BuiltinOperator::STABLEHLO_MULTIPLY: return Combiner::kMul;
      case BuiltinOperator::MINIMUM:
      case BuiltinOperator::STABLEHLO_MINIMUM: return Combiner::kMin;
      case BuiltinOperator::MAXIMUM:
      case BuiltinOperator::STABLEHLO_MAXIMUM: return Combiner::kMax;
      case BuiltinOperator::LOGICAL_AND:
      case BuiltinOperator::STABLEHLO_AND: return Combiner::kAnd;
      case BuiltinOperator::LOGICAL_OR:
      case BuiltinOperator::STABLEHLO_OR: return Combiner::kOr;
      default: break;
    }
  }
  const std::string found = g.operators.size() == 1 ? std::string(fb::EnumNameBuiltinOperator(g.operators[0].code))
                                                    : std::to_string(g.operators.size()) + " operators";
  op.fail("the body (subgraph " + std::to_string(subgraph) +
              ") must be one ADD, MUL, MINIMUM, MAXIMUM, AND or OR of its two inputs; found " + found,
          "write it with one of these, or as a loop, before converting");
  return Combiner::kNone;
}

OpId combiner_op(Combiner c, DType t) {
  switch (c) {
    case Combiner::kAdd: return OpId::add;
    case Combiner::kMul: return OpId::mul;
    case Combiner::kMin: return OpId::minimum;
    case Combiner::kMax: return OpId::maximum;
    case Combiner::kAnd: return t == DType::boolean ? OpId::logical_and : OpId::bitwise_and;
    case Combiner::kOr: return t == DType::boolean ? OpId::logical_or : OpId::bitwise_or;
    default: return OpId::kNone;
  }
}

Value* pad_by(Op& op, Value* x, const Int64s& begin, const Int64s& end, Value* filler) {
  ops::pad::Attrs a;
  const auto zero = [](int64_t v) { return v == 0; };
  if (std::all_of(begin.begin(), begin.end(), zero) && std::all_of(end.begin(), end.end(), zero)) return x;
  for (size_t i = 0; i < begin.size() && i < static_cast<size_t>(kMaxRank); ++i) {
    if (std::max(std::abs(begin[i]), std::abs(end[i])) > INT32_MAX) {
      op.fail("padding: expected numbers of 32 bits, found " + std::to_string(begin[i]) + " and " + std::to_string(end[i]));
      return nullptr;
    }
    a.begin[i] = static_cast<int32_t>(begin[i]);
    a.end[i] = static_cast<int32_t>(end[i]);
  }
  return op.ok() && x != nullptr ? op.b.op(OpId::pad, a, {x, filler}) : nullptr;
}

Value* spread(Op& op, Value* x, int axis, int64_t step, Value* filler) {
  if (x == nullptr || step == 1) return x;
  const size_t i = static_cast<size_t>(axis), rank = x->type.dims.size();
  const int64_t n = dims_of(x)[i];
  if (!is_fixed(x, axis)) op.fail("the size of axis " + std::to_string(axis) + ", which is dilated, must be known when compiling");
  else if (step < 1 || (n > 1 && step > INT32_MAX / n))
    op.fail("dilation: expected 1 to 2^31 elements in all, found " + std::to_string(step));
  if (!op.ok()) return nullptr;
  if (n < 2) return x;
  Words w(op.b);
  Int64s begin(rank + 1, 0), end(rank + 1, 0), sizes = sizes_of(x);
  end[i + 1] = step - 1;
  sizes[i] = n * step;
  Value* apart = pad_by(op, w.unsqueeze(x, {axis + 1}), begin, end, filler);
  return w.slice(w.reshape(apart, sizes), axis, 0, (n - 1) * step + 1);
}

}  // namespace mote::frontends::tflite
