#include "mote/tools/npy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace mote::tools {
namespace {

std::vector<uint8_t> file(const std::string& header, const std::vector<uint8_t>& data, uint8_t version = 1) {
  std::vector<uint8_t> f = {
      0x93, 'N', 'U', 'M', 'P', 'Y', version, 0, static_cast<uint8_t>(header.size()), static_cast<uint8_t>(header.size() >> 8)};
  for (int shift = 16; version > 1 && shift <= 24; shift += 8) f.push_back(static_cast<uint8_t>(header.size() >> shift));
  f.insert(f.end(), header.begin(), header.end());
  f.insert(f.end(), data.begin(), data.end());
  return f;
}

bool parse(const std::vector<uint8_t>& bytes, NpyArray* out, std::string* error) {
  // A copy of exactly this size, so that a sanitizer sees reads past the end.
  const std::unique_ptr<uint8_t[]> copy(new uint8_t[bytes.size()]);
  std::copy(bytes.begin(), bytes.end(), copy.get());
  return parse_npy(copy.get(), bytes.size(), out, error);
}

std::string refusal(const std::vector<uint8_t>& bytes) {
  NpyArray a;
  std::string error;
  return parse(bytes, &a, &error) ? "" : error;
}

TEST(Npy, EveryTypeRoundTrips) {
  for (uint8_t v = 1; v < kDTypeCount; ++v) {
    const auto type = static_cast<DType>(v);
    if (dtype_bits(type) < 8) continue;
    NpyArray a, b;
    a.dtype = type;
    a.dims = {2, 3};
    a.data.resize(6 * dtype_bytes(type));
    for (size_t i = 0; i < a.data.size(); ++i) a.data[i] = static_cast<uint8_t>(i * 7);
    const std::vector<uint8_t> bytes = format_npy(a);
    std::string error;
    ASSERT_TRUE(parse(bytes, &b, &error)) << error;
    EXPECT_EQ(b.dtype, type);
    EXPECT_EQ(b.dims, a.dims);
    EXPECT_EQ(b.data, a.data);
    EXPECT_EQ((bytes.size() - a.data.size()) % 64, 0u) << "numpy aligns data to 64";
  }
}

TEST(Npy, WritesWhatNumpyWrites) {
  NpyArray a;
  a.dtype = DType::bf16;
  a.dims = {3};
  a.data.resize(6);
  const std::vector<uint8_t> bytes = format_npy(a);
  const std::string text(bytes.begin(), bytes.end());
  EXPECT_NE(text.find("{'descr': '<V2', 'fortran_order': False, 'shape': (3,), }"), std::string::npos);
  a.dims = {};
  a.dtype = DType::boolean;
  a.data.resize(1);
  const std::vector<uint8_t> scalar = format_npy(a);
  EXPECT_NE(std::string(scalar.begin(), scalar.end()).find("'|b1', 'fortran_order': False, 'shape': (), }"), std::string::npos);
}

TEST(Npy, ReadsVersionsOneToThree) {
  NpyArray a;
  std::string error;
  for (uint8_t version = 1; version <= 3; ++version) {
    ASSERT_TRUE(parse(file("{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }\n", {1, 0, 2, 0}, version), &a, &error)) << error;
    EXPECT_EQ(a.dims, std::vector<int64_t>{2});
    EXPECT_EQ(a.dtype, DType::s16);
  }
  EXPECT_NE(refusal(file("{}", {}, 4)).find("expected 1, 2 or 3, found 4"), std::string::npos);
}

TEST(Npy, TurnsColumnMajorAround) {
  NpyArray a;
  std::string error;
  // [[1, 2, 3], [4, 5, 6]] column by column.
  ASSERT_TRUE(parse(file("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }", {1, 4, 2, 5, 3, 6}), &a, &error)) << error;
  EXPECT_EQ(a.data, (std::vector<uint8_t>{1, 2, 3, 4, 5, 6}));
}

TEST(Npy, SwapsBigEndian) {
  NpyArray a;
  std::string error;
  ASSERT_TRUE(parse(file("{'descr': '>u4', 'fortran_order': False, 'shape': (1,), }", {1, 2, 3, 4}), &a, &error)) << error;
  EXPECT_EQ(a.data, (std::vector<uint8_t>{4, 3, 2, 1}));
}

TEST(Npy, KeysInAnyOrderAndEmptyArrays) {
  NpyArray a;
  std::string error;
  ASSERT_TRUE(parse(file("{\"shape\": (0, 99999999999), 'fortran_order': False, 'descr': '<f4'}", {}), &a, &error)) << error;
  EXPECT_TRUE(a.data.empty());
}

TEST(Npy, HostileHeadersAreRefused) {
  const std::string good = "'fortran_order': False, 'shape': (1,), }";
  EXPECT_NE(refusal({}), "");
  EXPECT_NE(refusal({0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, 255, 255}), "");
  EXPECT_NE(refusal({0x93, 'N', 'U', 'M', 'P', 'Y', 2, 0, 1, 0}), "");
  EXPECT_NE(refusal(file("", {})), "");
  EXPECT_NE(refusal(file("{", {})), "");
  EXPECT_NE(refusal(file("{'descr': '<f4'", {})), "");
  EXPECT_NE(refusal(file("{'descr': '<f4", {})), "");
  EXPECT_NE(refusal(file("{'descr': [('a', '<f4')], " + good, {0, 0, 0, 0})), "");
  EXPECT_NE(refusal(file("{'descr': 'O', " + good, {0})), "");
  EXPECT_NE(refusal(file("{'descr': '<c8', " + good, {0, 0, 0, 0, 0, 0, 0, 0})), "");
  EXPECT_NE(refusal(file("{'descr': '<f4', 'descr': '<f4', " + good, {0, 0, 0, 0})), "");
  EXPECT_NE(refusal(file("{'descr': '<f4', 'extra': 1, " + good, {0, 0, 0, 0})), "");
  EXPECT_NE(refusal(file("{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,), }", {0, 0, 0, 0})), "");
  EXPECT_NE(refusal(file("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", {0, 0, 0, 0})), "");
  EXPECT_NE(refusal(file("{'descr': '<f4', 'fortran_order': False, 'shape': (1, }", {0, 0, 0, 0})), "");
  EXPECT_NE(refusal(file("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", {})), "");
  EXPECT_NE(refusal(file("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 4294967296), }", {})), "");
  std::string deep = "{'descr': '<f4', 'fortran_order': False, 'shape': (";
  for (int i = 0; i < 40; ++i) deep += "1, ";
  EXPECT_NE(refusal(file(deep + "), }", {0, 0, 0, 0})), "");
  EXPECT_NE(refusal(file("{'descr': '<f4', " + good + " trailing", {0, 0, 0, 0})), "");
  EXPECT_NE(refusal(file("{'descr': '<f4', " + good, {0, 0, 0})).find("expected 4 bytes, found 3"), std::string::npos);
}

TEST(Npy, DamagedFilesNeverReadOutside) {
  NpyArray a;
  a.dtype = DType::f32;
  a.dims = {3, 2};
  a.data.resize(24);
  const std::vector<uint8_t> good = format_npy(a);
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    std::vector<uint8_t> bad = good;
    for (int k = 0; k < 3; ++k) bad[random() % bad.size()] = static_cast<uint8_t>(random());
    bad.resize(random() % (bad.size() + 1));
    NpyArray out;
    std::string error;
    if (parse(bad, &out, &error)) EXPECT_LE(out.data.size(), bad.size());
    else EXPECT_NE(error, "");
  }
}

TEST(Npy, FilesThatAreNotThere) {
  NpyArray a;
  std::string error;
  EXPECT_FALSE(read_npy("/no/such/file.npy", &a, &error));
  EXPECT_NE(error.find("cannot be opened"), std::string::npos);
  EXPECT_FALSE(read_npy("/", &a, &error));
  EXPECT_FALSE(write_npy("/no/such/folder/x.npy", a, &error));
}

}  // namespace
}  // namespace mote::tools
