// Each rule of the verifier: a program that breaks it, alone, is refused with the reason that names it.

#include <gtest/gtest.h>

#include "mote/ops/reshape/reshape.h"
#include "mote/ops/softmax/softmax.h"
#include "mote/runtime/testing/run_program.h"

namespace mote::runtest {
namespace {

using emit::kAbsent;
using emit::ProgramBuilder;
using emit::ProgramRecords;
using emit::TensorId;

// x, condition -> if(condition) { a = softmax(x) } ; b = a + constant ; loop { b = b + b } ; y = relu(b).
// Tensors: 0 x, 1 condition, 2 constant, 3 a, 4 b, 5 y, 6 state.
void sample(ProgramBuilder& b) {
  b.begin_method("main");
  const TensorId x = b.input("x", DType::f32, {2, 4});
  const TensorId condition = b.input("condition", DType::boolean, {});
  const TensorId one = b.constant_f32({4}, {1, 1, 1, 1});
  const TensorId a = b.temp(DType::f32, {2, 4}), sum = b.temp(DType::f32, {2, 4}), y = b.temp(DType::f32, {2, 4});
  b.state(DType::f32, {4}, one);
  b.begin_if(condition);
  b.op_into(OpId::softmax, ops::softmax::Attrs{-1}, {x}, {a});
  b.end();
  b.op_into(OpId::add, NoAttrs{}, {a, one}, {sum});
  b.begin_loop(kAbsent, kAbsent, kAbsent, 3);
  b.op_into(OpId::add, NoAttrs{}, {sum, sum}, {sum});
  b.end();
  b.op_into(OpId::relu, NoAttrs{}, {sum}, {y});
  b.output("y", y);
  const std::vector<uint8_t> in(32), yes(1), out(32);
  b.golden(0, {in, yes}, {out}, 0.1f);
}

// Instructions of the sample.
enum { kIfAt, kSoftmaxAt, kAddAt, kLoopAt, kDoubleAt, kReluAt };

using Change = void (*)(ProgramRecords&);
struct Rule {
  const char* name;
  Why why;
  Change change;
};

template <class T>
T& attrs_at(ProgramRecords& r, int instruction) {
  return *reinterpret_cast<T*>(r.attrs.data() + r.instructions[static_cast<size_t>(instruction)].attrs);
}
int32_t& operand_at(ProgramRecords& r, int instruction, uint32_t k) {
  return r.operands[r.instructions[static_cast<size_t>(instruction)].operands + k];
}

const Rule kRules[] = {
    {"newer major", Why::kNewerMajor, [](ProgramRecords& r) { r.major = kFormatMajor + 1; }},
    {"unknown feature", Why::kUnknownFeature, [](ProgramRecords& r) { r.required_features.push_back(r.strings.add("warp-drive")); }},
    {"string outside", Why::kStrings,
     [](ProgramRecords& r) {
       r.metadata.push_back({1u << 20, 0});
     }},
    {"source names do not match", Why::kStrings, [](ProgramRecords& r) { r.source_names.pop_back(); }},
    {"bank alignment", Why::kBankRange, [](ProgramRecords& r) { r.banks[0].alignment = 24; }},
    {"tensor type", Why::kTensorType, [](ProgramRecords& r) { r.tensors[3].dtype = static_cast<DType>(99); }},
    {"tensor layout", Why::kTensorType, [](ProgramRecords& r) { r.tensors[3].layout = static_cast<Layout>(9); }},
    {"tensor storage", Why::kTensorType, [](ProgramRecords& r) { r.tensors[3].storage = static_cast<Storage>(9); }},
    {"panel of the wrong type", Why::kTensorType,
     [](ProgramRecords& r) {
       r.tensors[2].layout = Layout::kPanel16k4;
       r.tensors[2].strides[0] = 0;
     }},
    {"rank 9", Why::kTensorShape, [](ProgramRecords& r) { r.tensors[3].rank = 9; }},
    {"negative size", Why::kTensorShape, [](ProgramRecords& r) { r.tensors[3].dims[0] = -1; }},
    {"size behind the rank", Why::kTensorShape, [](ProgramRecords& r) { r.tensors[3].dims[5] = 1; }},
    {"huge size", Why::kTensorShape, [](ProgramRecords& r) { r.tensors[3].dims[0] = 0x7fffffff; }},
    {"rows overlap", Why::kTensorShape, [](ProgramRecords& r) { r.tensors[3].strides[0] = 8; }},
    {"innermost not dense", Why::kTensorShape, [](ProgramRecords& r) { r.tensors[3].strides[1] = 8; }},
    {"stride not a multiple", Why::kTensorShape, [](ProgramRecords& r) { r.tensors[3].strides[0] = 18; }},
    {"no such bank", Why::kBankRange, [](ProgramRecords& r) { r.tensors[3].bank = 7; }},
    {"no such segment", Why::kBankRange, [](ProgramRecords& r) { r.tensors[2].bank = 7; }},
    {"outside its segment", Why::kTensorRange, [](ProgramRecords& r) { r.tensors[2].offset = 4; }},
    {"misaligned", Why::kTensorRange,
     [](ProgramRecords& r) {
       r.tensors[2].offset = 2;
       r.tensors[2].dims[0] = 1;
     }},
    {"dynamic constant", Why::kDynamic, [](ProgramRecords& r) { r.tensors[2].dynamic = 1; }},
    {"dynamic bit behind the rank", Why::kDynamic, [](ProgramRecords& r) { r.tensors[3].dynamic = 4; }},
    {"ring of rank 2", Why::kRing, [](ProgramRecords& r) { r.tensors[3].ring_rows = 1; }},
    {"operand outside", Why::kOperandIndex, [](ProgramRecords& r) { operand_at(r, kAddAt, 0) = 700; }},
    {"operand range", Why::kOperandRange, [](ProgramRecords& r) { r.instructions[kAddAt].operands = 10000; }},
    {"attribute range", Why::kAttrRange, [](ProgramRecords& r) { r.instructions[kSoftmaxAt].attrs = 10000; }},
    {"attribute alignment", Why::kAttrRange,
     [](ProgramRecords& r) {
       r.instructions[kSoftmaxAt].attrs += 2;
       r.instructions[kSoftmaxAt].attrs_size = 2;
     }},
    {"method range", Why::kMethodRange, [](ProgramRecords& r) { r.methods[0].instruction_count = 3; }},
    {"method inputs", Why::kMethodRange, [](ProgramRecords& r) { r.methods[0].first_output = 1; }},
    {"input that is an output", Why::kIoTensor, [](ProgramRecords& r) { r.tensors[0].storage = Storage::kOutput; }},
    {"io tensor number", Why::kIoTensor, [](ProgramRecords& r) { r.tensors[0].offset = 2; }},
    {"state that is a temporary", Why::kStateRecord, [](ProgramRecords& r) { r.states[0].tensor = 3; }},
    {"state with an unfit first value", Why::kStateRecord, [](ProgramRecords& r) { r.states[0].init = 3; }},
    {"golden without segment", Why::kGoldenRecord, [](ProgramRecords& r) { r.goldens[0].method = 3; }},
    {"golden too large", Why::kGoldenRecord, [](ProgramRecords& r) { r.goldens[0].dims[0] = 3; }},
    {"golden tolerance", Why::kGoldenRecord, [](ProgramRecords& r) { r.goldens[2].tolerance = -1; }},
    {"placement outside", Why::kPlacementRecord,
     [](ProgramRecords& r) {
       r.placements.push_back({4, 100, 0, 0, 0, 0});
     }},
    {"quantization outside", Why::kQuantRecord,
     [](ProgramRecords& r) {
       r.quants.push_back({100, 1, 0});
     }},
    {"backend without segment", Why::kBackendIndex,
     [](ProgramRecords& r) {
       r.backends.push_back({0, 0, 0, 9, 0});
     }},
    {"unknown operator", Why::kUnknownOp, [](ProgramRecords& r) { r.instructions[kReluAt].op = 0x7777; }},
    {"unknown control", Why::kUnknownOp, [](ProgramRecords& r) { r.instructions[kReluAt].op = 0xff77; }},
    {"too few inputs", Why::kInputCount,
     [](ProgramRecords& r) {
       r.instructions[kAddAt].input_count = 1;
       r.instructions[kAddAt].output_count = 2;
     }},
    {"too many outputs", Why::kOutputCount, [](ProgramRecords& r) { r.instructions[kSoftmaxAt].output_count = 2; }},
    {"output absent", Why::kOperandMissing, [](ProgramRecords& r) { operand_at(r, kAddAt, 2) = -1; }},
    {"input absent", Why::kInputMissing, [](ProgramRecords& r) { operand_at(r, kAddAt, 1) = -1; }},
    {"writes a constant", Why::kWriteConstant, [](ProgramRecords& r) { operand_at(r, kAddAt, 2) = 2; }},
    {"writes an input", Why::kWriteConstant, [](ProgramRecords& r) { operand_at(r, kSoftmaxAt, 1) = 0; }},
    {"attributes out of range", Why::kAxis, [](ProgramRecords& r) { attrs_at<int32_t>(r, kSoftmaxAt) = 5; }},
    {"another output type", Why::kOutputType, [](ProgramRecords& r) { r.tensors[5].dtype = DType::s32; }},
    {"another output shape", Why::kOutputType, [](ProgramRecords& r) { r.tensors[3].dims[0] = 1; }},
    {"operand type", Why::kDType, [](ProgramRecords& r) { operand_at(r, kSoftmaxAt, 0) = 1; }},
    {"shapes that do not fit", Why::kBroadcast,
     [](ProgramRecords& r) {
       r.tensors[2].dims[0] = 3;
       r.states[0].init = -1;
     }},
    {"panel an operator cannot read", Why::kLayout,
     [](ProgramRecords& r) {
       TensorDesc& d = r.tensors[2];
       d.rank = 2;
       d.dims[0] = 1, d.dims[1] = 4;
       d.strides[0] = 0;
       d.layout = Layout::kPanel16;
       r.segments[0].reserve = 256;
       r.states[0].init = -1;
     }},
    {"overlap", Why::kOverlap,
     [](ProgramRecords& r) {
       r.tensors[4].offset = r.tensors[3].offset + 16;
       r.banks[0].size += 16;
     }},
    {"if leaves the method", Why::kNesting, [](ProgramRecords& r) { attrs_at<IfAttrs>(r, kIfAt).then_count = 9; }},
    {"else leaves the method", Why::kNesting, [](ProgramRecords& r) { attrs_at<IfAttrs>(r, kIfAt).else_count = 0xffffffffu; }},
    {"loop leaves the method", Why::kNesting, [](ProgramRecords& r) { attrs_at<LoopAttrs>(r, kLoopAt).body_count = 0xffffffffu; }},
    {"ranges cross", Why::kNesting,
     [](ProgramRecords& r) {
       attrs_at<IfAttrs>(r, kIfAt).then_count = 3;
       attrs_at<LoopAttrs>(r, kLoopAt).body_count = 2;
     }},
    {"condition is no bool", Why::kControlOperands, [](ProgramRecords& r) { operand_at(r, kIfAt, 0) = 0; }},
    {"control attributes", Why::kControlOperands, [](ProgramRecords& r) { r.instructions[kLoopAt].attrs_size = 4; }},
};

TEST(Verify, TheUnchangedProgramIsAccepted) {
  ProgramBuilder b;
  sample(b);
  Loaded p(finish(b));
  EXPECT_TRUE(p.status.ok()) << emit::describe(p.diagnostic);
}

TEST(Verify, EveryBrokenRuleIsNamed) {
  for (const Rule& rule : kRules) {
    SCOPED_TRACE(rule.name);
    ProgramBuilder b;
    sample(b);
    // Plan and close first, so that the change is the last word.
    emit::FileBytes planned;
    std::string error;
    ASSERT_TRUE(b.finish(&planned, &error)) << error;
    ProgramRecords r;
    ASSERT_TRUE(emit::read_records(planned.span(), &r));
    rule.change(r);
    emit::WriteOptions unverified;
    unverified.verify = false;
    emit::FileBytes file;
    ASSERT_TRUE(emit::write_program(r, unverified, emit::builtin_registry(), &file, &error)) << error;
    Program program;
    Diagnostic d;
    const Status status = Program::open({file.span(), 0, {}}, emit::builtin_registry(), &program, &d);
    EXPECT_EQ(why_name(status.why()), std::string(why_name(rule.why)));
    EXPECT_EQ(d.status.bits(), status.bits()) << "the diagnostic says the same";
  }
}

// A view may lie on its data, not on the operand that holds its shape: the operator would read the shape while it writes there.
TEST(Verify, AViewLiesOnItsDataAlone) {
  for (const bool on_data : {true, false}) {
    SCOPED_TRACE(on_data);
    ProgramBuilder b;
    b.begin_method("main");
    const TensorId x = b.input("x", DType::f32, {4});
    const TensorId to = b.input("to", DType::s32, {2});
    const TensorId data = b.op(OpId::relu, NoAttrs{}, {x});
    const TensorId shape = b.temp(DType::s32, {2}), view = b.temp(DType::f32, {2, 2}, 3);
    b.op_into(OpId::add, NoAttrs{}, {to, to}, {shape});
    ops::reshape::Attrs a{};
    a.rank = 2, a.dims[0] = 2, a.dims[1] = 2;
    b.op_into(OpId::reshape, a, {data, shape}, {view});
    b.output("y", b.op(OpId::relu, NoAttrs{}, {view}));
    emit::FileBytes planned;
    std::string error;
    ASSERT_TRUE(b.finish(&planned, &error)) << error;
    ProgramRecords r;
    ASSERT_TRUE(emit::read_records(planned.span(), &r));
    // The tensors in the order of the calls above: x, to, data, shape, view.
    r.tensors[4].offset = r.tensors[on_data ? 2 : 3].offset;
    r.banks[0].size = 256;
    emit::WriteOptions unverified;
    unverified.verify = false;
    emit::FileBytes file;
    ASSERT_TRUE(emit::write_program(r, unverified, emit::builtin_registry(), &file, &error)) << error;
    Program program;
    Diagnostic d;
    const Status status = Program::open({file.span(), 0, {}}, emit::builtin_registry(), &program, &d);
    EXPECT_EQ(why_name(status.why()), std::string(why_name(on_data ? Why{} : Why::kOverlap)));
  }
}

TEST(Verify, UnknownAttributeBytesMustBeZero) {
  for (const uint8_t extra : {uint8_t{0}, uint8_t{1}}) {
    ProgramBuilder b;
    b.begin_method("main");
    const TensorId x = b.input("x", DType::f32, {2});
    const TensorId y = b.temp(DType::f32, {2});
    const uint8_t attrs[8] = {0xff, 0xff, 0xff, 0xff, extra, 0, 0, 0};  // axis -1 and a field from the future
    b.instruction(static_cast<uint16_t>(OpId::softmax), attrs, 8, {x}, {y});
    b.output("y", y);
    emit::FileBytes file;
    std::string error;
    EXPECT_EQ(b.finish(&file, &error), extra == 0) << error;
  }
}

TEST(Verify, ShorterAttributesAreZeroExtended) {
  ProgramBuilder b;
  b.begin_method("main");
  const TensorId x = b.input("x", DType::f32, {2, 2});
  const TensorId y = b.temp(DType::f32, {2, 2});
  b.instruction(static_cast<uint16_t>(OpId::softmax), nullptr, 0, {x}, {y});  // an older file: axis reads as 0
  b.output("y", y);
  Loaded p(finish(b));
  ASSERT_TRUE(p.status.ok()) << emit::describe(p.diagnostic);
  std::vector<std::vector<uint8_t>> out;
  ASSERT_TRUE(p.run(0, {bytes_of<float>({5, 1, 5, 1})}, &out).ok());
  EXPECT_EQ(values_of<float>(out[0]), (std::vector<float>{0.5f, 0.5f, 0.5f, 0.5f}));
}

}  // namespace
}  // namespace mote::runtest
