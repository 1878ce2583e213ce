#include "mote/platform/loader.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "mote/compiler/emit/builder.h"

namespace mote {
namespace {

emit::FileBytes small_program() {
  emit::ProgramBuilder b;
  b.begin_method("main");
  const emit::TensorId x = b.input("x", DType::f32, {4});
  const emit::TensorId c = b.constant_f32({4}, {1, 2, 3, 4});
  b.output("y", b.op(OpId::add, NoAttrs{}, {x, c}));
  emit::FileBytes file;
  std::string error;
  EXPECT_TRUE(b.finish(&file, &error)) << error;
  return file;
}

struct alignas(16384) Page {
  uint8_t bytes[16384];
};

// A source whose reads fail from the n-th on, or stop half way.
struct Flaky {
  ConstBytes bytes;
  int good_reads;
  bool half;  // fill half of the buffer before failing, as a device that went away does

  ByteSource source() {
    return {this, bytes.size, [](void* self, uint64_t offset, ByteSpan to) -> Status {
              auto* f = static_cast<Flaky*>(self);
              const bool good = f->good_reads-- > 0;
              const size_t n = good ? to.size : f->half ? to.size / 2 : 0;
              std::memcpy(to.data, f->bytes.data + offset, n);
              return good ? Status(Status::kOk) : Status(Status::kIo, Why::kFileRead);
            }};
  }
};

Status load_all(const ByteSource& source) {
  uint32_t size = 0;
  MOTE_TRY(find_table_size(source, &size));
  std::vector<Page> memory(size / sizeof(Page) + 1);
  ProgramTable table;
  Diagnostic d;
  MOTE_TRY(load_table(source, {memory[0].bytes, memory.size() * sizeof(Page)}, &table, &d));
  for (const Segment& s : table.segments) {
    std::vector<Page> to(static_cast<size_t>(s.size) / sizeof(Page) + 1);
    MOTE_TRY(load_segment(source, s, {to[0].bytes, to.size() * sizeof(Page)}, true));
  }
  return Status::kOk;
}

TEST(Loader, ReadsTableThenSegments) {
  const emit::FileBytes file = small_program();
  const ConstBytes bytes = file.span();
  const ByteSource source = byte_source(bytes);
  EXPECT_TRUE(load_all(source).ok());
}

TEST(Loader, EachReadThatFailsIsReported) {
  const emit::FileBytes file = small_program();
  int reads = 0;
  for (const bool half : {false, true}) {
    for (reads = 0;; ++reads) {
      ASSERT_LT(reads, 20);
      Flaky flaky{file.span(), reads, half};
      const Status s = load_all(flaky.source());
      if (s.ok()) break;
      EXPECT_EQ(s, Status(Status::kIo, Why::kFileRead)) << reads;
    }
    EXPECT_GE(reads, 3);  // head, table, at least one segment
  }
}

TEST(Loader, EveryLengthOfACutOffFileIsRefused) {
  const emit::FileBytes file = small_program();
  uint32_t table = 0;
  const ConstBytes whole = file.span();
  ASSERT_TRUE(find_table_size(byte_source(whole), &table).ok());
  for (size_t size = 0; size < file.size; size += size < table ? 1 : 997) {
    const ConstBytes cut{file.data(), size};
    EXPECT_FALSE(load_all(byte_source(cut)).ok()) << size;
  }
}

TEST(Loader, MemoryOneByteShortIsRefused) {
  const emit::FileBytes file = small_program();
  const ConstBytes bytes = file.span();
  const ByteSource source = byte_source(bytes);
  uint32_t size = 0;
  ASSERT_TRUE(find_table_size(source, &size).ok());
  std::vector<Page> memory(size / sizeof(Page) + 1);
  ProgramTable table;
  Diagnostic d;
  EXPECT_EQ(load_table(source, {memory[0].bytes, size - 1}, &table, &d), Status(Status::kOutOfMemory, Why::kBufferSize));
  EXPECT_EQ(d.expected, static_cast<int32_t>(size));
  ASSERT_TRUE(load_table(source, {memory[0].bytes, size}, &table, &d).ok());
  const Segment& s = table.segments[0];
  std::vector<Page> to(static_cast<size_t>(s.size) / sizeof(Page) + 1);
  EXPECT_EQ(load_segment(source, s, {to[0].bytes, static_cast<size_t>(s.size) - 1}, false), Status(Status::kOutOfMemory, Why::kBufferSize));
  EXPECT_EQ(load_segment(source, s, {to[0].bytes + 1, static_cast<size_t>(s.size)}, false),
            Status(Status::kInvalidArgument, Why::kBufferAlignment));
}

TEST(Loader, AChangedByteFailsItsDigestOnRequest) {
  emit::FileBytes file = small_program();
  ProgramTable table;
  ASSERT_TRUE(read_table(file.span(), file.size, &table, nullptr).ok());
  const Segment s = table.segments[0];
  file.data()[s.offset + 5] ^= 1;
  std::vector<Page> to(static_cast<size_t>(s.size) / sizeof(Page) + 1);
  const ByteSpan memory{to[0].bytes, to.size() * sizeof(Page)};
  const ConstBytes bytes = file.span();
  EXPECT_TRUE(load_segment(byte_source(bytes), s, memory, false).ok());
  EXPECT_EQ(load_segment(byte_source(bytes), s, memory, true), Status(Status::kDigest, Why::kDigestMismatch));
}

TEST(Loader, RangesOutsideOfTheSourceNeverReachIt) {
  const ByteSource source{nullptr, 10, [](void*, uint64_t, ByteSpan) -> Status {
                            ADD_FAILURE() << "called";
                            return Status::kOk;
                          }};
  uint8_t byte[2];
  EXPECT_FALSE(source.read_at(9, byte).ok());
  EXPECT_FALSE(source.read_at(~uint64_t{0}, byte).ok());
  EXPECT_FALSE(ByteSource().read_at(0, byte).ok());
}

}  // namespace
}  // namespace mote
