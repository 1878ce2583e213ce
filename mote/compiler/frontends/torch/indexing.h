#pragma once

#include "mote/compiler/frontends/torch/op.h"

namespace mote::frontends::torch {

// x[i, :, j]: tensors of indices for some axes of x, masks written out as the places where they are true.
struct Indexing {
  Value* x = nullptr;
  std::vector<Value*> indices;  // s64; where there are several they have one shape
  std::vector<int> axes;        // of x, that they stand for
  std::vector<int> front;       // order of x's axes with the indexed ones first
  bool adjacent = false;        // the indexed axes stand side by side: the result has the indices' axes in their place

  // Reads a list with nulls for ":". False after an error.
  bool read(Op& o, const std::vector<Value*>& given);
  Value* tuples(Op& o) const;  // indices side by side along a new last axis
  // What brings (indices' axes, other axes) into the order torch gives.
  std::vector<int> result_order() const;
};

}  // namespace mote::frontends::torch
