#include "mote/compiler/quant/quantize.h"

#include <algorithm>
#include <cmath>

#include "mote/compiler/passes/linear.h"
#include "mote/compiler/quant/fixed.h"
#include "mote/compiler/quant/prepare.h"
#include "mote/compiler/quant/rounding.h"
#include "mote/ops/op_docs.h"

namespace mote::quant {
namespace {

constexpr uint64_t kMomentBytes = uint64_t{1} << 30;  // for all products together; those beyond it are rounded to the nearest

constexpr size_t kTrySamples = 32;  // that an observer is judged by

// Values of concatenated tensors get one scale when that costs the narrowest at most this factor.
constexpr double kJoinFactor = 2;

std::string op_name(uint16_t op) {
  const OpDoc* doc = find_op_doc(op);
  return doc != nullptr ? doc->name : std::to_string(op);
}

// A fused node has the names of all it was made of: "Conv_3+Relu_4".
bool is_named(const std::set<std::string>& names, const std::string& node) {
  for (size_t at = 0; at <= node.size();) {
    const size_t end = std::min(node.find('+', at), node.size());
    if (names.count(node.substr(at, end - at)) > 0) return true;
    at = end + 1;
  }
  return names.count(node) > 0;
}

void show(ir::Graph& graph, const std::vector<ir::Value*>& values) {
  for (ir::Value* v : values) graph.add_output(graph.methods[0], shown_name(v->id), v);
}

bool fail(ir::Problems* problems, const std::string& what, const std::string& advice = "") {
  problems->push_back({"quantize", what, advice});
  return false;
}

}  // namespace

struct Quantizer::Work {
  IntegerLayout layout;  // its pointers are those of a graph that is gone
  std::vector<int> values, observed;
  std::map<int, WeightRows> weights;    // by product
  std::map<int, InputMoments> moments;  // by product
};

Quantizer::Quantizer(const frontends::Source& source, const driver::CompileOptions& compile, const Options& options)
    : source_(source), compile_(compile), options_(options) {}
Quantizer::~Quantizer() = default;

bool Quantizer::calibrate(Samples& samples, const Progress& progress, ir::Problems* problems) {
  if (!compile_.passes.fuse || !compile_.passes.optimize || compile_.passes.exact)
    return fail(problems, "quantizing changes the arithmetic and needs the passes that fuse operators",
                "leave --exact, --no-fuse and --no-optimize away");
  if (samples.count() == 0) return fail(problems, "there are no calibration samples");
  Work work;
  if (!observe(samples, progress, &work, problems)) return false;
  choose_weights(work, progress);
  return choose_observer(work, samples, progress, problems);
}

bool Quantizer::choose_observer(const Work& work, Samples& samples, const Progress& progress, ir::Problems* problems) {
  struct Candidate {
    Observer observer;
    double percentile;
  };
  std::vector<Candidate> all = {{options_.observer, options_.percentile}};
  if (options_.observer == Observer::kAuto)
    all = {{Observer::kMse, 0},           {Observer::kMinMax, 0},         {Observer::kMovingAverage, 0},
           {Observer::kPercentile, 99.9}, {Observer::kPercentile, 99.97}, {Observer::kPercentile, 99.99}};
  std::map<int, Grid> best;
  double most = -INFINITY;
  for (const Candidate& c : all) {
    recipe_.grids = grids_for(work, c.observer, c.percentile);
    double worst = INFINITY;
    if (all.size() > 1) {
      MeasureOptions options;
      options.most_samples = kTrySamples;
      Measurement m;
      if (!measure(samples, options, progress, &m, problems)) return false;
      for (const OutputMeasure& o : m.outputs) worst = std::min(worst, o.sqnr_db);
    }
    if (worst <= most) continue;
    most = worst;
    best = recipe_.grids;
    chosen_ = kObserverNames[static_cast<size_t>(c.observer)];
    if (c.observer == Observer::kPercentile) chosen_ += " " + std::to_string(c.percentile).substr(0, 6);
  }
  recipe_.grids = std::move(best);
  return true;
}

bool Quantizer::observe(Samples& samples, const Progress& progress, Work* work, ir::Problems* problems) {
  Probe probe;
  const auto edit = [&](ir::Graph& graph, std::string*) {
    prepare(graph);
    for (const auto& n : graph.methods[0].block->nodes) {
      if (!can_be_integer(*n)) continue;
      const int id = n->outputs[0]->id;
      products_.push_back({id, n->inputs[0]->id, n->name, op_name(n->op), n->inputs[passes::kWeights]->type.count()});
      if (is_named(options_.in_float, n->name)) recipe_.in_float.insert(id);
    }
    work->layout = integer_layout(graph.methods[0], recipe_.in_float);
    for (const ir::Value* v : work->layout.values) work->values.push_back(v->id);
    uint64_t bytes = 0;
    for (const ir::Node* n : work->layout.products) {
      const int id = n->outputs[0]->id;
      work->weights.emplace(id, weight_rows(*n));
      InputMoments m(*n);
      if (!m.possible() || bytes + m.bytes() > kMomentBytes || !(options_.adaptive_rounding || options_.bias_correction)) continue;
      bytes += m.bytes();
      m.start();
      work->moments.emplace(id, std::move(m));
    }
    const std::vector<ir::Value*> observed = observed_values(graph.methods[0]);
    for (const ir::Value* v : observed) work->observed.push_back(v->id);
    show(graph, observed);
    return true;
  };
  if (!probe.build(source_, compile_, edit, problems)) return false;
  if (work->layout.products.empty())
    return fail(problems, "nothing to quantize: the model has no convolution or matrix product of f32 with constant weights");
  DataCheck check;
  for (size_t s = 0; s < samples.count(); ++s) {
    if (progress) progress("calibrating", static_cast<double>(s) / static_cast<double>(samples.count()));
    std::vector<driver::Array> inputs;
    std::string error;
    if (!samples.read(s, &inputs, &error) || !probe.run(inputs, &error))
      return fail(problems, "calibration sample " + std::to_string(s) + ": " + error);
    check.add(inputs);
    for (const int id : work->observed) {
      const driver::Array& a = *probe.value(id);
      stats_[id].add(reinterpret_cast<const float*>(a.data.data()), a.data.size() / sizeof(float));
    }
    for (const ProductInfo& p : products_) {
      const auto m = work->moments.find(p.id);
      if (m != work->moments.end()) m->second.add(*probe.value(p.input_id));
    }
  }
  samples_ = samples.count();
  fingerprint_ = check.fingerprint();
  warnings_ = check.warnings();
  for (const auto& [id, s] : stats_)
    if (s.histogram().not_finite() > 0)
      warnings_.push_back("value " + std::to_string(id) + " had numbers that are not finite; they were left out");
  return true;
}

std::map<int, Grid> Quantizer::grids_for(const Work& work, Observer observer, double percentile) {
  const auto& same = work.layout.same;
  const auto root = [&](int id) {
    for (auto it = same.find(id); it != same.end(); it = same.find(id)) id = it->second;
    return id;
  };
  std::map<int, Range> ranges;
  for (const int id : work.values) {
    const int r = root(id);
    if (ranges.count(r) == 0) ranges[r] = stats_[r].range(observer, percentile, options_.symmetric);
  }
  // Sets of values that are concatenated, where they fit together.
  std::map<int, int> set;
  for (const auto& [id, range] : ranges) set[id] = id;
  const auto span = [](const Range& r) { return std::max(r.hi, 0.0) - std::min(r.lo, 0.0); };
  for (const std::vector<int>& join : work.layout.joins) {
    double least = INFINITY, most = 0;
    for (const int id : join) {
      least = std::min(least, span(ranges[root(id)]));
      most = std::max(most, span(ranges[root(id)]));
    }
    if (!(most <= kJoinFactor * least)) continue;
    Range all;
    std::set<int> sets;
    for (const int id : join) sets.insert(set[root(id)]);
    for (auto& [id, range] : ranges)
      if (sets.count(set[id]) > 0) all = {std::min(all.lo, range.lo), std::max(all.hi, range.hi)};
    for (auto& [id, range] : ranges) {
      if (sets.count(set[id]) == 0) continue;
      range = all;
      set[id] = *sets.begin();
    }
  }
  std::map<int, Grid> grids;
  for (const int id : work.values) grids[id] = grid_of(ranges[root(id)], options_.symmetric);
  return grids;
}

void Quantizer::choose_weights(const Work& work, const Progress& progress) {
  size_t done = 0;
  for (const auto& [id, rows] : work.weights) {
    if (progress) progress("rounding weights", static_cast<double>(done++) / static_cast<double>(work.weights.size()));
    QuantWeights q = options_.weight_scales ? best_scaled_weights(rows) : nearest_weights(rows);
    const auto m = work.moments.find(id);
    if (m != work.moments.end() && m->second.rows() > 0) {
      if (options_.adaptive_rounding) round_for_output(rows, m->second, &q);
      if (options_.bias_correction) recipe_.bias_shift[id] = mean_shift(rows, m->second, q);
    }
    recipe_.weights[id] = std::move(q);
  }
}

Texts Quantizer::evidence() const {
  std::string corrections;
  const auto add = [&](bool on, const char* name) {
    if (on) corrections += (corrections.empty() ? "" : ", ") + std::string(name);
  };
  add(options_.weight_scales, "weight scales");
  add(options_.adaptive_rounding, "adaptive rounding");
  add(options_.bias_correction, "bias correction");
  return {{"quant.scheme", options_.symmetric ? "int8 symmetric" : "int8"},
          {"quant.observer", chosen_},
          {"quant.corrections", corrections},
          {"quant.calibration.samples", std::to_string(samples_)},
          {"quant.calibration.sha256", fingerprint_}};
}

bool Quantizer::compile(const Texts& evidence, driver::CompileResult* out, ir::Problems* problems) const {
  driver::CompileOptions o = compile_;
  o.evidence.insert(o.evidence.end(), evidence.begin(), evidence.end());
  o.passes.quantize = [&](ir::Graph& graph, std::string* error) {
    prepare(graph);
    return apply(recipe_, graph, {}, error);
  };
  o.after_passes = [&](ir::Graph& graph, std::string* error) {
    use_fixed_point(graph);
    return !compile_.after_passes || compile_.after_passes(graph, error);
  };
  // The float model is no reference for the bits of the integer one: examples hold what the program gives.
  o.golden.check_macs = 1;
  o.select = nullptr;
  return driver::compile(source_, o, out, problems);
}

bool Quantizer::measure(Samples& samples, const MeasureOptions& options, const Progress& progress, Measurement* out,
                        ir::Problems* problems) const {
  Probe before, after;
  const auto in_float = [&](ir::Graph& graph, std::string*) {
    if (options.values.empty()) return true;  // the model as it is
    prepare(graph);
    std::vector<ir::Value*> shown;
    for (ir::Value* v : observed_values(graph.methods[0]))
      if (options.values.count(v->id) > 0) shown.push_back(v);
    show(graph, shown);
    return true;
  };
  const auto quantized = [&](ir::Graph& graph, std::string* error) {
    prepare(graph);
    return apply(recipe_, graph, options.values, error);
  };
  driver::CompileOptions fixed = compile_;
  fixed.after_passes = [](ir::Graph& graph, std::string*) {
    use_fixed_point(graph);
    return true;
  };
  if (!before.build(source_, compile_, in_float, problems) || !after.build(source_, fixed, quantized, problems)) return false;
  std::string error;
  return quant::measure(before, after, samples, options, progress, out, &error) || fail(problems, error);
}

}  // namespace mote::quant
