#include "mote/fleet/store/updater.h"

#include "mote/fleet/base/error.h"

namespace mote::fleet::store {
namespace {

// Ends the update; it may be offered again, and is fetched again where it still is not the right bytes then.
Event spoiled(Condition c) {
  return {EventKind::kSpoil, {}, c == Condition::kUnreadable ? "the object cannot be read" : "the object was damaged"};
}

}  // namespace

Updater::Updater(Files& files, const std::string& dir, Device& device, Options options, Report report)
    : device_(device), options_(options), report_(std::move(report)), slots_(files, dir), objects_(files, dir) {}

bool Updater::tell(const Event& event) {
  if (!slots_.tell(event)) return false;
  if (report_) {
    try {
      report_(slots_.record());
    } catch (const std::exception&) {}
  }
  return true;
}

bool Updater::boot() {
  try {
    tell({EventKind::kBoot});
  } catch (const Error&) {
    with_candidate_ = false;
  }
  return with_candidate_;
}

const std::optional<Mapping>& Updater::open_candidate() {
  const Model& model = record().candidate;
  if (opened_ != model.digest) {
    candidate_ = objects_.open(model);
    opened_ = model.digest;
  }
  return candidate_;
}

Model Updater::open_active(std::string* path, Mapping* mapping) {
  const auto look = [&](const Model& model) {
    if (model.digest.empty()) return Condition::kDamaged;
    const Condition found = objects_.look(model, mapping);
    if (found == Condition::kIntact) *path = objects_.path(model.digest);
    return found;
  };
  if (record().state == State::kTrial && with_candidate_) {
    try {
      if (const std::optional<Mapping>& found = open_candidate()) {
        if (mapping != nullptr) *mapping = *found;
        *path = objects_.path(record().candidate.digest);
        return record().candidate;
      }
      tell({EventKind::kSpoil, {}, "the object was damaged"});
    } catch (const Error&) {}  // unreadable, or not to be written down: known-good runs all the same; the next one who can says so
  }
  const Record& r = record();
  const Condition known_good = look(r.known_good);
  if (known_good == Condition::kIntact) return r.known_good;
  // What took the place of a model with a known fault must not give way to it again.
  const bool too_old = r.previous.security_counter < r.security_floor;
  if (!too_old && look(r.previous) == Condition::kIntact) return r.previous;
  const bool verified = r.state >= State::kProbed && r.state <= State::kStaged;
  if (verified && look(r.candidate) == Condition::kIntact) return r.candidate;
  if (r.known_good.digest.empty()) throw Error("no model is installed whose bytes are intact");
  std::string why = "model " + r.known_good.version + (known_good == Condition::kUnreadable ? " cannot be read" : " is damaged");
  if (too_old && !r.previous.digest.empty())
    why += ", and " + r.previous.version + " before it has security counter " + std::to_string(r.previous.security_counter) + "; " +
           std::to_string(r.security_floor) + " is needed";
  throw Error(why + ": no model is installed whose bytes are intact; 'mote fleet install' fetches it again while it is offered");
}

void Updater::provision(const Model& model) {
  if (!record().known_good.digest.empty()) throw Error("there is a known-good model already");
  objects_.prepare();
  if (objects_.look(model) != Condition::kIntact && !objects_.adopt(model)) throw Error("the factory model is not what its digest says");
  tell({EventKind::kProvision, model});
}

bool Updater::offer(const Model& model) { return tell({EventKind::kRefresh, model}); }
void Updater::withdraw(const std::string& reason) { tell({EventKind::kWithdraw, {}, reason}); }
bool Updater::fail(const std::string& reason) { return tell({EventKind::kFail, {}, reason}); }
void Updater::rollback(const std::string& reason) { tell({EventKind::kRollback, {}, reason}); }

bool Updater::fetch_and_adopt() {
  const Model& model = record().candidate;
  // What the medium does not give back is written anew, elsewhere on it: the name changes to the new file when that is whole.
  if (objects_.look(model) == Condition::kIntact) return true;
  objects_.prepare();
  device_.fetch(model, objects_.incoming(model.digest));
  return objects_.adopt(model);
}

// Known-good and candidate stay; the previous model too, while all of them fit the budget. An agent and an application may both be here:
// an object that only an older record needs may be in use by it.
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
        Mapping object;
        const Condition found = objects_.look(r.candidate, &object);
        if (found != Condition::kIntact) {
          tell(spoiled(found));
          break;
        }
        const Probed probed = device_.probe(object);
        Event event{probed.failure ? EventKind::kProbeFail : EventKind::kProbePass, {}, probed.failure.value_or("")};
        event.model.variant = probed.variant;
        tell(event);
        break;
      }
      case State::kProbed: {
        const Condition found = objects_.look(r.candidate);
        tell(found == Condition::kIntact ? Event{EventKind::kStage} : spoiled(found));
        break;
      }
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
