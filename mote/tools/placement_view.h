#pragma once

// What a program says of where its operators run: `mote inspect --placement`, `mote check`.

#include <string>
#include <vector>

namespace mote::tools {

struct PlacedOp {
  std::string op, node, backend;  // "conv", "/features/0/Conv", "opencl"
  std::vector<int> from;          // operators whose results it reads, counted over all parts; -1: an input of the program
  uint64_t result_bytes = 0;      // of its first result
};

struct PlacedPart {
  std::string backend, version, capabilities;  // version and capabilities: of backends other than the CPU
  double predicted_ms = 0;
  uint64_t bytes_in = 0, bytes_out = 0, device_bytes = 0;
  bool has_fallback = false;
  uint32_t overlap = 0;                                   // instructions that may run while the backend works
  uint32_t first_instruction = 0, instruction_count = 1;  // of the program
  std::vector<PlacedOp> ops;
};

struct PlacementView {
  std::vector<PlacedPart> parts;  // in the order they run
  std::string policy;             // as the program carries it
};

// Throws Failure. Operators inside of a blob are listed where the blob is a program, as OpenCL's are.
PlacementView view_placement(const std::string& path);
std::string placement_text(const PlacementView& view);
std::string parts_text(size_t count);  // "1 part", "2 parts"

}  // namespace mote::tools
