#include "mote/ops/attention/attention.h"

#include "mote/kernels/testing/differential.h"

namespace mote::kerneltest {
namespace {

TEST(AttentionKernels, EveryOption) {
  many(120, [](Draw& d) {
    const int32_t b = d.in(1, 2), kv_heads = d.in(1, 2), heads = kv_heads * d.in(1, 2), s = d.one_in(4) ? d.in(100, 150) : d.in(1, 20);
    const int32_t t = d.one_in(3) ? d.in(60, 140) : d.in(1, 40), depth = d.one_in(4) ? d.in(100, 200) : d.in(1, 40),
                  width = d.one_in(4) ? d.in(100, 200) : d.in(1, 40);
    ops::attention::Attrs a;
    if (d.one_in(3)) a.scale = 0.3f;
    if (d.one_in(4)) a.softcap = 3;
    a.is_causal = d.in(0, 1);
    a.cached = d.in(0, 1);
    if (d.one_in(4)) a.left_window = d.in(0, 30);
    if (d.one_in(4)) a.right_window = d.in(0, 30);
    const auto one = [&](int32_t n) { return d.one_in(3) ? 1 : n; };
    Array mask;
    if (d.one_in(2)) mask = Array::random(d.one_in(2) ? DType::boolean : DType::f32, {one(b), one(heads), one(s), one(t)}, d.seed());
    const Array lengths = d.one_in(4) ? Array::random(DType::s64, {b}, d.seed(), 0, t) : Array::none();
    expect_close(OpId::attention, a,
                 {d.f32({b, heads, s, depth}, -1, 1), d.f32({b, kv_heads, t, depth}, -1, 1), d.f32({b, kv_heads, t, width}), mask, lengths},
                 1e-5);
  });
}

}  // namespace
}  // namespace mote::kerneltest
