#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace mote::tools {

// A folder that goes away with its contents. Throws Failure when it cannot be made.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// The exit code of a program found on PATH; 127 when there is none. Its texts go to `log`.
int run_child(const std::vector<std::string>& words, const std::string& log);

// Empty when there is no such file.
std::string read_text(const std::string& path);
std::string last_line(std::string text);

}  // namespace mote::tools
