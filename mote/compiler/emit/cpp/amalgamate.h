#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace mote::emit {

// The texts of headers of mote/kernels/cortexm, each once, with what they include.
std::string amalgamated(const std::set<std::string>& headers);

// The same with operators, by name with the element types they are used with, in namespace `name`: several such files may be linked
// into one program.
std::string amalgamated_library(const std::set<std::string>& headers, const std::map<std::string, uint32_t>& operators,
                                const std::string& name);

}  // namespace mote::emit
