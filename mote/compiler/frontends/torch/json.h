#pragma once

// JSON of files nobody trusts: sizes and depths are bounded, kinds are checked at every step.

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

namespace mote::frontends::torch {

using Json = nlohmann::json;

// What the file has in another way than the schema says; thrown inside readers, which turn it into a text.
struct SchemaError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// At most so many values are in a text, of JSON or not: what they take parsed is up to thirty times their text.
size_t most_values(std::string_view text);

// False with *error when the text is no JSON, too long or nested too deeply.
bool parse_json(std::string_view text, Json* out, std::string* error);

// Members and elements; throw SchemaError when they are missing or of another kind.
const Json& member(const Json& object, const char* name);
const Json* optional_member(const Json& object, const char* name);  // null when absent or null
const Json::array_t& list(const Json& value, const char* what);
const Json::object_t& object(const Json& value, const char* what);
std::string text(const Json& value, const char* what);
int64_t integer(const Json& value, const char* what);
double number(const Json& value, const char* what);  // "Infinity", "-Infinity" and "NaN" are strings
bool boolean(const Json& value, const char* what);

}  // namespace mote::frontends::torch
