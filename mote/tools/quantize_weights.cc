// `mote compile --quantize` with the schemes that need no calibration.

#include <algorithm>

#include "mote/compiler/quant/compact.h"
#include "mote/compiler/quant/forecast.h"
#include "mote/tools/failure.h"
#include "mote/tools/quantize_settings.h"
#include "mote/tools/sample_folder.h"

namespace mote::tools {
namespace {

quant::CompactOptions compact_options(const QuantizeSettings& s) {
  quant::CompactOptions o;
  quant::scheme_named(s.scheme, &o.scheme);
  o.groups = {s.group, s.asymmetric, !s.no_weight_scales};
  o.smooth = s.smooth;
  o.weight_scales = !s.no_weight_scales;
  o.pairs = !s.no_pairs;
  o.rounding = !s.no_rounding;
  o.in_float.insert(s.in_float.begin(), s.in_float.end());
  return o;
}

}  // namespace

bool compile_compact(const QuantizeSettings& s, const frontends::Source& source, const driver::CompileOptions& options, Progress* progress,
                     driver::CompileResult* out, QuantizeResult* result, ir::Problems* problems) {
  driver::Signature signature;
  if (!driver::read_signature(source, options.import, &signature, problems)) return false;
  const MetadataOf metadata = [&](const std::string& key) {
    for (const auto& [k, v] : options.metadata)
      if (k == key) return v;
    return std::string();
  };
  const auto show = [&](const std::string& stage, double fraction) { progress->show(stage, fraction); };
  quant::CompactQuantizer quantizer(source, options, compact_options(s));
  std::unique_ptr<SampleFolder> data;
  if (!s.calibrate.empty())
    data = std::make_unique<SampleFolder>(s.calibrate, signature.methods[0], metadata, SampleRange{0, s.calibrate_samples});
  if (!quantizer.choose(data.get(), show, problems)) return false;
  result->warnings = quantizer.warnings();
  if (data != nullptr && !data->doubt().empty()) result->warnings.push_back(data->doubt());
  for (const quant::CompactOp& op : quantizer.ops()) {
    QuantizedOp line = {op.name, op.op, op.precision, -1, {}};
    if (op.precision == "f32") line.choice.in_float = op.note;
    result->ops.push_back(line);
  }
  if (!s.test.empty() || !s.calibrate.empty()) {
    TestData test(s, signature.methods[0], metadata);
    if (!quantizer.measure(test.samples, test.how, show, &result->measured, problems) || !within_budget(s, *result, problems)) return false;
  }
  for (const std::string& doubt : doubts_of(s, *result)) result->warnings.push_back(doubt);
  quant::Forecast before, after;
  if (!quant::forecast(source, options, &before, problems) || !quant::forecast(source, quantizer.program_options(), &after, problems))
    return false;
  result->f32_ns = before.ns;
  result->ns = after.ns;
  if (after.ns > before.ns)
    result->warnings.push_back("by the cost model of " + options.target_name +
                               " this program is slower than f32: only its size is smaller");
  result->evidence = quantizer.evidence();
  result->evidence.emplace_back("quant.options", words_of(s));
  add_evidence(*result, &result->evidence);
  return quantizer.compile(result->evidence, out, problems);
}

}  // namespace mote::tools
