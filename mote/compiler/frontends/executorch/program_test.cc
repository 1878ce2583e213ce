// What the reader of ExecuTorch programs refuses: damaged files, and programs that make no sense.

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "mote/compiler/driver/compile.h"
#include "mote/compiler/frontends/executorch/plan.h"

namespace mote::frontends::executorch {
namespace {

using Builder = flatbuffers::FlatBufferBuilder;

std::vector<uint8_t> fixture(const std::string& name) {
  std::ifstream file(std::string(MOTE_SOURCE_DIR) + "/tests/executorch/fixtures/" + name + "/model.pte", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// What the compiler says to these bytes, a line for each problem; empty when they compile.
std::string said(const std::vector<uint8_t>& bytes) {
  Source source;
  source.path = "m.pte";
  source.bytes = ir::Bytes::copy_of(bytes.data(), bytes.size());
  driver::CompileResult result;
  ir::Problems problems;
  if (driver::compile(source, {}, &result, &problems)) return "";
  std::string text;
  for (const ir::Problem& p : problems) text += p.where + ": " + p.what + " -> " + p.advice + "\n";
  return text;
}

template <class T>
void put(std::vector<uint8_t>* bytes, size_t at, T value) {
  std::memcpy(bytes->data() + at, &value, sizeof value);
}

// A program of one method whose values are a tensor (2), an input; a bool, false; and a second tensor, the output.
class Made {
 public:
  void call(const char* name, const char* overload, const std::vector<int32_t>& args) {
    operators_.push_back(fb::CreateOperatorDirect(b_, name, overload));
    add(fb::InstructionArguments::KernelCall, fb::CreateKernelCallDirect(b_, static_cast<int32_t>(operators_.size()) - 1, &args).Union());
  }
  void jump(int32_t condition, int32_t to) {
    add(fb::InstructionArguments::JumpFalseCall, fb::CreateJumpFalseCall(b_, condition, to).Union());
  }
  void delegate_call(int32_t index) {
    const std::vector<int32_t> args{0, 2};
    add(fb::InstructionArguments::DelegateCall, fb::CreateDelegateCallDirect(b_, index, &args).Union());
  }
  std::vector<uint8_t> finish() {
    const std::vector<int32_t> sizes{2}, in{0}, out{2};
    const std::vector<uint8_t> order{0};
    std::vector<flatbuffers::Offset<fb::EValue>> values;
    for (int i = 0; i < 3; ++i) {
      if (i == 1) {
        values.push_back(fb::CreateEValue(b_, fb::KernelTypes::Bool, fb::CreateBool(b_, false).Union()));
        continue;
      }
      const auto place = fb::CreateAllocationDetails(b_, 1, static_cast<uint32_t>(i) * 16);
      const auto tensor = fb::CreateTensorDirect(b_, 6, 0, &sizes, &order, false, 0, place);
      values.push_back(fb::CreateEValue(b_, fb::KernelTypes::Tensor, tensor.Union()));
    }
    const std::vector<flatbuffers::Offset<fb::Chain>> chains{fb::CreateChainDirect(b_, nullptr, nullptr, &instructions_)};
    const std::vector<flatbuffers::Offset<fb::BackendDelegate>> delegates{fb::CreateBackendDelegateDirect(b_, "CoreMLBackend")};
    const std::vector<flatbuffers::Offset<fb::ExecutionPlan>> plans{
        fb::CreateExecutionPlanDirect(b_, "forward", 0, &values, &in, &out, &chains, &operators_, &delegates)};
    fb::FinishProgramBuffer(b_, fb::CreateProgramDirect(b_, 0, &plans));
    return {b_.GetBufferPointer(), b_.GetBufferPointer() + b_.GetSize()};
  }

 private:
  void add(fb::InstructionArguments type, flatbuffers::Offset<void> arguments) {
    instructions_.push_back(fb::CreateInstruction(b_, type, arguments));
  }
  Builder b_;
  std::vector<flatbuffers::Offset<fb::Operator>> operators_;
  std::vector<flatbuffers::Offset<fb::Instruction>> instructions_;
};

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST(ExecutorchReader, EveryCutOfAFileIsRefused) {
  const std::vector<uint8_t> whole = fixture("linear");
  ASSERT_GT(whole.size(), 1000u);
  EXPECT_EQ(said(whole), "");
  // What follows the last constant is padding.
  for (size_t size = 8; size + 64 < whole.size(); size += 37)
    EXPECT_NE(said({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}), "") << size;
}

TEST(ExecutorchReader, HeadersThatLeadOutOfTheFileAreRefused) {
  std::vector<uint8_t> bytes = fixture("linear");
  put<uint64_t>(&bytes, 16, bytes.size() + 1);
  EXPECT_TRUE(has(said(bytes), "of program and segments"));
  bytes = fixture("linear");
  put<uint64_t>(&bytes, 24, ~uint64_t{0});
  EXPECT_TRUE(has(said(bytes), "of program and segments"));
  bytes = fixture("linear");
  put<uint64_t>(&bytes, 24, bytes.size() - 8);
  EXPECT_TRUE(has(said(bytes), "lies behind the end of the file"));
  bytes = fixture("linear");
  put<uint32_t>(&bytes, 12, 8);
  EXPECT_TRUE(has(said(bytes), "expected a header of 24 bytes"));
}

TEST(ExecutorchReader, KernelsAreNamedWhereTheyAreNotSupported) {
  Made own, random;
  own.call("my::one", "out", {0, 2, 2});
  const std::string text = said(own.finish());
  EXPECT_TRUE(has(text, "forward/one_0")) << text;
  EXPECT_TRUE(has(text, "my.one.out is not supported")) << text;
  random.call("aten::rand", "out", {0, 2, 2});
  EXPECT_TRUE(has(said(random.finish()), "random numbers"));
}

TEST(ExecutorchReader, InstructionsThatMakeNoSenseAreRefused) {
  Made few, none, nobody, loop, wild;
  few.call("aten::add", "out", {0, 2});
  EXPECT_TRUE(has(said(few.finish()), "aten::add.out has 2 arguments, expected 4 or more"));
  none.call("my::one", "out", {});
  EXPECT_TRUE(has(said(none.finish()), "my::one.out has no arguments, expected its output or more"));
  nobody.call("aten::abs", "out", {0, 7, 7});
  EXPECT_TRUE(has(said(nobody.finish()), "there is no value 7"));
  loop.call("aten::abs", "out", {0, 2, 2});
  loop.jump(1, 0);
  EXPECT_TRUE(has(said(loop.finish()), "a loop, which is not supported"));
  wild.jump(1, 1000000);
  EXPECT_TRUE(has(said(wild.finish()), "jumps in a way that torch.cond does not leave behind"));
}

TEST(ExecutorchReader, OtherDelegatesAreToldOnceWithWhatToType) {
  Made m;
  m.delegate_call(0);
  m.delegate_call(0);
  EXPECT_EQ(
      said(m.finish()),
      "delegate 'CoreMLBackend': takes 2 instructions of the program: that part was compiled for another runtime, and the model cannot "
      "be read back from it -> export the program without CoreMLPartitioner: "
      "to_edge_transform_and_lower(exported).to_executorch(), or to the XNNPACK delegate\n");
}

TEST(ExecutorchReader, NumbersOfElementTypesAreTorchsSerializedOnes) {
  EXPECT_EQ(torch::to_dtype(scalar_type_of(6)), DType::f32);
  EXPECT_EQ(torch::to_dtype(scalar_type_of(1)), DType::s8);
  EXPECT_EQ(torch::to_dtype(scalar_type_of(11)), DType::boolean);
  EXPECT_EQ(torch::to_dtype(scalar_type_of(15)), DType::bf16);
  EXPECT_EQ(torch::to_dtype(scalar_type_of(28)), DType::u32);
  for (int8_t t : {-1, 12, 16, 22, 24, 30, 127}) EXPECT_EQ(torch::to_dtype(scalar_type_of(t)), DType::kNone) << int{t};
}

}  // namespace mote::frontends::executorch
