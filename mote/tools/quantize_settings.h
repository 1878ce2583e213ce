#pragma once

// The options of `mote compile` that quantize, and what they do.

#include <CLI/CLI.hpp>

#include "mote/compiler/quant/mix.h"
#include "mote/compiler/quant/scheme.h"
#include "mote/tools/json_out.h"
#include "mote/tools/progress.h"
#include "mote/tools/sample_folder.h"

namespace mote::tools {

struct QuantizeSettings {
  std::string scheme;  // empty: no quantizing
  std::string calibrate, test, truth, report, observer = "auto";
  int group = 32;  // of int4-weights
  float smooth = 0.5f;
  bool asymmetric = false;
  size_t calibrate_samples = 0, test_samples = 0, test_skip = 0;
  double percentile = 99.99, min_sqnr = -1, max_drop = -1;  // below 0: no budget
  bool symmetric = false, no_rounding = false, no_bias = false, no_weight_scales = false, no_equalise = false, everywhere = false;
  bool fixed_point = false, no_pairs = false;
  std::vector<std::string> in_float;

  bool sections = false;  // QuantizeResult::sections is wanted

  bool wanted() const { return !scheme.empty(); }
};

void add_quantize_options(CLI::App* command, QuantizeSettings* s);
// Throws a usage Failure for options that do not belong together, or to no scheme at all (quantize_usage.cc).
void check_usage(const QuantizeSettings& s);

// The options that say how, without the data: "--quantize int8 --no-equalise". And back; throws a Failure for unknown words.
std::string words_of(const QuantizeSettings& s);
QuantizeSettings quantize_settings_of(const std::string& words);
// The same from words as a command line has them, data and all. Throws usage Failures.
QuantizeSettings quantize_settings_of(std::vector<std::string> words);

// The inputs that --test (or --calibrate) and its options mean, and their labels.
struct TestData {
  TestData(const QuantizeSettings& s, const driver::Signature::Method& method, const MetadataOf& metadata);
  SampleFolder samples;
  quant::MeasureOptions how;
};

// An operator of the quantized model.
struct QuantizedOp {
  std::string name, op, precision;
  double sqnr_db = 0;  // of its output
  quant::Choice choice;
};

struct QuantizeResult {
  quant::Measurement measured;
  double f32_ns = 0, ns = 0;  // by the target's cost model; 0: it was not asked
  std::vector<QuantizedOp> ops;
  quant::Texts evidence;
  std::vector<std::string> warnings;
  std::string sections;  // of a page, with QuantizeSettings::sections (quantize_report.h)
};

// driver::compile() with quantizing. Throws usage Failures.
bool compile_quantized(const QuantizeSettings& s, const frontends::Source& source, const driver::CompileOptions& options,
                       Progress* progress, driver::CompileResult* out, QuantizeResult* result, ir::Problems* problems);

// The same for the schemes that need no calibration (quant/compact.h): quantize_weights.cc.
bool compile_compact(const QuantizeSettings& s, const frontends::Source& source, const driver::CompileOptions& options, Progress* progress,
                     driver::CompileResult* out, QuantizeResult* result, ir::Problems* problems);
// The evidence of what was measured.
void add_evidence(const QuantizeResult& result, quant::Texts* out);
// What makes the result doubtful: labels that fit no sample, nothing in 8 bits.
std::vector<std::string> doubts_of(const QuantizeSettings& s, const QuantizeResult& result);
// False with what is outside --min-sqnr and --max-drop in *problems.
bool within_budget(const QuantizeSettings& s, const QuantizeResult& r, ir::Problems* problems);

// The evidence of a program against the same computed again from its data. False when something differs.
bool validate_quantized(const QuantizeSettings& data, const frontends::Source& source, const driver::CompileOptions& options,
                        ConstBytes program, ConstBytes external, Progress* progress, bool json);

// What quantizing cost, as a table and as JSON.
std::string quantize_text(const QuantizeResult& result);
Json quantize_json(const QuantizeResult& result);

}  // namespace mote::tools
