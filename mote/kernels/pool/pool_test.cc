#include "mote/kernels/testing/differential.h"
#include "mote/ops/adaptive_avg_pool/adaptive_avg_pool.h"
#include "mote/ops/avg_pool/avg_pool.h"
#include "mote/ops/max_pool/max_pool.h"

namespace mote::kerneltest {
namespace {

template <class A>
A window(Draw& d, int spatial) {
  A a;
  for (int i = 0; i < spatial; ++i) {
    a.kernel[i] = d.in(1, 4);
    a.strides[i] = d.in(1, 3);
    a.dilations[i] = d.one_in(3) ? 2 : 1;
    a.pads_begin[i] = d.in(0, 2);
    a.pads_end[i] = d.in(0, 2);
  }
  a.ceil_mode = static_cast<uint32_t>(d.in(0, 1));
  return a;
}

Shape planes(Draw& d, int spatial) {
  Shape s = {d.in(1, 2)};
  for (int i = 0; i < spatial; ++i) s.push_back(d.in(8, 14));
  s.push_back(d.size());
  return s;
}

TEST(PoolKernels, MaxPool) {
  for (DType type : {DType::f32, DType::s8, DType::u8}) {
    many(30, [&](Draw& d) {
      const int spatial = d.in(1, 2);
      Array x = Array::random(type, planes(d, spatial), d.seed(), type == DType::u8 ? 0 : -100, 100);
      if (type == DType::f32) x.set(d.in(0, static_cast<int32_t>(x.count()) - 1), d.one_in(2) ? NAN : -INFINITY);
      expect_equal(OpId::max_pool, window<ops::max_pool::Attrs>(d, spatial), {x});
    });
  }
}

TEST(PoolKernels, AvgPool) {
  many(60, [&](Draw& d) {
    const int spatial = d.in(1, 2);
    auto a = window<ops::avg_pool::Attrs>(d, spatial);
    a.count_include_pad = static_cast<uint32_t>(d.in(0, 1));
    if (d.one_in(4)) a.divisor_override = d.in(1, 9);
    expect_close(OpId::avg_pool, a, {d.f32(planes(d, spatial))}, 1e-5);
  });
}

TEST(PoolKernels, LargePlanes) {
  Draw d(1);
  ops::avg_pool::Attrs a;
  a.kernel[0] = a.kernel[1] = 150;
  expect_close(OpId::avg_pool, a, {d.f32({1, 150, 150, 17}, 0, 1)}, 1e-6);
  ops::max_pool::Attrs m;
  m.kernel[0] = m.kernel[1] = m.strides[0] = m.strides[1] = 3;
  expect_equal(OpId::max_pool, m, {d.f32({2, 61, 62, 40})});
}

TEST(PoolKernels, AdaptiveAvgPool) {
  many(30, [&](Draw& d) {
    const int spatial = d.in(1, 2);
    const Array x = d.f32(planes(d, spatial));
    ops::adaptive_avg_pool::Attrs a;
    for (int i = 0; i < spatial; ++i) a.size[i] = d.in(1, 16);
    expect_close(OpId::adaptive_avg_pool, a, {x}, 1e-6);
  });
}

}  // namespace
}  // namespace mote::kerneltest
