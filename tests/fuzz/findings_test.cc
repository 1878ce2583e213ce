// What fuzzing and the review beside it found, as tests that say what was wrong. Each failed before its fix.

#include <gtest/gtest.h>

#include "mote/ops/dynamic_quantize/dynamic_quantize.h"
#include "mote/ops/quantize/quantize.h"
#include "mote/runtime/testing/run_program.h"

namespace mote::runtest {
namespace {

using emit::Dims;
using emit::kAbsent;
using emit::ProgramBuilder;
using emit::TensorId;

Why reason_to_refuse(ProgramBuilder& b, const OpRegistry& ops = emit::builtin_registry()) {
  emit::FileBytes file;
  std::string error;
  emit::WriteOptions unverified;
  unverified.verify = false;
  EXPECT_TRUE(b.finish(&file, &error, unverified)) << error;
  return Loaded(file, ops).status.why();
}

// Shape functions looked at inputs that were not there.
TEST(Findings, ARequiredInputCannotBeAbsent) {
  ProgramBuilder b;
  b.begin_method("main");
  const TensorId x = b.input("x", DType::f32, {4}), y = b.temp(DType::f32, {4});
  b.op_into(OpId::add, NoAttrs{}, {x, kAbsent}, {y});
  EXPECT_EQ(reason_to_refuse(b), Why::kInputMissing);
}

// Kernels wrote to outputs that were not there.
TEST(Findings, ARequiredOutputCannotBeAbsent) {
  ProgramBuilder b;
  b.begin_method("main");
  const TensorId x = b.input("x", DType::f32, {4}), y = b.temp(DType::u8, {4}), zero = b.temp(DType::u8, {});
  b.op_into(OpId::dynamic_quantize, ops::dynamic_quantize::Attrs{}, {x}, {y, kAbsent, zero});
  EXPECT_EQ(reason_to_refuse(b), Why::kOperandMissing);
}

Status infer_same(const InferContext& c) noexcept {
  c.same_as(0, 0, c.in(0).dtype);
  return Status::kOk;
}
constexpr OpDef kGreedy[] = {
    {0, 0, 0, 1, 1, 1, 1, 0, 1, "test::greedy", &infer_same,
     [](const OpContext&) noexcept -> KernelFn { return [](const OpContext&) noexcept { return Status(Status::kOk); }; },
     [](const OpContext&) noexcept {
       return Scratch{0xffffffffu, 0};
     }}};

// An operator that needs more scratch than 32 bits can say states the largest number, which wrapped around to 0 when rounded up.
TEST(Findings, ScratchThatDoesNotFitIsRefused) {
  const OpRegistry registry(kGreedy, &emit::builtin_registry());
  ProgramBuilder b(registry);
  b.begin_method("main");
  const TensorId x = b.input("x", DType::f32, {4}), y = b.temp(DType::f32, {4});
  b.custom_into("test::greedy", nullptr, 0, {x}, {y});
  b.output("y", y);
  EXPECT_EQ(reason_to_refuse(b, registry), Why::kScratch);
}

// Scales in a ring of rows were read where they would lie without the ring.
TEST(Findings, ScalesMayLieInARing) {
  const Dims dims = {1, 8, 2, 3};
  ProgramBuilder b;
  b.begin_method("main");
  const TensorId x = b.input("x", DType::f32, dims);
  const TensorId scale = b.temp(DType::f32, dims), y = b.temp(DType::s8, dims);
  b.set_ring(scale, 1);
  ops::quantize::Attrs by_element;
  by_element.block = 1;
  b.begin_strip(8, {{0, 1, 1}, {0, 1, 1}});
  b.op_into(OpId::relu, NoAttrs{}, {x}, {scale});
  b.op_into(OpId::quantize, by_element, {x, scale}, {y});
  b.end();
  b.output("y", y);
  Loaded p(finish(b));
  ASSERT_TRUE(p.status.ok()) << emit::describe(p.diagnostic);
  std::vector<float> in(48);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i + 1);
  std::vector<std::vector<uint8_t>> out;
  ASSERT_TRUE(p.run(0, {bytes_of(in)}, &out).ok());
  EXPECT_EQ(out[0], std::vector<uint8_t>(48, 1)) << "every element is its own scale";
}

// A dense tensor with a size of 0 did not count as dense, so that no dynamic dimension could have the bound 0.
TEST(Findings, EmptyTensorsAreDense) {
  TensorDesc d{};
  d.dtype = DType::f32;
  d.rank = 3;
  d.dims[0] = 3, d.dims[1] = 0, d.dims[2] = 2;
  set_dense_strides(d);
  EXPECT_TRUE(is_dense(d));
}

// An intermediate tensor of a second bank that became an output still named its bank.
TEST(Findings, AnOutputLeavesItsBank) {
  ProgramBuilder b;
  const uint8_t fast = b.bank("fast");
  b.begin_method("main");
  const TensorId x = b.input("x", DType::f32, {4});
  const TensorId y = b.op(OpId::add, NoAttrs{}, {x, x});
  b.set_bank(y, fast);
  b.output("y", y);
  Loaded p(finish(b));
  EXPECT_TRUE(p.status.ok()) << emit::describe(p.diagnostic);
}

}  // namespace
}  // namespace mote::runtest
