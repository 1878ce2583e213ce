#pragma once

#include <string>

#include "mote/core/dtype.h"

namespace mote::emit {

// Letters, digits and '_'; not empty, no word of the language.
std::string identifier(const std::string& text);
inline std::string text(int64_t v) { return std::to_string(v); }

// "int8_t"
const char* c_type(DType type);

}  // namespace mote::emit
