#pragma once

// Images as inputs. The program's metadata says how they were prepared when it was trained:
//   preprocess.image.input     name of the input (default: the only one with the layout's rank)
//   preprocess.image.size      "HEIGHTxWIDTH"   (default: from the input's shape)
//   preprocess.image.layout    the axes in order, N H W C, e.g. "NCHW" or "HW" (default: channels last, or first where only
//                              that dimension is 1 or 3)
//   preprocess.image.channels  "RGB", "BGR" or "GRAY" (default: RGB, GRAY for one channel)
//   preprocess.image.resize    "stretch" (default), or "crop": scale the shorter side, cut out the middle
//   preprocess.image.scale     value = (pixel * scale - mean) / std; pixel is 0..255; default 1/255
//   preprocess.image.mean, .std  one number, or one for each channel; default 0 and 1
// Quantized inputs take the value divided by their scale, plus the zero point.

#include <functional>

#include "mote/tools/session.h"

namespace mote::tools {

struct ImagePlan {
  uint32_t input = 0;
  TensorSpec spec;
  int32_t height = 0, width = 0, channels = 3;
  int32_t axis_n = -1, axis_h = 0, axis_w = 0, axis_c = -1;  // of the tensor; -1: it has none
  bool swap_red_blue = false, crop = false;
  float scale = 1.f / 255.f;
  std::vector<float> mean{0.f}, std{1.f};
};

// What the metadata says under a key; empty: nothing.
using MetadataOf = std::function<std::string(const std::string& key)>;

// The keys above, in full.
const std::vector<std::string>& image_metadata_keys();

// Throws Failure, which names `file`, when the metadata makes no sense or no input can take an image.
ImagePlan plan_image(const std::string& file, const MetadataOf& metadata, const std::vector<TensorSpec>& specs);
ImagePlan plan_image(const Session& session, const std::vector<TensorSpec>& specs);

// 8-bit pixels, row major, `channels` (1 or 3) interleaved.
struct Pixels {
  int32_t height = 0, width = 0, channels = 0;
  std::vector<uint8_t> data;
};

// Decodes a JPEG or PNG from the bytes of a file. False and *error for anything else.
bool decode_image(const std::vector<uint8_t>& bytes, int32_t channels, Pixels* out, std::string* error);

// Resizes and normalises: the input's tensor.
NpyArray prepare_image(const Pixels& pixels, const ImagePlan& plan);
NpyArray load_image(const std::string& path, const ImagePlan& plan);

}  // namespace mote::tools
