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
  std::vector<ir::Node*> products;                      // compute with 8-bit weights
  std::vector<ir::Value*> values;                       // held as 8-bit numbers, in the order they are made
  std::vector<std::pair<ir::Node*, size_t>> constants;  // operands of sums and products of elements that become 8-bit numbers too
  std::map<int, int> same;                              // value -> value whose scale it has (chains are followed); concat: see joins
  std::vector<std::vector<int>> joins;                  // output and inputs of each concat: one scale for all makes it a copy
};

// All products that can be, but those whose output is in `in_float`. to_sums: what is added to a convolution's result is added to its
// integer sums; else the result is an 8-bit tensor first.
IntegerLayout integer_layout(const ir::Method& method, const std::set<int>& in_float, bool to_sums);

// Values worth observing: whatever any choice of `in_float` may quantize.
std::vector<ir::Value*> observed_values(const ir::Method& method);

}  // namespace mote::quant
