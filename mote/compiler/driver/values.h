#pragma once

// Dense tensors outside a program: made up, as numbers, compared.

#include <cstdint>
#include <string>
#include <vector>

#include "mote/core/dtype.h"
#include "mote/core/span.h"

namespace mote::driver {

struct Array {
  DType dtype = DType::kNone;
  std::vector<int64_t> dims;
  std::vector<uint8_t> data;  // dense, row major, little endian; 4-bit elements two to a byte
};

inline bool is_float(DType t) { return (mask_of(t) & kFloat) != 0; }

// Bytes of a dense tensor; 0 for sizes below zero or beyond what a tensor may have.
uint64_t dense_bytes(DType dtype, const std::vector<int64_t>& dims);

// Elements as doubles (64-bit integers beyond 2^53 are rounded). `count` cuts off what fills the last byte of 4-bit elements.
std::vector<double> to_doubles(DType dtype, const uint8_t* data, size_t bytes);
std::vector<double> to_doubles(const Array& array);

// A generator whose numbers are the same everywhere: what it makes goes into files.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next();
  float unit() { return static_cast<float>(next() >> 40) * (1.0f / 16777216.0f); }  // [0, 1)

 private:
  uint64_t state_;
};

// Makes inputs: floats in [-1, 1), narrow integers over their range, 32- and 64-bit integers 0 or 1 (they are mostly indices and
// masks), booleans either.
void fill_random(DType dtype, Random& random, std::vector<uint8_t>* data);
Array make_random(DType dtype, const std::vector<int64_t>& dims, Random& random);

// How far `found` is from `expected`.
struct Difference {
  bool same_type = false;        // element type and sizes; nothing else is told when false
  bool identical = false;        // the same bits
  bool specials_differ = false;  // NaN or an infinity on one side only
  double largest_error = 0;      // of any element, and the mean; where both are finite
  double mean_error = 0;
  double largest_expected = 0;  // magnitude
  double sqnr_db = 0;           // signal to error; infinite when there is none
  double top1 = 1;              // part of the rows (last axis) whose largest element is at the same place
  size_t count = 0;             // elements

  bool within(double tolerance) const;  // of the largest expected magnitude; 0: the same bits
};
Difference difference(const Array& found, const Array& expected);

// "f32 (1, 3, 224, 224)"
std::string type_text(DType dtype, const std::vector<int64_t>& dims);

std::string sha256_hex(ConstBytes bytes);

// A name as a file name: every character outside [A-Za-z0-9._-] becomes '_'.
std::string file_name_of(const std::string& name);

}  // namespace mote::driver
