// What an instruction may be given: absent outputs, names of operators, constants from elsewhere.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "mote/ops/gru/gru.h"
#include "mote/ops/lstm/lstm.h"
#include "mote/ops/rnn/rnn.h"
#include "mote/ops/top_k/top_k.h"
#include "mote/runtime/testing/run_program.h"

namespace mote::runtest {
namespace {

using emit::Dims;
using emit::kAbsent;
using emit::ProgramBuilder;
using emit::TensorId;

std::vector<float> ramp(size_t n) {
  std::vector<float> v(n);
  for (size_t i = 0; i < n; ++i) v[i] = static_cast<float>(i % 5) * 0.25f - 0.5f;
  return v;
}

// Runs a recurrent layer of 2 units on x (3, 1, 4); gives the outputs that are wanted.
template <class A>
Status run_layer(OpId op, const A& attrs, int gates, const std::vector<bool>& wanted, std::vector<std::vector<uint8_t>>* out) {
  ProgramBuilder b;
  b.begin_method("main");
  const TensorId x = b.input("x", DType::f32, {3, 1, 4});
  const TensorId w = b.constant_f32({1, gates * 2, 4}, ramp(static_cast<size_t>(gates) * 8));
  const TensorId r = b.constant_f32({1, gates * 2, 2}, ramp(static_cast<size_t>(gates) * 4));
  std::vector<TensorId> outputs;
  for (size_t o = 0; o < wanted.size(); ++o)
    outputs.push_back(wanted[o] ? b.temp(DType::f32, o == 0 ? Dims{3, 1, 1, 2} : Dims{1, 1, 2}) : kAbsent);
  b.op_into(op, attrs, {x, w, r}, outputs);
  for (size_t o = 0; o < wanted.size(); ++o)
    if (wanted[o]) b.output("y" + std::to_string(o), outputs[o]);
  emit::FileBytes file;
  std::string error;
  emit::WriteOptions options;
  options.verify = wanted != std::vector<bool>(wanted.size());
  EXPECT_TRUE(b.finish(&file, &error, options)) << error;
  Loaded p(std::move(file));
  return p.status.ok() ? p.run(0, {bytes_of(ramp(12))}, out) : p.status;
}

template <class A>
void check_layer(OpId op, const A& attrs, int gates, size_t outputs) {
  std::vector<std::vector<uint8_t>> all, one;
  ASSERT_TRUE(run_layer(op, attrs, gates, std::vector<bool>(outputs, true), &all).ok());
  for (size_t o = 0; o < outputs; ++o) {
    std::vector<bool> wanted(outputs);
    wanted[o] = true;
    ASSERT_TRUE(run_layer(op, attrs, gates, wanted, &one).ok()) << "only output " << o;
    EXPECT_EQ(one[0], all[o]);
  }
  EXPECT_EQ(run_layer(op, attrs, gates, std::vector<bool>(outputs), &one).why(), Why::kOperandMissing) << "no output at all";
}

TEST(Operands, RecurrentLayersGiveWhatIsWanted) {
  check_layer(OpId::lstm, ops::lstm::Attrs{}, 4, 3);
  check_layer(OpId::gru, ops::gru::Attrs{}, 3, 2);
  check_layer(OpId::rnn, ops::rnn::Attrs{}, 1, 2);
}

TEST(Operands, IndicesWithoutValues) {
  ProgramBuilder b;
  b.begin_method("main");
  const TensorId x = b.input("x", DType::f32, {4}), indices = b.temp(DType::s64, {2});
  ops::top_k::Attrs attrs;
  attrs.k = 2;
  b.op_into(OpId::top_k, attrs, {x}, {kAbsent, indices});
  b.output("indices", indices);
  Loaded p(finish(b));
  ASSERT_TRUE(p.status.ok()) << emit::describe(p.diagnostic);
  std::vector<std::vector<uint8_t>> out;
  ASSERT_TRUE(p.run(0, {bytes_of<float>({3, 9, 1, 7})}, &out).ok());
  EXPECT_EQ(values_of<int64_t>(out[0]), (std::vector<int64_t>{1, 3}));
}

TEST(Operands, SignaturesSayWhichOutputsAreOptional) {
  static_assert(optional_outputs("x, bias? -> y") == 0, "");
  static_assert(optional_outputs("x? -> y?, indices") == 1, "");
  static_assert(optional_outputs("x -> y, a?, b?, c") == 6, "");
  static_assert(optional_outputs("x -> y?...") == 255, "");
  static_assert(optional_outputs("x -> first, rest?...") == 254, "");
  static_assert(optional_outputs("") == 0, "");
  EXPECT_EQ(operand_bit(6), 64);
  EXPECT_EQ(operand_bit(7), 128);
  EXPECT_EQ(operand_bit(40), 128);
}

// Kernels read numbers in place, so what is handed over apart from the file must lie as the file would have it.
TEST(Operands, SegmentsHandedOverMustBeAligned) {
  ProgramBuilder b;
  b.external_constants();
  b.begin_method("main");
  const TensorId x = b.input("x", DType::f32, {4});
  b.output("y", b.op(OpId::add, NoAttrs{}, {x, b.constant_f32({4}, {1, 2, 3, 4})}));
  const emit::FileBytes file = finish(b);
  const std::vector<uint8_t>& outside = b.external_bytes();
  Block memory(outside.size() + 16, 16);
  for (const size_t shift : {0u, 1u, 4u, 8u, 16u}) {
    std::memcpy(memory.span().data + shift, outside.data(), outside.size());
    const ConstBytes part{memory.span().data + shift, outside.size()};
    Program program;
    Diagnostic d;
    const Status status = Program::open({file.span(), 0, {&part, 1}}, emit::builtin_registry(), &program, &d);
    EXPECT_EQ(status.why(), shift % 16 == 0 ? Why::kNone : Why::kSegmentAlignment) << shift;
    if (status.ok()) continue;
    EXPECT_EQ(status.code(), Status::kInvalidArgument);
    EXPECT_EQ(d.expected, 16);
    EXPECT_EQ(d.found, static_cast<int32_t>(shift));
  }
}

// --- names of operators ---

Status infer_same(const InferContext& c) noexcept {
  c.same_as(0, 0, c.in(0).dtype);
  return Status::kOk;
}
constexpr OpDef named(const char* name) {
  return {0, 0, kElementwise, 1, 1, 1, 1, 0, 1, name, &infer_same, [](const OpContext&) noexcept -> KernelFn { return nullptr; }, nullptr};
}
constexpr OpDef kNamed[] = {named("a::1"), named("a::2"), named("a::3"), named("a::4"), named("a::5"), named("a::6"), named("a::7")};

// The first `count` custom operators, one after the other.
emit::ProgramRecords named_records(size_t count) {
  const OpRegistry ops(kNamed, &emit::builtin_registry());
  ProgramBuilder b(ops);
  b.begin_method("main");
  TensorId t = b.input("x", DType::f32, {2});
  for (size_t i = 0; i < count; ++i) {
    const TensorId next = b.temp(DType::f32, {2});
    b.custom_into(kNamed[i].name, nullptr, 0, {t}, {next});
    t = next;
  }
  b.output("y", t);
  emit::FileBytes file;
  std::string error;
  emit::WriteOptions unverified;
  unverified.verify = false;
  EXPECT_TRUE(b.finish(&file, &error, unverified)) << error;
  emit::ProgramRecords r;
  EXPECT_TRUE(emit::read_records(file.span(), &r));
  return r;
}

TEST(Operands, EveryNameIsFoundHoweverManyThereAre) {
  emit::WriteOptions unverified;
  unverified.verify = false;
  for (size_t count = 0; count <= 7; ++count) {
    emit::ProgramRecords r = named_records(count);
    std::reverse(r.op_names.begin(), r.op_names.end());  // the writer puts them in order
    emit::FileBytes file;
    std::string error;
    ASSERT_TRUE(emit::write_program(r, unverified, emit::builtin_registry(), &file, &error)) << error;
    Program program;
    Diagnostic d;
    const OpRegistry ops(kNamed, &emit::builtin_registry());
    (void)Program::open_uncertified({file.span(), 0, {}}, ops, &program, &d);
    EXPECT_EQ(program.op_name(0), nullptr);
    EXPECT_EQ(program.op_name(kFirstCustomOp - 1), nullptr);
    EXPECT_EQ(program.op_name(0xffff), nullptr);
    for (size_t i = 0; i < 7; ++i) {
      const char* name = program.op_name(static_cast<uint16_t>(kFirstCustomOp + i));
      ASSERT_EQ(name != nullptr, i < count) << i << " of " << count;
      if (name == nullptr) continue;
      EXPECT_STREQ(name, kNamed[i].name);
      EXPECT_EQ(program.definition(program.table().instructions[i])->name, kNamed[i].name);
    }
  }
}

// A file made by others may have them out of order: names are then missed, and with them operators, but never mistaken.
TEST(Operands, NamesOutOfOrderAreMissedNotMistaken) {
  emit::FileBytes file;
  std::string error;
  emit::WriteOptions unverified;
  unverified.verify = false;
  ASSERT_TRUE(emit::write_program(named_records(7), unverified, emit::builtin_registry(), &file, &error)) << error;
  ProgramTable table;
  ASSERT_TRUE(read_table(file.span(), file.size, &table, nullptr).ok());
  auto* names = const_cast<OpName*>(table.op_names.begin());
  std::reverse(names, names + table.op_names.size);
  Program program;
  Diagnostic d;
  const OpRegistry ops(kNamed, &emit::builtin_registry());
  EXPECT_EQ(Program::open_uncertified({file.span(), 0, {}}, ops, &program, &d).why(), Why::kUnknownOp);
  for (size_t i = 0; i < 7; ++i) {
    const char* name = program.op_name(static_cast<uint16_t>(kFirstCustomOp + i));
    EXPECT_TRUE(name == nullptr || std::string(name) == kNamed[i].name);
  }
}

}  // namespace
}  // namespace mote::runtest
