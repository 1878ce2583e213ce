// Families: element-wise operators, norms, reductions, pools.

#include "mote/kernels/testing/families.h"
#include "mote/ops/adaptive_avg_pool/adaptive_avg_pool.h"
#include "mote/ops/avg_pool/avg_pool.h"
#include "mote/ops/batch_norm/batch_norm.h"
#include "mote/ops/cast/cast.h"
#include "mote/ops/clip/clip.h"
#include "mote/ops/common/arg_reduce.h"
#include "mote/ops/common/reduce.h"
#include "mote/ops/elu/elu.h"
#include "mote/ops/gelu/gelu.h"
#include "mote/ops/group_norm/group_norm.h"
#include "mote/ops/hard_sigmoid/hard_sigmoid.h"
#include "mote/ops/instance_norm/instance_norm.h"
#include "mote/ops/layer_norm/layer_norm.h"
#include "mote/ops/leaky_relu/leaky_relu.h"
#include "mote/ops/log_softmax/log_softmax.h"
#include "mote/ops/max_pool/max_pool.h"
#include "mote/ops/rms_norm/rms_norm.h"
#include "mote/ops/softmax/softmax.h"
#include "mote/ops/softplus/softplus.h"

namespace mote::kerneltest {
namespace {

void unary(Draw& d, int32_t c) {
  const Shape shape{3, c};
  for (const OpId op : {OpId::relu, OpId::sigmoid, OpId::tanh, OpId::silu, OpId::exp, OpId::abs, OpId::neg, OpId::hard_swish, OpId::mish,
                        OpId::square, OpId::floor, OpId::ceil, OpId::trunc, OpId::round, OpId::erf})
    expect_close(op, NoAttrs{}, {d.f32(shape)}, 4e-6, {}, false);
  for (const OpId op : {OpId::sqrt, OpId::rsqrt, OpId::reciprocal, OpId::log})
    expect_close(op, NoAttrs{}, {d.f32(shape, 0.1, 9)}, 4e-6, {}, false);
  expect_equal(OpId::clip, ops::clip::Attrs{-1, 1}, {d.f32(shape)}, {}, false);
  expect_close(OpId::leaky_relu, ops::leaky_relu::Attrs{0.2f}, {d.f32(shape)}, 1e-6, {}, false);
  expect_close(OpId::hard_sigmoid, ops::hard_sigmoid::Attrs{}, {d.f32(shape)}, 1e-6, {}, false);
  expect_close(OpId::elu, ops::elu::Attrs{0.7f, 1.1f, 1}, {d.f32(shape)}, 4e-6, {}, false);
  expect_close(OpId::softplus, ops::softplus::Attrs{}, {d.f32(shape)}, 4e-6, {}, false);
  for (const int32_t approximate : {0, 1}) expect_close(OpId::gelu, ops::gelu::Attrs{approximate}, {d.f32(shape)}, 4e-6, {}, false);
}

void binary(Draw& d, int32_t c, const Shape& other) {
  for (const OpId op : {OpId::add, OpId::sub, OpId::mul, OpId::div, OpId::maximum, OpId::minimum, OpId::squared_difference, OpId::prelu}) {
    const Array x = d.f32({2, 3, c}), y = d.f32(other, 1, 4);
    expect_close(op, NoAttrs{}, {x, y}, 2e-6, {}, false);
    if (op != OpId::prelu) expect_close(op, NoAttrs{}, {y, x}, 2e-6, {}, false);
  }
  // Whole numbers: some are equal.
  const Array x = Array::random(DType::s32, {2, 3, c}, d.seed(), -3, 3), y = Array::random(DType::s32, other, d.seed(), -3, 3);
  const auto real = [](const Array& from) {
    Array to(DType::f32, from.shape());
    for (int64_t i = 0; i < from.count(); ++i) to.set(i, from.get(i));
    return to;
  };
  for (const OpId op : {OpId::equal, OpId::not_equal, OpId::less, OpId::less_equal, OpId::greater, OpId::greater_equal}) {
    expect_equal(op, NoAttrs{}, {real(x), real(y)}, {}, false);
    expect_equal(op, NoAttrs{}, {x, y}, {}, false);
  }
  expect_equal(OpId::where, NoAttrs{}, {Array::random(DType::boolean, {2, 3, c}, d.seed()), real(x), real(y)}, {}, false);
}

void casts(Draw& d, int32_t c) {
  const DType types[] = {DType::f32, DType::f16, DType::bf16, DType::s8, DType::u8, DType::s32, DType::s64, DType::boolean};
  for (const DType from : types)
    for (const DType to : types) {
      ops::cast::Attrs a;
      a.to = static_cast<int32_t>(to);
      expect_equal(OpId::cast, a, {Array::random(from, {3, c}, d.seed(), 0, from == DType::boolean ? 1 : 100)}, {}, false);
    }
}

void norms(Draw& d, int32_t c) {
  const Array x = d.f32({2, 3, c}), scale = d.f32({c}), bias = d.f32({c}), mean = d.f32({c}), variance = d.f32({c}, 0.5, 2);
  expect_close(OpId::layer_norm, ops::layer_norm::Attrs{}, {x, scale, bias}, 2e-5, {}, false);
  expect_close(OpId::rms_norm, ops::rms_norm::Attrs{}, {x, scale}, 2e-5, {}, false);
  expect_close(OpId::batch_norm, ops::batch_norm::Attrs{}, {x, scale, bias, mean, variance}, 2e-5, {}, false);
  expect_close(OpId::batch_norm, ops::batch_norm::Attrs{}, {d.f32({c}), scale, bias, mean, variance}, 2e-5, {}, false);
  expect_close(OpId::instance_norm, ops::instance_norm::Attrs{}, {x, scale, bias}, 1e-4, {}, false);
  expect_close(OpId::group_norm, ops::group_norm::Attrs{}, {x, scale, bias}, 2e-5, {}, false);
  expect_close(OpId::softmax, ops::softmax::Attrs{}, {x}, 2e-6, {}, false);
  expect_close(OpId::softmax, ops::softmax::Attrs{1}, {x}, 2e-6, {}, false);
  expect_close(OpId::log_softmax, ops::log_softmax::Attrs{}, {x}, 4e-6, {}, false);
}

template <class A>
void pool(Draw& d, OpId op, DType type, int32_t channels) {
  A a;
  for (int i = 0; i < 2; ++i) a.kernel[i] = 3, a.strides[i] = 2, a.pads_begin[i] = 1;
  const int32_t least = type == DType::u8 ? 0 : -100;
  expect_close(op, a, {Array::random(type, {1, 6, 7, channels}, d.seed(), least, 100)}, type == DType::f32 ? 1e-5 : 0, {}, false);
}

void pools(Draw& d, int32_t c) {
  for (const DType type : {DType::f32, DType::s8, DType::u8}) pool<ops::max_pool::Attrs>(d, OpId::max_pool, type, c);
  pool<ops::avg_pool::Attrs>(d, OpId::avg_pool, DType::f32, c);
  ops::adaptive_avg_pool::Attrs a;
  a.size[0] = 2, a.size[1] = 3;
  expect_close(OpId::adaptive_avg_pool, a, {d.f32({1, 5, 7, c})}, 1e-6, {}, false);
}

void reductions(Draw& d, int32_t c) {
  for (const OpId op :
       {OpId::reduce_sum, OpId::reduce_mean, OpId::reduce_max, OpId::reduce_min, OpId::reduce_l1, OpId::reduce_l2, OpId::reduce_sum_square})
    for (int32_t axis = 0; axis < 3; ++axis) {
      ops::ReduceAttrs a;
      a.axes[0] = axis, a.axis_count = 1;
      expect_close(op, a, {d.f32({2, 3, c}, 0, 1)}, 4e-6, {}, false);
    }
  for (const OpId op : {OpId::arg_max, OpId::arg_min})
    for (int32_t axis = 0; axis < 3; ++axis) {
      ops::ArgAttrs a;
      a.axis = axis, a.select_last = d.in(0, 1);
      Array x = d.f32({2, 3, c});
      for (int64_t i = 0; i < x.count(); ++i) x.set(i, std::round(x.get(i)));  // some are equal
      expect_equal(op, a, {x}, {}, false);
    }
}

}  // namespace

void add_element_families(std::vector<Family>* all) {
  const auto add = [&](const char* name, auto run) { all->push_back({name, run}); };
  add("unary", [](Draw& d, int32_t c, bool) { unary(d, c); });
  add("binary", [](Draw& d, int32_t c, bool) { binary(d, c, {2, 3, c}); });
  add("binary_row", [](Draw& d, int32_t c, bool) { binary(d, c, {c}); });
  add("binary_one", [](Draw& d, int32_t c, bool) { binary(d, c, {1}); });
  all->push_back({"casts", [](Draw& d, int32_t c, bool) { casts(d, c); }, true});
  add("norms", [](Draw& d, int32_t c, bool) { norms(d, c); });
  add("pools", [](Draw& d, int32_t c, bool) { pools(d, c); });
  add("reductions", [](Draw& d, int32_t c, bool) { reductions(d, c); });
}

}  // namespace mote::kerneltest
