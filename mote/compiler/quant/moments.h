#pragma once

// First and second moments of a product's input: with them the expected error of its output follows for any change of the weights, without
// running the model again.

#include <cstdint>
#include <string>
#include <vector>

#include "mote/compiler/driver/values.h"
#include "mote/compiler/ir/graph.h"

namespace mote::quant {

constexpr uint64_t kMomentBytes = uint64_t{1} << 30;  // for all products together; those beyond it are rounded to the nearest

class InputMoments {
 public:
  // `product`: conv or matmul as quant::can_be_integer() takes it. possible() is false where rows are too long, or for other operators.
  explicit InputMoments(const ir::Node& product);

  bool possible() const { return columns_ > 0; }
  uint64_t bytes() const { return static_cast<uint64_t>(groups_ * columns_ * columns_) * sizeof(float); }
  void start();  // takes the memory

  // Takes rows of one sample: places of the output, spread evenly, at most kRowsPerSample.
  void add(const driver::Array& input);

  int64_t groups() const { return groups_; }
  int64_t columns() const { return columns_; }
  uint64_t rows() const { return rows_; }
  std::vector<float> mean(int64_t group) const;        // (columns)
  std::vector<float> covariance(int64_t group) const;  // (columns, columns)

 private:
  static constexpr int64_t kRowsPerSample = 64;

  void add_row(const float* row);
  void read_window(const driver::Array& x, const int64_t* place, int64_t batch, std::vector<float>* row) const;

  bool window_ = false;  // a convolution
  int64_t groups_ = 1, columns_ = 0, channels_ = 0;
  int spatial_ = 0;
  int64_t kernel_[3] = {1, 1, 1}, strides_[3], dilations_[3], pads_begin_[3], pads_end_[3];
  uint64_t rows_ = 0;
  std::vector<float> sums_, products_;
};

}  // namespace mote::quant
