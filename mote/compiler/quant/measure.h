#pragma once

// What quantizing costs: the quantized model beside the float one, on the same inputs.

#include <algorithm>
#include <map>
#include <set>

#include "mote/compiler/quant/probe.h"
#include "mote/compiler/quant/samples.h"

namespace mote::quant {

struct MeasureOptions {
  std::vector<int64_t> labels;  // the right class of each sample, for accuracy; empty: not known
  size_t most_samples = 0;      // 0: all
  std::set<int> values;         // in between, to compare too
};

struct OutputMeasure {
  std::string name;
  double sqnr_db = 0;
  double cosine = 0;                               // mean over the samples
  double agreement = 0;                            // part of the samples with the same largest element
  double accuracy_before = 0, accuracy_after = 0;  // with labels
  double accuracy_own = -1;                        // of the model as it comes, where it is no float model; below 0: it is one
};

// Energies of a signal and of what was found instead of it.
struct Energy {
  double signal = 0, error = 0;
  void add(const std::vector<double>& expected, const std::vector<double>& found);
  double db() const;  // infinite where there is no error
};

struct Measurement {
  size_t samples = 0;
  bool labelled = false;
  std::string fingerprint;              // of the samples
  std::vector<OutputMeasure> outputs;   // of float type
  std::map<int, double> value_sqnr_db;  // infinite where there is no error
  // Of the first output's accuracy, in points, below the float model and the model as it comes.
  double drop() const {
    return outputs.empty() ? 0 : 100 * (std::max(outputs[0].accuracy_before, outputs[0].accuracy_own) - outputs[0].accuracy_after);
  }
};

// What a quantized model is measured against: the float model, and the model as it comes where it quantizes while running.
struct Reference {
  Probe f32, own;
  bool is_dynamic = false;  // there is an own
  bool build(const frontends::Source& source, const driver::CompileOptions& options, ir::Problems* problems);
};
bool measure(Reference& before, Probe& after, Samples& samples, const MeasureOptions& options, const Progress& progress, Measurement* out,
             std::string* error);

// All probes take the same inputs and have the same outputs. `own`: the model as it comes, where that is not the float one. False with
// *error.
bool measure(Probe& before, Probe* own, Probe& after, Samples& samples, const MeasureOptions& options, const Progress& progress,
             Measurement* out, std::string* error);

}  // namespace mote::quant
