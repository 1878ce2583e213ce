#include "mote/compiler/quant/quantize.h"

#include <algorithm>
#include <cmath>

#include "mote/compiler/passes/linear.h"
#include "mote/compiler/quant/fixed.h"
#include "mote/compiler/quant/prepare.h"
#include "mote/compiler/quant/rounding.h"
#include "mote/compiler/quant/smooth.h"
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

void show(ir::Graph& graph, const std::set<int>& values) {
  for (ir::Value* v : observed_values(graph.methods[0]))
    if (values.count(v->id) > 0) graph.add_output(graph.methods[0], shown_name(v->id), v);
}

void prepare_for(const Recipe& recipe, ir::Graph& graph) {
  smooth(graph, recipe.smooth);
  prepare(graph);
  equalise(graph, recipe.factors);
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
    : source_(source), compile_(compile), options_(options) {
  recipe_.wide = options.wide;
  recipe_.smooth = options.smooth;
}
Quantizer::~Quantizer() = default;

bool Quantizer::calibrate(Samples& samples, const Progress& progress, ir::Problems* problems) {
  if (!compile_.passes.fuse || !compile_.passes.optimize || compile_.passes.exact)
    return fail(problems, "quantizing changes the arithmetic and needs the passes that fuse operators",
                "leave --exact, --no-fuse and --no-optimize away");
  if (samples.count() == 0) return fail(problems, "there are no calibration samples");
  Work work;
  if (options_.equalise && !find_factors(samples, progress, problems)) return false;
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
  Candidate best_observer = all[0];
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
    best_observer = c;
    chosen_ = kObserverNames[static_cast<size_t>(c.observer)];
    if (c.observer == Observer::kPercentile) chosen_ += " " + std::to_string(c.percentile).substr(0, 6);
  }
  recipe_.grids = std::move(best);
  for (const int id : work.observed)
    recipe_.spare[id] = grid_of(stats_[id].range(best_observer.observer, best_observer.percentile, options_.symmetric), options_.symmetric);
  return true;
}

bool Quantizer::run_all(Probe& probe, Samples& samples, const Progress& progress, const std::string& stage, const Look& look,
                        ir::Problems* problems) const {
  for (size_t s = 0; s < samples.count(); ++s) {
    if (progress) progress(stage, static_cast<double>(s) / static_cast<double>(samples.count()));
    std::vector<driver::Array> inputs;
    std::string error;
    if (!samples.read(s, &inputs, &error) || !probe.run(inputs, &error))
      return fail(problems, "calibration sample " + std::to_string(s) + ": " + error);
    look(inputs);
  }
  return true;
}

bool Quantizer::find_factors(Samples& samples, const Progress& progress, ir::Problems* problems) {
  std::vector<EqualPair> pairs;
  std::set<int> values;
  Probe probe;
  const auto edit = [&](ir::Graph& graph, std::string*) {
    smooth(graph, recipe_.smooth);
    prepare(graph);
    pairs = equal_pairs(graph.methods[0]);
    for (const EqualPair& p : pairs) values.insert(p.id);
    show(graph, values);
    return true;
  };
  if (!probe.build(source_, compile_, edit, problems)) return false;
  std::map<int, std::vector<float>> peaks;
  const auto look = [&](const std::vector<driver::Array>&) {
    for (const int id : values) add_peaks(*probe.value(id), &peaks[id]);
  };
  if (!pairs.empty() && !run_all(probe, samples, progress, "equalising", look, problems)) return false;
  for (const EqualPair& p : pairs)
    if (p.reach.empty() || p.reach.size() == peaks[p.id].size()) recipe_.factors[p.id] = p.factors(peaks[p.id]);
  return true;
}

bool Quantizer::observe(Samples& samples, const Progress& progress, Work* work, ir::Problems* problems) {
  Probe probe;
  const auto edit = [&](ir::Graph& graph, std::string*) {
    prepare_for(recipe_, graph);
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
    for (const ir::Value* v : observed_values(graph.methods[0])) work->observed.push_back(v->id);
    show(graph, {work->observed.begin(), work->observed.end()});
    return true;
  };
  if (!probe.build(source_, compile_, edit, problems)) return false;
  if (work->layout.products.empty())
    return fail(problems, "nothing to quantize: the model has no convolution or matrix product of f32 with constant weights");
  DataCheck check;
  const auto look = [&](const std::vector<driver::Array>& inputs) {
    check.add(inputs);
    for (const int id : work->observed) {
      const driver::Array& a = *probe.value(id);
      stats_[id].add(reinterpret_cast<const float*>(a.data.data()), a.data.size() / sizeof(float));
    }
    for (const ProductInfo& p : products_) {
      const auto m = work->moments.find(p.id);
      if (m != work->moments.end()) m->second.add(*probe.value(p.input_id));
    }
  };
  if (!run_all(probe, samples, progress, "calibrating", look, problems)) return false;
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
      if (options_.adaptive_rounding) round_for_output(rows, m->second, Means::kCorrected, &q);
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
  add(options_.equalise, "equalisation");
  add(options_.smooth > 0, "smooth scaling");
  add(options_.weight_scales, "weight scales");
  add(options_.adaptive_rounding, "adaptive rounding");
  add(options_.bias_correction, "bias correction");
  return {{"quant.scheme", options_.wide        ? "int16x8"
                           : options_.symmetric ? "int8 symmetric"
                                                : "int8"},
          {"quant.observer", chosen_},
          {"quant.corrections", corrections},
          {"quant.calibration.samples", std::to_string(samples_)},
          {"quant.calibration.sha256", fingerprint_}};
}

driver::CompileOptions Quantizer::program_options() const {
  driver::CompileOptions o = compile_;
  o.passes.quantize = [this](ir::Graph& graph, std::string* error) {
    prepare_for(recipe_, graph);
    return apply(recipe_, graph, {}, error);
  };
  o.after_passes = [this](ir::Graph& graph, std::string* error) {
    use_fixed_point(graph);
    return !compile_.after_passes || compile_.after_passes(graph, error);
  };
  // The float model is no reference for the bits of the integer one: examples hold what the program gives.
  o.golden.check_macs = 1;
  o.select = nullptr;
  return o;
}

bool Quantizer::compile(const Texts& evidence, driver::CompileResult* out, ir::Problems* problems) const {
  driver::CompileOptions o = program_options();
  o.evidence.insert(o.evidence.end(), evidence.begin(), evidence.end());
  return driver::compile(source_, o, out, problems);
}

bool Quantizer::build_float(const std::set<int>& values, Probe* out, ir::Problems* problems) const {
  const auto edit = [&](ir::Graph& graph, std::string*) {
    if (values.empty()) return true;  // the model as it is
    prepare_for(recipe_, graph);
    show(graph, values);
    return true;
  };
  return out->build(source_, compile_, edit, problems);
}

bool Quantizer::build_quantized(const Recipe& recipe, const std::set<int>& values, Probe* out, ir::Problems* problems) const {
  driver::CompileOptions fixed = compile_;
  fixed.after_passes = [](ir::Graph& graph, std::string*) {
    use_fixed_point(graph);
    return true;
  };
  const auto edit = [&](ir::Graph& graph, std::string* error) {
    prepare_for(recipe, graph);
    return apply(recipe, graph, values, error);
  };
  return out->build(source_, fixed, edit, problems);
}

bool Quantizer::measure(Samples& samples, const MeasureOptions& options, const Progress& progress, Measurement* out,
                        ir::Problems* problems) const {
  Probe before, after;
  if (!build_float(options.values, &before, problems) || !build_quantized(recipe_, options.values, &after, problems)) return false;
  std::string error;
  return quant::measure(before, after, samples, options, progress, out, &error) || fail(problems, error);
}

}  // namespace mote::quant
