#pragma once

// The machine as fleet code sees it: power, network, room, chance.

#include <cstdint>
#include <string>

#include "mote/fleet/base/files.h"

namespace mote::fleet {

struct Conditions {
  bool metered = false, on_battery = false;
  uint64_t battery_percent = 100;
};

class System {
 public:
  virtual ~System() = default;
  virtual Conditions conditions() = 0;
  virtual uint64_t free_bytes(const std::string& path) = 0;  // of the file system that the folder is on
  virtual uint64_t available_ram_bytes() = 0;
  virtual uint32_t random() = 0;
};

// A text that changes with each start of the machine; empty where the system does not tell.
std::string boot_id();

// Power supplies as Linux shows them. What a system knows better (the connection manager whether the network is metered) it writes to the
// file `conditions` (TOML: metered, on_battery, battery_percent); none there is no failure.
class Machine : public System {
 public:
  Machine(Files& files, std::string conditions_path) : files_(files), path_(std::move(conditions_path)) {}
  Conditions conditions() override;
  uint64_t free_bytes(const std::string& path) override;
  uint64_t available_ram_bytes() override;
  uint32_t random() override;

 private:
  Files& files_;
  const std::string path_;
};

}  // namespace mote::fleet
