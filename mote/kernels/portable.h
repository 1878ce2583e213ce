#pragma once

#include <cstdint>

namespace mote::ops::q_softmax {
struct Attrs;
}
namespace mote::ops::q_reduce {
struct Attrs;
struct Scaling;
}  // namespace mote::ops::q_reduce

namespace mote::ops::resize {
struct Attrs;
}

// Functions of mote/ops that kernels call once per call, compiled without an ISA variant's flags: the linker merges inline functions of
// mote/ops, and would run a variant's code on processors that lack its features.
namespace mote::kernels {

// As ops::q_softmax::exponentials.
void softmax_exponentials(const ops::q_softmax::Attrs& a, int32_t* out_exps) noexcept;
// As ops::q_reduce::scaling.
ops::q_reduce::Scaling reduce_scaling(const ops::q_reduce::Attrs& a, int64_t n) noexcept;

// The two input positions that position i of a resized axis is interpolated from, and the weight of the second (nearest: the same twice).
// As ops::resize::Taps without antialiasing.
struct ResizeBetween {
  int32_t first = 0, second = 0;
  float ratio = 0;
};
ResizeBetween resize_between(const ops::resize::Attrs& a, int axis, int32_t in, int32_t out, int32_t i) noexcept;

}  // namespace mote::kernels
