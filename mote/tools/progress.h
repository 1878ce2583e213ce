#pragma once

#include <chrono>
#include <string>

namespace mote::tools {

// One line on a terminal that says how far long work is; nothing where standard error is no terminal or the work is short.
class Progress {
 public:
  Progress();
  ~Progress() { clear(); }
  void show(const std::string& stage, double fraction);
  void clear();

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  bool terminal_;
  bool shown_ = false;
};

}  // namespace mote::tools
