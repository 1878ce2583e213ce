#include "mote/tools/image.h"

#include <gtest/gtest.h>

#include <jpeglib.h>
#include <png.h>
#include <cstdio>
#include <cstring>

#include "mote/api/testing/programs.h"
#include "mote/tools/files.h"

namespace mote::tools {
namespace {

std::vector<uint8_t> png_of(const Pixels& p) {
  png_image image;
  std::memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(p.width);
  image.height = static_cast<png_uint_32>(p.height);
  image.format = p.channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  png_alloc_size_t size = 0;
  EXPECT_NE(png_image_write_to_memory(&image, nullptr, &size, 0, p.data.data(), 0, nullptr), 0);
  std::vector<uint8_t> bytes(size);
  EXPECT_NE(png_image_write_to_memory(&image, bytes.data(), &size, 0, p.data.data(), 0, nullptr), 0);
  bytes.resize(size);
  return bytes;
}

std::vector<uint8_t> jpeg_of(const Pixels& p) {
  jpeg_compress_struct info;
  jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* buffer = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &buffer, &size);
  info.image_width = static_cast<JDIMENSION>(p.width);
  info.image_height = static_cast<JDIMENSION>(p.height);
  info.input_components = p.channels;
  info.in_color_space = p.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 100, TRUE);
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < info.image_height) {
    JSAMPROW row =
        const_cast<uint8_t*>(p.data.data()) + static_cast<size_t>(info.next_scanline) * info.image_width * static_cast<size_t>(p.channels);
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  std::vector<uint8_t> bytes(buffer, buffer + size);
  free(buffer);
  return bytes;
}

Pixels plain_colour(int32_t h, int32_t w, std::vector<uint8_t> colour) {
  Pixels p{h, w, static_cast<int32_t>(colour.size()), {}};
  for (int32_t i = 0; i < h * w; ++i) p.data.insert(p.data.end(), colour.begin(), colour.end());
  return p;
}

TEST(Image, DecodesPngAndJpeg) {
  const Pixels red = plain_colour(8, 16, {250, 10, 20});
  Pixels out;
  std::string error;
  ASSERT_TRUE(decode_image(png_of(red), 3, &out, &error)) << error;
  EXPECT_EQ(out.data, red.data);
  EXPECT_EQ(out.width, 16);
  ASSERT_TRUE(decode_image(jpeg_of(red), 3, &out, &error)) << error;
  EXPECT_NEAR(out.data[0], 250, 3);
  EXPECT_NEAR(out.data[1], 10, 3);
  ASSERT_TRUE(decode_image(jpeg_of(red), 1, &out, &error)) << error;
  EXPECT_EQ(out.data.size(), 128u);
}

TEST(Image, DamagedFilesAreRefused) {
  Pixels out;
  std::string error;
  EXPECT_FALSE(decode_image({}, 3, &out, &error));
  EXPECT_FALSE(decode_image({'G', 'I', 'F', '8', '9', 'a', 0, 0, 0}, 3, &out, &error));
  const Pixels red = plain_colour(64, 64, {250, 10, 20});
  std::vector<uint8_t> png = png_of(red), jpeg = jpeg_of(red);
  png.resize(png.size() / 2);
  EXPECT_FALSE(decode_image(png, 3, &out, &error));
  EXPECT_NE(error.find("PNG"), std::string::npos);
  jpeg.resize(20);
  EXPECT_FALSE(decode_image(jpeg, 3, &out, &error));
  EXPECT_NE(error.find("JPEG"), std::string::npos);
}

// Plans come from a program's metadata.
struct Program {
  Program(const emit::Dims& dims, const std::vector<std::pair<std::string, std::string>>& metadata, DType dtype = DType::f32)
      : path("image.mote") {
    emit::ProgramBuilder b;
    b.begin_method("main");
    const emit::TensorId x = b.input("image", dtype, dims);
    b.output("y", b.op(OpId::add, NoAttrs{}, {x, x}));
    for (const auto& [key, value] : metadata) b.metadata("preprocess.image." + key, value);
    const emit::FileBytes file = api_test::finish(b);
    std::string error;
    EXPECT_TRUE(emit::save_file(path.str(), file.span(), &error)) << error;
    session = std::make_unique<Session>(path.str());
  }
  ImagePlan plan() const { return plan_image(*session, session->specs(0, false)); }

  api_test::TempPath path;
  std::unique_ptr<Session> session;
};

float value_at(const NpyArray& a, size_t i) {
  float v;
  std::memcpy(&v, a.data.data() + 4 * i, 4);
  return v;
}

TEST(Image, PreparesAsMetadataSays) {
  const Program p({1, 3, 4, 4},
                  {{"layout", "NCHW"}, {"channels", "BGR"}, {"mean", "0.5 0.25 0"}, {"std", "2"}, {"scale", "0.00392156862"}});
  const NpyArray a = prepare_image(plain_colour(8, 8, {255, 0, 51}), p.plan());
  EXPECT_EQ(a.dims, (std::vector<int64_t>{1, 3, 4, 4}));
  EXPECT_NEAR(value_at(a, 0), (0.2f - 0.5f) / 2, 1e-5);   // blue first
  EXPECT_NEAR(value_at(a, 16), (0.f - 0.25f) / 2, 1e-5);  // then green
  EXPECT_NEAR(value_at(a, 32), (1.f - 0.f) / 2, 1e-5);    // then red
}

TEST(Image, ShapesTellWhereChannelsAre) {
  const auto axis = [](const emit::Dims& dims) { return Program(dims, {}).plan().axis_c; };
  EXPECT_EQ(axis({1, 3, 8, 8}), 1);
  EXPECT_EQ(axis({1, 1, 8, 8}), 1);
  EXPECT_EQ(axis({1, 8, 8, 3}), 3);
  EXPECT_EQ(axis({1, 3, 3, 3}), 3);
  EXPECT_EQ(axis({3, 8, 8}), 0);
  EXPECT_EQ(axis({8, 8, 1}), 2);
}

TEST(Image, ResizesBilinearlyWithAlignedCentres) {
  const Program p({1, 1, 2, 1}, {{"scale", "1"}});
  // Columns 0, 10, 20, 30 shrink to the means of pairs.
  const NpyArray a = prepare_image({1, 4, 1, {0, 10, 20, 30}}, p.plan());
  EXPECT_FLOAT_EQ(value_at(a, 0), 5);
  EXPECT_FLOAT_EQ(value_at(a, 1), 25);
}

TEST(Image, CropsTheMiddle) {
  const Program p({1, 2, 2, 1}, {{"scale", "1"}, {"resize", "crop"}});
  const NpyArray a = prepare_image({2, 4, 1, {0, 10, 20, 30, 0, 10, 20, 30}}, p.plan());
  EXPECT_FLOAT_EQ(value_at(a, 0), 10);
  EXPECT_FLOAT_EQ(value_at(a, 1), 20);
}

TEST(Image, TensorsWithoutChannels) {
  const Program p({1, 8, 8}, {{"layout", "NHW"}});
  EXPECT_EQ(p.plan().channels, 1);
  EXPECT_EQ(prepare_image(plain_colour(3, 3, {255}), p.plan()).data.size(), 64u * 4);
}

TEST(Image, BadMetadataIsNamed) {
  const auto refusal = [](const Program& p) {
    try {
      (void)p.plan();
      return std::string();
    } catch (const Failure& f) {
      return std::string(f.what());
    }
  };
  EXPECT_NE(refusal(Program({1, 4, 4, 3}, {{"layout", "NXYZ"}})).find("layout"), std::string::npos);
  EXPECT_NE(refusal(Program({1, 4, 4, 3}, {{"channels", "CMYK"}})).find("CMYK"), std::string::npos);
  EXPECT_NE(refusal(Program({1, 4, 4, 5}, {})).find("channels"), std::string::npos);
  EXPECT_NE(refusal(Program({1, 4, 4, 3}, {{"size", "9x9"}})).find("size"), std::string::npos);
  EXPECT_NE(refusal(Program({1, 4, 4, 3}, {{"mean", "a"}})).find("mean"), std::string::npos);
  EXPECT_NE(refusal(Program({1, 4, 4, 3}, {{"mean", "1 2"}})).find("mean"), std::string::npos);
  EXPECT_NE(refusal(Program({1, 4, 4, 3}, {{"resize", "twist"}})).find("twist"), std::string::npos);
  EXPECT_NE(refusal(Program({4}, {})).find("no input takes an image"), std::string::npos);
}

}  // namespace
}  // namespace mote::tools
