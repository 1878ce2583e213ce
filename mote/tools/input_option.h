#pragma once

// --input NAME=FILE.npy and --input NAME=VALUE, of the commands that run programs and models.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "mote/tools/npy.h"
#include "mote/tools/reference.h"
#include "mote/tools/session.h"

namespace mote::tools {

// What the help of every such command says.
constexpr char kInputHelp[] =
    "an input, NAME=FILE.npy, or NAME=VALUE for one of a single element; once for each; NAME may be left out when there is one";

// The number of the input and what stands behind its name; `find` gives the number of a name, that of `names` where there is none. Throws a
// usage Failure that lists the names.
std::pair<size_t, std::string> split_input(const std::string& text, const std::vector<std::string>& names,
                                           const std::function<size_t(const std::string&)>& find);

// A .npy file, or a number as a tensor of one element: `dims` are the input's, upper bounds where it is dynamic. Throws Failure.
NpyArray read_input(const std::string& name, const std::string& value, DType dtype, const std::vector<int64_t>& dims);

// Sets the inputs that were given, each once, and marks them.
void set_given_inputs(Session& session, uint32_t method, const std::vector<std::string>& texts, std::vector<bool>* given);

// Sets every input: as given, else from the first golden example where there is one (indices make sense there), made up otherwise.
void fill_inputs(Session& session, uint32_t method, const std::vector<std::string>& texts);

// Samples for a model: the inputs that were given, the others made up (`count` times, where there are any). Throws Failure.
std::vector<Sample> make_samples(const std::vector<std::string>& texts, int count, const driver::Signature::Method& method);

}  // namespace mote::tools
