#include "mote/compiler/target/target.h"

#include <gtest/gtest.h>

#include "mote/compiler/target/toml.h"

namespace mote::target {
namespace {

Target sample() {
  Target t;
  t.cpu = "Some \"CPU\" \\ 2";
  t.architecture = "x86_64";
  t.kernels = "avx2";
  t.cores = 4;
  t.cache_bytes = {32768, 1048576, 0};
  t.cache_source = "system";
  t.one.f32_gflops = 100.5;
  t.one.int8_gops = 200;
  t.one.bandwidth[kL1] = {200, 100, 150};
  t.one.bandwidth[kMemory] = {10, 5, 8};
  t.all = t.one;
  t.all.threads = 4;
  t.all.f32_gflops = 400.5;
  t.all.bandwidth[kMemory] = {20, 10, 16};
  t.call_ns = 3.25;
  return t;
}

std::string error_of(const std::string& text) {
  Target t;
  std::string error;
  EXPECT_FALSE(from_text(text, &t, &error)) << text;
  return error;
}

std::string with(const std::string& from, const std::string& to) {
  std::string text = to_text(sample());
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Target, TextRoundTrips) {
  Target t;
  std::string error;
  const std::string text = to_text(sample());
  ASSERT_TRUE(from_text(text, &t, &error)) << error;
  EXPECT_EQ(to_text(t), text);
  EXPECT_EQ(t.cpu, sample().cpu);
  EXPECT_EQ(t.cores, 4u);
  EXPECT_EQ(t.cache_bytes, sample().cache_bytes);
  EXPECT_EQ(t.one.f32_gflops, 100.5);
  EXPECT_EQ(t.all.threads, 4u);
  EXPECT_EQ(t.all.bandwidth[kMemory].read, 20);
  EXPECT_EQ(t.call_ns, 3.25);
  EXPECT_EQ(t.handoff_awake_us, 0) << "what is not known is left out";
  EXPECT_EQ(text.find("handoff"), std::string::npos);
  EXPECT_EQ(text.find("l3"), std::string::npos);
}

TEST(Target, OrderBlanksAndCommentsDoNotMatter) {
  Target t;
  std::string error;
  const std::string text = to_text(sample());
  const size_t cost = text.find("[cost]"), one = text.find("[one_thread]");
  const std::string other = text.substr(0, one) + "[cost] # first\r\n\tcall_ns=3.25# ns\r\n\n" + text.substr(one, cost - one);
  ASSERT_TRUE(from_text(other, &t, &error)) << error;
  EXPECT_EQ(to_text(t), text);
}

TEST(Target, MistakesAreNamedWithTheirLine) {
  EXPECT_EQ(error_of(""), "the key 'format' is missing");
  EXPECT_EQ(error_of(with("format = 1", "format = 2")), "this version of mote reads format 1 of target descriptions, found 2");
  EXPECT_EQ(error_of(with("cores = 4\n", "")), "the key 'cores' of [machine] is missing");
  EXPECT_EQ(error_of(with("cores = 4", "cores = 0")),
            "line 8: the key 'cores' of [machine]: expected a whole number from 1 to 65536, found 0");
  EXPECT_EQ(error_of(with("cores = 4", "cores = \"4\"")),
            "line 8: the key 'cores' of [machine]: expected a whole number from 1 to 65536, found the string \"4\"");
  EXPECT_EQ(error_of(with("kernels = \"avx2\"", "kernels = 2")), "line 7: the key 'kernels' of [machine]: expected a string, found 2");
  EXPECT_EQ(error_of(with("cores = 4", "cors = 4")), "the key 'cores' of [machine] is missing");
  EXPECT_EQ(error_of(with("cores = 4", "cores = 4\nwings = 2")),
            "line 9: the key 'wings' of [machine] is not known to this version of mote");
  EXPECT_EQ(error_of(with("cores = 4", "cores = 4\ncores = 4")), "line 9: the key 'cores' stands here twice");
  EXPECT_EQ(error_of(with("[cache]", "[machine]")), "line 10: the table [machine] stands here twice");
  EXPECT_NE(error_of(with("100.5", "-100.5")).find("expected a number from 0 to 1e12, found -100.5"), std::string::npos);
  EXPECT_NE(error_of(with("100.5", "0")).find("expected more than 0"), std::string::npos);
  EXPECT_NE(error_of(std::string(2u << 20, '\n')).find("at most 1048576 bytes"), std::string::npos);
}

TEST(Target, WhatIsNoTomlIsRefused) {
  const auto says = [](const char* line, const char* part) {
    std::vector<TomlEntry> entries;
    std::string error;
    EXPECT_FALSE(parse_toml(std::string("a = 1\n") + line, &entries, &error)) << line;
    EXPECT_EQ(error.rfind("line 2: ", 0), 0u) << error;
    EXPECT_NE(error.find(part), std::string::npos) << error;
  };
  says("[machine", "expected [name]");
  says("[a.b]", "expected [name]");
  says("[]", "expected [name]");
  says("[a] b = 1", "expected [name]");
  says("nonsense", "expected [table] or key = value, found 'nonsense'");
  says("= 3", "expected [table] or key = value");
  says("x = ", "expected a string in quotes or a number, found ''");
  says("x = true", "found 'true'");
  says("x = [1, 2]", "found '[1,'");
  says("x = nan", "found 'nan'");
  says("x = 1e999", "found '1e999'");
  says("x = 0x10", "found '0x10'");
  says("x = 1__0", "found '1__0'");
  says("x = 1 2", "more behind the value: '2'");
  says("x = \"abc", "does not end on its line");
  says("x = \"a\\q\"", "unknown escape");
  says("x = \"a\\", "unknown escape");
  says("x = \"a\x01\"", "control character");
}

TEST(Target, ValuesOfToml) {
  std::vector<TomlEntry> entries;
  std::string error;
  ASSERT_TRUE(parse_toml("a = 1_000\nb = -2.5e1\n[t]\na = 'c:\\x'\nb = \"q\\\"\\\\\\n\"", &entries, &error)) << error;
  ASSERT_EQ(entries.size(), 4u);
  EXPECT_EQ(entries[0].number, 1000);
  EXPECT_EQ(entries[1].number, -25);
  EXPECT_EQ(entries[2].table, "t");
  EXPECT_EQ(entries[2].string, "c:\\x");
  EXPECT_EQ(entries[3].string, "q\"\\\n");
  EXPECT_EQ(entries[3].line, 5);
}

TEST(Target, RatesBetweenOneAndAllThreads) {
  const Target t = sample();
  EXPECT_EQ(rates_of(t, 1).f32_gflops, 100.5);
  EXPECT_EQ(rates_of(t, 2).f32_gflops, 200.5);
  EXPECT_EQ(rates_of(t, 4).f32_gflops, 400.5);
  EXPECT_EQ(rates_of(t, 9).f32_gflops, 400.5);
  EXPECT_EQ(rates_of(t, 4).bandwidth[kMemory].copy, 16);
}

TEST(Target, LevelsByBytes) {
  Target t = sample();
  EXPECT_EQ(level_of(t, 32768, 1), kL1);
  EXPECT_EQ(level_of(t, 32769, 1), kL2);
  EXPECT_EQ(level_of(t, 32769, 2), kL1);
  EXPECT_EQ(level_of(t, 1048577, 1), kMemory) << "there is no L3";
  t.cache_bytes[kL3] = 1u << 23;
  EXPECT_EQ(level_of(t, 1048577, 1), kL3);
}

TEST(Target, NamedOnesAreWholeDescriptions) {
  ASSERT_NE(named("generic"), nullptr);
  EXPECT_EQ(named("nonsense"), nullptr);
  EXPECT_EQ(named(""), nullptr);
  for (const char* name : {"generic", "avx2", "avx512", "neon"}) {
    const Target* t = named(name);
    ASSERT_NE(t, nullptr) << name;
    EXPECT_NE(names().find(name), std::string::npos);
    Target read;
    std::string error;
    ASSERT_TRUE(from_text(to_text(*t), &read, &error)) << name << ": " << error;
    EXPECT_EQ(read.all.threads, t->cores);
    for (size_t i = 0; i < kLevelCount; ++i) EXPECT_GE(t->all.bandwidth[i].read, t->one.bandwidth[i].read) << name;
  }
}

TEST(Target, BytesSpreadOverTheLevels) {
  Target t = sample();  // 32 KiB, 1 MiB, no third level
  EXPECT_EQ(spread(t, 0, 1)[kL1], 0);
  EXPECT_EQ(spread(t, 16384, 1)[kL1], 1);
  EXPECT_EQ(spread(t, 65536, 1)[kL1], 0.5);
  EXPECT_EQ(spread(t, 65536, 1)[kL2], 0.5);
  EXPECT_EQ(spread(t, 65536, 2)[kL1], 1) << "each thread has its own";
  const auto large = spread(t, 4 << 20, 1);
  EXPECT_EQ(large[kL3], 0);
  EXPECT_EQ(large[kMemory], 0.75);
  EXPECT_EQ(bandwidth_of(t.one, kL2).read, 10) << "not measured: the next one further away";
}

TEST(Target, BackendsThatWereMeasuredAreKept) {
  Target t = *named("generic");
  t.backends.push_back({"cpu", "some CPU", 1, 12.5, 80, {{"calls", 2}}});
  t.backends.push_back({"opencl", "a \"GPU\"", 16, 5, 45000, {{"launches", 8735}, {"tile_large", 0.25}}});
  Target back;
  std::string error;
  ASSERT_TRUE(from_text(to_text(t), &back, &error)) << error;
  EXPECT_EQ(to_text(back), to_text(t));
  const BackendRates* b = find_backend(back, "opencl");
  ASSERT_NE(b, nullptr);
  EXPECT_EQ(b->device, "a \"GPU\"");
  EXPECT_EQ(b->units, 16);
  ASSERT_EQ(b->work_ns.size(), 2u);
  EXPECT_EQ(b->work_ns[1].first, "tile_large");
  EXPECT_EQ(find_backend(back, "npu"), nullptr);
  const std::string text = to_text(t);
  EXPECT_FALSE(from_text(text + "wings = 2\n", &back, &error));
  EXPECT_NE(error.find("'wings' of [backend_opencl] is not known"), std::string::npos) << error;
  EXPECT_FALSE(from_text(text + "work_x = \"much\"\n", &back, &error));
  EXPECT_FALSE(from_text(text + "work_x = -1\n", &back, &error));
}

}  // namespace
}  // namespace mote::target
