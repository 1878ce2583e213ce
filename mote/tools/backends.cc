#include "mote/tools/backends.h"

#include <sstream>

#include "mote/backends/null/null_backend.h"
#include "mote/tools/failure.h"
#ifdef MOTE_WITH_OPENCL
#include "mote/backends/opencl/opencl_backend.h"
#endif

namespace mote::tools {
namespace {

struct Known {
  const mote_backend* device;
  const mote_backend_compiler* compiler;  // null: nothing is placed there
};

const std::vector<Known>& known() {
  static const std::vector<Known> all = {
      {backends::null_backend(), nullptr},
#ifdef MOTE_WITH_OPENCL
      {backends::opencl_backend(), backends::opencl_compiler()},
#endif
  };
  return all;
}

}  // namespace

std::string backend_names() {
  std::string names;
  for (const Known& k : known())
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
    const mote_backend_compiler* found = nullptr;
    for (const Known& k : known())
      if (k.compiler != nullptr && word == k.compiler->name) found = k.compiler;
    if (found == nullptr) throw usage("--backends: expected some of " + backend_names() + ", found '" + word + "'");
    if (found->abi != MOTE_BACKEND_COMPILER_ABI)
      throw Failure(word + ": expected a backend compiler of interface " + std::to_string(MOTE_BACKEND_COMPILER_ABI) + ", found " +
                    std::to_string(found->abi));
    out.push_back(found);
  }
  return out;
}

RegistryHandle backend_registry() {
  mote_registry* registry = nullptr;
  if (mote_registry_create(&registry) != MOTE_OK) throw Failure("there is too little memory");
  RegistryHandle handle(registry);
  for (const Known& k : known())
    if (const mote_status s = mote_registry_add_backend(registry, k.device, nullptr)) throw Failure("a backend cannot be registered", s);
  return handle;
}

}  // namespace mote::tools
