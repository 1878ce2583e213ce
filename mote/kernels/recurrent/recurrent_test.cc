#include "mote/kernels/testing/differential.h"
#include "mote/ops/gru/gru.h"
#include "mote/ops/lstm/lstm.h"

namespace mote::kerneltest {
namespace {

// x, w, r, b?, lengths?, h0?
template <class A>
std::vector<Array> layer(Draw& d, int32_t gates, A* a) {
  const int32_t n = d.size(), steps = d.in(1, 4), batch = d.in(1, 3), input = d.size();
  a->direction = d.in(0, 2);
  a->layout = d.in(0, 1);
  const int32_t directions = a->direction == 2 ? 2 : 1;
  const auto state = [&] { return a->layout != 0 ? Shape{batch, directions, n} : Shape{directions, batch, n}; };
  std::vector<Array> in = {d.f32(a->layout != 0 ? Shape{batch, steps, input} : Shape{steps, batch, input}, -1, 1),
                           d.f32({directions, gates * n, input}, -0.3, 0.3), d.f32({directions, gates * n, n}, -0.3, 0.3)};
  in.push_back(d.one_in(3) ? Array::none() : d.f32({directions, 2 * gates * n}, -1, 1));
  in.push_back(d.one_in(3) ? Array::random(DType::s64, {batch}, d.seed(), 0, steps) : Array::none());
  in.push_back(d.one_in(2) ? Array::none() : d.f32(state(), -1, 1));
  in.push_back(d.one_in(2) ? Array::none() : d.f32(state(), -1, 1));
  return in;
}

TEST(RecurrentKernels, Lstm) {
  many(60, [](Draw& d) {
    ops::lstm::Attrs a;
    RunOptions options;
    options.outputs = 3;
    expect_close(OpId::lstm, a, layer(d, 4, &a), 1e-5, options);
  });
}

TEST(RecurrentKernels, Gru) {
  many(60, [](Draw& d) {
    ops::gru::Attrs a;
    a.linear_before_reset = d.in(0, 1);
    std::vector<Array> in = layer(d, 3, &a);
    in.pop_back();
    RunOptions options;
    options.outputs = 2;
    expect_close(OpId::gru, a, in, 1e-5, options);
  });
}

}  // namespace
}  // namespace mote::kerneltest
