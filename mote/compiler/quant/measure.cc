#include "mote/compiler/quant/measure.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "mote/compiler/quant/prepare.h"

namespace mote::quant {
namespace {

double cosine(const std::vector<double>& a, const std::vector<double>& b) {
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    ab += a[i] * b[i];
    aa += a[i] * a[i];
    bb += b[i] * b[i];
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : aa == bb ? 1 : 0;
}

int64_t largest(const std::vector<double>& v) { return std::max_element(v.begin(), v.end()) - v.begin(); }

}  // namespace

bool Reference::build(const frontends::Source& source, const driver::CompileOptions& options, ir::Problems* problems) {
  const auto edit = [&](ir::Graph& graph, std::string*) {
    is_dynamic = !prepare(graph).empty();
    return true;
  };
  return f32.build(source, options, edit, problems) && (!is_dynamic || own.build(source, options, nullptr, problems));
}

bool measure(Reference& before, Probe& after, Samples& samples, const MeasureOptions& options, const Progress& progress, Measurement* out,
             std::string* error) {
  return measure(before.f32, before.is_dynamic ? &before.own : nullptr, after, samples, options, progress, out, error);
}

void Energy::add(const std::vector<double>& expected, const std::vector<double>& found) {
  for (size_t i = 0; i < expected.size() && i < found.size(); ++i) {
    signal += expected[i] * expected[i];
    error += (expected[i] - found[i]) * (expected[i] - found[i]);
  }
}

double Energy::db() const {
  if (error <= 0) return std::numeric_limits<double>::infinity();
  return signal <= 0 ? 0 : 10 * std::log10(signal / error);
}

bool measure(Probe& before, Probe* own, Probe& after, Samples& samples, const MeasureOptions& options, const Progress& progress,
             Measurement* out, std::string* error) {
  const size_t count = options.most_samples == 0 ? samples.count() : std::min(samples.count(), options.most_samples);
  const std::vector<std::string> names = before.output_names();
  std::vector<Energy> outputs(before.output_count());
  std::map<int, Energy> values;
  *out = {};
  out->labelled = !options.labels.empty();
  if (out->labelled && options.labels.size() < count) {
    *error = "expected a label for each of " + std::to_string(count) + " samples, found " + std::to_string(options.labels.size());
    return false;
  }
  out->outputs.resize(outputs.size());
  for (OutputMeasure& m : out->outputs) m.accuracy_own = own != nullptr && out->labelled ? 0 : -1;
  DataCheck check;
  for (size_t s = 0; s < count; ++s) {
    if (progress) progress("measuring", static_cast<double>(s) / static_cast<double>(count));
    std::vector<driver::Array> inputs;
    if (!samples.read(s, &inputs, error) || !before.run(inputs, error) || !after.run(inputs, error) ||
        (own != nullptr && !own->run(inputs, error))) {
      *error = "sample " + std::to_string(s) + ": " + *error;
      return false;
    }
    check.add(inputs);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const std::vector<double> a = driver::to_doubles(before.output(i)), b = driver::to_doubles(after.output(i));
      OutputMeasure& m = out->outputs[i];
      outputs[i].add(a, b);
      m.cosine += cosine(a, b);
      if (a.empty() || b.empty()) continue;
      const int64_t x = largest(a), y = largest(b);
      m.agreement += x == y ? 1 : 0;
      if (!out->labelled) continue;
      m.accuracy_before += x == options.labels[s] ? 1 : 0;
      m.accuracy_after += y == options.labels[s] ? 1 : 0;
      if (own != nullptr) m.accuracy_own += largest(driver::to_doubles(own->output(i))) == options.labels[s] ? 1 : 0;
    }
    for (const int id : options.values) {
      const driver::Array *a = before.value(id), *b = after.value(id);
      if (a != nullptr && b != nullptr) values[id].add(driver::to_doubles(*a), driver::to_doubles(*b));
    }
  }
  out->samples = count;
  out->fingerprint = check.fingerprint();
  const double part = 1 / static_cast<double>(std::max<size_t>(1, count));
  for (size_t i = 0; i < outputs.size(); ++i) {
    OutputMeasure& m = out->outputs[i];
    m.name = names[i];
    m.sqnr_db = outputs[i].db();
    for (double* v : {&m.cosine, &m.agreement, &m.accuracy_before, &m.accuracy_after}) *v *= part;
    if (m.accuracy_own > 0) m.accuracy_own *= part;
  }
  for (const auto& [id, e] : values) out->value_sqnr_db[id] = e.db();
  return true;
}

}  // namespace mote::quant
