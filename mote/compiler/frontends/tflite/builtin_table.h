#pragma once

#include <string>

namespace mote::frontends::tflite {

// docs/generated/tflite.md: every builtin operator, and why it is refused where it is.
std::string builtin_table();

}  // namespace mote::frontends::tflite
