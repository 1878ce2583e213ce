#include "mote/tools/target_file.h"

#include <cstdio>
#include <fstream>

#include "mote/compiler/emit/writer.h"
#include "mote/tools/failure.h"

namespace mote::tools {
namespace {

constexpr std::streamsize kMostBytes = 1 << 20;

std::string rate(double v) {
  char text[32];
  std::snprintf(text, sizeof text, v < 10 ? "%.1f" : "%.0f", v);
  return text;
}

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(static_cast<size_t>(kMostBytes), '\0');
  if (file) file.read(text.data(), kMostBytes);
  if (!file.is_open() || file.bad()) throw Failure(path + ": the target description cannot be read");
  text.resize(static_cast<size_t>(file.gcount()));
  return text;
}

Json or_null(double v) { return v > 0 ? Json(v) : Json(nullptr); }

}  // namespace

target::Target load_target(const std::string& path) {
  const std::string text = text_of(path);
  std::string error;
  target::Target t;
  if (!target::from_text(text, &t, &error)) throw Failure(path + ": no valid target description: " + error);
  return t;
}

std::optional<target::Board> load_board(const std::string& path) {
  const std::string text = text_of(path);
  if (!target::is_board(text)) return std::nullopt;
  target::Board board;
  std::string error;
  if (!target::board_from_text(text, &board, &error)) throw Failure(path + ": no valid board description: " + error);
  return board;
}

void save_target(const std::string& path, const target::Target& target) {
  const std::string text = target::to_text(target);
  std::string error;
  if (!emit::save_file(path, {reinterpret_cast<const uint8_t*>(text.data()), text.size()}, &error)) throw Failure(error);
}

Json rates_json(const target::Rates& r) {
  Json levels = Json::array();
  for (int i = 0; i < target::kLevelCount; ++i) {
    const target::Bandwidth& b = r.bandwidth[static_cast<size_t>(i)];
    if (b.read > 0)
      levels.push_back({{"level", target::level_name(static_cast<target::Level>(i))},
                        {"read_gb_s", b.read},
                        {"write_gb_s", b.write},
                        {"copy_gb_s", b.copy}});
  }
  return {{"threads", r.threads}, {"f32_gflops", r.f32_gflops}, {"int8_gops", r.int8_gops}, {"bandwidth", levels}};
}

Json target_json(const target::Target& t) {
  const auto cache = [&](target::Level level) {
    const uint64_t bytes = t.cache_bytes[static_cast<size_t>(level)];
    return bytes > 0 ? Json(bytes) : Json(nullptr);
  };
  Json backends = Json::array();
  for (const target::BackendRates& b : t.backends) {
    Json work = Json::object();
    for (const auto& [name, ns] : b.work_ns) work[name] = ns;
    backends.push_back({{"backend", b.backend},
                        {"device", b.device},
                        {"units", b.units},
                        {"transfer_gb_s", b.transfer_gbps},
                        {"sync_ns", b.sync_ns},
                        {"work_ns", work}});
  }
  return {
      {"format", target::kFormat},
      {"machine", {{"cpu", t.cpu}, {"architecture", t.architecture}, {"kernels", t.kernels}, {"cores", t.cores}}},
      {"cache",
       {{"source", t.cache_source}, {"l1_bytes", cache(target::kL1)}, {"l2_bytes", cache(target::kL2)}, {"l3_bytes", cache(target::kL3)}}},
      {"one_thread", rates_json(t.one)},
      {"all_threads", rates_json(t.all)},
      {"cost",
       {{"call_ns", or_null(t.call_ns)},
        {"handoff_awake_us", or_null(t.handoff_awake_us)},
        {"handoff_asleep_us", or_null(t.handoff_asleep_us)}}},
      {"backends", backends},
  };
}

std::string rates_text(const target::Rates& r) {
  std::string text = rate(r.f32_gflops) + " GFLOP/s f32, " + rate(r.int8_gops) + " GOP/s int8", levels;
  for (int i = 0; i < target::kLevelCount; ++i) {
    const double read = r.bandwidth[static_cast<size_t>(i)].read;
    if (read > 0) levels += std::string(" ") + target::level_name(static_cast<target::Level>(i)) + " " + rate(read);
  }
  return text + (levels.empty() ? "" : "; GB/s read from" + levels);
}

}  // namespace mote::tools
