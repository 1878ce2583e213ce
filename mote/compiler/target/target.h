#pragma once

// A machine as cost models see it. 0: absent or unknown.

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace mote::target {

constexpr int kFormat = 1;  // of the text

enum Level : uint8_t { kL1, kL2, kL3, kMemory, kLevelCount };
const char* level_name(Level level);  // "L1", "memory"

// Bytes per ns, that is GB/s. A copy counts the bytes it reads and those it writes.
struct Bandwidth {
  double read = 0, write = 0, copy = 0;
};

// What a number of threads do together.
struct Rates {
  uint32_t threads = 1;
  double f32_gflops = 0;  // a multiply-add is two operations
  double int8_gops = 0;   // as the integer kernels multiply
  std::array<Bandwidth, kLevelCount> bandwidth;
};

// What `mote measure --backend` found out about a backend's device, or about the CPU seen the same way ("cpu").
struct BackendRates {
  std::string backend, device;
  double units = 0;                                     // that compute at once
  double transfer_gbps = 0;                             // between host and device
  double sync_ns = 0;                                   // of handing over to the device and back
  std::vector<std::pair<std::string, double>> work_ns;  // of one unit of each kind of work, by the backend's names
};

struct Target {
  std::string cpu, architecture;
  std::string kernels;  // the instruction set that was measured
  uint32_t cores = 0;
  std::array<uint64_t, kMemory> cache_bytes{};  // L1 data, L2, L3
  std::string cache_source;                     // "system", "measured", "named" or "unknown"
  Rates one, all;                               // one thread, and Rates::threads of them
  double call_ns = 0;                           // an operator with next to nothing to do
  double handoff_awake_us = 0;                  // until every thread of a pool has work, while they wait for it
  double handoff_asleep_us = 0;                 // the same while they sleep
  std::vector<BackendRates> backends;
};
// Null when it was not measured.
const BackendRates* find_backend(const Target& target, const std::string& name);

// Memory is scarce, programs lie in flash, there is one core: Arm's M profile.
bool is_microcontroller(const Target& target);

// What `threads` do together: between one and all linearly, beyond all the same.
Rates rates_of(const Target& target, uint32_t threads);

// What a level holds for `threads`, each with an L1 and an L2 of its own. Memory holds everything.
uint64_t capacity_bytes(const Target& target, Level level, uint32_t threads);
// The nearest level that holds so many bytes.
Level level_of(const Target& target, uint64_t bytes, uint32_t threads);

// How bytes that are used over and over spread over the levels, the nearest filled first: parts of 1, all 0 for no bytes.
std::array<double, kLevelCount> spread(const Target& target, uint64_t bytes, uint32_t threads);
// Of a level, or of the nearest one that was measured: further away, else before it.
const Bandwidth& bandwidth_of(const Rates& rates, size_t level);

// Descriptions that come with Mote: "generic" is what programs are compiled for unless a target is given. Null for other names.
const Target* named(const std::string& name);
std::string names();  // "generic, ...", for messages

// Deterministic; from_text() reads it. False with *error: "line 3: ...".
std::string to_text(const Target& target);
bool from_text(const std::string& text, Target* out, std::string* error);

}  // namespace mote::target
