#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "mote/platform/clock.h"
#include "mote/platform/file.h"
#include "mote/platform/log.h"
#include "mote/platform/memory.h"
#include "mote/platform/process.h"

namespace mote {
namespace {

class TempFile {
 public:
  explicit TempFile(const std::string& content)
      : path_((std::filesystem::temp_directory_path() /
               ("mote_platform_test_" + std::to_string(::testing::UnitTest::GetInstance()->random_seed()) + "_" +
                std::to_string(clock_now_ns())))
                  .string()) {
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~TempFile() { std::filesystem::remove(path_); }
  const char* path() const { return path_.c_str(); }

 private:
  std::string path_;
};

TEST(File, ReadsPartsAtAnyPosition) {
  const TempFile temp("0123456789");
  File file;
  ASSERT_TRUE(File::open(temp.path(), &file).ok());
  EXPECT_EQ(file.size(), 10u);
  uint8_t part[4];
  ASSERT_TRUE(file.read_at(3, part).ok());
  EXPECT_EQ(std::string(part, part + 4), "3456");
  EXPECT_TRUE(file.read_at(10, {part, 0}).ok());
}

TEST(File, NeverGivesAPartOfWhatWasAsked) {
  const TempFile temp("0123456789");
  File file;
  ASSERT_TRUE(File::open(temp.path(), &file).ok());
  uint8_t part[4];
  EXPECT_EQ(file.read_at(7, part), Status(Status::kIo, Why::kFileRead));
  EXPECT_EQ(file.read_at(~uint64_t{0}, part), Status(Status::kIo, Why::kFileRead));
  EXPECT_EQ(File().read_at(0, part), Status(Status::kIo, Why::kFileRead));
  // A file that shrinks while it is open ends a read half way.
  std::filesystem::resize_file(temp.path(), 5);
  EXPECT_EQ(file.read_at(3, part), Status(Status::kIo, Why::kFileRead));
}

TEST(File, WhatIsNoRegularFileIsNotOpened) {
  File file;
  EXPECT_EQ(File::open("/no/such/file", &file), Status(Status::kIo, Why::kFileOpen));
  EXPECT_EQ(File::open(std::filesystem::temp_directory_path().c_str(), &file), Status(Status::kIo, Why::kFileOpen));
  EXPECT_FALSE(file.is_open());
}

TEST(File, MovesAndCloses) {
  const TempFile temp("abc");
  File a;
  ASSERT_TRUE(File::open(temp.path(), &a).ok());
  File b(std::move(a));
  EXPECT_TRUE(b.is_open());
  File c;
  c = std::move(b);
  uint8_t part[3];
  EXPECT_TRUE(c.read_at(0, part).ok());
  c.close();
  EXPECT_FALSE(c.is_open());
}

TEST(MappedFile, ShowsTheBytes) {
  const std::string content(100000, 'x');
  const TempFile temp(content);
  MappedFile m;
  ASSERT_TRUE(MappedFile::open(temp.path(), &m).ok());
  ASSERT_EQ(m.bytes().size, content.size());
  EXPECT_EQ(std::memcmp(m.bytes().data, content.data(), content.size()), 0);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(m.bytes().data) % 4096, 0u);
  MappedFile other(std::move(m));
  EXPECT_EQ(m.bytes().size, 0u);  // NOLINT(bugprone-use-after-move): it promises to be empty
  EXPECT_EQ(other.bytes().data[99999], 'x');
  other.close();
  EXPECT_EQ(other.bytes().data, nullptr);
}

TEST(MappedFile, AnEmptyFileIsAnEmptySpan) {
  const TempFile temp("");
  MappedFile m;
  ASSERT_TRUE(MappedFile::open(temp.path(), &m).ok());
  EXPECT_EQ(m.bytes().size, 0u);
  EXPECT_EQ(MappedFile::open("/no/such/file", &m), Status(Status::kIo, Why::kFileOpen));
}

TEST(Clock, NeverGoesBack) {
  uint64_t last = clock_now_ns();
  EXPECT_GT(last, 0u);
  for (int i = 0; i < 1000; ++i) {
    const uint64_t now = clock_now_ns();
    EXPECT_GE(now, last);
    last = now;
  }
}

TEST(Memory, IsAligned) {
  for (size_t alignment = 1; alignment <= 16384; alignment *= 2) {
    void* p = host_allocate(3, alignment);
    ASSERT_NE(p, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % alignment, 0u);
    host_release(p);
  }
  for (const size_t bytes : {size_t{4096} * 3 + 5, size_t{700} << 10, (size_t{2} << 20) + 1, size_t{9} << 20}) {
    auto* p = static_cast<uint8_t*>(host_allocate(bytes, 64));
    ASSERT_NE(p, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % 64, 0u);
    for (size_t i = 0; i < bytes; ++i) p[i] = static_cast<uint8_t>(i * 7);
    for (size_t i = 0; i < bytes; i += 509) ASSERT_EQ(p[i], static_cast<uint8_t>(i * 7)) << bytes;
    host_release(p);
  }
  void* nothing = host_allocate(0, 16);
  EXPECT_NE(nothing, nullptr);
  host_release(nothing);
  host_release(nullptr);
}

TEST(Log, GoesToTheSink) {
  std::string seen;
  set_log_sink({&seen, [](void* self, LogLevel level, const char* text) {
                  *static_cast<std::string*>(self) += std::to_string(static_cast<int>(level)) + text;
                }});
  log_line(LogLevel::kWarning, "hot");
  set_log_sink({});
  EXPECT_EQ(seen, "1hot");
}

TEST(FatalDeathTest, CallsTheHookAndEnds) {
  EXPECT_DEATH(
      {
        set_abort_hook([](const char* text) { std::fprintf(stderr, "hook: %s\n", text); });
        fatal("broken promise");
      },
      "hook: broken promise");
}

TEST(Process, TellsItsMemory) {
  const ProcessMemory m = process_memory();
  EXPECT_GT(m.peak_resident_bytes, 100000u);
  EXPECT_GE(m.peak_resident_bytes, m.anonymous_bytes);
}

}  // namespace
}  // namespace mote
