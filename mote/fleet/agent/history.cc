#include "mote/fleet/agent/history.h"

#include "mote/fleet/base/error.h"
#include "mote/fleet/base/json_object.h"
#include "mote/fleet/base/json_writer.h"
#include "mote/fleet/base/text.h"
#include "mote/fleet/store/machine.h"

namespace mote::fleet::agent {
namespace {

constexpr uint64_t kMaxHistoryBytes = 64 << 10;

std::string path_of(const std::string& dir) { return dir + "/history.log"; }

}  // namespace

void append_history(Files& files, Clock& clock, const std::string& dir, const store::Record& r) {
  const store::Model& about = r.candidate.digest.empty() ? r.known_good : r.candidate;
  JsonWriter w;
  w.open('{').name("digest").value(to_hex(about.digest)).name("generation").value(r.generation).name("reason").value(r.reason);
  w.name("state").value(store::name_of(r.state)).name("time").value(utc_text(clock.now())).name("version").value(about.version).close('}');
  const std::string path = path_of(dir);
  uint64_t size = files.size(path).value_or(UINT64_MAX);
  if (size != UINT64_MAX && size > kMaxHistoryBytes) {
    files.rename(path, path + ".1");
    size = UINT64_MAX;
  }
  if (size == UINT64_MAX) files.create(path), size = 0;
  files.write(path, size, w.text + "\n");
}

std::vector<std::string> read_history(Files& files, const std::string& dir) {
  std::vector<std::string> out;
  for (const std::string& path : {path_of(dir) + ".1", path_of(dir)}) {
    const std::string text = read_file(files, path, 4 * kMaxHistoryBytes).value_or("");
    for (size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
      std::string line = text.substr(at, end - at);
      try {
        JsonObject entry(Json::parse(line));
        for (const char* name : {"reason", "state", "time", "version"}) (void)entry.text(name);
        out.push_back(std::move(line));
      } catch (const Error&) {}  // torn by a power cut, or another's
    }
  }
  return out;
}

}  // namespace mote::fleet::agent
