#pragma once

// The plan as text, one line for each record and step:
//   tensor 5 f32 1,56,56,64 arena 3 +128 strides 802816,14336,256,4
//   conv 0 3 _ -> 5 {strides=[2, 2, 1]} "/features/0/Conv"
// Numbers are those of the plan's lists. `_` is an absent operand; steps of a branch, loop or strip are indented between braces.
// parse(print(p)) gives the same text when bytes are printed.

#include <string>

#include "mote/compiler/schedule/plan.h"

namespace mote::schedule {

// `bytes`: constants in full; otherwise only their size and digest, and the text cannot be parsed.
std::string print(const Plan& plan, bool bytes = true);

// False with *error, which has the line. What the numbers point to is checked by verify_plan.
bool parse(const std::string& text, Plan* out, std::string* error);

}  // namespace mote::schedule
