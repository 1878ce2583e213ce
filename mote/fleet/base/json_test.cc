#include "mote/fleet/base/json.h"

#include <gtest/gtest.h>

#include <string>

#include "mote/fleet/base/error.h"

namespace mote::fleet {
namespace {

std::string canonical(const std::string& text) { return Json::parse(text).canonical(); }

TEST(Json, OneTextForEqualValues) {
  EXPECT_EQ(canonical(" { \"b\" : [ 1 , -0 , true , null ] , \"a\" : { } } "), "{\"a\":{},\"b\":[1,0,true,null]}");
  EXPECT_EQ(canonical("[]"), "[]");
  EXPECT_EQ(canonical("-9223372036854775808"), "-9223372036854775808");
  // Only the quote and the backslash are escaped; everything else stands for itself.
  EXPECT_EQ(canonical(R"("\u00e9\n\t\"\\\/\ud83d\ude00x")"), "\"\xc3\xa9\n\t\\\"\\\\/\xf0\x9f\x98\x80x\"");
  // Names are sorted by what they stand for.
  EXPECT_EQ(canonical(R"({"\u0062":1,"a":2,"\u00e9":3,"z":4})"), "{\"a\":2,\"b\":1,\"z\":4,\"\xc3\xa9\":3}");
}

TEST(Json, CanonicalTextReadsAsItself) {
  const std::string text = canonical(R"({"k\n":["\u0001",{"x":"\\"}]})");
  EXPECT_EQ(Json::parse_canonical(text).canonical(), text);
  EXPECT_THROW(Json::parse(text), Error);
}

// Compared as C text, "a\0b" would be "a".
TEST(Json, RefusesNul) {
  const std::string raw = std::string("[\"a") + '\0' + "b\"]", name = std::string("{\"a") + '\0' + "b\":1}";
  for (const std::string& text : {raw, name, std::string(R"(["a\u0000b"])"), std::string(R"({"a\u0000":1})")}) {
    EXPECT_THROW(Json::parse(text), Error) << text;
    EXPECT_THROW(Json::parse_canonical(text), Error) << text;
  }
  EXPECT_NO_THROW(Json::parse(R"(["a\u0001b"])"));
}

TEST(Json, RefusesWhatCannotBeSigned) {
  for (const char* text : {"",
                           " ",
                           "1.5",
                           "1e3",
                           "01",
                           "-",
                           "+1",
                           "9223372036854775808",
                           "-9223372036854775809",
                           "nul",
                           "tru",
                           "[1,]",
                           "[1 2]",
                           "{\"a\":1,}",
                           "{a:1}",
                           "{\"a\"1}",
                           "{\"a\":1,\"a\":2}",
                           "{\"a\":1,\"\\u0061\":2}",
                           "\"",
                           "\"\\x\"",
                           "\"\\u12\"",
                           "\"\\ud800\"",
                           "\"\\udc00\"",
                           "\"\\ud800\\u0041\"",
                           "\"\n\"",
                           "\"\xff\"",
                           "\"\xc0\x80\"",
                           "\"\xed\xa0\x80\"",
                           "\"\xf4\x90\x80\x80\"",
                           "\"\xe2\x82\"",
                           "[1] 2",
                           "]",
                           "NaN"}) {
    EXPECT_THROW(Json::parse(text), Error) << text;
  }
  EXPECT_NO_THROW(Json::parse(std::string(64, '[') + std::string(64, ']')));
  EXPECT_THROW(Json::parse(std::string(65, '[') + std::string(65, ']')), Error);
}

TEST(Json, ReadsInPlace) {
  const std::string text = R"( {"n": -12, "s": "a\"b", "list": [ {"x":1} , "]" , [2] ], "t": true } )";
  const Json v = Json::parse(text);
  EXPECT_EQ(v.at("n").integer(), -12);
  EXPECT_EQ(v.at("s").string(), "a\"b");
  EXPECT_TRUE(v.at("t").boolean());
  EXPECT_FALSE(v.find("missing"));
  EXPECT_EQ(v.at("list").size(), 3u);
  std::string keys;
  for (Json::Cursor c(v); c.next();) keys += c.key() + ",";
  EXPECT_EQ(keys, "n,s,list,t,");
  EXPECT_THROW(v.at("n").string(), Error);
  EXPECT_THROW(v.at("list").at("x"), Error);
  Json::Cursor list(v.at("list"));
  ASSERT_TRUE(list.next());
  EXPECT_THROW(list.key(), Error);
  EXPECT_THROW(v.at("missing"), Error);
}

}  // namespace
}  // namespace mote::fleet
