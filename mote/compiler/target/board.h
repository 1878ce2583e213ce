#pragma once

// A microcontroller's memory, for `mote compile --target board.toml`:
//
//   format = 1
//   [board]
//   core = "cortex-m7"      # a named target: instruction set and rates
//   flash_bytes = 2097152   # for constants; 0 or absent: not checked
//   alignment = 32          # of tensors, such as a cache line; 16 unless given
//   [dtcm]                  # every other table is a bank of memory, the fastest first
//   bytes = 131072
//   section = ".dtcm"       # where the linker script puts it; may be absent
//   [sram]
//   bytes = 393216

#include <cstdint>
#include <string>
#include <vector>

namespace mote::target {

struct BoardBank {
  std::string name, section;
  uint64_t bytes = 0;
};

struct Board {
  std::string core;
  uint64_t flash_bytes = 0;
  uint32_t alignment = 16;
  std::vector<BoardBank> banks;
};

// Whether a text is meant as one: it has a table [board].
bool is_board(const std::string& text);
// False with *error: "line 3: ...".
bool board_from_text(const std::string& text, Board* out, std::string* error);

}  // namespace mote::target
