#include "mote/tools/session.h"

#include <cstdlib>

#include "mote/tools/nearest.h"
#include "mote/tools/program_view.h"
#include "mote/tools/progress.h"
#include "mote/tools/values.h"

namespace mote::tools {
namespace {

bool shape_fits(const TensorSpec& spec, const NpyArray& array) {
  if (static_cast<DType>(spec.dtype) != array.dtype || array.dims.size() != spec.dims.size()) return false;
  for (size_t i = 0; i < spec.dims.size(); ++i) {
    const bool dynamic = (spec.dynamic >> i & 1) != 0;
    if (dynamic ? array.dims[i] > spec.dims[i] : array.dims[i] != spec.dims[i]) return false;
  }
  return true;
}

// What --backend names must be there; the names are listed where it is not.
void check_names(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (name == "cpu" || find_known_backend(name) != nullptr) continue;
    std::vector<std::string> known;
    for (const KnownBackend& k : known_backends()) known.push_back(k.device->name);
    known.push_back("cpu");
    throw usage("--backend: expected one of " + listed(known) + ", found '" + name + "'" + did_you_mean(name, known));
  }
}

// A backend that is allowed and has nothing to do would lend its name to the CPU's figures.
void note_unused(const std::string& path, const std::vector<std::string>& backends) {
  const ProgramView view(path);
  for (const std::string& name : backends) {
    bool used = name == "cpu";
    for (const BackendRecord& b : view.table().backends) used |= name == view.table().string(b.name);
    if (!used)
      Progress::say("mote: note: " + path + ": no part of the program was compiled for '" + name + "' (mote compile --backends " + name +
                    ",cpu): the CPU runs it all");
  }
}

}  // namespace

Session::Session(const std::string& path, const OpenSettings& settings, RegistryHandle registry)
    : path_(path), kernels_(settings.kernels), threads_(settings.threads), memory_limit_(settings.memory_limit) {
  mote_open_options o{};
  o.struct_size = sizeof o;
  if (settings.verify_digests) o.flags |= MOTE_OPEN_VERIFY_DIGESTS;
  if (!settings.weights.empty()) o.weights_path = settings.weights.c_str();
  if (registry == nullptr) check_names(settings.backends);
  registry_ = registry != nullptr ? std::move(registry) : backend_registry();
  o.registry = registry_.get();
  o.memory_limit_bytes = memory_limit_;
  if (memory_limit_ != 0) (void)setenv("MOTE_BACKEND_MEMORY", std::to_string(memory_limit_).c_str(), 0);
  std::vector<const char*> names;
  for (const std::string& b : settings.backends) names.push_back(b.c_str());
  if (!names.empty()) o.backends = names.data();
  o.backend_count = static_cast<uint32_t>(names.size());
  mote_program* program = nullptr;
  check(mote_program_open_file(path.c_str(), &o, &program, error_.get()), error_.get());
  program_.reset(program);
  if (!settings.backends.empty()) note_unused(path, settings.backends);
}

void Session::check(mote_status status, const mote_error* error) const {
  if (status != 0) throw failure(path_, make_error(status, error));
}

uint32_t Session::method(const std::string& name) const {
  const uint32_t count = mote_program_method_count(program());
  if (count == 0) throw Failure(path_ + ": the program has no method");
  if (name.empty()) return 0;
  uint32_t found = 0;
  if (mote_program_find_method(program(), name.c_str(), &found) == 0) return found;
  std::vector<std::string> names;
  for (uint32_t i = 0; i < count; ++i) names.push_back(mote_program_method_name(program(), i));
  throw Failure(path_ + ": no such method: expected one of " + listed(names) + ", found '" + name + "'" + did_you_mean(name, names));
}

std::vector<TensorSpec> Session::specs(uint32_t method, bool output) const {
  std::vector<TensorSpec> all;
  const uint32_t count = output ? mote_program_output_count(program(), method) : mote_program_input_count(program(), method);
  for (uint32_t i = 0; i < count; ++i) {
    mote_tensor_info t{};
    t.struct_size = sizeof t;
    check(output ? mote_program_output_info(program(), method, i, &t) : mote_program_input_info(program(), method, i, &t), nullptr);
    all.push_back({t.name, t.dtype, {t.dims, t.dims + t.rank}, t.dynamic, t.bytes, t.quantized != 0, t.scale, t.zero_point});
  }
  return all;
}

void Session::create_instance(mote_trace_fn trace, void* trace_context) {
  mote_instance_options o{};
  o.struct_size = sizeof o;
  o.trace = trace;
  o.threads = threads_;
  if (!kernels_.empty()) o.kernels = kernels_.c_str();
  const uint64_t used = mote_program_allocated_bytes(program());
  if (memory_limit_ != 0) o.memory_limit_bytes = memory_limit_ > used ? memory_limit_ - used : 1;
  o.trace_context = trace_context;
  mote_instance* instance = nullptr;
  check(mote_instance_create(program(), &o, &instance, error_.get()), error_.get());
  instance_.reset(instance);
  if (const uint32_t parts = mote_instance_degraded(instance, error_.get()))
    Progress::say("mote: degraded: " + std::to_string(parts) +
                  " of the program's parts run on the CPU instead: " + mote_error_message(error_.get()));
}

void Session::own_io(uint32_t method) { check(mote_instance_own_io(instance(), method, error_.get()), error_.get()); }

void Session::set_input(uint32_t method, uint32_t index, const NpyArray& array) {
  const TensorSpec spec = specs(method, false)[index];
  if (!shape_fits(spec, array))
    throw Failure(path_ + ": input '" + spec.name + "' does not fit: expected " + type_text(spec) + ", found " +
                  type_text(array.dtype, array.dims));
  set_input(method, index, std::vector<int32_t>(array.dims.begin(), array.dims.end()), array.data.data(), array.data.size());
}

void Session::set_input(uint32_t method, uint32_t index, const std::vector<int32_t>& dims, const void* data, uint64_t bytes) {
  check(mote_instance_set_input_dims(instance(), method, index, dims.data(), static_cast<uint32_t>(dims.size()), error_.get()),
        error_.get());
  check(mote_instance_set_input(instance(), method, index, data, bytes, error_.get()), error_.get());
}

NpyArray Session::output(uint32_t method, uint32_t index) const {
  int32_t dims[MOTE_MAX_RANK];
  uint32_t rank = 0;
  check(mote_instance_output_dims(instance(), method, index, dims, &rank), nullptr);
  const TensorSpec spec = specs(method, true)[index];
  NpyArray array;
  array.dtype = static_cast<DType>(spec.dtype);
  array.dims.assign(dims, dims + rank);
  array.data.resize(spec.bytes);
  uint64_t bytes = 0;
  check(mote_instance_get_output(instance(), method, index, array.data.data(), array.data.size(), &bytes, error_.get()), error_.get());
  array.data.resize(bytes);
  return array;
}

void Session::run(uint32_t method) { check(mote_instance_run(instance(), method, nullptr, error_.get()), error_.get()); }
void Session::reset_state() { check(mote_instance_reset_state(instance()), nullptr); }

}  // namespace mote::tools
