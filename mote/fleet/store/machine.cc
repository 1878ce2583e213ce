#include "mote/fleet/store/machine.h"

#include "mote/fleet/base/text.h"

namespace mote::fleet::store {
namespace {

bool at_rest(State s) { return s == State::kIdle || s == State::kConfirmed || s == State::kReverted; }

// The update ends here; known-good goes on.
Record end(Record r, State state, const std::string& reason, bool quarantine) {
  if (quarantine && !r.quarantines(r.candidate.digest)) {
    if (r.quarantine.size() >= kMaxQuarantined) r.quarantine.erase(r.quarantine.begin());
    r.quarantine.push_back({r.candidate.digest, printable(reason, kMaxReasonBytes)});
  }
  r.state = state;
  r.candidate = Model();
  r.tries_left = 0;
  r.reason = printable(reason, kMaxReasonBytes);
  return r;
}

Record move(Record r, State state) {
  r.state = state;
  return r;
}

Record refresh(Record r, const Model& offered) {
  const bool same = offered.digest == r.known_good.digest;
  if (!at_rest(r.state) || offered.digest.empty() || same || r.quarantines(offered.digest)) return r;
  if (offered.security_counter < r.security_floor) return r;
  r.candidate = offered;
  r.reason.clear();
  return move(r, State::kRefreshed);
}

Record boot(Record r) {
  // Only a trial counts: the number of starts of a confirmed model means nothing.
  if (r.state != State::kTrial) return r;
  if (r.tries_left == 0) return end(r, State::kReverted, "did not confirm within its tries", true);
  --r.tries_left;
  return r;
}

Record confirm(Record r) {
  if (r.state != State::kTrial) return r;
  r.previous = r.known_good;
  r.known_good = r.candidate;
  if (r.known_good.security_counter > r.security_floor) r.security_floor = r.known_good.security_counter;
  return end(r, State::kConfirmed, "", false);
}

Record spoil(const Record& r, const std::string& reason) {
  if (r.state == State::kTrial) return end(r, State::kReverted, reason, false);
  const bool under_way =
      r.state == State::kFetching || r.state == State::kVerified || r.state == State::kProbed || r.state == State::kStaged;
  return under_way ? end(r, State::kIdle, reason, false) : r;
}

Record withdraw(const Record& r, const std::string& reason) {
  return at_rest(r.state) || r.state == State::kTrial ? r : end(r, State::kIdle, reason, false);
}

Record rollback(Record r, const std::string& reason) {
  if (r.state == State::kTrial) return end(r, State::kReverted, reason, true);
  const bool allowed = at_rest(r.state) && !r.previous.digest.empty() && r.previous.security_counter >= r.security_floor;
  if (!allowed) return r;
  // The model that runs now is the one that fails.
  r.candidate = r.known_good;
  r.known_good = r.previous;
  r.previous = Model();
  return end(r, State::kReverted, reason, true);
}

}  // namespace

Record step(const Record& r, const Event& event) {
  const auto from = [&](State state, State next) { return r.state == state ? move(r, next) : r; };
  switch (event.kind) {
    case EventKind::kProvision: {
      if (!r.known_good.digest.empty() || !at_rest(r.state)) return r;
      Record out = r;
      out.known_good = event.model;
      out.security_floor = event.model.security_counter;
      return out;
    }
    case EventKind::kRefresh: return refresh(r, event.model);
    case EventKind::kAdmit: return from(State::kRefreshed, State::kAdmitted);
    case EventKind::kRefuse: return r.state == State::kRefreshed ? end(r, State::kIdle, event.reason, false) : r;
    case EventKind::kFetch: return from(State::kAdmitted, State::kFetching);
    case EventKind::kVerify: return from(State::kFetching, State::kVerified);
    case EventKind::kProbePass: {
      Record out = from(State::kVerified, State::kProbed);
      if (r.state == State::kVerified) out.candidate.variant = event.model.variant;
      return out;
    }
    case EventKind::kProbeFail: return r.state == State::kVerified ? end(r, State::kIdle, event.reason, true) : r;
    case EventKind::kStage: return from(State::kProbed, State::kStaged);
    case EventKind::kActivate: {
      Record out = from(State::kStaged, State::kTrial);
      if (r.state == State::kStaged) out.tries_left = event.tries;
      return out;
    }
    case EventKind::kBoot: return boot(r);
    case EventKind::kConfirm: return confirm(r);
    case EventKind::kFail: return r.state == State::kTrial ? end(r, State::kReverted, event.reason, true) : r;
    case EventKind::kSpoil: return spoil(r, event.reason);
    case EventKind::kWithdraw: return withdraw(r, event.reason);
    case EventKind::kRollback: return rollback(r, event.reason);
  }
  return r;
}

const Model& active(const Record& record) { return record.state == State::kTrial ? record.candidate : record.known_good; }

bool needs(const Record& record, std::string_view digest) {
  return !digest.empty() && (digest == record.known_good.digest || digest == record.candidate.digest);
}

}  // namespace mote::fleet::store
