#pragma once

// Figures of the kernels that the compiler's cost model must know too. Constants only: no ISA namespace, no other header.

namespace mote::kernels {

// Work is split among threads in parts of at least so many steps each. A step is the time of one f32 multiply-add on a fast core, about
// 20 ps: a part is about 2 us, below which handing it to another thread costs more than it saves. An element that is read, computed with
// a dozen instructions and written takes ten steps.
constexpr double kMinStepsPerThread = 100e3;

}  // namespace mote::kernels
