#include "mote/tools/machine.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <thread>

namespace mote::tools {
namespace {

#if defined(__x86_64__) || defined(_M_X64)
constexpr const char* kArchitecture = "x86_64";
#elif defined(__aarch64__) || defined(_M_ARM64)
constexpr const char* kArchitecture = "aarch64";
#elif defined(__arm__)
constexpr const char* kArchitecture = "arm";
#else
constexpr const char* kArchitecture = "unknown";
#endif

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line.substr(0, 200);
}

// The value of "key : value" in a file of such lines.
std::string value_of(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    if (line.rfind(key, 0) != 0) continue;
    const size_t colon = line.find(':');
    const size_t begin = colon == std::string::npos ? colon : line.find_first_not_of(" \t", colon + 1);
    if (begin != std::string::npos) return line.substr(begin, 200);
  }
  return "";
}

// "48K", "2048 kB", "1M" as bytes.
uint64_t bytes_of(const std::string& text) {
  uint64_t v = 0;
  size_t i = 0;
  for (; i < text.size() && i < 15 && text[i] >= '0' && text[i] <= '9'; ++i) v = v * 10 + static_cast<uint64_t>(text[i] - '0');
  const char unit = text.substr(i).find_first_of("KkM") == std::string::npos ? ' ' : text[text.find_first_of("KkM", i)];
  return unit == 'M' ? v << 20 : unit == ' ' ? v : v << 10;
}

std::string cpu_name(const std::string& root) {
  for (const char* key : {"model name", "Model", "Hardware", "Processor"})
    if (std::string name = value_of(root + "/proc/cpuinfo", key); !name.empty()) return name;
  std::string board = first_line(root + "/sys/firmware/devicetree/base/model");
  board.erase(std::find(board.begin(), board.end(), '\0'), board.end());
  return board.empty() ? "unknown" : board;
}

}  // namespace

Machine describe_machine(const std::string& root) {
  Machine m;
  m.cpu = cpu_name(root);
  m.architecture = kArchitecture;
  m.cores = std::max(1u, std::thread::hardware_concurrency());
  for (int i = 0; i < 10; ++i) {
    const std::string cache = root + "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i);
    const std::string level = first_line(cache + "/level"), type = first_line(cache + "/type");
    if (level.size() != 1 || level[0] < '1' || level[0] > '3' || type == "Instruction") continue;
    uint64_t& bytes = m.cache_bytes[static_cast<size_t>(level[0] - '1')];
    bytes = std::max(bytes, bytes_of(first_line(cache + "/size")));
  }
  m.available_bytes = bytes_of(value_of(root + "/proc/meminfo", "MemAvailable"));
  return m;
}

ProcessorTime processor_time(const std::string& root) {
  constexpr double kTicks = 100;  // a second of /proc/stat, on every Linux whatever its kernel counts in
  ProcessorTime t;
  std::ifstream file(root + "/proc/stat");
  std::string line;
  while (std::getline(file, line) && line.compare(0, 3, "cpu") == 0) {
    if (line[3] != ' ') {
      ++t.processors;
      continue;
    }
    std::istringstream words(line.substr(4));
    double user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, softirq = 0, steal = 0;
    words >> user >> nice >> system >> idle >> wait >> irq >> softirq >> steal;
    t.busy_s = (user + nice + system + irq + softirq + steal) / kTicks;
  }
  return t;
}

double busy_processors(const ProcessorTime& before, const ProcessorTime& after, double own_s, double wall_s) {
  if (after.processors == 0 || wall_s <= 0) return 0;
  return std::clamp((after.busy_s - before.busy_s - own_s) / wall_s, 0.0, static_cast<double>(after.processors));
}

}  // namespace mote::tools
