#pragma once

// What a plug-in must hand over, without the standard library: libmote and the command both ask.

#include <cstring>

#include "mote/api/backend_plugin.h"

namespace mote::backends {

// What is wrong with a plug-in: a text, and where versions differ, both; `fault` null: nothing.
struct PluginFault {
  const char* fault = nullptr;
  uint32_t expected = 0, found = 0;
};

inline PluginFault compiler_fault(const mote_backend_compiler& c, const char* name) noexcept {
  if (c.abi != MOTE_BACKEND_COMPILER_ABI) return {"compiler interface", MOTE_BACKEND_COMPILER_ABI, c.abi};
  if (c.name == nullptr || std::strcmp(c.name, name) != 0) return {"its two halves have different names"};
  if (c.version == nullptr || c.capabilities == nullptr || c.supports == nullptr || c.cost_ns == nullptr || c.lower == nullptr ||
      c.work_count > MOTE_BACKEND_WORK_KINDS || (c.work_count > 0 && (c.work_names == nullptr || c.work == nullptr)))
    return {"its compiler half is incomplete: version, capabilities, supports, cost_ns and lower must be there"};
  return {};
}

// Of one backend of the library.
inline PluginFault fault_of(const mote_backend_plugin* p) noexcept {
  if (p == nullptr) return {"its entry returned nothing"};
  if (p->abi != 1 && p->abi != MOTE_BACKEND_PLUGIN_ABI) return {"plug-in interface", MOTE_BACKEND_PLUGIN_ABI, p->abi};
  if (p->device == nullptr) return {"it hands over no backend"};
  const mote_backend& d = *p->device;
  if (d.abi != MOTE_BACKEND_ABI) return {"backend interface", MOTE_BACKEND_ABI, d.abi};
  if (d.name == nullptr || d.name[0] == 0 || d.probe == nullptr || d.init == nullptr || d.execute == nullptr || d.destroy == nullptr ||
      (d.submit == nullptr) != (d.wait == nullptr))
    return {"its backend is incomplete: name, probe, init, execute and destroy must be there, submit and wait both or none"};
  return p->compiler != nullptr ? compiler_fault(*p->compiler, d.name) : PluginFault{};
}

// The next backend of the same library, or null. Version 1 had one in each.
inline const mote_backend_plugin* next_of(const mote_backend_plugin& p) noexcept { return p.abi >= 2 ? p.next : nullptr; }

}  // namespace mote::backends
