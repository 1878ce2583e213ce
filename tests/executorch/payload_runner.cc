// Compiles and runs payloads of the XNNPACK delegate for the scripts beside it. Each line of the standard input names a folder with
// model.xnn (payload.h) and in_0.npy, in_1.npy, ...; out_0.npy, ... are written there. Each answer is one line: "ok N" (outputs), or
// "compile TEXT" or "run TEXT", what stands in the way.

#include <algorithm>
#include <iostream>

#include "mote/compiler/driver/compile.h"
#include "mote/compiler/driver/run.h"
#include "mote/tools/files.h"
#include "mote/tools/npy.h"
#include "tests/executorch/payload.h"

namespace {

using namespace mote;

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string run_case(const std::string& folder, bool optimize) {
  std::string error;
  std::vector<uint8_t> bytes;
  if (!tools::read_whole_file(folder + "/model.xnn", &bytes, &error)) return "run " + error;
  frontends::executorch::PayloadParts parts;
  if (!frontends::executorch::read_payload_file(ir::Bytes::own(std::move(bytes)), &parts)) return "run no payload file";
  driver::CompileOptions options;
  options.golden.count = 0;
  options.write.digests = false;
  if (!optimize) options = driver::reference_options(options);
  driver::CompileResult compiled;
  ir::Problems problems;
  if (!driver::compile(frontends::executorch::source_of_payload(parts), options, &compiled, &problems)) {
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

int main(int argc, char** argv) {
  const bool optimize = argc < 2 || std::string(argv[1]) != "--no-optimize";
  for (std::string folder; std::getline(std::cin, folder);) std::cout << run_case(folder, optimize) << std::endl;
  return 0;
}
