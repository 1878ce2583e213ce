#pragma once

// What a device knows of one model id: the record that one of two slots holds. Everything that decides what runs is in here.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mote::fleet::store {

// The way of an update. kConfirmed, kReverted and kIdle are where it may rest; they differ only in what is told about the last one.
enum class State : uint8_t { kIdle, kRefreshed, kAdmitted, kFetching, kVerified, kProbed, kStaged, kTrial, kConfirmed, kReverted };
const char* name_of(State state);

struct Model {
  std::string digest;  // raw SHA-256 of the object; empty: no model
  uint64_t bytes = 0;
  uint64_t security_counter = 0;
  std::string version;  // for people, at most 63 bytes
  std::string variant =
      {};  // file of the package that was probed and is to run, at most 128 bytes; empty: before the probe, or an old record
  bool operator==(const Model& o) const {
    return digest == o.digest && bytes == o.bytes && security_counter == o.security_counter && version == o.version && variant == o.variant;
  }
};

// An object that failed, and why. It is not tried again.
struct Quarantined {
  std::string digest, reason;
  bool operator==(const Quarantined& o) const { return digest == o.digest && reason == o.reason; }
};

struct Record {
  uint64_t generation = 0;  // grows by one with each commit
  State state = State::kIdle;
  uint8_t tries_left = 0;               // in trial
  uint64_t security_floor = 0;          // of the newest confirmed model: older ones are refused
  Model known_good;                     // runs whenever no trial does
  Model previous;                       // known-good before that; kept while there is room
  Model candidate;                      // from kRefreshed to kTrial
  std::string reason;                   // why the last update ended; for people
  std::vector<Quarantined> quarantine;  // newest last; the oldest is forgotten past kMaxQuarantined

  bool quarantines(std::string_view digest) const;
  bool operator==(const Record& other) const;
};

inline constexpr size_t kRecordBytes = 4096, kMaxQuarantined = 24, kMaxReasonBytes = 63;

std::string encode(const Record& record);              // kRecordBytes; texts are cut where they are too long
std::optional<Record> decode(std::string_view bytes);  // empty when anything in it is not what encode() writes

}  // namespace mote::fleet::store
