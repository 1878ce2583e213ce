#pragma once

#include <set>
#include <string>

namespace mote::emit {

// The text of headers of mote/kernels/cortexm with everything of Mote they include, each once: emitted files need nothing else.
std::string amalgamated(const std::set<std::string>& headers);

}  // namespace mote::emit
