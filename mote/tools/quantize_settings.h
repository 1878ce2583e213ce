#pragma once

// The options of `mote compile` that quantize, and what they do.

#include <CLI/CLI.hpp>

#include "mote/compiler/quant/quantize.h"
#include "mote/tools/json_out.h"
#include "mote/tools/progress.h"

namespace mote::tools {

struct QuantizeSettings {
  std::string scheme;  // empty: no quantizing
  std::string calibrate, test, truth, observer = "auto";
  size_t calibrate_samples = 0, test_samples = 0, test_skip = 0;
  double percentile = 99.99, min_sqnr = -1, max_drop = -1;  // below 0: no budget
  bool symmetric = false, no_rounding = false, no_bias = false, no_weight_scales = false;
  std::vector<std::string> in_float;

  bool wanted() const { return !scheme.empty(); }
};

void add_quantize_options(CLI::App* command, QuantizeSettings* s);

// An operator of the quantized model.
struct QuantizedOp {
  std::string name, op, precision;
  double sqnr_db = 0;  // of its output
};

struct QuantizeResult {
  quant::Measurement measured;
  std::vector<QuantizedOp> ops;
  quant::Texts evidence;
  std::vector<std::string> warnings;
};

// driver::compile() with quantizing. Throws usage Failures.
bool compile_quantized(const QuantizeSettings& s, const frontends::Source& source, const driver::CompileOptions& options,
                       Progress* progress, driver::CompileResult* out, QuantizeResult* result, ir::Problems* problems);

// What quantizing cost, as a table and as JSON.
std::string quantize_text(const QuantizeResult& result);
Json quantize_json(const QuantizeResult& result);

}  // namespace mote::tools
