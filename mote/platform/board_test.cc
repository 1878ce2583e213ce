// The bare-metal implementations with a board that has one file in "flash", a counter for a clock and an array for a heap.

#include "mote/platform/board.h"

#include <gtest/gtest.h>

#include <csetjmp>
#include <cstring>
#include <string>

#include "mote/platform/clock.h"
#include "mote/platform/file.h"
#include "mote/platform/log.h"
#include "mote/platform/memory.h"
#include "mote/platform/process.h"

namespace {

const char kFlash[] = "model bytes";
bool medium_gone = false;
int open_files = 0;
std::string console;
std::jmp_buf reset;

}  // namespace

// These replace the weak defaults; mote_board_allocate keeps its default.
extern "C" {
uint64_t mote_board_now_ns(void) {
  static uint64_t t = 0;
  return t += 10;
}
void mote_board_log(const char* text) { console += text; }
void mote_board_abort(const char*) { std::longjmp(reset, 1); }
int mote_board_file_open(const char* path, uint64_t* size) {
  if (std::strcmp(path, "model") != 0) return -1;
  *size = sizeof kFlash - 1;
  ++open_files;
  return 0;
}
int mote_board_file_read(int, uint64_t offset, void* to, size_t size) {
  if (medium_gone) return -1;
  std::memcpy(to, kFlash + offset, size);
  return 0;
}
void mote_board_file_close(int) { --open_files; }
const void* mote_board_file_map(const char* path, uint64_t* size) {
  *size = sizeof kFlash - 1;
  return std::strcmp(path, "model") == 0 ? kFlash : nullptr;
}
}

namespace mote {
namespace {

TEST(Board, FileIsReadThroughTheBoard) {
  {
    File file;
    ASSERT_TRUE(File::open("model", &file).ok());
    uint8_t part[5];
    ASSERT_TRUE(file.read_at(6, part).ok());
    EXPECT_EQ(std::string(part, part + 5), "bytes");
    EXPECT_EQ(file.read_at(7, part), Status(Status::kIo, Why::kFileRead));
    medium_gone = true;
    EXPECT_EQ(file.read_at(0, part), Status(Status::kIo, Why::kFileRead));
    medium_gone = false;
    EXPECT_EQ(File::open("other", &file), Status(Status::kIo, Why::kFileOpen));
  }
  EXPECT_EQ(open_files, 0);
}

TEST(Board, FlashIsUsedInPlace) {
  MappedFile m;
  ASSERT_TRUE(MappedFile::open("model", &m).ok());
  EXPECT_EQ(static_cast<const void*>(m.bytes().data), kFlash);
  EXPECT_EQ(MappedFile::open("other", &m), Status(Status::kIo, Why::kFileMap));
}

TEST(Board, ClockAndLog) {
  const uint64_t a = clock_now_ns();
  EXPECT_EQ(clock_now_ns(), a + 10);
  log_line(LogLevel::kInfo, "hello");
  EXPECT_EQ(console, "hello");
}

TEST(Board, AFatalErrorReachesTheBoard) {
  if (setjmp(reset) == 0) {
    fatal("stop");
    ADD_FAILURE() << "returned";
  }
  EXPECT_NE(console.find("stop"), std::string::npos);
}

TEST(Board, WhatABoardDoesNotGiveHasADefault) {
  EXPECT_EQ(host_allocate(16, 16), nullptr);
  host_release(nullptr);
  EXPECT_EQ(process_memory().peak_resident_bytes, 0u);
}

}  // namespace
}  // namespace mote
