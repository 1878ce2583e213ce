#pragma once

// How fleet code fails: with a text that says what was expected and what was found. Callers add the file or URL in front.

#include <stdexcept>
#include <string>
#include <typeinfo>

#include "mote/fleet/base/text.h"

namespace mote::fleet {

// One line of UTF-8 without control characters, whatever a server, a file or a model put in: it ends in logs, terminals and records, often
// before any signature was checked.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& text) : std::runtime_error(printable(text)) {}
};

// What the system refused: `code` is errno.
class IoError : public Error {
 public:
  IoError(const std::string& text, int error_code) : Error(text), code(error_code) {}
  int code;
};

// Runs `work`; an Error that leaves it says `where` first.
template <class Work>
auto within(const std::string& where, Work&& work) {
  try {
    return work();
  } catch (const Error& e) {
    if (typeid(e) != typeid(Error)) throw;  // those name their path or URL themselves
    throw Error(where + ": " + e.what());
  }
}

}  // namespace mote::fleet
