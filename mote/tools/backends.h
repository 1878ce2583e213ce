#pragma once

// The backends this build of the command has, and those of plug-ins, by name.

#include <memory>
#include <string>
#include <vector>

#include "mote/api/backend_compiler.h"
#include "mote/api/mote.h"

namespace mote::tools {

struct KnownBackend {
  const mote_backend* device;
  const mote_backend_compiler* compiler;  // null: nothing is placed there
};

// Libraries named on the command line; filled before known_backends() is first asked.
std::vector<std::string>& plugin_paths();

// Those of this build, then plug-ins (MOTE_PLUGINS, --plugin). Throws a Failure when one of these cannot be had.
const std::vector<KnownBackend>& known_backends();
// Null when there is none of that name.
const KnownBackend* find_known_backend(const std::string& name);

// "opencl, cpu": what --backends accepts without plug-ins.
std::string backend_names();

// "opencl,cpu" to the compilers of the backends; *cpu tells whether the CPU is among them. Throws a usage Failure that lists the names.
std::vector<const mote_backend_compiler*> backend_compilers(const std::string& list, bool* cpu);

// All of them, for opening programs. Owned by the caller.
struct RegistryDeleter {
  void operator()(mote_registry* r) const { mote_registry_release(r); }
};
using RegistryHandle = std::unique_ptr<mote_registry, RegistryDeleter>;
RegistryHandle backend_registry();

}  // namespace mote::tools
