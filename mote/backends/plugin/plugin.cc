#include "mote/backends/plugin/plugin.h"

#include <dlfcn.h>

namespace mote::backends {
namespace {

std::string version_text(const char* what, uint32_t found, uint32_t expected) {
  return std::string("its ") + what + " has version " + std::to_string(found) + ", this Mote has version " + std::to_string(expected) +
         ": build the plug-in against this Mote's headers, or use the Mote it was built for";
}

// Empty when everything that must be there is.
std::string fault_of(const mote_backend_plugin* p) {
  if (p == nullptr) return "its entry returned nothing";
  if (p->abi != MOTE_BACKEND_PLUGIN_ABI) return version_text("plug-in interface", p->abi, MOTE_BACKEND_PLUGIN_ABI);
  if (p->device == nullptr) return "it hands over no backend";
  const mote_backend& d = *p->device;
  if (d.abi != MOTE_BACKEND_ABI) return version_text("backend interface", d.abi, MOTE_BACKEND_ABI);
  if (d.name == nullptr || d.name[0] == 0 || d.probe == nullptr || d.init == nullptr || d.execute == nullptr || d.destroy == nullptr ||
      (d.submit == nullptr) != (d.wait == nullptr))
    return "its backend is incomplete: name, probe, init, execute and destroy must be there, submit and wait both or none";
  if (p->compiler == nullptr) return "";
  const mote_backend_compiler& c = *p->compiler;
  if (c.abi != MOTE_BACKEND_COMPILER_ABI) return version_text("compiler interface", c.abi, MOTE_BACKEND_COMPILER_ABI);
  if (c.name == nullptr || std::string(c.name) != d.name) return "its two halves have different names";
  if (c.version == nullptr || c.capabilities == nullptr || c.supports == nullptr || c.cost_ns == nullptr || c.lower == nullptr ||
      c.work_count > MOTE_BACKEND_WORK_KINDS || (c.work_count > 0 && (c.work_names == nullptr || c.work == nullptr)))
    return "its compiler half is incomplete: version, capabilities, supports, cost_ns and lower must be there";
  return "";
}

}  // namespace

bool load_plugin(const std::string& path, const mote_backend_plugin** out, std::string* error) {
  // A name without a slash would be looked for in the system's folders.
  const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    *error = path + ": cannot be loaded as a plug-in: " + (why != nullptr ? why : "unknown reason");
    return false;
  }
  const auto entry = reinterpret_cast<mote_backend_plugin_fn>(dlsym(library, MOTE_BACKEND_PLUGIN_ENTRY));
  const mote_backend_plugin* plugin = entry != nullptr ? entry() : nullptr;
  const std::string fault = entry != nullptr ? fault_of(plugin) : std::string("it has no function ") + MOTE_BACKEND_PLUGIN_ENTRY;
  if (fault.empty()) {
    *out = plugin;
    return true;
  }
  *error = path + ": no plug-in for this Mote: " + fault;
  dlclose(library);
  return false;
}

}  // namespace mote::backends
