#include "mote/tools/nearest.h"

#include <gtest/gtest.h>

namespace mote::tools {
namespace {

TEST(Nearest, FindsTheWordThatWasMeant) {
  const std::vector<std::string> known = {"compile", "run", "bench", "profile", "validate", "--quantize", "--golden-examples"};
  EXPECT_EQ(nearest("complie", known), "compile");
  EXPECT_EQ(nearest("Bench", known), "bench");
  EXPECT_EQ(nearest("prof", known), "profile");
  EXPECT_EQ(nearest("rnu", known), "run");
  EXPECT_EQ(nearest("--quantise", known), "--quantize");
  EXPECT_EQ(nearest("--golden_examples", known), "--golden-examples");
  EXPECT_EQ(nearest("frobnicate", known), "");
  EXPECT_EQ(nearest("", known), "");
  EXPECT_EQ(did_you_mean("vaildate", known), " (did you mean 'validate'?)");
  EXPECT_EQ(did_you_mean("xyzzy", known), "");
}

}  // namespace
}  // namespace mote::tools
