#include "mote/compiler/quant/trials.h"

#include <algorithm>
#include <cmath>

namespace mote::quant {
namespace {

constexpr size_t kOutputBytes = size_t{64} << 20;  // to compare with

bool failed(size_t sample, const std::string& error, ir::Problems* problems) {
  problems->push_back({"quantize", "sample " + std::to_string(sample) + ": " + error, ""});
  return false;
}

}  // namespace

bool Trials::start(const Quantizer& quantizer, Samples& samples, size_t usual_count, size_t max_count, double macs,
                   ir::Problems* problems) {
  quantizer_ = &quantizer;
  Probe plain;
  if (!quantizer.build_float({}, &plain, problems)) return false;
  size_t bytes = 0;
  std::string error;
  const double each = std::max<double>(1, static_cast<double>(plain.table().certificate->macs));
  const size_t count = std::max(usual_count, static_cast<size_t>(std::min(macs / each, static_cast<double>(max_count))));
  for (size_t s = 0; s < std::min(samples.count(), count) && (s == 0 || bytes < kOutputBytes); ++s) {
    inputs_.emplace_back();
    if (!samples.read(s, &inputs_.back(), &error) || !plain.run(inputs_.back(), &error)) return failed(s, error, problems);
    expected_.emplace_back();
    for (size_t i = 0; i < plain.output_count(); ++i) {
      expected_.back().push_back(driver::to_doubles(plain.output(i)));
      bytes += expected_.back().back().size() * sizeof(double);
    }
  }
  return true;
}

bool Trials::score(const Recipe& recipe, double* worst_db, ir::Problems* problems) const {
  Probe probe;
  if (!quantizer_->build_quantized(recipe, {}, &probe, problems)) return false;
  std::vector<Energy> outputs(probe.output_count());
  std::string error;
  for (size_t s = 0; s < inputs_.size(); ++s) {
    if (!probe.run(inputs_[s], &error)) return failed(s, error, problems);
    for (size_t i = 0; i < outputs.size(); ++i) outputs[i].add(expected_[s][i], driver::to_doubles(probe.output(i)));
  }
  *worst_db = INFINITY;
  for (const Energy& e : outputs) *worst_db = std::min(*worst_db, std::max(0.0, e.db()));
  return true;
}

}  // namespace mote::quant
