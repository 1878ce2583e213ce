#pragma once

#include <nlohmann/json.hpp>

#include "mote/tools/session.h"

namespace mote::tools {

// Objects keep the order they are filled in, so that people can read them too.
using Json = nlohmann::ordered_json;

// One document as text, and printed. Bytes that are no UTF-8 (texts of a strange file) are replaced, never an error.
std::string json_text(const Json& json);
void print_json(const Json& json);

Json spec_json(const TensorSpec& spec);

}  // namespace mote::tools
