#pragma once

// A device that lives in the simulator: it starts, opens its model, looks for an update and takes it as far as it goes.

#include "mote/fleet/store/testing/sim_files.h"
#include "mote/fleet/store/updater.h"

namespace mote::fleet::store {

inline constexpr const char* kDir = "fleet";

// Bytes and description of model 0, which is there from the start, and of model 1, which is offered.
const std::string& model_bytes(int number);
const Model& make_model(int number);

// Fetches model 1 in pieces of two sectors.
class SimDevice : public Device {
 public:
  explicit SimDevice(Files& files) : files_(files) {}
  std::optional<std::string> refusal(const Model&) override { return refuses; }
  void fetch(const Model& candidate, const std::string& path) override;
  Probed probe(const Mapping&) override { return {probe_fails, ""}; }
  bool may_activate() override { return true; }
  Health health(std::string* why) override;

  std::optional<std::string> refuses, probe_fails;
  Health trial = Health::kGood;
  bool medium_damages = false;  // a bit changes on its way to the medium

 private:
  Files& files_;
};

// What the device should come to.
enum class Goal { kInstall, kFailTrial, kFailProbe, kRollback };

// The highest generation that a device was told is committed: no cut may take it back.
struct Committed {
  uint64_t generation = 0;
};

// Model 0 is known-good; for kRollback model 1 was confirmed after it.
SimFiles fresh_disk(Goal goal);

// From a start to rest, restarting where an update asks for it. `opened` is told each model that ran. Errors and PowerCut pass.
void live(SimFiles& files, Goal goal, Committed* committed, const std::function<void(const Model&, const std::string& bytes)>& opened);

}  // namespace mote::fleet::store
