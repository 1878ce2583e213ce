#include "mote/ops/lstm/lstm.h"

#include "mote/ops/testing/nn_test_pattern.h"

namespace mote::optest {
namespace lstm_case {
namespace {

using ops::lstm::Attrs;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// y, y_h and y_c of a layer with the default activations, time first, in double. in: x w r b lengths h0 c0 peephole projection.
struct Expected {
  std::vector<double> y, h, c;
};
Expected oracle(const Attrs& a, const std::vector<Array>& in) {
  const int steps = in[0].shape()[0], batch = in[0].shape()[1], features = in[0].shape()[2], dirs = in[1].shape()[0],
            n = in[1].shape()[1] / 4;
  const int out = in[2].shape()[2];
  Expected e;
  e.y.assign(static_cast<size_t>(steps * dirs * batch * out), 0);
  const auto clip = [&](double v) { return a.clip > 0 ? std::fmin(std::fmax(v, -a.clip), a.clip) : v; };
  for (int d = 0; d < dirs; ++d)
    for (int b = 0; b < batch; ++b) {
      std::vector<double> h(static_cast<size_t>(out)), c(static_cast<size_t>(n)), g(static_cast<size_t>(4 * n)), m(static_cast<size_t>(n));
      for (int j = 0; j < out; ++j) h[j] = in[5].present() ? in[5].at({d, b, j}) : 0;
      for (int j = 0; j < n; ++j) c[j] = in[6].present() ? in[6].at({d, b, j}) : 0;
      const int length = in[4].present() ? static_cast<int>(in[4].get(b)) : steps;
      for (int s = 0; s < length; ++s) {
        const int t = a.direction == 1 || d == 1 ? length - 1 - s : s;
        for (int row = 0; row < 4 * n; ++row) {
          g[row] = in[3].present() ? in[3].at({d, row}) + in[3].at({d, 4 * n + row}) : 0;
          for (int i = 0; i < features; ++i) g[row] += in[1].at({d, row, i}) * in[0].at({t, b, i});
          for (int i = 0; i < out; ++i) g[row] += in[2].at({d, row, i}) * h[i];
        }
        const auto peep = [&](int k, int j) { return in[7].present() ? in[7].at({d, k * n + j}) : 0; };
        for (int j = 0; j < n; ++j) {
          const double i = sigmoid(clip(g[j] + peep(0, j) * c[j]));
          const double f = a.input_forget ? 1 - i : sigmoid(clip(g[2 * n + j] + peep(2, j) * c[j]));
          c[j] = f * c[j] + i * std::tanh(clip(g[3 * n + j]));
          if (a.cell_clip > 0) c[j] = std::fmin(std::fmax(c[j], -a.cell_clip), a.cell_clip);
          m[j] = sigmoid(clip(g[n + j] + peep(1, j) * c[j])) * std::tanh(a.clip_gates_only ? c[j] : clip(c[j]));
        }
        for (int o = 0; o < out; ++o) {
          h[o] = in[8].present() ? 0 : m[o];
          for (int j = 0; in[8].present() && j < n; ++j) h[o] += in[8].at({d, o, j}) * m[j];
          e.y[static_cast<size_t>(((t * dirs + d) * batch + b) * out + o)] = h[o];
        }
      }
      e.h.insert(e.h.end(), h.begin(), h.end());
      e.c.insert(e.c.end(), c.begin(), c.end());
    }
  return e;
}

std::vector<Array> operands(DType t, int dirs, int out) {
  return {Array::random(t, {4, 2, 3}, 1, -1, 1),
          Array::random(t, {dirs, 20, 3}, 2, -1, 1),
          Array::random(t, {dirs, 20, out}, 3, -1, 1),
          Array::random(t, {dirs, 40}, 4, -1, 1),
          Array::of<int32_t>({2}, {4, 3}),
          Array::random(t, {dirs, 2, out}, 5, -1, 1),
          Array::random(t, {dirs, 2, 5}, 6, -1, 1),
          Array::random(t, {dirs, 15}, 7, -1, 1),
          out == 5 ? Array::none() : Array::random(t, {dirs, out, 5}, 8, -1, 1)};
}

}  // namespace
}  // namespace lstm_case

TEST(OpLstm, EveryTypeDirectionAndOption) {
  using namespace lstm_case;
  for (DType type : types_of(ops::lstm::Types{})) {
    SCOPED_TRACE(dtype_name(type));
    for (int variant = 0; variant < 7; ++variant) {
      Attrs a;
      a.direction = variant % 3;
      a.input_forget = variant == 4;
      a.clip = variant == 3 || variant == 6 ? 0.5f : 0;
      a.clip_gates_only = variant == 6;
      a.cell_clip = variant == 5 ? 0.25f : 0;
      std::vector<Array> in = operands(type, a.direction == 2 ? 2 : 1, variant >= 4 ? 2 : 5);
      if (variant == 1) in[3] = in[4] = in[5] = in[6] = in[7] = Array::none();
      const auto r = run(OpId::lstm, a, in, 3);
      ASSERT_TRUE(r.ok()) << r.message();
      const Expected e = oracle(a, in);
      const double tolerance = tolerance_of(type) * 4;
      expect_values(r.outputs[0], e.y, tolerance);
      expect_values(r.outputs[1], e.h, tolerance);
      expect_values(r.outputs[2], e.c, tolerance);
    }
  }
}

TEST(OpLstm, AgreesWithOnnx) {
  ops::lstm::Attrs a;
  a.direction = 2;
  a.hidden = 3;
  const auto p = [](const Shape& s, int seed) { return pattern(DType::f32, s, seed); };
  const auto r = run(
      OpId::lstm, a,
      {p({3, 2, 2}, 1), p({2, 12, 2}, 2), p({2, 12, 3}, 3), p({2, 24}, 4), Array::none(), p({2, 2, 3}, 5), p({2, 2, 3}, 6), p({2, 9}, 7)},
      3);
  ASSERT_TRUE(r.ok()) << r.message();
  expect_values(
      r.outputs[0],
      {-0.192277879, 0.67917639,   -0.0666219443, 0.0434769355, 0.446171671,  -0.0287057701, 0.00626840675, 0.0610739104,  0.211450338,
       -0.374887794, 0.132876411,  0.0492821969,  0.128579021,  0.0373097509, 0.206041709,   0.0772677213,  0.0814623088,  0.0816531181,
       -0.270544291, 0.0252062716, 0.0907185078,  -0.325402945, 0.0979228914, 0.0385920592,  0.0424044095,  0.202869549,   0.105206423,
       0.0253370199, 0.16981867,   0.114728063,   0.454157382,  -0.132396698, 0.00395222334, -0.468631983,  0.00359170628, 0.0643654242},
      3e-6);
  expect_values(r.outputs[1],
                {0.0424044095, 0.202869549, 0.105206423, 0.0253370199, 0.16981867, 0.114728063, 0.00626840675, 0.0610739104, 0.211450338,
                 -0.374887794, 0.132876411, 0.0492821969},
                3e-6);
  expect_values(r.outputs[2],
                {0.733052492, 0.640583217, 0.806357086, 2.63326001, 0.670053959, 0.836110473, 0.0292499065, 0.103363782, 0.413791776,
                 -0.885871708, 0.344565719, 0.342422098},
                3e-6);
}

TEST(OpLstm, BatchFirstIsTheSameTransposed) {
  using namespace lstm_case;
  std::vector<Array> in = operands(DType::f32, 2, 5);
  Attrs a;
  a.direction = 2;
  const auto time_first = run(OpId::lstm, a, in, 3);
  const auto swap = [](const Array& x) {
    Array r(x.dtype(), {x.shape()[1], x.shape()[0], x.shape()[2]});
    for_each_index(x.shape(), [&](const Shape& i) { r.set(r.flat_index({i[1], i[0], i[2]}), x.at(i)); });
    return r;
  };
  for (int i : {0, 5, 6}) in[i] = swap(in[i]);
  a.layout = 1;
  const auto batch_first = run(OpId::lstm, a, in, 3);
  ASSERT_TRUE(batch_first.ok()) << batch_first.message();
  expect_shape(batch_first.outputs[0], {2, 4, 2, 5});
  expect_oracle(batch_first.outputs[0], [&](const Shape& i) { return time_first.outputs[0].at({i[1], i[2], i[0], i[3]}); });
  for (int o : {1, 2}) expect_oracle(batch_first.outputs[o], [&](const Shape& i) { return time_first.outputs[o].at({i[1], i[0], i[2]}); });
}

TEST(OpLstm, EmptySequencesKeepTheStateAndNanSpreads) {
  ops::lstm::Attrs a;
  const Array w(DType::f32, {1, 4, 1}), h = Array::of<float>({1, 1, 1}, {2}), none;
  auto r = run(OpId::lstm, a, {Array(DType::f32, {0, 1, 1}), w, w, none, none, h, h}, 3);
  ASSERT_TRUE(r.ok()) << r.message();
  expect_shape(r.outputs[0], {0, 1, 1, 1});
  expect_values(r.outputs[1], {2});
  r = run(OpId::lstm, a, {Array::of<float>({1, 1, 1}, {NAN}), w, w, none, none, h, h}, 1);
  expect_values(r.outputs[0], {NAN});
}

TEST(OpLstm, RefusesWhatDoesNotFit) {
  using ops::lstm::Attrs;
  const auto why = [](const Attrs& a, const std::vector<Array>& in) { return run(OpId::lstm, a, in, 3).status.why(); };
  const auto with = [&](size_t i, const Array& x) {
    std::vector<Array> in = lstm_case::operands(DType::f32, 1, 2);
    in[i] = x;
    return why({}, in);
  };
  EXPECT_EQ(with(0, Array(DType::s32, {4, 2, 3})), Why::kDType);
  EXPECT_EQ(with(0, Array(DType::f32, {4, 2})), Why::kRank);
  EXPECT_EQ(with(1, Array(DType::f64, {1, 20, 3})), Why::kDTypeMismatch);
  EXPECT_EQ(with(1, Array(DType::f32, {1, 21, 3})), Why::kDimMismatch);
  EXPECT_EQ(with(1, Array(DType::f32, {2, 20, 3})), Why::kDimMismatch);
  EXPECT_EQ(with(2, Array(DType::f32, {1, 20, 5})), Why::kDimMismatch);
  EXPECT_EQ(with(3, Array(DType::f32, {1, 20})), Why::kDimMismatch);
  EXPECT_EQ(with(4, Array(DType::f32, {2})), Why::kDType);
  EXPECT_EQ(with(4, Array(DType::s32, {3})), Why::kDimMismatch);
  EXPECT_EQ(with(4, Array::of<int32_t>({2}, {5, 0})), Why::kIndexRange);
  EXPECT_EQ(with(4, Array::of<int64_t>({2}, {-1, 0})), Why::kIndexRange);
  EXPECT_EQ(with(5, Array(DType::f32, {1, 2, 5})), Why::kDimMismatch);
  EXPECT_EQ(with(6, Array(DType::f32, {1, 2, 2})), Why::kDimMismatch);
  EXPECT_EQ(with(7, Array(DType::f32, {1, 20})), Why::kDimMismatch);
  EXPECT_EQ(with(8, Array(DType::f32, {1, 2, 4})), Why::kDimMismatch);
  EXPECT_EQ(with(8, Array(DType::f32, {2, 4})), Why::kRank);
  for (int field = 0; field < 8; ++field) {
    Attrs a;
    if (field == 0) a.direction = 3;
    if (field == 1) a.layout = 2;
    if (field == 2) a.clip = -1;
    if (field == 3) a.cell_clip = NAN;
    if (field == 4) a.input_forget = 2;
    if (field == 5) a.activations[2] = 15;
    if (field == 6) a.hidden = 4;
    if (field == 7) a.clip_gates_only = 2;
    EXPECT_EQ(why(a, lstm_case::operands(DType::f32, 1, 2)), field == 6 ? Why::kDimMismatch : Why::kAttribute) << field;
  }
}

}  // namespace mote::optest
