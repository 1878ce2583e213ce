#pragma once

#include <functional>
#include <string>
#include <vector>

#include "mote/compiler/driver/values.h"

namespace mote::quant {

using Progress = std::function<void(const std::string& stage, double fraction)>;

// Inputs of a model's first method, one sample after the other, read when they are needed.
class Samples {
 public:
  virtual ~Samples() = default;
  virtual size_t count() const = 0;
  // One array for each input. False with *error.
  virtual bool read(size_t index, std::vector<driver::Array>* inputs, std::string* error) = 0;
};

// Looks at samples as they pass by.
class DataCheck {
 public:
  void add(const std::vector<driver::Array>& inputs);
  // Reasons to doubt that the samples are what the model will see: too few, all alike, noise.
  std::vector<std::string> warnings() const;
  std::string fingerprint() const;  // SHA-256 of the inputs' digests in order

 private:
  size_t count_ = 0, noise_ = 0, real_ = 0;
  std::string digests_;
  std::vector<std::string> seen_;
};

}  // namespace mote::quant
