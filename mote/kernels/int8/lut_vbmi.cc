// Tables of 256 bytes in four registers: processors with tiles permute bytes across whole registers (VBMI).

#include <immintrin.h>

#include "mote/kernels/common/nest.h"
#include "mote/ops/q_lut/q_lut.h"

namespace mote::kernels::MOTE_ISA_NAME {
namespace {

Status run(const OpContext& c) noexcept {
  const Tensor &x = c.input(0), &y = c.output(0);
  const uint8_t* table = c.input(1).as<const uint8_t>();
  const TensorDesc* operands[] = {x.desc, y.desc};
  const __m512i a = _mm512_loadu_si512(table), b = _mm512_loadu_si512(table + 64), p = _mm512_loadu_si512(table + 128),
                q = _mm512_loadu_si512(table + 192);
  each_run<2>(*y.desc, operands, c.rows, c.threads, 0.25, [&](const int64_t* at, const int64_t*, int32_t n) {
    const uint8_t* from = x.as<uint8_t>() + at[0];
    uint8_t* to = y.as<uint8_t>() + at[1];
    for (int32_t i = 0; i < n; i += 64) {
      const __mmask64 mask = n - i < 64 ? (__mmask64{1} << (n - i)) - 1 : ~__mmask64{0};
      const __m512i v = _mm512_maskz_loadu_epi8(mask, from + i);
      const __m512i low = _mm512_permutex2var_epi8(a, v, b), high = _mm512_permutex2var_epi8(p, v, q);
      _mm512_mask_storeu_epi8(to + i, mask, _mm512_mask_blend_epi8(_mm512_movepi8_mask(v), low, high));
    }
  });
  return Status::kOk;
}

}  // namespace

KernelFn select_q_lut(const OpContext&) noexcept { return &run; }

}  // namespace mote::kernels::MOTE_ISA_NAME
