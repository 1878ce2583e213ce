// Bias correction from measured means: the shift that rounding causes in the mean of each product's result is subtracted in its bias, one
// product after the other.

#include <algorithm>

#include "mote/compiler/quant/quantize.h"

namespace mote::quant {
namespace {

constexpr size_t kSamples = 64;
// Limit of multiply-adds for the whole correction, some seconds. Larger models keep the estimate of mean_shift().
constexpr double kMaxMacs = 6e10;
constexpr double kMaxWideMacs = 3e9;  // of 16-bit activations, which have portable kernels alone
// Behind a relu only the positive part of a result follows its bias: the shift is divided by that part, but at least by this.
constexpr double kMinPresent = 0.25;

struct ChannelMeans {
  std::vector<double> sums, present;  // present: elements that are not 0
  double rows = 0;

  void add(const driver::Array& a) {
    const auto channels = static_cast<size_t>(a.dims.empty() ? 1 : a.dims.back());
    const std::vector<double> v = driver::to_doubles(a);
    sums.resize(channels);
    present.resize(channels);
    for (size_t i = 0; i < v.size(); ++i) {
      sums[i % channels] += v[i];
      present[i % channels] += v[i] > 0 || v[i] < 0 ? 1 : 0;
    }
    rows += static_cast<double>(v.size() / std::max<size_t>(1, channels));
  }
};

}  // namespace

bool Quantizer::correct_means(Samples& samples, const Progress& progress, ir::Problems* problems) {
  std::set<int> results;
  for (const ProductInfo& p : products_) results.insert(p.result_id);
  Probe plain;
  if (!build_float(results, &plain, problems)) return false;
  const size_t count = std::min(samples.count(), kSamples);
  if (static_cast<double>(plain.table().certificate->macs) * static_cast<double>(count * products_.size()) >
      (options_.wide ? kMaxWideMacs : kMaxMacs))
    return true;
  const auto failed = [&](size_t s, const std::string& error) {
    problems->push_back({"quantize", "sample " + std::to_string(s) + ": " + error, ""});
    return false;
  };
  std::vector<std::vector<driver::Array>> inputs(count);
  std::map<int, ChannelMeans> expected;
  std::string error;
  for (size_t s = 0; s < count; ++s) {
    if (!samples.read(s, &inputs[s], &error) || !plain.run(inputs[s], &error)) return failed(s, error);
    for (const int id : results)
      if (const driver::Array* a = plain.value(id)) expected[id].add(*a);
  }
  double done = 0;
  for (const ProductInfo& p : products_) {
    if (progress) progress("correcting means", done++ / static_cast<double>(products_.size()));
    const auto shift = recipe_.bias_shift.find(p.id);
    if (shift == recipe_.bias_shift.end() || recipe_.in_float.count(p.id) > 0) continue;
    Probe probe;
    if (!build_quantized(recipe_, {p.result_id}, &probe, problems)) return false;
    ChannelMeans found;
    for (size_t s = 0; s < count; ++s) {
      if (!probe.run(inputs[s], &error)) return failed(s, error);
      if (const driver::Array* a = probe.value(p.result_id)) found.add(*a);
    }
    const ChannelMeans& wanted = expected[p.result_id];
    if (found.sums.size() != shift->second.size() || wanted.sums.size() != found.sums.size()) continue;
    for (size_t c = 0; c < found.sums.size(); ++c)
      shift->second[c] += (wanted.sums[c] - found.sums[c]) / std::max(wanted.present[c], kMinPresent * wanted.rows);
  }
  return true;
}

}  // namespace mote::quant
