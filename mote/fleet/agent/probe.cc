#include "mote/fleet/agent/probe.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "mote/fleet/base/digest.h"
#include "mote/fleet/base/error.h"
#include "mote/fleet/base/json_object.h"
#include "mote/fleet/base/json_writer.h"
#include "mote/fleet/base/text.h"
#include "mote/fleet/package/mapped.h"

namespace mote::fleet::agent {
namespace {

constexpr uint64_t kSpareBytes = 64 << 20;
constexpr int64_t kTimingMs = 200;
constexpr size_t kMaxFailureBytes = 1000, kMaxNameBytes = 200;
constexpr std::string_view kBegun = "in the sandbox\n";  // whatever goes wrong after it is the package's fault

std::string report_text(const GoldenReport& r) {
  JsonWriter w;
  w.open('{').name("code").value(uint64_t{r.code}).name("failure").value(printable(r.failure, kMaxFailureBytes)).name("op");
  w.value(printable(r.op, kMaxNameBytes)).name("opened").value(r.opened).name("outputs").value(uint64_t{r.outputs});
  return w.name("p99_us").value(r.p99_us).name("ram_bytes").value(r.ram_bytes).close('}').text;
}

GoldenReport parse_report(const std::string& text) {
  JsonObject o(Json::parse(text));
  GoldenReport r;
  r.code = static_cast<mote_code>(std::min<uint64_t>(o.number("code"), MOTE_CODE_WIDTH));
  r.failure = printable(o.at("failure").string(kMaxFailureBytes));
  r.op = printable(o.text("op"));
  r.opened = o.flag("opened");
  r.outputs = static_cast<uint32_t>(std::min<uint64_t>(o.number("outputs"), UINT32_MAX));
  r.p99_us = o.number("p99_us");
  r.ram_bytes = o.number("ram_bytes");
  o.finish();
  if (r.code != MOTE_OK && r.failure.empty()) throw Error("a failure without a reason");
  return r;
}

GoldenReport failed(mote_code code, const std::string& why) {
  GoldenReport out;
  out.code = code;
  out.failure = why;
  return out;
}

GoldenReport look(const package::Mapped& mapped, const std::string& file, uint64_t memory_bytes) try {
  const package::Header header = mapped.verify();
  const std::string_view program = mapped.file(header, file);
  return run_golden(program.data(), program.size(), memory_bytes, kTimingMs);
} catch (const Error& e) {
  return failed(MOTE_CORRUPT, e.what());
} catch (const std::exception& e) {
  return failed(MOTE_OUT_OF_MEMORY, e.what());
}

void say(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(1, text.data(), text.size());
    if (n <= 0) ::_exit(4);
    text.remove_prefix(static_cast<size_t>(n));
  }
}

// Bytes that are no file of their own, as one for the child: where others may write the file that they were read from, it may have changed
// since.
class MemoryFile {
 public:
  explicit MemoryFile(const Mapping& m) {
    if (m.file >= 0) return;
    file_ = ::memfd_create("package", MFD_CLOEXEC);
    for (size_t at = 0; file_ >= 0 && at < m.bytes.size();) {
      const ssize_t n = ::write(file_, m.bytes.data() + at, m.bytes.size() - at);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) refuse();
      at += static_cast<size_t>(n);
    }
    if (file_ < 0 || ::fchmod(file_, 0400) != 0) refuse();  // for its owner: the child maps it rather than making another copy
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() {
    if (file_ >= 0) ::close(file_);
  }
  int file() const { return file_; }

 private:
  [[noreturn]] void refuse() {
    const int code = errno;
    if (file_ >= 0) ::close(file_);
    throw IoError(std::string("no memory for the probe's copy of the package: ") + std::strerror(code), code);
  }
  int file_ = -1;
};

// Of a signal from outside (an administrator, the system short of memory) nothing follows for the package.
bool from_outside(int signal) { return signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP; }

}  // namespace

GoldenReport SandboxProber::probe(const Mapping& package, const package::Variant& variant) {
  std::vector<std::string> command = command_;
  // Programs take what their certificate says; reading a package takes chunks.
  const uint64_t memory = variant.needs.ram_bytes * 2 + package.bytes.size() + kSpareBytes;
  for (const std::string& word : {variant.file, std::to_string(memory), std::to_string(seconds_)}) command.push_back(word);
  const MemoryFile copy(package);
  return read_outcome(run_child(command, static_cast<int64_t>(seconds_) * 1000, copy.file() >= 0 ? copy.file() : package.file), seconds_);
}

GoldenReport read_outcome(const Outcome& out, uint64_t seconds) {
  const bool took_all = out.cpu_ms >= seconds * 1000;  // who blocks SIGXCPU gets SIGKILL a second later
  if (out.timed_out || out.signal == SIGXCPU || (out.signal == SIGKILL && took_all))
    return failed(MOTE_INTERNAL, "its probe did not end in " + std::to_string(seconds) + " s");
  if (out.signal == SIGSYS) return failed(MOTE_INTERNAL, "its probe made a forbidden system call");
  if (from_outside(out.signal)) throw Error(std::string("the probe was ended from outside: ") + ::strsignal(out.signal));
  if (out.signal != 0) return failed(MOTE_INTERNAL, std::string("its probe crashed: ") + ::strsignal(out.signal));
  const bool began = out.output.compare(0, kBegun.size(), kBegun) == 0;
  if (!began)
    throw Error("the probe cannot be run here: exit code " + std::to_string(out.exit_code) + " " + printable(out.output, kMaxFailureBytes));
  if (out.exit_code != 0) return failed(MOTE_INTERNAL, "its probe ended with exit code " + std::to_string(out.exit_code));
  return read_report(out.output.substr(kBegun.size()));
}

// The child may have been taken over by what it read: its words are checked as any other, and nonsense speaks against the package.
GoldenReport read_report(const std::string& text) try { return parse_report(text); } catch (const Error& e) {
  return failed(MOTE_INTERNAL, std::string("its probe answers with what is no report: ") + printable(e.what()));
}

int probe_main(const std::vector<std::string>& words) {
  // No destructors behind the sandbox's door: they may want what is forbidden there.
  const auto end = [](const std::string& text, int code) {
    say(text);
    ::_exit(code);
  };
  try {
    if (words.size() != 3) throw Error("FILE MEMORY_BYTES SECONDS are expected");
    const uint64_t memory = std::strtoull(words[1].c_str(), nullptr, 10), seconds = std::strtoull(words[2].c_str(), nullptr, 10);
    const package::Mapped mapped(map_open_file(kChildInput, "the package"), "the package");
    (void)digest("");  // OpenSSL reads its files now or never
    enter_sandbox({memory, seconds});
    say(kBegun);
    end(report_text(look(mapped, words[0], memory)), 0);
  } catch (const std::exception& e) {
    end(e.what(), 3);
  }
  return 3;
}

}  // namespace mote::fleet::agent
