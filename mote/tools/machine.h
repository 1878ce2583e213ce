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

// What all processors together have done since the machine started: all zero where the system does not tell.
struct ProcessorTime {
  double busy_s = 0;  // by any process, and taken away by other machines on the same hardware
  uint32_t processors = 0;
};
ProcessorTime processor_time(const std::string& root = "");

// Processors that others kept busy between two of these, while this process itself used `own_s` of time in `wall_s`.
double busy_processors(const ProcessorTime& before, const ProcessorTime& after, double own_s, double wall_s);

}  // namespace mote::tools
