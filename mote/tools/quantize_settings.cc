#include "mote/tools/quantize_settings.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "mote/tools/failure.h"
#include "mote/tools/sample_folder.h"
#include "mote/tools/text_table.h"
#include "mote/tools/values.h"

namespace mote::tools {
namespace {

std::string fixed_text(double v, int digits) {
  char s[48];
  std::snprintf(s, sizeof s, "%.*f", digits, v);
  return s;
}

constexpr size_t kOpSamples = 32;  // that operators are compared on

// What each product's result, or the 8-bit tensor made of it, has lost.
bool measure_ops(const quant::Quantizer& quantizer, quant::Samples& data, const quant::Progress& show, std::vector<QuantizedOp>* out,
                 ir::Problems* problems) {
  quant::MeasureOptions options;
  options.most_samples = kOpSamples;
  const quant::Recipe& recipe = quantizer.recipe();
  for (const auto& [id, grid] : recipe.grids) options.values.insert(id);
  quant::Measurement m;
  if (!quantizer.measure(data, options, show, &m, problems)) return false;
  for (const quant::ProductInfo& p : quantizer.products()) {
    const auto sqnr = m.value_sqnr_db.find(p.id);
    out->push_back({p.name, p.op, recipe.in_float.count(p.id) > 0 ? "f32" : "int8", sqnr == m.value_sqnr_db.end() ? -1 : sqnr->second});
  }
  return true;
}

bool within_budget(const QuantizeSettings& s, const QuantizeResult& r, ir::Problems* problems) {
  const std::string advice = "--keep-float leaves operators alone; those with the lowest SQNR come first";
  for (const quant::OutputMeasure& m : r.measured.outputs)
    if (s.min_sqnr >= 0 && m.sqnr_db < s.min_sqnr)
      problems->push_back(
          {"--min-sqnr",
           "output '" + m.name + "': expected " + fixed_text(s.min_sqnr, 1) + " dB, found " + fixed_text(m.sqnr_db, 1) + " dB", advice});
  if (s.max_drop >= 0 && r.measured.drop() > s.max_drop)
    problems->push_back({"--max-drop",
                         "expected a drop of at most " + fixed_text(s.max_drop, 2) + " points, found " + fixed_text(r.measured.drop(), 2),
                         advice});
  return problems->empty();
}

void add_evidence(const QuantizeResult& r, quant::Texts* out) {
  out->emplace_back("quant.test.samples", std::to_string(r.measured.samples));
  out->emplace_back("quant.test.sha256", r.measured.fingerprint);
  for (const quant::OutputMeasure& m : r.measured.outputs) {
    std::string text =
        "sqnr_db " + fixed_text(m.sqnr_db, 2) + ", cosine " + fixed_text(m.cosine, 5) + ", same_top1 " + fixed_text(m.agreement, 4);
    if (r.measured.labelled) text += ", accuracy " + fixed_text(m.accuracy_before, 4) + " -> " + fixed_text(m.accuracy_after, 4);
    out->emplace_back("quant.output." + m.name, text);
  }
  std::string lines;
  for (const QuantizedOp& op : r.ops)
    lines += op.op + "\t" + op.precision + "\t" + (op.sqnr_db < 0 ? "-" : fixed_text(op.sqnr_db, 1)) + "\t" + op.name + "\n";
  out->emplace_back("quant.ops", lines);
}

quant::Options options_of(const QuantizeSettings& s) {
  quant::Options o;
  if (!quant::observer_named(s.observer, &o.observer)) throw usage("--observer: there is none called '" + s.observer + "'");
  o.percentile = s.percentile;
  o.symmetric = s.symmetric;
  o.adaptive_rounding = !s.no_rounding;
  o.bias_correction = !s.no_bias;
  o.weight_scales = !s.no_weight_scales;
  o.in_float.insert(s.in_float.begin(), s.in_float.end());
  return o;
}

}  // namespace

void add_quantize_options(CLI::App* c, QuantizeSettings* s) {
  const char* group = "Quantizing (docs/quantization.md)";
  c->add_option("--quantize", s->scheme, "int8: 8-bit weights and activations, ranges from --calibrate")
      ->check(CLI::IsMember({"int8"}))
      ->group(group);
  c->add_option("--calibrate", s->calibrate, "folder of typical inputs: .npy, images or .wav")->group(group);
  c->add_option("--calibrate-samples", s->calibrate_samples, "take only the first so many of them")->group(group);
  c->add_option("--test", s->test, "folder of inputs to measure the cost on (default: the calibration data)")->group(group);
  c->add_option("--test-skip", s->test_skip, "leave out the first so many of them")->group(group);
  c->add_option("--test-samples", s->test_samples, "measure at most so many (default: all of --test, 64 of --calibrate)")->group(group);
  c->add_option("--truth", s->truth, "right classes of the --test inputs, before --test-skip: .npy, or a number a line")->group(group);
  c->add_option("--observer", s->observer,
                "how ranges are found: min-max, moving-average, percentile, mse, entropy, or auto: the best of them (default)")
      ->check(CLI::IsMember({"min-max", "moving-average", "percentile", "mse", "entropy", "auto"}))
      ->group(group);
  c->add_option("--percentile", s->percentile, "with --observer percentile: part of the numbers to keep (default 99.99)")
      ->check(CLI::Range(50.0, 100.0))
      ->group(group);
  c->add_option("--min-sqnr", s->min_sqnr, "refuse when an output's signal to error ratio is below this, dB")
      ->check(CLI::NonNegativeNumber)
      ->group(group);
  c->add_option("--max-drop", s->max_drop, "refuse when the accuracy on --test with --truth falls by more than this, points")
      ->check(CLI::NonNegativeNumber)
      ->group(group);
  c->add_flag("--symmetric", s->symmetric, "activations have zero point 0")->group(group);
  c->add_flag("--no-adaptive-rounding", s->no_rounding, "round each weight to the nearest")->group(group);
  c->add_flag("--no-bias-correction", s->no_bias, "leave the means that rounding shifts")->group(group);
  c->add_flag("--no-weight-scales", s->no_weight_scales, "scale weights by the largest, not for the least error")->group(group);
  c->add_option("--keep-float", s->in_float, "a node of the model to leave in float; once for each")->allow_extra_args(false)->group(group);
}

bool compile_quantized(const QuantizeSettings& s, const frontends::Source& source, const driver::CompileOptions& options,
                       Progress* progress, driver::CompileResult* out, QuantizeResult* result, ir::Problems* problems) {
  if (s.calibrate.empty()) throw usage("--quantize int8 needs typical inputs: --calibrate DIR");
  if (!s.truth.empty() && s.test.empty()) throw usage("--truth needs the inputs it belongs to: --test DIR");
  driver::Signature signature;
  if (!driver::read_signature(source, options.import, &signature, problems)) return false;
  const MetadataOf metadata = [&](const std::string& key) {
    for (const auto& [k, v] : options.metadata)
      if (k == key) return v;
    return std::string();
  };
  SampleFolder data(s.calibrate, signature.methods[0], metadata, {0, s.calibrate_samples});
  const auto show = [&](const std::string& stage, double fraction) { progress->show(stage, fraction); };
  quant::Quantizer quantizer(source, options, options_of(s));
  if (!quantizer.calibrate(data, show, problems)) return false;
  result->warnings = quantizer.warnings();
  if (!measure_ops(quantizer, data, show, &result->ops, problems)) return false;
  quant::MeasureOptions measure;
  measure.most_samples = s.test_samples > 0 ? s.test_samples : s.test.empty() ? 64 : 0;
  if (!s.truth.empty()) {
    measure.labels = read_labels(s.truth);
    measure.labels.erase(measure.labels.begin(), measure.labels.begin() + static_cast<long>(std::min(s.test_skip, measure.labels.size())));
  }
  const std::string& folder = s.test.empty() ? s.calibrate : s.test;
  SampleFolder test(folder, signature.methods[0], metadata, {s.test.empty() ? 0 : s.test_skip, s.test_samples});
  if (!quantizer.measure(test, measure, show, &result->measured, problems)) return false;
  if (!within_budget(s, *result, problems)) return false;
  result->evidence = quantizer.evidence();
  add_evidence(*result, &result->evidence);
  return quantizer.compile(result->evidence, out, problems);
}

std::string quantize_text(const QuantizeResult& r) {
  TextTable table({"output", "SQNR dB", "cosine", "same top-1", "accuracy f32", "int8", "drop"});
  const auto percent = [](double part) { return fixed_text(100 * part, 2) + " %"; };
  for (const quant::OutputMeasure& m : r.measured.outputs)
    table.add({m.name, decibels(m.sqnr_db), fixed_text(m.cosine, 5), percent(m.agreement),
               r.measured.labelled ? percent(m.accuracy_before) : "", r.measured.labelled ? percent(m.accuracy_after) : "",
               r.measured.labelled ? fixed_text(100 * (m.accuracy_before - m.accuracy_after), 2) : ""});
  return "Quantized, measured on " + std::to_string(r.measured.samples) + " samples beside the float model\n" + table.text();
}

Json quantize_json(const QuantizeResult& r) {
  Json outputs = Json::array(), ops = Json::array();
  for (const quant::OutputMeasure& m : r.measured.outputs) {
    Json j = {{"name", m.name}, {"cosine", m.cosine}, {"same_top1", m.agreement}};
    j["sqnr_db"] = std::isfinite(m.sqnr_db) ? Json(m.sqnr_db) : Json(nullptr);
    if (r.measured.labelled) j["accuracy_f32"] = m.accuracy_before, j["accuracy"] = m.accuracy_after;
    outputs.push_back(j);
  }
  for (const QuantizedOp& op : r.ops) {
    const bool known = op.sqnr_db >= 0 && std::isfinite(op.sqnr_db);
    ops.push_back({{"name", op.name}, {"op", op.op}, {"precision", op.precision}, {"sqnr_db", known ? Json(op.sqnr_db) : Json(nullptr)}});
  }
  Json evidence = Json::object();
  for (const auto& [key, value] : r.evidence)
    if (key != "quant.ops") evidence[key] = value;
  return {{"samples", r.measured.samples}, {"outputs", outputs}, {"ops", ops}, {"evidence", evidence}, {"warnings", r.warnings}};
}

}  // namespace mote::tools
