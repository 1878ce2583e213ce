#pragma once

// Reads a JSON object whose every member is known: unknown names and missing ones are refused.

#include <set>
#include <string>
#include <vector>

#include "mote/fleet/base/json.h"

namespace mote::fleet {

// Members are asked for by name; finish() throws for those that nobody asked for. Each reader throws an Error that names the member.
class JsonObject {
 public:
  explicit JsonObject(const Json& value);

  bool has(const char* name);  // asking counts as knowing it
  Json at(const char* name);
  std::string text(const char* name);  // at most 256 bytes
  uint64_t number(const char* name);   // not below 0
  bool flag(const char* name);
  std::string sha256(const char* name, bool may_be_empty = false);  // hexadecimal in the text; raw here
  std::vector<std::string> texts(const char* name);                 // at most 1024

  // The same for members that may be missing.
  std::string text_or(const char* name, const std::string& otherwise) { return has(name) ? text(name) : otherwise; }
  uint64_t number_or(const char* name, uint64_t otherwise) { return has(name) ? number(name) : otherwise; }
  bool flag_or(const char* name, bool otherwise) { return has(name) ? flag(name) : otherwise; }
  std::vector<std::string> texts_or_none(const char* name) { return has(name) ? texts(name) : std::vector<std::string>(); }

  void finish() const;

 private:
  const Json value_;
  std::set<std::string> names_;
};

}  // namespace mote::fleet
