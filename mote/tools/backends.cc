#include "mote/tools/backends.h"

#include <cstdlib>
#include <cstring>
#include <sstream>

#include "mote/backends/null/null_backend.h"
#include "mote/compiler/ir/nearest.h"
#include "mote/kernels/select.h"
#include "mote/platform/cpu.h"
#include "mote/tools/failure.h"
#ifdef MOTE_WITH_OPENCL
#include "mote/backends/opencl/opencl_backend.h"
#endif
#ifdef MOTE_WITH_XNNPACK
#include "mote/backends/xnnpack/xnnpack_backend.h"
#endif
#ifdef MOTE_WITH_PLUGINS
#include "mote/backends/plugin/plugin.h"
#include "mote/backends/plugin/plugin_check.h"
#endif

namespace mote::tools {
namespace {

std::vector<KnownBackend> built_in() {
#ifdef MOTE_WITH_OPENCL
  backends::opencl_host_kernels = kernels::select_for(kernels::best_isa(cpu_features()));
#endif
  return {
      {backends::null_backend(), nullptr},
#ifdef MOTE_WITH_OPENCL
      {backends::opencl_backend(), backends::opencl_compiler()},
      {backends::opencl_f16_backend(), backends::opencl_f16_compiler()},
      {backends::opencl_f16a_backend(), backends::opencl_f16a_compiler()},
#endif
#ifdef MOTE_WITH_XNNPACK
      {backends::xnnpack_backend(), backends::xnnpack_compiler()},
#endif
  };
}

void add_plugin(const std::string& path, [[maybe_unused]] std::vector<KnownBackend>* all) {
#ifdef MOTE_WITH_PLUGINS
  const mote_backend_plugin* plugin = nullptr;
  std::string error;
  if (!backends::load_plugin(path, &plugin, &error)) throw Failure(error);
  for (const mote_backend_plugin* p = plugin; p != nullptr; p = backends::next_of(*p)) {
    for (const KnownBackend& k : *all)
      if (std::strcmp(k.device->name, p->device->name) == 0) throw Failure(path + ": there is a backend '" + p->device->name + "' already");
    all->push_back({p->device, p->compiler});
  }
#else
  throw Failure(path + ": plug-ins are not loaded on this system");
#endif
}

}  // namespace

std::vector<std::string>& plugin_paths() {
  static std::vector<std::string> paths;
  return paths;
}

const std::vector<KnownBackend>& known_backends() {
  static const std::vector<KnownBackend> all = [] {
    std::vector<KnownBackend> list = built_in();
    const char* listed = std::getenv("MOTE_PLUGINS");
    std::istringstream words(listed != nullptr ? listed : "");
    for (std::string path; std::getline(words, path, ':');)
      if (!path.empty()) add_plugin(path, &list);
    for (const std::string& path : plugin_paths()) add_plugin(path, &list);
    return list;
  }();
  return all;
}

const KnownBackend* find_known_backend(const std::string& name) {
  for (const KnownBackend& k : known_backends())
    if (name == k.device->name) return &k;
  return nullptr;
}

std::string backend_names() {
  std::string names;
  for (const KnownBackend& k : built_in())
    if (k.compiler != nullptr) names += std::string(k.compiler->name) + ", ";
  return names + "cpu";
}

std::vector<const mote_backend_compiler*> backend_compilers(const std::string& list, bool* cpu) {
  std::vector<const mote_backend_compiler*> out;
  std::istringstream words(list);
  *cpu = false;
  for (std::string word; std::getline(words, word, ',');) {
    if (word == "cpu") {
      *cpu = true;
      continue;
    }
    const KnownBackend* found = find_known_backend(word);
    if (found == nullptr || found->compiler == nullptr) {
      std::vector<std::string> names;
      for (const KnownBackend& k : known_backends())
        if (k.compiler != nullptr) names.push_back(k.compiler->name);
      names.push_back("cpu");
      throw usage("--backends: expected some of " + ir::listed(names) + ", found '" + word + "'" + ir::did_you_mean(word, names));
    }
    out.push_back(found->compiler);
  }
  return out;
}

RegistryHandle backend_registry() {
  mote_registry* registry = nullptr;
  if (mote_registry_create(&registry) != MOTE_OK) throw Failure("there is too little memory");
  RegistryHandle handle(registry);
  for (const KnownBackend& k : known_backends())
    if (const mote_status s = mote_registry_add_backend(registry, k.device, nullptr)) throw Failure("a backend cannot be registered", s);
  return handle;
}

}  // namespace mote::tools
