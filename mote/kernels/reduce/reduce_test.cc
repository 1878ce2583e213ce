#include "mote/ops/common/reduce.h"
#include "mote/kernels/testing/differential.h"
#include "mote/ops/batch_norm/batch_norm.h"
#include "mote/ops/common/arg_reduce.h"
#include "mote/ops/group_norm/group_norm.h"
#include "mote/ops/instance_norm/instance_norm.h"
#include "mote/ops/layer_norm/layer_norm.h"
#include "mote/ops/log_softmax/log_softmax.h"
#include "mote/ops/rms_norm/rms_norm.h"
#include "mote/ops/softmax/softmax.h"

namespace mote::kerneltest {
namespace {

ops::ReduceAttrs some_axes(Draw& d, int32_t rank) {
  ops::ReduceAttrs a;
  for (int32_t i = 0; i < rank; ++i)
    if (d.one_in(2)) a.axes[a.axis_count++] = d.one_in(2) ? i : i - rank;
  a.keep_dims = d.in(0, 1);
  return a;
}

TEST(ReduceKernels, Reductions) {
  for (OpId op : {OpId::reduce_sum, OpId::reduce_mean, OpId::reduce_max, OpId::reduce_min, OpId::reduce_l1, OpId::reduce_l2,
                  OpId::reduce_sum_square}) {
    SCOPED_TRACE(static_cast<int>(op));
    many(40, [&](Draw& d) {
      const Shape shape = d.shape(d.in(0, 4));
      Array x = d.f32(shape, 0, 1);
      if (d.one_in(4) && x.count() > 0) x.set(d.in(0, static_cast<int32_t>(x.count()) - 1), d.one_in(2) ? NAN : INFINITY);
      expect_close(op, some_axes(d, static_cast<int32_t>(shape.size())), {x}, 2e-6);
    });
    Draw d(1);
    for (int axis = 0; axis < 3; ++axis) {
      ops::ReduceAttrs a;
      a.axes[a.axis_count++] = axis;
      expect_close(op, a, {d.f32({63, 90, 70}, -1, 1)}, 4e-6);
    }
    expect_close(op, ops::ReduceAttrs{}, {d.f32({300000}, 0, 1)}, 2e-6);
  }
}

TEST(ReduceKernels, LongSumsStayExact) {
  // 0.1 as f32, a million times: adding one by one would be off in the third digit.
  Array x(DType::f32, {1000000});
  for (int64_t i = 0; i < x.count(); ++i) x.set(i, 0.1f);
  ops::ReduceAttrs a;
  for (uint8_t i = 1; i < static_cast<uint8_t>(Isa::kCount); ++i) {
    if (!kernels::can_run(static_cast<Isa>(i), cpu_features())) continue;
    optest::fast_kernels = kernels::select_for(static_cast<Isa>(i));
    const RunResult r = optest::run(OpId::reduce_sum, a, {x});
    optest::fast_kernels = nullptr;
    EXPECT_NEAR(r.outputs[0].get(0), 1e6 * static_cast<double>(0.1f), 0.03);
  }
}

TEST(ReduceKernels, Softmax) {
  many(60, [&](Draw& d) {
    const int32_t rank = d.in(1, 4);
    Array x = d.f32(d.shape(rank), -20, 20);
    if (d.one_in(3)) x.set(d.in(0, static_cast<int32_t>(x.count()) - 1), d.one_in(2) ? NAN : -INFINITY);
    RunOptions options;
    options.in_place = true;
    expect_close(OpId::softmax, ops::softmax::Attrs{d.in(0, rank - 1)}, {x}, 1e-6, options);
    expect_close(OpId::log_softmax, ops::log_softmax::Attrs{d.in(-rank, -1)}, {x}, 2e-6, options);
  });
  Draw d(1);
  for (int axis = 0; axis < 3; ++axis) expect_close(OpId::softmax, ops::softmax::Attrs{axis}, {d.f32({30, 70, 40})}, 1e-6);
  expect_close(OpId::softmax, ops::softmax::Attrs{0}, {d.f32({50000})}, 1e-6);
}

Shape broadcast_of(Draw& d, Shape s) {
  for (int32_t& n : s)
    if (d.one_in(4)) n = 1;
  s.erase(s.begin(), s.begin() + d.in(0, static_cast<int32_t>(s.size()) - 1));
  return s;
}

TEST(ReduceKernels, LayerAndRmsNorm) {
  many(60, [&](Draw& d) {
    const int32_t rank = d.in(1, 4), axis = d.in(0, rank - 1);
    const Shape shape = d.shape(rank);
    const Array x = d.f32(shape), scale = d.one_in(3) ? Array::none() : d.f32(broadcast_of(d, shape));
    const Array bias = d.one_in(3) ? Array::none() : d.f32(broadcast_of(d, shape));
    RunOptions options;
    options.outputs = d.one_in(3) ? 3 : 1;
    expect_close(OpId::layer_norm, ops::layer_norm::Attrs{axis, 0.01f}, {x, scale, bias}, 2e-5, options);
    expect_close(OpId::rms_norm, ops::rms_norm::Attrs{axis, 0.01f}, {x, scale}, 2e-6);
  });
  Draw d(1);
  expect_close(OpId::layer_norm, ops::layer_norm::Attrs{}, {d.f32({3, 70, 384}), d.f32({384}), d.f32({384})}, 4e-6);
}

// Groups that divide a vector, are several vectors, or neither.
TEST(ReduceKernels, NormsOfChannels) {
  Draw d(12);
  for (const int32_t channels : {1, 5, 16, 24, 40, 64, 96, 128, 320}) {
    for (const Shape& shape : {Shape{2, 9, channels}, {3, 4, 5, channels}, {1, 2, 3, 11, channels}}) {
      const auto x = d.f32(shape), scale = d.f32({channels}), bias = d.f32({channels});
      expect_close(OpId::instance_norm, ops::instance_norm::Attrs{0.01f}, {x, scale, bias}, 2e-5);
      for (int32_t groups = 1; groups <= channels; ++groups)
        if (channels % groups == 0) expect_close(OpId::group_norm, ops::group_norm::Attrs{groups, 0.01f}, {x, scale, bias}, 2e-5);
    }
  }
}

TEST(ReduceKernels, BatchNorm) {
  many(40, [&](Draw& d) {
    const Shape shape = d.shape(d.in(2, 4));
    const int32_t axis = d.in(0, static_cast<int32_t>(shape.size()) - 1), n = shape[static_cast<size_t>(axis)];
    expect_close(OpId::batch_norm, ops::batch_norm::Attrs{axis, 0.01f},
                 {d.f32(shape), d.f32({n}), d.f32({n}), d.f32({n}), d.f32({n}, 0.1, 2)}, 4e-6);
  });
}

TEST(ReduceKernels, Arg) {
  for (OpId op : {OpId::arg_max, OpId::arg_min}) {
    many(60, [&](Draw& d) {
      const int32_t rank = d.in(1, 4);
      Array x = Array::random(DType::f32, d.shape(rank), d.seed(), -3, 3);
      // Integers, so that there are equal elements.
      for (int64_t i = 0; i < x.count(); ++i) x.set(i, std::floor(x.get(i)));
      if (d.one_in(3)) x.set(d.in(0, static_cast<int32_t>(x.count()) - 1), NAN);
      ops::ArgAttrs a;
      a.axis = d.in(-rank, rank - 1);
      a.keep_dims = d.in(0, 1);
      a.index_type = d.in(0, 1);
      expect_equal(op, a, {x});
    });
  }
}

}  // namespace
}  // namespace mote::kerneltest
