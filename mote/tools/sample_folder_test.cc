#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "mote/tools/files.h"
#include "mote/tools/npy.h"
#include "mote/tools/sample_folder.h"
#include "mote/tools/wav.h"

namespace mote::tools {
namespace {

namespace fs = std::filesystem;

class SampleFolderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("mote_samples_" + std::to_string(::testing::UnitTest::GetInstance()->random_seed()) + "_" +
                                           ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& name, DType dtype, std::vector<int64_t> dims, std::vector<uint8_t> data) {
    fs::create_directories((folder_ / name).parent_path());
    std::string error;
    ASSERT_TRUE(write_npy((folder_ / name).string(), {dtype, std::move(dims), std::move(data)}, &error)) << error;
  }
  SampleFolder open(const driver::Signature::Method& m, SampleRange range = {}) {
    return SampleFolder(
        folder_.string(), m, [](const std::string&) { return std::string(); }, range);
  }
  static driver::Signature::Method method(std::vector<driver::Signature::Io> inputs) { return {std::move(inputs), {}}; }
  static std::vector<double> read(SampleFolder& f, size_t i, size_t input = 0) {
    std::vector<driver::Array> all;
    std::string error;
    EXPECT_TRUE(f.read(i, &all, &error)) << error;
    return driver::to_doubles(all.at(input));
  }

  fs::path folder_;
};

TEST_F(SampleFolderTest, SplitsBatchesAndConvertsNumbers) {
  write("a.npy", DType::u8, {3, 2}, {1, 2, 3, 4, 5, 6});
  write("b.npy", DType::u8, {1, 2}, {7, 8});
  write("c.npy", DType::u8, {2}, {9, 10});  // without the batch axis
  SampleFolder f = open(method({{"x", DType::f32, {{1, 2}}}}));
  ASSERT_EQ(f.count(), 5u);
  EXPECT_EQ(read(f, 1), (std::vector<double>{3, 4}));
  EXPECT_EQ(read(f, 3), (std::vector<double>{7, 8}));
  EXPECT_EQ(read(f, 4), (std::vector<double>{9, 10}));
  EXPECT_EQ(read(f, 0), (std::vector<double>{1, 2}));
  SampleFolder some = open(method({{"x", DType::f32, {{1, 2}}}}), {2, 2});
  ASSERT_EQ(some.count(), 2u);
  EXPECT_EQ(read(some, 0), (std::vector<double>{5, 6}));
}

TEST_F(SampleFolderTest, ReadsSeveralInputsByName) {
  const auto m = method({{"a/1", DType::f32, {{1, 1}}}, {"b", DType::s64, {{1, 1}}}});
  write("a_1.npy", DType::u8, {2, 1}, {1, 2});
  write("b.npy", DType::u8, {2, 1}, {3, 4});
  SampleFolder f = open(m);
  ASSERT_EQ(f.count(), 2u);
  EXPECT_EQ(read(f, 1, 0), (std::vector<double>{2}));
  EXPECT_EQ(read(f, 1, 1), (std::vector<double>{4}));
  fs::remove(folder_ / "a_1.npy");
  fs::remove(folder_ / "b.npy");
  write("s0/a_1.npy", DType::u8, {1, 1}, {5});
  write("s0/b.npy", DType::u8, {1, 1}, {6});
  SampleFolder g = open(m);
  ASSERT_EQ(g.count(), 1u);
  EXPECT_EQ(read(g, 0, 1), (std::vector<double>{6}));
}

TEST_F(SampleFolderTest, RefusesWhatDoesNotFit) {
  const auto m = method({{"x", DType::f32, {{1, 2}}}});
  EXPECT_THROW(open(m), Failure);  // nothing there
  write("a.npy", DType::u8, {1, 3}, {1, 2, 3});
  EXPECT_THROW(open(m), Failure);
  fs::remove(folder_ / "a.npy");
  write("a.npy", DType::u8, {1, 2}, {1, 2});
  EXPECT_THROW(open(m, {1, 0}), Failure);  // nothing is left
  EXPECT_THROW(SampleFolder("no/such/folder", m, nullptr, {}), Failure);
}

std::vector<uint8_t> wav_of(uint16_t channels, uint16_t bits, std::vector<uint8_t> data) {
  std::vector<uint8_t> b = {'R', 'I', 'F', 'F', 0, 0, 0, 0, 'W', 'A', 'V', 'E', 'f', 'm', 't', ' ', 16, 0, 0, 0, 1, 0};
  const auto put = [&](uint32_t v, int n) {
    for (int i = 0; i < n; ++i) b.push_back(static_cast<uint8_t>(v >> 8 * i));
  };
  put(channels, 2);
  put(16000, 4);
  put(16000u * channels * bits / 8, 4);
  put(channels * bits / 8u, 2);
  put(bits, 2);
  b.insert(b.end(), {'d', 'a', 't', 'a'});
  put(static_cast<uint32_t>(data.size()), 4);
  b.insert(b.end(), data.begin(), data.end());
  return b;
}

TEST_F(SampleFolderTest, NamesWhereThereIsNoNumber) {
  const float numbers[] = {1, 2, std::nanf(""), 4};
  const auto* bytes = reinterpret_cast<const uint8_t*>(numbers);
  write("a.npy", DType::f32, {2, 2}, std::vector<uint8_t>(bytes, bytes + sizeof numbers));
  SampleFolder f = open(method({{"x", DType::f32, {{1, 2}}}}));
  EXPECT_EQ(read(f, 0), (std::vector<double>{1, 2}));
  std::vector<driver::Array> all;
  std::string error;
  EXPECT_FALSE(f.read(1, &all, &error));
  for (const char* part : {"a.npy", "NaN", "sample 1", "'x'"}) EXPECT_NE(error.find(part), std::string::npos) << error;
}

TEST_F(SampleFolderTest, CutsSoundsIntoPieces) {
  const std::vector<uint8_t> wav = wav_of(1, 16, {0, 0, 0, 0x40, 0, 0xc0});
  std::string error;
  ASSERT_TRUE(write_whole_file((folder_ / "a.wav").string(), wav, &error));
  SampleFolder f = open(method({{"x", DType::f32, {{1, 2}}}}));
  ASSERT_EQ(f.count(), 2u);
  EXPECT_EQ(read(f, 0), (std::vector<double>{0, 0.5}));
  EXPECT_EQ(read(f, 1), (std::vector<double>{-0.5, 0}));
}

TEST(Wav, ReadsFormatsAndRefusesTheRest) {
  Sound s;
  std::string error;
  ASSERT_TRUE(parse_wav(wav_of(2, 8, {128, 192, 0, 0}), &s, &error)) << error;
  EXPECT_EQ(s.samples, (std::vector<float>{0.25f, -1}));
  EXPECT_EQ(s.rate, 16000u);
  ASSERT_TRUE(parse_wav(wav_of(1, 24, {0, 0, 0x80}), &s, &error)) << error;
  EXPECT_EQ(s.samples, (std::vector<float>{-1}));
  EXPECT_FALSE(parse_wav(wav_of(1, 12, {0, 0}), &s, &error));
  EXPECT_FALSE(parse_wav({'R', 'I', 'F', 'F'}, &s, &error));
  std::vector<uint8_t> cut = wav_of(1, 16, {1, 2, 3, 4});
  for (size_t n = 0; n < cut.size(); ++n) parse_wav({cut.begin(), cut.begin() + static_cast<long>(n)}, &s, &error);
}

}  // namespace
}  // namespace mote::tools
