#include "mote/compiler/target/target.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "mote/compiler/target/toml.h"

namespace mote::target {
namespace {

constexpr size_t kMostBytes = 1u << 20;  // of a text
constexpr const char* kLevelKeys[kLevelCount] = {"l1", "l2", "l3", "memory"};

// Every key of a description, once: the writer and the reader visit the same list.
enum Presence { kRequired, kOptional };

template <class T, class V>
void visit_rates(T& r, const V& v) {
  v("f32_gflops", kRequired, r.f32_gflops);
  v("int8_gops", kRequired, r.int8_gops);
  for (int i = 0; i < kLevelCount; ++i) {
    auto& b = r.bandwidth[static_cast<size_t>(i)];
    const std::string level = kLevelKeys[i];
    v(level + "_read_gb_s", kOptional, b.read);
    v(level + "_write_gb_s", kOptional, b.write);
    v(level + "_copy_gb_s", kOptional, b.copy);
  }
}

template <class T, class V>
void visit(T& t, const V& table) {
  table("machine", [&](const auto& v) {
    v("cpu", kRequired, t.cpu);
    v("architecture", kRequired, t.architecture);
    v("kernels", kRequired, t.kernels);
    v("cores", kRequired, t.cores);
  });
  table("cache", [&](const auto& v) {
    v("source", kRequired, t.cache_source);
    for (int i = 0; i < kMemory; ++i) v(std::string(kLevelKeys[i]) + "_bytes", kOptional, t.cache_bytes[static_cast<size_t>(i)]);
  });
  table("one_thread", [&](const auto& v) { visit_rates(t.one, v); });
  table("all_threads", [&](const auto& v) {
    v("threads", kRequired, t.all.threads);
    visit_rates(t.all, v);
  });
  table("cost", [&](const auto& v) {
    v("call_ns", kOptional, t.call_ns);
    v("handoff_awake_us", kOptional, t.handoff_awake_us);
    v("handoff_asleep_us", kOptional, t.handoff_asleep_us);
  });
}

std::string value_text(const std::string& s) { return toml_string(s); }
std::string value_text(uint32_t v) { return std::to_string(v); }
std::string value_text(uint64_t v) { return std::to_string(v); }
// Four digits are more than a measurement is good for.
std::string value_text(double v) {
  char text[40];
  std::snprintf(text, sizeof text, "%.*f", v >= 1000 ? 0 : v >= 100 ? 1 : v >= 10 ? 2 : 3, v);
  return text;
}

std::string shown(double v) {
  char text[40];
  std::snprintf(text, sizeof text, "%g", v);
  return text;
}

bool absent(const std::string& s) { return s.empty(); }
template <class N>
bool absent(N v) {
  return !(v > 0);
}

class TargetReader {
 public:
  TargetReader(const std::vector<TomlEntry>& entries, std::string* error) : entries_(entries), used_(entries.size()), error_(*error) {}

  template <class T>
  void value(const std::string& table, const std::string& key, Presence presence, T& out) {
    const TomlEntry* e = take(table, key);
    if (e != nullptr) read(*e, out);
    else if (presence == kRequired) fail(where(table, key) + " is missing");
  }
  // What nobody asked for is a mistake of writing, or from a newer version.
  void refuse_rest() {
    for (size_t i = 0; i < entries_.size(); ++i)
      if (!used_[i]) fail(line_of(entries_[i]) + where(entries_[i].table, entries_[i].key) + " is not known to this version of mote");
  }
  bool ok() const { return error_.empty(); }
  void fail(const std::string& what) {
    if (ok()) error_ = what;
  }

 private:
  static std::string where(const std::string& table, const std::string& key) {
    return "the key '" + key + "'" + (table.empty() ? "" : " of [" + table + "]");
  }
  static std::string line_of(const TomlEntry& e) { return "line " + std::to_string(e.line) + ": "; }

  const TomlEntry* take(const std::string& table, const std::string& key) {
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i].table != table || entries_[i].key != key) continue;
      used_[i] = true;
      return &entries_[i];
    }
    return nullptr;
  }
  bool expect(const TomlEntry& e, bool fits, const char* expected) {
    if (fits) return true;
    fail(line_of(e) + where(e.table, e.key) + ": expected " + expected + ", found " +
         (e.is_string ? "the string " + toml_string(e.string.substr(0, 40)) : shown(e.number)));
    return false;
  }
  void read(const TomlEntry& e, std::string& out) {
    if (expect(e, e.is_string, "a string")) out = e.string;
  }
  void read(const TomlEntry& e, double& out) {
    if (expect(e, !e.is_string && e.number >= 0 && e.number <= 1e12, "a number from 0 to 1e12")) out = e.number;
  }
  void read(const TomlEntry& e, uint32_t& out) {
    const bool fits = !e.is_string && e.number >= 1 && e.number <= 65536 && e.number == std::floor(e.number);
    if (expect(e, fits, "a whole number from 1 to 65536")) out = static_cast<uint32_t>(e.number);
  }
  void read(const TomlEntry& e, uint64_t& out) {
    const bool fits = !e.is_string && e.number >= 0 && e.number <= 1e15 && e.number == std::floor(e.number);
    if (expect(e, fits, "a whole number of bytes")) out = static_cast<uint64_t>(e.number);
  }

  const std::vector<TomlEntry>& entries_;
  std::vector<bool> used_;
  std::string& error_;
};

}  // namespace

const char* level_name(Level level) {
  static constexpr const char* kNames[kLevelCount + 1] = {"L1", "L2", "L3", "memory", ""};
  return kNames[level];
}

bool is_microcontroller(const Target& t) {
  const std::string &a = t.architecture, end = "-m";
  return a.size() > end.size() && a.compare(a.size() - end.size(), end.size(), end) == 0;
}

Rates rates_of(const Target& t, uint32_t threads) {
  const double part = t.all.threads > 1 ? static_cast<double>(std::min(threads, t.all.threads) - 1) / (t.all.threads - 1) : 0;
  const auto between = [&](double one, double all) { return all > 0 ? one + (all - one) * part : one; };
  Rates r;
  r.threads = threads;
  r.f32_gflops = between(t.one.f32_gflops, t.all.f32_gflops);
  r.int8_gops = between(t.one.int8_gops, t.all.int8_gops);
  for (size_t i = 0; i < kLevelCount; ++i) {
    const Bandwidth &a = t.one.bandwidth[i], &b = t.all.bandwidth[i];
    r.bandwidth[i] = {between(a.read, b.read), between(a.write, b.write), between(a.copy, b.copy)};
  }
  return r;
}

uint64_t capacity_bytes(const Target& t, Level level, uint32_t threads) {
  if (level >= kMemory) return UINT64_MAX;
  return level == kL3 ? t.cache_bytes[kL3] : t.cache_bytes[level] * threads;
}

Level level_of(const Target& t, uint64_t bytes, uint32_t threads) {
  int level = kL1;
  while (bytes > capacity_bytes(t, static_cast<Level>(level), threads)) ++level;
  return static_cast<Level>(level);
}

std::array<double, kLevelCount> spread(const Target& t, uint64_t bytes, uint32_t threads) {
  std::array<double, kLevelCount> parts{};
  uint64_t held = 0;
  for (size_t i = 0; i < kLevelCount && bytes > 0; ++i) {
    const uint64_t room = std::max(held, std::min(bytes, capacity_bytes(t, static_cast<Level>(i), threads)));
    parts[i] = static_cast<double>(room - held) / static_cast<double>(bytes);
    held = room;
  }
  return parts;
}

const Bandwidth& bandwidth_of(const Rates& rates, size_t level) {
  for (size_t i = level; i < kLevelCount; ++i)
    if (rates.bandwidth[i].read > 0) return rates.bandwidth[i];
  for (size_t i = level; i > 0; --i)
    if (rates.bandwidth[i - 1].read > 0) return rates.bandwidth[i - 1];
  return rates.bandwidth[level];
}

const BackendRates* find_backend(const Target& target, const std::string& name) {
  for (const BackendRates& b : target.backends)
    if (b.backend == name) return &b;
  return nullptr;
}

namespace {

// Tables of backends are [backend_NAME]; kinds of work are keys work_NAME.
const std::string kBackend = "backend_", kWork = "work_";

std::string backend_text(const BackendRates& b) {
  std::string text = "\n[" + kBackend + b.backend + "]\ndevice = " + toml_string(b.device) + "\n";
  text +=
      "units = " + value_text(b.units) + "\ntransfer_gbps = " + value_text(b.transfer_gbps) + "\nsync_ns = " + value_text(b.sync_ns) + "\n";
  for (const auto& [name, ns] : b.work_ns) text += kWork + name + " = " + value_text(ns) + "\n";
  return text;
}

// Takes the entries of backends out of the list.
bool take_backends(std::vector<TomlEntry>* entries, std::vector<BackendRates>* out, std::string* error) {
  std::vector<TomlEntry> rest;
  for (TomlEntry& e : *entries) {
    if (e.table.compare(0, kBackend.size(), kBackend) != 0) {
      rest.push_back(std::move(e));
      continue;
    }
    const std::string name = e.table.substr(kBackend.size());
    if (out->empty() || out->back().backend != name) out->push_back({name, "", 0, 0, 0, {}});
    BackendRates& b = out->back();
    const bool work = e.key.compare(0, kWork.size(), kWork) == 0;
    double* number = e.key == "units" ? &b.units : e.key == "transfer_gbps" ? &b.transfer_gbps : e.key == "sync_ns" ? &b.sync_ns : nullptr;
    const bool text = e.key == "device";
    if (!text && !work && number == nullptr) *error = "the key '" + e.key + "' of [" + e.table + "] is not known";
    else if (text != e.is_string) *error = "the key '" + e.key + "' of [" + e.table + "]: expected a " + (text ? "string" : "number");
    else if (!text && !(e.number >= 0 && e.number <= 1e12))
      *error = "the key '" + e.key + "' of [" + e.table + "]: expected a number from 0 to 1e12";
    if (!error->empty()) return *error = "line " + std::to_string(e.line) + ": " + *error, false;
    if (text) b.device = e.string;
    else if (work) b.work_ns.emplace_back(e.key.substr(kWork.size()), e.number);
    else *number = e.number;
  }
  *entries = std::move(rest);
  return true;
}

}  // namespace

std::string to_text(const Target& target) {
  std::string text = "# A machine as mote sees it, written by `mote measure`.\nformat = " + std::to_string(kFormat) + "\n";
  visit(target, [&](const std::string& name, const auto& visit_keys) {
    text += "\n[" + name + "]\n";
    visit_keys([&](const std::string& key, Presence presence, const auto& value) {
      if (presence == kRequired || !absent(value)) text += key + " = " + value_text(value) + "\n";
    });
  });
  for (const BackendRates& b : target.backends) text += backend_text(b);
  return text;
}

bool from_text(const std::string& text, Target* out, std::string* error) {
  error->clear();
  std::vector<TomlEntry> entries;
  if (text.size() > kMostBytes) {
    *error = "expected a target description of at most " + std::to_string(kMostBytes) + " bytes, found " + std::to_string(text.size());
    return false;
  }
  Target t;
  if (!parse_toml(text, &entries, error) || !take_backends(&entries, &t.backends, error)) return false;
  TargetReader reader(entries, error);
  uint32_t format = 0;
  reader.value("", "format", kRequired, format);
  if (reader.ok() && format != kFormat)
    reader.fail("this version of mote reads format " + std::to_string(kFormat) + " of target descriptions, found " +
                std::to_string(format));
  visit(t, [&](const std::string& name, const auto& visit_keys) {
    visit_keys([&](const std::string& key, Presence presence, auto& value) { reader.value(name, key, presence, value); });
  });
  reader.refuse_rest();
  if (reader.ok() && absent(t.one.f32_gflops)) reader.fail("the key 'f32_gflops' of [one_thread]: expected more than 0, found 0");
  if (!reader.ok()) return false;
  *out = t;
  return true;
}

}  // namespace mote::target
