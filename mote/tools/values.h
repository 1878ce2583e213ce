#pragma once

// Tensors and numbers as texts.

#include <string>

#include "mote/api/mote.hpp"
#include "mote/compiler/driver/values.h"

namespace mote::tools {

using driver::fill_random;
using driver::to_doubles;
using driver::type_text;

// "f32 (1, 3, 224, 224)", with "<=N" for a dynamic dimension.
std::string type_text(const TensorSpec& spec);

std::string real(double v);      // "1.23e-05"
std::string decibels(double v);  // "41.2"; "exact" when infinite

}  // namespace mote::tools
