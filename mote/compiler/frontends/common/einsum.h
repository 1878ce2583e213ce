#pragma once

#include "mote/compiler/frontends/common/words.h"

namespace mote::frontends {

// Sums of products along labelled axes ("bij,bjk->bik", "...ii"), as transposes, products and sums, operand by operand.
// Fails the node where equation and operands do not fit.
Value* einsum(Words& d, const std::string& equation, const std::vector<Value*>& operands);

}  // namespace mote::frontends
