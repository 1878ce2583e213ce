#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mote/compiler/driver/values.h"

namespace mote::tools {

// Whole files. On failure *error says what the system said, without the path.
bool read_whole_file(const std::string& path, std::vector<uint8_t>* out, std::string* error);
bool write_whole_file(const std::string& path, const std::vector<uint8_t>& bytes, std::string* error);

using driver::file_name_of;

}  // namespace mote::tools
