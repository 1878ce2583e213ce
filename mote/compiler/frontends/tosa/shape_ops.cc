// Values of type shape: lists of sizes, all known when compiling.

#include <algorithm>

#include "mote/compiler/frontends/tosa/import.h"

namespace mote::frontends::tosa {
namespace {

int64_t floor_of(int64_t x, int64_t y) { return x / y - (x % y != 0 && (x < 0) != (y < 0) ? 1 : 0); }

bool compute(fb::Op code, int64_t x, int64_t y, int64_t* out) {
  switch (code) {
    case fb::Op::ADD_SHAPE: return !__builtin_add_overflow(x, y, out);
    case fb::Op::SUB_SHAPE: return !__builtin_sub_overflow(x, y, out);
    case fb::Op::MUL_SHAPE: return !__builtin_mul_overflow(x, y, out);
    case fb::Op::MAX_SHAPE: *out = std::max(x, y); return true;
    case fb::Op::MIN_SHAPE: *out = std::min(x, y); return true;
    default: break;
  }
  if (y <= 0 || x < INT64_MIN / 2 || x > INT64_MAX / 2) return false;
  *out = code == fb::Op::DIV_FLOOR_SHAPE ? floor_of(x, y) : code == fb::Op::DIV_CEIL_SHAPE ? -floor_of(-x, y) : x - floor_of(x, y) * y;
  return true;
}

}  // namespace

void import_const_shape(Op& op) {
  const std::vector<int64_t>* sizes = op.outputs() == 1 ? op.importer.shape_of(op.scope, op.source.outputs[0]) : nullptr;
  if (sizes == nullptr) op.fail("expected one output, a shape with its sizes in the file");
}

void import_dim(Op& op) {
  const Value* x = op.value(0);
  if (!op.ok()) return;
  const int axis = op.axis(op.attributes<fb::DimAttribute>().axis(), rank_of(x));
  if (op.ok() && !is_fixed(x, axis)) op.fail("dimension " + std::to_string(axis) + " is open", "give the input's shape with --shape");
  if (op.ok()) op.set_shape({x->type.dims[static_cast<size_t>(axis)]});
}

void import_shape_arithmetic(Op& op) {
  std::vector<int64_t> x, y;
  if (op.code() == fb::Op::CONCAT_SHAPE) {
    for (size_t i = 0; i < op.inputs() && op.need_ints(i, "shape", &y, 0, 2 * kMaxRank) && x.size() <= 2 * kMaxRank; ++i)
      x.insert(x.end(), y.begin(), y.end());
    return op.set_shape(x);
  }
  if (!op.need_ints(0, "shape", &x, 0, 2 * kMaxRank) || !op.need_sizes(1, "shape", x.size(), &y)) return;
  for (size_t i = 0; i < x.size(); ++i)
    if (!compute(op.code(), x[i], y[i], &x[i]))
      return op.fail("the result for " + std::to_string(x[i]) + " and " + std::to_string(y[i]) + " is no size");
  op.set_shape(x);
}

}  // namespace mote::frontends::tosa
