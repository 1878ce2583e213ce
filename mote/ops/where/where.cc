#include "mote/ops/where/where.h"

#include "mote/ops/common/row_walk.h"

namespace mote::ops::where {
namespace {

template <class W>
struct Where {
  static Status run(const OpContext& c) noexcept {
    const Tensor &condition = c.input(0), &ta = c.input(1), &tb = c.input(2), &ty = c.output(0);
    RowWalk<4> w(*ty.desc, {condition.desc, ta.desc, tb.desc, ty.desc}, c.rows);
    while (w.next()) {
      // Read as bytes: a bool that is neither 0 nor 1 is true.
      const uint8_t* yes = condition.at<const uint8_t>(w.offset[0]);
      const W *a = ta.at<const W>(w.offset[1]), *b = tb.at<const W>(w.offset[2]);
      W* y = ty.at<W>(w.offset[3]);
      for (int32_t i = 0; i < w.length; ++i, yes += w.step[0], a += w.step[1], b += w.step[2]) put(y + i, *yes != 0 ? a : b);
    }
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_width<OpId::where, Where>(c.input(1).dtype()); }

}  // namespace mote::ops::where
