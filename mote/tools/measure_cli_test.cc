// mote measure and mote profile as a user runs them: what they print and write, and how they fail. No speed is asserted.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "mote/tools/testing/cli.h"

namespace mote::tools {
namespace {

using api_test::TempPath;
using cli_test::contains;
using cli_test::Json;
using cli_test::mote;
using cli_test::Ran;
using cli_test::read_text;

const std::string kDigits = std::string(MOTE_SOURCE_DIR) + "/examples/digits/digits.onnx";

class MeasureCli : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TempPath("measure_cli");
    std::filesystem::create_directories(folder_->str());
    ASSERT_EQ(mote("compile " + kDigits + " -o " + in("d.mote")).exit_code, 0);
    const Ran r = mote("measure --threads 2 -o " + in("t.toml") + " --json");
    ASSERT_EQ(r.exit_code, 0) << r.err;
    measured_ = new Json(r.json());
  }
  static void TearDownTestSuite() {
    std::filesystem::remove_all(folder_->str());
    delete measured_;
    delete folder_;
  }
  static std::string in(const std::string& name) { return folder_->str() + "/" + name; }
  static void write(const std::string& name, const std::string& text) { std::ofstream(in(name)) << text; }
  static TempPath* folder_;
  static Json* measured_;
};
TempPath* MeasureCli::folder_ = nullptr;
Json* MeasureCli::measured_ = nullptr;

TEST_F(MeasureCli, FiguresArePlausible) {
  const Json& j = *measured_;
  EXPECT_EQ(j["format"], 1);
  EXPECT_FALSE(j["machine"]["cpu"].get<std::string>().empty());
  EXPECT_GE(j["machine"]["cores"], 1);
  EXPECT_EQ(j["one_thread"]["threads"], 1);
  EXPECT_EQ(j["all_threads"]["threads"], 2);
  for (const char* part : {"one_thread", "all_threads"}) {
    EXPECT_GT(j[part]["f32_gflops"], 0.0);
    EXPECT_GT(j[part]["int8_gops"], 0.0);
    ASSERT_GE(j[part]["bandwidth"].size(), 1u);
    EXPECT_EQ(j[part]["bandwidth"].back()["level"], "memory");
    for (const Json& b : j[part]["bandwidth"])
      for (const char* way : {"read_gb_s", "write_gb_s", "copy_gb_s"}) EXPECT_GT(b[way], 0.0) << b;
  }
  EXPECT_GE(j["noise"], 1.0);
  EXPECT_GE(j["others_busy"], 0.0);
  EXPECT_GT(j["cost"]["call_ns"], 0.0);
  EXPECT_GT(j["cost"]["handoff_awake_us"], 0.0);
  EXPECT_GT(j["cost"]["handoff_asleep_us"], 0.0);
}

TEST_F(MeasureCli, TheFileSaysTheSame) {
  const std::string text = read_text(in("t.toml"));
  for (const char* part : {"format = 1\n", "[machine]\n", "[cache]\n", "[one_thread]\n", "[all_threads]\nthreads = 2\n",
                           "memory_copy_gb_s = ", "[cost]\n", "call_ns = "})
    EXPECT_TRUE(contains(text, part)) << part << "\n" << text;
  EXPECT_TRUE(contains(text, "kernels = \"" + (*measured_)["machine"]["kernels"].get<std::string>() + "\"")) << text;
  EXPECT_FALSE(std::filesystem::exists(in("t.toml.tmp")));
}

TEST_F(MeasureCli, WithoutAFileItPrintsOne) {
  const Ran r = mote("measure --kernels portable --threads 1");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  write("p.toml", r.out);
  EXPECT_EQ(r.out.rfind("# A machine as mote sees it", 0), 0u) << r.out;
  EXPECT_TRUE(contains(r.out, "kernels = \"portable\"")) << r.out;
  EXPECT_FALSE(contains(r.out, "handoff")) << "one thread hands nothing over";
  EXPECT_FALSE(contains(r.err, "\r")) << "no progress where there is no terminal: " << r.err;
  EXPECT_EQ(mote("profile --runs 2 --kernels portable --target " + in("p.toml") + " " + in("d.mote")).exit_code, 0);
}

TEST_F(MeasureCli, WhatCannotBeMeasuredOrWrittenIsSaid) {
  const Ran folder = mote("measure -o " + in("no/such/t.toml"));
  EXPECT_EQ(folder.exit_code, 1);
  EXPECT_TRUE(contains(folder.err, in("no/such/t.toml") + ": the file cannot be written")) << folder.err;
  const Ran itself = mote("measure -o " + folder_->str());
  EXPECT_EQ(itself.exit_code, 1);
  EXPECT_TRUE(contains(itself.err, "is a folder")) << itself.err;
  EXPECT_FALSE(std::filesystem::exists(folder_->str() + ".tmp"));
  write("kept.toml", "as it was");
  const Ran kernels = mote("measure --kernels mmx --json -o " + in("kept.toml"));
  EXPECT_EQ(kernels.exit_code, 1);
  EXPECT_TRUE(contains(kernels.json()["error"]["message"], "expected one of portable")) << kernels.out;
  EXPECT_EQ(read_text(in("kept.toml")), "as it was");
  EXPECT_EQ(mote("measure --threads 0").exit_code, 2);
  EXPECT_EQ(mote("measure --threads 1000").exit_code, 2);
  EXPECT_EQ(mote("measure extra").exit_code, 2);
}

TEST_F(MeasureCli, ProfileHoldsOperatorsAgainstTheRoofline) {
  const Json j = mote("profile --json --runs 20 " + in("d.mote")).json();
  EXPECT_EQ(j["runs"], 20);
  EXPECT_EQ(j["threads"], 1);
  EXPECT_EQ(j["kernels"], (*measured_)["machine"]["kernels"]);
  EXPECT_TRUE(j["target"].is_null());
  EXPECT_GT(j["rates"]["f32_gflops"], 0.0);
  EXPECT_GT(j["bound_us"], 0.0);
  EXPECT_TRUE(j["notes"].empty());
  uint64_t macs = 0;
  double last = 1e30;
  ASSERT_FALSE(j["ops"].empty());
  for (const Json& op : j["ops"]) {
    EXPECT_LE(op["median_us"], last) << "slowest first";
    last = op["median_us"];
    macs += op["macs"].get<uint64_t>();
    EXPECT_FALSE(op["integer"]);
    if (op["roofline_percent"].is_null()) continue;
    EXPECT_GT(op["roofline_percent"], 0.0) << op;
    EXPECT_LE(op["roofline_percent"], 150.0) << op;
    EXPECT_GT(op["bytes"], 0) << op;
    EXPECT_GT(op["gb_s"], 0.0) << op;
    EXPECT_NEAR(op["bound_us"].get<double>() / op["median_us"].get<double>() * 100, op["roofline_percent"].get<double>(), 1e-6) << op;
  }
  EXPECT_EQ(macs, mote("inspect --json " + in("d.mote")).json()["certificate"]["macs"]) << "the parts make the whole";
}

TEST_F(MeasureCli, ProfileShowsATable) {
  const Ran r = mote("profile --runs 3 --top 2 --threads 2 --target " + in("t.toml") + " " + in("d.mote"));
  ASSERT_EQ(r.exit_code, 0) << r.err;
  for (const char* part : {"us per run", "share %", "MMAC", "GOP/s", "roofline %", "limit", "node of the model", "the roofline allows",
                           "2 threads: ", "GFLOP/s f32"})
    EXPECT_TRUE(contains(r.out, part)) << part << "\n" << r.out;
  EXPECT_TRUE(contains(r.out, "roofline of " + in("t.toml"))) << r.out;
  EXPECT_FALSE(contains(r.out, "note:")) << r.out;
}

TEST_F(MeasureCli, TracesCarryTheFigures) {
  ASSERT_EQ(mote("profile --runs 2 --trace " + in("t.json") + " " + in("d.mote")).exit_code, 0);
  const Json trace = Json::parse(read_text(in("t.json")), nullptr, false);
  ASSERT_FALSE(trace.is_discarded());
  ASSERT_FALSE(trace["traceEvents"].empty());
  for (const Json& event : trace["traceEvents"])
    for (const char* key : {"macs", "bytes", "gflops", "gb_s", "roofline_percent"}) EXPECT_TRUE(event["args"][key].is_number()) << event;
}

TEST_F(MeasureCli, TargetsThatDoNotFitAreNamed) {
  const Ran other = mote("profile --runs 2 --kernels portable --threads 3 --target " + in("t.toml") + " --json " + in("d.mote"));
  ASSERT_EQ(other.exit_code, 0) << other.err;
  const std::string notes = other.json()["notes"].dump();
  if ((*measured_)["machine"]["kernels"] != "portable") {
    EXPECT_TRUE(contains(notes, "this run uses portable")) << notes;
  }
  EXPECT_TRUE(contains(notes, "at most 2 threads; this run uses 3")) << notes;
  write("bad.toml", "format = 1\n[machine]\ncpu = \"x\"\ncores = many\n");
  const Ran bad = mote("profile --target " + in("bad.toml") + " " + in("d.mote"));
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_TRUE(contains(bad.err, in("bad.toml") + ": no valid target description: line 4: key 'cores'")) << bad.err;
  EXPECT_EQ(mote("profile --target " + in("none.toml") + " " + in("d.mote")).exit_code, 1);
  EXPECT_EQ(mote("profile --target " + in("d.mote") + " " + in("d.mote")).exit_code, 1);
}

}  // namespace
}  // namespace mote::tools
