#include "mote/fleet/base/json.h"

#include <vector>

#include "mote/fleet/base/error.h"
#include "mote/fleet/base/json_text.h"

namespace mote::fleet {

using namespace json_text;

namespace {

void append_quoted(std::string& out, std::string_view text, bool controls) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (controls && static_cast<unsigned char>(c) < 0x20) {
      constexpr char digits[] = "0123456789abcdef";
      out += "\\u00";
      out += digits[c >> 4];
      out += digits[c & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

// A string of the text as canonical JSON has it; most are written so already.
void append_string(std::string& out, std::string_view quoted) {
  if (quoted.find('\\') == std::string_view::npos) out += quoted;
  else append_quoted(out, decode(quoted), false);
}

const char* name_of(Json::Kind kind) {
  constexpr const char* names[] = {"null", "true or false", "an integer", "a string", "an array", "an object"};
  return names[static_cast<int>(kind)];
}

}  // namespace

Json::Kind Json::kind() const {
  switch (text_[0]) {
    case 'n': return Kind::kNull;
    case 't':
    case 'f': return Kind::kBool;
    case '"': return Kind::kString;
    case '[': return Kind::kArray;
    case '{': return Kind::kObject;
    default: return Kind::kInteger;
  }
}

Json Json::require(const Json& value, Kind kind) {
  if (value.kind() != kind) throw Error(std::string("expected ") + name_of(kind) + ", found " + name_of(value.kind()));
  return value;
}

bool Json::boolean() const { return require(*this, Kind::kBool).text_[0] == 't'; }

int64_t Json::integer() const {
  require(*this, Kind::kInteger);
  const bool negative = text_[0] == '-';
  uint64_t magnitude = 0;
  for (const char c : text_.substr(negative ? 1 : 0)) magnitude = magnitude * 10 + static_cast<uint64_t>(c - '0');
  return static_cast<int64_t>(negative ? 0 - magnitude : magnitude);
}

std::string Json::string(size_t most) const {
  require(*this, Kind::kString);
  // An escape of six bytes may stand for one.
  if ((text_.size() - 2) / 6 > most) throw Error("a string of more than " + std::to_string(most) + " bytes");
  std::string out = decode(text_);
  if (out.size() > most) throw Error("a string of more than " + std::to_string(most) + " bytes");
  return out;
}

std::optional<Json> Json::find(std::string_view name) const {
  require(*this, Kind::kObject);
  for (Cursor c(*this); c.next();) {
    const std::string_view raw = c.key_.substr(1, c.key_.size() - 2);
    if (raw.find('\\') == std::string_view::npos ? raw == name : decode(c.key_) == name) return c.value();
  }
  return std::nullopt;
}

Json Json::at(std::string_view name) const {
  const std::optional<Json> found = find(name);
  if (!found) throw Error("'" + std::string(name) + "' is missing");
  return *found;
}

size_t Json::size() const {
  size_t count = 0;
  for (Cursor c(*this); c.next();) ++count;
  return count;
}

Json::Cursor::Cursor(const Json& container) : object_(container.kind() == Kind::kObject) {
  if (!object_) require(container, Kind::kArray);
  rest_ = container.text_.substr(1, container.text_.size() - 2);
}

bool Json::Cursor::next() {
  rest_ = skip_spaces(rest_);
  if (rest_.empty()) return false;
  if (rest_[0] == ',') rest_ = skip_spaces(rest_.substr(1));
  if (object_) {
    const size_t end = string_end(rest_);
    key_ = rest_.substr(0, end);
    rest_ = skip_spaces(skip_spaces(rest_.substr(end)).substr(1));
  }
  const size_t end = value_end(rest_);
  value_ = rest_.substr(0, end);
  rest_ = rest_.substr(end);
  return true;
}

std::string Json::Cursor::key() const {
  if (!object_) throw Error("expected an object with names, found an array");
  return decode(key_);
}

std::string Json::canonical() const {
  std::string out;
  out.reserve(text_.size());
  append_canonical(out);
  return out;
}

void Json::append_canonical(std::string& out) const {
  const auto append_members = [&](const auto& members) {
    bool first = true;
    for (const uint32_t at : members) {
      if (!first) out += ',';
      first = false;
      const std::string_view rest = text_.substr(at);
      const size_t end = string_end(rest);
      append_string(out, rest.substr(0, end));
      out += ':';
      const std::string_view value = skip_spaces(skip_spaces(rest.substr(end)).substr(1));
      Json(value.substr(0, value_end(value))).append_canonical(out);
    }
  };
  switch (kind()) {
    case Kind::kString: append_string(out, text_); return;
    case Kind::kInteger: out += std::to_string(integer()); return;
    case Kind::kArray: {
      out += '[';
      bool first = true;
      for (Cursor c(*this); c.next();) {
        if (!first) out += ',';
        first = false;
        c.value().append_canonical(out);
      }
      out += ']';
      return;
    }
    case Kind::kObject: {
      out += '{';
      append_members(sorted_members(text_, 0));
      out += '}';
      return;
    }
    default: out += text_; return;
  }
}

std::string canonical_string(std::string_view text) {
  std::string out;
  append_quoted(out, text, false);
  return out;
}

std::string json_string(std::string_view text) {
  std::string out;
  append_quoted(out, text, true);
  return out;
}

}  // namespace mote::fleet
