#pragma once

// From plan to program: steps become instructions, places become offsets, constants one segment.

#include <string>

#include "mote/compiler/program/records.h"
#include "mote/compiler/schedule/plan.h"

namespace mote::assemble {

struct LowerOptions {
  bool external_constants = false;  // the constants' segment is in a second file: its bytes are records.segments[0].bytes
  bool source_names = true;         // keep the source model's names of instructions
  bool op_names = true;             // keep symbolic names of built-in operators (those of custom ones are always kept)
};

// Segment 0 holds the constants, equal ones once, in the order of their first use. False with *error for a plan that cannot be written.
bool lower(const schedule::Plan& plan, const LowerOptions& options, program::ProgramRecords* out, std::string* error);

}  // namespace mote::assemble
