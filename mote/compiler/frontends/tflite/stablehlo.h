#pragma once

// What importers of StableHLO's operators share.

#include "mote/compiler/frontends/common/words.h"
#include "mote/compiler/frontends/tflite/op.h"

namespace mote::frontends::tflite {

using Int64s = std::vector<int64_t>;

// Sizes as reshape takes them: -1 where one is open.
Int64s sizes_of(const Value* v);
Int64s list_of(const Vector<int64_t>* v);

// True when all of these axes are below `rank` and none is there twice; fails the operator otherwise.
bool are_axes(Op& op, const Int64s& axes, int rank, const char* what);

// What a body of StableHLO does with the two numbers it is given; kNone after fail().
enum class Combiner { kNone, kSecond, kAdd, kMul, kMin, kMax, kAnd, kOr };
Combiner combiner_of(Op& op, int subgraph);
OpId combiner_op(Combiner c, DType t);

// x with `begin` and `end` elements of `filler`, a scalar, added along each axis (cut off where negative).
Value* pad_by(Op& op, Value* x, const Int64s& begin, const Int64s& end, Value* filler);
// `step` - 1 elements of `filler` between neighbours along an axis.
Value* spread(Op& op, Value* x, int axis, int64_t step, Value* filler);

}  // namespace mote::frontends::tflite
