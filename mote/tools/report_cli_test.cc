// mote compile --report and mote inspect --report: the same facts as data and as a page, and that the figures are those of the program.

#include <filesystem>

#include "mote/compiler/driver/values.h"
#include "mote/tools/testing/cli.h"
#include "mote/tools/testing/onnx.h"

namespace mote::tools {
namespace {

namespace fs = std::filesystem;
using cli_test::contains;
using cli_test::Json;
using cli_test::mote;
using cli_test::Ran;

const std::string kSource = MOTE_SOURCE_DIR;
const std::string kDigits = kSource + "/examples/digits/digits.onnx";

class ReportCli : public ::testing::Test {
 protected:
  ReportCli() { fs::create_directories(folder_.str()); }
  std::string in(const std::string& name) const { return folder_.str() + "/" + name; }
  Json compile(const std::string& options) const {
    const Ran r = mote("compile " + kDigits + " -o " + in("d.mote") + " --report " + in("d.json") + " " + options);
    EXPECT_EQ(r.exit_code, 0) << r.err;
    return Json::parse(cli_test::read_text(in("d.json")), nullptr, false);
  }
  static std::string sha256(const std::string& path) {
    const std::string text = cli_test::read_text(path);
    return driver::sha256_hex({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  }

  const api_test::TempPath folder_{"report_cli"};
};

TEST_F(ReportCli, HoldsWhatWasCompiledAndComparedWithWhat) {
  const Json j = compile("--golden-examples 2");
  ASSERT_FALSE(j.is_discarded());
  EXPECT_EQ(j["schema"], "mote.report");
  EXPECT_EQ(j["version"], 1);
  EXPECT_EQ(j["program"]["sha256"], sha256(in("d.mote")));
  EXPECT_EQ(j["program"]["bytes"], fs::file_size(in("d.mote")));
  EXPECT_EQ(j["source"]["sha256"], sha256(kDigits));
  EXPECT_EQ(j["source"]["bytes"], fs::file_size(kDigits));
  size_t operators = 0;
  for (const Json& type : j["coverage"]["types"]) {
    operators += type["count"].get<size_t>();
    EXPECT_LE(type["without_instruction"], type["count"]) << type;
  }
  EXPECT_EQ(operators, j["coverage"]["operators"]);
  EXPECT_EQ(j["coverage"]["operators"], j["coverage"]["supported"]);
  ASSERT_EQ(j["parity"]["outputs"].size(), 2u);
  for (const Json& o : j["parity"]["outputs"]) {
    EXPECT_EQ(o["against"], "unoptimised");
    EXPECT_LE(o["largest_error"].get<double>(), o["tolerance"].get<double>() * o["largest_expected"].get<double>()) << o;
  }
  EXPECT_TRUE(j["parity"]["source_framework"].is_null());
  EXPECT_TRUE(contains(j["parity"]["not_compared"], "mote validate"));
  uint64_t macs = 0, most = 0;
  for (const Json& op : j["operators"]) macs += op["macs"].get<uint64_t>(), most = std::max(most, op["live_bytes"].get<uint64_t>());
  EXPECT_EQ(macs, j["macs"].get<uint64_t>());
  EXPECT_GT(most, 0u);
  EXPECT_LE(most, j["memory"]["arena_bytes"].get<uint64_t>());
  EXPECT_GE(j["memory"]["peak_bytes"], j["memory"]["lower_bound_bytes"]);
  uint64_t bytes = 0;
  for (const Json& part : j["size"]["parts"]) bytes += part["bytes"].get<uint64_t>();
  EXPECT_EQ(bytes, j["program"]["bytes"].get<uint64_t>());
}

TEST_F(ReportCli, WithGivenOutputsThoseAreTheReference) {
  const Json j = compile("--golden " + kSource + "/examples/digits/golden");
  ASSERT_FALSE(j["parity"]["outputs"].empty());
  EXPECT_EQ(j["parity"]["inputs"], "given");
  EXPECT_EQ(j["parity"]["outputs"][0]["against"], "given");
}

TEST_F(ReportCli, IntegerAccumulatorsAreBoundedAndErrorsMeasured) {
  const Json j = compile("--quantize int8 --int8-everywhere --no-equalise --calibrate " + kSource + "/examples/digits/golden");
  ASSERT_FALSE(j["accumulators"].empty());
  for (const Json& a : j["accumulators"]) {
    EXPECT_EQ(a["from"], "weights");
    EXPECT_TRUE(a["fits"].get<bool>()) << a;
    EXPECT_GT(a["bound"].get<uint64_t>(), 0u);
    EXPECT_LE(a["bound"].get<uint64_t>(), a["products"].get<uint64_t>() * 255 * 255 + (uint64_t{1} << 31)) << a;
    EXPECT_EQ(a["width_bits"], 32);
  }
  EXPECT_TRUE(j["quantization"]["by_mote"].get<bool>());
  EXPECT_FALSE(j["quantization"]["measured"]["ops"].empty());
  EXPECT_EQ(j["parity"]["outputs"][0]["against"], "nothing") << "the model is no reference for integers";
}

TEST_F(ReportCli, ThePageHoldsEverythingItShows) {
  const Ran r = mote("compile " + kDigits + " -o " + in("d.mote") + " --report " + in("d.html"));
  ASSERT_EQ(r.exit_code, 0) << r.err;
  const std::string page = cli_test::read_text(in("d.html"));
  for (const char* part : {"Coverage", "Parity", "Sizes", "Memory", "Placement", "Accumulators", "Slow paths", "Operators of the program",
                           "<svg", "prefers-color-scheme:dark", "mote validate MODEL PROGRAM", "</html>"})
    EXPECT_TRUE(contains(page, part)) << part;
  EXPECT_TRUE(contains(page, sha256(in("d.mote"))));
  for (const char* part : {"src=", "href=", "http:", "https:", "@import", "url("}) EXPECT_FALSE(contains(page, part)) << part;
}

TEST_F(ReportCli, InspectTellsTheSameOfTheFile) {
  const Json compiled = compile("");
  ASSERT_EQ(mote("inspect " + in("d.mote") + " --report " + in("i.json")).exit_code, 0);
  const Json inspected = Json::parse(cli_test::read_text(in("i.json")), nullptr, false);
  ASSERT_FALSE(inspected.is_discarded());
  for (const char* key :
       {"schema", "version", "program", "examples", "size", "segments", "quantization", "slow_paths", "accumulators", "operators", "ops"})
    EXPECT_EQ(inspected[key], compiled[key]) << key;
  EXPECT_TRUE(inspected["coverage"].is_null());
  EXPECT_TRUE(inspected["parity"].is_null());
  EXPECT_EQ(mote("inspect --json " + in("d.mote")).json()["size"], compiled["size"]);
}

TEST_F(ReportCli, NamesThatAreNoReportAreRefused) {
  for (const std::string& path : {in("d.pdf"), in("none/d.html"), in("d.mote")}) {
    const Ran r = mote("compile " + kDigits + " -o " + in("d.mote") + " --report " + path);
    EXPECT_NE(r.exit_code, 0) << path;
    EXPECT_FALSE(fs::exists(in("d.mote"))) << path;
  }
}

// What a model calls things must not become part of the page.
TEST_F(ReportCli, NamesAreText) {
  namespace onnx = cli_test::onnx;
  std::string error;
  const std::string model =
      onnx::model(onnx::input("x", {1, 4}) + onnx::node("Relu", "<script>alert(1)</script>", {"x"}, "y") + onnx::output("y", {1, 4}));
  ASSERT_TRUE(write_whole_file(in("m.onnx"), {model.begin(), model.end()}, &error)) << error;
  ASSERT_EQ(mote("compile " + in("m.onnx") + " -o " + in("m.mote") + " --report " + in("m.html")).exit_code, 0);
  EXPECT_FALSE(contains(cli_test::read_text(in("m.html")), "<script>alert"));
}

}  // namespace
}  // namespace mote::tools
