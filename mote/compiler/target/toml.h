#pragma once

// A part of TOML: tables [name], keys, strings, numbers, comments. Arrays, dates, nested and dotted keys are refused by name.

#include <cstdint>
#include <string>
#include <vector>

namespace mote::target {

struct TomlEntry {
  std::string table, key;  // the table is empty before the first [name]
  bool is_string = false;
  std::string string;
  double number = 0;
  int line = 0;  // from 1 on
};

// In the order of the text; each key of a table at most once, each table once. False with *error: "line 3: ...".
bool parse_toml(const std::string& text, std::vector<TomlEntry>* out, std::string* error);

// A string in quotes, with what must be escaped escaped.
std::string toml_string(const std::string& s);

}  // namespace mote::target
