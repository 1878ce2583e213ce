#include "mote/backends/opencl/tuning.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <set>
#include <sstream>
#include <tuple>

#include "mote/backends/opencl/binary_cache.h"
#include "mote/backends/opencl/session.h"

namespace mote::backends::opencl {
namespace {

// Kernels whose groups may be of any size: each work-item looks whether it is inside.
constexpr const char* kOpen[] = {
    "depthwise",    "window_product", "pool",         "adaptive_pool",   "resize",     "winograd_input", "winograd_output",
    "matmul",       "unary",          "elu",          "binary_same",     "binary",     "move",           "pad",
    "quant_window", "quant_pool",     "quant_binary", "depthwise_pairs", "move_bytes", "pad_bytes"};
constexpr size_t kSizes[][3] = {{32, 1, 1},  {64, 1, 1}, {128, 1, 1}, {256, 1, 1}, {8, 8, 1},  {16, 4, 1}, {16, 8, 1},
                                {16, 16, 1}, {32, 2, 1}, {32, 4, 1},  {32, 8, 1},  {64, 2, 1}, {64, 4, 1}, {128, 2, 1}};
constexpr size_t kMostItems = 1024;
constexpr int kRuns = 3;
constexpr double kWorthIt = 0.95;  // of the usual size's time

bool is_open(const Launch& l) {
  return std::any_of(std::begin(kOpen), std::end(kOpen), [&](const char* k) { return std::strcmp(k, l.kernel) == 0; });
}

std::string head_of(const Device& d) { return "groups 1\t" + d.name + "\t" + d.driver; }

std::string name_of(const Launch& l) {
  std::ostringstream s;
  s << l.kernel << " " << l.kernels << " " << l.wanted[0] << " " << l.wanted[1] << " " << l.wanted[2];
  return s.str();
}

void set_size(Launch* l, const size_t* size) {
  for (int i = 0; i < 3; ++i) {
    l->local[i] = size[i];
    l->global[i] = (l->wanted[i] + size[i] - 1) / size[i] * size[i];
  }
}

// The least of some runs, or below 0 when the device does not take it.
double time_of(Session& session, const Launch& l) {
  double best = -1;
  for (int i = 0; i <= kRuns; ++i) {  // the first compiles
    double ns = 0;
    if (session.time_launch(l, &ns) != kOk) return -1;
    if (i > 0 && (best < 0 || ns < best)) best = ns;
  }
  return best;
}

}  // namespace

bool wants_tuning() {
  const char* wish = std::getenv("MOTE_OPENCL_TUNE");
  return wish != nullptr && std::strcmp(wish, "1") == 0;
}

std::string tune(const std::shared_ptr<const Device>& device, const Plan& plan, Error* error) {
  Session session(device);
  *error = session.create(plan);
  if (*error != kOk) return "";
  std::string text = head_of(*device) + "\n";
  std::set<std::string> seen;
  for (const Launch& l : plan.launches) {
    if (!is_open(l) || !seen.insert(name_of(l)).second) continue;
    const double usual = time_of(session, l);
    double best = usual * kWorthIt;
    const size_t* size = nullptr;
    for (const auto& s : kSizes) {
      if ((l.wanted[1] == 1 && s[1] > 1) || std::equal(s, s + 3, l.local)) continue;
      Launch tried = l;
      set_size(&tried, s);
      const double ns = time_of(session, tried);
      if (ns >= 0 && ns < best) best = ns, size = s;
    }
    if (size == nullptr) continue;
    std::ostringstream line;
    line << name_of(l) << " " << size[0] << " " << size[1] << " " << size[2] << "\n";
    text += line.str();
  }
  return text;
}

bool apply_tuning(const std::string& text, const Device& device, Plan* plan) {
  std::istringstream lines(text);
  std::string line;
  if (!std::getline(lines, line) || line != head_of(device)) return false;
  std::map<std::string, std::array<size_t, 3>> sizes;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string kernel, form, w[3];
    std::array<size_t, 3> s{};
    if (!(words >> kernel >> form >> w[0] >> w[1] >> w[2] >> s[0] >> s[1] >> s[2])) return false;
    for (size_t n : s)
      if (n < 1 || n > kMostItems) return false;
    if (s[0] * s[1] * s[2] > kMostItems) return false;
    sizes[kernel + " " + form + " " + w[0] + " " + w[1] + " " + w[2]] = s;
  }
  for (Launch& l : plan->launches)
    if (const auto found = sizes.find(name_of(l)); found != sizes.end() && is_open(l)) set_size(&l, found->second.data());
  return true;
}

Error find_tuning(const std::string& from_blob, const std::shared_ptr<const Device>& device, Plan* plan) {
  if (apply_tuning(from_blob, *device, plan)) return kOk;
  std::string launches;
  for (const Launch& l : plan->launches)
    if (is_open(l)) launches += name_of(l) + "\n";
  const std::string key = binary_key({"groups", device->name, device->driver, launches});
  std::vector<unsigned char> kept;
  if (load_binary(key, &kept) && apply_tuning({kept.begin(), kept.end()}, *device, plan)) return kOk;
  if (!wants_tuning()) return kOk;
  Error error = kOk;
  const std::string found = tune(device, *plan, &error);
  if (error != kOk) return error;
  store_binary(key, {found.begin(), found.end()});
  apply_tuning(found, *device, plan);
  return kOk;
}

}  // namespace mote::backends::opencl
