// Names that a user gives and that are nearly right: every command refuses them and says what was meant.

#include <filesystem>

#include "mote/tools/testing/cli.h"
#include "mote/tools/testing/onnx.h"

namespace mote::tools {
namespace {

using api_test::TempPath;
using cli_test::contains;
using cli_test::mote;
using cli_test::Ran;
namespace onnx = cli_test::onnx;

// Two products with constant weights, and a sequence of any length between two others.
std::string model() {
  std::vector<float> weights(64 * 64);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % 7) - 3;
  return onnx::model(onnx::node("MatMul", "encoder", {"tokens", "w"}, "hidden") + onnx::node("Relu", "activation", {"hidden"}, "positive") +
                     onnx::node("MatMul", "decoder", {"positive", "w"}, "scores") + onnx::input("tokens", {1, "length", 64}) +
                     onnx::output("scores", {1, "length", 64}) + onnx::constant("w", {64, 64}, weights));
}

emit::FileBytes program() {
  emit::ProgramBuilder b;
  b.begin_method("classify");
  b.output("scores", b.op(OpId::relu, NoAttrs{}, {b.input("pixels", DType::f32, {1})}));
  b.begin_method("embed");
  b.output("vector", b.op(OpId::relu, NoAttrs{}, {b.input("words", DType::f32, {1})}));
  return api_test::finish(b);
}

const char* const kFleet = R"(metadata_url = "https://host/metadata"
targets_url = "https://host/targets"
device = "a"

[models]
keywords = "stable"
persons = "stable"
)";

class NameCli : public ::testing::Test {
 protected:
  NameCli() {
    std::filesystem::create_directories(folder_.str());
    write("m.onnx", model());
    const emit::FileBytes file = program();
    write("p.mote", {reinterpret_cast<const char*>(file.span().data), static_cast<size_t>(file.span().size)});
    std::filesystem::create_directories(folder_.str() + "/fleet");
    write("fleet/fleet.toml", kFleet);
  }
  void write(const std::string& name, const std::string& text) const {
    std::string error;
    EXPECT_TRUE(write_whole_file(folder_.str() + "/" + name, {text.begin(), text.end()}, &error)) << error;
  }
  // The folder is the working directory's "%".
  std::string in_folder(std::string command) const {
    for (size_t at; (at = command.find('%')) != std::string::npos;) command.replace(at, 1, folder_.str());
    return command;
  }

  const TempPath folder_{"name_cli"};
};

TEST_F(NameCli, WhatWasMeantIsNamed) {
  const std::string compile = "compile %/m.onnx -o %/out.mote ";
  const std::string sizes = compile + "--dim length=1..8 ";
  const struct {
    std::string command, meant, listed;
  } cases[] = {
      {"run %/p.mote --input pixel=1", "pixels", "pixels"},
      {"bench %/p.mote --runs 1 --input pixles=1", "pixels", "pixels"},
      {"profile %/p.mote --runs 1 --method embd --input word=1", "embed", "classify"},
      {"run %/p.mote --method clasify --input pixels=1", "classify", "embed"},
      {"bench %/p.mote --runs 1 --method Classify_", "classify", "embed"},
      {"run %/p.mote --backend nul --input pixels=1", "null", "cpu"},
      {"selftest %/p.mote --backend nulll", "null", "cpu"},
      {compile + "--backends cpuu", "cpu", "cpu"},
      {"explain OutOfMemroy", "OutOfMemory", "BankSize"},
      {"explain bank_sise", "BankSize", "OutOfMemory"},
      {compile + "--dim lenght=8", "length", "length"},
      {compile + "--shape token=1x8x64", "tokens", "tokens"},
      {"validate %/m.onnx %/good.mote --input tokns=1", "tokens", "tokens"},
      {sizes + "--quantize int8-weights --keep-float encodr", "encoder", "decoder"},
      {sizes + "--quantize int4-weights --keep-float Decoder_1", "decoder", "encoder"},
      {sizes + "--quantize fp16-weights --keep-float decoder --keep-float encoders", "encoder", "decoder"},
#ifdef MOTE_WITH_FLEET
      {"fleet status keyword --dir %/fleet", "keywords", "persons"},
      {"fleet history person --dir %/fleet", "persons", "keywords"},
      {"fleet rollback keywrods --dir %/fleet", "keywords", "persons"},
#endif
  };
  ASSERT_EQ(mote(in_folder("compile %/m.onnx -o %/good.mote --dim length=1..8")).exit_code, 0);
  for (const auto& c : cases) {
    const Ran r = mote(in_folder(c.command));
    EXPECT_NE(r.exit_code, 0) << c.command;
    EXPECT_TRUE(contains(r.err, "did you mean '" + c.meant + "'?")) << c.command << ": " << r.err;
    EXPECT_TRUE(contains(r.err, c.listed)) << c.command << ": " << r.err;
    EXPECT_FALSE(std::filesystem::exists(folder_.str() + "/out.mote")) << c.command;
  }
}

TEST_F(NameCli, NothingIsSuggestedThatIsNotNear) {
  for (const char* command :
       {"run %/p.mote --input xyz=1", "run %/p.mote --method xyz", "explain xyzzy", "compile %/m.onnx -o %/out.mote --dim q=8"}) {
    const Ran r = mote(in_folder(command));
    EXPECT_NE(r.exit_code, 0) << command;
    EXPECT_FALSE(contains(r.err, "did you mean")) << r.err;
  }
}

// All names an operator is reported under are taken.
TEST_F(NameCli, NodesThatAreThereStayInFloat) {
  const std::string compile = "compile %/m.onnx -o %/out.mote --dim length=1..8 --quantize int8-weights --json --keep-float ";
  for (const char* name : {"encoder", "decoder"}) {
    const Ran r = mote(in_folder(compile + name));
    ASSERT_EQ(r.exit_code, 0) << r.err;
    const cli_test::Json report = r.json();
    for (const auto& op : report["quantization"]["ops"])
      EXPECT_EQ(op["precision"] == "f32", contains(op["name"].get<std::string>(), name)) << op.dump();
  }
}

}  // namespace
}  // namespace mote::tools
