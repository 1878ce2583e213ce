#pragma once

// The words of importers (common/words.h) for ONNX nodes, and what they share about windows and axes.

#include "mote/compiler/frontends/onnx/importer.h"

namespace mote::frontends::onnx {

class Decompose : public Words {
 public:
  explicit Decompose(NodeContext& context) : Words(context.b), c(context) {}
  // Writes through another builder, into the body of a loop. The caller hands that builder's error on.
  Decompose(NodeContext& context, ir::NodeBuilder& builder) : Words(builder), c(context) {}

  void fail(const std::string& why) override { c.fail(why); }

  NodeContext& c;
};

// Sizes of a window over 1 to 3 spatial dimensions, as Mote's attribute structs have them.
struct WindowSpec {
  int rank = 0;
  int32_t kernel[3] = {1, 1, 1}, strides[3] = {1, 1, 1}, dilations[3] = {1, 1, 1}, begin[3] = {}, end[3] = {};
};
// Reads strides, dilations, pads and auto_pad for x (N, C, spatial...). False after fail().
bool read_window(NodeContext& c, const Value* x, const std::vector<int64_t>& kernel, WindowSpec* out);
// Reads strides, dilations and kernel only.
bool read_steps(NodeContext& c, int spatial, const std::vector<int64_t>& kernel, WindowSpec* out);

template <class A>
void set_window(const WindowSpec& w, A* a) {
  for (int i = 0; i < 3; ++i) {
    a->strides[i] = w.strides[i];
    a->dilations[i] = w.dilations[i];
    a->pads_begin[i] = w.begin[i];
    a->pads_end[i] = w.end[i];
  }
}

// Axis counted from the front; fails the node when it is out of range.
int axis_of(NodeContext& c, int64_t axis, int rank);

}  // namespace mote::frontends::onnx
