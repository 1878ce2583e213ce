#pragma once

// Which tensors of a prepared method become 8-bit numbers, and which of them must have the same scale.

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "mote/compiler/ir/graph.h"

namespace mote::quant {

// Values are named by Value::id: compiling the same model again gives the same ids up to here.
struct IntegerLayout {
  std::vector<ir::Node*> products;                      // to compute with 8-bit weights
  std::vector<ir::Value*> values;                       // held as 8-bit numbers, in the order they are made
  std::vector<std::pair<ir::Node*, size_t>> constants;  // constant operands of element-wise operators, quantized too
  std::map<int, int> same;                              // value -> value whose scale it shares, transitively; for concat see joins
  std::vector<std::vector<int>> joins;                  // output and inputs of each concat: one scale for all makes it a copy
};

// All products that can be quantized, except those whose output is in `in_float`. fuse_residuals: a residual is added to the accumulators
// of its convolution; otherwise the convolution's result is quantized first.
IntegerLayout integer_layout(const ir::Method& method, const std::set<int>& in_float, bool fuse_residuals);

// Values worth observing: whatever any choice of `in_float` may quantize.
std::vector<ir::Value*> observed_values(const ir::Method& method);

}  // namespace mote::quant
