#pragma once

// The distribution of a tensor over the calibration data, and the range derived from it.

#include <string>

#include "mote/compiler/quant/grid.h"

namespace mote::quant {

enum class Observer {
  kMinMax,         // everything seen
  kMovingAverage,  // of the samples' least and largest numbers, 0.1 for each new one
  kPercentile,     // leaves out the rarest numbers at both ends
  kMse,            // least squared error of the 8-bit numbers
  kEntropy,        // least divergence of the distribution of the 8-bit numbers
  kAuto,           // whichever of them the quantized model does best with (quantize.h)
};
constexpr const char* kObserverNames[] = {"min-max", "moving-average", "percentile", "mse", "entropy", "auto"};
// False when there is none of that name.
bool observer_named(const std::string& name, Observer* out);

class TensorStats {
 public:
  void add(const float* x, size_t count);  // the numbers of one sample
  // percentile: part of the numbers to keep, in percent.
  Range range(Observer observer, double percentile, bool symmetric) const;
  const Histogram& histogram() const { return histogram_; }

 private:
  Histogram histogram_;
  Range average_;
  uint64_t samples_ = 0;
};

// Mean squared error that numbers of this distribution have on a grid.
double grid_error(const Histogram& h, const Grid& grid);

}  // namespace mote::quant
