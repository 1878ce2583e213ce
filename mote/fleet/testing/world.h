#pragma once

// Publisher, server and device in one process: a clock that can be set, a server that is a folder, a machine that says what it is told.

#include <algorithm>
#include <map>

#include "mote/fleet/agent/agent.h"
#include "mote/fleet/agent/trial.h"
#include "mote/fleet/base/text.h"
#include "mote/fleet/publish/repository.h"
#include "mote/fleet/store/testing/sim_files.h"

namespace mote::fleet {

class SetClock : public Clock {
 public:
  int64_t now() override { return time; }
  int64_t monotonic_ms() override { return milliseconds; }
  void sleep_ms(int64_t ms) override { milliseconds += ms; }
  int64_t time = 1'800'000'000, milliseconds = 0;
};

// Serves a folder: http://x/a is <dir>/a.
class FolderFetcher : public Fetcher {
 public:
  FolderFetcher(Files& files, std::string dir) : files_(files), dir_(std::move(dir)) {}
  FetchReply get(const FetchRequest& request, const Sink& sink) override {
    if (down) throw Error(request.url + ": no network");
    const std::string path = dir_ + request.url;
    const auto size = files_.size(path);
    if (!size) throw HttpError(path + ": 404", 404);
    if (*size > request.max_bytes) throw Error(path + ": too long");
    if (sink.begin) sink.begin({request.offset, ""});
    sink.data(files_.read(path, request.offset, *size));
    return {request.offset, ""};
  }
  bool down = false;

 private:
  Files& files_;
  const std::string dir_;
};

class SetMachine : public System {
 public:
  Conditions conditions() override { return now; }
  uint64_t free_bytes(const std::string&) override { return room; }
  uint64_t available_ram_bytes() override { return ram; }
  uint32_t random() override { return 4; }
  Conditions now;
  uint64_t room = 1 << 30, ram = 1 << 30;
};

class SetProber : public agent::Prober {
 public:
  agent::GoldenReport probe(const Mapping&, const package::Variant&) override {
    agent::GoldenReport out = report;
    if (!failure.empty()) out.failure = failure;
    return out;
  }
  std::string failure;
  agent::GoldenReport report = [] {
    agent::GoldenReport good;
    good.outputs = 1;
    good.opened = true;
    return good;
  }();
};

// A device "d1" that follows channel "stable" for the model "kws".
class World {
 public:
  World() {
    for (const char* role : {"root", "targets", "snapshot", "timestamp", "rollout"}) keys[role] = {PrivateKey::generate("ed25519")};
    repo.init(keys);
    sign_and_publish();
    tuf::Client::init(files, agent::trust_dir("device"), *read_file(files, "repo/metadata/1.root.json", 1 << 20));
    configure("");
  }

  // `more`: tables behind the models; `first`: names before them.
  void configure(const std::string& more, const std::string& first = "") {
    replace_file(files, agent::config_path("device"),
                 first + "metadata_url = \"/metadata\"\ntargets_url = \"/targets\"\ndevice = \"d1\"\n[models]\nkws = \"stable\"\n" + more);
  }

  void sign_and_publish() {
    for (const auto& [role, list] : keys) {
      for (const PrivateKey& key : list) {
        try {
          repo.sign(key);
        } catch (const Error&) {}  // nothing to sign for this one
      }
    }
    repo.publish(keys["snapshot"][0], keys["timestamp"][0]);
  }

  // Publishes a version whose program is `program`, or some bytes.
  void offer(const std::string& version, const package::HealthGate& gate = {}, int percent = 100, uint64_t security_counter = 0) {
    package::Manifest m;
    m.id = "kws";
    m.version = version;
    m.security_counter = security_counter;
    m.runtime_min = "0.0.1";
    m.health = gate;
    m.variants = variants.empty() ? std::vector<package::Variant>{{"kws.mote", needs}} : variants;
    std::vector<package::SourceFile> sources;
    for (const package::Variant& v : m.variants) {
      replace_file(files, v.file, program.empty() ? v.file + " of " + version : program);
      sources.push_back({v.file, v.file});
    }
    package::create(files, m, sources, "kws.mpkg");
    repo.add("kws.mpkg", "kws/" + version + ".mpkg");
    repo.set_ring({"stable", "kws/" + version + ".mpkg", percent, false});
    sign_and_publish();
  }

  void put_policy(const std::string& text) {
    replace_file(files, "policy.json", text);
    repo.add("policy.json", "policy.json");
    sign_and_publish();
  }

  agent::Agent agent() { return agent::Agent({files, fetcher, clock, machine, prober}, "device"); }
  // One round of the daemon.
  agent::Agent::Standing round() {
    agent::Agent a = agent();
    std::string why;
    try {
      a.refresh();
    } catch (const Error& e) {
      why = e.what();
    }
    agent::Agent::Standing out = a.advance("kws");
    if (!why.empty()) out.note = why;
    return out;
  }
  // The application starts, is content, and the agent looks again.
  agent::Agent::Standing trial_goes(const std::string& failure) {
    const store::Record r = agent().standing("kws").record;
    agent::Observations seen;
    seen.digest = r.candidate.digest;
    seen.starts = 1;
    seen.golden = agent::Golden::kPassed;
    seen.failure = failure;
    agent::write_observations(files, agent::model_dir("device", "kws"), seen);
    return round();
  }

  store::SimFiles files;
  SetClock clock;
  SetMachine machine;
  SetProber prober;
  FolderFetcher fetcher{files, "repo"};
  publish::Repository repo{files, clock, "repo"};
  package::Requirements needs;
  std::vector<package::Variant> variants;  // empty: kws.mote with `needs`
  std::string program;
  std::map<std::string, std::vector<PrivateKey>> keys;
};

}  // namespace mote::fleet
