// What mote.hpp asks of backends: loading them, opening with a policy, where a program runs.
#ifndef MOTE_API_BACKENDS_HPP_
#define MOTE_API_BACKENDS_HPP_

#include "mote/api/values.hpp"

namespace mote {
namespace api_detail {

inline BackendInfo backend_at(const mote_registry* registry, uint32_t index) {
  mote_backend_info info{};
  info.struct_size = sizeof info;
  if (mote_registry_backend(registry, index, &info) != 0) return {};
  return {info.name, info.version, info.device, info.units};
}

inline std::vector<BackendInfo> backends_of(const mote_registry* registry) {
  std::vector<BackendInfo> all;
  for (uint32_t i = 0; i < mote_registry_backend_count(registry); ++i) all.push_back(backend_at(registry, i));
  return all;
}

// Loads backends by name or absolute path. *allowed: the names that programs may then use; a path stands for all of its library.
inline Error load_backends(mote_registry* registry, const std::vector<std::string>& names, std::vector<std::string>* allowed) {
  const ErrorHandle error{mote_error_create()};
  allowed->push_back("cpu");
  for (const std::string& name : names) {
    if (name == "cpu") continue;
    const uint32_t before = mote_registry_backend_count(registry);
    if (const mote_status s = mote_registry_load_backend(registry, name.c_str(), error.get())) return make_error(s, error.get());
    if (name[0] != '/') allowed->push_back(name);
    else
      for (uint32_t i = before; i < mote_registry_backend_count(registry); ++i) allowed->push_back(backend_at(registry, i).name);
  }
  return {};
}

// The options of the C interface, with what they point to.
class Opening {
 public:
  explicit Opening(const ModelOptions& options) {
    options_.struct_size = sizeof options_;
    if (options.verify_digests) options_.flags |= MOTE_OPEN_VERIFY_DIGESTS;
    if (options.read_file) options_.flags |= MOTE_OPEN_READ;
    if (options.no_fallback) options_.flags |= MOTE_OPEN_NO_FALLBACK;
    options_.registry = options.registry;
    options_.memory_limit_bytes = options.memory_limit_bytes;
    if (!options.weights_path.empty()) options_.weights_path = options.weights_path.c_str();
    std::vector<std::string> allowed = options.backends;
    if (options.registry == nullptr && !options.backends.empty()) load(options.backends, &allowed);
    names(std::move(allowed), &backends_, &backend_texts_);
    names(options.require, &require_, &require_texts_);
    if (!backends_.empty()) options_.backends = backends_.data();
    options_.backend_count = static_cast<uint32_t>(backends_.size());
    if (!require_.empty()) options_.require = require_.data();
    options_.require_count = static_cast<uint32_t>(require_.size());
  }
  Opening(const Opening&) = delete;
  Opening& operator=(const Opening&) = delete;

  const Error& error() const { return error_; }
  const mote_open_options* options() const { return &options_; }

 private:
  void load(const std::vector<std::string>& wanted, std::vector<std::string>* allowed) {
    mote_registry* made = nullptr;
    if (const mote_status s = mote_registry_create(&made)) {
      error_ = make_error(s, nullptr);
      return;
    }
    registry_.reset(made);  // the program keeps it
    allowed->clear();
    error_ = load_backends(made, wanted, allowed);
    options_.registry = made;
  }
  static void names(std::vector<std::string> from, std::vector<const char*>* to, std::vector<std::string>* texts) {
    *texts = std::move(from);
    for (const std::string& name : *texts) to->push_back(name.c_str());
  }

  mote_open_options options_{};
  RegistryHandle registry_;
  std::vector<std::string> backend_texts_, require_texts_;
  std::vector<const char*> backends_, require_;
  Error error_;
};

inline std::vector<Part> parts_of(const mote_program* program, const mote_instance* instance) {
  std::vector<Part> all;
  for (uint32_t i = 0; i < mote_program_part_count(program); ++i) {
    mote_part p{};
    p.struct_size = sizeof p;
    if (mote_program_part(program, i, &p) != 0) break;
    const char* runs_on = mote_instance_backend(instance, p.first_instruction);
    all.push_back({p.backend, runs_on != nullptr ? runs_on : "", p.instruction_count, p.fallback_count > 0, p.bytes_in, p.bytes_out,
                   p.device_bytes, p.predicted_us});
  }
  return all;
}

inline SelfTest self_test(mote_instance* instance) {
  const ErrorHandle error{mote_error_create()};
  mote_self_test found{};
  found.struct_size = sizeof found;
  const mote_status status = mote_instance_self_test(instance, &found, error.get());
  return {found.outputs, found.failed, found.largest_error, make_error(status, error.get())};
}

}  // namespace api_detail
}  // namespace mote

#endif  // MOTE_API_BACKENDS_HPP_
