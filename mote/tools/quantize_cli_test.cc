// mote compile --quantize as a user runs it.

#include <filesystem>

#include "mote/tools/testing/cli.h"

namespace mote::tools {
namespace {

namespace fs = std::filesystem;
using api_test::TempPath;
using cli_test::contains;
using cli_test::Json;
using cli_test::mote;
using cli_test::Ran;

const std::string kFolder = std::string(MOTE_SOURCE_DIR) + "/examples/digits/";

class QuantizeCli : public ::testing::Test {
 protected:
  QuantizeCli() {
    fs::create_directories(folder_.str());
    fs::create_directories(data());
    fs::copy_file(kFolder + "input_7.npy", data() + "/7.npy");
  }
  std::string in(const std::string& name) const { return folder_.str() + "/" + name; }
  std::string data() const { return in("data"); }
  Ran compile(const std::string& options) const { return mote("compile " + kFolder + "digits.onnx -o " + in("q.mote") + " " + options); }

  const TempPath folder_{"quantize_cli"};
};

TEST_F(QuantizeCli, MakesAProgramWithItsProof) {
  const Ran r = compile("--quantize int8 --calibrate " + data());
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_TRUE(contains(r.out, "SQNR dB")) << r.out;
  EXPECT_TRUE(contains(r.err, "are few")) << r.err;
  EXPECT_EQ(mote("selftest " + in("q.mote")).exit_code, 0);
  const Ran seven = mote("run " + in("q.mote") + " --input image=" + kFolder + "input_7.npy --top 1 --json");
  ASSERT_EQ(seven.exit_code, 0) << seven.err;
  EXPECT_EQ(seven.json()["outputs"][0]["top"][0]["index"], 7);
  const Ran proof = mote("inspect --quant " + in("q.mote"));
  for (const char* part : {"calibration.sha256", "observer", "sqnr_db", "int8"})
    EXPECT_TRUE(contains(proof.out, part)) << part << proof.out;
}

TEST_F(QuantizeCli, MeasuresAccuracyAndKeepsToTheBudget) {
  fs::create_directories(folder_.str());
  std::string error;
  const std::string right = "7\n";
  ASSERT_TRUE(write_whole_file(in("right.txt"), {right.begin(), right.end()}, &error)) << error;
  const std::string all = "--quantize int8 --calibrate " + data() + " --test " + data() + " --truth " + in("right.txt");
  const Ran r = compile(all + " --max-drop 0 --json");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  const Json j = r.json()["quantization"];
  EXPECT_EQ(j["outputs"][0]["accuracy"], 1);
  EXPECT_FALSE(j["ops"].empty());
  fs::remove(in("q.mote"));
  const Ran refused = compile(all + " --min-sqnr 200");
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_TRUE(contains(refused.err, "--min-sqnr")) << refused.err;
  EXPECT_FALSE(fs::exists(in("q.mote")));
}

TEST_F(QuantizeCli, ProofIsComputedAgainAndShownOnAPage) {
  const Ran r = compile("--quantize int8 --no-equalise --calibrate " + data() + " --report " + in("page.html"));
  ASSERT_EQ(r.exit_code, 0) << r.err;
  std::vector<uint8_t> page;
  std::string error;
  ASSERT_TRUE(read_whole_file(in("page.html"), &page, &error)) << error;
  const std::string text(page.begin(), page.end());
  for (const char* part : {"<svg", "Before and after", "histogram", "int8", "</html>"}) EXPECT_TRUE(contains(text, part)) << part;
  EXPECT_FALSE(contains(text, "src=")) << "the page must hold everything";
  const std::string validate = "validate " + kFolder + "digits.onnx " + in("q.mote") + " --calibrate ";
  const Ran again = mote(validate + data());
  EXPECT_EQ(again.exit_code, 0) << again.out << again.err;
  EXPECT_TRUE(contains(again.out, "--no-equalise")) << again.out;
  // Other data than the evidence speaks of.
  fs::create_directories(in("other"));
  fs::copy_file(kFolder + "input_7.npy", in("other/a.npy"));
  fs::copy_file(kFolder + "input_7.npy", in("other/b.npy"));
  const Ran other = mote(validate + in("other"));
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_TRUE(contains(other.out, "DIFFERS")) << other.out;
}

TEST_F(QuantizeCli, SmallWeightsBecomeSource) {
  for (const char* scheme : {"int8-weights", "int4-weights", "fp16-weights"}) {
    const Ran r = mote("compile " + kFolder + "digits.onnx -o " + in("digits") + " --emit cpp --quantize " + scheme);
    EXPECT_EQ(r.exit_code, 0) << scheme << r.err;
  }
}

TEST_F(QuantizeCli, EverySchemeMakesAProgramThatRuns) {
  struct Case {
    const char *options, *scheme, *precision;
    bool data;
  };
  const Case cases[] = {
      {"int8 --int8-everywhere", "int8", "int8", true},
      {"int8 --int8-everywhere --symmetric --smooth 0 --fixed-point --no-weight-pairs", "int8 symmetric", "int8", true},
      {"int8 --int8-everywhere --observer percentile --percentile 99.9", "int8", "int8", true},
      {"int16x8", "int16x8", "int16x8", true},
      {"int8-dynamic", "int8-dynamic", "int8 dynamic", false},
      {"int8-dynamic --smooth 0.8", "int8-dynamic", "int8 dynamic", true},
      {"int8-weights", "int8-weights", "int8 weights", false},
      {"int4-weights", "int4-weights group 32 symmetric", "int4 weights", false},
      {"int4-weights --group 64", "int4-weights group 64 symmetric", "int4 weights", true},
      {"int4-weights --group 128 --asymmetric", "int4-weights group 128 asymmetric", "int4 weights", false},
      {"fp16-weights", "fp16-weights", "f16 weights", false},
      {"bf16-weights", "bf16-weights", "bf16 weights", false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.options);
    const Ran r = compile(std::string("--quantize ") + c.options + (c.data ? " --calibrate " + data() : ""));
    ASSERT_EQ(r.exit_code, 0) << r.err;
    EXPECT_EQ(mote("selftest " + in("q.mote")).exit_code, 0);
    const Ran seven = mote("run " + in("q.mote") + " --input image=" + kFolder + "input_7.npy --top 1 --json");
    ASSERT_EQ(seven.exit_code, 0) << seven.err;
    EXPECT_EQ(seven.json()["outputs"][0]["top"][0]["index"], 7);
    const std::string proof = mote("inspect --quant " + in("q.mote")).out;
    EXPECT_TRUE(contains(proof, c.scheme) && contains(proof, c.precision)) << proof;
  }
}

TEST_F(QuantizeCli, RefusesOptionsThatDoNotBelongTogether) {
  const std::string with = "--calibrate " + data() + " ";
  const std::pair<std::string, std::string> cases[] = {
      {with, "--calibrate belongs to --quantize SCHEME"},
      {"--max-drop 1", "--max-drop belongs to"},
      {with + "--quantize int8 --group 64", "--group belongs to --quantize int4-weights, found int8"},
      {with + "--quantize int8-dynamic --asymmetric", "--asymmetric belongs to --quantize int4-weights, found int8-dynamic"},
      {"--quantize int4-weights --observer mse", "--observer belongs to --quantize int8 or int16x8, found int4-weights"},
      {"--quantize fp16-weights --smooth 0.3", "--smooth belongs to"},
      {"--quantize int8-weights --report page.html", "--report belongs to"},
      {"--quantize int8-weights --min-sqnr 20", "a budget needs inputs"},
      {with + "--quantize int8 --percentile 99", "--percentile belongs to --observer percentile"},
      {with + "--quantize int8 --max-drop 1", "--truth FILE"},
      {with + "--quantize int8 --group 48", "48"},
      {with + "--quantize int8 --smooth 2", "--smooth"},
      {with + "--quantize int8 --observer best", "best"},
      {with + "--quantize int3", "int3"},
  };
  for (const auto& [options, text] : cases) {
    const Ran r = compile(options);
    EXPECT_EQ(r.exit_code, 2) << options;
    EXPECT_TRUE(contains(r.err, text.c_str())) << options << ": " << r.err;
  }
}

TEST_F(QuantizeCli, SaysWhatIsMissing) {
  EXPECT_EQ(compile("--quantize int8").exit_code, 2);
  EXPECT_EQ(compile("--quantize int7 --calibrate " + data()).exit_code, 2);
  EXPECT_EQ(compile("--quantize int8 --calibrate " + in("nowhere")).exit_code, 1);
  EXPECT_EQ(compile("--quantize int8 --calibrate " + data() + " --truth x.npy").exit_code, 2);
  EXPECT_EQ(compile("--quantize int8 --calibrate " + data() + " --max-drop 1").exit_code, 2);
  EXPECT_EQ(compile("--no-fuse --quantize int8 --calibrate " + data()).exit_code, 1);
  fs::remove(data() + "/7.npy");
  EXPECT_EQ(compile("--quantize int8 --calibrate " + data()).exit_code, 1);
}

}  // namespace
}  // namespace mote::tools
