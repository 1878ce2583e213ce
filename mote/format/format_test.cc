// The file around the instructions: versions, segments, digests, texts.

#include <gtest/gtest.h>

#include <cstring>

#include "mote/core/layout.h"
#include "mote/format/sha256.h"
#include "mote/ops/q_matmul/q_matmul.h"
#include "mote/runtime/testing/run_program.h"

namespace mote::runtest {
namespace {

using emit::ProgramBuilder;
using emit::ProgramRecords;
using emit::TensorId;

void sample(ProgramBuilder& b) {
  b.begin_method("main");
  const TensorId x = b.input("x", DType::f32, {3});
  b.output("y", b.op(OpId::add, NoAttrs{}, {x, b.constant_f32({3}, {1, 2, 3})}));
}

// The sample with another version and, perhaps, a feature it requires.
emit::FileBytes with_version(uint16_t major, uint16_t minor, const char* feature = nullptr) {
  ProgramBuilder b;
  sample(b);
  ProgramRecords r;
  EXPECT_TRUE(emit::read_records(finish(b).span(), &r));
  r.major = major;
  r.minor = minor;
  if (feature != nullptr) r.required_features.push_back(r.strings.add(feature));
  emit::FileBytes file;
  std::string error;
  emit::WriteOptions unverified;
  unverified.verify = false;
  EXPECT_TRUE(emit::write_program(r, unverified, emit::builtin_registry(), &file, &error)) << error;
  return file;
}

TEST(FormatVersion, AnOlderAndANewerMinorAreRead) {
  EXPECT_TRUE(Loaded(with_version(kFormatMajor, 0)).status.ok());
  EXPECT_TRUE(Loaded(with_version(kFormatMajor, kFormatMinor)).status.ok());
  EXPECT_TRUE(Loaded(with_version(kFormatMajor, kFormatMinor + 7)).status.ok());
}

TEST(FormatVersion, ANewerMinorThatNeedsSomethingUnknownIsRefusedByName) {
  Loaded p(with_version(kFormatMajor, kFormatMinor + 1, "sparse-panels"));
  EXPECT_EQ(p.status, Status(Status::kVersion, Why::kUnknownFeature));
  ASSERT_NE(p.diagnostic.name, nullptr);
  EXPECT_STREQ(p.diagnostic.name, "sparse-panels");
}

TEST(FormatVersion, ANewerMajorIsRefusedWithTheReason) {
  Loaded p(with_version(kFormatMajor + 1, 0));
  EXPECT_EQ(p.status, Status(Status::kVersion, Why::kNewerMajor));
  EXPECT_EQ(p.diagnostic.expected, kFormatMajor);
  EXPECT_EQ(p.diagnostic.found, kFormatMajor + 1);
}

TEST(Format, NotAProgram) {
  alignas(16) uint8_t bytes[64] = {};
  Program program;
  auto open = [&](size_t size, size_t at = 0) {
    return Program::open({{bytes + at, size}, 0, {}}, emit::builtin_registry(), &program).why();
  };
  EXPECT_EQ(open(0), Why::kNotAProgram);
  EXPECT_EQ(open(64), Why::kNotAProgram);
  EXPECT_EQ(open(48, 8), Why::kMisaligned);
  std::memcpy(bytes + 8, "MOTE", 4);
  EXPECT_EQ(open(64), Why::kTruncated);
  bytes[0] = 60;
  EXPECT_EQ(open(64), Why::kTable);
  std::memset(bytes, 0xff, 8);
  EXPECT_EQ(open(64), Why::kTruncated);
}

TEST(Format, SegmentsLieAtTheAlignmentAskedFor) {
  for (const uint32_t alignment : {16u, 64u, 4096u, 65536u}) {
    ProgramBuilder b;
    sample(b);
    emit::FileBytes file;
    std::string error;
    emit::WriteOptions options;
    options.segment_alignment = alignment;
    ASSERT_TRUE(b.finish(&file, &error, options)) << error;
    Loaded p(file);
    ASSERT_TRUE(p.status.ok()) << emit::describe(p.diagnostic);
    EXPECT_EQ(p.program.table().segments[0].offset % alignment, 0u);
    EXPECT_EQ(p.program.segment(0).data, p.file().data() + p.program.table().segments[0].offset) << "constants are used in place";
  }
}

TEST(Format, DigestsCoverTheSegments) {
  ProgramBuilder b;
  sample(b);
  Loaded p(finish(b));
  ASSERT_TRUE(p.status.ok());
  EXPECT_TRUE(check_digests(p.program, nullptr).ok());
  emit::FileBytes changed = p.file();
  changed.data()[p.program.table().segments[0].offset] ^= 1;
  Loaded q(changed);
  ASSERT_TRUE(q.status.ok()) << "loading checks the table alone";
  Diagnostic d;
  EXPECT_EQ(check_digests(q.program, &d), Status(Status::kDigest, Why::kDigestMismatch));
  EXPECT_EQ(d.found, 0) << "the number of the segment";
}

TEST(Format, WhatALayoutSaysOfWeightsIsChecked) {
  for (const int8_t weight : {int8_t{64}, int8_t{65}}) {
    ProgramBuilder b;
    b.begin_method("main");
    std::vector<int8_t> w(panel_bytes(Layout::kPanel16k4Pairs, DType::s8, 2, 8), 0);
    w[4] = w[5] = weight;
    ops::q_matmul::Attrs sums;
    sums.to = static_cast<uint32_t>(DType::s32);
    b.output("y", b.op(OpId::q_matmul, sums,
                       {b.input("x", DType::s8, {3, 8}), b.constant(DType::s8, {2, 8}, w.data(), Layout::kPanel16k4Pairs)}));
    Loaded p(finish(b));
    ASSERT_TRUE(p.status.ok()) << emit::describe(p.diagnostic);
    const bool fits = weight <= 64;
    Diagnostic d;
    EXPECT_EQ(check_digests(p.program, &d), fits ? Status(Status::kOk) : Status(Status::kCorrupt, Why::kWeightPairs));
    if (fits) continue;
    EXPECT_EQ(p.program.table().tensors[static_cast<uint32_t>(d.found)].layout, Layout::kPanel16k4Pairs);
  }
}

TEST(Format, TheSignatureSlotIsOutsideItsOwnDigest) {
  ProgramBuilder b;
  sample(b);
  b.reserve_signature(96);
  Loaded p(finish(b));
  ASSERT_TRUE(p.status.ok()) << emit::describe(p.diagnostic);
  const ProgramTable& t = p.program.table();
  ASSERT_EQ(t.segments.size, 2u);
  EXPECT_EQ(t.segments[1].kind, SegmentKind::kSignature);
  EXPECT_EQ(t.segments[1].size, 96u);
  emit::FileBytes signed_file = p.file();
  std::memset(signed_file.data() + t.segments[1].offset, 0x5a, 96);
  Loaded q(signed_file);
  EXPECT_TRUE(q.status.ok());
  EXPECT_TRUE(check_digests(q.program, nullptr).ok());
}

TEST(Format, WeightsMayLiveInASecondFile) {
  ProgramBuilder b;
  b.external_constants();
  sample(b);
  const emit::FileBytes file = finish(b);
  Program program;
  EXPECT_EQ(Program::open({file.span(), 0, {}}, emit::builtin_registry(), &program).why(), Why::kSegmentMissing);
  emit::FileBytes weights = emit::FileBytes::of_size(b.external_bytes().size());  // a vector may be less aligned
  std::memcpy(weights.data(), b.external_bytes().data(), weights.size);
  const ConstBytes parts[] = {weights.span()};
  EXPECT_TRUE(Program::open({file.span(), 0, parts}, emit::builtin_registry(), &program).ok());
  EXPECT_TRUE(check_digests(program, nullptr).ok());
}

TEST(Format, MetadataEvidencePolicyAndQuantizationAreKept) {
  ProgramBuilder b;
  sample(b);
  b.metadata("name", "adder");
  b.metadata("labels", "a\nb\nc");
  b.evidence("producer", "test");
  b.policy("[default]\nrequire = [\"cpu\"]\n");
  b.quantization(0, 0.5f, -3);
  Loaded p(finish(b));
  ASSERT_TRUE(p.status.ok());
  const ProgramTable& t = p.program.table();
  ASSERT_EQ(t.metadata.size, 2u);
  EXPECT_STREQ(t.string(t.metadata[1].value), "a\nb\nc");
  EXPECT_STREQ(t.string(t.evidence[0].key), "producer");
  EXPECT_STREQ(t.string(t.policy), "[default]\nrequire = [\"cpu\"]\n");
  EXPECT_EQ(t.quants[0].zero_point, -3);
}

TEST(Format, TheSameRecordsGiveTheSameBytes) {
  ProgramBuilder a, b;
  sample(a);
  sample(b);
  const emit::FileBytes fa = finish(a), fb = finish(b);
  ASSERT_EQ(fa.size, fb.size);
  EXPECT_EQ(std::memcmp(fa.data(), fb.data(), fa.size), 0);
}

TEST(Sha256, KnownDigests) {
  auto hex = [](const std::string& text, size_t part) {
    Sha256 sha;
    for (size_t i = 0; i < text.size(); i += part)
      sha.update({reinterpret_cast<const uint8_t*>(text.data()) + i, std::min(part, text.size() - i)});
    uint8_t digest[32];
    sha.finish(digest);
    std::string out;
    for (uint8_t byte : digest) {
      char two[3];
      std::snprintf(two, sizeof two, "%02x", byte);
      out += two;
    }
    return out;
  };
  EXPECT_EQ(hex("", 1), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex("abc", 1), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  const std::string long_text(1000, 'a');
  for (const size_t part : {1u, 7u, 63u, 64u, 65u, 1000u})
    EXPECT_EQ(hex(long_text, part), "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3");
}

}  // namespace
}  // namespace mote::runtest
