#pragma once

// The update as a pure function of the record: step(record, event) is the record to commit, or the same one when the event means nothing
// in that state. So an event that is told twice, because the power went between the deed and its record, does no harm.

#include "mote/fleet/store/record.h"

namespace mote::fleet::store {

enum class EventKind : uint8_t {
  kProvision,  // a factory model becomes known-good; only where there is none
  kRefresh,    // signed metadata offer `model`
  kAdmit,
  kRefuse,     // not for this device now: `reason`
  kFetch,      // fetching starts
  kVerify,     // the object is in the store, synced, read again, its digest right
  kProbePass,  // `model.variant` was probed
  kProbeFail,  // the object is not to be trusted with running: `reason`
  kStage,      // ready to be switched to
  kActivate,   // the trial begins: `tries` starts
  kBoot,       // a start of the application
  kConfirm,    // the trial went well
  kFail,       // the trial went wrong: `reason`
  kSpoil,      // the candidate's object is no longer what was verified: `reason`
  kWithdraw,   // the offer is gone or another: `reason`
  kRollback,   // a person wants the previous model back: `reason`
};

struct Event {
  EventKind kind;
  Model model = {};
  std::string reason = {};
  uint8_t tries = 0;
};

Record step(const Record& record, const Event& event);

// What is to run: the candidate in trial, known-good otherwise. Empty digest: nothing.
const Model& active(const Record& record);

// Does the record need this object? Nothing else may be collected but what no record needs.
bool needs(const Record& record, std::string_view digest);

}  // namespace mote::fleet::store
