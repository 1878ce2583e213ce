// q_lut: a lookup table of 256 bytes.

#include "mote/kernels/int8/lookup/lut.h"

#include "mote/kernels/common/loops.h"
#include "mote/ops/q_lut/q_lut.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {
namespace {

Status lut_s8(const OpContext& c) noexcept {
  const Tensor &x = c.input(0), &y = c.output(0);
  const Lut lut(c.input(1).as<const uint8_t>());
  const TensorDesc* operands[] = {x.desc, y.desc};
  for_each_run<2>(*y.desc, operands, c.rows, c.threads, 8, [&](const int64_t* at, const int64_t*, int32_t n) {
    const hn::CappedTag<uint8_t, 64> d;
    constexpr int32_t kStep = static_cast<int32_t>(hn::MaxLanes(d));
    const uint8_t* from = x.as<uint8_t>() + at[0];
    uint8_t* to = y.as<uint8_t>() + at[1];
    int32_t i = 0;
    for (; i + kStep <= n; i += kStep) hn::StoreU(lut(hn::LoadU(d, from + i)), d, to + i);
    for (; i < n; ++i) to[i] = lut.at(from[i]);
  });
  return Status::kOk;
}

}  // namespace

KernelFn select_q_lut(const OpContext&) noexcept { return &lut_s8; }

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
