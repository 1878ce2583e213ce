#include "mote/fleet/agent/probe.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "mote/fleet/agent/golden.h"
#include "mote/fleet/agent/sandbox.h"
#include "mote/fleet/base/digest.h"
#include "mote/fleet/base/error.h"
#include "mote/fleet/base/json_object.h"
#include "mote/fleet/base/json_writer.h"
#include "mote/fleet/package/mapped.h"

namespace mote::fleet::agent {
namespace {

constexpr uint64_t kSpareBytes = 64 << 20;
constexpr int64_t kTimingMs = 200;

std::string report_text(const ProbeReport& r) {
  JsonWriter w;
  w.open('{').name("failure").value(r.failure).name("outputs").value(r.outputs).name("p99_us").value(r.p99_us);
  return w.name("ram_bytes").value(r.ram_bytes).close('}').text;
}

// The child may have been taken over by what it read: its words are checked as any other.
ProbeReport parse_report(const std::string& text) {
  JsonObject o(Json::parse(text));
  ProbeReport r;
  r.failure = o.at("failure").string();
  r.outputs = o.number("outputs");
  r.p99_us = o.number("p99_us");
  r.ram_bytes = o.number("ram_bytes");
  o.finish();
  return r;
}

ProbeReport look(const package::Mapped& mapped, const std::string& file, uint64_t memory_bytes) {
  ProbeReport out;
  try {
    const package::Header header = mapped.verify();
    const std::string_view program = mapped.file(header, file);
    const GoldenReport golden = run_golden(program.data(), program.size(), memory_bytes, kTimingMs);
    // What an application brings along, the application tries.
    if (!golden.lacks_parts) out.failure = golden.failure;
    out.outputs = golden.outputs;
    out.p99_us = golden.p99_us;
    out.ram_bytes = golden.ram_bytes;
  } catch (const std::exception& e) {
    out.failure = e.what();
  }
  return out;
}

}  // namespace

ProbeReport SandboxProber::probe(const std::string& path, const package::Variant& variant, uint64_t package_bytes) {
  std::vector<std::string> command = command_;
  // Programs take what their certificate says; reading a package takes chunks.
  const uint64_t memory = variant.needs.ram_bytes * 2 + package_bytes + kSpareBytes;
  for (const std::string& word : {path, variant.file, std::to_string(memory), std::to_string(seconds_)}) command.push_back(word);
  const Outcome out = run_child(command, static_cast<int64_t>(seconds_) * 1000);
  ProbeReport report;
  if (out.timed_out || out.signal == SIGXCPU) report.failure = "its probe did not end in " + std::to_string(seconds_) + " s";
  else if (out.signal == SIGSYS) report.failure = "its probe made a forbidden system call";
  else if (out.signal != 0) report.failure = std::string("its probe crashed: ") + ::strsignal(out.signal);
  else if (out.exit_code != 0) throw Error("the probe cannot be run here: exit code " + std::to_string(out.exit_code) + " " + out.output);
  else return within("the probe's answer", [&] { return parse_report(out.output); });
  return report;
}

int probe_main(const std::vector<std::string>& words) {
  std::string text;
  int code = 0;
  try {
    if (words.size() != 4) throw Error("PACKAGE FILE MEMORY_BYTES SECONDS are expected");
    const uint64_t memory = std::strtoull(words[2].c_str(), nullptr, 10), seconds = std::strtoull(words[3].c_str(), nullptr, 10);
    const package::Mapped mapped(words[0]);
    (void)digest("");  // OpenSSL reads its files now or never
    enter_sandbox({memory, seconds});
    text = report_text(look(mapped, words[1], memory));
  } catch (const std::exception& e) {
    text = e.what();
    code = 3;
  }
  for (size_t at = 0; at < text.size();) {
    const ssize_t n = ::write(1, text.data() + at, text.size() - at);
    if (n <= 0) ::_exit(4);
    at += static_cast<size_t>(n);
  }
  ::_exit(code);  // no destructors: they may want what is forbidden now
}

}  // namespace mote::fleet::agent
