#pragma once

// What is seen of a model in trial, and what it means. The application's side writes; whoever looks may judge.

#include <cstdint>
#include <optional>
#include <string>

#include "mote/fleet/base/files.h"
#include "mote/fleet/package/manifest.h"
#include "mote/fleet/store/updater.h"

namespace mote::fleet::agent {

// What the golden examples of a model in trial have come to. Until they say something the gate is undecided.
enum class Golden : uint8_t { kNotRun, kPassed, kApplication };  // the last: they cannot be run here (verdict.h); the application decides

struct Observations {
  std::string digest;             // raw: of the model that they are about
  uint64_t starts = 0;            // of the application with it
  uint64_t crashes = 0;           // starts that did not end orderly while the machine stayed up
  bool open = false;              // in use, or ended in disorder
  std::string boot;               // of the machine, when it was opened
  uint64_t soaked_ms = 0;         // in use, by a clock that cannot be set
  uint64_t runs = 0, p99_us = 0;  // p99: the worst of the starts; of golden examples where the application tells no times
  uint64_t ram_bytes = 0;
  Golden golden = Golden::kNotRun;
  std::string waits;    // why the golden examples could not be run
  std::string failure;  // golden examples that went wrong, or what the application found
};

// What applications write lies in a folder of its own: it may belong to another user than the rest.
inline std::string app_dir(const std::string& model_dir) { return model_dir + "/app"; }

// The trial of one model in that folder: a file of its own, with a hash, so that no other trial's end gets into it and damage is noticed.
std::string observations_path(const std::string& model_dir, const std::string& digest);

// Empty where nothing was seen yet. Damage may have taken a crash or a failure away: what is damaged comes back as a failure.
std::optional<Observations> read_observations(Files& files, const std::string& model_dir, const std::string& digest);
void write_observations(Files& files, const std::string& model_dir, const Observations& seen);

// Removes the records of trials of other models.
void remove_other_observations(Files& files, const std::string& model_dir, const std::string& digest);

// The application (or a person for it) is content with this model.
void write_confirmation(Files& files, const std::string& model_dir, const std::string& digest);
bool is_confirmed(Files& files, const std::string& model_dir, const std::string& digest);

// The gate. `why` is set where it is bad, or undecided: what it waits for.
store::Health judge(const package::HealthGate& gate, const Observations& seen, bool confirmed, std::string* why);

// Of the record's candidate, from what the folder holds. `gate`: for whoever has the candidate open; without it the object is read, and all
// of it is hashed before anything is decided by the gate that it asks for.
store::Health judge_trial(Files& files, const std::string& model_dir, const store::Record& record, std::string* why,
                          const package::HealthGate* gate = nullptr);

}  // namespace mote::fleet::agent
