#include "mote/fleet/store/record.h"

#include <algorithm>

#include "mote/fleet/base/digest.h"

namespace mote::fleet::store {
namespace {

constexpr std::string_view kMagic = "MOTESLOT";
constexpr uint64_t kFormat = 1;
constexpr size_t kBodyBytes = kRecordBytes - kSha256Bytes, kTextBytes = 64, kNameBytes = 129;

// Little-endian numbers, texts in fields of fixed size: length, bytes, zeros.
class Writer {
 public:
  void number(uint64_t value) {
    for (int i = 0; i < 8; ++i) out += static_cast<char>(value >> (8 * i) & 255);
  }
  void text(std::string_view s, size_t field = kTextBytes) {
    s = s.substr(0, field - 1);
    out += static_cast<char>(s.size());
    out += s;
    out.append(field - 1 - s.size(), '\0');
  }
  void model(const Model& m) {
    text(m.digest);
    number(m.bytes);
    number(m.security_counter);
    text(m.version);
  }
  std::string out;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : in_(bytes) {}
  std::string_view take(size_t count) {
    good = good && count <= in_.size();
    if (!good) return {};
    const std::string_view out = in_.substr(0, count);
    in_.remove_prefix(count);
    return out;
  }
  uint64_t number() {
    const std::string_view bytes = take(8);
    uint64_t value = 0;
    for (size_t i = bytes.size(); i > 0; --i) value = value << 8 | static_cast<unsigned char>(bytes[i - 1]);
    return value;
  }
  std::string text(size_t field = kTextBytes) {
    const std::string_view bytes = take(field);
    const size_t size = bytes.empty() ? 0 : static_cast<unsigned char>(bytes[0]);
    good = good && size < field;
    return good ? std::string(bytes.substr(1, size)) : "";
  }
  std::string digest() {
    std::string out = text();
    good = good && (out.empty() || out.size() == kSha256Bytes);
    return out;
  }
  Model model() {
    Model m;
    m.digest = digest();
    m.bytes = number();
    m.security_counter = number();
    m.version = text();
    return m;
  }
  bool good = true;

 private:
  std::string_view in_;
};

}  // namespace

const char* name_of(State state) {
  constexpr const char* names[] = {"IDLE",   "REFRESHED", "ADMITTED", "FETCHING",  "VERIFIED",
                                   "PROBED", "STAGED",    "TRIAL",    "CONFIRMED", "REVERTED"};
  return names[static_cast<size_t>(state)];
}

bool Record::quarantines(std::string_view digest) const {
  return std::any_of(quarantine.begin(), quarantine.end(), [&](const Quarantined& q) { return q.digest == digest; });
}

bool Record::operator==(const Record& o) const {
  return generation == o.generation && state == o.state && tries_left == o.tries_left && security_floor == o.security_floor &&
         known_good == o.known_good && previous == o.previous && candidate == o.candidate && reason == o.reason &&
         quarantine == o.quarantine;
}

std::string encode(const Record& r) {
  Writer w;
  w.out = kMagic;
  w.number(kFormat);
  w.number(r.generation);
  w.number(static_cast<uint64_t>(r.state));
  w.number(r.tries_left);
  w.number(r.security_floor);
  w.model(r.known_good);
  w.model(r.previous);
  w.model(r.candidate);
  w.text(r.reason);
  const size_t count = std::min(r.quarantine.size(), kMaxQuarantined);
  w.number(count);
  for (size_t i = r.quarantine.size() - count; i < r.quarantine.size(); ++i) {
    w.text(r.quarantine[i].digest);
    w.text(r.quarantine[i].reason);
  }
  // Behind what programs of format 1 have always read: those before them found zeros here, which are empty names.
  for (const Model* m : {&r.known_good, &r.previous, &r.candidate}) w.text(m->variant, kNameBytes);
  static_assert(8 * 7 + 3 * (2 * kTextBytes + 16 + kNameBytes) + kTextBytes + kMaxQuarantined * 2 * kTextBytes <= kBodyBytes);
  w.out.resize(kBodyBytes, '\0');
  return w.out + digest(w.out);
}

std::optional<Record> decode(std::string_view bytes) {
  if (bytes.size() != kRecordBytes || bytes.substr(0, kMagic.size()) != kMagic) return std::nullopt;
  if (digest(bytes.substr(0, kBodyBytes)) != bytes.substr(kBodyBytes)) return std::nullopt;
  Reader in(bytes.substr(kMagic.size(), kBodyBytes - kMagic.size()));
  const uint64_t format = in.number();
  Record r;
  r.generation = in.number();
  const uint64_t state = in.number(), tries = in.number();
  r.security_floor = in.number();
  r.known_good = in.model();
  r.previous = in.model();
  r.candidate = in.model();
  r.reason = in.text();
  const uint64_t count = in.number();
  if (format != kFormat || state > static_cast<uint64_t>(State::kReverted) || tries > 255 || count > kMaxQuarantined) return std::nullopt;
  r.state = static_cast<State>(state);
  r.tries_left = static_cast<uint8_t>(tries);
  for (uint64_t i = 0; i < count; ++i) {
    Quarantined q;
    q.digest = in.digest();
    q.reason = in.text();
    r.quarantine.push_back(q);
  }
  for (Model* m : {&r.known_good, &r.previous, &r.candidate}) m->variant = in.text(kNameBytes);
  if (!in.good) return std::nullopt;
  return r;
}

}  // namespace mote::fleet::store
