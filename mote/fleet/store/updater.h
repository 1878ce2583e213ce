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

// A model that was looked at: why it may not run, or which of its variants may.
struct Probed {
  std::optional<std::string> failure;
  std::string variant;
};

// What the update needs of the device. An Error from any of these leaves the state as it is: it is asked again.
class Device {
 public:
  virtual ~Device() = default;
  virtual std::optional<std::string> refusal(const Model& candidate) = 0;  // why it is not admitted
  // Writes the object to `path` (what is there may be the start of it). Returning means that all bytes are written.
  virtual void fetch(const Model& candidate, const std::string& path) = 0;
  virtual Probed probe(const Mapping& object) = 0;  // its bytes: they were hashed just now
  virtual bool may_activate() = 0;                  // now is a good time
  virtual Health health(std::string* why) = 0;      // of the candidate, in trial
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

  // At each start of the application, before it opens a model: a trial has one try less, or is over. False where that cannot be written
  // down: known-good runs this time.
  bool boot();
  // A candidate in trial is not opened by this object: known-good is. `aside` false: it is after all, its start is counted elsewhere.
  void stand_aside(bool aside = true) { with_candidate_ = !aside; }

  // The model to run, where it is, and its bytes: they were read and hashed just now. A candidate that is not intact ends its trial where
  // that can be written down; should even known-good be damaged, an intact older or newer verified model runs rather than none, but none
  // below the security counter. Throws Error when there is none. Writes nothing unless a candidate is damaged.
  Model open_active(std::string* path, Mapping* mapping = nullptr);

  // The bytes of the candidate, read and hashed by the first call: what is judged by them and what open_active() gives are the same bytes.
  // Nothing where they are not the right ones. Throws IoError where they cannot be read.
  const std::optional<Mapping>& open_candidate();

  void provision(const Model& model);  // its bytes are in incoming()
  bool offer(const Model& model);      // false when it is not taken: same, quarantined, too old, or an update is under way
  // Goes as far as it can, or until it has reached `until` (kAdmitted to kTrial). Returns the state it rests or waits in.
  State advance(State until = State::kReverted);
  void withdraw(const std::string& reason);  // the candidate is no longer offered; a trial goes on
  bool fail(const std::string& reason);      // the trial went wrong; false where there was none
  void rollback(const std::string& reason);  // to the previous model

  const Record& record() const { return slots_.record(); }
  bool readable() const { return slots_.readable(); }  // false: a slot could not be read, and record() may be an older one, or none
  Objects& objects() { return objects_; }

 private:
  bool tell(const Event& event);
  bool fetch_and_adopt();
  void collect();

  Device& device_;
  const Options options_;
  const Report report_;
  Slots slots_;
  Objects objects_;
  bool with_candidate_ = true;
  std::string opened_;  // digest of the model whose bytes candidate_ has
  std::optional<Mapping> candidate_;
};

}  // namespace mote::fleet::store
