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
