#pragma once

// Differential tests of integer kernels: bit-exact with the portable ones for every ISA variant that this machine supports.

#include "mote/core/layout.h"
#include "mote/kernels/select.h"
#include "mote/kernels/testing/differential.h"
#include "mote/platform/cpu.h"

namespace mote::optest {

using kernels::Isa;
using kerneltest::Draw;

// Where the harness gets kernels, and whether the last selection found one.
inline kernels::SelectFn chosen = nullptr;
inline bool was_fast = false;
inline KernelFn select_chosen(uint16_t op, const OpContext& c) noexcept {
  const KernelFn k = chosen(op, c);
  was_fast = k != nullptr;
  return k;
}
// The same, with three simulated threads.
inline KernelFn last_chosen = nullptr;
inline KernelFn select_shared(uint16_t op, const OpContext& c) noexcept {
  last_chosen = select_chosen(op, c);
  if (last_chosen == nullptr) return nullptr;
  return [](const OpContext& alone) noexcept { return kerneltest::run_shared(last_chosen, alone); };
}

// Every ISA variant must give the portable result. fast: each of them must have a kernel for these operands.
template <class A>
void expect_same(OpId op, const A& attrs, const std::vector<Array>& inputs, bool fast = true, const RunOptions& options = {},
                 KernelFn (*select)(uint16_t, const OpContext&) noexcept = &select_chosen) {
  fast_kernels = nullptr;
  const RunResult portable = run(op, attrs, inputs, options);
  ASSERT_TRUE(portable.ok()) << portable.message();
  for (uint8_t i = 1; i < static_cast<uint8_t>(Isa::kCount); ++i) {
    const Isa isa = static_cast<Isa>(i);
    if (!kernels::can_run(isa, cpu_features())) continue;
    chosen = kernels::select_for(isa);
    fast_kernels = select;
    const RunResult r = run(op, attrs, inputs, options);
    fast_kernels = nullptr;
    ASSERT_TRUE(r.ok()) << kernels::isa_name(isa) << ": " << r.message();
    EXPECT_EQ(was_fast || !fast, true) << kernels::isa_name(isa) << " has no kernel for this";
    for (size_t o = 0; o < r.outputs.size(); ++o)
      ASSERT_EQ(r.outputs[o].bytes(), portable.outputs[o].bytes()) << kernels::isa_name(isa) << ": output " << o << " differs";
  }
}
// The same with threads.
template <class A>
void expect_same_shared(OpId op, const A& attrs, const std::vector<Array>& inputs, bool fast = true) {
  expect_same(op, attrs, inputs, fast);
  expect_same(op, attrs, inputs, fast, {}, &select_shared);
}

inline Array bytes(Draw& d, DType type, const Shape& shape) {
  Array a = Array::random(type, shape, d.seed(), type == DType::u8 ? 0 : -128, type == DType::u8 ? 255 : 127);
  for (int i = 0; i < 3 && a.count() > 0; ++i) a.set(d.in(0, static_cast<int32_t>(a.count()) - 1), type == DType::u8 ? 255 : -128);
  return a;
}
// Half of the weights are such that adjacent products add up within 16 bits, at the limit: the maddubs kernels (avx2pairs) serve those.
inline Array some_weights(Draw& d, const Shape& shape) {
  return d.one_in(2) ? bytes(d, DType::s8, shape) : Array::random(DType::s8, shape, d.seed(), -64, 64);
}
// Packed as the compiler does, with the layout for maddubs where the weights allow it.
inline Array packed(const Array& w) {
  const Array p = w.packed(Layout::kPanel16k4);
  return pairs_fit(reinterpret_cast<const int8_t*>(p.bytes().data()), p.bytes().size()) ? w.packed(Layout::kPanel16k4Pairs) : p;
}
inline DType byte_type(Draw& d) { return d.one_in(2) ? DType::s8 : DType::u8; }
inline int32_t zero_point(Draw& d, DType type) { return type == DType::u8 ? d.in(0, 255) : d.in(-128, 127); }

}  // namespace mote::optest
