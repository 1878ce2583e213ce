#pragma once

// What a model gives when others run it: ONNX Runtime or LiteRT in a Python child process, or Mote's own unoptimised compilation.

#include <map>
#include <string>
#include <vector>

#include "mote/compiler/driver/compile.h"

namespace mote::tools {

using driver::Array;

struct NamedArray {
  std::string name;
  Array array;
};

struct ReferenceResult {
  std::string runtime;                          // "onnxruntime 1.31.1"
  size_t output_count = 0;                      // of each sample's values: outputs first, then intermediate ones
  std::vector<std::vector<NamedArray>> values;  // for each sample
};

// Inputs of one run, in the order of the program's.
struct Sample {
  std::vector<NamedArray> inputs;
};

// Runs a model in Python ($MOTE_PYTHON or python3). `runtime`: "onnxruntime", "litert", "torch" or "executorch". With `all` the
// intermediate values come too, from the first two. False with *error; *missing tells that interpreter or package are not installed.
bool run_python(const std::string& runtime, const std::string& model, const std::vector<Sample>& samples, bool all, ReferenceResult* out,
                bool* missing, std::string* error);

// Compiles a model and runs it here: unoptimised, or as `options` say. Throws Failure when that cannot be done.
// Values of `all` have the names of the model and, as text, the node they come from in *nodes.
ReferenceResult run_mote(const frontends::Source& source, const driver::CompileOptions& options, const std::vector<Sample>& samples,
                         bool all, std::map<std::string, std::string>* nodes = nullptr);

}  // namespace mote::tools
