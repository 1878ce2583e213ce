#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "mote/compiler/frontends/torch/schema.h"

namespace mote::frontends::torch {

// The name of the symbol when an expression is nothing else: "s77" for "Symbol('s77', positive=True, integer=True)". Empty when not.
std::string symbol_name(const std::string& expression);

// The least and greatest value of an expression when its symbols lie in these ranges. Nothing where a symbol is open to above, or the
// expression has parts that are not known here.
std::optional<Range> bounds_of(const std::string& expression, const std::map<std::string, Range>& ranges);

// As people write it: "2*s77 + 1"; the text itself when it cannot be read.
std::string readable(const std::string& expression);

}  // namespace mote::frontends::torch
