#include "mote/fleet/base/json.h"

#include <vector>

#include "mote/fleet/base/error.h"
#include "mote/fleet/base/json_text.h"

namespace mote::fleet {

using namespace json_text;

namespace {

std::string quoted_string(std::string_view text, bool controls) {
  std::string out = "\"";
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
  return out += '"';
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

std::string Json::string() const { return decode(require(*this, Kind::kString).text_); }

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

std::string Json::Cursor::key() const { return decode(key_); }

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
      out += canonical_string(decode(rest.substr(0, end)));
      out += ':';
      const std::string_view value = skip_spaces(skip_spaces(rest.substr(end)).substr(1));
      Json(value.substr(0, value_end(value))).append_canonical(out);
    }
  };
  switch (kind()) {
    case Kind::kString: out += canonical_string(string()); return;
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
      std::vector<uint32_t> members;
      for (Cursor c(*this); c.next();) members.push_back(static_cast<uint32_t>(c.key_.data() - text_.data()));
      sort_members(text_, members);
      append_members(members);
      out += '}';
      return;
    }
    default: out += text_; return;
  }
}

std::string canonical_string(std::string_view text) { return quoted_string(text, false); }
std::string json_string(std::string_view text) { return quoted_string(text, true); }

}  // namespace mote::fleet
