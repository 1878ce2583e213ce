#include "mote/compiler/quant/compact.h"

#include <algorithm>

#include "mote/compiler/passes/linear.h"
#include "mote/compiler/quant/keep_float.h"
#include "mote/compiler/quant/rounding.h"

namespace mote::quant {
namespace {

// A product and the moments of its input.
struct Learner {
  int id, input_id;
  WeightRows rows;
  InputMoments moments;
};

}  // namespace

bool CompactQuantizer::choose(Samples* samples, const Progress& progress, ir::Problems* problems) {
  if (!compile_.passes.fuse || !compile_.passes.optimize || compile_.passes.exact)
    return fail(problems, "quantizing changes the arithmetic and needs the passes that fuse operators",
                "leave --exact, --no-fuse and --no-optimize away");
  if (!check_in_float(options_.in_float, source_, compile_, problems)) return false;
  const bool few_bits = options_.scheme != Scheme::kFp16Weights && options_.scheme != Scheme::kBf16Weights;
  if (samples != nullptr && samples->count() > 0 && few_bits && options_.rounding && !run_samples(*samples, progress, problems))
    return false;
  Probe probe;
  const auto edit = [&](ir::Graph& graph, std::string* error) { return write_compact(options_, recipe_, graph, &ops_, error); };
  if (!probe.build(source_, compile_, edit, problems)) return false;
  if (std::all_of(ops_.begin(), ops_.end(), [](const CompactOp& op) { return op.precision == "f32"; }))
    return fail(problems, "nothing to quantize: the model has no convolution, matrix product or table of f32 with constant weights");
  warn();
  return true;
}

bool CompactQuantizer::run_samples(Samples& samples, const Progress& progress, ir::Problems* problems) {
  std::vector<Learner> learners;
  Probe probe;
  const auto edit = [&](ir::Graph& graph, std::string*) {
    uint64_t bytes = 0;
    std::vector<ir::Value*> shown;
    for (const ir::Node* n : compact_products(options_, graph)) {
      InputMoments m(*n);
      if (!m.possible() || bytes + m.bytes() > kMomentBytes) continue;
      bytes += m.bytes();
      m.start();
      ir::Value* x = n->inputs[0];
      if (std::find(shown.begin(), shown.end(), x) == shown.end()) shown.push_back(x);
      learners.push_back(
          {n->outputs[0]->id, x->id, weight_rows(*n, options_.pairs && options_.scheme == Scheme::kInt8Dynamic), std::move(m)});
    }
    for (ir::Value* v : shown) graph.add_output(graph.methods[0], shown_name(v->id), v);
    return true;
  };
  if (!probe.build(source_, compile_, edit, problems)) return false;
  DataCheck check;
  for (size_t s = 0; s < samples.count(); ++s) {
    if (progress) progress("calibrating", static_cast<double>(s) / static_cast<double>(samples.count()));
    std::vector<driver::Array> inputs;
    std::string error;
    if (!samples.read(s, &inputs, &error) || !probe.run(inputs, &error))
      return fail(problems, "calibration sample " + std::to_string(s) + ": " + error);
    check.add(inputs);
    for (Learner& l : learners)
      if (const driver::Array* x = probe.value(l.input_id)) l.moments.add(*x);
  }
  for (size_t i = 0; i < learners.size(); ++i) {
    Learner& l = learners[i];
    if (progress) progress("rounding weights", static_cast<double>(i) / static_cast<double>(learners.size()));
    if (l.moments.rows() == 0) continue;
    if (options_.scheme == Scheme::kInt4Weights) {
      GroupWeights g = group_weights(l.rows, options_.groups);
      round_groups(l.rows, l.moments, &g);
      recipe_.groups.emplace(l.id, std::move(g));
    } else {
      QuantWeights q = options_.weight_scales ? best_scaled_weights(l.rows) : nearest_weights(l.rows);
      round_for_output(l.rows, l.moments, Means::kCount, &q);
      recipe_.bytes.emplace(l.id, std::move(q));
    }
  }
  samples_ = samples.count();
  fingerprint_ = check.fingerprint();
  warnings_ = check.warnings();
  return true;
}

void CompactQuantizer::warn() {
  std::map<std::string, size_t> reasons;
  for (const CompactOp& op : ops_)
    if (!op.note.empty() && op.note != kFew && op.note != "kept as asked") ++reasons[op.precision + ": " + op.note];
  for (const auto& [reason, count] : reasons)
    warnings_.push_back(std::to_string(count) + (count == 1 ? " operator has " : " operators have ") + reason);
}

Texts CompactQuantizer::evidence() const {
  std::string scheme = kSchemeNames[static_cast<size_t>(options_.scheme)];
  if (options_.scheme == Scheme::kInt4Weights)
    scheme += " group " + std::to_string(options_.groups.size) + (options_.groups.zero_points ? " asymmetric" : " symmetric");
  Texts out = {{"quant.scheme", scheme}};
  const bool smooth = options_.scheme == Scheme::kInt8Dynamic && options_.smooth > 0;
  if (smooth || samples_ > 0)
    out.emplace_back("quant.corrections", smooth && samples_ > 0 ? "smooth scaling, adaptive rounding"
                                          : smooth               ? "smooth scaling"
                                                                 : "adaptive rounding");
  if (samples_ > 0) {
    out.emplace_back("quant.calibration.samples", std::to_string(samples_));
    out.emplace_back("quant.calibration.sha256", fingerprint_);
  }
  return out;
}

driver::CompileOptions CompactQuantizer::program_options() const {
  driver::CompileOptions o = compile_;
  o.quantize = [this](ir::Graph& graph, std::string* error) {
    std::vector<CompactOp> ops;
    return write_compact(options_, recipe_, graph, &ops, error);
  };
  // The float model is no reference for the bits of this one: examples hold what the program gives.
  o.golden.reference = false;
  return o;
}

bool CompactQuantizer::compile(const Texts& evidence, driver::CompileResult* out, ir::Problems* problems) const {
  driver::CompileOptions o = program_options();
  o.evidence.insert(o.evidence.end(), evidence.begin(), evidence.end());
  return driver::compile(source_, o, out, problems);
}

bool CompactQuantizer::measure(Samples& samples, const MeasureOptions& options, const Progress& progress, Measurement* out,
                               ir::Problems* problems) const {
  Reference before;
  Probe after;
  const auto edit = [&](ir::Graph& graph, std::string* error) {
    std::vector<CompactOp> ops;
    return write_compact(options_, recipe_, graph, &ops, error);
  };
  if (!before.build(source_, compile_, problems) || !after.build(source_, compile_, edit, problems)) return false;
  std::string error;
  return quant::measure(before, after, samples, options, progress, out, &error) || fail(problems, error);
}

}  // namespace mote::quant
