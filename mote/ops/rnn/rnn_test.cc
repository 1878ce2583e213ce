#include "mote/ops/rnn/rnn.h"

#include "mote/ops/testing/nn_test_pattern.h"

namespace mote::optest {

TEST(OpRnn, EveryTypeDirectionAndActivation) {
  const double a = 0.75, b = 0.25;
  struct Case {
    int kind;
    std::function<double(double)> f;
  };
  const Case cases[] = {{2, [](double x) { return std::fmax(x, 0); }},
                        {4, [=](double x) { return x < 0 ? a * x : x; }},
                        {5, [](double x) { return 1 / (1 + std::exp(-x)); }},
                        {6, [](double x) { return std::tanh(x); }},
                        {11, [=](double x) { return std::fmin(std::fmax(a * x + b, 0), 1); }},
                        {12, [=](double x) { return x < 0 ? a * (std::exp(x) - 1) : x; }},
                        {13, [](double x) { return std::log(1 + std::exp(x)); }},
                        {32, [=](double x) { return a * x + b; }},
                        {33, [=](double x) { return x >= a ? x : 0; }},
                        {34, [=](double x) { return a * std::tanh(b * x); }},
                        {35, [](double x) { return x / (1 + std::fabs(x)); }}};
  for (DType type : types_of(ops::rnn::Types{})) {
    for (const Case& k : cases) {
      for (int direction = 0; direction < 3; ++direction) {
        SCOPED_TRACE(k.kind);
        const int dirs = direction == 2 ? 2 : 1, steps = 2;
        ops::rnn::Attrs attrs;
        attrs.direction = direction;
        attrs.clip = 1.5f;
        for (int i = 0; i < 2; ++i) attrs.activations[i] = k.kind, attrs.alpha[i] = 0.75f, attrs.beta[i] = 0.25f;
        const Array x = Array::random(type, {steps, 2, 3}, 1, -1, 1), w = Array::random(type, {dirs, 4, 3}, 2, -1, 1),
                    r = Array::random(type, {dirs, 4, 4}, 3, -1, 1);
        const Array bias = Array::random(type, {dirs, 8}, 4, -1, 1);
        const auto got = run(OpId::rnn, attrs, {x, w, r, bias}, 2);
        ASSERT_TRUE(got.ok()) << got.message();
        // h of unit j of direction d after s steps.
        std::function<double(int, int, int, int)> h = [&](int d, int n, int s, int j) -> double {
          if (s == 0) return 0;
          const int t = direction == 1 || d == 1 ? steps - s : s - 1;
          double sum = bias.at({d, j}) + bias.at({d, 4 + j});
          for (int i = 0; i < 3; ++i) sum += w.at({d, j, i}) * x.at({t, n, i});
          for (int i = 0; i < 4; ++i) sum += r.at({d, j, i}) * h(d, n, s - 1, i);
          return k.f(std::fmin(std::fmax(sum, -1.5), 1.5));
        };
        const double scale = k.kind == 33 ? 8 : 4;
        expect_oracle(
            got.outputs[0], [&](const Shape& i) { return h(i[1], i[2], direction == 1 || i[1] == 1 ? steps - i[0] : i[0] + 1, i[3]); },
            scale);
        expect_oracle(
            got.outputs[1], [&](const Shape& i) { return h(i[0], i[1], steps, i[2]); }, scale);
      }
    }
  }
}

TEST(OpRnn, AgreesWithOnnx) {
  const auto p = [](const Shape& s, int seed) { return pattern(DType::f32, s, seed); };
  ops::rnn::Attrs a;
  a.direction = 2;
  const auto r = run(OpId::rnn, a, {p({3, 2, 2}, 1), p({2, 3, 2}, 2), p({2, 3, 3}, 3), p({2, 6}, 4), Array::none(), p({2, 2, 3}, 5)}, 2);
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(
      r.outputs[0],
      {-0.971872747, -0.915824533, -0.761594176, -0.915824533, 0.879826725,  -0.975136697, 0.999725819,  -0.138420761, 0.999873042,
       -0.988355696, 0.985270202,  -0.969355404, 0.753584862,  -0.871901035, -0.764006197, 0.98804903,   -0.975726724, 0.967311263,
       -0.992889106, 0.977118313,  -0.971003175, 0.990594447,  -0.977627814, 0.971859574,  -0.42968148,  0.696014225,  -0.551996231,
       -0.959954262, 0.998383939,  -0.430574954, 0.968187213,  -0.971872747, 0.948085248,  -0.999408126, 0.893193364,  -0.964027584},
      3e-6);
  expect_values(r.outputs[1],
                {-0.42968148, 0.696014225, -0.551996231, -0.959954262, 0.998383939, -0.430574954, 0.999725819, -0.138420761, 0.999873042,
                 -0.988355696, 0.985270202, -0.969355404},
                3e-6);
}

TEST(OpRnn, ShortSequencesEndInZerosAndReverseFromTheirEnd) {
  ops::rnn::Attrs a;
  a.direction = 2;
  a.activations[0] = a.activations[1] = 0;
  const Array one = Array::of<float>({2, 1, 1}, {1, 1}), x = Array::of<float>({3, 2, 1}, {1, 10, 2, 20, 4, NAN});
  const auto r = run(OpId::rnn, a, {x, one, one, Array::none(), Array::of<int32_t>({2}, {3, 2})}, 2);
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(r.outputs[0], {1, 10, 7, 30, 3, 30, 6, 20, 7, 0, 4, 0});
  expect_values(r.outputs[1], {7, 30, 7, 30});
}

TEST(OpRnn, EmptyAndRefused) {
  const Array w(DType::f32, {1, 0, 2});
  const auto r = run(OpId::rnn, ops::rnn::Attrs{}, {Array(DType::f32, {2, 1, 2}), w, Array(DType::f32, {1, 0, 0})}, 2);
  ASSERT_TRUE(r.ok()) << r.message();
  expect_shape(r.outputs[0], {2, 1, 1, 0});
  EXPECT_EQ(run(OpId::rnn, ops::rnn::Attrs{}, {Array(DType::f32, {2, 1, 2}), w, Array(DType::f32, {1, 0, 1})}, 2).status.why(),
            Why::kDimMismatch);
  EXPECT_EQ(run(OpId::rnn, ops::rnn::Attrs{}, {Array(DType::f32, {2, 1, 2}), w}, 2).status.why(), Why::kInputMissing);
}

}  // namespace mote::optest
