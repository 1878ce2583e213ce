#include "mote/kernels/testing/differential.h"
#include "mote/ops/cast/cast.h"
#include "mote/ops/clip/clip.h"
#include "mote/ops/div/div.h"
#include "mote/ops/elu/elu.h"
#include "mote/ops/gelu/gelu.h"
#include "mote/ops/hard_sigmoid/hard_sigmoid.h"
#include "mote/ops/leaky_relu/leaky_relu.h"
#include "mote/ops/silu/silu.h"
#include "mote/ops/softplus/softplus.h"

namespace mote::kerneltest {
namespace {

constexpr double kClose = 1e-6;

constexpr double kSmallest = kLeast > 0 ? kLeast : 1e-40;

Array with_specials(Draw& d, Array a) {
  const double specials[] = {NAN, INFINITY, -INFINITY, 0.0, -0.0, kSmallest, 3e38, -3e38, 88.9, -103.9};
  for (int i = 0; a.count() > 0 && i < 4; ++i) a.set(d.in(0, static_cast<int32_t>(a.count()) - 1), specials[d.in(0, 9)]);
  return a;
}

template <class A>
void unary(OpId op, const A& attrs, double lo = -10, double hi = 10, double tolerance = kClose) {
  SCOPED_TRACE(static_cast<int>(op));
  RunOptions options;
  options.in_place = true;
  many(12, [&](Draw& d) { expect_close(op, attrs, {with_specials(d, d.f32(d.shape(d.in(0, 4)), lo, hi))}, tolerance, options); });
}

TEST(ElementwiseKernels, Unary) {
  for (OpId op :
       {OpId::abs, OpId::neg, OpId::square, OpId::sqrt, OpId::reciprocal, OpId::floor, OpId::ceil, OpId::trunc, OpId::round, OpId::relu})
    unary(op, NoAttrs{}, -10, 10, 0);
  for (OpId op : {OpId::rsqrt, OpId::exp, OpId::log, OpId::erf, OpId::sigmoid, OpId::tanh, OpId::hard_swish, OpId::mish})
    unary(op, NoAttrs{});
}

TEST(ElementwiseKernels, SquaresOfIntegers) {
  many(25, [&](Draw& d) {
    RunOptions options;
    options.in_place = true;
    expect_equal(OpId::square, NoAttrs{}, {Array::random(DType::s32, d.shape(d.in(0, 4)), d.seed(), -2147483648.0, 2147483647.0)}, options);
  });
}

TEST(ElementwiseKernels, LargeTensors) {
  Draw d(1);
  const Array x = d.f32({5, 90, 115}, -10, 10);
  expect_equal(OpId::relu, NoAttrs{}, {x});
  expect_close(OpId::sigmoid, NoAttrs{}, {x}, kClose);
}

TEST(ElementwiseKernels, Activations) {
  unary(OpId::clip, ops::clip::Attrs{-1, 2.5f}, -10, 10, 0);
  unary(OpId::leaky_relu, ops::leaky_relu::Attrs{0.2f});
  unary(OpId::hard_sigmoid, ops::hard_sigmoid::Attrs{});
  unary(OpId::silu, ops::silu::Attrs{});
  unary(OpId::silu, ops::silu::Attrs{1.702f});
  unary(OpId::elu, ops::elu::Attrs{1.5f, 1.1f, 0.7f});
  unary(OpId::softplus, ops::softplus::Attrs{});
  unary(OpId::softplus, ops::softplus::Attrs{2, 0});
  unary(OpId::gelu, ops::gelu::Attrs{0});
  unary(OpId::gelu, ops::gelu::Attrs{1});
}

// b has y's shape with some dimensions of 1, perhaps without the first ones.
Shape broadcast_of(Draw& d, Shape s) {
  for (int32_t& n : s)
    if (d.one_in(3)) n = 1;
  if (d.one_in(3)) s.erase(s.begin(), s.begin() + d.in(0, static_cast<int32_t>(s.size())));
  return s;
}

template <class A>
void binary(OpId op, const A& attrs, DType type) {
  SCOPED_TRACE(static_cast<int>(op));
  const bool real = type == DType::f32;
  many(25, [&](Draw& d) {
    const Shape y = d.shape(d.in(0, 4));
    Array a = Array::random(type, d.one_in(2) ? y : broadcast_of(d, y), d.seed(), -9, 9),
          b = Array::random(type, broadcast_of(d, y), d.seed(), -9, 9);
    if (real) a = with_specials(d, a), b = with_specials(d, b);
    expect_equal(op, attrs, {a, b});
  });
}

TEST(ElementwiseKernels, Binary) {
  for (OpId op : {OpId::add, OpId::sub, OpId::mul, OpId::maximum, OpId::minimum, OpId::squared_difference, OpId::prelu})
    binary(op, NoAttrs{}, DType::f32);
  binary(OpId::div, ops::div::Attrs{}, DType::f32);
  for (DType type : {DType::s32, DType::u32, DType::s64, DType::u64})
    for (OpId op : {OpId::add, OpId::sub, OpId::mul}) binary(op, NoAttrs{}, type);
  for (DType type : {DType::f32, DType::s32, DType::s64})
    for (OpId op : {OpId::equal, OpId::not_equal, OpId::less, OpId::less_equal, OpId::greater, OpId::greater_equal})
      binary(op, NoAttrs{}, type);
}

// Enough elements for threads.
TEST(ElementwiseKernels, LargeBroadcasts) {
  Draw d(1);
  const Array a = d.f32({5, 90, 115});
  for (const Shape& b : {Shape{5, 90, 115}, Shape{115}, Shape{90, 1}, Shape{5, 1, 115}, Shape{}}) {
    expect_equal(OpId::add, NoAttrs{}, {a, d.f32(b)});
    expect_equal(OpId::less, NoAttrs{}, {d.f32(b), a});
    const Array whole = Array::random(DType::s32, a.shape(), d.seed(), -2147483648.0, 2147483647.0);
    for (OpId op : {OpId::add, OpId::sub, OpId::mul})
      expect_equal(op, NoAttrs{}, {Array::random(DType::s32, b, d.seed(), -2147483648.0, 2147483647.0), whole});
  }
}

// Short rows of a broadcast operand (a bias), inside outer loops that advance it.
TEST(ElementwiseKernels, RepeatedRows) {
  many(40, [&](Draw& d) {
    const int32_t channels = d.one_in(4) ? d.in(500, 520) : d.in(1, 60), batch = d.in(1, 3);
    const Shape all{batch, d.in(1, 20), d.in(1, channels > 100 ? 9 : 40), channels};
    const Shape others[] = {{channels}, {batch, 1, 1, channels}, {all[2], channels}, {1, all[1], 1, channels}};
    const Array x = d.f32(all), other = d.f32(others[d.in(0, 3)]);
    const std::vector<Array> in = d.one_in(2) ? std::vector<Array>{x, other} : std::vector<Array>{other, x};
    expect_equal(OpId::mul, NoAttrs{}, in);
    expect_equal(OpId::less, NoAttrs{}, in);
    expect_equal(OpId::sub, NoAttrs{},
                 {Array::random(DType::s64, all, d.seed(), -9, 9), Array::random(DType::s64, other.shape(), d.seed(), -9, 9)});
  });
}

TEST(ElementwiseKernels, Where) {
  for (DType type : {DType::f32, DType::s8, DType::f16, DType::s64}) {
    many(25, [&](Draw& d) {
      const Shape y = d.shape(d.in(0, 4));
      Array yes = Array::random(DType::boolean, broadcast_of(d, y), d.seed());
      if (yes.count() > 0) yes.bytes()[0] = 2;
      expect_equal(OpId::where, NoAttrs{}, {yes, Array::random(type, y, d.seed()), Array::random(type, broadcast_of(d, y), d.seed())});
    });
  }
}

TEST(ElementwiseKernels, Cast) {
  const DType types[] = {DType::f32, DType::f16, DType::s8, DType::u8, DType::s32, DType::s64, DType::boolean};
  for (DType from : types) {
    for (DType to : types) {
      const bool half = (from == DType::f16 || to == DType::f16) && from != DType::f32 && to != DType::f32;
      many(6, [&](Draw& d) {
        Array x = Array::random(from, d.shape(d.in(0, 3)), d.seed(), from == DType::u8 ? 0 : -120, 120);
        if (from == DType::f32) x = with_specials(d, Array::random(from, x.shape(), d.seed(), -70000, 3e9));
        expect_equal(OpId::cast, ops::cast::Attrs{static_cast<int32_t>(to)}, {x}, {}, !half && !(from == DType::f16 && to == DType::f16));
      });
    }
  }
}

}  // namespace
}  // namespace mote::kerneltest
