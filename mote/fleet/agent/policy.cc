#include "mote/fleet/agent/policy.h"

#include <algorithm>

#include "mote/fleet/base/digest.h"
#include "mote/fleet/base/error.h"
#include "mote/fleet/base/json_object.h"
#include "mote/fleet/base/text.h"

namespace mote::fleet::agent {
namespace {

constexpr const char* kDays[] = {"mon", "tue", "wed", "thu", "fri", "sat", "sun"};
constexpr int kMinutesOfDay = 24 * 60;

// "05:30"; 24:00 is the end of a day.
int parse_minute(std::string_view text) {
  const auto digit = [&](size_t i) { return text[i] >= '0' && text[i] <= '9' ? text[i] - '0' : 1000; };
  if (text.size() != 5 || text[2] != ':') throw Error("a time is HH:MM");
  const int hours = digit(0) * 10 + digit(1), minutes = digit(3) * 10 + digit(4);
  if (minutes > 59 || hours * 60 + minutes > kMinutesOfDay) throw Error("a time is 00:00 to 24:00");
  return hours * 60 + minutes;
}

uint8_t parse_days(std::string_view text) {
  if (text == "*") return 127;
  uint8_t days = 0;
  while (true) {
    const size_t comma = std::min(text.find(','), text.size());
    const auto* found = std::find(std::begin(kDays), std::end(kDays), text.substr(0, comma));
    if (found == std::end(kDays)) throw Error("days are mon to sun with commas between them, or *");
    days = static_cast<uint8_t>(days | 1 << (found - kDays));
    if (comma == text.size()) return days;
    text.remove_prefix(comma + 1);
  }
}

Window parse_window(const std::string& text) {
  return within("window '" + text + "'", [&] {
    const size_t space = text.find(' '), dash = text.find('-');
    if (space == std::string::npos || dash == std::string::npos || dash < space) throw Error("expected 'DAYS HH:MM-HH:MM'");
    Window w;
    w.days = parse_days(std::string_view(text).substr(0, space));
    w.from_minute = parse_minute(std::string_view(text).substr(space + 1, dash - space - 1));
    w.to_minute = parse_minute(std::string_view(text).substr(dash + 1));
    if (w.from_minute == kMinutesOfDay) throw Error("a window starts before 24:00");
    return w;
  });
}

uint64_t percent(JsonObject& o, const char* name) {
  const uint64_t out = o.number_or(name, 0);
  if (out > 100) throw Error(std::string(name) + " is 0 to 100");
  return out;
}

// The smallest limit that somebody sets.
uint64_t least(uint64_t a, uint64_t b) { return a == 0 ? b : b == 0 ? a : std::min(a, b); }

std::optional<std::string> refuses_placement(const Policy& p, const std::vector<std::string>& backends) {
  for (const std::string& b : backends) {
    if (contains(p.forbid, b)) return "forbids backend " + b;
    if (!p.allow.empty() && !contains(p.allow, b)) return "does not allow backend " + b;
  }
  const bool served = std::any_of(backends.begin(), backends.end(), [&](const std::string& b) { return contains(p.require, b); });
  if (!p.require.empty() && !served) return "requires one of " + joined(p.require) + "; it runs on " + joined(backends);
  return std::nullopt;
}

}  // namespace

bool Window::contains(int64_t seconds) const {
  const int64_t day = (seconds >= 0 ? seconds : seconds - 86399) / 86400;
  const int minute = static_cast<int>((seconds - day * 86400) / 60);
  const auto on = [&](int64_t d) { return (days >> (((d + 3) % 7 + 7) % 7) & 1) != 0; };  // 1970-01-01 was a Thursday
  if (to_minute > from_minute) return on(day) && minute >= from_minute && minute < to_minute;
  return (on(day) && minute >= from_minute) || (on(day - 1) && minute < to_minute);
}

Policy parse_policy(std::string_view text) {
  JsonObject o(Json::parse(text));
  Policy p;
  if (o.number_or("format", 1) != 1) throw Error("format " + std::to_string(o.number("format")) + " is not known; this program reads 1");
  p.channels = o.texts_or_none("channels");
  p.min_percent = percent(o, "min_percent");
  for (const std::string& window : o.texts_or_none("windows")) p.windows.push_back(parse_window(window));
  p.metered = o.flag_or("metered", true);
  p.fetch_battery_percent = percent(o, "fetch_battery_percent");
  p.activate_battery_percent = percent(o, "activate_battery_percent");
  p.max_bytes_per_second = o.number_or("max_bytes_per_second", 0);
  p.storage_bytes = o.number_or("storage_bytes", 0);
  p.require = o.texts_or_none("require");
  p.allow = o.texts_or_none("allow");
  p.forbid = o.texts_or_none("forbid");
  o.finish();
  return p;
}

std::optional<std::string> Policies::refuses_channel(const std::string& channel) const {
  for (const auto& [origin, p] : list_) {
    if (!p.channels.empty() && !contains(p.channels, channel))
      return origin + " has no channel '" + channel + "', but " + joined(p.channels);
  }
  return std::nullopt;
}

std::optional<std::string> Policies::refuses_percent(uint64_t percent) const {
  for (const auto& [origin, p] : list_) {
    if (percent < p.min_percent)
      return origin + " waits until a rollout has " + std::to_string(p.min_percent) + " %; it has " + std::to_string(percent) + " %";
  }
  return std::nullopt;
}

std::optional<std::string> Policies::refuses_backends(std::vector<std::string> backends) const {
  if (backends.empty()) backends = {"cpu"};
  for (const auto& [origin, p] : list_) {
    if (const auto why = refuses_placement(p, backends)) return origin + " " + *why;
  }
  return std::nullopt;
}

std::optional<std::string> Policies::refuses_now(Step step, int64_t now, const Conditions& c) const {
  for (const auto& [origin, p] : list_) {
    const auto open = [&](const Window& w) { return w.contains(now); };
    if (!p.windows.empty() && std::none_of(p.windows.begin(), p.windows.end(), open)) return origin + ": outside its windows";
    if (step == Step::kFetch && c.metered && !p.metered) return origin + ": not over a metered network";
    const uint64_t battery = step == Step::kFetch ? p.fetch_battery_percent : p.activate_battery_percent;
    if (c.on_battery && c.battery_percent < battery)
      return origin + ": battery at " + std::to_string(c.battery_percent) + " %, " + std::to_string(battery) + " % needed";
  }
  return std::nullopt;
}

uint64_t Policies::max_bytes_per_second() const {
  uint64_t out = 0;
  for (const auto& item : list_) out = least(out, item.second.max_bytes_per_second);
  return out;
}

uint64_t Policies::storage_bytes() const {
  uint64_t out = 0;
  for (const auto& item : list_) out = least(out, item.second.storage_bytes);
  return out;
}

Rollout parse_rollout(std::string_view text) {
  JsonObject o(Json::parse(text));
  Rollout r;
  r.channel = o.text("channel");
  r.package = o.text("package");
  r.sha256 = o.sha256("sha256");
  r.percent = percent(o, "percent");
  r.halted = o.flag("halted");
  o.finish();
  return r;
}

bool in_ring(const std::string& device, const Rollout& rollout) {
  const std::string hash = digest(device + '\n' + rollout.channel + '\n' + rollout.sha256);
  uint32_t number = 0;
  for (int i = 0; i < 4; ++i) number = number << 8 | static_cast<unsigned char>(hash[static_cast<size_t>(i)]);
  return uint64_t{number} * 100 < rollout.percent << 32;
}

}  // namespace mote::fleet::agent
