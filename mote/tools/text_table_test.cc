#include "mote/tools/text_table.h"

#include <gtest/gtest.h>

#include "mote/tools/files.h"

namespace mote::tools {
namespace {

TEST(TextTable, AlignsWordsLeftAndNumbersRight) {
  TextTable t({"name", "bytes"});
  t.add({"a", "1,000"});
  t.add({"größe", "20"});
  EXPECT_EQ(t.text(), "  name   bytes\n  a      1,000\n  größe     20\n");
}

TEST(TextTable, NumbersAndSizes) {
  EXPECT_EQ(number(0), "0");
  EXPECT_EQ(number(1234567), "1,234,567");
  EXPECT_EQ(bytes_text(999), "999 B");
  EXPECT_EQ(bytes_text(2400000), "2.40 MB");
  EXPECT_EQ(microseconds(1.234), "1.23");
  EXPECT_EQ(microseconds(12345.6), "12346");
}

TEST(Files, OddCharactersBecomeUnderlines) {
  EXPECT_EQ(file_name_of("a/b:c d-1.0_x"), "a_b_c_d-1.0_x");
  EXPECT_EQ(file_name_of("../up"), ".._up");
  EXPECT_EQ(file_name_of("ä"), "__");
}

}  // namespace
}  // namespace mote::tools
