#pragma once

#include "mote/compiler/frontends/onnx/decompose.h"

namespace mote::frontends::onnx {

// Sums of products along labelled axes ("bij,bjk->bik", "...ii"), as transposes, products and sums, operand by operand.
// Fails the node where equation and operands do not fit.
Value* einsum(Decompose& d, const std::string& equation, const std::vector<Value*>& operands);

}  // namespace mote::frontends::onnx
