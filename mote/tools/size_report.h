#pragma once

#include "mote/tools/json_out.h"
#include "mote/tools/program_view.h"

namespace mote::tools {

// What takes the space in a program file: constants by the operator that reads them, the tables, golden data, padding.
struct SizeReport {
  struct Line {
    std::string what, detail;
    uint64_t bytes;
  };
  std::vector<Line> parts;      // of the file; they add up to its size
  std::vector<Line> constants;  // the largest first: operator and source node of the first reader
};
SizeReport size_report(const ProgramView& view);

std::string size_text(const SizeReport& report, size_t constants_shown);
Json size_json(const SizeReport& report);

}  // namespace mote::tools
