#include "mote/tools/explain.h"

#include <gtest/gtest.h>

namespace mote::tools {
namespace {

TEST(Explain, EveryCodeHasACauseAndARemedy) {
  for (const Explanation& e : all_explanations()) {
    EXPECT_NE(e.cause, "") << e.kind << " " << e.name << " has no line in explain.def";
    EXPECT_NE(e.remedy, "") << e.name;
    EXPECT_NE(e.text, "") << e.name;
  }
}

TEST(Explain, ByNumberAndName) {
  ASSERT_EQ(explain("BankSize").size(), 1u);
  EXPECT_EQ(explain("bank_size")[0].number, 200u);
  EXPECT_EQ(explain("200")[0].name, "BankSize");
  EXPECT_EQ(explain("OutOfMemory")[0].kind, "status");
  EXPECT_EQ(explain("Io/FileOpen").size(), 2u);
  // 3 is both a status and a reason.
  EXPECT_EQ(explain("3").size(), 2u);
  EXPECT_EQ(explain("0")[0].name, "Ok");
  EXPECT_EQ(explain("0").size(), 1u);
}

TEST(Explain, ByTheWholeStatusValue) {
  const auto both = explain(std::to_string(3u | 200u << 8));
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0].name, "OutOfMemory");
  EXPECT_EQ(both[1].name, "BankSize");
  EXPECT_EQ(explain("0xc803").size(), 2u);
}

TEST(Explain, NothingIsKnownAboutNonsense) {
  EXPECT_TRUE(explain("").empty());
  EXPECT_TRUE(explain("frobnicate").empty());
  EXPECT_TRUE(explain("16777215").empty());
}

}  // namespace
}  // namespace mote::tools
