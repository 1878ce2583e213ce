#include "mote/compiler/placement/policy.h"

#include <gtest/gtest.h>

namespace mote::placement {
namespace {

Policy parsed(const std::string& text) {
  Policy p;
  std::string error;
  EXPECT_TRUE(parse_policy(text, &p, &error)) << error;
  return p;
}

TEST(Policy, ReadsWhatTheDesignShows) {
  const Policy p = parsed(R"([default]                      # also [op.conv2d]
require  = ["opencl"]
allow    = ["opencl", "cpu"]
forbid   = []
fallback = "listed"
max_partitions = 4
max_transfer_bytes = 1_048_576

[op.softmax]
allow = [ "cpu",
          "opencl" ]  # either
[node."/features/0/Conv"]
forbid = ["opencl"]
)");
  EXPECT_EQ(p.fallback, Fallback::kListed);
  EXPECT_EQ(p.max_partitions, 4u);
  EXPECT_EQ(p.max_transfer_bytes, 1048576u);
  EXPECT_TRUE(p.permits("conv", "a", "opencl"));
  EXPECT_FALSE(p.permits("conv", "a", "cpu"));
  EXPECT_TRUE(p.permits("softmax", "a", "cpu"));
  EXPECT_FALSE(p.permits("conv", "/features/0/Conv", "opencl"));
  EXPECT_EQ(p.wanted("conv", "a"), "opencl");
}

TEST(Policy, AnEmptyOnePermitsEverything) {
  const Policy p = parsed("");
  EXPECT_TRUE(p.permits("conv", "", "cpu"));
  EXPECT_TRUE(p.permits("conv", "", "opencl"));
}

TEST(Policy, RefusesWhatItDoesNotKnow) {
  const char* const wrong[] = {"[default",
                               "[other]",
                               "require = 3",
                               "require = [\"a\"",
                               "fallback = \"maybe\"",
                               "colour = 1",
                               "max_partitions = -1",
                               "require = [\"a\"] x",
                               "[op.a]\nfallback = \"listed\"",
                               "[default]\n[default]",
                               "require = [\"a\"]\nrequire = []",
                               "max_partitions = 99999999999"};
  for (const char* text : wrong) {
    Policy p;
    std::string error;
    EXPECT_FALSE(parse_policy(text, &p, &error)) << text;
    EXPECT_EQ(error.rfind("line ", 0), 0u) << error;
  }
}

}  // namespace
}  // namespace mote::placement
