#include "mote/fleet/store/objects.h"

#include "mote/fleet/base/digest.h"
#include "mote/fleet/base/error.h"
#include "mote/fleet/base/text.h"

namespace mote::fleet::store {

std::string Objects::path(const std::string& digest) const { return dir_ + "/objects/" + to_hex(digest); }
std::string Objects::incoming(const std::string& digest) const { return dir_ + "/incoming/" + to_hex(digest); }

void Objects::prepare() {
  for (const char* folder : {"/objects", "/incoming"}) files_.make_dir(dir_ + folder);
}

std::optional<Mapping> Objects::open(const Model& model) {
  if (files_.size(path(model.digest)) != model.bytes) return std::nullopt;
  Mapping mapping = files_.map(path(model.digest));
  if (mapping.bytes.size() != model.bytes || digest(mapping.bytes) != model.digest) return std::nullopt;
  return mapping;
}

Condition Objects::look(const Model& model, Mapping* out_mapping, std::string* out_why) try {
  std::optional<Mapping> found = open(model);
  if (!found) return Condition::kDamaged;
  if (out_mapping != nullptr) *out_mapping = *std::move(found);
  return Condition::kIntact;
} catch (const IoError& e) {
  if (out_why != nullptr) *out_why = e.what();
  return Condition::kUnreadable;
}

bool Objects::adopt(const Model& model) {
  const std::string from = incoming(model.digest);
  const std::optional<uint64_t> size = files_.size(from);
  if (!size) return false;
  files_.sync(from);
  files_.drop_cache(from);
  if (*size != model.bytes || files_.size(from) != model.bytes || digest_file(files_, from) != model.digest) {
    files_.remove(from);
    return false;
  }
  files_.rename(from, path(model.digest));
  files_.sync_dir(dir_ + "/objects");
  return true;
}

uint64_t Objects::used_bytes() {
  uint64_t sum = 0;
  for (const std::string& digest : digests(dir_ + "/objects")) sum += files_.size(path(digest)).value_or(0);
  for (const std::string& digest : digests(dir_ + "/incoming")) sum += files_.size(incoming(digest)).value_or(0);
  return sum;
}

std::vector<std::string> Objects::digests(const std::string& dir) {
  std::vector<std::string> out;
  for (const std::string& name : files_.list(dir)) {
    if (const auto raw = from_hex(name)) out.push_back(*raw);
  }
  return out;
}

std::vector<std::string> Objects::leftovers(const std::function<bool(const std::string& digest)>& keep,
                                            const std::string& incoming_digest) {
  std::vector<std::string> out;
  for (const std::string& digest : digests(dir_ + "/objects")) {
    if (!keep(digest)) out.push_back(path(digest));
  }
  for (const std::string& digest : digests(dir_ + "/incoming")) {
    if (digest != incoming_digest) out.push_back(incoming(digest));
  }
  return out;
}

void Objects::remove(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    try {
      files_.remove(path);
    } catch (const IoError&) {}
  }
}

}  // namespace mote::fleet::store
