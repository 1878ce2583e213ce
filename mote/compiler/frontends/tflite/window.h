#pragma once

// Paddings of windows as TensorFlow Lite computes them.

#include "mote/compiler/frontends/tflite/op.h"

namespace mote::frontends::tflite {

struct Window {
  int32_t strides[3] = {1, 1, 1};
  int32_t dilations[3] = {1, 1, 1};
  int32_t begin[3] = {}, end[3] = {};
  int32_t extra[3] = {};  // transposed: positions added at the end
};

// Sets begin and end for a window that slides over x (N, spatial, C). Fails the operator when the padding depends on a size that is
// known only when running.
bool pad_window(Op& op, const Value& x, const Dims& kernel, fb::Padding padding, Window* window);
// The same for a transposed convolution from x to an output (N, spatial, C).
bool pad_transposed_window(Op& op, const Value& x, const Dims& out, const Dims& kernel, fb::Padding padding, Window* window);

}  // namespace mote::frontends::tflite
