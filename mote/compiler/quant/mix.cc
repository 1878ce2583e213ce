#include "mote/compiler/quant/mix.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

#include "mote/compiler/quant/trials.h"

namespace mote::quant {
namespace {

constexpr size_t kNoiseSamples = 16;
constexpr size_t kMaxForecasts = 64, kMaxReturns = 8, kMaxCounts = 32;
constexpr char kForBudget[] = "the budget asks for it";
constexpr double kMinSaving = 0.02;  // part of a product's time that f32 must save

std::string us_text(double ns) {
  char s[32];
  std::snprintf(s, sizeof s, "%.2f us", ns / 1e3);
  return s;
}

double noise_of(double db) { return std::pow(10, -std::max(db, 0.0) / 10); }

}  // namespace

bool Budget::holds(const Measurement& m) const {
  if (max_drop >= 0 && m.drop() > max_drop + 1e-9) return false;
  return std::all_of(m.outputs.begin(), m.outputs.end(), [&](const OutputMeasure& o) { return o.sqnr_db >= min_sqnr_db; });
}

Mix::Mix(Quantizer& quantizer, const frontends::Source& source, const driver::CompileOptions& compile)
    : quantizer_(quantizer), source_(source), compile_(compile) {
  for (const ProductInfo& p : quantizer.products())
    choices_[p.id].in_float = quantizer.recipe().in_float.count(p.id) > 0 ? "as --keep-float says" : "";
}

double Mix::gain(int product) const {
  const Choice& c = choices_.at(product);
  return std::max(c.f32_ns - c.int8_ns, 0.01 * c.f32_ns);
}

void Mix::keep(int product, const std::string& why) {
  choices_[product].in_float = why;
  std::set<int> all;
  for (const auto& [id, c] : choices_)
    if (!c.in_float.empty()) all.insert(id);
  quantizer_.set_in_float(all);
}

bool Mix::time_mix(Forecast* out, const Progress& progress, double fraction, ir::Problems* problems) {
  if (progress) progress("asking the target's cost model", fraction);
  return forecast(source_, quantizer_.program_options(), out, problems);
}

bool Mix::keep_unprofitable_in_float(const Progress& progress, ir::Problems* problems) {
  if (!forecast(source_, compile_, &f32_, problems) || !time_mix(&mix_, progress, 0, problems)) return false;
  std::map<std::string, double> sharing;  // products of one name
  for (const ProductInfo& p : quantizer_.products()) ++sharing[p.name];
  std::vector<int> doubtful;
  for (const ProductInfo& p : quantizer_.products()) {
    Choice& c = choices_[p.id];
    c.f32_ns = f32_.node_ns[p.name] / sharing[p.name];
    c.int8_ns = c.in_float.empty() ? mix_.node_ns[p.name] / sharing[p.name] : -1;
    if (c.in_float.empty() && c.f32_ns - c.int8_ns < std::max(mix_.converting_ns, kMinSaving * c.f32_ns)) doubtful.push_back(p.id);
  }
  std::sort(doubtful.begin(), doubtful.end(), [&](int a, int b) {
    const Choice &x = choices_[a], &y = choices_[b];
    return x.f32_ns - x.int8_ns < y.f32_ns - y.int8_ns;
  });
  doubtful.resize(std::min(doubtful.size(), kMaxForecasts));
  for (size_t i = 0; i < doubtful.size(); ++i) {
    const int id = doubtful[i];
    Forecast without;
    keep(id, "?");
    if (!time_mix(&without, progress, static_cast<double>(i) / static_cast<double>(doubtful.size()), problems)) return false;
    const double saved = mix_.ns - without.ns;
    const bool profitable = saved <= kMinSaving * choices_[id].f32_ns;
    keep(id, profitable ? "" : "int8 would take " + us_text(saved) + " longer on " + compile_.target_name);
    if (!profitable) mix_ = without;
  }
  if (mix_.ns < f32_.ns) return true;
  for (auto& [id, c] : choices_)
    if (c.in_float.empty()) keep(id, "the model with int8 would take " + us_text(mix_.ns - f32_.ns) + " longer on " + compile_.target_name);
  mix_ = f32_;
  return true;
}

bool Mix::find_noise(Samples& samples, const Progress& progress, ir::Problems* problems) {
  Trials trials;
  if (!trials.start(quantizer_, samples, kNoiseSamples, kNoiseSamples, 0, problems)) return false;
  size_t done = 0;
  for (auto& [id, choice] : choices_) {
    if (progress) progress("finding sensitive operators", static_cast<double>(done++) / static_cast<double>(choices_.size()));
    if (choice.alone_db >= 0 || !choice.in_float.empty()) continue;
    Recipe alone = quantizer_.recipe();
    for (const auto& other : choices_) alone.in_float.insert(other.first);
    alone.in_float.erase(id);
    if (!trials.score(alone, &choice.alone_db, problems)) return false;
  }
  return true;
}

// Noise powers of products add up approximately: products are ranked by noise per time, and a bisection over measurements finds how many of
// the first ones must stay in float.
bool Mix::search(const Trial& trial, ir::Problems* problems) {
  std::vector<int> order;
  for (const auto& [id, c] : choices_)
    if (c.in_float.empty()) order.push_back(id);
  const auto worth = [&](int id) { return noise_of(choices_[id].alone_db) / std::max(gain(id), 1.0); };
  std::sort(order.begin(), order.end(), [&](int a, int b) { return worth(a) > worth(b); });
  const auto keep_first = [&](size_t count) {
    for (size_t i = 0; i < order.size(); ++i) keep(order[i], i < count ? kForBudget : "");
  };
  size_t fails = 0, holds = order.size();  // how many in float
  std::set<size_t> tried;
  while (fails + 1 < holds) {
    const size_t middle = fails + (holds - fails) / (fails == 0 ? 4 : 2);
    const size_t count = std::max(fails + 1, middle);
    keep_first(count);
    bool good = false;
    tried.insert(count);
    if (!trial(&good, problems)) return false;
    (good ? holds : fails) = count;
  }
  // With few samples the measure is not monotonic in the count: then all counts are tried, up to a limit.
  for (size_t count = 1; holds == order.size() && count < std::min(order.size(), kMaxCounts); ++count) {
    if (tried.count(count) > 0) continue;
    keep_first(count);
    bool good = false;
    if (!trial(&good, problems)) return false;
    if (good) holds = count;
  }
  keep_first(holds);
  if (holds == order.size()) return true;  // everything stays in float
  return requantize_expensive({order.begin(), order.begin() + static_cast<long>(holds)}, trial, problems);
}

// Tries to quantize the most expensive of the kept products again: with the others in float they may not be needed.
bool Mix::requantize_expensive(const std::vector<int>& kept, const Trial& trial, ir::Problems* problems) {
  std::vector<int> dear = kept;
  std::sort(dear.begin(), dear.end(), [&](int a, int b) { return gain(a) > gain(b); });
  if (dear.size() > 1) dear.resize(std::min(dear.size(), kMaxReturns));
  else dear.clear();
  for (const int id : dear) {
    const std::string why = choices_[id].in_float;
    bool good = false;
    keep(id, "");
    if (!trial(&good, problems)) return false;
    if (!good) keep(id, why);
  }
  return true;
}

bool Mix::meet(const Budget& budget, Samples& calibration, Samples& test, const MeasureOptions& how, const Progress& progress,
               Measurement* measured, ir::Problems* problems) {
  int tried = 0;
  const Trial trial = [&](bool* holds, ir::Problems* out) {
    const std::string stage = tried++ == 0 ? "measuring" : "measuring mix " + std::to_string(tried);
    const auto show = [&](const std::string&, double fraction) {
      if (progress) progress(stage, fraction);
    };
    Measurement m;
    if (!quantizer_.measure(test, how, show, &m, out)) return false;
    *holds = budget.holds(m);
    if (*holds || tried == 1) *measured = m;
    return true;
  };
  bool holds = false;
  if (!trial(&holds, problems)) return false;
  if (holds || !budget.any()) return true;
  const auto nothing_left = [&] {
    return std::none_of(choices_.begin(), choices_.end(), [](const auto& c) { return c.second.in_float.empty(); });
  };
  if (!find_noise(calibration, progress, problems) || !search(trial, problems)) return false;
  if (nothing_left() && quantizer_.is_dynamic()) {
    // The model itself quantizes dynamically: as the last resort it keeps its own arithmetic.
    quantizer_.set_keep_dynamic(true);
    for (const auto& c : std::map<int, Choice>(choices_))
      if (c.second.in_float == kForBudget) keep(c.first, "");
    if (!search(trial, problems)) return false;
  }
  const bool empty = nothing_left();
  return empty || time_mix(&mix_, progress, 1, problems);
}

}  // namespace mote::quant
