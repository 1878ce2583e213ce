// Wrong fast kernels are found, named, and stop a compilation; right ones pass.

#include "mote/compiler/driver/kernel_check.h"

#include <gtest/gtest.h>

#include <tuple>

#include "mote/compiler/driver/compile.h"
#include "mote/compiler/driver/run.h"
#include "mote/compiler/ir/text.h"
#include "mote/ops/op_table.h"

namespace mote::driver {
namespace {

// A model that is a graph's text.
frontends::Source source_of(const std::string& text) {
  frontends::Source s;
  s.path = "text";
  s.bytes = ir::Bytes::copy_of(text.data(), text.size());
  s.format = "text";
  s.import = [text](const frontends::ImportOptions&, ir::Graph& graph, ir::Problems* problems) {
    std::string error;
    if (ir::parse(text, graph, &error)) return true;
    problems->push_back({"text", error, ""});
    return false;
  };
  return s;
}

const char* const kModel = R"(
method "m"(%0 "x": f32[4,3000], %1 "z": s8[5,7]) -> ("y", "w") {
  %2 = exp(%0) "Exp_0"
  %3 = neg(%2) "Neg_1"
  %4 = softmax(%3) "Softmax_2"
  %5 = concat(%1, %1) {axis=1} "Concat_3"
  yield %4, %5
})";

KernelFn portable(OpId id, const OpContext& c) {
  static const OpRegistry registry(builtin_ops());
  return registry.find(static_cast<uint16_t>(id), nullptr)->select(c);
}

Status right_neg(const OpContext& c) noexcept { return portable(OpId::neg, c)(c); }
// The last element is off by a little.
Status wrong_neg(const OpContext& c) noexcept {
  MOTE_TRY(right_neg(c));
  c.output(0).as<float>()[c.output(0).count() - 1] += 0.1f;
  return Status::kOk;
}
Status wrong_concat(const OpContext& c) noexcept {
  MOTE_TRY(portable(OpId::concat, c)(c));
  c.output(0).as<int8_t>()[3] = static_cast<int8_t>(c.output(0).as<int8_t>()[3] + 1);
  return Status::kOk;
}
// Two parts, which both write the element in the middle: the second one adds to what the first one left there.
Status overlapping_neg(const OpContext& c) noexcept {
  const int32_t count = c.output(0).count();
  const float* x = c.input(0).as<const float>();
  float* y = c.output(0).as<float>();
  if (c.threads == nullptr) return right_neg(c);
  struct Job {
    const float* x;
    float* y;
    int32_t count;
  } job = {x, y, count};
  c.threads->parallel_for(
      c.threads->self, 2,
      [](void* self, uint32_t part, uint32_t) {
        const Job& j = *static_cast<Job*>(self);
        for (int32_t i = part == 0 ? 0 : j.count / 2; i < (part == 0 ? j.count / 2 + 1 : j.count); ++i)
          j.y[i] = part == 0 && i == j.count / 2 ? j.y[i] - j.x[i] : -j.x[i];
      },
      &job);
  return Status::kOk;
}

KernelFn neg_kernel = nullptr, concat_kernel = nullptr;
KernelFn select(uint16_t op, const OpContext&) noexcept {
  return op == static_cast<uint16_t>(OpId::neg) ? neg_kernel : op == static_cast<uint16_t>(OpId::concat) ? concat_kernel : nullptr;
}

// 4,096 multiply-adds, and a negation whose kernel can be counted.
const char* const kProduct = R"(
method "m"(%0 "x": f32[16,16]) -> ("y") {
  %1 = matmul(%0, %0) "Product_0"
  %2 = neg(%1) "Neg_1"
  yield %2
})";

int calls_of_neg = 0;
Status counted_neg(const OpContext& c) noexcept {
  ++calls_of_neg;
  return right_neg(c);
}
KernelFn select_counted(uint16_t op, const OpContext&) noexcept { return op == static_cast<uint16_t>(OpId::neg) ? &counted_neg : nullptr; }

// The problems of a compilation with these fast kernels, as one text.
std::string compiled_with(KernelFn neg, KernelFn concat, int examples = 1) {
  neg_kernel = neg;
  concat_kernel = concat;
  CompileOptions o;
  o.select = &select;
  o.golden.count = examples;
  o.plan.views = false;  // the concatenation stays
  CompileResult r;
  ir::Problems problems;
  std::string text;
  const bool done = compile(source_of(kModel), o, &r, &problems);
  EXPECT_EQ(done, problems.empty());
  for (const ir::Problem& p : problems) text += p.what + "\n";
  return text;
}

TEST(KernelCheck, RightKernelsPass) { EXPECT_EQ(compiled_with(&right_neg, nullptr), ""); }

TEST(KernelCheck, TheOperatorOfAWrongKernelIsNamed) {
  const std::string floats = compiled_with(&wrong_neg, nullptr);
  EXPECT_NE(floats.find("neg 'Neg_1', output 0: the fast kernel differs from the portable one"), std::string::npos) << floats;
  EXPECT_EQ(floats.find("Softmax"), std::string::npos) << floats;
  const std::string integers = compiled_with(nullptr, &wrong_concat);
  EXPECT_NE(integers.find("concat 'Concat_3'"), std::string::npos) << integers;
  EXPECT_EQ(compiled_with(&wrong_neg, &wrong_concat, 0), "") << "without examples nothing is run";
}

TEST(KernelCheck, PartsThatWriteTheSameBytesAreFound) {
  const std::string text = compiled_with(&overlapping_neg, nullptr);
  EXPECT_NE(text.find("neg 'Neg_1', output 0: in parts"), std::string::npos) << text;
}

// Portable kernels would take most of a compilation of a large model.
TEST(GoldenExamples, OfLargeModelsAreMadeWithTheKernelsForThem) {
  for (const auto& [check_macs, examples, calls] :
       {std::tuple(1000, 1, 2), std::tuple(1000, 3, 6), std::tuple(5000, 1, 0), std::tuple(0, 1, 0)}) {
    CompileOptions o;
    o.golden.count = examples;
    o.golden.check_macs = static_cast<uint64_t>(check_macs);
    o.golden.select = &select_counted;
    CompileResult r;
    ir::Problems problems;
    calls_of_neg = 0;
    ASSERT_TRUE(compile(source_of(kProduct), o, &r, &problems));
    EXPECT_EQ(calls_of_neg, calls) << check_macs << ": the program and the unoptimised model, once for each example";
  }
}

TEST(KernelCheck, WorkIsBoundedAndEachOperatorComesFirst) {
  neg_kernel = &right_neg;
  concat_kernel = nullptr;
  CompileOptions o;
  o.golden.count = 0;
  CompileResult r;
  ir::Problems problems;
  ASSERT_TRUE(compile(source_of(kModel), o, &r, &problems));
  const auto compared = [&](uint64_t work) {
    KernelCheck check(&select, work);
    HostProgram p;
    std::string error;
    std::vector<Array> inputs, outputs;
    EXPECT_TRUE(p.open(r.file.span(), {}, {}, &error, nullptr, &select, &check)) << error;
    Random random(1);
    for (uint32_t i = 0; i < 2; ++i) inputs.push_back(make_random(p.input_type(0, i), p.input_dims(0, i), random));
    EXPECT_TRUE(p.run(0, inputs, &outputs, &error)) << error;
    EXPECT_TRUE(check.differences().empty());
    return check.compared();
  };
  EXPECT_EQ(compared(0), 1u);
  EXPECT_EQ(compared(1000), 0u);
  EXPECT_EQ(compared(1000000), 1u);
}

}  // namespace
}  // namespace mote::driver
