#include "mote/fleet/store/updater.h"

#include "mote/fleet/base/error.h"

namespace mote::fleet::store {

Updater::Updater(Files& files, const std::string& dir, Device& device, Options options, Report report)
    : device_(device), options_(options), report_(std::move(report)), slots_(files, dir), objects_(files, dir) {}

bool Updater::tell(Event event) {
  if (!slots_.tell(event)) return false;
  if (report_) {
    try {
      report_(slots_.record());
    } catch (const std::exception&) {}
  }
  return true;
}

void Updater::boot() {
  try {
    tell({EventKind::kBoot});
  } catch (const Error&) {
    trial_counted_ = false;
  }
}

Model Updater::open_active(std::string* path) {
  enum { kIntact, kDamaged, kUnreadable };
  const auto look = [&](const Model& model) {
    try {
      if (model.digest.empty() || !objects_.intact(model)) return kDamaged;
    } catch (const IoError&) {
      return kUnreadable;
    }
    *path = objects_.path(model.digest);
    return kIntact;
  };
  if (record().state == State::kTrial && trial_counted_) {
    const auto found = look(record().candidate);
    if (found == kIntact) return record().candidate;
    if (found == kDamaged) tell({EventKind::kSpoil, {}, "the object was damaged"});
  }
  const Record& r = record();
  for (const Model* model : {&r.known_good, &r.previous}) {
    if (look(*model) == kIntact) return *model;
  }
  if (r.state >= State::kProbed && look(r.candidate) == kIntact) return r.candidate;
  throw Error("no model is installed whose bytes are intact");
}

void Updater::provision(const Model& model) {
  if (!record().known_good.digest.empty()) throw Error("there is a known-good model already");
  objects_.prepare();
  if (!objects_.intact(model) && !objects_.adopt(model)) throw Error("the factory model is not what its digest says");
  tell({EventKind::kProvision, model});
}

bool Updater::offer(const Model& model) { return tell({EventKind::kRefresh, model}); }
void Updater::withdraw(const std::string& reason) { tell({EventKind::kWithdraw, {}, reason}); }
void Updater::fail(const std::string& reason) { tell({EventKind::kFail, {}, reason}); }
void Updater::rollback(const std::string& reason) { tell({EventKind::kRollback, {}, reason}); }

bool Updater::fetch_and_adopt() {
  const Model& model = record().candidate;
  if (objects_.intact(model)) return true;
  objects_.prepare();
  device_.fetch(model, objects_.incoming(model.digest));
  return objects_.adopt(model);
}

// Known-good and candidate stay; the previous model too, while all of them fit the budget. An agent and an application may both be here:
// what is left over by a record that is no longer the newest may be in use.
void Updater::collect() {
  const Record& r = record();
  const bool room = r.known_good.bytes + r.candidate.bytes + r.previous.bytes <= options_.storage_budget;
  const auto keep = [&](const std::string& digest) { return needs(r, digest) || (room && digest == r.previous.digest); };
  const std::vector<std::string> leftovers = objects_.leftovers(keep, r.candidate.digest);
  if (leftovers.empty()) return;
  const std::shared_ptr<void> alone = slots_.hold();
  if (!alone) return;
  slots_.affirm();
  objects_.remove(leftovers);
}

State Updater::advance(State until) {
  while (true) {
    const Record& r = record();
    if (r.state >= until && r.state <= State::kStaged) return r.state;
    switch (r.state) {
      case State::kRefreshed: {
        const std::optional<std::string> why = device_.refusal(r.candidate);
        tell(why ? Event{EventKind::kRefuse, {}, *why} : Event{EventKind::kAdmit});
        break;
      }
      case State::kAdmitted:
        collect();
        tell({EventKind::kFetch});
        break;
      case State::kFetching:
        tell(fetch_and_adopt() ? Event{EventKind::kVerify} : Event{EventKind::kSpoil, {}, "what was fetched is not what was signed"});
        break;
      case State::kVerified: {
        const std::optional<std::string> why = device_.probe_failure(objects_.path(r.candidate.digest));
        tell(why ? Event{EventKind::kProbeFail, {}, *why} : Event{EventKind::kProbePass});
        break;
      }
      case State::kProbed:
        tell(objects_.intact(r.candidate) ? Event{EventKind::kStage} : Event{EventKind::kSpoil, {}, "the object was damaged"});
        break;
      case State::kStaged:
        if (!device_.may_activate()) return r.state;
        tell({EventKind::kActivate, {}, {}, options_.tries});
        return record().state;  // it starts with the application's next start or swap
      case State::kTrial: {
        std::string why = "its health gate failed";
        const Health health = device_.health(&why);
        if (health == Health::kUndecided) return r.state;
        tell(health == Health::kGood ? Event{EventKind::kConfirm} : Event{EventKind::kFail, {}, why});
        break;
      }
      case State::kIdle:
      case State::kConfirmed:
      case State::kReverted: collect(); return r.state;
    }
  }
}

}  // namespace mote::fleet::store
