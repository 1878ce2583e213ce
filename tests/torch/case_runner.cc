#include "tests/torch/case_runner.h"

#include <algorithm>
#include <iostream>

#include "mote/compiler/driver/compile.h"
#include "mote/compiler/driver/run.h"
#include "mote/tools/npy.h"

namespace mote::tests {
namespace {

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string run_case(const std::string& folder, const OpenCase& open, bool optimize) {
  std::string error;
  frontends::Source source;
  if (!open(folder, &source, &error)) return "run " + one_line(error);
  driver::CompileOptions options;
  options.golden.count = 0;
  options.write.digests = false;
  if (!optimize) options = driver::reference_options(options);
  driver::CompileResult compiled;
  ir::Problems problems;
  if (!driver::compile(source, options, &compiled, &problems)) {
    std::string text = "compile";
    for (const ir::Problem& p : problems) text += " " + p.where + ": " + p.what + ";";
    return one_line(text);
  }
  driver::HostProgram program;
  std::vector<driver::Array> inputs, outputs;
  if (!program.open(compiled.file.span(), {}, {}, &error)) return "run " + one_line(error);
  inputs.resize(program.program().table().methods[0].input_count);
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!tools::read_npy(folder + "/in_" + std::to_string(i) + ".npy", &inputs[i], &error)) return "run " + one_line(error);
  if (!program.run(0, inputs, &outputs, &error)) return "run " + one_line(error);
  for (size_t i = 0; i < outputs.size(); ++i)
    if (!tools::write_npy(folder + "/out_" + std::to_string(i) + ".npy", outputs[i], &error)) return "run " + one_line(error);
  return "ok " + std::to_string(outputs.size());
}

}  // namespace

int run_cases(int argc, char** argv, const OpenCase& open) {
  const bool optimize = argc < 2 || std::string(argv[1]) != "--no-optimize";
  for (std::string folder; std::getline(std::cin, folder);) std::cout << run_case(folder, open, optimize) << std::endl;
  return 0;
}

}  // namespace mote::tests
