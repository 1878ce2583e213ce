#include "mote/ops/q_lut/q_lut.h"

namespace mote::ops::q_lut {
namespace {

template <class T>
struct Lookup {
  static Status run(const OpContext& c) noexcept {
    const Tensor &x = c.input(0), &y = c.output(0);
    const uint8_t* table = c.input(1).as<const uint8_t>();
    RowWalk<2> walk(*y.desc, {x.desc, y.desc}, c.rows);
    while (walk.next()) {
      const T* in = x.at<const T>(walk.offset[0]);
      uint8_t* out = y.at<uint8_t>(walk.offset[1]);
      for (int32_t i = 0; i < walk.length; ++i) out[i] = table[static_cast<uint8_t>(in[i])];
    }
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::q_lut, Lookup>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::q_lut
