#pragma once

// How fleet code fails: with a text that says what was expected and what was found. Callers add the file or URL in front.

#include <stdexcept>
#include <string>
#include <typeinfo>

namespace mote::fleet {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
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
