#include "mote/fleet/tuf/delegation.h"

#include <gtest/gtest.h>

namespace mote::fleet::tuf {
namespace {

TEST(Delegation, PatternsMatchPartByPart) {
  for (const auto& [pattern, path] : {std::pair{"*", "a"},
                                      {"*.tgz", "foo.tgz"},
                                      {"targets/*", "targets/x"},
                                      {"a/*/c", "a/b/c"},
                                      {"f?o", "foo"},
                                      {"[a-c]x", "bx"},
                                      {"[!a-c]x", "dx"},
                                      {"a*b*c", "aXbYbZc"},
                                      {"[", "["},
                                      {"[]]", "]"},
                                      {"*", ""},
                                      {"**", "x"},
                                      {"a[-]b", "a-b"}})
    EXPECT_TRUE(path_matches(pattern, path)) << pattern << " " << path;
  for (const auto& [pattern, path] : {std::pair{"*", "a/b"},
                                      {"*.tgz", "a/foo.tgz"},
                                      {"targets/*", "targets/x/y"},
                                      {"targets/*", "targets"},
                                      {"f?o", "f/o"},
                                      {"[a-c]x", "dx"},
                                      {"[!a-c]x", "bx"},
                                      {"a*b*c", "aXbY"},
                                      {"", "a"},
                                      {"a/", "a"},
                                      {"?", ""}})
    EXPECT_FALSE(path_matches(pattern, path)) << pattern << " " << path;
}

TEST(Delegation, ManyStarsTakeNoTime) {
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "*a";
  EXPECT_FALSE(path_matches(pattern + "b", std::string(5000, 'a')));
}

}  // namespace
}  // namespace mote::fleet::tuf
