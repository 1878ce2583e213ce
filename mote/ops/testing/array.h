#pragma once

// Tensors of tests, as values.

#include <cstdint>
#include <functional>
#include <vector>

#include "mote/core/dtype.h"
#include "mote/core/tensor.h"

namespace mote::optest {

using Shape = std::vector<int32_t>;

int64_t count_of(const Shape& shape);

// A dense tensor that owns its bytes. Element access converts to double.
class Array {
 public:
  Array() = default;
  Array(DType dtype, Shape shape);

  template <class T>
  static Array of(Shape shape, std::vector<double> values) {
    return from(dtype_of<T>, std::move(shape), values);
  }
  static Array from(DType dtype, Shape shape, const std::vector<double>& values);
  static Array scalar(DType dtype, double value) { return from(dtype, {}, {value}); }
  // Whole numbers for integer types, fractions for floats, 0/1 for bool, all in [lo, hi].
  static Array random(DType dtype, Shape shape, uint32_t seed, double lo = -4, double hi = 4);
  // An absent optional input.
  static Array none() { return {}; }
  // The same values under a packed layout (weights); dimension 0 is N, the others are K.
  Array packed(Layout layout) const;

  // The same elements, in order, under another shape.
  Array reshaped(Shape shape) const;

  bool present() const { return dtype_ != DType::kNone; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int64_t count() const { return count_of(shape_); }
  Layout layout() const { return layout_; }

  double get(int64_t flat) const;
  void set(int64_t flat, double value);
  double at(const Shape& index) const { return get(flat_index(index)); }
  int64_t flat_index(const Shape& index) const;

  const std::vector<uint8_t>& bytes() const { return bytes_; }
  std::vector<uint8_t>& bytes() { return bytes_; }

 private:
  DType dtype_ = DType::kNone;
  Layout layout_ = Layout::kPlain;
  Shape shape_;
  std::vector<uint8_t> bytes_;
};

// Visits every index of a shape in row-major order.
void for_each_index(const Shape& shape, const std::function<void(const Shape&)>& visit);

}  // namespace mote::optest
