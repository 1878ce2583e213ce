#pragma once

// What this device can run, and which variant of a package that is.

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "mote/fleet/package/manifest.h"

namespace mote::fleet::agent {

struct Capabilities {
  std::string runtime_version;
  std::set<std::string> ops, dtypes, isas, backends;
  uint64_t ram_bytes = 0;
};

// Of the library that this program is linked with, on this machine. `backends` and `custom_ops` are what applications add.
Capabilities capabilities_here(const std::vector<std::string>& backends, const std::vector<std::string>& custom_ops, uint64_t ram_bytes);

// Why a variant, or the package as a whole, cannot run: all that is missing, not only the first thing.
std::vector<std::string> missing(const package::Variant& variant, const Capabilities& capabilities);
std::vector<std::string> missing(const package::Manifest& manifest, const Capabilities& capabilities);

// The first variant that can run and that `objection` has nothing against; null, and why not, when there is none.
struct Fit {
  const package::Variant* variant = nullptr;
  std::vector<std::string> reasons;
};
using Objection = std::function<std::optional<std::string>(const package::Variant&)>;
Fit choose_variant(const package::Manifest& manifest, const Capabilities& capabilities, const Objection& objection = nullptr);

}  // namespace mote::fleet::agent
