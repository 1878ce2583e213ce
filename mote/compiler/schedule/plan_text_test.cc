// Plans as text: what is printed parses to the same plan, and wrong texts are refused with the line.

#include "mote/compiler/schedule/plan_text.h"
#include "mote/compiler/assemble/lower.h"

#include <random>

#include "mote/compiler/schedule/testing/random_graph.h"
#include "mote/compiler/schedule/testing/run_graph.h"

namespace mote::schedtest {
namespace {

schedule::Plan random_plan(uint32_t seed) {
  ir::Graph g;
  std::mt19937 random(seed);
  make_random_graph(g, random, 5 + seed % 20);
  g.metadata.emplace_back("description", "two\nlines, \"quotes\" and \\");
  schedule::Plan plan;
  std::string error;
  EXPECT_TRUE(schedule::make_plan(g, {}, &plan, &error)) << error;
  return plan;
}

emit::FileBytes file_of(const schedule::Plan& plan) {
  emit::ProgramRecords records;
  emit::FileBytes file;
  std::string error;
  EXPECT_TRUE(assemble::lower(plan, {}, &records, &error)) << error;
  EXPECT_TRUE(emit::write_program(records, {}, emit::builtin_registry(), &file, &error)) << error;
  return file;
}

TEST(PlanText, RoundTrips) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const schedule::Plan plan = random_plan(seed);
    const std::string text = schedule::print(plan);
    schedule::Plan back;
    std::string error;
    ASSERT_TRUE(schedule::parse(text, &back, &error)) << error << "\n" << text;
    EXPECT_EQ(schedule::print(back), text);
    const emit::FileBytes a = file_of(plan), b = file_of(back);
    ASSERT_EQ(a.size, b.size);
    EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size), 0) << "and gives the same program";
  }
}

TEST(PlanText, WrongTextsAreRefusedWithTheirLine) {
  const std::string good = schedule::print(random_plan(3));
  schedule::Plan plan;
  std::string error;
  EXPECT_FALSE(schedule::parse(schedule::print(random_plan(3), false), &plan, &error)) << "bytes are missing";
  for (const char* bad : {"nonsense\n", "buffer bank 0 at x\n", "tensor 7 f32 1 arena 0 +0\n", "method \"m\"\n  else\nend\n",
                          "method \"m\"\n  frob 1 -> 2 {}\nend\n", "method \"m\"\n  relu 0 -> 1 {}\n"}) {
    error.clear();
    EXPECT_FALSE(schedule::parse(bad, &plan, &error)) << bad;
    EXPECT_FALSE(error.empty());
  }
  // Any part of a text is refused or read, never more.
  for (size_t n = 0; n < good.size(); n += 7) (void)schedule::parse(good.substr(0, n), &plan, &error);
}

}  // namespace
}  // namespace mote::schedtest
