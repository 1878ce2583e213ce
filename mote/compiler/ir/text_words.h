#pragma once

// The words that printing and parsing share.

#include <string>

#include "mote/compiler/ir/graph.h"

namespace mote::ir {

bool is_word(char c);  // of names after @ and $, and of operators
std::string quoted(const std::string& s);
std::string layout_name(Layout layout);  // "panel16"
bool layout_from_name(const std::string& s, Layout* out);
// One element as text that parses to the same bytes; empty when there is none (NaN with a payload).
std::string element_to_text(DType dtype, const uint8_t* element);
bool element_from_text(DType dtype, const std::string& text, uint8_t* element);
uint16_t op_from_name(const std::string& name);  // 0 when unknown

}  // namespace mote::ir
