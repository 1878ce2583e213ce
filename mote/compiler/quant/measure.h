#pragma once

// What quantizing costs: the quantized model beside the float one, on the same inputs.

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
  double drop() const {                 // of the first output's accuracy, in points
    return outputs.empty() ? 0 : 100 * (outputs[0].accuracy_before - outputs[0].accuracy_after);
  }
};

// Both probes take the same inputs and have the same outputs. False with *error.
bool measure(Probe& before, Probe& after, Samples& samples, const MeasureOptions& options, const Progress& progress, Measurement* out,
             std::string* error);

}  // namespace mote::quant
