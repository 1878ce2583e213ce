#pragma once

// Windows that slide over spatial dimensions, as TOSA has them: the last one ends at the edge of the padded input.

#include "mote/compiler/emit/tosa/writer.h"

namespace mote::emit::tosa {

struct Window {
  std::vector<int32_t> kernel, pad, stride, dilation;  // pad: before and after each dimension
  int32_t groups = 1;

  int spatial() const { return static_cast<int>(stride.size()); }
};

// Of an operator's attributes, for `kernel` and the input's spatial dimensions.
template <class A>
Window window_of(const A& a, const std::vector<int32_t>& kernel) {
  Window g;
  g.kernel = kernel;
  for (size_t i = 0; i < kernel.size(); ++i) {
    g.pad.push_back(a.pads_begin[i]);
    g.pad.push_back(a.pads_end[i]);
    g.stride.push_back(a.strides[i]);
    g.dilation.push_back(a.dilations[i]);
  }
  return g;
}

// Sets the padding behind each dimension so that `out` windows fit exactly, and cuts off what no window reaches.
void fit_window(Writer& w, Window* g, Operand* x, const Dims& out);
// One spatial dimension becomes two, the first of size 1.
void add_dimension(Writer& w, Window* g, Operand* x);
// Elements [start, start + size) of an axis.
Operand part(Writer& w, const Operand& x, size_t axis, int32_t start, int32_t size);
Operand joined(Writer& w, const std::vector<Operand>& parts, size_t axis);
// PAD with one value; before and after each dimension.
Operand filled(Writer& w, const Operand& x, const std::vector<int64_t>& pads, double value);
// Every step-th element of an axis from `start` on, `size` of them; any step but 0.
Operand strided(Writer& w, Operand x, size_t axis, int64_t start, int64_t step, int32_t size);
// moves.cc: elements of an axis at INT32 indices of any shape, whose dimensions take the axis' place.
Operand gathered(Writer& w, const Operand& x, size_t axis, const Operand& indices);

}  // namespace mote::emit::tosa
