#pragma once

// How commands end early. main() prints the text after "mote: " and exits with the code.

#include <stdexcept>
#include <string>

#include "mote/api/mote.hpp"

namespace mote::tools {

enum ExitCode { kSuccess = 0, kFailed = 1, kUsage = 2 };

// The work failed, or the command line makes no sense. `status` tells machines why, where the library said it.
class Failure : public std::runtime_error {
 public:
  explicit Failure(const std::string& text, mote_status status = 0, ExitCode exit = kFailed)
      : std::runtime_error(text), status_(status), exit_(exit) {}
  mote_status status() const { return status_; }
  ExitCode exit_code() const { return exit_; }

 private:
  mote_status status_;
  ExitCode exit_;
};

inline Failure usage(const std::string& text) { return Failure(text, 0, kUsage); }
inline Failure failure(const std::string& file, const Error& error) { return Failure(file + ": " + error.message, error.status); }

}  // namespace mote::tools
