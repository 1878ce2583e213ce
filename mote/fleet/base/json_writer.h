#pragma once

// Writes canonical JSON: members must be given in the order of their names.

#include <string>
#include <string_view>
#include <vector>

#include "mote/fleet/base/json.h"

namespace mote::fleet {

class JsonWriter {
 public:
  JsonWriter& open(char c) {
    separate();
    text += c;
    first_ = true;
    return *this;
  }
  JsonWriter& close(char c) {
    text += c;
    first_ = false;
    return *this;
  }
  JsonWriter& name(std::string_view n) {
    separate();
    text += canonical_string(n) + ":";
    first_ = true;
    return *this;
  }
  JsonWriter& value(std::string_view s) { return raw(canonical_string(s)); }
  JsonWriter& value(const std::string& s) { return raw(canonical_string(s)); }
  JsonWriter& value(const char* s) { return raw(canonical_string(s)); }
  JsonWriter& value(uint64_t n) { return raw(std::to_string(n)); }
  JsonWriter& value(int64_t n) { return raw(std::to_string(n)); }
  JsonWriter& value(bool b) { return raw(b ? "true" : "false"); }
  JsonWriter& value(const std::vector<std::string>& list) {
    open('[');
    for (const std::string& s : list) value(s);
    return close(']');
  }
  std::string text;

 private:
  void separate() {
    if (!first_) text += ',';
    first_ = false;
  }
  JsonWriter& raw(const std::string& s) {
    separate();
    text += s;
    return *this;
  }
  bool first_ = true;
};

}  // namespace mote::fleet
