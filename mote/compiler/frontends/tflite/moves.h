#pragma once

#include "mote/compiler/frontends/tflite/op.h"

namespace mote::frontends::tflite {

// 64-bit sizes or axes as 32-bit ones; fails the operator where one does not fit.
Dims to_dims(Op& op, const std::vector<int64_t>& values);

// Tells the value that its sizes, which only running tells, are those the file declares for output 0 (bounds where it leaves them open).
Value* declare(Op& op, Value* v, uint32_t output = 0);

// A vector of s64 with these elements.
Value* int_vector(Op& op, const std::vector<int64_t>& values);

}  // namespace mote::frontends::tflite
