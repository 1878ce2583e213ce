#include "mote/fleet/base/system.h"

#include <dirent.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <random>

#include "mote/fleet/base/error.h"
#include "mote/fleet/base/json_object.h"
#include "mote/fleet/base/toml.h"

namespace mote::fleet {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

// The worst battery counts; with mains online there is none to care about.
void look_at_supplies(Conditions* c) {
  const std::string folder = "/sys/class/power_supply";
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(folder.c_str()), ::closedir);
  bool mains = false, battery = false;
  while (dir) {
    const dirent* entry = ::readdir(dir.get());
    if (entry == nullptr) break;
    const std::string supply = folder + "/" + entry->d_name;
    const std::string type = first_line(supply + "/type");
    if (type == "Mains" || type == "USB") mains |= first_line(supply + "/online") == "1";
    if (type != "Battery" || first_line(supply + "/scope") == "Device") continue;
    battery = true;
    const unsigned long charge = std::strtoul(first_line(supply + "/capacity").c_str(), nullptr, 10);
    if (charge < c->battery_percent) c->battery_percent = charge;
  }
  c->on_battery = battery && !mains;
}

}  // namespace

std::string boot_id() { return first_line("/proc/sys/kernel/random/boot_id"); }

Conditions Machine::conditions() {
  Conditions c;
  look_at_supplies(&c);
  if (const auto text = read_file(files_, path_, 1 << 16)) {
    within(path_, [&] {
      const std::string json = toml_to_json(*text);
      JsonObject o(Json::parse(json));
      c.metered = o.flag_or("metered", c.metered);
      c.on_battery = o.flag_or("on_battery", c.on_battery);
      c.battery_percent = o.number_or("battery_percent", c.battery_percent);
      o.finish();
    });
  }
  return c;
}

uint64_t Machine::free_bytes(const std::string& path) {
  struct statvfs about;
  if (::statvfs(path.c_str(), &about) != 0) throw Error(path + ": the room that is left cannot be asked for");
  return uint64_t{about.f_bavail} * about.f_frsize;
}

uint64_t Machine::available_ram_bytes() {
  std::ifstream in("/proc/meminfo");
  for (std::string line; std::getline(in, line);) {
    if (line.compare(0, 13, "MemAvailable:") == 0) return std::strtoull(line.c_str() + 13, nullptr, 10) * 1024;
  }
  return static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

uint32_t Machine::random() { return std::random_device()(); }

}  // namespace mote::fleet
