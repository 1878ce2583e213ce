#pragma once

// A device's folder: fleet.toml and what lies beside it.

#include <map>
#include <string>
#include <vector>

#include "mote/fleet/agent/policy.h"
#include "mote/fleet/base/files.h"
#include "mote/fleet/base/registry_login.h"

namespace mote::fleet::agent {

struct Config {
  std::string metadata_url, targets_url;
  std::string device;  // who it is, for rings
  uint64_t interval_seconds = 3600, probe_seconds = 60, tries = 3;
  std::string app_group;  // whose members may judge trials: gets the folder app/ of each model; empty: the agent's user
  std::vector<std::string> backends, custom_ops;  // what the applications of this device bring with them
  std::map<std::string, std::string> models;      // id -> channel
  Policy policy;                                  // local
};

// Throws Error for unknown names and values that make no sense. `text`: TOML.
Config parse_config(std::string_view text);
Config read_config(Files& files, const std::string& dir);
std::string config_text(const Config& config);  // without the policy: what `mote fleet init` writes

inline std::string config_path(const std::string& dir) { return dir + "/fleet.toml"; }
inline std::string trust_dir(const std::string& dir) { return dir + "/trust"; }
// Credentials for registries (base/registry_login.h), where the environment names no other file.
inline std::string registry_auth_path(const std::string& dir) { return fleet::registry_auth_path(dir + "/registry-auth.json"); }
inline std::string conditions_path(const std::string& dir) { return dir + "/conditions.toml"; }
inline std::string model_dir(const std::string& dir, const std::string& id) { return dir + "/models/" + id; }

}  // namespace mote::fleet::agent
