#pragma once

// The model that an application has open: what fleet.h is made of.

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "mote/fleet/agent/trial.h"
#include "mote/fleet/app/latencies.h"
#include "mote/fleet/base/clock.h"
#include "mote/fleet/package/mapped.h"

namespace mote::fleet::app {

class Active {
 public:
  // Throws Error when no model can be opened.
  Active(Files& files, Clock& clock, std::string dir, std::string id);
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
  bool try_open();
  bool passes_trial_start();
  void write_down();
  store::Updater updater();

  Files& files_;
  Clock& clock_;
  const std::string dir_, id_, folder_;
  std::unique_ptr<store::Device> device_;
  store::Model model_;
  std::unique_ptr<package::Mapped> mapped_;
  package::Header header_;
  std::string_view program_;
  bool in_trial_ = false;
  agent::Observations seen_;
  Latencies latencies_;
  int64_t last_ms_ = 0;
  uint64_t written_soak_ms_ = 0;
};

}  // namespace mote::fleet::app
