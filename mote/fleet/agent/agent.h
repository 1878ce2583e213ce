#pragma once

// The device's half of an update: what is offered, may it come, does it run, did it go well. One model id at a time; every method may be
// called again after a power cut or an error, and goes on from the record (mote/fleet/store).

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mote/fleet/agent/capability.h"
#include "mote/fleet/agent/config.h"
#include "mote/fleet/agent/probe.h"
#include "mote/fleet/base/clock.h"
#include "mote/fleet/base/fetch.h"
#include "mote/fleet/package/package.h"
#include "mote/fleet/store/updater.h"
#include "mote/fleet/tuf/client.h"

namespace mote::fleet::agent {

struct Parts {
  Files& files;
  Fetcher& fetcher;
  Clock& clock;
  System& system;
  Prober& prober;
};

// A package that the channel of a model offers to this device.
struct Offer {
  Rollout rollout;
  store::Model model;
  std::string url, header_sha256;
  package::Manifest manifest;
};

class Agent {
 public:
  // Throws Error when the folder has no configuration. refresh(), advance() and provision() are for one agent at a time, and throw Error
  // for those that have no turn: kWait waits a minute for it, kNow takes it when nobody else has it. Everything else may be done beside
  // others.
  enum class Turn { kNone, kNow, kWait };
  Agent(Parts parts, std::string dir, Turn turn = Turn::kNow);

  const Config& config() const { return config_; }
  bool has_turn() const { return alone_ != nullptr; }

  // Brings trust and the signed policy up to date. Throws Error; what is installed, in trial or to be reverted does not care.
  void refresh();

  // Where the update of a model stands, and why it goes no further.
  struct Standing {
    store::Record record;
    std::string note;  // empty: nothing to say
  };
  // Takes an update as far as it goes, or to `until`. What needs trust is not begun unless refresh() has succeeded.
  Standing advance(const std::string& id, store::State until = store::State::kReverted);
  // Reads the bytes of what is to run, unless it is in trial and `objects` says not to.
  Standing standing(const std::string& id, bool objects = true);
  store::Record record(const std::string& id);
  void confirm(const std::string& id);
  void rollback(const std::string& id, const std::string& reason);
  // A model that comes with the device: the bytes are believed.
  void provision(const std::string& package_path);

  // Everything that speaks against a package on this device now; empty: it would be taken. `digest` (raw) may be empty: not looked at.
  struct Explanation {
    std::vector<std::string> reasons;
    std::string variant;  // file that would run, where one can
  };
  Explanation explain(const package::Manifest& manifest, uint64_t package_bytes, const std::string& digest);

  struct Finding {
    std::string check, text;
    bool good;
  };
  std::vector<Finding> doctor();

 private:
  friend class ModelDevice;
  std::optional<Offer> find_offer(const std::string& id, const store::Record& record, std::string* note);
  Offer load_offer(const Rollout& rollout, const tuf::Target& target);
  std::string fetch_target(const tuf::Target& target, uint64_t most);
  package::Header fetch_header(const std::string& url, const std::string& sha256);
  std::string waiting_behind(const std::string& id, const store::Record& record);
  void prepare_folders(const std::string& id);
  std::string damage(const std::string& id, const store::Model& model);
  void fetch_again(const Offer& offer, store::Device& device, store::Updater& u);
  store::Updater updater(const std::string& id, store::Device& device);
  Capabilities capabilities();
  void require_turn() const;
  Fit choose(const package::Manifest& manifest);

  Parts parts_;
  const std::string dir_;
  Config config_;
  std::shared_ptr<void> alone_;  // this agent's turn; null: another's
  Policies policies_;
  tuf::Client client_;
  bool fresh_ = false;
};

}  // namespace mote::fleet::agent
