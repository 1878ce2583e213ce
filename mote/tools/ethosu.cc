#include "mote/tools/ethosu.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "mote/compiler/emit/builder.h"
#include "mote/compiler/frontends/tflite/model.h"
#include "mote/tools/failure.h"
#include "mote/tools/files.h"
#include "mote/tools/model_file.h"
#include "mote/tools/process.h"

namespace mote::tools {
namespace {

namespace tf = frontends::tflite;
using emit::TensorId;

const std::set<std::string>& accelerators() {
  static const std::set<std::string> all = {"ethos-u55-32",  "ethos-u55-64",  "ethos-u55-128",
                                            "ethos-u55-256", "ethos-u65-256", "ethos-u65-512"};
  return all;
}

std::string accelerator_of(const std::string& target) { return target == "ethos-u55" ? "ethos-u55-128" : target; }

// The summary Vela writes beside its model: names in the first line, values in the second.
std::map<std::string, std::string> read_summary(const std::filesystem::path& folder) {
  std::map<std::string, std::string> values;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".csv") continue;
    std::string all = read_text(entry.path().string());
    all.erase(std::remove(all.begin(), all.end(), '\r'), all.end());
    std::istringstream text(all);
    std::string names, numbers, name, number;
    std::getline(text, names);
    std::getline(text, numbers);
    std::istringstream n(names), v(numbers);
    while (std::getline(n, name, ',') && std::getline(v, number, ',')) values[name] = number;
  }
  return values;
}

double number_in(const std::map<std::string, std::string>& values, const std::string& key) {
  const auto found = values.find(key);
  return found == values.end() ? 0 : std::strtod(found->second.c_str(), nullptr);
}

void put_u32(uint64_t v, std::vector<uint8_t>* out) {
  if (v > 0xffffffffu) throw Failure("the Ethos-U's program is larger than 4 GiB");
  for (int i = 0; i < 4; ++i) out->push_back(static_cast<uint8_t>(v >> 8 * i));
}
void put_aligned(const ir::Bytes& bytes, std::vector<uint8_t>* out) {
  out->resize((out->size() + 15) / 16 * 16);
  out->insert(out->end(), bytes.data, bytes.data + bytes.size);
}

// Vela compiles for the sizes in the file, open ones too.
const ir::Dims& dims_of(const tf::Tensor& t) { return t.default_dims.size() == t.dims.size() ? t.default_dims : t.dims; }

uint64_t bytes_of(const tf::Tensor& t) {
  uint64_t bytes = dtype_bits(t.dtype) / 8;
  for (const int32_t d : dims_of(t)) bytes *= static_cast<uint64_t>(d < 0 ? 0 : d);
  return bytes;
}

// What Vela leaves of a model whose operators all run on the Ethos-U: one operator, with the command stream, weights and scratch first.
const tf::Operator& only_operator(const tf::SubGraph& g) {
  std::string others;
  const tf::Operator* npu = nullptr;
  for (const tf::Operator& op : g.operators) {
    const bool custom = op.code == tf::fb::BuiltinOperator::CUSTOM;
    if (custom && op.custom_code == "ethos-u" && npu == nullptr) npu = &op;
    else others += (others.empty() ? "" : ", ") + (custom ? std::string(op.custom_code) : tf::fb::EnumNameBuiltinOperator(op.code));
  }
  if (npu == nullptr) throw Failure("Vela placed no operator on the Ethos-U: it takes int8 and int16 models; compile for a CPU instead");
  if (!others.empty())
    throw Failure("operators that Vela leaves on the CPU: " + others.substr(0, 300) +
                  ". Programs for an Ethos-U and a CPU together are not made; compile this model for cortex-m55");
  return *npu;
}

class NpuProgram {
 public:
  NpuProgram(const tf::SubGraph& graph, EthosUResult* out) : g_(graph), op_(only_operator(graph)), out_(*out) {}

  void write() {
    if (op_.inputs() < 5) throw Failure("Vela's operator has " + std::to_string(op_.inputs()) + " inputs, expected at least 5");
    const tf::Tensor &commands = input(0), &weights = input(1), &scratch = input(2);
    if (!commands.is_constant()) throw Failure("Vela's operator has no command stream");
    std::vector<uint8_t> blob = {'M', 'E', 'U', '1'};
    put_u32(commands.data.size, &blob);
    put_u32(weights.is_constant() ? weights.data.size : 0, &blob);
    put_u32(bytes_of(scratch), &blob);
    put_aligned(commands.data, &blob);
    if (weights.is_constant()) put_aligned(weights.data, &blob);
    out_.blob_bytes = blob.size();
    emit::ProgramBuilder b;
    b.begin_method("main");
    std::map<int, TensorId> made;
    for (const int i : g_.inputs) made[i] = b.input(name_of(i), tensor(i).dtype, dims_of(tensor(i)));
    std::vector<TensorId> inputs, outputs;
    for (uint32_t i = 4; i < op_.inputs(); ++i) {
      const auto found = made.find(op_.table->inputs()->Get(i));
      if (found == made.end()) throw Failure("Vela's operator reads a tensor that is no input of the model");
      inputs.push_back(found->second);
    }
    for (uint32_t i = 0; i < op_.outputs(); ++i) {
      const int t = op_.table->outputs()->Get(i);
      if (t < 0 || static_cast<size_t>(t) >= g_.tensors.size()) throw Failure("Vela's operator writes a tensor that does not exist");
      outputs.push_back(made[t] = b.temp(tensor(t).dtype, dims_of(tensor(t))));
    }
    const uint32_t backend = b.backend("ethos-u", "vela " + out_.version + ", not executed", out_.accelerator, blob);
    b.records().backends[backend].device_bytes = bytes_of(scratch);
    b.delegate(backend, 0, inputs, outputs);
    b.records().placements.back().predicted_ns = static_cast<float>(out_.predicted_ns);
    for (const int i : g_.outputs) {
      const auto found = made.find(i);
      if (found == made.end()) throw Failure("an output of the model is not made by Vela's operator");
      b.output(name_of(i), found->second);
    }
    for (const auto& [t, id] : made)
      if (tensor(t).is_quantized()) b.quantization(id, tensor(t).scale(), tensor(t).zero());
    b.evidence("target", out_.accelerator);
    b.evidence("vela", out_.version + ": " + std::to_string(static_cast<uint64_t>(out_.cycles)) + " cycles, " +
                           std::to_string(out_.sram_bytes) + " B of SRAM, " + std::to_string(out_.flash_bytes) +
                           " B of flash (estimates; not executed)");
    std::string error;
    if (!b.finish(&out_.file, &error)) throw Failure("the program for the Ethos-U cannot be written: " + error);
  }

 private:
  const tf::Tensor& tensor(int i) const { return g_.tensors[static_cast<size_t>(i)]; }
  const tf::Tensor& input(uint32_t i) const {
    const int t = op_.table->inputs()->Get(i);
    if (t < 0 || static_cast<size_t>(t) >= g_.tensors.size()) throw Failure("Vela's operator reads a tensor that does not exist");
    return tensor(t);
  }
  std::string name_of(int i) const { return std::string(tensor(i).name); }

  const tf::SubGraph& g_;
  const tf::Operator& op_;
  EthosUResult& out_;
};

std::string version_of(const std::string& command, const TempFolder& folder) {
  const std::string log = folder.file("version.txt");
  return run_child({command, "--version"}, log) == 0 ? last_line(read_text(log)) : "";
}

}  // namespace

bool is_ethosu(const std::string& target) { return target.compare(0, 7, "ethos-u") == 0; }

EthosUResult compile_ethosu(const frontends::Source& source, const std::string& target, const std::string& vela) {
  EthosUResult result;
  result.accelerator = accelerator_of(target);
  if (accelerators().count(result.accelerator) == 0) {
    std::string list;
    for (const std::string& a : accelerators()) list += (list.empty() ? "" : ", ") + a;
    throw usage("--target: expected ethos-u55 or " + list + ", found '" + target + "'");
  }
  if (!tf::is_model(source)) throw Failure(source.path + ": --target " + target + " takes TFLite models (int8, int16), which Vela reads");
  const TempFolder folder;
  const std::string command = vela.empty() ? "vela" : vela, out = folder.file("out"), log = folder.file("vela.txt");
  result.version = version_of(command, folder);
  if (result.version.empty())
    throw Failure("--target " + target + " needs Arm's Vela, and '" + command +
                  "' does not run: pip install ethos-u-vela, then have it on PATH or name it with --vela");
  if (run_child({command, source.path, "--accelerator-config", result.accelerator, "--output-dir", out}, log) != 0)
    throw Failure("vela: " + last_line(read_text(log)));
  const std::string name = std::filesystem::path(source.path).stem().string() + "_vela.tflite";
  const std::string made = (std::filesystem::path(out) / name).string();
  if (!std::filesystem::exists(made)) throw Failure("vela wrote no " + name + ": " + last_line(read_text(log)));
  const std::map<std::string, std::string> summary = read_summary(out);
  result.cycles = number_in(summary, "cycles_total");
  result.predicted_ns = number_in(summary, "inference_time") * 1e9;
  result.sram_bytes = static_cast<uint64_t>(number_in(summary, "sram_memory_used") * 1024);
  result.flash_bytes =
      static_cast<uint64_t>((number_in(summary, "off_chip_flash_memory_used") + number_in(summary, "on_chip_flash_memory_used")) * 1024);
  const frontends::Source compiled = open_model(made);
  tf::Model model;
  ir::Problems problems;
  if (!tf::read_model(compiled, &model, &problems) || model.subgraphs.empty())
    throw Failure("Vela's model cannot be read" + (problems.empty() ? std::string() : ": " + problems[0].what));
  NpuProgram(model.subgraphs[0], &result).write();
  return result;
}

}  // namespace mote::tools
