#pragma once

// The backends this build of the command has, by name.

#include <memory>
#include <string>
#include <vector>

#include "mote/api/backend_compiler.h"
#include "mote/api/mote.h"

namespace mote::tools {

// "opencl, cpu": what --backends accepts.
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
