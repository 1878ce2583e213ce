#pragma once

// s8 fully connected layers: rows of inputs times a weight matrix.

#include "mote/kernels/cortexm/dot.h"
#include "mote/kernels/cortexm/loops.h"

namespace mote::cortexm {

struct FullyConnected {
  const uint32_t* weights;  // as dot_1x4 reads them, by groups of four channels; K is padded to a whole word
  const Channel* channels;  // a multiple of 4
  int32_t rows, inputs, outputs;
  int32_t limit;  // accumulators saturate to [-limit, limit] first; 0: they cannot exceed it
  Range range;
};

// Four output channels, packed into a word: the whole words of the input, then its tail `last` (or null).
inline uint32_t four_outputs(const FullyConnected& f, const int8_t* x, uint32_t groups, const uint32_t* last, const uint32_t* w,
                             const Channel* k) {
  const Range range = f.range;
  int32_t s[4] = {k[0].bias, k[1].bias, k[2].bias, k[3].bias};
  if (groups > 0) dot_1x4(x, w, groups, s);
  if (last != nullptr) dot_1x4(reinterpret_cast<const int8_t*>(last), w + groups * 4, 1, s);
  uint32_t packed = 0;
  for (int i = 3; i >= 0; --i) {
    int32_t v = s[i];
    if (f.limit != 0) v = v < -f.limit ? -f.limit : v > f.limit ? f.limit : v;
    v = saturate8(scaled(v, range.left, k[i].multiplier, k[i].add, k[i].shift));
    v = v < range.lo ? range.lo : v > range.hi ? range.hi : v;
    packed = packed << 8 | (static_cast<uint32_t>(v) & 0xff);
  }
  return packed;
}

inline void fully_connected(const FullyConnected& f, const int8_t* x, int8_t* y) {
  const int32_t outputs = f.outputs, left = f.range.left;
  const uint32_t groups = static_cast<uint32_t>(f.inputs) / 4, rest = static_cast<uint32_t>(f.inputs) % 4, words = groups + (rest > 0);
  const bool loop = kHasLoops && f.limit == 0 && !f.range.narrower && (groups == 0 || rest == 0);
  for (int32_t m = 0; m < f.rows; ++m, x += f.inputs, y += outputs) {
    const uint32_t* w = f.weights;
    const Channel* k = f.channels;
    uint32_t last = 0;
    for (uint32_t i = 0; i < rest; ++i) last |= static_cast<uint32_t>(static_cast<uint8_t>(x[groups * 4 + i])) << 8 * i;
    const int8_t* in = rest > 0 ? reinterpret_cast<const int8_t*>(&last) : x;
    for (int32_t o = 0; o < outputs; o += 4, k += 4, w += words * 4) {
      uint32_t packed = loop ? fully_connected_loop(in, w, words, k, left) : four_outputs(f, x, groups, rest > 0 ? &last : nullptr, w, k);
      if (outputs - o >= 4) std::memcpy(y + o, &packed, 4);
      else
        for (int32_t i = o; i < outputs; ++i, packed >>= 8) y[i] = static_cast<int8_t>(packed);
    }
  }
}

}  // namespace mote::cortexm
