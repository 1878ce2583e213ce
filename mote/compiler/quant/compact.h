#pragma once

// The schemes that need no calibration: weights in few bits, activations in f32 or quantized while running. With data, codes are rounded
// for the least error of each product's output.

#include "mote/compiler/quant/measure.h"
#include "mote/compiler/quant/quantize.h"
#include "mote/compiler/quant/weights.h"

namespace mote::quant {

class CompactQuantizer {
 public:
  // Source and compile options are borrowed.
  CompactQuantizer(const frontends::Source& source, const driver::CompileOptions& compile, const CompactOptions& options)
      : source_(source), compile_(compile), options_(options) {}

  // Looks at the model, and runs it over the samples where there are any (null: none). False with what is wrong in *problems.
  bool choose(Samples* samples, const Progress& progress, ir::Problems* problems);

  // How the program is compiled. Borrows this.
  driver::CompileOptions program_options() const;
  bool compile(const Texts& evidence, driver::CompileResult* out, ir::Problems* problems) const;
  Texts evidence() const;
  // Runs float model and compact model side by side.
  bool measure(Samples& samples, const MeasureOptions& options, const Progress& progress, Measurement* out, ir::Problems* problems) const;

  const std::vector<CompactOp>& ops() const { return ops_; }
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  bool run_samples(Samples& samples, const Progress& progress, ir::Problems* problems);
  void warn();

  const frontends::Source& source_;
  const driver::CompileOptions& compile_;
  const CompactOptions options_;
  CompactRecipe recipe_;
  std::vector<CompactOp> ops_;
  std::vector<std::string> warnings_;
  std::string fingerprint_;
  size_t samples_ = 0;
};

}  // namespace mote::quant
