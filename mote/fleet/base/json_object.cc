#include "mote/fleet/base/json_object.h"

#include "mote/fleet/base/digest.h"
#include "mote/fleet/base/error.h"
#include "mote/fleet/base/text.h"

namespace mote::fleet {
namespace {

constexpr size_t kMaxItems = 1024, kMaxText = 256;

}  // namespace

JsonObject::JsonObject(const Json& value) : value_(value) {
  if (value.kind() != Json::Kind::kObject) throw Error("not an object");
}

bool JsonObject::has(const char* name) {
  names_.insert(name);
  return value_.find(name).has_value();
}

Json JsonObject::at(const char* name) {
  names_.insert(name);
  return value_.at(name);
}

std::string JsonObject::text(const char* name) {
  return within(name, [&] { return at(name).string(kMaxText); });
}

uint64_t JsonObject::number(const char* name) {
  return within(name, [&] {
    const int64_t out = at(name).integer();
    if (out < 0) throw Error("below 0");
    return static_cast<uint64_t>(out);
  });
}

bool JsonObject::flag(const char* name) {
  return within(name, [&] { return at(name).boolean(); });
}

std::string JsonObject::sha256(const char* name, bool may_be_empty) {
  const std::optional<std::string> raw = from_hex(text(name));
  if (!raw || (raw->size() != kSha256Bytes && !(may_be_empty && raw->empty()))) throw Error(std::string(name) + " is no SHA-256");
  return *raw;
}

std::vector<std::string> JsonObject::texts(const char* name) {
  return within(name, [&] {
    const Json list = at(name);
    const size_t count = list.size();
    if (count > kMaxItems) throw Error("more than 1024 texts");
    std::vector<std::string> out;
    out.reserve(count);
    for (Json::Cursor c(list); c.next();) out.push_back(c.value().string(kMaxText));
    return out;
  });
}

void JsonObject::finish() const {
  for (Json::Cursor c(value_); c.next();) {
    if (names_.count(c.key()) == 0) throw Error("'" + c.key() + "' is not known");
  }
}

}  // namespace mote::fleet
