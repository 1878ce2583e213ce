#include <cstdio>  // jpeglib.h wants FILE

#include <jpeglib.h>
#include <png.h>
#include <csetjmp>
#include <cstring>

#include "mote/tools/image.h"

namespace mote::tools {
namespace {

constexpr uint64_t kMaxPixels = 1u << 28;  // what no camera makes; keeps hostile headers from asking for the world's memory

struct JpegErrors {
  jpeg_error_mgr base;
  jmp_buf escape;
  char text[JMSG_LENGTH_MAX];
};

[[noreturn]] void escape_jpeg(j_common_ptr info) {
  auto* errors = reinterpret_cast<JpegErrors*>(info->err);
  errors->base.format_message(info, errors->text);
  longjmp(errors->escape, 1);
}

// libjpeg reports by longjmp: nothing with a destructor may live between setjmp and the calls, hence the caller's buffer.
bool decode_jpeg(const uint8_t* bytes, size_t size, int32_t channels, Pixels* out, JpegErrors* errors) {
  jpeg_decompress_struct info;
  info.err = jpeg_std_error(&errors->base);
  errors->base.error_exit = &escape_jpeg;
  errors->base.output_message = [](j_common_ptr) {};
  if (setjmp(errors->escape) != 0) {
    jpeg_destroy_decompress(&info);
    return false;
  }
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, bytes, static_cast<unsigned long>(size));
  jpeg_read_header(&info, TRUE);
  info.out_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_start_decompress(&info);
  if (uint64_t{info.output_width} * info.output_height > kMaxPixels) {
    jpeg_destroy_decompress(&info);
    std::strcpy(errors->text, "too many pixels");
    return false;
  }
  out->width = static_cast<int32_t>(info.output_width);
  out->height = static_cast<int32_t>(info.output_height);
  out->data.resize(static_cast<size_t>(out->width) * static_cast<size_t>(out->height) * static_cast<size_t>(channels));
  while (info.output_scanline < info.output_height) {
    JSAMPROW row = out->data.data() + static_cast<size_t>(info.output_scanline) * info.output_width * static_cast<size_t>(channels);
    jpeg_read_scanlines(&info, &row, 1);
  }
  jpeg_finish_decompress(&info);
  jpeg_destroy_decompress(&info);
  return true;
}

bool decode_png(const std::vector<uint8_t>& bytes, int32_t channels, Pixels* out, std::string* error) {
  png_image image;
  std::memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  bool good = png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()) != 0;
  if (good && uint64_t{image.width} * image.height > kMaxPixels) {
    png_image_free(&image);
    *error = "the PNG cannot be decoded: too many pixels";
    return false;
  }
  if (good) {
    image.format = channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
    out->width = static_cast<int32_t>(image.width);
    out->height = static_cast<int32_t>(image.height);
    out->data.resize(PNG_IMAGE_SIZE(image));
    const png_color white = {255, 255, 255};  // behind transparent pixels
    good = png_image_finish_read(&image, &white, out->data.data(), 0, nullptr) != 0;
  }
  if (!good) *error = std::string("the PNG cannot be decoded: ") + image.message;
  png_image_free(&image);
  return good;
}

}  // namespace

bool decode_image(const std::vector<uint8_t>& bytes, int32_t channels, Pixels* out, std::string* error) {
  out->channels = channels;
  if (bytes.size() >= 8 && std::memcmp(bytes.data(), "\x89PNG\r\n\x1a\n", 8) == 0) return decode_png(bytes, channels, out, error);
  if (bytes.size() >= 3 && std::memcmp(bytes.data(), "\xff\xd8\xff", 3) == 0) {
    JpegErrors errors;
    if (decode_jpeg(bytes.data(), bytes.size(), channels, out, &errors)) return true;
    *error = std::string("the JPEG cannot be decoded: ") + errors.text;
    return false;
  }
  *error = "not an image: expected JPEG or PNG";
  return false;
}

}  // namespace mote::tools
