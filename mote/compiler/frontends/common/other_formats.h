#pragma once

#include <string>
#include <vector>

#include "mote/compiler/frontends/frontend.h"

namespace mote::frontends {

// A format that no front end reads.
struct OtherFormat {
  const char* what;    // "a GGUF file (llama.cpp)"
  const char* advice;  // how to get to a model that Mote reads
};

// The advice with the path that was given in place of the names it has for it ("FOLDER", "model.keras").
std::string advice_for(const OtherFormat& format, const std::string& path);

// What a file is, by its bytes, then by its name; null: unknown.
const OtherFormat* other_format(const Source& source);
// What a folder is, by the names in it; null: unknown.
const OtherFormat* other_format_of_folder(const std::string& path, const std::vector<std::string>& names);

}  // namespace mote::frontends
