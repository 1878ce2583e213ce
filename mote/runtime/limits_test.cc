// Numbers of a file that, multiplied and added, no longer fit the type they were counted in.

#include <gtest/gtest.h>

#include "mote/core/size.h"
#include "mote/format/table_fb.h"
#include "mote/runtime/testing/run_program.h"

namespace mote::runtest {
namespace {

using emit::ProgramBuilder;
using emit::ProgramRecords;
using emit::TensorId;

TEST(Limits, ProductsAndSumsOfSizesDoNotWrap) {
  EXPECT_EQ(times(uint64_t{1} << 33, uint64_t{1} << 33), kTooLarge);
  EXPECT_EQ(plus(kTooLarge, 1), kTooLarge);
  EXPECT_EQ(times(1u << 20, 1u << 20), uint64_t{1} << 40);
  const int32_t dims[] = {3, 5}, huge[] = {0x7fffffff, 0x7fffffff, 0x7fffffff}, wrong[] = {3, -1};
  EXPECT_EQ(dense_bytes(DType::s4, 2, dims), 8u);
  EXPECT_EQ(dense_bytes(DType::u4, 0, dims), 1u);
  EXPECT_EQ(dense_bytes(DType::f64, 2, dims), 120u);
  EXPECT_GT(dense_bytes(DType::s8, 3, huge), uint64_t{1} << 60);
  EXPECT_GT(dense_bytes(DType::s8, 2, wrong), uint64_t{1} << 60);
}

TEST(Limits, InstanceMemoryOfTheLargestTablesDoesNotWrap) {
  InstanceLayout layout;
  layout.calls = kMaxTensorBytes / sizeof(Instruction);
  EXPECT_EQ(layout.bytes(8), uint64_t{kMaxTensorBytes / sizeof(Instruction)} * 32);
  layout.tensors = layout.dynamic = kMaxTensorBytes / sizeof(TensorDesc);
  EXPECT_EQ(layout.bytes(8) - uint64_t{layout.calls} * 32, uint64_t{layout.tensors} * (16 + 80));
}

Status do_nothing(const OpContext&) noexcept { return Status::kOk; }
// The longest attributes an operator may have: what a file does not give of them lies in the instance.
constexpr OpDef kLong[] = {{0, 256, 0, 1, 1, 1, 1, 0, 1, "test::long",
                            [](const InferContext& c) noexcept {
                              c.same_as(0, 0, DType::f32);
                              return Status(Status::kOk);
                            },
                            [](const OpContext&) noexcept -> KernelFn { return &do_nothing; }, nullptr}};

uint32_t& word(emit::FileBytes& file, size_t at) { return *reinterpret_cast<uint32_t*>(file.data() + at); }

// The program with its one instruction many times.
emit::FileBytes repeated(const emit::FileBytes& small, uint32_t times) {
  const size_t table = table_bytes(small.data()), at = (table + 15) / 16 * 16;
  emit::FileBytes file = emit::FileBytes::of_size(at + 16 + size_t{times} * sizeof(Instruction));
  uint8_t* bytes = file.data();
  std::memcpy(bytes, small.data(), table);
  ProgramTable t;
  EXPECT_TRUE(find_parts({bytes, table}, &t));
  const_cast<Method&>(t.methods[0]).instruction_count = times;
  for (uint32_t i = 0; i < times; ++i)
    std::memcpy(bytes + at + 16 + size_t{i} * sizeof(Instruction), t.instructions.data, sizeof(Instruction));
  if (!t.source_names.empty()) word(file, static_cast<size_t>(reinterpret_cast<const uint8_t*>(t.source_names.data) - bytes) - 4) = 0;
  word(file, at + 12) = times;
  // Field 10 of the root table points to the instructions.
  const uint32_t root = word(file, 4) + 4, vtable = root - word(file, root);
  const uint32_t field = root + (word(file, vtable + 4 + 10 * 2) & 0xffff);
  word(file, field) = static_cast<uint32_t>(at + 12 - field);
  word(file, 0) = static_cast<uint32_t>(at + 12 + size_t{times} * sizeof(Instruction));
  return file;
}

// Calls and extended attributes of 15 million instructions take 4.3 GB: the sum wrapped, and the instance was written past its end.
TEST(Limits, InstancesBeyond32BitsAreRefused) {
  const OpRegistry ops(kLong, &emit::builtin_registry());
  ProgramBuilder b(ops);
  b.begin_method("main");
  const TensorId x = b.input("x", DType::f32, {1}), y = b.temp(DType::f32, {1});
  b.custom_into("test::long", nullptr, 0, {x}, {y});
  b.output("y", y);
  const emit::FileBytes small = finish(b);
  for (const uint32_t count : {1000u, 15000000u}) {
    const emit::FileBytes file = repeated(small, count);
    Program program;
    Diagnostic d;
    const Status status = Program::open_uncertified({file.span(), 0, {}}, ops, &program, &d);
    const uint64_t needed = uint64_t{count} * (4 * sizeof(void*) + 256);
    if (needed <= 0xffffffffu) {
      ASSERT_TRUE(status.ok()) << emit::describe(d);
      EXPECT_GE(program.needs().instance, needed);
    } else {
      EXPECT_EQ(status.why(), Why::kCertificateWrong) << "needs().instance: " << program.needs().instance;
    }
  }
}

// Opens the records as they are, with a certificate that fits.
Status open_changed(ProgramBuilder& b, void (*change)(ProgramRecords&)) {
  emit::FileBytes file;
  std::string error;
  EXPECT_TRUE(b.finish(&file, &error)) << error;
  ProgramRecords r;
  EXPECT_TRUE(emit::read_records(file.span(), &r));
  change(r);
  emit::WriteOptions unverified;
  unverified.verify = false;
  EXPECT_TRUE(emit::write_program(r, unverified, emit::builtin_registry(), &file, &error)) << error;
  Program program;
  Diagnostic d;
  return Program::open_uncertified({file.span(), 0, {}}, emit::builtin_registry(), &program, &d);
}

void relu(ProgramBuilder& b) {
  b.begin_method("main");
  b.output("y", b.op(OpId::relu, NoAttrs{}, {b.input("x", DType::f32, {4})}));
}

// Each bank is at least an allocation, and may be aligned to 16 MiB; tensors can name 256.
TEST(Limits, NoMoreBanksThanTensorsCanName) {
  ProgramBuilder most, more;
  relu(most);
  relu(more);
  EXPECT_TRUE(open_changed(most, [](ProgramRecords& r) { r.banks.resize(256, {16, 0, 16}); }).ok());
  EXPECT_EQ(open_changed(more, [](ProgramRecords& r) { r.banks.resize(257, {16, 0, 16}); }).why(), Why::kBankRange);
}

// Golden data of 4-bit tensors was taken for empty when its place was checked, and read whole.
TEST(Limits, GoldenDataOfHalfBytesLiesInItsSegment) {
  for (const bool inside : {true, false}) {
    ProgramBuilder b;
    b.begin_method("main");
    b.input("nibbles", DType::s4, {64});
    b.output("y", b.op(OpId::relu, NoAttrs{}, {b.input("x", DType::f32, {4})}));
    b.golden(0, {std::vector<uint8_t>(32), std::vector<uint8_t>(16)}, {std::vector<uint8_t>(16)}, 0.5f);
    const auto beyond = [](ProgramRecords& r) { r.goldens[0].offset = r.segments[r.goldens[0].segment].bytes.size() - 16; };
    const auto unchanged = [](ProgramRecords&) {};
    EXPECT_EQ(open_changed(b, inside ? +unchanged : +beyond).why(), inside ? Why::kNone : Why::kGoldenRecord);
  }
}

}  // namespace
}  // namespace mote::runtest
