#include "mote/tools/compile_checks.h"

#include <algorithm>

#include "mote/ops/op_docs.h"
#include "mote/tools/backends.h"
#include "mote/tools/failure.h"
#include "mote/tools/nearest.h"

namespace mote::tools {
namespace {

void check_rule(const std::string& where, const placement::Rule& rule, const std::vector<std::string>& backends) {
  for (const auto& [key, list] : {std::pair("require", &rule.require), std::pair("allow", &rule.allow), std::pair("forbid", &rule.forbid)})
    for (const std::string& name : *list)
      if (std::find(backends.begin(), backends.end(), name) == backends.end())
        throw Failure(where + key + ": there is no backend '" + name + "'" + did_you_mean(name, backends) + ": expected some of " +
                      listed(backends));
}

}  // namespace

void check_policy(const std::string& file, const placement::Policy& policy) {
  std::vector<std::string> backends = {"cpu"}, ops;
  for (const KnownBackend& k : known_backends()) backends.emplace_back(k.device->name);
  for (const OpDoc& d : op_docs()) ops.push_back(d.name);
  ops.insert(ops.end(), {"if", "loop", "assign"});
  check_rule(file + ": [default] ", policy.all, backends);
  for (const auto& [name, rule] : policy.ops) {
    // Names with a dot or colons are those of custom operators, which nobody lists.
    const bool custom = name.find_first_of(".:") != std::string::npos;
    if (!custom && std::find(ops.begin(), ops.end(), name) == ops.end())
      throw Failure(file + ": [op." + name + "]: there is no operator '" + name + "'" + did_you_mean(name, ops) +
                    ": 'mote ops' lists them");
    check_rule(file + ": [op." + name + "] ", rule, backends);
  }
  for (const auto& [name, rule] : policy.nodes) check_rule(file + ": [node.\"" + name + "\"] ", rule, backends);
}

}  // namespace mote::tools
