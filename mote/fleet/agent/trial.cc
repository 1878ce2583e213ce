#include "mote/fleet/agent/trial.h"

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "mote/fleet/base/digest.h"
#include "mote/fleet/base/error.h"
#include "mote/fleet/base/json_object.h"
#include "mote/fleet/base/json_writer.h"
#include "mote/fleet/base/text.h"
#include "mote/fleet/package/mapped.h"

namespace mote::fleet::agent {
namespace {

constexpr uint64_t kEnoughRuns = 20;  // for a p99 to mean something
constexpr uint64_t kMaxBytes = 65536;
constexpr size_t kMaxShownBytes = 200;
constexpr std::string_view kTrialName = "trial-";
constexpr const char* kDamaged = "what was written down of its trial is damaged, and may have told of a failure";
constexpr const char* kFirstStart = "an application to open it";
constexpr const char* kGoldenNames[] = {"not run", "passed", "application"};

std::string confirmation_path(const std::string& dir) { return app_dir(dir) + "/confirmed"; }

// The agent makes the folder with the permissions it should have; where it has not yet, it is this user's.
void replace_in_app_dir(Files& files, const std::string& dir, const std::string& path, const std::string& text) {
  try {
    replace_file(files, path, text);
  } catch (const IoError& e) {
    if (e.code != ENOENT) throw;
    files.make_dir(app_dir(dir));
    replace_file(files, path, text);
  }
}

// The text, a line break, and its SHA-256.
std::string sealed(const std::string& text) { return text + "\n" + to_hex(digest(text)) + "\n"; }

std::string unsealed(const std::string& bytes) {
  const size_t end = bytes.find('\n');
  const std::string text = bytes.substr(0, end);
  if (end == std::string::npos || sealed(text) != bytes) throw Error("damaged");
  return text;
}

Observations parse(const std::string& bytes) {
  const std::string text = unsealed(bytes);
  JsonObject o(Json::parse(text));
  Observations s;
  s.boot = o.text("boot");
  s.crashes = o.number("crashes");
  s.digest = o.sha256("digest");
  s.failure = o.text("failure");
  const std::string golden = o.text("golden");
  const auto known = std::find(std::begin(kGoldenNames), std::end(kGoldenNames), golden);
  if (known == std::end(kGoldenNames)) throw Error("golden: '" + golden + "'");
  s.golden = static_cast<Golden>(known - std::begin(kGoldenNames));
  s.open = o.flag("open");
  s.p99_us = o.number("p99_us");
  s.ram_bytes = o.number("ram_bytes");
  s.runs = o.number("runs");
  s.soaked_ms = o.number("soaked_ms");
  s.starts = o.number("starts");
  s.waits = o.text("waits");
  o.finish();
  return s;
}

}  // namespace

std::string observations_path(const std::string& dir, const std::string& digest) {
  return app_dir(dir) + "/" + std::string(kTrialName) + to_hex(digest) + ".json";
}

std::optional<Observations> read_observations(Files& files, const std::string& dir, const std::string& digest) try {
  const auto bytes = read_file(files, observations_path(dir, digest), kMaxBytes);
  if (!bytes) return std::nullopt;
  Observations seen = parse(*bytes);
  if (seen.digest != digest) throw Error("about another model");
  return seen;
} catch (const IoError&) {
  throw;
} catch (const Error&) {
  Observations damaged;
  damaged.digest = digest;
  damaged.failure = kDamaged;
  return damaged;
}

void remove_other_observations(Files& files, const std::string& dir, const std::string& digest) {
  const std::string keep = digest.empty() ? "" : observations_path(dir, digest);
  for (const std::string& name : files.list(app_dir(dir))) {
    const std::string path = app_dir(dir) + "/" + name;
    if (name.compare(0, kTrialName.size(), kTrialName) == 0 && path != keep && path != keep + ".new") files.remove(path);
  }
}

void write_observations(Files& files, const std::string& dir, const Observations& s) {
  // What is written here must be read again, whatever an application and a model's names put in: a failure that is lost is a model
  // confirmed.
  const auto number = [](uint64_t n) { return std::min<uint64_t>(n, INT64_MAX); };
  JsonWriter w;
  w.open('{').name("boot").value(s.boot).name("crashes").value(number(s.crashes)).name("digest").value(to_hex(s.digest));
  w.name("failure").value(printable(s.failure, kMaxShownBytes)).name("golden").value(kGoldenNames[static_cast<size_t>(s.golden)]);
  w.name("open").value(s.open).name("p99_us").value(number(s.p99_us)).name("ram_bytes").value(number(s.ram_bytes));
  w.name("runs").value(number(s.runs)).name("soaked_ms").value(number(s.soaked_ms)).name("starts").value(number(s.starts));
  w.name("waits").value(printable(s.waits, kMaxShownBytes)).close('}');
  replace_in_app_dir(files, dir, observations_path(dir, s.digest), sealed(w.text));
}

void write_confirmation(Files& files, const std::string& dir, const std::string& digest) {
  replace_in_app_dir(files, dir, confirmation_path(dir), to_hex(digest));
}

bool is_confirmed(Files& files, const std::string& dir, const std::string& digest) {
  const std::optional<uint64_t> size = files.size(confirmation_path(dir));
  return size == 2 * digest.size() && files.read(confirmation_path(dir), 0, *size) == to_hex(digest);
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
  // A start is written down before it happens: where no examples are asked for, the application must have come as far as telling something.
  if (!gate.golden && seen.golden == Golden::kNotRun) return waits("the application to run with it");
  if (gate.golden && seen.golden == Golden::kNotRun) return waits("its golden examples" + (seen.waits.empty() ? "" : ": " + seen.waits));
  if (gate.golden && seen.golden == Golden::kApplication && seen.runs < kEnoughRuns && !confirmed)
    return waits(std::to_string(kEnoughRuns) +
                 " runs that the application tells of, or its confirmation, for want of golden examples here" +
                 (seen.waits.empty() ? "" : ": " + seen.waits));
  if (seen.soaked_ms < gate.soak_seconds * 1000)
    return waits("its soak time, " + std::to_string(seen.soaked_ms / 1000) + " of " + std::to_string(gate.soak_seconds) + " s in use");
  return gate.confirmation && !confirmed ? waits("the application's confirmation") : store::Health::kGood;
}

store::Health judge_trial(Files& files, const std::string& dir, const store::Record& record, std::string* why,
                          const package::HealthGate* gate) {
  const std::string& digest = record.candidate.digest;
  const std::optional<Observations> seen = read_observations(files, dir, digest);
  if (!seen) {
    *why = std::string("in trial: waits for ") + kFirstStart;
    return store::Health::kUndecided;
  }
  const bool confirmed = is_confirmed(files, dir, digest);
  if (gate != nullptr) return judge(*gate, *seen, confirmed, why);
  // The daemon asks each second: the start of the object as it lies there may say that there is still something to wait for, no more.
  store::Objects objects(files, dir);
  const package::Header said = package::read_header(files, objects.path(digest));
  if (judge(said.manifest.health, *seen, confirmed, why) == store::Health::kUndecided) return store::Health::kUndecided;
  const std::optional<Mapping> object = objects.open(record.candidate);
  if (!object) throw Error("model " + record.candidate.version + ", which is in trial, is damaged on this device");
  return judge(package::Mapped(*object, objects.path(digest)).header().manifest.health, *seen, confirmed, why);
}

}  // namespace mote::fleet::agent
