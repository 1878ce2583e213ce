// The certificate: a program runs in exactly the bytes it states and is refused with one less.

#include <gtest/gtest.h>

#include "mote/ops/softmax/softmax.h"
#include "mote/runtime/testing/run_program.h"

namespace mote::runtest {
namespace {

using emit::ProgramBuilder;
using emit::TensorId;

Scratch hundred_bytes(const OpContext&) noexcept { return {100, 28}; }
Status fill_scratch(const OpContext& c) noexcept {
  for (uint8_t& b : c.scratch) b = 0xff;
  c.output(0).as<float>()[0] = static_cast<float>(c.scratch.size);
  return Status::kOk;
}
constexpr OpDef kGreedy[] = {{0, 0, 0, 1, 1, 1, 1, 0, 1, "test::greedy",
                              [](const InferContext& c) noexcept {
                                c.same_as(0, 0, DType::f32);
                                return Status(Status::kOk);
                              },
                              [](const OpContext&) noexcept -> KernelFn { return &fill_scratch; }, &hundred_bytes}};
const OpRegistry kOps(kGreedy, &emit::builtin_registry());

emit::FileBytes sample() {
  ProgramBuilder b(kOps);
  const uint8_t second = b.bank("second");
  const TensorId state = b.state(DType::f32, {1});
  b.begin_method("main");
  const TensorId x = b.input("x", DType::f32, {1});
  const TensorId t = b.op(OpId::add, NoAttrs{}, {x, state});
  const TensorId u = b.op(OpId::add, NoAttrs{}, {t, t});
  b.set_bank(u, second);
  const TensorId y = b.temp(DType::f32, {1});
  b.custom_into("test::greedy", nullptr, 0, {u}, {y});
  b.output("y", y);
  return finish(b);
}

struct Sizes {
  size_t instance, scratch;
  std::vector<size_t> banks;
};

Status create_with(const Program& program, const Sizes& sizes, Diagnostic* d) {
  Block instance_block(sizes.instance), scratch(sizes.scratch);
  std::vector<std::unique_ptr<Block>> blocks;
  std::vector<ByteSpan> banks;
  for (size_t n : sizes.banks) {
    blocks.push_back(std::make_unique<Block>(n));
    banks.push_back(blocks.back()->span());
  }
  InstanceMemory memory{instance_block.span(), {banks.data(), banks.size()}, scratch.span()};
  Instance instance;
  MOTE_TRY(instance.create(program, memory, {}, d));
  float x = 1, y = 0;
  MOTE_TRY(instance.bind_input(0, 0, &x, 4));
  MOTE_TRY(instance.bind_output(0, 0, &y, 4));
  const Status status = instance.run(0);
  EXPECT_TRUE(instance_block.guard_intact() && scratch.guard_intact());
  for (const auto& b : blocks) EXPECT_TRUE(b->guard_intact());
  return status;
}

TEST(Certificate, RunsWithExactlyTheStatedBytesAndNotWithOneLess) {
  const emit::FileBytes file = sample();
  Program program;
  Diagnostic d;
  ASSERT_TRUE(Program::open({file.span(), 0, {}}, kOps, &program, &d).ok()) << emit::describe(d);
  const Certificate& c = *program.table().certificate;
  Sizes exact{
      sizeof(void*) == 8 ? c.needs.instance_bytes_64 : c.needs.instance_bytes_32, c.needs.scratch_base + c.needs.scratch_per_thread, {}};
  for (const Bank& b : program.table().banks) exact.banks.push_back(static_cast<size_t>(b.size));
  ASSERT_EQ(exact.banks.size(), 2u);
  EXPECT_TRUE(create_with(program, exact, &d).ok());

  Sizes less = exact;
  --less.instance;
  EXPECT_EQ(create_with(program, less, &d).why(), Why::kInstanceSize);
  EXPECT_EQ(d.expected - d.found, 1);
  less = exact;
  --less.scratch;
  EXPECT_EQ(create_with(program, less, &d).why(), Why::kScratchSize);
  EXPECT_EQ(d.expected - d.found, 1);
  for (size_t i = 0; i < exact.banks.size(); ++i) {
    less = exact;
    --less.banks[i];
    EXPECT_EQ(create_with(program, less, &d).why(), Why::kBankSize);
    EXPECT_EQ(d.expected - d.found, 1);
  }
  less = exact;
  less.banks.pop_back();
  EXPECT_EQ(create_with(program, less, &d).why(), Why::kBankCount);
}

TEST(Certificate, StatesBothPointerWidths) {
  const emit::FileBytes file = sample();
  Program program;
  ASSERT_TRUE(Program::open({file.span(), 0, {}}, kOps, &program).ok());
  const ProgramTable& t = program.table();
  // Tensors (pointer pairs) and calls (four words).
  EXPECT_EQ(t.certificate->needs.instance_bytes_32, t.tensors.size * 8 + t.instructions.size * 16);
  EXPECT_EQ(t.certificate->needs.instance_bytes_64, t.tensors.size * 16 + t.instructions.size * 32);
  EXPECT_EQ(program.needs().instance, sizeof(void*) == 8 ? t.certificate->needs.instance_bytes_64 : t.certificate->needs.instance_bytes_32);
}

TEST(Certificate, AFalseOneIsRefused) {
  ProgramBuilder b;
  b.begin_method("main");
  b.output("y", b.op(OpId::relu, NoAttrs{}, {b.input("x", DType::f32, {1})}));
  emit::FileBytes file;
  std::string error;
  emit::WriteOptions unverified;
  unverified.verify = false;
  ASSERT_TRUE(b.finish(&file, &error, unverified)) << error;
  Program program;
  EXPECT_EQ(Program::open({file.span(), 0, {}}, emit::builtin_registry(), &program).why(), Why::kCertificateWrong);
}

}  // namespace
}  // namespace mote::runtest
