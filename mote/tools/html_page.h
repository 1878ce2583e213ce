#pragma once

// Self-contained pages: style and script lie in the page, nothing is loaded. Readable on light and dark screens.

#include <cstdio>
#include <string>

namespace mote::tools::html {

// For text and attributes.
std::string escaped(const std::string& text);
// A name may break behind its separators, so that it wraps where people read it as parts.
std::string wrapping(const std::string& name);
// Classes: n a number, s a head that sorts or a cell that does not wrap, o an operator's name, w a warning, k code that does not wrap.
std::string page(const std::string& title, const std::string& body);

template <class... Numbers>
std::string format(const char* how, Numbers... numbers) {
  char s[512];
  std::snprintf(s, sizeof s, how, numbers...);
  return s;
}

}  // namespace mote::tools::html
