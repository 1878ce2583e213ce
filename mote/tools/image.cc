#include "mote/tools/image.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "mote/tools/files.h"
#include "mote/tools/image_doubt.h"
#include "mote/tools/values.h"

namespace mote::tools {
namespace {

class Metadata {
 public:
  Metadata(const std::string& file, const MetadataOf& of) : file_(file), of_(of) {}

  std::string text(const std::string& key, const std::string& otherwise) const {
    const std::string v = of_("preprocess.image." + key);
    return v.empty() ? otherwise : v;
  }
  // Numbers separated by blanks or commas.
  std::vector<float> numbers(const std::string& key, float otherwise) const {
    std::vector<float> all;
    const std::string s = text(key, "");
    const char* p = s.c_str();
    while (*p != 0) {
      char* end;
      const float v = std::strtof(p, &end);
      if (end == p || !std::isfinite(v)) throw bad(key, "numbers", s);
      all.push_back(v);
      p = end + std::strspn(end, " ,\t");
    }
    if (all.empty()) all.push_back(otherwise);
    return all;
  }
  Failure bad(const std::string& key, const std::string& expected, const std::string& found) const {
    return Failure(file_ + ": metadata preprocess.image." + key + ": expected " + expected + ", found '" + found + "'");
  }

 private:
  const std::string& file_;
  const MetadataOf& of_;
};

uint32_t image_input(const std::string& file, const Metadata& metadata, const std::vector<TensorSpec>& specs) {
  const std::string name = metadata.text("input", ""), layout = metadata.text("layout", "");
  int found = -1;
  for (size_t i = 0; i < specs.size(); ++i) {
    const size_t rank = specs[i].dims.size();
    const bool shaped = layout.empty() ? rank == 3 || rank == 4 : rank == layout.size();
    const bool fits = name.empty() ? shaped : specs[i].name == name;
    if (fits && found >= 0)
      throw Failure(file + ": several inputs could take an image: expected metadata preprocess.image.input, found none");
    if (fits) found = static_cast<int>(i);
  }
  if (found < 0)
    throw Failure(file + ": no input takes an image: expected rank " + (layout.empty() ? "3 or 4" : std::to_string(layout.size())) +
                  (name.empty() ? "" : ", named '" + name + "'") + ", found none");
  return static_cast<uint32_t>(found);
}

int32_t axis_of(const std::string& layout, char letter) {
  const size_t at = layout.find(letter);
  return at == std::string::npos ? -1 : static_cast<int32_t>(at);
}

bool are_channels(int32_t size) { return size == 1 || size == 3; }

// What the shape says: channels last, unless only the first dimension (behind the batch) can be channels.
std::string likely_layout(const std::vector<int32_t>& dims) {
  const size_t first = dims.size() == 4 ? 1 : 0;
  const bool channels_first = dims.size() > 2 && !are_channels(dims.back()) && are_channels(dims[first]);
  return (first == 1 ? "N" : "") + std::string(channels_first ? "CHW" : "HWC");
}

void plan_axes(const Metadata& metadata, ImagePlan* p) {
  const size_t rank = p->spec.dims.size();
  const std::string layout = metadata.text("layout", likely_layout(p->spec.dims));
  std::string sorted = layout;
  std::sort(sorted.begin(), sorted.end());
  const bool known = sorted == "CHNW" || sorted == "CHW" || sorted == "HNW" || sorted == "HW";
  if (!known || layout.size() != rank)
    throw metadata.bad("layout", "letters of N H W C, one for each of " + std::to_string(rank) + " dimensions", layout);
  p->axis_n = axis_of(layout, 'N');
  p->axis_h = axis_of(layout, 'H');
  p->axis_w = axis_of(layout, 'W');
  p->axis_c = axis_of(layout, 'C');
  p->height = p->spec.dims[static_cast<size_t>(p->axis_h)];
  p->width = p->spec.dims[static_cast<size_t>(p->axis_w)];
  p->channels = p->axis_c >= 0 ? p->spec.dims[static_cast<size_t>(p->axis_c)] : 1;
}

// Bilinear samples of an image stretched over the plan's size, or of its middle.
class Resizer {
 public:
  Resizer(const Pixels& pixels, const ImagePlan& p) : pixels_(pixels) {
    step_y_ = static_cast<float>(pixels.height) / static_cast<float>(p.height);
    step_x_ = static_cast<float>(pixels.width) / static_cast<float>(p.width);
    if (p.crop) step_y_ = step_x_ = std::min(step_y_, step_x_);
    offset_y_ = (static_cast<float>(pixels.height) - step_y_ * static_cast<float>(p.height)) / 2;
    offset_x_ = (static_cast<float>(pixels.width) - step_x_ * static_cast<float>(p.width)) / 2;
  }
  float at(int32_t y, int32_t x, int32_t c) const {
    const Place py = place(y, offset_y_, step_y_, pixels_.height), px = place(x, offset_x_, step_x_, pixels_.width);
    const float top = pixel(py.low, px.low, c) * (1 - px.weight) + pixel(py.low, px.high, c) * px.weight;
    const float bottom = pixel(py.high, px.low, c) * (1 - px.weight) + pixel(py.high, px.high, c) * px.weight;
    return top * (1 - py.weight) + bottom * py.weight;
  }

 private:
  struct Place {
    int32_t low, high;
    float weight;  // of high
  };
  // Centres of pixels are aligned, not their corners.
  static Place place(int32_t i, float offset, float step, int32_t in) {
    const float at = std::clamp(offset + (static_cast<float>(i) + 0.5f) * step - 0.5f, 0.f, static_cast<float>(in - 1));
    const auto low = static_cast<int32_t>(at);
    return {low, std::min(low + 1, in - 1), at - static_cast<float>(low)};
  }
  float pixel(int32_t y, int32_t x, int32_t c) const {
    const size_t row = static_cast<size_t>(y) * static_cast<size_t>(pixels_.width) + static_cast<size_t>(x);
    return static_cast<float>(pixels_.data[row * static_cast<size_t>(pixels_.channels) + static_cast<size_t>(c)]);
  }

  const Pixels& pixels_;
  float step_y_, step_x_, offset_y_, offset_x_;
};

void store_value(const ImagePlan& plan, float value, uint8_t* to) {
  if (plan.spec.quantized) value = value / plan.spec.scale + static_cast<float>(plan.spec.zero_point);
  const auto put = [to](auto v) { std::memcpy(to, &v, sizeof v); };
  switch (static_cast<DType>(plan.spec.dtype)) {
    case DType::f32: return put(value);
    case DType::f64: return put(static_cast<double>(value));
    case DType::f16: return put(f16(value).bits);
    case DType::bf16: return put(bf16(value).bits);
    case DType::s8: return put(static_cast<int8_t>(std::clamp(std::nearbyint(value), -128.f, 127.f)));
    case DType::u8: return put(static_cast<uint8_t>(std::clamp(std::nearbyint(value), 0.f, 255.f)));
    case DType::s16: return put(static_cast<int16_t>(std::clamp(std::nearbyint(value), -32768.f, 32767.f)));
    default:
      throw Failure("input '" + plan.spec.name + "' cannot take an image: expected a float, s8, u8 or s16, found " +
                    mote_dtype_name(plan.spec.dtype));
  }
}

}  // namespace

const std::vector<std::string>& image_metadata_keys() {
  static const std::vector<std::string> keys = {"preprocess.image.input",    "preprocess.image.size",   "preprocess.image.layout",
                                                "preprocess.image.channels", "preprocess.image.resize", "preprocess.image.scale",
                                                "preprocess.image.mean",     "preprocess.image.std"};
  return keys;
}

ImagePlan plan_image(const Session& session, const std::vector<TensorSpec>& specs) {
  const auto metadata = [&](const std::string& key) {
    const char* v = mote_program_metadata(session.program(), key.c_str());
    return std::string(v != nullptr ? v : "");
  };
  return plan_image(session.path(), metadata, specs);
}

std::string image_doubt(const MetadataOf& metadata) {
  for (const char* key : {"channels", "resize", "scale", "mean", "std"})
    if (!metadata(std::string("preprocess.image.") + key).empty()) return "";
  return "images are taken as RGB values from 0 to 1, stretched to the input's size: where the model was trained with others, say so when "
         "compiling (--metadata preprocess.image.scale=..., .mean, .std, .channels, .resize), or results will be wrong";
}

ImagePlan plan_image(const std::string& file, const MetadataOf& metadata_of, const std::vector<TensorSpec>& specs) {
  const Metadata metadata(file, metadata_of);
  ImagePlan p;
  p.input = image_input(file, metadata, specs);
  p.spec = specs[p.input];
  plan_axes(metadata, &p);
  const std::string size = metadata.text("size", "");
  int h = 0, w = 0;
  if (!size.empty()) {
    if (std::sscanf(size.c_str(), "%dx%d", &h, &w) != 2 || h <= 0 || w <= 0 || h > p.height || w > p.width)
      throw metadata.bad("size", "HEIGHTxWIDTH within the input's shape", size);
    p.height = h;
    p.width = w;
  }
  const std::string order = metadata.text("channels", p.channels == 1 ? "GRAY" : "RGB");
  if (order != "RGB" && order != "BGR" && order != "GRAY") throw metadata.bad("channels", "RGB, BGR or GRAY", order);
  if (p.channels != (order == "GRAY" ? 1 : 3))
    throw metadata.bad("channels", "as many as the input has, " + std::to_string(p.channels) + " (is preprocess.image.layout right?)",
                       order);
  p.swap_red_blue = order == "BGR";
  const std::string resize = metadata.text("resize", "stretch");
  if (resize != "stretch" && resize != "crop") throw metadata.bad("resize", "stretch or crop", resize);
  p.crop = resize == "crop";
  p.scale = metadata.numbers("scale", 1.f / 255.f)[0];
  p.mean = metadata.numbers("mean", 0.f);
  p.std = metadata.numbers("std", 1.f);
  const auto fits = [&](const std::vector<float>& v) { return v.size() == 1 || v.size() == static_cast<size_t>(p.channels); };
  const auto is_zero = [](float v) { return v == 0; };
  if (std::any_of(p.std.begin(), p.std.end(), is_zero)) throw metadata.bad("std", "numbers other than 0", metadata.text("std", ""));
  if (p.scale == 0 || metadata.numbers("scale", 1).size() > 1)
    throw metadata.bad("scale", "one number other than 0", metadata.text("scale", ""));
  if (!fits(p.mean) || !fits(p.std)) throw metadata.bad("mean or std", "one number, or one for each channel", metadata.text("mean", ""));
  return p;
}

NpyArray prepare_image(const Pixels& pixels, const ImagePlan& p) {
  NpyArray array;
  array.dtype = static_cast<DType>(p.spec.dtype);
  array.dims.assign(p.spec.dims.begin(), p.spec.dims.end());
  if (p.axis_n >= 0) array.dims[static_cast<size_t>(p.axis_n)] = 1;
  array.dims[static_cast<size_t>(p.axis_h)] = p.height;
  array.dims[static_cast<size_t>(p.axis_w)] = p.width;
  std::vector<size_t> strides(array.dims.size());
  size_t total = dtype_bytes(array.dtype);
  for (size_t i = strides.size(); i-- > 0;) {
    strides[i] = total;
    total *= static_cast<size_t>(array.dims[i]);
  }
  array.data.resize(total);
  const size_t stride_y = strides[static_cast<size_t>(p.axis_h)], stride_x = strides[static_cast<size_t>(p.axis_w)];
  const size_t stride_c = p.axis_c >= 0 ? strides[static_cast<size_t>(p.axis_c)] : 0;
  const Resizer resizer(pixels, p);
  for (int32_t y = 0; y < p.height; ++y) {
    for (int32_t x = 0; x < p.width; ++x) {
      for (int32_t c = 0; c < p.channels; ++c) {
        const auto k = static_cast<size_t>(c);
        const float value = resizer.at(y, x, p.swap_red_blue ? p.channels - 1 - c : c);
        const float normal = (value * p.scale - p.mean[p.mean.size() > 1 ? k : 0]) / p.std[p.std.size() > 1 ? k : 0];
        store_value(p, normal, array.data.data() + static_cast<size_t>(y) * stride_y + static_cast<size_t>(x) * stride_x + k * stride_c);
      }
    }
  }
  return array;
}

NpyArray load_image(const std::string& path, const ImagePlan& plan) {
  std::vector<uint8_t> bytes;
  Pixels pixels;
  std::string error;
  if (!read_whole_file(path, &bytes, &error) || !decode_image(bytes, plan.channels, &pixels, &error)) throw Failure(path + ": " + error);
  return prepare_image(pixels, plan);
}

}  // namespace mote::tools
