// Lookup tables of 256 bytes in four registers: VBMI permutes bytes across two registers. Element-wise 8-bit operators whose other
// operand is a single element become lookup tables: the kernel of the base variant computes all 256 results once.

#include <immintrin.h>

#include "mote/kernels/common/loops.h"
#include "mote/ops/q_lut/q_lut.h"
#include "variant.h"

namespace mote::kernels {

// Kernels of the variant that this one extends.
namespace MOTE_ISA_BASE::int8 {
KernelFn select_q_add(const OpContext& c) noexcept;
KernelFn select_q_sub(const OpContext& c) noexcept;
KernelFn select_q_mul(const OpContext& c) noexcept;
KernelFn select_requantize(const OpContext& c) noexcept;
}  // namespace MOTE_ISA_BASE::int8

namespace MOTE_ISA_NAME::int8 {
namespace {

Status look_up_tensor(const OpContext& c, const Tensor& x, const uint8_t* table) {
  const Tensor& y = c.output(0);
  const TensorDesc* operands[] = {x.desc, y.desc};
  const __m512i a = _mm512_loadu_si512(table), b = _mm512_loadu_si512(table + 64), p = _mm512_loadu_si512(table + 128),
                q = _mm512_loadu_si512(table + 192);
  for_each_run<2>(*y.desc, operands, c.rows, c.threads, 2, [&](const int64_t* at, const int64_t*, int32_t n) {
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
Status lut_s8_vbmi(const OpContext& c) noexcept { return look_up_tensor(c, c.input(0), c.input(1).as<const uint8_t>()); }

using Select = KernelFn (*)(const OpContext&) noexcept;

// The input that is looked up; the other one has a single element.
int lut_input(const OpContext& c) { return c.input(0).count() == 1 ? 1 : 0; }

// Runs the kernel on all 256 bytes in place of that input, then looks the input up.
Status map_by_lut(const OpContext& c, Select select) {
  constexpr int kMaxTensors = 4;
  alignas(64) uint8_t all_bytes[256], table[256];
  for (int i = 0; i < 256; ++i) all_bytes[i] = static_cast<uint8_t>(i);
  const int at = lut_input(c);
  const Tensor& x = c.input(at);
  TensorDesc from = {}, to = {};
  from.rank = to.rank = 1;
  from.dims[0] = to.dims[0] = 256;
  from.strides[0] = to.strides[0] = 1;
  from.dtype = x.dtype(), to.dtype = c.output(0).dtype();
  Tensor tensors[kMaxTensors];
  int32_t operands[kMaxTensors];
  const int inputs = c.input_count;
  for (int i = 0; i < inputs; ++i) {
    operands[i] = c.has_input(i) ? i : -1;
    if (c.has_input(i)) tensors[i] = c.input(i);
  }
  tensors[at] = {&from, all_bytes};
  tensors[inputs] = {&to, table};
  operands[inputs] = inputs;
  OpContext once = c;
  once.tensors = tensors, once.operands = operands, once.threads = nullptr, once.rows = {};
  MOTE_TRY(select(once)(once));
  return look_up_tensor(c, x, table);
}

// Profitable for tensors larger than the table. Tensors with open sizes may be smaller, so they are excluded.
bool lut_is_profitable(const OpContext& c, bool possible) {
  const Tensor &x = c.input(lut_input(c)), &y = c.output(0);
  const bool bytes = dtype_bytes(x.dtype()) == 1 && dtype_bytes(y.dtype()) == 1;
  for (int i = 0; i < c.input_count; ++i) possible = possible && (!c.has_input(i) || c.input(i).desc->dynamic == 0);
  return possible && bytes && y.count() >= 1024;
}
template <Select kSelect>
KernelFn select_lut(const OpContext& c, int single) {
  if (!lut_is_profitable(c, c.input(single).count() == 1) || kSelect(c) == nullptr) return nullptr;
  return [](const OpContext& at) noexcept { return map_by_lut(at, kSelect); };
}

}  // namespace

KernelFn select_q_lut(const OpContext&) noexcept { return &lut_s8_vbmi; }
KernelFn select_q_add(const OpContext& c) noexcept { return select_lut<&MOTE_ISA_BASE::int8::select_q_add>(c, 1 - lut_input(c)); }
KernelFn select_q_sub(const OpContext& c) noexcept { return select_lut<&MOTE_ISA_BASE::int8::select_q_sub>(c, 1 - lut_input(c)); }
KernelFn select_q_mul(const OpContext& c) noexcept { return select_lut<&MOTE_ISA_BASE::int8::select_q_mul>(c, 1 - lut_input(c)); }
KernelFn select_requantize(const OpContext& c) noexcept { return select_lut<&MOTE_ISA_BASE::int8::select_requantize>(c, 1); }

}  // namespace MOTE_ISA_NAME::int8
}  // namespace mote::kernels
