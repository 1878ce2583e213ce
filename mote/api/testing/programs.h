#pragma once

// Small programs for the tests of the C interface.

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "mote/compiler/emit/builder.h"

namespace mote::api_test {

inline emit::FileBytes finish(emit::ProgramBuilder& b) {
  emit::FileBytes file;
  std::string error;
  EXPECT_TRUE(b.finish(&file, &error)) << error;
  return file;
}

template <class T>
std::vector<uint8_t> bytes_of(const std::vector<T>& values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// y = relu(x + addend), x of shape (4): method "main", with metadata, evidence, quantization and a golden example.
inline void describe_add_relu(emit::ProgramBuilder& b, float addend) {
  b.begin_method("main");
  const emit::TensorId x = b.input("x", DType::f32, {4});
  const emit::TensorId c = b.constant_f32({4}, {addend, addend, addend, addend});
  const emit::TensorId sum = b.op(OpId::add, NoAttrs{}, {x, c}, "/add");
  const emit::TensorId y = b.op(OpId::relu, NoAttrs{}, {sum}, "/relu");
  b.output("y", y);
  b.quantization(x, 0.5f, 3);
  b.metadata("name", "add-relu");
  b.metadata("labels", "a\nb\nc\nd");
  b.evidence("producer", "api test");
}
inline emit::FileBytes add_relu(float addend = 1) {
  emit::ProgramBuilder b;
  describe_add_relu(b, addend);
  const std::vector<float> in = {-2, -1, 0, 1};
  std::vector<float> out;
  for (const float v : in) out.push_back(v + addend > 0 ? v + addend : 0);
  // Methods are closed by the next begin_method; the golden data of this one can be given only then.
  b.begin_method("twice");
  const emit::TensorId x = b.input("a", DType::s32, {2});
  b.output("b", b.op(OpId::add, NoAttrs{}, {x, x}));
  b.golden(0, {bytes_of(in)}, {bytes_of(out)}, 1e-6f);
  return finish(b);
}

// y = relu(x), x of shape (4) and type s8, with a scale.
inline emit::FileBytes quantized_relu() {
  emit::ProgramBuilder b;
  b.begin_method("main");
  const emit::TensorId x = b.input("x", DType::s8, {4});
  b.quantization(x, 0.5f, 3);
  b.output("y", b.op(OpId::relu, NoAttrs{}, {x}));
  return finish(b);
}

// y = relu(x), x of shape (<=8, 2).
inline emit::FileBytes dynamic_relu() {
  emit::ProgramBuilder b;
  b.begin_method("main");
  const emit::TensorId x = b.input("x", DType::f32, {8, 2}, 1);
  b.output("y", b.op(OpId::relu, NoAttrs{}, {x}, "/relu"));
  return finish(b);
}

// A counter: state += x; y = state.
inline emit::FileBytes counter() {
  emit::ProgramBuilder b;
  b.begin_method("count");
  const emit::TensorId x = b.input("x", DType::f32, {1});
  const emit::TensorId s = b.state(DType::f32, {1});
  b.op_into(OpId::add, NoAttrs{}, {s, x}, {s});
  b.output("y", b.op(OpId::relu, NoAttrs{}, {s}));
  return finish(b);
}

// A file in the temporary folder that goes away with this object.
class TempPath {
 public:
  explicit TempPath(const std::string& name) : path_((std::filesystem::temp_directory_path() / unique(name)).string()) {}
  TempPath(const std::string& name, ConstBytes bytes) : TempPath(name) {
    std::string error;
    EXPECT_TRUE(emit::save_file(path_, bytes, &error)) << error;
  }
  ~TempPath() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& str() const { return path_; }
  const char* c_str() const { return path_.c_str(); }

 private:
  // Addresses repeat between processes under the address sanitizer: a random number tells processes apart, a count the files of one.
  static std::string unique(const std::string& name) {
    static const uint64_t process = uint64_t{std::random_device{}()} << 32 | std::random_device{}();
    static std::atomic<int> count{0};
    return "mote_" + std::to_string(process) + "_" + std::to_string(count++) + "_" + name;
  }
  std::string path_;
};

}  // namespace mote::api_test
