// The `mote` command as a user runs it: exit codes, texts, JSON, files.

#include <gtest/gtest.h>

#include <cctype>
#include <cstdio>
#include <cstdlib>

#include "mote/api/testing/programs.h"
#include "mote/tools/npy.h"
#include "mote/tools/testing/cli.h"

namespace mote::tools {
namespace {

using api_test::TempPath;
using cli_test::contains;
using cli_test::Json;
using cli_test::mote;
using cli_test::Ran;

NpyArray floats(const std::vector<int64_t>& dims, const std::vector<float>& values) {
  NpyArray a;
  a.dtype = DType::f32;
  a.dims = dims;
  a.data = api_test::bytes_of(values);
  return a;
}

class Cli : public ::testing::Test {
 protected:
  std::string save(const std::string& name, const NpyArray& array) {
    std::string error;
    EXPECT_TRUE(write_npy(name, array, &error)) << error;
    return name;
  }
  const emit::FileBytes file_ = api_test::add_relu();
  const TempPath program_{"cli.mote", file_.span()};
  const emit::FileBytes dynamic_file_ = api_test::dynamic_relu();
  const TempPath dynamic_{"cli_dynamic.mote", dynamic_file_.span()};
  const TempPath input_{"in.npy"};
  const TempPath folder_{"cli_outputs"};
};

TEST_F(Cli, HelpAndUsage) {
  EXPECT_EQ(mote("--help").exit_code, 0);
  EXPECT_TRUE(contains(mote("--help").out, "selftest"));
  EXPECT_EQ(mote("--version").exit_code, 0);
  for (const char* c : {"compile", "run", "bench", "inspect", "profile", "measure", "verify", "validate", "diff", "selftest", "ops",
                        "explain", "completion"})
    EXPECT_EQ(mote(std::string(c) + " --help").exit_code, 0) << c;
  EXPECT_EQ(mote("").exit_code, 2);
  EXPECT_EQ(mote("frobnicate").exit_code, 2);
  EXPECT_EQ(mote("run").exit_code, 2);
  EXPECT_EQ(mote("run x.mote --no-such-option").exit_code, 2);
  EXPECT_TRUE(contains(mote("inspect").err, "mote inspect --help"));
  EXPECT_TRUE(contains(mote("package inspect").err, "mote package inspect --help"));
}

TEST_F(Cli, WordsThatAreNearlyRightAreNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"complie x.onnx", "did you mean 'compile'?"},
      {"fleet stauts", "did you mean"},
      {"fleet --dir compile stauts", "did you mean"},  // the option's value is no command
      {"run x.mote --inptu a.npy", "did you mean '--input'?"},
      {"compile x.onnx --quantise int8", "did you mean '--quantize'?"},
      {"compile x.onnx -o y.mote --emit cp", "did you mean 'cpp'?"},
      {"ops sofmax", "did you mean 'softmax'?"},
      {"compile x.onnx -o y.mote --print-after fold-constant", "no pass is called"},
  };
  for (const auto& [words, text] : cases) {
    if (std::string(words).compare(0, 5, "fleet") == 0 && mote("fleet --help").exit_code != 0) continue;  // a build without it
    const Ran r = mote(words);
    EXPECT_NE(r.exit_code, 0) << words;
    EXPECT_TRUE(contains(r.err, text)) << words << ": " << r.err;
  }
  EXPECT_FALSE(contains(mote("frobnicate").err, "did you mean"));
  EXPECT_EQ(mote("frobnicate").exit_code, 2);
}

TEST_F(Cli, LimitsAreShortNumbers) {
  const Ran r = mote("compile x.onnx -o y.mote --min-sqnr=-1");
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_TRUE(contains(r.err, "--min-sqnr")) << r.err;
  for (const char* c : {"compile", "run", "bench", "profile", "validate", "measure", "selftest"}) {
    const std::string help = mote(std::string(c) + " --help").out;
    EXPECT_EQ(help.find("00000000000000000000"), std::string::npos) << c;
  }
  EXPECT_LT(r.err.size(), 200u) << r.err;
}

// The text of an option in the help of a command, with single spaces.
std::string help_of(const std::string& command, const std::string& option) {
  const std::string help = mote(command + " --help").out;
  const size_t begin = help.find("\n  " + option);
  if (begin == std::string::npos) return "";
  size_t end = help.find('\n', begin + 1);
  while (end != std::string::npos && help.compare(end, 4, "\n   ") == 0) end = help.find('\n', end + 1);
  std::string text;
  for (const char c : help.substr(begin, end - begin))
    if (!std::isspace(static_cast<unsigned char>(c))) text += c;
    else if (!text.empty() && text.back() != ' ') text += ' ';
  return text;
}

TEST_F(Cli, CommandsThatRunProgramsShareTheirOptions) {
  for (const char* option : {"FILE", "--threads", "--kernels", "--backend", "--weights", "--memory-limit", "--json"}) {
    const std::string text = help_of("run", option);
    EXPECT_NE(text, "") << option;
    for (const char* command : {"bench", "profile", "selftest"}) EXPECT_EQ(help_of(command, option), text) << command << ' ' << option;
  }
  EXPECT_EQ(help_of("bench", "-i"), help_of("profile", "-i"));
  EXPECT_EQ(help_of("bench", "--method"), help_of("run", "--method"));
  // One byte of memory is too little for any of them.
  save(input_.str(), floats({4}, {-3, -1, 0, 2}));
  for (const std::string& command : {"run -i " + input_.str(), std::string("bench"), std::string("profile")}) {
    const Ran r = mote(command + " --memory-limit 1 " + program_.str());
    EXPECT_EQ(r.exit_code, 1) << command;
    EXPECT_TRUE(contains(r.err, "limit")) << command << ": " << r.err;
  }
}

TEST_F(Cli, CompileNamesEveryKindOfModel) {
  const std::string text = help_of("compile", "MODEL");
  for (const char* ending : {".onnx", ".tflite", ".pt2"}) EXPECT_TRUE(contains(text, ending)) << text;
}

TEST_F(Cli, TheVersionSaysWhichKernelsThereAre) {
  const std::string text = mote("--version").out;
  EXPECT_EQ(text.compare(0, 5, "mote "), 0);
  EXPECT_TRUE(contains(text, "\nkernels: portable")) << text;
}

TEST_F(Cli, RunWritesOneFilePerOutput) {
  save(input_.str(), floats({4}, {-3, -1, 0, 2}));
  const Ran r = mote("run " + program_.str() + " --input x=" + input_.str() + " --output " + folder_.str());
  ASSERT_EQ(r.exit_code, 0) << r.err;
  NpyArray y;
  std::string error;
  ASSERT_TRUE(read_npy(folder_.str() + "/y.npy", &y, &error)) << error;
  EXPECT_EQ(y.dims, std::vector<int64_t>{4});
  EXPECT_EQ(y.data, api_test::bytes_of(std::vector<float>{0, 0, 1, 3}));
}

TEST_F(Cli, RunJsonAndTop) {
  save(input_.str(), floats({4}, {-3, -1, 0, 2}));
  const Ran r = mote("run " + program_.str() + " --input " + input_.str() + " --top 2 --json");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  const Json j = r.json();
  EXPECT_EQ(j["outputs"][0]["name"], "y");
  EXPECT_EQ(j["outputs"][0]["values"], Json({0.0, 0.0, 1.0, 3.0}));
  EXPECT_EQ(j["outputs"][0]["top"][0]["index"], 3);
  EXPECT_EQ(j["outputs"][0]["top"][0]["label"], "d");
  EXPECT_TRUE(contains(mote("run " + program_.str() + " -i " + input_.str() + " --top 1").out, "d"));
}

TEST_F(Cli, RunTakesDynamicSizesFromTheFile) {
  save(input_.str(), floats({3, 2}, {-1, 2, 3, -4, 5, 6}));
  const Ran r = mote("run " + dynamic_.str() + " --input x=" + input_.str() + " --json");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(r.json()["outputs"][0]["dims"], Json({3, 2}));
  save(input_.str(), floats({9, 2}, std::vector<float>(18)));
  const Ran large = mote("run " + dynamic_.str() + " --input x=" + input_.str());
  EXPECT_EQ(large.exit_code, 1);
  EXPECT_TRUE(contains(large.err, "expected f32 (<=8, 2), found f32 (9, 2)")) << large.err;
}

TEST_F(Cli, RunNamesWhatDoesNotFit) {
  save(input_.str(), floats({4}, {0, 0, 0, 0}));
  const Ran unknown = mote("run " + program_.str() + " --input z=" + input_.str());
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_TRUE(contains(unknown.err, "expected one of x, found 'z'")) << unknown.err;
  const Ran missing = mote("run " + program_.str());
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_TRUE(contains(missing.err, "input 'x' is missing")) << missing.err;
  NpyArray wrong = floats({2}, {0, 0, 0, 0});
  wrong.dtype = DType::f64;
  save(input_.str(), wrong);
  const Ran type = mote("run " + program_.str() + " --input x=" + input_.str());
  EXPECT_EQ(type.exit_code, 1);
  EXPECT_TRUE(contains(type.err, "expected f32 (4), found f64 (2)")) << type.err;
  const Ran method = mote("run " + program_.str() + " --method none");
  EXPECT_EQ(method.exit_code, 1);
  EXPECT_TRUE(contains(method.err, "expected one of main, twice, found 'none'")) << method.err;
  const Ran npy = mote("run " + program_.str() + " --input x=" + program_.str());
  EXPECT_EQ(npy.exit_code, 1);
  EXPECT_TRUE(contains(npy.err, "not a .npy file")) << npy.err;
  EXPECT_EQ(mote("run " + program_.str() + " --input x=" + input_.str() + " --top 0").exit_code, 2);
}

TEST_F(Cli, FailuresAreJsonToo) {
  const Ran r = mote("inspect /no/such/file.mote --json");
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_EQ(r.json()["error"]["why"], "FileOpen");
  EXPECT_TRUE(contains(r.err, "mote: /no/such/file.mote: "));
  EXPECT_TRUE(contains(mote("verify " + input_.str() + "_missing").err, "mote explain FileOpen"));
}

TEST_F(Cli, VerifyFullFindsAChangedBit) {
  EXPECT_EQ(mote("verify --full " + program_.str()).exit_code, 0);
  EXPECT_TRUE(mote("verify " + program_.str() + " --json").json()["ok"]);
  emit::FileBytes damaged = file_;
  damaged.data()[damaged.size - 1] ^= 1;
  const TempPath path("damaged.mote", damaged.span());
  EXPECT_EQ(mote("verify " + path.str()).exit_code, 0);
  const Ran r = mote("verify --full " + path.str());
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_TRUE(contains(r.err, "not those that were written")) << r.err;
  const TempPath cut("cut.mote", {file_.data(), 64});
  EXPECT_EQ(mote("verify " + cut.str()).exit_code, 1);
}

TEST_F(Cli, SelftestComparesGoldenData) {
  const Ran r = mote("selftest " + program_.str());
  EXPECT_EQ(r.exit_code, 0) << r.out << r.err;
  EXPECT_TRUE(contains(r.out, "1 of 1 outputs as expected")) << r.out;
  EXPECT_TRUE(mote("selftest --json " + program_.str()).json()["passed"]);
  EXPECT_EQ(mote("selftest " + dynamic_.str()).exit_code, 1);
  // Wrong golden data: the last bytes of the file are the expected outputs.
  emit::FileBytes wrong = file_;
  std::memset(wrong.data() + wrong.size - 4, 0x40, 4);
  const TempPath path("wrong.mote", wrong.span());
  const Ran bad = mote("selftest --json " + path.str());
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_FALSE(bad.json()["passed"]) << bad.out;
}

TEST_F(Cli, InspectShowsEverything) {
  const Ran r = mote("inspect --ops " + program_.str());
  ASSERT_EQ(r.exit_code, 0) << r.err;
  for (const char* part : {"Inputs and outputs", "Certificate", "Memory banks", "Segments", "Operators", "mote::relu", "Evidence",
                           "api test", "Instructions", "scale 0.5, zero point 3"})
    EXPECT_TRUE(contains(r.out, part)) << part << "\n" << r.out;
  const Json j = mote("inspect --json --ops " + program_.str()).json();
  EXPECT_EQ(j["methods"][0]["inputs"][0]["dims"], Json({4}));
  EXPECT_EQ(j["methods"][0]["inputs"][0]["quantization"]["zero_point"], 3);
  EXPECT_EQ(j["ops"]["mote::add"], 2);
  EXPECT_EQ(j["certificate"]["steps_bound"], 2);
  EXPECT_EQ(j["instructions"].size(), 3u);
  EXPECT_EQ(j["evidence"]["producer"], "api test");
  EXPECT_EQ(j["segments"][0]["sha256"].get<std::string>().size(), 64u);
}

TEST_F(Cli, BenchMeasures) {
  const Json j = mote("bench --runs 50 --json " + program_.str()).json();
  for (const char* key : {"load_us", "first_us", "p50_us", "p90_us", "p99_us", "max_us", "runs", "threads", "peak_rss_bytes",
                          "anonymous_bytes", "arena_bytes", "file_bytes"})
    EXPECT_TRUE(j.contains(key) && j[key].is_number()) << key;
  EXPECT_EQ(j["runs"], 50);
  EXPECT_EQ(j["threads"], 1);
  EXPECT_EQ(j["file_bytes"], file_.size);
  EXPECT_LE(j["p50_us"], j["p99_us"]);
  EXPECT_LE(j["p99_us"], j["max_us"]);
  EXPECT_EQ(mote("bench --threads 2 --runs 3 " + program_.str()).exit_code, 0);
  EXPECT_EQ(mote("bench --threads 1000 " + program_.str()).exit_code, 1);
  EXPECT_TRUE(contains(mote("bench --threads 1000 " + program_.str()).err, "too many threads"));
  EXPECT_EQ(mote("bench --kernels portable --runs 3 " + program_.str()).exit_code, 0);
  EXPECT_TRUE(contains(mote("bench --kernels mmx " + program_.str()).err, "no kernels of that name"));
  EXPECT_EQ(mote("bench --deadline-us 10 " + program_.str()).exit_code, 2);
  EXPECT_EQ(mote("bench --runs 10 " + dynamic_.str()).exit_code, 0);
  EXPECT_TRUE(contains(mote("bench --runs 10 " + program_.str()).out, "p50"));
}

TEST_F(Cli, BenchKeepsAPeriod) {
  const Json j = mote("bench --period-us 2000 --deadline-us 1900 --duration 0.1 --json " + program_.str()).json();
  EXPECT_EQ(j["runs"], 50);
  EXPECT_TRUE(j["jitter_max_us"].is_number());
  EXPECT_TRUE(j["deadline_misses"].is_number());
  // Every run misses a deadline that no run can meet.
  const Json missed = mote("bench --period-us 2000 --deadline-us 0.001 --duration 0.02 --json " + program_.str()).json();
  EXPECT_GE(missed["deadline_misses"], missed["runs"]);
}

TEST_F(Cli, OpsAndExplain) {
  EXPECT_TRUE(contains(mote("ops").out, "softmax"));
  EXPECT_TRUE(contains(mote("ops softmax").out, "axis"));
  EXPECT_EQ(mote("ops mote::softmax --json").json()["attributes"][0]["name"], "axis");
  EXPECT_EQ(mote("ops nonsense").exit_code, 1);
  EXPECT_TRUE(contains(mote("ops --markdown").out, "## softmax"));
  EXPECT_TRUE(contains(mote("explain BankSize").out, "what to do"));
  EXPECT_EQ(mote("explain 200 --json").json()["explanations"][0]["name"], "BankSize");
  EXPECT_EQ(mote("explain nonsense").exit_code, 1);
}

TEST_F(Cli, CompletionScriptsNameEveryCommand) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const Ran r = mote(std::string("completion ") + shell);
    EXPECT_EQ(r.exit_code, 0);
    for (const char* part : {"run", "bench", "selftest", "measure", "period-us", "markdown", "target"})
      EXPECT_TRUE(contains(r.out, part)) << shell << " " << part;
  }
  EXPECT_EQ(mote("completion tcsh").exit_code, 2);
  const TempPath script("completion.sh");
  EXPECT_EQ(
      std::system((std::string(std::getenv("MOTE_COMMAND")) + " completion bash >" + script.str() + " && bash -n " + script.str()).c_str()),
      0);
}

TEST_F(Cli, AFullDiskIsAFailure) {
  if (std::FILE* full = std::fopen("/dev/full", "w")) std::fclose(full);
  else GTEST_SKIP() << "no /dev/full";
  const int status = std::system((std::string(std::getenv("MOTE_COMMAND")) + " ops >/dev/full 2>/dev/null").c_str());
  EXPECT_EQ(WEXITSTATUS(status), 1);
}

}  // namespace
}  // namespace mote::tools
