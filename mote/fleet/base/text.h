#pragma once

// Bytes as text: hexadecimal, base64, percent-encoding, dates; lists, HTTP headers. Bytes are std::string throughout fleet.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mote::fleet {

std::string to_hex(std::string_view bytes);                     // lower case
std::optional<std::string> from_hex(std::string_view text);     // either case; nothing else accepted
std::string to_base64(std::string_view bytes);                  // RFC 4648, padded
std::optional<std::string> from_base64(std::string_view text);  // padded, canonical: one text for one value
std::string percent_encode(std::string_view text);              // all but RFC 3986's unreserved characters: a safe file name
std::string escape_url_path(std::string_view path);             // only what no URL may contain; existing %XX stay

// The text as it may stand in a log, a record or JSON: valid UTF-8 of at most `most_bytes`, cut between characters. What is not UTF-8 and
// control characters (line breaks, terminal sequences) become '?'.
std::string printable(std::string_view text, size_t most_bytes = SIZE_MAX);
// The same without a limit, control characters other than NUL, which our JSON does not take, left as they are.
std::string valid_utf8(std::string_view text);

bool equal_ignoring_case(std::string_view a, std::string_view b);  // of ASCII letters
constexpr size_t kMaxChallenge = 16384;                            // bytes of a server's WWW-Authenticate headers that are kept
// Value of a line "Name: value" of an HTTP header, in any case; nothing where the name is another.
std::optional<std::string> header_value(std::string_view line, std::string_view name);

inline bool contains(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

// Texts of a container with `between` them, or `none`.
template <class List>
std::string joined(const List& list, std::string_view between = ", ", std::string_view none = "none") {
  std::string out;
  for (const std::string& item : list) out.append(out.empty() ? "" : between).append(item);
  return out.empty() ? std::string(none) : out;
}

// Seconds since 1970, UTC, and exactly "YYYY-MM-DDTHH:MM:SSZ". Empty for a date that does not exist.
std::optional<int64_t> parse_utc(std::string_view text);
std::string utc_text(int64_t seconds);

}  // namespace mote::fleet
