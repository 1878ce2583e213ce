#pragma once

// Texts that go into a program are checked when it is compiled, by the command and by the Python package: keys and values of metadata,
// labels against outputs.

#include <string>
#include <utility>
#include <vector>

#include "mote/core/span.h"

namespace mote::tools {

using Metadata = std::vector<std::pair<std::string, std::string>>;  // keys and values, as a user gave them

// Throws a usage Failure for keys below "preprocess." that nothing reads.
void check_metadata_keys(const Metadata& given);

// Over a compiled program: warnings about labels that fit no output, and preprocess.* texts of the model that make no sense. Where the
// user gave such texts, that is a Failure. `labels_from` names the user's labels; empty: there are none, or they are the model's.
std::vector<std::string> check_texts(const std::string& model, ConstBytes program, const Metadata& given, const std::string& labels_from);

}  // namespace mote::tools
