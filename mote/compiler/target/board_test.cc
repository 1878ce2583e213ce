#include "mote/compiler/target/board.h"

#include <gtest/gtest.h>

namespace mote::target {
namespace {

constexpr char kGood[] =
    "format = 1\n[board]\ncore = \"cortex-m7\"\nflash_bytes = 2097152\nalignment = 32\n[dtcm]\nbytes = 131072\nsection = \".dtcm\"\n"
    "[sram]\nbytes = 393_216\n";

std::string error_of(const std::string& text) {
  Board b;
  std::string error;
  EXPECT_FALSE(board_from_text(text, &b, &error)) << text;
  return error;
}

TEST(Board, BanksInTheirOrder) {
  Board b;
  std::string error;
  ASSERT_TRUE(is_board(kGood));
  ASSERT_TRUE(board_from_text(kGood, &b, &error)) << error;
  EXPECT_EQ(b.core, "cortex-m7");
  EXPECT_EQ(b.flash_bytes, 2097152u);
  EXPECT_EQ(b.alignment, 32u);
  ASSERT_EQ(b.banks.size(), 2u);
  EXPECT_EQ(b.banks[0].name, "dtcm");
  EXPECT_EQ(b.banks[0].section, ".dtcm");
  EXPECT_EQ(b.banks[1].bytes, 393216u);
}

TEST(Board, ErrorsSayWhatWasExpected) {
  EXPECT_NE(error_of("format = 1\n[board]\ncore = \"z80\"\n").find("line 3"), std::string::npos);
  EXPECT_NE(error_of("format = 1\n[board]\ncore = \"cortex-m4\"\n").find("expected a bank"), std::string::npos);
  EXPECT_NE(error_of("format = 1\n[board]\ncore = \"cortex-m4\"\nspeed = 1\n").find("'speed'"), std::string::npos);
  EXPECT_NE(error_of("format = 1\n[board]\ncore = \"cortex-m4\"\nalignment = 24\n").find("power of two"), std::string::npos);
  EXPECT_NE(error_of("format = 1\n[board]\ncore = \"cortex-m4\"\n[sram]\nsize = 1\n").find("'bytes'"), std::string::npos);
  EXPECT_NE(error_of("[board]\ncore = \"cortex-m4\"\n[sram]\nbytes = 1024\n").find("'format'"), std::string::npos);
}

}  // namespace
}  // namespace mote::target
