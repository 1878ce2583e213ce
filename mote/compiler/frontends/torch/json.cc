#include "mote/compiler/frontends/torch/json.h"

#include <cmath>
#include <limits>

namespace mote::frontends::torch {
namespace {

constexpr size_t kMostBytes = size_t{1} << 30;
constexpr int kMostLevels = 400;  // graphs lie inside graphs, each some ten levels

// Calls f with each character outside of quotes; stops when that says false.
template <class F>
void outside_quotes(std::string_view text, F f) {
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') ++i;
    else if (c == '"') quoted = !quoted;
    else if (!quoted && !f(c)) return;
  }
}

bool too_deep(std::string_view text) {
  int depth = 0;
  outside_quotes(text, [&](char c) {
    if (c == '{' || c == '[') ++depth;
    else if (c == '}' || c == ']') --depth;
    return depth <= kMostLevels;
  });
  return depth > kMostLevels;
}

[[noreturn]] void wrong(const char* what, const char* expected, const Json& found) {
  throw SchemaError(std::string(what) + ": expected " + expected + ", found " + found.type_name());
}

}  // namespace

size_t most_values(std::string_view text) {
  size_t count = 1;
  outside_quotes(text, [&](char c) {
    count += c == ',' || c == '[' || c == '{' ? 1 : 0;
    return true;
  });
  return count;
}

bool parse_json(std::string_view text, Json* out, std::string* error) {
  if (text.size() > kMostBytes || too_deep(text)) {
    *error = text.size() > kMostBytes ? "is longer than 1 GiB" : "is nested too deeply";
    return false;
  }
  *out = Json::parse(text.begin(), text.end(), nullptr, false);
  if (!out->is_discarded()) return true;
  *error = "is no JSON text";
  return false;
}

const Json* optional_member(const Json& object, const char* name) {
  if (!object.is_object()) wrong(name, "an object around it", object);
  const auto it = object.find(name);
  return it == object.end() || it->is_null() ? nullptr : &*it;
}

const Json& member(const Json& object, const char* name) {
  const Json* m = optional_member(object, name);
  if (m == nullptr) throw SchemaError(std::string("'") + name + "' is missing");
  return *m;
}

const Json::array_t& list(const Json& value, const char* what) {
  if (!value.is_array()) wrong(what, "a list", value);
  return value.get_ref<const Json::array_t&>();
}

const Json::object_t& object(const Json& value, const char* what) {
  if (!value.is_object()) wrong(what, "an object", value);
  return value.get_ref<const Json::object_t&>();
}

std::string text(const Json& value, const char* what) {
  if (!value.is_string()) wrong(what, "a text", value);
  return value.get<std::string>();
}

int64_t integer(const Json& value, const char* what) {
  if (!value.is_number_integer()) wrong(what, "a whole number", value);
  if (value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)) return INT64_MAX;
  return value.get<int64_t>();
}

double number(const Json& value, const char* what) {
  if (value.is_number()) return value.get<double>();
  if (value == "Infinity") return std::numeric_limits<double>::infinity();
  if (value == "-Infinity") return -std::numeric_limits<double>::infinity();
  if (value == "NaN") return std::nan("");
  wrong(what, "a number", value);
}

bool boolean(const Json& value, const char* what) {
  if (!value.is_boolean()) wrong(what, "true or false", value);
  return value.get<bool>();
}

}  // namespace mote::frontends::torch
