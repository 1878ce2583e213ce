#pragma once

// Parts of a program with what they were predicted to take and what they take.

#include "mote/tools/json_out.h"
#include "mote/tools/placement_view.h"
#include "mote/tools/profile_record.h"

namespace mote::tools {

struct MeasuredPart {
  std::string backend;
  size_t operators = 0;
  uint64_t bytes_in = 0, bytes_out = 0;
  double predicted_us = 0, measured_us = 0;  // of one run
};

// Empty for programs that were not placed.
std::vector<MeasuredPart> measured_parts(const std::string& path, const std::vector<OpRecord>& ops);
std::string parts_text(const std::vector<MeasuredPart>& parts);
Json parts_json(const std::vector<MeasuredPart>& parts);

}  // namespace mote::tools
