#pragma once

// The command as a user runs it: MOTE_COMMAND says where it is.

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "mote/api/testing/programs.h"
#include "mote/tools/files.h"

namespace mote::tools::cli_test {

using Json = nlohmann::json;

struct Ran {
  int exit_code = -1;
  std::string out, err;
  Json json() const {
    const Json j = Json::parse(out, nullptr, false);
    EXPECT_FALSE(j.is_discarded()) << out;
    return j;
  }
};

inline std::string read_text(const std::string& path) {
  std::vector<uint8_t> bytes;
  std::string error;
  EXPECT_TRUE(read_whole_file(path, &bytes, &error)) << error;
  return {bytes.begin(), bytes.end()};
}

inline Ran mote(const std::string& arguments) {
  const char* command = std::getenv("MOTE_COMMAND");
  if (command == nullptr) {
    ADD_FAILURE() << "MOTE_COMMAND is not set";
    return {};
  }
  const api_test::TempPath out("cli_out"), err("cli_err");
  const int status = std::system((std::string(command) + " " + arguments + " >" + out.str() + " 2>" + err.str()).c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128, read_text(out.str()), read_text(err.str())};
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace mote::tools::cli_test
