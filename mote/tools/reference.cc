#include "mote/tools/reference.h"

#include <cstdlib>
#include <filesystem>

#include "mote/compiler/driver/run.h"
#include "mote/format/reader.h"
#include "mote/ops/op_docs.h"
#include "mote/tools/failure.h"
#include "mote/tools/files.h"
#include "mote/tools/json_out.h"
#include "mote/tools/model_file.h"
#include "mote/tools/npy.h"
#include "mote/tools/process.h"
#include "reference_script_data.h"  // generated: reference.py

namespace mote::tools {
namespace fs = std::filesystem;
namespace {

void write_text(const std::string& path, const std::string& text) {
  std::string error;
  if (!write_whole_file(path, {text.begin(), text.end()}, &error)) throw Failure(path + ": " + error);
}

Json job_of(const std::string& runtime, const std::string& model, const std::vector<Sample>& samples, bool all, const TempFolder& folder) {
  Json list = Json::array();
  for (size_t s = 0; s < samples.size(); ++s) {
    Json inputs = Json::object();
    for (size_t i = 0; i < samples[s].inputs.size(); ++i) {
      const std::string path = folder.file("in" + std::to_string(s) + "_" + std::to_string(i) + ".npy");
      std::string error;
      if (!write_npy(path, samples[s].inputs[i].array, &error)) throw Failure(path + ": " + error);
      inputs[samples[s].inputs[i].name] = path;
    }
    list.push_back(inputs);
  }
  return {{"model", fs::absolute(model).string()}, {"runtime", runtime}, {"all", all}, {"samples", list}, {"out", folder.file("")}};
}

// The node and operator that make each output of a program.
std::map<std::string, std::string> nodes_of(const ProgramTable& t) {
  std::map<uint32_t, std::string> makers;
  for (size_t i = 0; i < t.instructions.size; ++i) {
    const Instruction& n = t.instructions[i];
    const OpDoc* doc = find_op_doc(n.op);
    const std::string source = i < t.source_names.size ? t.string(t.source_names[i]) : "";
    for (uint32_t k = 0; k < n.output_count; ++k)
      if (const int32_t tensor = t.operands[n.operands + n.input_count + k]; tensor >= 0)
        makers[static_cast<uint32_t>(tensor)] = source + (doc != nullptr ? " (" + doc->name + ")" : "");
  }
  std::map<std::string, std::string> nodes;
  const Method& m = t.methods[0];
  for (uint32_t i = 0; i < m.output_count; ++i) {
    const Io& io = t.ios[m.first_output + i];
    nodes[t.string(io.name)] = makers[io.tensor];
  }
  return nodes;
}

}  // namespace

bool run_python(const std::string& runtime, const std::string& model, const std::vector<Sample>& samples, bool all, ReferenceResult* out,
                bool* missing, std::string* error) {
  const TempFolder folder;
  const std::string script = folder.file("reference.py"), job = folder.file("job.json"), log = folder.file("log.txt");
  write_text(script, std::string(reinterpret_cast<const char*>(mote_reference_script), mote_reference_script_size));
  write_text(job, json_text(job_of(runtime, model, samples, all, folder)));
  const char* chosen = std::getenv("MOTE_PYTHON");
  const std::string python = chosen != nullptr && chosen[0] != '\0' ? chosen : "python3";
  const int code = run_child({python, script, job}, log);
  *missing = code == 127;
  if (code != 0) {
    *error = code == 127 ? "no Python interpreter: '" + python + "' (MOTE_PYTHON names another)" : last_line(read_text(log));
    *missing = *missing || error->compare(0, 8, "MISSING ") == 0 || error->find("No module named") != std::string::npos;
    return false;
  }
  const Json result = Json::parse(read_text(folder.file("result.json")), nullptr, false);
  if (result.is_discarded()) throw Failure(python + ": the reference gave no result");
  out->runtime = result["runtime"].get<std::string>();
  out->output_count = result["outputs"].size();
  const auto names = result["values"].get<std::vector<std::string>>();
  for (size_t s = 0; s < samples.size(); ++s) {
    std::vector<NamedArray> row;
    for (size_t i = 0; i < names.size(); ++i) {
      NamedArray v{names[i], {}};
      std::string ignored;  // values of types Mote does not have (text) cannot be compared
      if (read_npy(folder.file(std::to_string(s) + "_" + std::to_string(i) + ".npy"), &v.array, &ignored) || i < out->output_count)
        row.push_back(std::move(v));
    }
    out->values.push_back(std::move(row));
  }
  return true;
}

ReferenceResult run_mote(const frontends::Source& source, const driver::CompileOptions& options, const std::vector<Sample>& samples,
                         bool all, std::map<std::string, std::string>* nodes) {
  driver::CompileOptions o = options;
  o.golden.count = 0;
  o.golden.given.clear();
  ReferenceResult out;
  driver::CompileResult compiled;
  ir::Problems problems;
  o.expose_values = all;
  if (!driver::compile(source, o, &compiled, &problems)) throw Failure(problems_text(source.path, problems));
  driver::HostProgram program;
  std::string error;
  if (!program.open(compiled.file.span(), {}, {}, &error)) throw Failure(source.path + ": " + error);
  const ProgramTable& t = program.program().table();
  const Method& m = t.methods[0];
  out.runtime = "Mote without optimisation";
  out.output_count = m.output_count;
  if (nodes != nullptr) *nodes = nodes_of(t);
  for (const Sample& sample : samples) {
    std::vector<Array> inputs, outputs;
    for (const NamedArray& in : sample.inputs) inputs.push_back(in.array);
    if (!program.run(0, inputs, &outputs, &error)) throw Failure(source.path + ": " + error);
    std::vector<NamedArray> row;
    for (uint32_t i = 0; i < m.output_count; ++i) row.push_back({t.string(t.ios[m.first_output + i].name), std::move(outputs[i])});
    out.values.push_back(std::move(row));
  }
  return out;
}

}  // namespace mote::tools
