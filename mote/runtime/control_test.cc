// If, loop and strip ranges; memory banks; views.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "mote/ops/conv/conv.h"
#include "mote/runtime/testing/run_program.h"

namespace mote::runtest {
namespace {

using emit::kAbsent;
using emit::ProgramBuilder;
using emit::TensorId;

std::vector<uint8_t> scalar_s64(int64_t v) { return bytes_of<int64_t>({v}); }

TEST(Control, IfTakesOneBranch) {
  for (const bool with_else : {true, false}) {
    ProgramBuilder b;
    b.begin_method("main");
    const TensorId condition = b.input("condition", DType::boolean, {});
    const TensorId x = b.input("x", DType::f32, {2});
    const TensorId y = b.temp(DType::f32, {2});
    b.op_into(OpId::sub, NoAttrs{}, {x, x}, {y});
    b.begin_if(condition);
    b.op_into(OpId::add, NoAttrs{}, {x, x}, {y});
    if (with_else) {
      b.begin_else();
      b.op_into(OpId::mul, NoAttrs{}, {x, x}, {y});
    }
    b.end();
    b.output("y", b.op(OpId::add, NoAttrs{}, {y, x}));
    Loaded p(finish(b));
    ASSERT_TRUE(p.status.ok()) << emit::describe(p.diagnostic);
    std::vector<std::vector<uint8_t>> out;
    // Any byte but 0 is true.
    for (const uint8_t yes : {uint8_t{1}, uint8_t{0}, uint8_t{200}}) {
      ASSERT_TRUE(p.run(0, {{yes}, bytes_of<float>({3, 4})}, &out).ok());
      const std::vector<float> expected = yes != 0    ? std::vector<float>{9, 12}
                                          : with_else ? std::vector<float>{12, 20}
                                                      : std::vector<float>{3, 4};
      EXPECT_EQ(values_of<float>(out[0]), expected);
    }
  }
}

// y = x * 2^n, and the sum of the trip numbers.
emit::FileBytes doubling_loop(uint32_t max_trips) {
  ProgramBuilder b;
  b.begin_method("main");
  const TensorId n = b.input("n", DType::s64, {});
  const TensorId x = b.input("x", DType::f32, {2});
  const TensorId y = b.temp(DType::f32, {2}), total = b.temp(DType::s64, {}), trip = b.temp(DType::s64, {});
  b.op_into(OpId::copy, NoAttrs{}, {x}, {y});
  b.op_into(OpId::sub, NoAttrs{}, {n, n}, {total});
  b.begin_loop(n, kAbsent, trip, max_trips);
  b.op_into(OpId::add, NoAttrs{}, {y, y}, {y});
  b.op_into(OpId::add, NoAttrs{}, {total, trip}, {total});
  b.end();
  b.output("y", y);
  b.output("total", total);
  return finish(b);
}

TEST(Control, LoopCountsTrips) {
  Loaded p(doubling_loop(10));
  ASSERT_TRUE(p.status.ok()) << emit::describe(p.diagnostic);
  EXPECT_EQ(p.program.table().certificate->needs.steps_bound, 3u + 2 * 10);
  std::vector<std::vector<uint8_t>> out;
  for (const int64_t n : {int64_t{0}, int64_t{1}, int64_t{10}, int64_t{-5}}) {
    ASSERT_TRUE(p.run(0, {scalar_s64(n), bytes_of<float>({1, 3})}, &out).ok());
    const float factor = n > 0 ? static_cast<float>(1 << n) : 1.0f;
    EXPECT_EQ(values_of<float>(out[0]), (std::vector<float>{factor, 3 * factor}));
    EXPECT_EQ(values_of<int64_t>(out[1])[0], n > 0 ? n * (n - 1) / 2 : 0);
  }
  EXPECT_EQ(p.run(0, {scalar_s64(11), bytes_of<float>({1, 3})}, &out).why(), Why::kTripBound);
  EXPECT_TRUE(p.run(0, {scalar_s64(2), bytes_of<float>({1, 3})}, &out).ok()) << "usable after an error";
}

TEST(Control, WhileLoopStopsByItsConditionOrItsBound) {
  ProgramBuilder b;
  b.begin_method("main");
  const TensorId limit = b.input("limit", DType::f32, {});
  const TensorId one = b.constant_f32({}, {1});
  const TensorId i = b.temp(DType::f32, {}), more = b.temp(DType::boolean, {});
  b.op_into(OpId::sub, NoAttrs{}, {one, one}, {i});
  b.op_into(OpId::less, NoAttrs{}, {i, limit}, {more});
  b.begin_loop(kAbsent, more, kAbsent, 100);
  b.op_into(OpId::add, NoAttrs{}, {i, one}, {i});
  b.op_into(OpId::less, NoAttrs{}, {i, limit}, {more});
  b.end();
  b.output("i", i);
  Loaded p(finish(b));
  ASSERT_TRUE(p.status.ok()) << emit::describe(p.diagnostic);
  std::vector<std::vector<uint8_t>> out;
  for (const float limit_value : {0.0f, 6.5f, 100.0f}) {
    ASSERT_TRUE(p.run(0, {bytes_of<float>({limit_value})}, &out).ok());
    EXPECT_EQ(values_of<float>(out[0])[0], std::ceil(limit_value));
  }
  EXPECT_EQ(p.run(0, {bytes_of<float>({101})}, &out).why(), Why::kTripBound);
}

// The bound limits trips, not counts: a condition may end a loop that was asked to go on for longer.
TEST(Control, LoopWithCountAndConditionEndsByTheFirst) {
  ProgramBuilder b;
  b.begin_method("main");
  const TensorId n = b.input("n", DType::s64, {}), limit = b.input("limit", DType::f32, {});
  const TensorId one = b.constant_f32({}, {1});
  const TensorId i = b.temp(DType::f32, {}), more = b.temp(DType::boolean, {});
  b.op_into(OpId::sub, NoAttrs{}, {one, one}, {i});
  b.op_into(OpId::less, NoAttrs{}, {i, limit}, {more});
  b.begin_loop(n, more, kAbsent, 10);
  b.op_into(OpId::add, NoAttrs{}, {i, one}, {i});
  b.op_into(OpId::less, NoAttrs{}, {i, limit}, {more});
  b.end();
  b.output("i", i);
  Loaded p(finish(b));
  ASSERT_TRUE(p.status.ok()) << emit::describe(p.diagnostic);
  std::vector<std::vector<uint8_t>> out;
  struct Case {
    int64_t count;
    float limit, trips;
  };
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  for (const Case c : {Case{3, 7, 3}, Case{-1, 7, 0}, Case{10, 99, 10}, Case{11, 10, 10}, Case{kMost, 7, 7}, Case{kMost, 0, 0}}) {
    ASSERT_TRUE(p.run(0, {scalar_s64(c.count), bytes_of<float>({c.limit})}, &out).ok()) << c.count << " " << c.limit;
    EXPECT_EQ(values_of<float>(out[0])[0], c.trips);
  }
  for (const int64_t count : {int64_t{11}, kMost}) {
    EXPECT_EQ(p.run(0, {scalar_s64(count), bytes_of<float>({99})}, &out).why(), Why::kTripBound) << count;
    EXPECT_EQ(p.instance.diagnostic().expected, 10);
    EXPECT_EQ(p.instance.diagnostic().found, 11);
  }
}

TEST(Control, LoopsNestAndStep) {
  ProgramBuilder b;
  b.begin_method("main");
  const TensorId n = b.input("n", DType::s64, {});
  const TensorId count = b.temp(DType::s64, {}), one = b.constant_s64({}, {1});
  b.op_into(OpId::sub, NoAttrs{}, {n, n}, {count});
  b.begin_loop(n, kAbsent, kAbsent, 5);
  b.begin_loop(n, kAbsent, kAbsent, 5);
  b.op_into(OpId::add, NoAttrs{}, {count, one}, {count});
  b.end();
  b.end();
  b.output("count", count);
  Loaded p(finish(b));
  ASSERT_TRUE(p.status.ok()) << emit::describe(p.diagnostic);
  const auto in = scalar_s64(4);
  std::vector<uint8_t> out(8);
  ASSERT_TRUE(p.instance.bind_input(0, 0, in.data(), 8).ok());
  ASSERT_TRUE(p.instance.bind_output(0, 0, out.data(), 8).ok());
  ASSERT_TRUE(p.instance.begin(0).ok());
  int steps = 0;
  while (p.instance.step(1).code() == Status::kPaused) ASSERT_LT(++steps, 1000);
  EXPECT_EQ(values_of<int64_t>(out)[0], 16);
}

// Three element-wise instructions over (1, 10, 2, 3), two rows at a time, through rings of two rows.
TEST(Control, StripsComputeRowsThroughRings) {
  const emit::Dims dims = {1, 10, 2, 3};
  ProgramBuilder b;
  b.begin_method("main");
  const TensorId x = b.input("x", DType::f32, dims);
  const TensorId a = b.temp(DType::f32, dims), c = b.temp(DType::f32, dims), y = b.temp(DType::f32, dims);
  b.set_ring(a, 2);
  b.set_ring(c, 2);
  b.begin_strip(5, {{0, 2, 2}, {0, 2, 2}, {0, 2, 2}});
  b.op_into(OpId::add, NoAttrs{}, {x, x}, {a});
  b.op_into(OpId::relu, NoAttrs{}, {a}, {c});
  b.op_into(OpId::add, NoAttrs{}, {c, x}, {y});
  b.end();
  b.output("y", y);
  Loaded p(finish(b));
  ASSERT_TRUE(p.status.ok()) << emit::describe(p.diagnostic);
  EXPECT_EQ(p.program.table().banks[0].size, 2 * 48u) << "the two middle tensors exist only as two rows each";
  std::vector<float> in(60);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i) - 30;
  std::vector<std::vector<uint8_t>> out;
  ASSERT_TRUE(p.run(0, {bytes_of(in)}, &out).ok());
  const auto v = values_of<float>(out[0]);
  for (size_t i = 0; i < in.size(); ++i) EXPECT_EQ(v[i], std::max(0.0f, 2 * in[i]) + in[i]);
  EXPECT_TRUE(p.guards_intact());
}

// y = conv(x) + relu(x), the right-hand side through a ring of two rows.
emit::FileBytes residual_program(bool strip) {
  const emit::Dims dims = {1, 9, 2, 3};
  ProgramBuilder b;
  b.begin_method("main");
  const TensorId x = b.input("x", DType::f32, dims), r = b.temp(DType::f32, dims), y = b.temp(DType::f32, dims);
  const TensorId w = b.constant_f32({3, 1, 1, 3}, {1, 2, 3, -1, 0, 1, 2, 2, -2});
  if (strip) b.set_ring(r, 2);
  if (strip) b.begin_strip(5, {{0, 2, 2}, {0, 2, 2}});
  b.op_into(OpId::relu, NoAttrs{}, {x}, {r});
  b.op_into(OpId::conv, ops::conv::Attrs{}, {x, w, kAbsent, r}, {y});
  if (strip) b.end();
  b.output("y", y);
  return finish(b);
}

TEST(Control, AResidualMayComeThroughARing) {
  std::vector<float> in(54);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i % 7) - 3;
  std::vector<std::vector<uint8_t>> whole, rows;
  Loaded a(residual_program(false)), b(residual_program(true));
  ASSERT_TRUE(a.status.ok()) << emit::describe(a.diagnostic);
  ASSERT_TRUE(b.status.ok()) << emit::describe(b.diagnostic);
  EXPECT_EQ(b.program.table().banks[0].size, 48u) << "two rows";
  ASSERT_TRUE(a.run(0, {bytes_of(in)}, &whole).ok());
  ASSERT_TRUE(b.run(0, {bytes_of(in)}, &rows).ok());
  EXPECT_EQ(whole, rows);
  EXPECT_TRUE(b.guards_intact());
}

Why refusal(ProgramBuilder& b, const OpRegistry& ops = emit::builtin_registry()) {
  emit::FileBytes file;
  std::string error;
  emit::WriteOptions unverified;
  unverified.verify = false;
  EXPECT_TRUE(b.finish(&file, &error, unverified)) << error;
  return Loaded(std::move(file), ops).status.why();
}

TEST(Control, OnlyWhatIsReadByRowsMayBeARing) {
  ProgramBuilder b;
  b.begin_method("main");
  const TensorId x = b.input("x", DType::f32, {1, 4, 2, 3}), w = b.temp(DType::f32, {3, 1, 1, 3}), y = b.temp(DType::f32, {1, 4, 2, 3});
  b.set_ring(w, 1);
  b.begin_strip(2, {{0, 2, 2}});
  b.op_into(OpId::conv, ops::conv::Attrs{}, {x, w}, {y});
  b.end();
  b.output("y", y);
  EXPECT_EQ(refusal(b), Why::kRing);
}

int sink_calls = 0;
constexpr OpDef kSink[] = {
    {0, 0, kRowRange, 1, 1, 0, 0, 0, 1, "test::sink", [](const InferContext&) noexcept { return Status(Status::kOk); },
     [](const OpContext&) noexcept -> KernelFn { return [](const OpContext&) noexcept { return ++sink_calls, Status(Status::kOk); }; },
     nullptr}};

// A strip cuts rows by output 0, which an operator without outputs does not have.
TEST(Control, AnOperatorWithoutOutputsRunsButNotInAStrip) {
  const OpRegistry ops(kSink, &emit::builtin_registry());
  for (const bool strip : {false, true}) {
    ProgramBuilder b(ops);
    b.begin_method("main");
    const TensorId x = b.input("x", DType::f32, {1, 4, 2});
    if (strip) b.begin_strip(2, {{0, 2, 2}});
    b.custom_into("test::sink", nullptr, 0, {x}, {});
    if (strip) b.end();
    b.output("y", x);
    if (strip) {
      EXPECT_EQ(refusal(b, ops), Why::kStripBody);
      continue;
    }
    Loaded p(finish(b), ops);
    ASSERT_TRUE(p.status.ok()) << emit::describe(p.diagnostic);
    sink_calls = 0;
    std::vector<std::vector<uint8_t>> out;
    ASSERT_TRUE(p.run(0, {bytes_of(std::vector<float>(8, 1))}, &out).ok());
    EXPECT_EQ(sink_calls, 1);
  }
}

TEST(Control, ViewsShareOneBuffer) {
  ProgramBuilder b;
  b.begin_method("main");
  const TensorId x = b.input("x", DType::f32, {2, 2});
  const TensorId both = b.temp(DType::f32, {2, 4});
  const TensorId left = b.view(both, 0, {2, 2}, {16, 4}), right = b.view(both, 8, {2, 2}, {16, 4});
  b.op_into(OpId::add, NoAttrs{}, {x, x}, {left});
  b.op_into(OpId::mul, NoAttrs{}, {x, left}, {right});
  b.output("y", b.op(OpId::relu, NoAttrs{}, {both}));
  Loaded p(finish(b));
  ASSERT_TRUE(p.status.ok()) << emit::describe(p.diagnostic);
  std::vector<std::vector<uint8_t>> out;
  ASSERT_TRUE(p.run(0, {bytes_of<float>({1, 2, 3, 4})}, &out).ok());
  EXPECT_EQ(values_of<float>(out[0]), (std::vector<float>{2, 4, 2, 8, 6, 8, 18, 32}));
}

TEST(Control, TensorsLiveInSeveralBanks) {
  ProgramBuilder b;
  const uint8_t fast = b.bank("tcm", 32);
  b.begin_method("main");
  const TensorId x = b.input("x", DType::f32, {4});
  const TensorId t = b.op(OpId::add, NoAttrs{}, {x, x});
  b.set_bank(t, fast);
  const TensorId u = b.op(OpId::add, NoAttrs{}, {t, x});
  b.output("y", b.op(OpId::add, NoAttrs{}, {u, t}));
  Loaded p(finish(b));
  ASSERT_TRUE(p.status.ok()) << emit::describe(p.diagnostic);
  ASSERT_EQ(p.program.table().banks.size, 2u);
  EXPECT_EQ(p.program.table().banks[0].size, 16u);
  EXPECT_EQ(p.program.table().banks[1].size, 16u);
  EXPECT_STREQ(p.program.table().string(p.program.table().banks[1].name), "tcm");
  std::vector<std::vector<uint8_t>> out;
  ASSERT_TRUE(p.run(0, {bytes_of<float>({1, 2, 3, 4})}, &out).ok());
  EXPECT_EQ(values_of<float>(out[0]), (std::vector<float>{5, 10, 15, 20}));
}

}  // namespace
}  // namespace mote::runtest
