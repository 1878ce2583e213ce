#pragma once

// What is seen of a model in trial, and what it means. The application's side writes; whoever looks may judge.

#include <cstdint>
#include <optional>
#include <string>

#include "mote/fleet/base/files.h"
#include "mote/fleet/package/manifest.h"
#include "mote/fleet/store/updater.h"

namespace mote::fleet::agent {

struct Observations {
  std::string digest;             // raw: of the model that they are about
  uint64_t starts = 0;            // of the application with it
  uint64_t crashes = 0;           // starts that did not end orderly while the machine stayed up
  bool open = false;              // in use, or ended in disorder
  std::string boot;               // of the machine, when it was opened
  uint64_t soaked_ms = 0;         // in use, by a clock that cannot be set
  uint64_t runs = 0, p99_us = 0;  // p99: the worst of the starts; of golden examples where the application tells no times
  uint64_t ram_bytes = 0;
  std::string failure;  // golden examples that went wrong, or what the application found
};

// A trial's file in the model's folder; empty where it is about another model, or damaged.
std::optional<Observations> read_observations(Files& files, const std::string& model_dir, const std::string& digest);
void write_observations(Files& files, const std::string& model_dir, const Observations& seen);

// The application (or a person for it) is content with this model.
void write_confirmation(Files& files, const std::string& model_dir, const std::string& digest);
bool is_confirmed(Files& files, const std::string& model_dir, const std::string& digest);

// The gate. `why` is set where it is bad, or undecided: what it waits for.
store::Health judge(const package::HealthGate& gate, const Observations& seen, bool confirmed, std::string* why);

// Of the record's candidate, from what the folder holds.
store::Health judge_trial(Files& files, const std::string& model_dir, const store::Record& record, std::string* why);

}  // namespace mote::fleet::agent
