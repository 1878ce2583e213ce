// mote compile --quantize as a user runs it.

#include <filesystem>

#include "mote/tools/npy.h"
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
  for (const char* part :
       {"<svg", "Before and after", "Sizes", "Worst operators", "weights f32", "<th class=s>", "<wbr>", "histogram", "int8", "</html>"})
    EXPECT_TRUE(contains(text, part)) << part;
  EXPECT_FALSE(contains(text, "src=")) << "the page must hold everything";
  const std::string validate = "validate " + kFolder + "digits.onnx " + in("q.mote") + " --calibrate ";
  const Ran again = mote(validate + data());
  EXPECT_EQ(again.exit_code, 0) << again.out << again.err;
  EXPECT_TRUE(contains(again.out, "--no-equalise")) << again.out;
  // Sizes of the float model, compiled in the same way, beside those of this program.
  const Ran plain = mote("compile " + kFolder + "digits.onnx -o " + in("plain.mote") + " --json");
  const auto cells = [&](const std::string& row) {
    const size_t at = text.find("<td>" + row + "<td class=n>");
    EXPECT_NE(at, std::string::npos) << row;
    return text.substr(at, text.find("</tr>", at) - at);
  };
  char memory[32];
  std::snprintf(memory, sizeof memory, "<td class=n>%llu B<td class=n>",
                static_cast<unsigned long long>(plain.json()["peak_bytes"].get<uint64_t>()));
  EXPECT_TRUE(contains(cells("memory of a run"), memory)) << cells("memory of a run") << " " << memory;
  for (const char* row : {"weights of operators", "file", "memory of a run"}) {
    EXPECT_FALSE(contains(cells(row), "<td class=n><td")) << cells(row);
    EXPECT_TRUE(contains(cells(row), " %)")) << cells(row);
  }
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
      {"--quantize int8-weights --report page.pdf", "ends with .html or .json"},
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

TEST_F(QuantizeCli, LabelsMustBeAsManyAsSamples) {
  const auto truth = [&](const std::string& text) {
    std::string error;
    EXPECT_TRUE(write_whole_file(in("truth.txt"), {text.begin(), text.end()}, &error)) << error;
    return compile("--quantize int8 --calibrate " + data() + " --test " + data() + " --truth " + in("truth.txt"));
  };
  EXPECT_EQ(truth("7\n").exit_code, 0);
  const Ran more = truth("7\n3\n1\n");
  EXPECT_EQ(more.exit_code, 1);
  EXPECT_TRUE(contains(more.err, "expected 1 labels, one for each sample in") && contains(more.err, "found 3")) << more.err;
  EXPECT_EQ(truth("").exit_code, 1);
  const Ran weights = compile("--quantize int8-weights --test " + data() + " --truth " + in("truth.txt"));
  EXPECT_EQ(weights.exit_code, 1) << "the schemes without calibration judge the same way";
  // A label that is right for no sample: the program is written, and the doubt is said.
  const Ran wrong = truth("3\n");
  ASSERT_EQ(wrong.exit_code, 0) << wrong.err;
  EXPECT_TRUE(contains(wrong.err, "the right class for none of 1 samples")) << wrong.err;
  // What the program's evidence is compared with is judged, too.
  EXPECT_EQ(truth("7\n").exit_code, 0);
  const std::string more_labels = "7\n3\n";
  std::string error;
  ASSERT_TRUE(write_whole_file(in("truth.txt"), {more_labels.begin(), more_labels.end()}, &error));
  const Ran validated = mote("validate " + kFolder + "digits.onnx " + in("q.mote") + " --test " + data() + " --truth " + in("truth.txt"));
  EXPECT_EQ(validated.exit_code, 1);
  EXPECT_TRUE(contains(validated.err, "expected 1 labels")) << validated.err;
}

TEST_F(QuantizeCli, SaysThatNothingIsInEightBits) {
  const std::string everywhere = "--quantize int8 --int8-everywhere --calibrate " + data();
  const Ran all = compile(everywhere + " --json");
  ASSERT_EQ(all.exit_code, 0) << all.err;
  EXPECT_FALSE(contains(all.err, "operator in float")) << all.err;
  std::string keep;
  const Json j = all.json();
  for (const Json& op : j["quantization"]["ops"]) keep += " --keep-float '" + op["name"].get<std::string>() + "'";
  const Ran none = compile(everywhere + keep);
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_TRUE(contains(none.err, "nothing to quantize")) << none.err;
  // A product so small that the cost model leaves it in float: a program is made, and it is the float one.
  NpyArray x;
  x.dtype = DType::f32;
  x.dims = {2, 4};
  x.data = api_test::bytes_of(std::vector<float>{1, 2, 3, 4, -1, 0.5f, 0, 2});
  std::string error;
  ASSERT_TRUE(write_npy(in("x.npy"), x, &error)) << error;
  const std::string tiny = "compile " + std::string(MOTE_SOURCE_DIR) + "/tests/fuzz_models/corpus/onnx/Gemm.onnx -o " + in("g.mote") +
                           " --quantize int8 --calibrate " + in("x.npy");
  const Ran small = mote(tiny);
  ASSERT_EQ(small.exit_code, 0) << small.err;
  EXPECT_TRUE(contains(small.err, "left every operator in float")) << small.err;
  EXPECT_FALSE(contains(mote(tiny + " --int8-everywhere").err, "operator in float"));
}

TEST_F(QuantizeCli, EightBitInputsAndOutputs) {
  const Ran r = compile("--quantize int8 --int8-everywhere --io int8 --calibrate " + data());
  ASSERT_EQ(r.exit_code, 0) << r.err;
  const Json io = mote("inspect --json " + in("q.mote")).json()["methods"][0];
  for (const char* way : {"inputs", "outputs"}) {
    EXPECT_EQ(io[way][0]["dtype"], "s8");
    EXPECT_GT(io[way][0]["quantization"]["scale"], 0.0);
  }
  EXPECT_EQ(mote("selftest " + in("q.mote")).exit_code, 0);
  const std::string validate = "validate " + kFolder + "digits.onnx " + in("q.mote");
  const Ran plain = mote(validate + " --reference mote --sqnr 10 --input image=" + kFolder + "input_7.npy");
  EXPECT_EQ(plain.exit_code, 0) << plain.out << plain.err;
  EXPECT_EQ(mote(validate + " --calibrate " + data()).exit_code, 0);
  EXPECT_EQ(mote(validate + " --test " + data()).exit_code, 0);
  // The header of emitted C++ tells what the numbers stand for.
  const Ran cpp = mote("compile " + kFolder + "digits.onnx -o " + in("digits") +
                       " --emit cpp --quantize int8 --int8-everywhere --io int8 --calibrate " + data());
  ASSERT_EQ(cpp.exit_code, 0) << cpp.err;
  const std::string header = cli_test::read_text(in("digits.h"));
  for (const char* part : {"const int8_t* image", "int8_t* probabilities",
                           "constexpr float image_scale = ", "constexpr int image_zero_point = ", "constexpr float probabilities_scale = "})
    EXPECT_TRUE(contains(header, part)) << part << "\n" << header;
  EXPECT_EQ(compile("--io int8").exit_code, 1) << "a float model";
  EXPECT_EQ(compile("--io int8 --quantize int8-weights").exit_code, 2);
}

}  // namespace
}  // namespace mote::tools
