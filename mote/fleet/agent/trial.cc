#include "mote/fleet/agent/trial.h"

#include "mote/fleet/base/error.h"
#include "mote/fleet/base/json_object.h"
#include "mote/fleet/base/json_writer.h"
#include "mote/fleet/base/text.h"
#include "mote/fleet/package/package.h"

namespace mote::fleet::agent {
namespace {

constexpr uint64_t kEnoughRuns = 20;  // for a p99 to mean something
constexpr uint64_t kMaxBytes = 65536;
constexpr const char* kFirstStart = "an application to open it";

std::string observations_path(const std::string& dir) { return dir + "/trial.json"; }
std::string confirmation_path(const std::string& dir) { return dir + "/confirmed"; }

Observations parse(const std::string& text) {
  JsonObject o(Json::parse(text));
  Observations s;
  s.boot = o.text("boot");
  s.crashes = o.number("crashes");
  s.digest = o.sha256("digest");
  s.failure = o.text("failure");
  s.open = o.flag("open");
  s.p99_us = o.number("p99_us");
  s.ram_bytes = o.number("ram_bytes");
  s.runs = o.number("runs");
  s.soaked_ms = o.number("soaked_ms");
  s.starts = o.number("starts");
  o.finish();
  return s;
}

}  // namespace

std::optional<Observations> read_observations(Files& files, const std::string& dir, const std::string& digest) try {
  const auto text = read_file(files, observations_path(dir), kMaxBytes);
  if (!text) return std::nullopt;
  Observations seen = parse(*text);
  if (seen.digest != digest) return std::nullopt;
  return seen;
} catch (const IoError&) {
  throw;
} catch (const Error&) {
  return std::nullopt;
}

void write_observations(Files& files, const std::string& dir, const Observations& s) {
  JsonWriter w;
  w.open('{')
      .name("boot")
      .value(s.boot)
      .name("crashes")
      .value(s.crashes)
      .name("digest")
      .value(to_hex(s.digest))
      .name("failure")
      .value(s.failure.substr(0, 200));
  w.name("open").value(s.open).name("p99_us").value(s.p99_us).name("ram_bytes").value(s.ram_bytes).name("runs").value(s.runs);
  w.name("soaked_ms").value(s.soaked_ms).name("starts").value(s.starts).close('}');
  replace_file(files, observations_path(dir), w.text);
}

void write_confirmation(Files& files, const std::string& dir, const std::string& digest) {
  replace_file(files, confirmation_path(dir), to_hex(digest));
}

bool is_confirmed(Files& files, const std::string& dir, const std::string& digest) {
  return read_file(files, confirmation_path(dir), kMaxBytes) == to_hex(digest);
}

store::Health judge(const package::HealthGate& gate, const Observations& seen, bool confirmed, std::string* why) {
  const auto bad = [&](const std::string& text) {
    *why = text;
    return store::Health::kBad;
  };
  if (!seen.failure.empty()) return bad(seen.failure);
  if (seen.crashes > gate.crashes) return bad(std::to_string(seen.crashes) + " crashes, " + std::to_string(gate.crashes) + " allowed");
  if (gate.p99_us > 0 && seen.runs >= kEnoughRuns && seen.p99_us > gate.p99_us)
    return bad("p99 " + std::to_string(seen.p99_us) + " us, " + std::to_string(gate.p99_us) + " us allowed");
  if (gate.ram_bytes > 0 && seen.ram_bytes > gate.ram_bytes)
    return bad(std::to_string(seen.ram_bytes) + " bytes of memory, " + std::to_string(gate.ram_bytes) + " allowed");
  const auto waits = [&](const std::string& text) {
    *why = "in trial: waits for " + text;
    return store::Health::kUndecided;
  };
  if (seen.starts == 0) return waits(kFirstStart);
  if (seen.soaked_ms < gate.soak_seconds * 1000)
    return waits("its soak time, " + std::to_string(seen.soaked_ms / 1000) + " of " + std::to_string(gate.soak_seconds) + " s in use");
  return gate.confirmation && !confirmed ? waits("the application's confirmation") : store::Health::kGood;
}

store::Health judge_trial(Files& files, const std::string& dir, const store::Record& record, std::string* why) {
  const std::string& digest = record.candidate.digest;
  const std::optional<Observations> seen = read_observations(files, dir, digest);
  if (!seen) {
    *why = std::string("in trial: waits for ") + kFirstStart;
    return store::Health::kUndecided;
  }
  const package::Header header = package::read_header(files, store::Objects(files, dir).path(digest));
  return judge(header.manifest.health, *seen, is_confirmed(files, dir, digest), why);
}

}  // namespace mote::fleet::agent
