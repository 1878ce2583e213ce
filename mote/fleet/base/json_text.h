#pragma once

// Finding one's way in JSON text that was checked before; for json*.cc.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mote::fleet::json_text {

inline bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

uint32_t hex4(std::string_view text);  // of four hexadecimal digits

// The characters that a string (with its quotes) stands for.
std::string decode(std::string_view quoted);

// Where the string or value that starts at s[0] ends.
size_t string_end(std::string_view s);
size_t value_end(std::string_view s);
std::string_view skip_spaces(std::string_view s);

// Names (with their quotes) are ordered by the characters they stand for.
bool name_less(std::string_view a, std::string_view b);
// Offsets in `text` of the names of the object that starts at text[object], ordered by name. Allocates exactly that.
std::vector<uint32_t> sorted_members(std::string_view text, size_t object);
std::string_view member_name(std::string_view text, uint32_t member);

}  // namespace mote::fleet::json_text
