#include "mote/fleet/agent/config.h"

#include "mote/fleet/base/error.h"
#include "mote/fleet/base/json_object.h"
#include "mote/fleet/base/text.h"
#include "mote/fleet/base/toml.h"

namespace mote::fleet::agent {

Config parse_config(std::string_view text) {
  const std::string json = toml_to_json(text);
  JsonObject o(Json::parse_canonical(json));
  Config c;
  c.metadata_url = o.text("metadata_url");
  c.targets_url = o.text("targets_url");
  c.device = o.text("device");
  c.interval_seconds = o.number_or("interval_seconds", c.interval_seconds);
  c.probe_seconds = o.number_or("probe_seconds", c.probe_seconds);
  c.tries = o.number_or("tries", c.tries);
  if (c.interval_seconds == 0 || c.probe_seconds == 0 || c.tries == 0 || c.tries > 200 || c.probe_seconds > 86400)
    throw Error("interval_seconds, probe_seconds (at most 86400) and tries (at most 200) are above 0");
  c.app_group = o.text_or("app_group", "");
  c.backends = o.texts_or_none("backends");
  c.custom_ops = o.texts_or_none("custom_ops");
  for (Json::Cursor m(o.at("models")); m.next();) {
    if (m.key().empty() || m.key()[0] == '.' || percent_encode(m.key()) != m.key()) throw Error("'" + m.key() + "' is no model id");
    c.models[m.key()] = m.value().string();
  }
  if (o.has("policy")) {
    c.policy = within("policy", [&] { return parse_policy(o.at("policy").text()); });
  }
  o.finish();
  return c;
}

Config read_config(Files& files, const std::string& dir) {
  const auto text = read_file(files, config_path(dir), 1 << 20);
  if (!text) throw Error(config_path(dir) + " does not exist: 'mote fleet init' makes it");
  return within(config_path(dir), [&] { return parse_config(*text); });
}

std::string config_text(const Config& c) {
  std::string out = "metadata_url = " + json_string(c.metadata_url) + "\ntargets_url = " + json_string(c.targets_url) +
                    "\ndevice = " + json_string(c.device) + "\ninterval_seconds = " + std::to_string(c.interval_seconds) + "\n" +
                    (c.app_group.empty() ? "" : "app_group = " + json_string(c.app_group) + "\n") + "\n[models]\n";
  for (const auto& [id, channel] : c.models) out += id + " = " + json_string(channel) + "\n";
  return out;
}

}  // namespace mote::fleet::agent
