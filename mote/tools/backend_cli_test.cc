// Backends as a user meets them: plug-ins, a device that computes wrongly, one that is not there, placement as a page.

#include <filesystem>

#include "mote/tools/least_squares.h"
#include "mote/tools/testing/cli.h"

namespace mote::tools {
namespace {

namespace fs = std::filesystem;
using api_test::TempPath;
using cli_test::contains;
using cli_test::Json;
using cli_test::mote;
using cli_test::Ran;

const std::string kDigits = std::string(MOTE_SOURCE_DIR) + "/examples/digits/digits.onnx";
const std::string kFaulty = std::string("--plugin ") + MOTE_WRONG_KERNEL_PLUGIN + " ";

class BackendCli : public ::testing::Test {
 protected:
  BackendCli() { fs::create_directories(folder_.str()); }
  ~BackendCli() override { fs::remove_all(folder_.str()); }
  std::string in(const std::string& name) const { return folder_.str() + "/" + name; }
  std::string write(const std::string& name, const std::string& text) const {
    std::string error;
    EXPECT_TRUE(write_whole_file(in(name), {text.begin(), text.end()}, &error)) << error;
    return in(name);
  }
  const TempPath folder_{"backend_cli"};
};

TEST_F(BackendCli, TheOperatorThatComputesWronglyIsNamed) {
  const Ran made = mote(kFaulty + "compile " + kDigits + " -o " + in("d.mote") + " --backends faulty");
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const Ran r = mote("selftest " + in("d.mote") + " " + kFaulty);  // behind the command, too
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_TRUE(contains(r.out, "the first operator that differs: ")) << r.out << r.err;
  EXPECT_TRUE(contains(r.out, "(softmax), in part 0 on faulty")) << r.out;
  EXPECT_TRUE(contains(r.out, "it differs by itself, too")) << r.out;
  const Json j = mote(kFaulty + "selftest --json " + in("d.mote")).json();
  EXPECT_EQ(j["first_difference"]["operator"], "softmax");
  EXPECT_EQ(j["first_difference"]["alone"], true);
}

TEST_F(BackendCli, WithoutItsPluginAProgramIsRefused) {
  ASSERT_EQ(mote(kFaulty + "compile " + kDigits + " -o " + in("d.mote") + " --backends faulty,cpu").exit_code, 0);
  const Ran r = mote("selftest " + in("d.mote"));
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_TRUE(contains(r.err, "not registered") && contains(r.err, "faulty")) << r.err;
}

TEST_F(BackendCli, PluginsThatDoNotFitAreRefusedWithTheReason) {
  const Ran other =
      mote(std::string("--plugin ") + MOTE_OTHER_BACKEND_ABI + " compile " + kDigits + " -o " + in("d.mote") + " --backends null_plugin");
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_TRUE(contains(other.err, "backend interface has version 99, this Mote has version")) << other.err;
  const Ran none = mote("--plugin /no/such.so compile " + kDigits + " -o " + in("d.mote") + " --backends x");
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_TRUE(contains(none.err, "/no/such.so: cannot be loaded as a plug-in")) << none.err;
  const Ran twice = mote(kFaulty + kFaulty + "compile " + kDigits + " -o " + in("d.mote") + " --backends faulty");
  EXPECT_TRUE(contains(twice.err, "there is a backend 'faulty' already")) << twice.err;
  EXPECT_EQ(mote("compile " + kDigits + " -o " + in("d.mote") + " --backends faulty").exit_code, 2);
}

TEST_F(BackendCli, AssumedCostsAreCalledSo) {
  const std::string compile = kFaulty + "compile " + kDigits + " -o " + in("d.mote") + " --backends faulty";
  const Ran r = mote(compile);
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_TRUE(contains(r.out, "placement: 1 part,") && contains(r.out, "by assumed costs")) << r.out;
  EXPECT_TRUE(contains(r.err, "costs of faulty are assumed")) << r.err;
  EXPECT_EQ(mote(compile + " --json").json()["placement"]["assumed"], Json({"faulty"}));
  EXPECT_TRUE(contains(mote("inspect " + in("d.mote") + " --placement").out, "1 part,"));
}

TEST_F(BackendCli, CheckHoldsAPlacementToTheProgramBefore) {
  const auto compile = [&](const std::string& to, const std::string& options) {
    const Ran r = mote(kFaulty + "compile " + kDigits + " -o " + in(to) + " " + options);
    ASSERT_EQ(r.exit_code, 0) << r.err;
  };
  compile("before.mote", "--backends faulty");
  compile("same.mote", "--backends faulty --licence MIT");
  compile("cpu.mote", "");
  compile("split.mote", "--backends faulty,cpu --policy " + write("p.toml", "[op.softmax]\nrequire = [\"cpu\"]\n"));
  const auto check = [&](const std::string& file) { return mote("check " + in(file) + " --baseline " + in("before.mote")); };
  const Ran same = check("same.mote");
  EXPECT_EQ(same.exit_code, 0) << same.out << same.err;
  EXPECT_TRUE(contains(same.out, "placement as expected, 1 part")) << same.out;
  const Ran moved = check("cpu.mote");
  EXPECT_EQ(moved.exit_code, 1) << moved.out;
  EXPECT_TRUE(contains(moved.out, "part 0: was on faulty, is on cpu")) << moved.out;
  EXPECT_FALSE(contains(moved.out, "as expected")) << moved.out;
  const Ran split = check("split.mote");
  EXPECT_EQ(split.exit_code, 1) << split.out;
  EXPECT_TRUE(contains(split.out, "expected 1 part as before, found 2")) << split.out;
  EXPECT_TRUE(contains(split.out, "operators, has ")) << split.out;
  const Ran missing = mote("check " + in("before.mote") + " --baseline " + in("none.mote"));
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_TRUE(contains(missing.err, "none.mote")) << missing.err;
}

TEST_F(BackendCli, CheckHoldsAPlacementToAPolicy) {
  ASSERT_EQ(mote(kFaulty + "compile " + kDigits + " -o " + in("d.mote") + " --backends faulty").exit_code, 0);
  const auto check = [&](const std::string& policy) { return mote("check " + in("d.mote") + " --policy " + write("p.toml", policy)); };
  EXPECT_EQ(check("[op.conv]\nrequire = [\"faulty\"]\n").exit_code, 0);
  const Ran wrong = check("[op.conv]\nrequire = [\"cpu\"]\n");
  EXPECT_EQ(wrong.exit_code, 1) << wrong.out;
  EXPECT_TRUE(contains(wrong.out, "(conv): runs on faulty, the policy wants ")) << wrong.out;
}

TEST_F(BackendCli, PlacementAsAPage) {
  ASSERT_EQ(mote(kFaulty + "compile " + kDigits + " -o " + in("d.mote") + " --backends faulty,cpu --policy " +
                 write("p.toml", "[op.conv]\nrequire = [\"faulty\"]\n[op.softmax]\nrequire = [\"cpu\"]\n"))
                .exit_code,
            0);
  const Ran r = mote("inspect " + in("d.mote") + " --placement --html " + in("p.html"));
  ASSERT_EQ(r.exit_code, 0) << r.err;
  const std::string page = cli_test::read_text(in("p.html"));
  for (const char* part :
       {"<svg", ">faulty</text>", ">cpu</text>", "class=\"moved\"", "Red, dashed", "<h2>Policy</h2>", "softmax", "</html>"})
    EXPECT_TRUE(contains(page, part)) << part;
  EXPECT_FALSE(contains(page, "<script") || contains(page, "src=") || contains(page, "href="));
  EXPECT_EQ(mote("inspect " + in("d.mote") + " --html " + in("p.html")).exit_code, 2) << "it goes with --placement";
  EXPECT_EQ(mote("inspect " + in("d.mote") + " --placement --html /no/such/folder/p.html").exit_code, 1);
}

TEST_F(BackendCli, ProfilesShowWhatWasPredictedAndWhatPartsTake) {
  ASSERT_EQ(mote(kFaulty + "compile " + kDigits + " -o " + in("d.mote") + " --backends faulty,cpu").exit_code, 0);
  const Json j = mote(kFaulty + "profile " + in("d.mote") + " --runs 3 --json").json();
  ASSERT_FALSE(j["parts"].empty());
  for (const Json& p : j["parts"]) EXPECT_GT(p["measured_us"], 0);
  EXPECT_TRUE(contains(mote(kFaulty + "profile " + in("d.mote") + " --runs 3").out, "predicted/measured"));
}

#ifdef MOTE_WITH_OPENCL
// No device has number 99: what a program says that was made for one.
TEST_F(BackendCli, AMissingDeviceIsAnErrorOfItsOwn) {
  ASSERT_EQ(setenv("MOTE_OPENCL_DEVICE", "99", 1), 0);
  const std::string to = " -o " + in("d.mote") + " --backends opencl,cpu --policy ";
  const std::string rule = "[op.conv]\nrequire = [\"opencl\"]\n";
  ASSERT_EQ(mote("compile " + kDigits + to + write("refuse.toml", rule)).exit_code, 0);
  const Ran refused = mote("selftest " + in("d.mote"));
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_TRUE(contains(refused.err, "the device or driver that a backend needs is not there")) << refused.err;
  ASSERT_EQ(mote("compile " + kDigits + to + write("listed.toml", "fallback = \"listed\"\n" + rule)).exit_code, 0);
  const Ran listed = mote("selftest " + in("d.mote"));
  EXPECT_EQ(listed.exit_code, 0) << listed.err;
  EXPECT_TRUE(contains(listed.err, "degraded: 1 of the program's parts run on the CPU instead")) << listed.err;
  const Ran measured = mote("measure --backend opencl");
  EXPECT_EQ(measured.exit_code, 1);
  unsetenv("MOTE_OPENCL_DEVICE");
}
#endif

TEST(LeastSquares, FindsWhatTimesWereMadeOf) {
  const std::vector<double> truth = {1000, 0.5, 3};
  std::vector<std::vector<double>> rows;
  std::vector<double> results;
  for (int i = 0; i < 30; ++i) {
    rows.push_back({1, static_cast<double>(i % 7 * 1000), static_cast<double>(i % 5 * 400), 0});
    results.push_back(truth[0] + truth[1] * rows.back()[1] + truth[2] * rows.back()[2]);
  }
  const std::vector<double> x = relative_least_squares(rows, results);
  for (size_t k = 0; k < truth.size(); ++k) EXPECT_NEAR(x[k], truth[k], 1e-3 * truth[k]);
  EXPECT_EQ(x[3], 0) << "what nothing was tried of";
}

TEST(LeastSquares, NothingCostsLessThanNothing) {
  // The second column would be fitted best by a negative number.
  const std::vector<double> x = relative_least_squares({{1, 0}, {1, 1}, {1, 2}}, {3, 2, 1});
  EXPECT_GE(x[0], 0);
  EXPECT_EQ(x[1], 0);
}

}  // namespace
}  // namespace mote::tools
