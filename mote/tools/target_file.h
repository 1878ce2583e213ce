#pragma once

#include <optional>
#include <string>

#include "mote/compiler/target/board.h"
#include "mote/compiler/target/target.h"
#include "mote/tools/json_out.h"

namespace mote::tools {

// A target description from a file. Throws Failure with the path, the line, what was expected and what was found.
target::Target load_target(const std::string& path);
// A microcontroller's description, where the file is one. Throws Failure likewise.
std::optional<target::Board> load_board(const std::string& path);
// Writes it whole or not at all. Throws Failure.
void save_target(const std::string& path, const target::Target& target);

Json rates_json(const target::Rates& rates);
Json target_json(const target::Target& target);
// "140.5 GFLOP/s, 561 GOP/s int8, reads L1 400 L2 120 GB/s"
std::string rates_text(const target::Rates& rates);

}  // namespace mote::tools
