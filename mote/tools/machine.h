#pragma once

// What the system tells about the machine, without measuring. Empty or 0 where it tells nothing.

#include <array>
#include <cstdint>
#include <string>

namespace mote::tools {

struct Machine {
  std::string cpu, architecture;
  uint32_t cores = 1;                     // this process may use
  std::array<uint64_t, 3> cache_bytes{};  // L1 data, L2, L3
  uint64_t available_bytes = 0;           // of memory
};

// `root` stands for "/": tests have files of their own.
Machine describe_machine(const std::string& root = "");

}  // namespace mote::tools
