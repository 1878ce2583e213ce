#pragma once

// The model that an application has open: what fleet.h is made of.

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "mote/fleet/agent/config.h"
#include "mote/fleet/agent/golden.h"
#include "mote/fleet/agent/trial.h"
#include "mote/fleet/app/latencies.h"
#include "mote/fleet/base/clock.h"
#include "mote/fleet/package/mapped.h"

namespace mote::fleet::app {

// Runs the golden examples of a program.
using GoldenRunner = std::function<agent::GoldenReport(std::string_view program)>;
agent::GoldenReport run_golden_here(std::string_view program);

class Active {
 public:
  // Throws Error when no model can be opened. Known-good opens without writing, and without a configuration that can be read.
  Active(Files& files, Clock& clock, std::string dir, std::string id, GoldenRunner golden = run_golden_here);
  ~Active();
  Active(const Active&) = delete;
  Active& operator=(const Active&) = delete;

  std::string_view program() const { return program_; }
  const std::string& version() const { return model_.version; }
  bool in_trial() const { return in_trial_; }
  const std::string& dir() const { return dir_; }
  const std::string& id() const { return id_; }

  void ran(uint64_t microseconds) { latencies_.add(microseconds); }
  void confirm();
  void give_up(const std::string& reason);
  bool poll();   // true: another model is active
  void close();  // orderly; the destructor alone counts as a crash

 private:
  enum class Start { kCandidate, kKnownGood };
  store::Health health(std::string* why);
  Start begin_start(store::Updater& u);
  bool count_start(store::Updater& u);
  bool open(store::Updater& u);
  std::string variant_of(const store::Model& model, std::string* why);
  bool passes_golden(const std::string& variant);
  bool end_trial(store::Updater& u, const std::string& reason);
  void stand_aside(const std::string& digest, bool ask_again, const std::string& why);
  std::string wanted(const store::Record& r) const;
  bool judged_bad(std::string* why);
  void ask_again(const store::Record& r);
  void commit(store::Updater& u);
  void write_down();
  store::Updater updater();

  Files& files_;
  Clock& clock_;
  const std::string dir_, id_, folder_;
  const GoldenRunner golden_;
  std::unique_ptr<store::Device> device_;
  store::Model model_;
  std::unique_ptr<package::Mapped> mapped_;
  package::Header header_;
  std::string_view program_;
  std::optional<agent::Config> config_;  // as it was when the model was opened
  bool in_trial_ = false;
  std::string wanted_;  // digest of the model that was to be opened: poll() tells when it is another
  std::string aside_;   // digest of a candidate that this process does not run: judged, or its start could not be written down
  std::string aside_why_;
  bool ask_again_ = false;  // the latter: it may be possible later
  int64_t asked_ms_ = 0;
  agent::Observations seen_;
  Latencies latencies_;
  int64_t last_ms_ = 0;
  uint64_t written_soak_ms_ = 0;
};

}  // namespace mote::fleet::app
