#pragma once

// Dense tensor bytes as numbers.

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "mote/api/mote.hpp"
#include "mote/core/dtype.h"

namespace mote::tools {

// Elements as doubles (64-bit integers beyond 2^53 are rounded).
std::vector<double> to_doubles(DType dtype, const uint8_t* data, size_t bytes);

// Makes inputs for measurements: floats in [-1, 1), narrow integers over their range, 32- and 64-bit integers 0 or 1 (they are
// mostly indices), booleans either.
void fill_random(DType dtype, std::mt19937& random, std::vector<uint8_t>* data);

// "f32 (1, 3, 224, 224)", with "<=N" for a dynamic dimension.
std::string type_text(const TensorSpec& spec);
std::string type_text(DType dtype, const std::vector<int64_t>& dims);

}  // namespace mote::tools
