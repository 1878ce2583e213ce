#include "mote/compiler/frontends/common/other_formats.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <string_view>

#include "mote/compiler/frontends/common/zip.h"

namespace mote::frontends {
namespace {

#define MOTE_OTHER_FORMAT(id, what, advice) constexpr OtherFormat k_##id = {what, advice};
#include "mote/compiler/frontends/common/other_formats.def"
#undef MOTE_OTHER_FORMAT

struct Signature {
  size_t offset;
  std::string_view bytes;
  const OtherFormat* format;
};

const Signature kSignatures[] = {
    {0, "GGUF", &k_gguf},
    {4, "FT01", &k_ptd},
    {4, "ORTM", &k_ort},
    {8, "MOTE", &k_mote},
    {0, "\x89HDF\r\n\x1a\n", &k_hdf5},
    {0, "\x93NUMPY", &k_numpy},
    {0, "version https://git-lfs", &k_lfs},
    {0, "7767517\n", &k_ncnn},
    {257, "ustar", &k_tar},
    {0, "\x1f\x8b", &k_gzip},
    // Protocols 2 to 5, each followed by the opcode that a writer's first object begins with.
    {0, "\x80\x02", &k_pickle},
    {0, "\x80\x03", &k_pickle},
    {0, "\x80\x04\x95", &k_pickle},
    {0, "\x80\x05\x95", &k_pickle},
};

const std::pair<std::string_view, const OtherFormat*> kExtensions[] = {
    {".gguf", &k_gguf},
    {".ptd", &k_ptd},
    {".pt", &k_checkpoint},
    {".pth", &k_checkpoint},
    {".ckpt", &k_checkpoint},
    {".keras", &k_keras},
    {".h5", &k_hdf5},
    {".mlmodel", &k_core_ml},
    {".ort", &k_ort},
    {".mnn", &k_mnn},
    {".pdmodel", &k_paddle},
    {".pdiparams", &k_paddle},
    {".caffemodel", &k_caffe},
    {".prototxt", &k_caffe},
    {".engine", &k_tensorrt},
    {".plan", &k_tensorrt},
    {".trt", &k_tensorrt},
    {".param", &k_ncnn},
    {"saved_model.pb", &k_saved_model},
};

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

std::string lower(std::string_view text) {
  std::string s(text);
  std::transform(s.begin(), s.end(), s.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return s;
}

const OtherFormat* format_of_zip(const ir::Bytes& bytes) {
  bool pickled = false, code = false, config = false, weights = false, arrays = true;
  const std::vector<ZipEntry> entries = read_zip(bytes);
  for (const ZipEntry& e : entries) {
    pickled |= ends_with(e.name, "data.pkl");
    code |= e.name.find("/code/") != std::string_view::npos || ends_with(e.name, "/constants.pkl");
    config |= e.name == "config.json";
    weights |= ends_with(e.name, ".weights.h5");
    arrays &= ends_with(e.name, ".npy");
  }
  if (pickled) return code ? &k_torchscript : &k_checkpoint;
  if (config && weights) return &k_keras;
  return arrays && !entries.empty() ? &k_numpy : &k_zip;
}

// A length of eight bytes, then that much JSON.
bool is_safetensors(std::string_view bytes) {
  if (bytes.size() < 9 || bytes[8] != '{') return false;
  uint64_t length = 0;
  for (size_t i = 8; i-- > 0;) length = length << 8 | static_cast<unsigned char>(bytes[i]);
  return length >= 2 && length <= bytes.size() - 8;
}

const OtherFormat* format_of_markup(std::string_view bytes) {
  const std::string start = lower(bytes.substr(0, 256));
  if (start.find("<!doctype html") != std::string::npos || start.find("<html") != std::string::npos) return &k_html;
  return start.find("<?xml") == 0 && start.find("<net ") != std::string::npos ? &k_openvino : nullptr;
}

}  // namespace

const OtherFormat* other_format(const Source& source) {
  if (source.bytes.data == nullptr) return nullptr;
  const std::string_view bytes(reinterpret_cast<const char*>(source.bytes.data), source.bytes.size);
  for (const Signature& s : kSignatures)
    if (bytes.size() >= s.offset + s.bytes.size() && bytes.substr(s.offset, s.bytes.size()) == s.bytes) return s.format;
  if (bytes.substr(0, 4) == std::string_view("PK\3\4", 4)) return format_of_zip(source.bytes);
  if (is_safetensors(bytes)) return &k_safetensors;
  if (const OtherFormat* markup = format_of_markup(bytes); markup != nullptr) return markup;
  const std::string path = lower(source.path);
  for (const auto& [end, format] : kExtensions)
    if (ends_with(path, end)) return format;
  // GraphDef begins with a node; an ONNX model in a .pb file does not.
  return ends_with(path, ".pb") && !bytes.empty() && bytes[0] == 0x0a ? &k_graph_def : nullptr;
}

const OtherFormat* other_format_of_folder(const std::string& path, const std::vector<std::string>& names) {
  const auto has = [&](std::string_view end) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return ends_with(name, end); });
  };
  if (has("saved_model.pb") || has("saved_model.pbtxt")) return &k_saved_model;
  if (ends_with(lower(path), ".mlpackage") || has(".mlmodel")) return &k_core_ml;
  if (has(".safetensors")) return &k_safetensors;
  if (has(".pdmodel")) return &k_paddle;
  return has(".pt") || has(".pth") || has("pytorch_model.bin") ? &k_checkpoint : nullptr;
}

std::string advice_for(const OtherFormat& format, const std::string& path) {
  std::string advice = format.advice;
  for (const std::string& name :
       {std::string("FOLDER"), std::string("model.keras"), std::string("model.h5"), std::string("--graphdef model.pb")}) {
    const size_t space = name.rfind(' ') + 1;
    for (size_t at = advice.find(name); at != std::string::npos; at = advice.find(name, at + space + path.size()))
      advice.replace(at + space, name.size() - space, path);
  }
  return advice;
}

}  // namespace mote::frontends
