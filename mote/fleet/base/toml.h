#pragma once

// A part of TOML, for files that people write: tables [name], bare keys, strings, whole numbers, true and false, arrays of strings on one
// line, comments. Everything else is refused with its line.

#include <string>
#include <string_view>

namespace mote::fleet {

// The same values as JSON text: tables are objects. Throws Error.
std::string toml_to_json(std::string_view text);

}  // namespace mote::fleet
