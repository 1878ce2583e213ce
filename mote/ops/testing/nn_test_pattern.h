#pragma once

// Numbers for tests whose expected values come from ONNX's reference evaluator: the same formula made its inputs.

#include "mote/ops/testing/harness.h"

namespace mote::optest {

inline Array pattern(DType dtype, const Shape& shape, int seed) {
  Array a(dtype, shape);
  for (int64_t i = 0; i < a.count(); ++i) a.set(i, static_cast<double>((i * 7 + seed * 5) % 13 - 6) / 4);
  return a;
}

// The same array, (N, C, spatial...) to (N, spatial..., C).
inline Array channels_last(const Array& a) {
  Shape shape = a.shape();
  shape.erase(shape.begin() + 1);
  shape.push_back(a.shape()[1]);
  Array r(a.dtype(), shape);
  for_each_index(a.shape(), [&](const Shape& i) {
    Shape to = i;
    to.erase(to.begin() + 1);
    to.push_back(i[1]);
    r.set(r.flat_index(to), a.at(i));
  });
  return r;
}

}  // namespace mote::optest
