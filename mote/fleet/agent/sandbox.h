#pragma once

// A process that gives up everything but computing on memory it has: for reading what nobody has vouched for.

#include <cstdint>
#include <string>
#include <vector>

namespace mote::fleet::agent {

struct Limits {
  uint64_t memory_bytes = 0;  // beyond what the process has now
  uint64_t cpu_seconds = 0;
};

// From here on this process may read and write descriptors that are open, take memory that is not executable, read clocks, signal itself
// and end. Any other system call ends it (SIGSYS); capabilities and supplementary groups are gone. There is no way back. Throws Error where
// the system has no such filter. Known: x86-64, i386, aarch64, arm, riscv64.
void enter_sandbox(const Limits& limits);

// True where an address sanitizer is built in: memory is not limited then, and crashes end otherwise.
bool sanitized() noexcept;

inline constexpr int kChildInput = 3;

// Runs this program again with these words, no input but `input` (a descriptor, as kChildInput; -1: none) and this environment's variables
// gone, and waits.
struct Outcome {
  int exit_code = -1;      // where it ended by itself
  int signal = 0;          // that ended it
  bool timed_out = false;  // killed by us
  uint64_t cpu_ms = 0;     // that it computed
  std::string output;      // what it wrote, at most 64 KiB
};
Outcome run_child(const std::vector<std::string>& command, int64_t timeout_ms, int input = -1);

}  // namespace mote::fleet::agent
