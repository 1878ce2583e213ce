#include "tests/fuzz_models/compile_untrusted.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#if __has_include(<google/protobuf/stubs/logging.h>)
#include <google/protobuf/stubs/logging.h>
#endif

#include "mote/compiler/driver/compile.h"
#include "mote/compiler/driver/run.h"
#include "mote/compiler/emit/tosa/emit_tosa.h"

namespace mote::fuzz {
namespace {

// Older protobuf prints what is wrong with the bytes; the compiler says it.
#if __has_include(<google/protobuf/stubs/logging.h>)
void hush_protobuf() { google::protobuf::SetLogHandler(nullptr); }
#else
void hush_protobuf() {}
#endif

[[noreturn]] void broken(const std::string& why) {
  std::fprintf(stderr, "compile_untrusted: %s\n", why.c_str());
  std::abort();
}

}  // namespace

namespace {

// What `mote compile --emit tosa` does with the same model.
void write_as_tosa(const frontends::Source& source, const frontends::ImportOptions& import) {
  const frontends::Frontend* frontend = frontends::find_frontend(source);
  ir::Graph graph;
  ir::Problems problems;
  if (frontend == nullptr || !frontend->import(source, import, graph, &problems)) return;
  passes::PassOptions how;
  how.fuse = false;
  std::string error;
  if (!passes::PassRun(graph, how).run(passes::Phase::optimize, &error)) broken("passes: " + error);
  std::vector<uint8_t> bytes;
  if (emit::emit_tosa(graph, &bytes, &problems) != problems.empty()) broken("writing TOSA failed and nobody said why");
}

}  // namespace

CompiledModel compile_untrusted(ConstBytes model, bool run) {
  hush_protobuf();
  CompiledModel r;
  frontends::Source source;
  r.tflite = model.size >= 8 && std::memcmp(model.data + 4, "TFL3", 4) == 0;
  r.tosa = model.size >= 8 && std::memcmp(model.data + 4, "TOSA", 4) == 0;
  r.torch = model.size >= 4 && std::memcmp(model.data, "PK\3\4", 4) == 0;
  r.executorch = model.size >= 8 && std::memcmp(model.data + 4, "ET12", 4) == 0;
  source.path = r.tflite ? "fuzz.tflite" : r.torch ? "fuzz.pt2" : r.tosa ? "fuzz.tosa" : r.executorch ? "fuzz.pte" : "fuzz.onnx";
  source.bytes = ir::Bytes::copy_of(model.data, model.size);
  driver::CompileOptions options;
  options.import.max_trips = 64;
  options.suggest_sizes = false;  // one compilation for each model
  options.golden.count = run ? 1 : 0;
  options.golden.time_ms = 200;
  options.golden.memory_bytes = 16u << 20;
  options.golden.work = 10000000;
  driver::CompileResult result;
  ir::Problems problems;
  options.progress = [&](const std::string& stage, double) { r.imported |= stage == "passes"; };
  r.compiled = driver::compile(source, options, &result, &problems);
  if (!r.compiled && problems.empty()) broken("compiling failed and nobody said why");
  if (!problems.empty()) r.problem = problems[0].where + ": " + problems[0].what;
  // What a person reads as a defect of ours is one.
  for (const ir::Problem& p : problems)
    if (p.advice.find("this is a defect of Mote") != std::string::npos && p.where != "check") broken(p.where + ": " + p.what);
  if (!r.compiled) return r;
  r.file_bytes = result.file.size;
  if (!r.torch && !r.executorch) write_as_tosa(source, options.import);
  driver::RunBudget budget;
  budget.memory_bytes = 256u << 20;
  driver::HostProgram program;
  std::string error;
  if (!program.open(result.file.span(), {}, budget, &error) && error.find("the program needs") == std::string::npos)
    broken("the program is refused: " + error);
  return r;
}

}  // namespace mote::fuzz
