// A command with one wrong kernel (testing/wrong_kernel.cc): what compares kernels must find it, and say which operator it is.

#include <filesystem>

#include "mote/kernels/select.h"
#include "mote/platform/cpu.h"
#include "mote/tools/testing/cli.h"

namespace mote::tools {
namespace {

namespace fs = std::filesystem;
using api_test::TempPath;
using cli_test::contains;
using cli_test::Json;
using cli_test::Ran;

const std::string kDigits = std::string(MOTE_SOURCE_DIR) + "/examples/digits/digits.onnx";
const char* const kNamed = "matmul 'node_linear', output 0: ";

// MOTE_COMMAND is the wrong command; `wrong` as in wrong_kernel.cc.
Ran mote(const std::string& wrong, const std::string& arguments) {
  setenv("MOTE_WRONG_KERNEL", wrong.c_str(), 1);
  return cli_test::mote(arguments);
}

class KernelCli : public ::testing::Test {
 protected:
  void SetUp() override {
    if (kernels::best_isa(cpu_features()) == kernels::Isa::kPortable)
      GTEST_SKIP() << "this machine has no fast kernels that could be wrong";
    fs::create_directories(folder_.str());
    const Ran made = mote("none", "compile " + kDigits + " -o " + program_);
    ASSERT_EQ(made.exit_code, 0) << made.err;
  }
  const TempPath folder_{"kernel_cli"};
  const std::string program_ = folder_.str() + "/d.mote", validate_ = "validate " + kDigits + " " + program_ + " --reference mote ";
  const std::string isa_ = kernels::isa_name(kernels::best_isa(cpu_features()));
};

TEST_F(KernelCli, RightKernelsPass) {
  EXPECT_EQ(mote("none", "selftest " + program_).exit_code, 0);
  const Ran r = mote("none", validate_);
  EXPECT_EQ(r.exit_code, 0) << r.out;
  EXPECT_FALSE(contains(r.out, "WRONG")) << r.out;
}

TEST_F(KernelCli, SelftestNamesTheOperator) {
  const Ran r = mote("value", "selftest " + program_);
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_TRUE(contains(r.out, std::string("the first operator that differs: ") + kNamed + "the fast kernel differs")) << r.out << r.err;
  const Json j = mote("value", "selftest --json " + program_).json();
  EXPECT_EQ(j["passed"], false);
  EXPECT_TRUE(contains(j["note"].get<std::string>(), kNamed)) << j;
  EXPECT_EQ(mote("value", "selftest " + program_ + " --kernels portable").exit_code, 0) << "the portable kernels are right";
}

TEST_F(KernelCli, ValidateNamesTheOperator) {
  const Ran r = mote("value", validate_);
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_TRUE(contains(r.out, "WRONG kernel of " + isa_ + ": " + kNamed + "the fast kernel differs")) << r.out << r.err;
  EXPECT_TRUE(contains(r.out, "kernels: " + isa_ + " WRONG: differs from the reference on input 1")) << r.out;
  EXPECT_TRUE(contains(r.out, "portable ok")) << r.out;
  const Json j = mote("value", validate_ + " --json").json();
  ASSERT_EQ(j["kernel_differences"].size(), 1u) << j;
  const Json& d = j["kernel_differences"][0];
  EXPECT_EQ(d["op"], "matmul");
  EXPECT_EQ(d["kernels"], isa_);
  EXPECT_EQ(d["between_threads"], false);
  EXPECT_NEAR(d["largest_error"].get<double>(), 0.5, 1e-3);
  // The options that say what outputs may differ say nothing of kernels.
  EXPECT_EQ(mote("value", validate_ + " --tolerance 10").exit_code, 1);
}

TEST_F(KernelCli, ValidateFindsWhatIsWrongOnlyWhereWorkIsShared) {
  const Ran r = mote("parts", validate_);
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_TRUE(contains(r.out, isa_ + " ok, " + isa_ + " on 2 threads WRONG")) << r.out;
  EXPECT_TRUE(contains(r.out, std::string(kNamed) + "in parts, as threads share the work")) << r.out;
  EXPECT_EQ(mote("parts", validate_ + " --json").json()["kernel_differences"][0]["between_threads"], true);
}

TEST_F(KernelCli, CompilingStopsAndNamesTheOperator) {
  for (const char* wrong : {"value", "parts"}) {
    const std::string out = folder_.str() + "/wrong.mote";
    const Ran r = mote(wrong, "compile " + kDigits + " -o " + out);
    EXPECT_EQ(r.exit_code, 1);
    EXPECT_TRUE(contains(r.err, kNamed) && contains(r.err, "a defect of Mote's kernels on this machine")) << r.err;
    EXPECT_FALSE(fs::exists(out));
  }
}

}  // namespace
}  // namespace mote::tools
