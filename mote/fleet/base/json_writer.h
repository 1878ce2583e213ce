#pragma once

// Writes JSON: members must be given in the order of their names. Whatever bytes a value has, the text can be read again: control
// characters are escaped, and what is not UTF-8 becomes '?'. Only what a digest is made over wants canonical texts, where control
// characters stand raw.

#include <string>
#include <string_view>
#include <vector>

#include "mote/fleet/base/json.h"
#include "mote/fleet/base/text.h"

namespace mote::fleet {

class JsonWriter {
 public:
  enum class Strings { kReadable, kCanonical };
  explicit JsonWriter(Strings strings = Strings::kReadable) : strings_(strings) {}

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
  JsonWriter& value(std::string_view s) { return raw(strings_ == Strings::kCanonical ? canonical_string(s) : json_string(valid_utf8(s))); }
  JsonWriter& value(const std::string& s) { return value(std::string_view(s)); }
  JsonWriter& value(const char* s) { return value(std::string_view(s)); }
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
  const Strings strings_;
  bool first_ = true;
};

}  // namespace mote::fleet
