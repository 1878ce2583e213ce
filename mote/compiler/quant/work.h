#pragma once

#include "mote/compiler/quant/moments.h"
#include "mote/compiler/quant/quantize.h"

namespace mote::quant {

// State of calibrate(): what it keeps of the graph while samples run.
struct Quantizer::Work {
  IntegerLayout layout;  // its pointers are those of a graph that is gone
  std::vector<int> values, observed;
  std::map<int, WeightRows> weights;    // by product
  std::map<int, InputMoments> moments;  // by product

  // The value whose scale a value has.
  int root(int id) const {
    for (auto it = layout.same.find(id); it != layout.same.end(); it = layout.same.find(id)) id = it->second;
    return id;
  }
};

}  // namespace mote::quant
