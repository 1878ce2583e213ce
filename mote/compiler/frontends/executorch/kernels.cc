#include "mote/compiler/frontends/executorch/kernels.h"

#include <sstream>
#include <unordered_map>

namespace mote::frontends::executorch {
namespace {

struct Line {
  const char *name, *target, *arguments;
  size_t outputs;
};

constexpr Line kLines[] = {
#define MOTE_KERNEL(name, target, arguments, outputs) {name, target, arguments, outputs},
#include "mote/compiler/frontends/executorch/aten_kernels.def"
#include "mote/compiler/frontends/executorch/own_kernels.def"
#undef MOTE_KERNEL
};

std::vector<KernelArgument> arguments_of(const char* words) {
  std::istringstream in(words);
  std::vector<KernelArgument> out;
  for (std::string word; in >> word;) {
    const bool is_type = word.size() > 2 && word.compare(word.size() - 2, 2, ":t") == 0;
    out.push_back({word == "-" ? "" : is_type ? word.substr(0, word.size() - 2) : word, is_type});
  }
  return out;
}

}  // namespace

const Kernel* find_kernel(const std::string& name) {
  static const auto* const table = [] {
    auto* t = new std::unordered_map<std::string, Kernel>;  // never freed: importers may run until the process ends
    for (const Line& l : kLines) t->emplace(l.name, Kernel{l.name, l.target, arguments_of(l.arguments), l.outputs});
    return t;
  }();
  const auto it = table->find(name);
  return it == table->end() ? nullptr : &it->second;
}

}  // namespace mote::frontends::executorch
