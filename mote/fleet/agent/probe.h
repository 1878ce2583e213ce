#pragma once

// A package that nobody has run here is read, and its golden data run, in a child process that can do nothing else (sandbox.h). A crash or
// a hang there is a refusal.

#include <string>
#include <vector>

#include "mote/fleet/agent/golden.h"
#include "mote/fleet/agent/sandbox.h"
#include "mote/fleet/base/files.h"
#include "mote/fleet/package/manifest.h"

namespace mote::fleet::agent {

class Prober {
 public:
  virtual ~Prober() = default;
  // What the golden examples came to; verdict.h says what that means. Throws Error when it could not be found out: asked again later.
  virtual GoldenReport probe(const Mapping& package, const package::Variant& variant) = 0;
};

// Runs this very program again with `command` in front of the probe's own words; such a call must end in probe_main().
class SandboxProber : public Prober {
 public:
  SandboxProber(std::vector<std::string> command, uint64_t seconds) : command_(std::move(command)), seconds_(seconds) {}
  GoldenReport probe(const Mapping& package, const package::Variant& variant) override;

 private:
  const std::vector<std::string> command_;
  const uint64_t seconds_;
};

// What a child that was given so many seconds came to. Throws Error where that says nothing about the package: the child was ended by
// somebody else, or never began.
GoldenReport read_outcome(const Outcome& out, uint64_t seconds);

// What a child that ended in order wrote. Whatever the text is: a report, or one whose failure says that it is none.
GoldenReport read_report(const std::string& text);

// The child: FILE MEMORY_BYTES SECONDS, the package as descriptor kChildInput. Writes one line when it is in the sandbox, then one line of
// JSON. Returns an exit code.
int probe_main(const std::vector<std::string>& words);

}  // namespace mote::fleet::agent
