#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mote::tools {

// Whole files. On failure *error says what the system said, without the path.
bool read_whole_file(const std::string& path, std::vector<uint8_t>* out, std::string* error);
bool write_whole_file(const std::string& path, const std::vector<uint8_t>& bytes, std::string* error);

// A name as a file name: every character outside [A-Za-z0-9._-] becomes '_'.
std::string file_name_of(const std::string& name);

}  // namespace mote::tools
