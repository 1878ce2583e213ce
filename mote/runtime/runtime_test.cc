#include <gtest/gtest.h>

#include "mote/ops/op_table.h"
#include "mote/ops/softmax/softmax.h"
#include "mote/runtime/testing/run_program.h"

namespace mote::runtest {
namespace {

using emit::ProgramBuilder;
using emit::TensorId;

emit::FileBytes chain(int length, int32_t width = 8) {
  ProgramBuilder b;
  b.begin_method("main");
  TensorId x = b.input("x", DType::f32, {1, width});
  const TensorId one = b.constant_f32({1, width}, std::vector<float>(static_cast<size_t>(width), 1.0f));
  for (int i = 0; i < length; ++i) x = b.op(OpId::add, NoAttrs{}, {x, one}, "add" + std::to_string(i));
  b.output("y", x);
  return finish(b);
}

TEST(Runtime, RunsAChainInExactlyTheStatedMemory) {
  Loaded p(chain(200));
  ASSERT_TRUE(p.status.ok()) << emit::describe(p.diagnostic);
  std::vector<std::vector<uint8_t>> out;
  ASSERT_TRUE(p.run(0, {bytes_of<float>({0, 1, 2, 3, 4, 5, 6, 7})}, &out).ok());
  EXPECT_EQ(values_of<float>(out[0]), (std::vector<float>{200, 201, 202, 203, 204, 205, 206, 207}));
  EXPECT_TRUE(p.guards_intact());
  EXPECT_EQ(p.program.table().banks[0].size, 64u);  // two tensors of 32 bytes take turns
}

TEST(Runtime, RefusesToRunUnbound) {
  Loaded p(chain(2));
  ASSERT_TRUE(p.status.ok());
  EXPECT_EQ(p.instance.run(0).code(), Status::kNotBound);
}

TEST(Runtime, RefusesSmallAndMisalignedBuffers) {
  Loaded p(chain(2));
  alignas(16) float x[9] = {};
  EXPECT_EQ(p.instance.bind_input(0, 0, x, 31).why(), Why::kBufferSize);
  EXPECT_EQ(p.instance.diagnostic().expected, 32);
  EXPECT_EQ(p.instance.bind_input(0, 0, reinterpret_cast<uint8_t*>(x) + 1, 32).why(), Why::kBufferAlignment);
  EXPECT_EQ(p.instance.bind_input(0, 1, x, 32).why(), Why::kInputIndex);
  EXPECT_EQ(p.instance.bind_output(0, 1, x, 32).why(), Why::kOutputIndex);
  EXPECT_EQ(p.instance.bind_input(1, 0, x, 32).why(), Why::kMethodIndex);
}

TEST(Runtime, StepsPauseAndContinue) {
  Loaded p(chain(10));
  std::vector<float> x(8, 1), y(8);
  ASSERT_TRUE(p.instance.bind_input(0, 0, x.data(), 32).ok());
  ASSERT_TRUE(p.instance.bind_output(0, 0, y.data(), 32).ok());
  EXPECT_EQ(p.instance.step(1).why(), Why::kNotBegun);
  ASSERT_TRUE(p.instance.begin(0).ok());
  EXPECT_EQ(p.instance.step(4).code(), Status::kPaused);
  EXPECT_EQ(p.instance.position(), 4u);
  EXPECT_EQ(p.instance.step(5).code(), Status::kPaused);
  EXPECT_EQ(p.instance.step(5).code(), Status::kOk);
  EXPECT_EQ(y[0], 11);
}

TEST(Runtime, BudgetDeadlineAndCancellationStopBetweenInstructions) {
  Loaded p(chain(10));
  std::vector<std::vector<uint8_t>> out;
  const std::vector<std::vector<uint8_t>> in = {bytes_of<float>(std::vector<float>(8, 1))};
  RunLimits limits;
  limits.max_steps = 9;
  EXPECT_EQ(p.run(0, in, &out, {}, limits).code(), Status::kStepLimit);
  limits.max_steps = 10;
  EXPECT_EQ(p.run(0, in, &out, {}, limits).code(), Status::kOk);

  std::atomic<bool> cancel{true};
  RunLimits cancelled;
  cancelled.cancel = &cancel;
  EXPECT_EQ(p.run(0, in, &out, {}, cancelled).code(), Status::kCancelled);
  cancel = false;
  EXPECT_EQ(p.run(0, in, &out, {}, cancelled).code(), Status::kOk);

  uint64_t now = 0;
  RunLimits timed;
  timed.now_self = &now;
  timed.now = [](void* self) { return ++*static_cast<uint64_t*>(self); };
  timed.deadline = 5;
  EXPECT_EQ(p.run(0, in, &out, {}, timed).code(), Status::kDeadline);
  EXPECT_EQ(p.instance.diagnostic().instruction, 4);
  now = 0;
  timed.deadline = 100;
  EXPECT_EQ(p.run(0, in, &out, {}, timed).code(), Status::kOk);
}

TEST(Runtime, StateIsSharedByMethodsAndReset) {
  ProgramBuilder b;
  const TensorId start = b.constant_f32({2}, {10, 20});
  const TensorId sum = b.state(DType::f32, {2}, start);
  b.begin_method("push");
  const TensorId x = b.input("x", DType::f32, {2});
  b.op_into(OpId::add, NoAttrs{}, {sum, x}, {sum});
  b.begin_method("read");
  b.output("sum", sum);
  Loaded p(finish(b));
  ASSERT_TRUE(p.status.ok()) << emit::describe(p.diagnostic);
  std::vector<std::vector<uint8_t>> out;
  ASSERT_TRUE(p.run(0, {bytes_of<float>({1, 2})}, &out).ok());
  ASSERT_TRUE(p.run(0, {bytes_of<float>({1, 2})}, &out).ok());
  ASSERT_EQ(p.program.find_method("read"), 1);
  ASSERT_TRUE(p.run(1, {}, &out).ok());
  EXPECT_EQ(values_of<float>(out[0]), (std::vector<float>{12, 24}));
  p.instance.reset_state();
  ASSERT_TRUE(p.run(1, {}, &out).ok());
  EXPECT_EQ(values_of<float>(out[0]), (std::vector<float>{10, 20}));
  EXPECT_EQ(p.program.find_method("write"), -1);
}

TEST(Runtime, DynamicShapesFollowTheInput) {
  ProgramBuilder b;
  b.begin_method("main");
  const TensorId x = b.input("x", DType::f32, {16, 3}, 1);
  const TensorId y = b.op(OpId::softmax, ops::softmax::Attrs{-1}, {b.op(OpId::add, NoAttrs{}, {x, x})});
  b.output("y", y);
  Loaded p(finish(b));
  ASSERT_TRUE(p.status.ok()) << emit::describe(p.diagnostic);
  for (const int32_t n : {0, 1, 5, 16, 2}) {
    std::vector<std::vector<uint8_t>> out;
    ASSERT_TRUE(p.run(0, {bytes_of<float>(std::vector<float>(static_cast<size_t>(n) * 3, 0.5f))}, &out, {{n, 3}}).ok());
    EXPECT_EQ(p.instance.output(0, 0).dim(0), n);
    const auto v = values_of<float>(out[0]);
    ASSERT_EQ(v.size(), static_cast<size_t>(n) * 3);
    for (float f : v) EXPECT_NEAR(f, 1.0f / 3, 1e-6f);
  }
  const int32_t too_many[] = {17, 3}, wrong[] = {2, 4};
  EXPECT_EQ(p.instance.set_input_dims(0, 0, too_many, 2).why(), Why::kBound);
  EXPECT_EQ(p.instance.set_input_dims(0, 0, wrong, 2).why(), Why::kDimMismatch);
  EXPECT_EQ(p.instance.set_input_dims(0, 0, wrong, 1).why(), Why::kRank);
  EXPECT_TRUE(p.guards_intact());
}

TEST(Runtime, TraceSeesEveryInstruction) {
  std::vector<TraceEvent> events;
  TraceHook hook;
  hook.self = &events;
  hook.event = [](void* self, const TraceEvent& e) { static_cast<std::vector<TraceEvent>*>(self)->push_back(e); };
  InstanceOptions options;
  options.trace = &hook;
  Loaded p(chain(3), emit::builtin_registry(), options);
  std::vector<std::vector<uint8_t>> out;
  ASSERT_TRUE(p.run(0, {bytes_of<float>(std::vector<float>(8))}, &out).ok());
  using K = TraceEvent::Kind;
  const K expected[] = {K::kInit,           K::kRunBegin,         K::kInstructionBegin, K::kInstructionEnd, K::kInstructionBegin,
                        K::kInstructionEnd, K::kInstructionBegin, K::kInstructionEnd,   K::kRunEnd};
  ASSERT_EQ(events.size(), std::size(expected));
  for (size_t i = 0; i < events.size(); ++i) EXPECT_EQ(events[i].kind, expected[i]) << i;
  EXPECT_EQ(events[4].instruction, 1u);
  EXPECT_EQ(events[5].instruction, 1u);
}

// A custom operator, and an override of a built-in one, by symbolic name.
struct TwiceAttrs {
  float factor;
};
Status infer_same(const InferContext& c) noexcept {
  c.same_as(0, 0, c.in(0).dtype);
  return Status::kOk;
}
Status twice(const OpContext& c) noexcept {
  for (int32_t i = 0; i < c.input(0).count(); ++i)
    c.output(0).as<float>()[i] = c.input(0).as<const float>()[i] * c.attrs<TwiceAttrs>().factor;
  return Status::kOk;
}
Status add_hundred(const OpContext& c) noexcept {
  for (int32_t i = 0; i < c.input(0).count(); ++i) c.output(0).as<float>()[i] = c.input(0).as<const float>()[i] + 100;
  return Status::kOk;
}
constexpr OpDef kCustom[] = {{0, sizeof(TwiceAttrs), kElementwise, 1, 1, 1, 1, 0, 1, "acme::scale", &infer_same,
                              [](const OpContext&) noexcept -> KernelFn { return &twice; }, nullptr},
                             {0, 0, kElementwise, 2, 2, 1, 1, 0, 1, "mote::add", &infer_same,
                              [](const OpContext&) noexcept -> KernelFn { return &add_hundred; }, nullptr}};

TEST(Runtime, CustomOperatorsAndOverridesByName) {
  const OpRegistry custom(kCustom, &emit::builtin_registry());
  ProgramBuilder b(custom);
  b.begin_method("main");
  const TensorId x = b.input("x", DType::f32, {2});
  const TensorId y = b.temp(DType::f32, {2});
  const TwiceAttrs attrs{3};
  b.custom_into("acme::scale", &attrs, sizeof attrs, {x}, {y});
  b.output("y", b.op(OpId::add, NoAttrs{}, {y, x}));
  const emit::FileBytes file = finish(b);
  Loaded with(file, custom);
  ASSERT_TRUE(with.status.ok()) << emit::describe(with.diagnostic);
  std::vector<std::vector<uint8_t>> out;
  ASSERT_TRUE(with.run(0, {bytes_of<float>({1, 2})}, &out).ok());
  EXPECT_EQ(values_of<float>(out[0]), (std::vector<float>{103, 106}));

  Loaded without(file);
  EXPECT_EQ(without.status.why(), Why::kUnknownOp);
  ASSERT_NE(without.diagnostic.name, nullptr);
  EXPECT_STREQ(without.diagnostic.name, "acme::scale");
}

TEST(Runtime, InstancesOfOneProgramAreIndependent) {
  const emit::FileBytes file = chain(5);
  Loaded a(file), b(file);
  std::vector<std::vector<uint8_t>> ya, yb;
  ASSERT_TRUE(a.run(0, {bytes_of<float>(std::vector<float>(8, 1))}, &ya).ok());
  ASSERT_TRUE(b.run(0, {bytes_of<float>(std::vector<float>(8, 2))}, &yb).ok());
  EXPECT_EQ(values_of<float>(ya[0])[0], 6);
  EXPECT_EQ(values_of<float>(yb[0])[0], 7);
}

}  // namespace
}  // namespace mote::runtest
