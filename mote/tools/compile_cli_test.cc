// mote compile, validate, diff and profile as a user runs them: what they make, and how they fail.

#include <filesystem>

#include "mote/compiler/target/target.h"
#include "mote/tools/testing/cli.h"
#include "mote/tools/testing/onnx.h"

namespace mote::tools {
namespace {

namespace fs = std::filesystem;
using api_test::TempPath;
using cli_test::contains;
using cli_test::Json;
using cli_test::mote;
using cli_test::Ran;

const std::string kSource = MOTE_SOURCE_DIR;
const std::string kDigits = kSource + "/examples/digits/digits.onnx";
const std::string kSeeds = kSource + "/tests/fuzz_models/corpus/onnx/";

class CompileCli : public ::testing::Test {
 protected:
  CompileCli() { fs::create_directories(folder_.str()); }
  std::string in(const std::string& name) const { return folder_.str() + "/" + name; }
  std::string write(const std::string& name, const std::string& text) const {
    std::string error;
    EXPECT_TRUE(write_whole_file(in(name), {text.begin(), text.end()}, &error)) << error;
    return in(name);
  }
  // Files the test's folder holds.
  size_t files() const { return static_cast<size_t>(std::distance(fs::directory_iterator(folder_.str()), {})); }

  const TempPath folder_{"compile_cli"};
};

TEST_F(CompileCli, MakesAProgramThatRunsAndSaysWhatItIs) {
  const Ran r = mote("compile " + kDigits + " -o " + in("d.mote"));
  ASSERT_EQ(r.exit_code, 0) << r.err;
  for (const char* part : {"image", "probabilities", "operators", "peak memory", "lower bound", "multiply-adds", "compiled in"})
    EXPECT_TRUE(contains(r.out, part)) << part << "\n" << r.out;
  EXPECT_EQ(mote("selftest " + in("d.mote")).exit_code, 0);
  EXPECT_EQ(mote("verify --full " + in("d.mote")).exit_code, 0);
  const Ran seven = mote("run " + in("d.mote") + " --input image=" + kSource + "/examples/digits/input_7.npy --top 1 --json");
  ASSERT_EQ(seven.exit_code, 0) << seven.err;
  EXPECT_EQ(seven.json()["outputs"][0]["top"][0]["index"], 7);
  EXPECT_EQ(files(), 1u);
}

TEST_F(CompileCli, JsonAndSizeReport) {
  const Json j = mote("compile " + kDigits + " -o " + in("d.mote") + " --json --size --golden-examples 2").json();
  EXPECT_EQ(j["frontend"], "onnx");
  EXPECT_EQ(j["golden_examples"], 2);
  EXPECT_GE(j["peak_bytes"], j["lower_bound_bytes"]);
  EXPECT_EQ(j["inputs"][0]["dims"], Json({1, 8, 8}));
  uint64_t sum = 0;
  for (const Json& part : j["size"]["parts"]) sum += part["bytes"].get<uint64_t>();
  EXPECT_EQ(sum, j["file_bytes"].get<uint64_t>());
  EXPECT_FALSE(j["size"]["constants"].empty());
  const Ran text = mote("compile " + kDigits + " -o " + in("d.mote") + " --size");
  EXPECT_TRUE(contains(text.out, "Largest constants")) << text.out;
}

TEST_F(CompileCli, TheSameOptionsGiveTheSameBytes) {
  ASSERT_EQ(mote("compile " + kDigits + " -o " + in("a.mote")).exit_code, 0);
  ASSERT_EQ(mote("compile " + kDigits + " -o " + in("b.mote")).exit_code, 0);
  EXPECT_EQ(cli_test::read_text(in("a.mote")), cli_test::read_text(in("b.mote")));
}

TEST_F(CompileCli, ExamplesLabelsAndTextsTravel) {
  const Ran r = mote("compile " + kDigits + " -o " + in("d.mote") + " --golden " + kSource + "/examples/digits/golden --labels " + kSource +
                     "/examples/digits/labels.txt --metadata name=mine --licence MIT");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  const Json j = mote("inspect --json " + in("d.mote")).json();
  EXPECT_EQ(j["metadata"]["name"], "mine");
  EXPECT_EQ(j["metadata"]["labels"], "0\n1\n2\n3\n4\n5\n6\n7\n8\n9");
  EXPECT_EQ(j["evidence"]["licence"], "MIT");
  EXPECT_EQ(j["golden_count"], 8);
  EXPECT_EQ(mote("compile " + kDigits + " -o " + in("x.mote") + " --metadata nonsense").exit_code, 2);
  EXPECT_EQ(mote("compile " + kDigits + " -o " + in("x.mote") + " --labels /no/such/file").exit_code, 1);
  EXPECT_EQ(mote("compile " + kDigits + " -o " + in("x.mote") + " --golden " + folder_.str() + "/none").exit_code, 1);
  EXPECT_FALSE(fs::exists(in("x.mote")));
}

TEST_F(CompileCli, TextsThatFitNothingAreSaid) {
  const std::string compile = "compile " + kDigits + " -o " + in("d.mote") + " ";
  const Ran labels = mote(compile + "--labels " + write("nine.txt", "0\n1\n2\n3\n4\n5\n6\n7\n8\n"));
  EXPECT_EQ(labels.exit_code, 0) << labels.err;
  EXPECT_TRUE(contains(labels.err, "9 labels fit no output")) << labels.err;
  EXPECT_FALSE(contains(mote(compile + "--labels " + kSource + "/examples/digits/labels.txt").err, "labels fit"));
  fs::remove(in("d.mote"));
  const std::pair<const char*, const char*> cases[] = {
      {"--metadata preprocess.image.means=0.5", "did you mean 'preprocess.image.mean'?"},
      {"--metadata preprocess.sound=yes", "no command reads this key"},
      {"--metadata preprocess.image.mean=much", "expected numbers, found 'much'"},
      {"--metadata preprocess.image.channels=CMYK", "RGB, BGR or GRAY"},
      {"--metadata preprocess.image.std=0", "numbers other than 0"},
      {"--metadata preprocess.image.layout=CHX", "letters of N H W C"},
  };
  for (const auto& [option, text] : cases) {
    const Ran r = mote(compile + option);
    EXPECT_NE(r.exit_code, 0) << option;
    EXPECT_TRUE(contains(r.err, text)) << option << ": " << r.err;
    EXPECT_FALSE(fs::exists(in("d.mote"))) << option;
  }
}

TEST_F(CompileCli, AdviceHasTheNamesAtHand) {
  fs::create_directories(in("saved"));
  write("saved/saved_model.pb", "x");
  const std::string to = " -o " + in("x.mote");
  EXPECT_TRUE(contains(mote("compile " + in("saved") + to).err, "--saved-model " + in("saved") + " --output"));
  write("mine.h5", std::string("\x89HDF\r\n\x1a\n", 8) + std::string(64, 'x'));
  EXPECT_TRUE(contains(mote("compile " + in("mine.h5") + to).err, "load_model('" + in("mine.h5") + "')"));
  namespace onnx = cli_test::onnx;
  write("m.onnx", onnx::model(onnx::input("x", {2}) + onnx::node("Rellu", "r", {"x"}, "y") + onnx::output("y", {2})));
  EXPECT_TRUE(contains(mote("compile " + in("m.onnx") + to).err, "(did you mean 'Relu'?)"));
}

TEST_F(CompileCli, PoliciesNameWhatExists) {
  const std::pair<const char*, const char*> cases[] = {
      {"[default]\nrequire = [\"cup\"]\n", "did you mean 'cpu'?"},
      {"[op.conv]\nallow = [\"cuda\"]\n", "there is no backend 'cuda'"},
      {"[node.\"x\"]\nforbid = [\"gpu\"]\n", "there is no backend 'gpu'"},
      {"[op.covn]\nallow = [\"cpu\"]\n", "did you mean 'conv'?"},
  };
  for (const auto& [policy, text] : cases) {
    const Ran r = mote("compile " + kDigits + " -o " + in("d.mote") + " --policy " + write("p.toml", policy));
    EXPECT_EQ(r.exit_code, 1) << policy;
    EXPECT_TRUE(contains(r.err, text)) << policy << r.err;
  }
  const Ran node =
      mote("compile " + kDigits + " -o " + in("d.mote") + " --policy " + write("p.toml", "[node.\"none\"]\nallow = [\"cpu\"]\n"));
  EXPECT_EQ(node.exit_code, 0) << node.err;
  EXPECT_TRUE(contains(node.err, "[node.\"none\"] does nothing")) << node.err;
}

TEST_F(CompileCli, WeightsInASecondFile) {
  ASSERT_EQ(mote("compile " + kDigits + " -o " + in("d.mote") + " --external-weights " + in("d.weights")).exit_code, 0);
  EXPECT_EQ(mote("selftest " + in("d.mote") + " --weights " + in("d.weights")).exit_code, 0);
  EXPECT_EQ(mote("compile " + kDigits + " -o " + in("d.mote") + " --external-weights " + in("d.mote")).exit_code, 2);
}

TEST_F(CompileCli, InputsAndOutputsInTheArena) {
  const std::string relu = "compile " + kSeeds + "Relu.onnx --json -o ";
  EXPECT_EQ(mote(relu + in("a.mote")).json()["peak_bytes"], 0);
  EXPECT_GE(mote(relu + in("a.mote") + " --io-in-arena").json()["peak_bytes"], 24);
  ASSERT_EQ(mote("compile " + kDigits + " -o " + in("a.mote")).exit_code, 0);
  const Ran inside = mote("compile " + kDigits + " -o " + in("b.mote") + " --io-in-arena --golden " + kSource + "/examples/digits/golden");
  ASSERT_EQ(inside.exit_code, 0) << inside.err;
  EXPECT_EQ(mote("inspect --json " + in("b.mote")).json()["evidence"]["options"], "--io-in-arena");
  EXPECT_EQ(mote("selftest " + in("b.mote")).exit_code, 0);
  EXPECT_EQ(mote("validate " + kDigits + " " + in("b.mote") + " --reference mote").exit_code, 0);
  EXPECT_EQ(mote("diff " + in("a.mote") + " " + in("b.mote")).exit_code, 0);
}

TEST_F(CompileCli, WrongUsage) {
  EXPECT_EQ(mote("compile").exit_code, 2);
  EXPECT_EQ(mote("compile " + kDigits).exit_code, 2);
  for (const char* option : {"--shape image", "--shape image=1xbx3", "--dim n", "--dim n=4..2", "--dim n=x", "--ram lots",
                             "--strips --ram lots", "--strips some", "--strips off --ram 64k", "--bank fast", "--bank fast=none",
                             "--alignment 7", "--print-after nonsense", "--golden-examples -1"}) {
    const Ran r = mote("compile " + kDigits + " -o " + in("x.mote") + " " + option);
    EXPECT_EQ(r.exit_code, 2) << option << r.err;
    EXPECT_FALSE(r.err.empty()) << option;
  }
  EXPECT_EQ(files(), 0u);
}

TEST_F(CompileCli, TheTargetIsToldAndKept) {
  const std::string digits = "compile " + kDigits + " --json -o " + in("d.mote");
  EXPECT_EQ(mote(digits).json()["target"], "generic");
  EXPECT_EQ(mote(digits + " --target neon --strips off").json()["target"], "neon");
  EXPECT_EQ(mote("inspect --json " + in("d.mote")).json()["evidence"]["options"], "--target neon --strips off");
  EXPECT_EQ(mote("inspect --json " + in("d.mote")).json()["evidence"]["target"], "neon");
  EXPECT_EQ(mote("validate " + kDigits + " " + in("d.mote") + " --reference mote").exit_code, 0);
  const std::string mine = write("mine.toml", target::to_text(*target::named("avx2")));
  EXPECT_EQ(mote(digits + " --target " + mine).json()["target"], "avx2, avx2");
  EXPECT_FALSE(mote("inspect --json " + in("d.mote")).json()["evidence"].contains("options")) << "the file may not be there next time";
  const Ran none = mote(digits + " --target nonsense");
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_TRUE(contains(none.err, "nonsense") && contains(none.err, "generic")) << none.err;
}

TEST_F(CompileCli, FilesThatCannotBe) {
  const Ran missing = mote("compile " + in("none.onnx") + " -o " + in("x.mote"));
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_TRUE(contains(missing.err, "no such file")) << missing.err;
  EXPECT_TRUE(contains(mote("compile " + folder_.str() + " -o " + in("x.mote")).err, "found a folder"));
  fs::create_directories(in("saved"));
  write("saved/saved_model.pb", std::string("\x08\1", 2));
  EXPECT_TRUE(contains(mote("compile " + in("saved") + " -o " + in("x.mote")).err, "TFLiteConverter.from_saved_model"));
  write("saved/model.onnx", "");
  EXPECT_TRUE(contains(mote("compile " + in("saved") + " -o " + in("x.mote")).err, "in it is a model: " + in("saved/model.onnx")));
  fs::remove_all(in("saved"));
  EXPECT_TRUE(contains(mote("compile " + write("empty.onnx", "") + " -o " + in("x.mote")).err, "empty"));
  const Ran folder = mote("compile " + kDigits + " -o " + folder_.str());
  EXPECT_EQ(folder.exit_code, 1);
  EXPECT_TRUE(contains(folder.err, "found a folder")) << folder.err;
  EXPECT_TRUE(contains(mote("compile " + kDigits + " -o " + in("no/such/x.mote")).err, "does not exist"));
  const std::string copy = write("copy.onnx", cli_test::read_text(kDigits));
  const Ran itself = mote("compile " + copy + " -o " + copy);
  EXPECT_EQ(itself.exit_code, 2);
  EXPECT_TRUE(contains(itself.err, "overwrite")) << itself.err;
  EXPECT_EQ(cli_test::read_text(copy), cli_test::read_text(kDigits));
  EXPECT_EQ(files(), 2u);
}

TEST_F(CompileCli, AFullDiskLeavesNothingBehind) {
  // A limit on the size of files stands for the disk; without the trap the system would end the command.
  const std::string command = std::string("trap '' XFSZ; ulimit -f 8; ") + std::getenv("MOTE_COMMAND") + " compile " + kDigits + " -o " +
                              in("x.mote") + " >/dev/null 2>" + in("err");
  const int status = std::system(command.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_TRUE(contains(cli_test::read_text(in("err")), "cannot be written")) << cli_test::read_text(in("err"));
  EXPECT_EQ(files(), 1u) << "only the texts";
}

TEST_F(CompileCli, EveryProblemInATable) {
  const std::string broken = write("broken.onnx", "this is no model at all");
  const Ran r = mote("compile " + broken + " -o " + in("x.mote") + " --json");
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_TRUE(contains(r.err, "what to do")) << r.err;
  EXPECT_FALSE(r.json()["error"]["problems"].empty());
  EXPECT_TRUE(contains(mote("compile " + write("a.txt", "text") + " -o " + in("x.mote")).err,
                       "expected an ONNX, TFLite, torch.export, ExecuTorch or TOSA model"));
  EXPECT_FALSE(fs::exists(in("x.mote")));
}

TEST_F(CompileCli, SignaturesComeBeforeNamesAndNamesBeforeGuesses) {
  const auto error_of = [&](const std::string& name, const std::string& bytes) {
    return mote("compile " + write(name, bytes) + " -o " + in("x.mote")).err;
  };
  // A FlatBuffer whose root lies at byte 8 begins as an ONNX model does.
  const std::string tflite("\x08\0\0\0TFL3\0\0\0\0", 12);
  for (const char* name : {"a.bin", "a.onnx", "a.tflite"}) EXPECT_FALSE(contains(error_of(name, tflite), "ONNX")) << name;
  EXPECT_TRUE(contains(error_of("a.bin", std::string("\x08\7\x12\x7f", 4)), "is no ONNX model, or is damaged"));
  const std::string gguf = error_of("a.onnx", "GGUF\3");
  EXPECT_TRUE(contains(gguf, "found a GGUF file") && contains(gguf, "compile the PyTorch or ONNX model")) << gguf;
}

TEST_F(CompileCli, PassesCanBeListedPrintedAndTimed) {
  const Ran list = mote("compile --list-passes");
  ASSERT_EQ(list.exit_code, 0);
  const std::string first = list.out.substr(0, list.out.find('\n'));
  ASSERT_FALSE(first.empty());
  const Ran printed = mote("compile " + kDigits + " -o " + in("d.mote") + " --time-passes --print-after " + first);
  EXPECT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_TRUE(contains(printed.err, first)) << printed.err;
  EXPECT_TRUE(contains(printed.err, "conv")) << printed.err;
  // What follows the passes, too: most of the time may go there.
  std::vector<std::string> stages = {"import", "passes", "plan", "lower", "reference", "check", "write"};
  const bool fast = mote("validate --json --reference mote " + kDigits + " " + in("d.mote")).json()["kernels"][0]["kernels"] != "portable";
  if (fast) stages.push_back("kernels");
  const Ran json = mote("compile " + kDigits + " -o " + in("d.mote") + " --json");
  for (const std::string& stage : stages) {
    EXPECT_TRUE(contains(printed.err, "\n" + stage + " ")) << stage << "\n" << printed.err;
    EXPECT_TRUE(json.json()["stages_s"].contains(stage)) << stage;
  }
}

TEST_F(CompileCli, ValidateAgreesWithItsOwnReferenceAndFindsADifference) {
  ASSERT_EQ(mote("compile " + kDigits + " -o " + in("d.mote")).exit_code, 0);
  const Ran r = mote("validate " + kDigits + " " + in("d.mote") + " --reference mote");
  EXPECT_EQ(r.exit_code, 0) << r.out << r.err;
  EXPECT_TRUE(contains(r.out, "SQNR")) << r.out;
  const Json j = mote("validate " + kDigits + " " + in("d.mote") + " --reference mote --json --samples 2").json();
  EXPECT_TRUE(j["passed"]);
  EXPECT_EQ(j["samples"], 2);
  // Another model of the same shape is not this one.
  ASSERT_EQ(mote("compile " + kSeeds + "Abs.onnx -o " + in("abs.mote")).exit_code, 0);
  // Every set of kernels that this machine can run, the portable ones last.
  ASSERT_FALSE(j["kernels"].empty());
  EXPECT_EQ(j["kernels"].back()["kernels"], "portable");
  EXPECT_EQ(j["kernels"][1]["threads"], 2);
  for (const Json& set : j["kernels"]) EXPECT_TRUE(set["passed"] == true && set["samples"] == 2) << set;
  EXPECT_TRUE(j["kernel_differences"].empty());
  const Ran wrong = mote("validate " + kSeeds + "Floor.onnx " + in("abs.mote") + " --reference mote --json");
  EXPECT_EQ(wrong.exit_code, 1) << wrong.out;
  EXPECT_FALSE(wrong.json()["passed"]);
  EXPECT_FALSE(wrong.json()["notes"].empty()) << "another source file";
  EXPECT_EQ(mote("validate " + kDigits + " " + in("none.mote")).exit_code, 1);
  EXPECT_EQ(mote("validate " + kDigits + " " + in("d.mote") + " --reference nonsense").exit_code, 2);
  EXPECT_EQ(mote("validate " + kDigits + " " + in("d.mote") + " --input image=/no/such.npy").exit_code, 1);
}

// A program that is a little off, held against the model that it is not.
TEST_F(CompileCli, ValidateJudgesByToleranceAndRatio) {
  const auto model = [&](const std::string& name, float added, float factor, bool quantized) {
    namespace onnx = cli_test::onnx;
    const std::string from = quantized ? "q" : "x";
    const std::string codes = onnx::node("QuantizeLinear", "Quantize", {"x", "scale"}, "codes") +
                              onnx::node("DequantizeLinear", "Dequantize", {"codes", "scale"}, "q") + onnx::constant("scale", {}, {0.01f});
    return write(name, onnx::model((quantized ? codes : "") + onnx::node("Mul", "Mul", {from, "factor"}, "scaled") +
                                   onnx::node("Add", "Add", {"scaled", "added"}, "y") + onnx::constant("factor", {1}, {factor}) +
                                   onnx::constant("added", {1}, {added}) + onnx::input("x", {1, 4000}) + onnx::output("y", {1, 4000})));
  };
  const struct {
    bool quantized;
    float added, factor;
    const char* options;
    bool right;
  } cases[] = {
      {false, 0.01f, 1, "", false},  // 1 % off: 35 dB
      {false, 0.01f, 1, "--tolerance 0.02", true},
      {false, 0.01f, 1, "--tolerance 0.005", false},
      {false, 0.01f, 1, "--sqnr 30", true},
      {false, 0.01f, 1, "--sqnr 40", false},
      {false, 0.01f, 1, "--tolerance 0.005 --sqnr 30", true},
      {false, 3e-7f, 1e-6f, "", true},  // 30 % of what is next to nothing
      {false, 3e-7f, 1e-6f, "--tolerance 1e-4", false},
      {true, 0.01f, 1, "", true},  // 30 dB are enough
      {true, 0.01f, 1, "--tolerance 1e-4", false},
      {true, 0.01f, 1, "--tolerance 1e-4 --sqnr 30", true},
      {true, 0.01f, 1, "--sqnr 0", false},
  };
  for (const auto& c : cases) {
    const std::string meant = model("meant.onnx", 0, c.factor, c.quantized), other = model("other.onnx", c.added, c.factor, c.quantized);
    ASSERT_EQ(mote("compile " + other + " -o " + in("other.mote")).exit_code, 0);
    const Ran r = mote("validate " + meant + " " + in("other.mote") + " --reference mote " + c.options);
    EXPECT_EQ(r.exit_code == 0, c.right) << c.quantized << " " << c.options << "\n" << r.out;
    EXPECT_TRUE(contains(r.out, "right where: ")) << r.out;
  }
}

TEST_F(CompileCli, ValidateKeepsTheOptionsOfTheProgram) {
  ASSERT_EQ(mote("compile " + kSeeds + "Relu.onnx -o " + in("r.mote") + " --no-optimize --shape x=2x3").exit_code, 0);
  EXPECT_EQ(mote("inspect --json " + in("r.mote")).json()["evidence"]["options"], "--shape x=2x3 --no-optimize");
  EXPECT_EQ(mote("validate " + kSeeds + "Relu.onnx " + in("r.mote") + " --reference mote").exit_code, 0);
}

TEST_F(CompileCli, DiffShowsSizeOperatorsAndNumbers) {
  ASSERT_EQ(mote("compile " + kDigits + " -o " + in("a.mote")).exit_code, 0);
  ASSERT_EQ(mote("compile " + kDigits + " -o " + in("b.mote") + " --no-optimize --no-fuse").exit_code, 0);
  const Ran r = mote("diff " + in("a.mote") + " " + in("b.mote"));
  ASSERT_EQ(r.exit_code, 0) << r.err;
  for (const char* part : {"arena", "instructions", "operators that differ", "probabilities"}) EXPECT_TRUE(contains(r.out, part)) << r.out;
  const Json same = mote("diff --json " + in("a.mote") + " " + in("a.mote")).json();
  EXPECT_TRUE(same["outputs"][0]["identical"]);
  EXPECT_EQ(same["figures"]["file_bytes"][0], same["figures"]["file_bytes"][1]);
  ASSERT_EQ(mote("compile " + kSeeds + "Relu.onnx -o " + in("r.mote")).exit_code, 0);
  EXPECT_EQ(mote("diff --json " + in("a.mote") + " " + in("r.mote")).json()["numbers_skipped"], "inputs or outputs differ");
  EXPECT_EQ(mote("diff " + in("a.mote") + " " + in("none.mote")).exit_code, 1);
}

TEST_F(CompileCli, ProfileNamesTheModelsNodes) {
  ASSERT_EQ(mote("compile " + kDigits + " -o " + in("d.mote")).exit_code, 0);
  const Ran r = mote("profile " + in("d.mote") + " --runs 3 --trace " + in("t.json"));
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_TRUE(contains(r.out, "node_conv2d")) << r.out;
  const Json trace = Json::parse(cli_test::read_text(in("t.json")), nullptr, false);
  ASSERT_FALSE(trace.is_discarded());
  EXPECT_EQ(trace["traceEvents"].size() % 3, 0u);
  EXPECT_EQ(trace["traceEvents"][0]["ph"], "X");
  EXPECT_EQ(mote("profile --json " + in("d.mote")).json()["runs"], 10);
}

}  // namespace
}  // namespace mote::tools
