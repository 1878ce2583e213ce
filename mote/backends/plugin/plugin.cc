#include "mote/backends/plugin/plugin.h"

#include <dlfcn.h>

#include "mote/backends/plugin/plugin_check.h"

namespace mote::backends {
namespace {

std::string text_of(const PluginFault& f) {
  if (f.fault == nullptr || f.expected == 0) return f.fault != nullptr ? f.fault : "";
  return std::string("its ") + f.fault + " has version " + std::to_string(f.found) + ", this Mote has version " +
         std::to_string(f.expected) + ": build the plug-in against this Mote's headers, or use the Mote it was built for";
}

// Empty when every backend of the library has what must be there.
std::string fault_text(const mote_backend_plugin* p) {
  std::string fault = text_of(fault_of(p));
  while (fault.empty() && (p = next_of(*p)) != nullptr) fault = text_of(fault_of(p));
  return fault;
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
  const std::string fault = entry != nullptr ? fault_text(plugin) : std::string("it has no function ") + MOTE_BACKEND_PLUGIN_ENTRY;
  if (fault.empty()) {
    *out = plugin;
    return true;
  }
  *error = path + ": no plug-in for this Mote: " + fault;
  dlclose(library);
  return false;
}

}  // namespace mote::backends
