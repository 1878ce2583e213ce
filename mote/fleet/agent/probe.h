#pragma once

// A package that nobody has run here is read, and its golden data run, in a child process that can do nothing else (sandbox.h). A crash or
// a hang there is a refusal.

#include <optional>
#include <string>
#include <vector>

#include "mote/fleet/package/manifest.h"

namespace mote::fleet::agent {

struct ProbeReport {
  std::string failure;  // empty: it may run
  uint64_t outputs = 0, p99_us = 0, ram_bytes = 0;
};

class Prober {
 public:
  virtual ~Prober() = default;
  // Throws Error when it could not be found out: asked again later.
  virtual ProbeReport probe(const std::string& path, const package::Variant& variant, uint64_t package_bytes) = 0;
};

// Runs this very program again with `command` in front of the probe's own words; such a call must end in probe_main().
class SandboxProber : public Prober {
 public:
  SandboxProber(std::vector<std::string> command, uint64_t seconds) : command_(std::move(command)), seconds_(seconds) {}
  ProbeReport probe(const std::string& path, const package::Variant& variant, uint64_t package_bytes) override;

 private:
  const std::vector<std::string> command_;
  const uint64_t seconds_;
};

// The child: PACKAGE FILE MEMORY_BYTES SECONDS. Writes one line of JSON. Returns an exit code.
int probe_main(const std::vector<std::string>& words);

}  // namespace mote::fleet::agent
