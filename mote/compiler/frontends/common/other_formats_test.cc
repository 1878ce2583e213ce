#include "mote/compiler/frontends/common/other_formats.h"

#include <gtest/gtest.h>

namespace mote::frontends {
namespace {

std::string what(const std::string& path, const std::string& bytes) {
  const OtherFormat* f = other_format({path, ir::Bytes::copy_of(bytes.data(), bytes.size())});
  return f == nullptr ? "" : f->what;
}

std::string word(uint32_t v, int bytes) {
  std::string s;
  for (int i = 0; i < bytes; ++i) s += static_cast<char>(v >> 8 * i);
  return s;
}

// A zip archive of empty files.
std::string zip(const std::vector<std::string>& names) {
  std::string local, central;
  for (const std::string& n : names) {
    central += "PK\1\2" + std::string(24, '\0') + word(static_cast<uint32_t>(n.size()), 2) + std::string(12, '\0') +
               word(static_cast<uint32_t>(local.size()), 4) + n;
    local += "PK\3\4" + std::string(22, '\0') + word(static_cast<uint32_t>(n.size()), 2) + std::string(2, '\0') + n;
  }
  const auto count = static_cast<uint32_t>(names.size());
  return local + central + "PK\5\6" + std::string(4, '\0') + word(count, 2) + word(count, 2) +
         word(static_cast<uint32_t>(central.size()), 4) + word(static_cast<uint32_t>(local.size()), 4) + std::string(2, '\0');
}

}  // namespace

TEST(OtherFormats, SignaturesNameTheFormat) {
  EXPECT_EQ(what("m", "GGUF\3"), "a GGUF file (llama.cpp)");
  EXPECT_EQ(what("m.tflite", std::string("\x20\0\0\0FT01FH01", 12)), "data of an ExecuTorch program (.ptd)");
  EXPECT_EQ(what("m.onnx", "\x89HDF\r\n\x1a\n"), "an HDF5 file, as Keras writes them (.h5)");
  EXPECT_EQ(what("m.onnx", "version https://git-lfs.github.com/spec/v1\n"), "a Git LFS pointer instead of the file");
  EXPECT_EQ(what("m.onnx", "\n<!DOCTYPE html><html>"), "a web page");
  EXPECT_EQ(what("m.bin", word(20, 4) + word(0, 4) + "{\"__metadata__\": {} }"), "safetensors, weights without a network");
  EXPECT_EQ(what("m.bin", word(22, 4) + word(0, 4) + "{\"__metadata__\": {} }"), "");
}

TEST(OtherFormats, ArchivesAreNamedByTheirFiles) {
  EXPECT_EQ(what("m.onnx", zip({"m/data.pkl", "m/byteorder", "m/data/0"})), "a PyTorch checkpoint, weights without a network");
  EXPECT_EQ(what("m.pt", zip({"m/data.pkl", "m/code/__torch__.py", "m/constants.pkl"})), "a TorchScript archive");
  EXPECT_EQ(what("m", zip({"metadata.json", "config.json", "model.weights.h5"})), "a Keras model");
  EXPECT_EQ(what("m", zip({"a.npy", "b.npy"})), "numpy arrays");
  EXPECT_EQ(what("m", zip({"a.txt"})), "a zip archive without a model that Mote reads");
}

TEST(OtherFormats, NamesCountWhereBytesSayNothing) {
  EXPECT_EQ(what("DIR/saved_model.pb", std::string("\x08\1\x12\3abc", 7)), "a TensorFlow SavedModel");
  EXPECT_EQ(what("m.pb", "\n\3abc"), "a TensorFlow graph (.pb)");
  EXPECT_EQ(what("m.pb", "\x08\7\x12\1x"), "");
  EXPECT_EQ(what("M.PTH", "any"), "a PyTorch checkpoint, weights without a network");
  EXPECT_EQ(what("m.onnx", "\x08\7\x12\1x"), "");
  EXPECT_EQ(what("m", ""), "");
}

TEST(OtherFormats, FoldersAreNamedByTheirFiles) {
  const auto folder = [](const std::string& path, const std::vector<std::string>& names) {
    const OtherFormat* f = other_format_of_folder(path, names);
    return std::string(f == nullptr ? "" : f->what);
  };
  EXPECT_EQ(folder("d", {"assets", "saved_model.pb", "variables"}), "a TensorFlow SavedModel");
  EXPECT_EQ(folder("d.mlpackage", {"Manifest.json"}), "a Core ML model");
  EXPECT_EQ(folder("d", {"config.json", "model.safetensors"}), "safetensors, weights without a network");
  EXPECT_EQ(folder("d", {"README.md"}), "");
}

}  // namespace mote::frontends
