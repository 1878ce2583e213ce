#include "mote/compiler/quant/quantize.h"

#include <algorithm>
#include <cmath>

#include "mote/compiler/driver/narrow_io.h"
#include "mote/compiler/passes/linear.h"
#include "mote/compiler/quant/fixed.h"
#include "mote/compiler/quant/keep_float.h"
#include "mote/compiler/quant/prepare.h"
#include "mote/compiler/quant/rounding.h"
#include "mote/compiler/quant/smooth.h"
#include "mote/compiler/quant/work.h"
#include "mote/ops/op_docs.h"

namespace mote::quant {
namespace {

std::string op_name(uint16_t op) {
  const OpDoc* doc = find_op_doc(op);
  return doc != nullptr ? doc->name : std::to_string(op);
}

void show(ir::Graph& graph, const std::set<int>& values) {
  for (ir::Value* v : observed_values(graph.methods[0]))
    if (values.count(v->id) > 0) graph.add_output(graph.methods[0], shown_name(v->id), v);
}

DynamicForms prepare_for(const Recipe& recipe, ir::Graph& graph) {
  smooth(graph, recipe.smooth);
  DynamicForms forms = prepare(graph);
  equalise(graph, recipe.factors);
  return forms;
}

// The 8-bit tensor that a product's result becomes within one integer operator, behind a residual addition and a clamp; its own id where
// there is none.
int result_of(const IntegerLayout& layout, const ir::Value* product) {
  const std::set<const ir::Value*> held(layout.values.begin(), layout.values.end());
  const ir::Value* v = product;
  for (int step = 0; step < 3; ++step) {
    if (held.count(v) > 0) return v->id;
    if (v->users.size() != 1 || v->users[0]->outputs.size() != 1) break;
    v = v->users[0]->outputs[0];
  }
  return product->id;
}

}  // namespace

Quantizer::Quantizer(const frontends::Source& source, const driver::CompileOptions& compile, const Options& options)
    : source_(source), compile_(compile), options_(options) {
  recipe_.wide = options.wide;
  recipe_.fixed_point = options.fixed_point || options.wide;
  recipe_.smooth = options.smooth;
  recipe_.pairs = options.pairs;
}
Quantizer::~Quantizer() = default;

bool Quantizer::calibrate(Samples& samples, const Progress& progress, ir::Problems* problems) {
  if (!compile_.passes.fuse || !compile_.passes.optimize || compile_.passes.exact)
    return fail(problems, "quantizing changes the arithmetic and needs the passes that fuse operators",
                "leave --exact, --no-fuse and --no-optimize away");
  if (samples.count() == 0) return fail(problems, "there are no calibration samples");
  if (!check_in_float(options_.in_float, source_, compile_, problems)) return false;
  Work work;
  if (options_.equalise && !find_factors(samples, progress, problems)) return false;
  if (!observe(samples, progress, &work, problems)) return false;
  choose_weights(work, progress);
  if (!choose_ranges(work, samples, progress, problems)) return false;
  return !options_.bias_correction || correct_means(samples, progress, problems);
}

bool Quantizer::run_all(Probe& probe, Samples& samples, const Progress& progress, const std::string& stage, const SampleCallback& look,
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
    const DynamicForms forms = prepare_for(recipe_, graph);
    for (const auto& n : graph.methods[0].block->nodes) {
      if (!can_be_integer(*n)) continue;
      const int id = n->outputs[0]->id;
      QuantWeights given;
      products_.push_back({id, n->inputs[0]->id, id, n->name, op_name(n->op), n->inputs[passes::kWeights]->type.count(),
                           form_of(forms, *n, &given) != nullptr});
      if (is_named(options_.in_float, n->name)) recipe_.in_float.insert(id);
    }
    work->layout = integer_layout(graph.methods[0], recipe_.in_float, recipe_.fuse_residuals());
    for (const ir::Value* v : work->layout.values) work->values.push_back(v->id);
    uint64_t bytes = 0;
    for (const ir::Node* n : work->layout.products) {
      const int id = n->outputs[0]->id;
      for (ProductInfo& p : products_)
        if (p.id == id) p.result_id = result_of(work->layout, n->outputs[0]);
      work->weights.emplace(id, weight_rows(*n, recipe_.pairs));
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
  const auto endless = std::count_if(stats_.begin(), stats_.end(), [](const auto& s) { return s.second.histogram().not_finite() > 0; });
  if (endless > 0) warnings_.push_back(std::to_string(endless) + " tensors had numbers that are not finite; their ranges leave them out");
  return true;
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
  add(options_.pairs, "weights in pairs");
  add(options_.weight_scales, "weight scales");
  add(options_.adaptive_rounding, "adaptive rounding");
  add(options_.bias_correction, "bias correction");
  return {{"quant.scheme", options_.wide        ? "int16x8"
                           : options_.symmetric ? "int8 symmetric"
                                                : "int8"},
          {"quant.observer", chosen_},
          {"quant.corrections", corrections},
          {"quant.arithmetic", recipe_.fixed_point ? "fixed point" : "f32 factors"},
          {"quant.calibration.samples", std::to_string(samples_)},
          {"quant.calibration.sha256", fingerprint_}};
}

driver::CompileOptions Quantizer::program_options() const {
  driver::CompileOptions o = compile_;
  o.quantize = [this](ir::Graph& graph, std::string* error) {
    return apply(recipe_, prepare_for(recipe_, graph), graph, {}, error) && (!narrow_io_ || narrow(graph, error));
  };
  o.after_passes = [this](ir::Graph& graph, std::string* error) {
    use_fixed_point(graph, recipe_.fixed_point);
    return !compile_.after_passes || compile_.after_passes(graph, error);
  };
  // The float model is no reference for the bits of the integer one: examples hold what the program gives.
  o.golden.reference = false;
  return o;
}

// 8-bit outputs get their observed range.
bool Quantizer::narrow(ir::Graph& graph, std::string* error) const {
  std::map<int, ir::QuantNote> outputs;
  for (const auto& [id, stats] : stats_) {
    if (stats.histogram().count() == 0) continue;
    const Grid g = grid_of(stats.histogram().range(), options_.symmetric);
    outputs[id] = {g.scale, g.zero};
  }
  return driver::narrow_io(graph, outputs, error);
}

bool Quantizer::compile(const Texts& evidence, driver::CompileResult* out, ir::Problems* problems) const {
  driver::CompileOptions o = program_options();
  o.evidence.insert(o.evidence.end(), evidence.begin(), evidence.end());
  return driver::compile(source_, o, out, problems);
}

bool Quantizer::build_float(const std::set<int>& values, Probe* out, ir::Problems* problems) const {
  const auto edit = [&](ir::Graph& graph, std::string*) {
    if (values.empty()) prepare(graph);
    else prepare_for(recipe_, graph);
    show(graph, values);
    return true;
  };
  return out->build(source_, compile_, edit, problems);
}

bool Quantizer::build_quantized(const Recipe& recipe, const std::set<int>& values, Probe* out, ir::Problems* problems) const {
  driver::CompileOptions fixed = compile_;
  fixed.after_passes = [&](ir::Graph& graph, std::string*) {
    use_fixed_point(graph, recipe.fixed_point);
    return true;
  };
  const bool narrow_io = narrow_io_ && values.empty();  // intermediate values are compared in f32
  const auto edit = [&](ir::Graph& graph, std::string* error) {
    return apply(recipe, prepare_for(recipe, graph), graph, values, error) && (!narrow_io || narrow(graph, error));
  };
  out->set_narrow_io(narrow_io);
  return out->build(source_, fixed, edit, problems);
}

bool Quantizer::is_dynamic() const {
  return std::any_of(products_.begin(), products_.end(), [](const ProductInfo& p) { return p.dynamic; });
}

bool Quantizer::measure(Samples& samples, const MeasureOptions& options, const Progress& progress, Measurement* out,
                        ir::Problems* problems) const {
  Probe after;
  std::string error;
  if (!build_quantized(recipe_, options.values, &after, problems)) return false;
  if (options.values.empty()) {
    Reference before;
    if (!before.build(source_, compile_, problems)) return false;
    return quant::measure(before, after, samples, options, progress, out, &error) || fail(problems, error);
  }
  Probe before;
  if (!build_float(options.values, &before, problems)) return false;
  return quant::measure(before, nullptr, after, samples, options, progress, out, &error) || fail(problems, error);
}

}  // namespace mote::quant
