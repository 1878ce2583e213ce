#include "mote/fleet/base/text.h"

#include <algorithm>
#include <cstdio>

namespace mote::fleet {
namespace {

constexpr char kBase64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

int base64_value(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

bool is_alphanumeric(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

void append_percent(std::string& out, char c) {
  constexpr char digits[] = "0123456789ABCDEF";
  const auto byte = static_cast<unsigned char>(c);
  out += '%';
  out += digits[byte >> 4];
  out += digits[byte & 15];
}

size_t utf8_bytes(uint32_t code) { return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4; }

// The character that the text starts with; 0 where that is not UTF-8 (shortest form, no surrogates), or NUL.
uint32_t utf8_at(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const uint32_t first = byte(0);
  if (first < 0x80) return first;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return 0;
  uint32_t code = first & (0xffu >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 63);
  }
  const bool fits = utf8_bytes(code) == length && code <= 0x10ffff && (code < 0xd800 || code >= 0xe000);
  return fits ? code : 0;
}

// Days since 1970-01-01 of a date of the Gregorian calendar, and back (years are counted from March).
int64_t days_from_date(int64_t year, int month, int day) {
  year -= month <= 2;
  const int64_t era = (year >= 0 ? year : year - 399) / 400;
  const int64_t of_era = year - era * 400;
  const int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

void date_from_days(int64_t days, int64_t* year, int* month, int* day) {
  days += 719468;
  const int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  const int64_t of_era = days - era * 146097;
  const int64_t y = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  const int64_t of_year = of_era - (365 * y + y / 4 - y / 100);
  const int64_t m = (5 * of_year + 2) / 153;
  *day = static_cast<int>(of_year - (153 * m + 2) / 5 + 1);
  *month = static_cast<int>(m < 10 ? m + 3 : m - 9);
  *year = y + era * 400 + (*month <= 2);
}

}  // namespace

std::string to_hex(std::string_view bytes) {
  constexpr char digits[] = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += digits[byte >> 4];
    out += digits[byte & 15];
  }
  return out;
}

std::optional<std::string> from_hex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::string out;
  out.reserve(text.size() / 2);
  for (size_t i = 0; i < text.size(); i += 2) {
    const int high = hex_value(text[i]), low = hex_value(text[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
  }
  return out;
}

std::string to_base64(std::string_view bytes) {
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0);
    for (size_t k = 0; k < 4; ++k) out += i + k <= bytes.size() ? kBase64[group >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  size_t padding = 0;
  while (padding < 2 && !text.empty() && text.back() == '=') {
    text.remove_suffix(1);
    ++padding;
  }
  std::string out;
  uint32_t group = 0;
  size_t bits = 0;
  for (const char c : text) {
    const int value = base64_value(c);
    if (value < 0) return std::nullopt;
    group = (group << 6 | static_cast<uint32_t>(value)) & 0xffffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      out += static_cast<char>(group >> bits & 255);
    }
  }
  if (bits >= 6 || (group & ((1u << bits) - 1)) != 0) return std::nullopt;
  return out;
}

std::string percent_encode(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (is_alphanumeric(c) || c == '-' || c == '.' || c == '_' || c == '~') out += c;
    else append_percent(out, c);
  }
  return out;
}

std::string escape_url_path(std::string_view path) {
  std::string out;
  for (const char c : path) {
    const bool allowed = is_alphanumeric(c) || std::string_view("-._~:/?#[]@!$&'()*+,;=%").find(c) != std::string_view::npos;
    if (allowed) out += c;
    else append_percent(out, c);
  }
  return out;
}

std::string printable(std::string_view text, size_t most_bytes) {
  std::string out;
  while (!text.empty()) {
    const uint32_t c = utf8_at(text);
    // C1 controls are two bytes long; U+2028 and U+2029 break lines.
    const bool plain = c >= 0x20 && c != 0x7f && !(c >= 0x80 && c < 0xa0) && c != 0x2028 && c != 0x2029;
    const size_t bytes = c == 0 ? 1 : utf8_bytes(c), wanted = plain ? bytes : 1;
    if (out.size() + wanted > most_bytes) break;
    if (plain) out += text.substr(0, bytes);
    else out += '?';
    text.remove_prefix(bytes);
  }
  return out;
}

std::string valid_utf8(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const uint32_t c = utf8_at(text);
    const size_t bytes = c == 0 ? 1 : utf8_bytes(c);
    if (c != 0) out += text.substr(0, bytes);
    else out += '?';
    text.remove_prefix(bytes);
  }
  return out;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [&](char x, char y) { return lower(x) == lower(y); });
}

std::optional<std::string> header_value(std::string_view line, std::string_view name) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || !equal_ignoring_case(line.substr(0, colon), name)) return std::nullopt;
  line.remove_prefix(colon + 1);
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return std::string(line.substr(0, line.find_last_not_of(" \t\r\n") + 1));
}

std::optional<int64_t> parse_utc(std::string_view text) {
  constexpr std::string_view form = "dddd-dd-ddTdd:dd:ddZ";
  if (text.size() != form.size()) return std::nullopt;
  int field[6] = {}, at = 0;
  for (size_t i = 0; i < form.size(); ++i) {
    if (form[i] == 'd') {
      if (text[i] < '0' || text[i] > '9') return std::nullopt;
      field[at] = field[at] * 10 + (text[i] - '0');
    } else {
      if (text[i] != form[i]) return std::nullopt;
      ++at;
    }
  }
  const auto [year, month, day, hour, minute, second] = field;
  if (year < 1 || month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 59) return std::nullopt;
  const int64_t days = days_from_date(year, month, day);
  int64_t same_year;
  int same_month, same_day;
  date_from_days(days, &same_year, &same_month, &same_day);
  if (same_month != month || same_day != day) return std::nullopt;
  return ((days * 24 + hour) * 60 + minute) * 60 + second;
}

std::string utc_text(int64_t seconds) {
  const int64_t days = (seconds >= 0 ? seconds : seconds - 86399) / 86400, rest = seconds - days * 86400;
  int64_t year;
  int month, day;
  date_from_days(days, &year, &month, &day);
  char text[64];
  std::snprintf(text, sizeof text, "%04lld-%02d-%02dT%02d:%02d:%02dZ", static_cast<long long>(year), month, day,
                static_cast<int>(rest / 3600), static_cast<int>(rest / 60 % 60), static_cast<int>(rest % 60));
  return text;
}

}  // namespace mote::fleet
