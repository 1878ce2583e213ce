#include "mote/fleet/base/json_text.h"

#include <algorithm>

namespace mote::fleet::json_text {

uint32_t hex4(std::string_view text) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) {
    const char c = text[i];
    value = value * 16 + static_cast<uint32_t>(is_digit(c) ? c - '0' : (c | 32) - 'a' + 10);
  }
  return value;
}

namespace {

void append_utf8(std::string& out, uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
    return;
  }
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  constexpr uint32_t lead[] = {0, 0xc0, 0xe0, 0xf0};
  out += static_cast<char>(lead[more] | code >> (6 * more));
  for (int i = more - 1; i >= 0; --i) out += static_cast<char>(0x80 | (code >> (6 * i) & 63));
}

}  // namespace

std::string decode(std::string_view quoted) {
  const std::string_view s = quoted.substr(1, quoted.size() - 2);
  std::string out;
  out.reserve(s.size());
  for (size_t i = 0; i < s.size(); ++i) {
    if (s[i] != '\\') {
      out += s[i];
      continue;
    }
    constexpr std::string_view names = "\"\\/bfnrt", values = "\"\\/\b\f\n\r\t";
    const size_t at = names.find(s[++i]);
    if (at != std::string_view::npos) {
      out += values[at];
      continue;
    }
    uint32_t code = hex4(s.substr(i + 1));
    i += 4;
    if (code >= 0xd800 && code < 0xdc00) {
      code = 0x10000 + ((code - 0xd800) << 10) + (hex4(s.substr(i + 3)) - 0xdc00);
      i += 6;
    }
    append_utf8(out, code);
  }
  return out;
}

size_t string_end(std::string_view s) {
  size_t i = 1;
  while (s[i] != '"') i += s[i] == '\\' ? 2 : 1;
  return i + 1;
}

size_t value_end(std::string_view s) {
  if (s[0] == '"') return string_end(s);
  size_t i = 0;
  if (s[0] != '{' && s[0] != '[') {
    while (i < s.size() && s[i] != ',' && s[i] != ']' && s[i] != '}' && !is_space(s[i])) ++i;
    return i;
  }
  int depth = 0;
  do {
    if (s[i] == '"') {
      i += string_end(s.substr(i));
      continue;
    }
    if (s[i] == '{' || s[i] == '[') ++depth;
    if (s[i] == '}' || s[i] == ']') --depth;
    ++i;
  } while (depth > 0);
  return i;
}

std::string_view skip_spaces(std::string_view s) {
  size_t i = 0;
  while (i < s.size() && is_space(s[i])) ++i;
  return s.substr(i);
}

std::string_view member_name(std::string_view text, uint32_t member) {
  const std::string_view rest = text.substr(member);
  return rest.substr(0, string_end(rest));
}

// The usual case needs no decoding.
bool name_less(std::string_view a, std::string_view b) {
  const auto plain = [](std::string_view s) { return s.find('\\') == std::string_view::npos; };
  if (plain(a) && plain(b)) return a.substr(1, a.size() - 2) < b.substr(1, b.size() - 2);
  return decode(a) < decode(b);
}

std::vector<uint32_t> sorted_members(std::string_view text, size_t object) {
  // Twice through the object: counted, then kept, so that no growing vector is larger than the text.
  const auto for_each = [&](const auto& use) {
    std::string_view rest = skip_spaces(text.substr(object + 1));
    while (rest[0] != '}') {
      if (rest[0] == ',') rest = skip_spaces(rest.substr(1));
      use(static_cast<uint32_t>(rest.data() - text.data()));
      rest = skip_spaces(skip_spaces(rest.substr(string_end(rest))).substr(1));
      rest = skip_spaces(rest.substr(value_end(rest)));
    }
  };
  size_t count = 0;
  for_each([&](uint32_t) { ++count; });
  std::vector<uint32_t> members;
  members.reserve(count);
  for_each([&](uint32_t at) { members.push_back(at); });
  std::sort(members.begin(), members.end(), [&](uint32_t a, uint32_t b) { return name_less(member_name(text, a), member_name(text, b)); });
  return members;
}

}  // namespace mote::fleet::json_text
