#pragma once

// Cross-layer equalisation: where one product feeds another, channel by channel, the channels between them may be multiplied and their
// weights divided without changing the model. Channels that use little of the tensor's range get more of it, so that the tensor's one scale
// is fine enough for all of them.

#include <map>
#include <vector>

#include "mote/compiler/driver/values.h"
#include "mote/compiler/ir/graph.h"

namespace mote::quant {

// Factors of the channels of a product's output, by that output's id.
using ChannelFactors = std::map<int, std::vector<float>>;

// The largest magnitudes of the channels (the last axis) so far, and those of `values`.
void add_peaks(const driver::Array& values, std::vector<float>* peaks);

// A pair of products that can be equalised.
struct EqualPair {
  int id = 0;                // of the value between them
  std::vector<float> reach;  // the largest weight each channel is multiplied with; empty: every channel has weights and scales of its own
  std::vector<float> factors(const std::vector<float>& peaks) const;
};

// Of a prepared method.
std::vector<EqualPair> equal_pairs(const ir::Method& method);
// Changes weights and biases of a prepared graph's first method.
void equalise(ir::Graph& graph, const ChannelFactors& factors);

}  // namespace mote::quant
