#include "mote/tools/quantize_settings.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "mote/tools/failure.h"
#include "mote/tools/files.h"
#include "mote/tools/quantize_report.h"
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
bool measure_ops(const quant::Quantizer& quantizer, const quant::Mix& mix, quant::Samples& data, const quant::Progress& show,
                 std::vector<QuantizedOp>* out, ir::Problems* problems) {
  quant::MeasureOptions options;
  options.most_samples = kOpSamples;
  const quant::Recipe& recipe = quantizer.recipe();
  for (const auto& [id, grid] : recipe.grids) options.values.insert(id);
  for (const quant::ProductInfo& p : quantizer.products()) options.values.insert(p.result_id);  // the last ones give f32
  quant::Measurement m;
  if (!quantizer.measure(data, options, show, &m, problems)) return false;
  for (const quant::ProductInfo& p : quantizer.products()) {
    const auto sqnr = m.value_sqnr_db.find(p.result_id);
    out->push_back({p.name, p.op,
                    recipe.in_float.count(p.id) == 0   ? recipe.wide ? "int16x8" : "int8"
                    : recipe.keep_dynamic && p.dynamic ? "int8 dynamic"
                                                       : "f32",
                    sqnr == m.value_sqnr_db.end() ? -1 : sqnr->second, mix.choices().at(p.id)});
  }
  return true;
}

void save_report(const std::string& path, const std::string& page) {
  std::string error;
  if (!write_whole_file(path, {page.begin(), page.end()}, &error)) throw Failure(path + ": " + error);
}

quant::Options options_of(const QuantizeSettings& s) {
  quant::Options o;
  if (!quant::observer_named(s.observer, &o.observer)) throw usage("--observer: there is none called '" + s.observer + "'");
  o.percentile = s.percentile;
  o.wide = s.scheme == "int16x8";
  o.symmetric = s.symmetric || o.wide;
  o.smooth = s.smooth;
  o.fixed_point = s.fixed_point;
  o.pairs = !s.no_pairs;
  o.adaptive_rounding = !s.no_rounding;
  o.bias_correction = !s.no_bias;
  o.equalise = !s.no_equalise;
  o.weight_scales = !s.no_weight_scales;
  o.in_float.insert(s.in_float.begin(), s.in_float.end());
  return o;
}

}  // namespace

bool within_budget(const QuantizeSettings& s, const QuantizeResult& r, ir::Problems* problems) {
  const std::string advice =
      "no mix of int8 and float is inside the budget: nothing would be left in 8 bits; other --calibrate data may help";
  for (const quant::OutputMeasure& m : r.measured.outputs)
    if (s.min_sqnr >= 0 && m.sqnr_db < s.min_sqnr)
      problems->push_back(
          {"--min-sqnr",
           "output '" + m.name + "': expected " + fixed_text(s.min_sqnr, 1) + " dB, found " + fixed_text(m.sqnr_db, 1) + " dB", advice});
  if (s.max_drop >= 0 && r.measured.drop() > s.max_drop + 1e-9)
    problems->push_back({"--max-drop",
                         "expected a drop of at most " + fixed_text(s.max_drop, 2) + " points, found " + fixed_text(r.measured.drop(), 2),
                         advice});
  return problems->empty();
}

void add_evidence(const QuantizeResult& r, quant::Texts* out) {
  if (r.measured.samples > 0) {
    out->emplace_back("quant.test.samples", std::to_string(r.measured.samples));
    out->emplace_back("quant.test.sha256", r.measured.fingerprint);
  }
  for (const quant::OutputMeasure& m : r.measured.outputs) {
    std::string text =
        "sqnr_db " + fixed_text(m.sqnr_db, 2) + ", cosine " + fixed_text(m.cosine, 5) + ", same_top1 " + fixed_text(m.agreement, 4);
    if (r.measured.labelled) text += ", accuracy " + fixed_text(m.accuracy_before, 4) + " -> " + fixed_text(m.accuracy_after, 4);
    if (m.accuracy_own >= 0) text += ", as it comes " + fixed_text(m.accuracy_own, 4);
    out->emplace_back("quant.output." + m.name, text);
  }
  std::string lines;
  for (const QuantizedOp& op : r.ops)
    lines += op.op + "\t" + op.precision + "\t" + (op.sqnr_db < 0 ? "-" : fixed_text(op.sqnr_db, 1)) + "\t" + op.name + "\n";
  out->emplace_back("quant.ops", lines);
  std::string reasons;
  for (const QuantizedOp& op : r.ops)
    if (!op.choice.in_float.empty()) reasons += op.name + "\t" + op.choice.in_float + "\n";
  if (!reasons.empty()) out->emplace_back("quant.float", reasons);
  if (r.ns > 0)
    out->emplace_back("quant.forecast", "f32 " + fixed_text(r.f32_ns / 1e3, 1) + " us, this program " + fixed_text(r.ns / 1e3, 1) + " us");
}

void add_quantize_options(CLI::App* c, QuantizeSettings* s) {
  const char* group = "Quantizing (docs/quantization.md)";
  c->add_option(
       "--quantize", s->scheme,
       "int8: 8-bit weights and activations, ranges from --calibrate; int16x8: 16-bit activations; int8-dynamic: ranges found while "
       "running; int8-weights, "
       "int4-weights, fp16-weights, bf16-weights: weights and tables alone")
      ->check(CLI::IsMember({"int8", "int8-dynamic", "int16x8", "int8-weights", "int4-weights", "fp16-weights", "bf16-weights"}))
      ->group(group);
  c->add_option("--group", s->group, "with int4-weights: neighbours that share a scale (default 32)")
      ->check(CLI::IsMember({32, 64, 128}))
      ->group(group);
  c->add_option("--smooth", s->smooth,
                "with int8, int8-dynamic: how much of a norm's differences between channels goes into weights (default 0.5)")
      ->check(CLI::Range(0.0, 1.0))
      ->group(group);
  c->add_flag("--asymmetric", s->asymmetric, "with int4-weights: groups have zero points too")->group(group);
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
  c->add_option("--min-sqnr", s->min_sqnr, "keep operators in float until every output's signal to error ratio is at least this, dB")
      ->check(CLI::NonNegativeNumber)
      ->group(group);
  c->add_option("--max-drop", s->max_drop,
                "keep operators in float until the accuracy on --test with --truth falls by at most this, points")
      ->check(CLI::NonNegativeNumber)
      ->group(group);
  c->add_flag("--int8-everywhere", s->everywhere, "int8 also where the target's cost model says that float is faster")->group(group);
  c->add_flag("--fixed-point", s->fixed_point,
              "requantize accumulators with integers alone, as TFLite does, instead of with f32 factors (always with --emit cpp)")
      ->group(group);
  c->add_flag("--symmetric", s->symmetric, "activations have zero point 0")->group(group);
  c->add_flag("--no-equalise", s->no_equalise, "leave channels as they are, instead of giving narrow ones more of their tensor's range")
      ->group(group);
  c->add_flag("--no-adaptive-rounding", s->no_rounding, "round each weight to the nearest")->group(group);
  c->add_flag("--no-bias-correction", s->no_bias, "leave the means that rounding shifts")->group(group);
  c->add_flag("--no-weight-scales", s->no_weight_scales, "scale weights by the largest, not for the least error")->group(group);
  c->add_flag("--no-weight-pairs", s->no_pairs,
              "let neighbouring weights be large together: a little more accurate, and half as fast on CPUs with AVX2 alone")
      ->group(group);
  c->add_option(
      "--report", s->report,
      "write what is known of the program as a page (.html) or as data (.json): coverage, parity, sizes, memory, placement, errors and "
      "histograms of quantized operators, accumulators, slow paths (docs/report.md)");
  c->add_option("--keep-float", s->in_float, "a node of the model to leave in float; once for each")->allow_extra_args(false)->group(group);
}

std::string words_of(const QuantizeSettings& s) {
  const QuantizeSettings usual;
  std::string words = "--quantize " + s.scheme;
  const auto add = [&](bool wanted, const std::string& text) {
    if (wanted) words += " " + text;
  };
  add(s.group != usual.group, "--group " + std::to_string(s.group));
  add(s.asymmetric, "--asymmetric");
  add(s.observer != usual.observer, "--observer " + s.observer);
  add(s.percentile != usual.percentile, "--percentile " + std::to_string(s.percentile));
  add(s.min_sqnr >= 0, "--min-sqnr " + std::to_string(s.min_sqnr));
  add(s.max_drop >= 0, "--max-drop " + std::to_string(s.max_drop));
  add(s.calibrate_samples > 0, "--calibrate-samples " + std::to_string(s.calibrate_samples));
  add(!s.test.empty() && s.test_skip > 0, "--test-skip " + std::to_string(s.test_skip));
  add(s.test_samples > 0, "--test-samples " + std::to_string(s.test_samples));
  add(s.smooth != usual.smooth, "--smooth " + std::to_string(s.smooth));
  add(s.symmetric, "--symmetric");
  add(s.fixed_point, "--fixed-point");
  add(s.everywhere, "--int8-everywhere");
  add(s.no_equalise, "--no-equalise");
  add(s.no_rounding, "--no-adaptive-rounding");
  add(s.no_bias, "--no-bias-correction");
  add(s.no_weight_scales, "--no-weight-scales");
  add(s.no_pairs, "--no-weight-pairs");
  for (const std::string& name : s.in_float) words += "\n--keep-float=" + name;
  return words;
}

QuantizeSettings quantize_settings_of(std::vector<std::string> words) {
  QuantizeSettings s;
  CLI::App app;
  add_quantize_options(&app, &s);
  std::reverse(words.begin(), words.end());  // as CLI11 wants them
  try {
    app.parse(words);
  } catch (const CLI::ParseError& e) {
    throw usage(e.what());
  }
  return s;
}

QuantizeSettings quantize_settings_of(const std::string& words) {
  std::vector<std::string> arguments;
  for (size_t at = 0; at < words.size();) {
    // Names of nodes have blanks: each has a line of its own.
    const bool name = words.compare(at, 13, "--keep-float=") == 0;
    const size_t end = std::min(words.find_first_of(name ? "\n" : " \n", at), words.size());
    if (end > at) arguments.push_back(words.substr(at, end - at));
    at = end + 1;
  }
  try {
    return quantize_settings_of(arguments);
  } catch (const Failure& e) {
    throw Failure("the options the program was quantized with are not known here: '" + words + "': " + e.what());
  }
}

TestData::TestData(const QuantizeSettings& s, const driver::Signature::Method& method, const MetadataOf& metadata)
    : samples(s.test.empty() ? s.calibrate : s.test, method, metadata, {s.test.empty() ? 0 : s.test_skip, s.test_samples}) {
  how.most_samples = s.test_samples > 0 ? s.test_samples : s.test.empty() ? 64 : 0;
  if (s.truth.empty()) return;
  how.labels = read_labels(s.truth);
  // Another count means another order or other samples: accuracy would be that of chance.
  if (how.labels.size() != samples.total())
    throw Failure(s.truth + ": expected " + number(samples.total()) + " labels, one for each sample in " + s.test + ", found " +
                  number(how.labels.size()));
  how.labels.erase(how.labels.begin(), how.labels.begin() + static_cast<long>(std::min(s.test_skip, how.labels.size())));
}

std::vector<std::string> doubts_of(const QuantizeSettings& s, const QuantizeResult& r) {
  std::vector<std::string> doubts;
  const std::vector<quant::OutputMeasure>& outputs = r.measured.outputs;
  if (r.measured.labelled && std::all_of(outputs.begin(), outputs.end(), [](const auto& m) { return m.accuracy_before == 0; }))
    doubts.push_back("the float model gives the right class for none of " + number(r.measured.samples) + " samples: do the labels in " +
                     s.truth + " belong to these inputs, in this order, counted from 0, and are the inputs prepared as in training?");
  const auto in_float = [](const QuantizedOp& op) { return op.precision == "f32"; };
  if (r.ops.empty() || !std::all_of(r.ops.begin(), r.ops.end(), in_float)) return doubts;
  std::string why = r.ops[0].choice.in_float;
  if (!why.empty()) why = " (" + why + ")";
  doubts.push_back("--quantize " + s.scheme + " left every operator in float" + why + ": the program is the float model" +
                   (s.scheme == "int8" && !s.everywhere ? "; --int8-everywhere quantizes them all the same" : ""));
  return doubts;
}

bool compile_quantized(const QuantizeSettings& s, const frontends::Source& source, const driver::CompileOptions& all_options,
                       Progress* progress, driver::CompileResult* out, QuantizeResult* result, ir::Problems* problems) {
  check_usage(s);
  quant::Scheme scheme = quant::Scheme::kInt8;
  quant::scheme_named(s.scheme, &scheme);
  if (all_options.io_int8 && scheme != quant::Scheme::kInt8)
    throw usage("--io int8 belongs to --quantize int8, or to a model that comes quantized; found --quantize " + s.scheme);
  // Data and everything that is measured are those of the model, in f32: the quantizer narrows the program alone.
  driver::CompileOptions options = all_options;
  options.io_int8 = false;
  if (!quant::is_static(scheme)) return compile_compact(s, source, options, progress, out, result, problems);
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
  quantizer.set_narrow_io(all_options.io_int8);
  result->warnings = quantizer.warnings();
  if (const std::string doubt = data.doubt(); !doubt.empty()) result->warnings.push_back(doubt);
  quant::Mix mix(quantizer, source, options);
  const bool wide = scheme == quant::Scheme::kInt16x8;
  if (wide)
    result->warnings.push_back(
        "16-bit activations have portable kernels alone: more accurate than int8, and slower than f32 on large CPUs");
  if (!s.everywhere && !wide && !mix.keep_unprofitable_in_float(show, problems)) return false;
  TestData test(s, signature.methods[0], metadata);
  if (!mix.meet({s.min_sqnr, s.max_drop}, data, test.samples, test.how, show, &result->measured, problems)) return false;
  if (!within_budget(s, *result, problems) || !measure_ops(quantizer, mix, data, show, &result->ops, problems)) return false;
  for (const std::string& doubt : doubts_of(s, *result)) result->warnings.push_back(doubt);
  result->f32_ns = mix.f32_ns();
  result->ns = mix.mix_ns();
  result->evidence = quantizer.evidence();
  result->evidence.emplace_back("quant.options", words_of(s));
  add_evidence(*result, &result->evidence);
  if (!quantizer.compile(result->evidence, out, problems)) return false;
  if (s.report.empty() && !s.sections) return true;
  // The float model with as many examples, which nobody runs: for its sizes.
  options.golden.reference = false;
  options.golden.kernel_work = 0;
  driver::CompileResult before;
  if (!driver::compile(source, options, &before, problems)) return false;
  const std::string name = source.path.substr(source.path.find_last_of("/\\") + 1);
  if (s.sections) result->sections = quantize_sections(*result, quantizer, before, *out);
  if (!s.report.empty()) save_report(s.report, quantize_report(name, *result, quantizer, before, *out));
  return true;
}

std::string quantize_text(const QuantizeResult& r) {
  std::vector<std::string> head = {"output", "SQNR dB", "cosine", "same top-1"};
  if (r.measured.labelled) head.insert(head.end(), {"accuracy f32", "quantized", "drop"});
  TextTable table(head);
  const auto percent = [](double part) { return fixed_text(100 * part, 2) + " %"; };
  for (const quant::OutputMeasure& m : r.measured.outputs) {
    std::vector<std::string> line = {m.name, decibels(m.sqnr_db), fixed_text(m.cosine, 5), percent(m.agreement)};
    if (r.measured.labelled)
      line.insert(line.end(),
                  {percent(m.accuracy_before), percent(m.accuracy_after), fixed_text(100 * (m.accuracy_before - m.accuracy_after), 2)});
    table.add(line);
  }
  std::string text = "Quantized, measured on " + std::to_string(r.measured.samples) + " samples beside the float model\n" + table.text();
  if (r.measured.samples == 0) text = "Quantized; --test DIR tells what that costs\n";
  for (const quant::OutputMeasure& m : r.measured.outputs)
    if (m.accuracy_own >= 0)
      text += m.name + ": the model as it comes quantizes while running and has " + percent(m.accuracy_own) + ", a drop of " +
              fixed_text(100 * (m.accuracy_own - m.accuracy_after), 2) + " from there\n";
  TextTable kept({"left as it is", "why"});
  for (const QuantizedOp& op : r.ops)
    if (!op.choice.in_float.empty()) kept.add({op.op + " " + one_line(op.name, 60), op.choice.in_float});
  if (!kept.empty()) text += kept.text();
  if (r.ns > 0) text += "cost model: f32 " + fixed_text(r.f32_ns / 1e3, 1) + " us, this program " + fixed_text(r.ns / 1e3, 1) + " us\n";
  return text;
}

Json quantize_json(const QuantizeResult& r) {
  Json outputs = Json::array(), ops = Json::array();
  for (const quant::OutputMeasure& m : r.measured.outputs) {
    Json j = {{"name", m.name}, {"cosine", m.cosine}, {"same_top1", m.agreement}};
    j["sqnr_db"] = std::isfinite(m.sqnr_db) ? Json(m.sqnr_db) : Json(nullptr);
    if (r.measured.labelled) j["accuracy_f32"] = m.accuracy_before, j["accuracy"] = m.accuracy_after;
    if (m.accuracy_own >= 0) j["accuracy_as_it_comes"] = m.accuracy_own;
    outputs.push_back(j);
  }
  for (const QuantizedOp& op : r.ops) {
    const bool known = op.sqnr_db >= 0 && std::isfinite(op.sqnr_db);
    Json j = {{"name", op.name}, {"op", op.op}, {"precision", op.precision}, {"sqnr_db", known ? Json(op.sqnr_db) : Json(nullptr)}};
    if (!op.choice.in_float.empty()) j["in_float"] = op.choice.in_float;
    if (op.choice.alone_db >= 0 && std::isfinite(op.choice.alone_db)) j["alone_sqnr_db"] = op.choice.alone_db;
    if (op.choice.f32_ns >= 0) j["f32_ns"] = op.choice.f32_ns;
    if (op.choice.int8_ns >= 0) j["int8_ns"] = op.choice.int8_ns;
    ops.push_back(j);
  }
  Json evidence = Json::object();
  for (const auto& [key, value] : r.evidence)
    if (key != "quant.ops") evidence[key] = value;
  Json j = {{"samples", r.measured.samples}, {"outputs", outputs}, {"ops", ops}, {"evidence", evidence}, {"warnings", r.warnings}};
  if (r.ns > 0) j["forecast_ns"] = {{"f32", r.f32_ns}, {"program", r.ns}};
  return j;
}

}  // namespace mote::tools
