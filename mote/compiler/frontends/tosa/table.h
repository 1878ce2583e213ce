#pragma once

#include <string>

namespace mote::frontends::tosa {

// The table for the documentation: every operator of the format, its inputs, whether it is read. Markdown.
std::string operator_table();

}  // namespace mote::frontends::tosa
