// The front end of ExecuTorch programs (.pte): each execution plan becomes a method.

#include "mote/compiler/frontends/executorch/open_axes.h"

namespace mote::frontends::executorch {
namespace {

// Arguments that instructions list, for each byte of the file and beside that: a written program lists each argument once.
constexpr uint64_t kItemsOfByte = 2, kItemsAlways = 1u << 16;

// The partitioner that put a part of the model where it is, as people know it.
std::string partitioner_of(const std::string& id) {
  const std::pair<const char*, const char*> kKnown[] = {
      {"CoreMLBackend", "CoreMLPartitioner"},     {"VulkanBackend", "VulkanPartitioner"}, {"QnnBackend", "QnnPartitioner"},
      {"EthosUBackend", "EthosUPartitioner"},     {"MPSBackend", "MPSPartitioner"},       {"VgfBackend", "VgfPartitioner"},
      {"OpenvinoBackend", "OpenvinoPartitioner"}, {"CudaBackend", "CudaPartitioner"},     {"NeuropilotBackend", "NeuropilotPartitioner"},
  };
  for (const auto& [name, partitioner] : kKnown)
    if (id == name) return partitioner;
  return "the partitioner of " + id;
}

void report_delegates(const std::map<std::string, size_t>& refused, ir::Problems* problems) {
  for (const auto& [id, count] : refused)
    problems->push_back({"delegate '" + id + "'",
                         "takes " + std::to_string(count) + " instruction" + (count == 1 ? "" : "s") +
                             " of the program: that part was compiled for another runtime, and the model cannot be read back from it",
                         "export the program without " + partitioner_of(id) +
                             ": to_edge_transform_and_lower(exported).to_executorch(), or to the XNNPACK delegate"});
}

bool read_model(const Program& program, const OpenAxes& open, torch::ExportedModel* model, ir::Problems* problems, uint64_t bytes) {
  const size_t before = problems->size();
  Shared shared{program, *model, *problems, {}, bytes * kItemsOfByte + kItemsAlways, {}};
  model->format = "executorch";
  const auto* plans = program.table().execution_plan();
  for (uint32_t i = 0; i < plans->size(); ++i) {
    torch::ExportedMethod method;
    Plan(*plans->Get(i), shared, open).read(&method);
    model->methods.push_back(std::move(method));
  }
  report_delegates(shared.refused, problems);
  return problems->size() == before;
}

bool import(const Source& source, const ImportOptions& options, ir::Graph& graph, ir::Problems* problems) {
  Program program;
  if (!program.read(source, problems)) return false;
  const auto read = [&](const OpenAxes& open, torch::ExportedModel* model, ir::Problems* told) {
    return read_model(program, open, model, told, source.bytes.size);
  };
  const OpenAxes open = find_open_axes(program, options, [&](const OpenAxes& axes, ir::Graph& trial, torch::ExportedModel* model) {
    ir::Problems ignored;
    return read(axes, model, &ignored) && torch::import_exported(*model, options, trial, &ignored);
  });
  torch::ExportedModel model;
  return read(open, &model, problems) && torch::import_exported(model, options, graph, problems);
}

}  // namespace

extern const Frontend kFrontend;
const Frontend kFrontend = {"executorch", ".pte", &is_program, nullptr, &import};

}  // namespace mote::frontends::executorch
