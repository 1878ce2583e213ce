#pragma once

// Takes an update from offered to confirmed or reverted, one commit after the other. It may stop anywhere (power, error, patience) and be
// made anew: it goes on from the record.

#include <functional>
#include <optional>
#include <string>

#include "mote/fleet/store/objects.h"
#include "mote/fleet/store/slots.h"

namespace mote::fleet::store {

enum class Health { kUndecided, kGood, kBad };

// What the update needs of the device. An Error from any of these leaves the state as it is: it is asked again.
class Device {
 public:
  virtual ~Device() = default;
  virtual std::optional<std::string> refusal(const Model& candidate) = 0;  // why it is not admitted
  // Writes the object to `path` (what is there may be the start of it). Returning means that all bytes are written.
  virtual void fetch(const Model& candidate, const std::string& path) = 0;
  virtual std::optional<std::string> probe_failure(const std::string& path) = 0;  // why it may not run
  virtual bool may_activate() = 0;                                                // now is a good time
  virtual Health health(std::string* why) = 0;                                    // of the candidate, in trial
};

class Updater {
 public:
  struct Options {
    uint8_t tries = 3;
    uint64_t storage_budget = UINT64_MAX;  // bytes of objects; what runs and what comes may take that much
  };
  // Told of every state that was committed. It cannot change anything: what it throws is dropped.
  using Report = std::function<void(const Record&)>;

  Updater(Files& files, const std::string& dir, Device& device, Options options, Report report = nullptr);

  // At each start of the application, before it opens a model: a trial has one try less, or is over. Where that cannot be written down,
  // known-good runs this time.
  void boot();

  // The model to run and where it is; its bytes were read and hashed just now. A candidate that is not intact ends its trial; should even
  // known-good be damaged, an intact older or newer verified model runs rather than none. Throws Error when there is none.
  Model open_active(std::string* path);

  void provision(const Model& model);  // its bytes are in incoming()
  bool offer(const Model& model);      // false when it is not taken: same, quarantined, too old, or an update is under way
  // Goes as far as it can, or until it has reached `until` (kAdmitted to kTrial). Returns the state it rests or waits in.
  State advance(State until = State::kReverted);
  void withdraw(const std::string& reason);  // the candidate is no longer offered; a trial goes on
  void fail(const std::string& reason);      // the trial went wrong
  void rollback(const std::string& reason);  // to the previous model

  const Record& record() const { return slots_.record(); }
  Objects& objects() { return objects_; }

 private:
  bool tell(Event event);
  bool fetch_and_adopt();
  void collect();

  Device& device_;
  const Options options_;
  const Report report_;
  Slots slots_;
  Objects objects_;
  bool trial_counted_ = true;
};

}  // namespace mote::fleet::store
