#include "mote/fleet/base/text.h"

#include <gtest/gtest.h>

#include <vector>

namespace mote::fleet {
namespace {

TEST(Text, HexAndBase64RoundTrip) {
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(from_hex(to_hex(bytes)), bytes);
    EXPECT_EQ(from_base64(to_base64(bytes)), bytes);
    bytes += static_cast<char>(i * 37);
  }
  EXPECT_EQ(to_base64("foob"), "Zm9vYg==");
  EXPECT_EQ(from_hex("0G"), std::nullopt);
  EXPECT_EQ(from_hex("0"), std::nullopt);
  for (const char* text : {"A", "AA", "AAA", "AB==", "A===", "AA=A", "Zm9vYh==", "Zm 9", "====", "Zm9v\n"})
    EXPECT_EQ(from_base64(text), std::nullopt) << text;
}

TEST(Text, FileNamesAndUrls) {
  EXPECT_EQ(percent_encode("../a b%/~-_.9\xc3\xa9"), "..%2Fa%20b%25%2F~-_.9%C3%A9");
  EXPECT_EQ(escape_url_path("x/a b%20?\xc3\xa9"), "x/a%20b%20?%C3%A9");
}

TEST(Text, ListsAndHeaders) {
  EXPECT_EQ(joined(std::vector<std::string>{"a", "b"}), "a, b");
  EXPECT_EQ(joined(std::vector<std::string>{}, " ", "any"), "any");
  EXPECT_EQ(header_value("ETag: \"x\" \r\n", "etag"), "\"x\"");
  EXPECT_EQ(header_value("Etag:\r\n", "etag"), "");
  EXPECT_FALSE(header_value("Etags: x", "etag"));
  EXPECT_FALSE(header_value("no header", "no header"));
}

TEST(Text, Dates) {
  EXPECT_EQ(parse_utc("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(parse_utc("2024-02-29T23:59:59Z"), 1709251199);
  EXPECT_EQ(parse_utc("9999-12-31T23:59:59Z"), 253402300799);
  for (int64_t t = -4'000'000'000; t < 8'000'000'000; t += 86'413 * 97) EXPECT_EQ(parse_utc(utc_text(t)), t);
  for (const char* text :
       {"2023-02-29T00:00:00Z", "2100-02-29T00:00:00Z", "2024-13-01T00:00:00Z", "2024-00-01T00:00:00Z", "2024-04-31T00:00:00Z",
        "2024-01-01T24:00:00Z", "2024-01-01T00:00:60Z", "2024-01-01T00:00:00", "2024-01-01T00:00:00.0Z", "2024-01-01 00:00:00Z", ""})
    EXPECT_EQ(parse_utc(text), std::nullopt) << text;
}

TEST(Text, PrintableIsUtf8WithoutControls) {
  EXPECT_EQ(printable("gr\xc3\xbc\xc3\x9f"
                      "e"),
            "gr\xc3\xbc\xc3\x9f"
            "e");
  EXPECT_EQ(printable("a\nb\x1b[1m\x7f\xc2\x9b"
                      "c"),
            "a?b?[1m??c");
  EXPECT_EQ(printable("\xff\xc3"), "??");
  EXPECT_EQ(printable(std::string("\0x", 2)), "?x");
  EXPECT_EQ(printable("ab\xc3\xbc", 3), "ab");  // no half characters
  EXPECT_EQ(printable("ab\xc3\xbc", 4), "ab\xc3\xbc");
  EXPECT_EQ(printable("\xed\xa0\x80\xc0\x80"), "?????");  // surrogates, long forms
  EXPECT_EQ(valid_utf8(std::string("a\n\xff\0b", 5)), "a\n??b");
}

}  // namespace
}  // namespace mote::fleet
