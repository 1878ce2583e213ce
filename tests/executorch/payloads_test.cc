// The payload files of payloads/: what ExecuTorch computed from them, and damaged copies.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "mote/compiler/driver/compile.h"
#include "mote/compiler/driver/run.h"
#include "tests/executorch/payload.h"
#include "tests/fuzz_models/mutate_model.h"

namespace mote::frontends::executorch {
namespace {

std::vector<std::filesystem::path> payload_files() {
  std::vector<std::filesystem::path> all;
  for (const auto& e : std::filesystem::directory_iterator(MOTE_SOURCE_DIR "/tests/executorch/payloads"))
    if (e.path().extension() == ".xnn") all.push_back(e.path());
  std::sort(all.begin(), all.end());
  return all;
}

PayloadParts parts_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  PayloadParts parts;
  EXPECT_TRUE(read_payload_file(ir::Bytes::own({std::istreambuf_iterator<char>(file), {}}), &parts)) << path;
  return parts;
}

bool compile_parts(const PayloadParts& parts, driver::CompileResult* out, std::string* why) {
  driver::CompileOptions options;
  options.golden.count = 0;
  ir::Problems problems;
  const bool ok = driver::compile(source_of_payload(parts), options, out, &problems);
  for (const ir::Problem& p : problems) *why += p.where + ": " + p.what + "\n";
  return ok;
}

// The largest difference, and the largest expected number.
std::pair<double, double> compare(const driver::Array& got, const ir::Bytes& expected) {
  const std::vector<double> g = driver::to_doubles(got), e = driver::to_doubles(got.dtype, expected.data, expected.size);
  double most = 0, scale = 0;
  for (size_t i = 0; i < std::min(g.size(), e.size()); ++i) {
    most = std::max(most, std::fabs(g[i] - e[i]));
    scale = std::max(scale, std::fabs(e[i]));
  }
  return {most, scale};
}

}  // namespace

TEST(XnnpackPayloads, ComputeWhatExecuTorchComputes) {
  const auto files = payload_files();
  ASSERT_GE(files.size(), 12u);
  for (const auto& path : files) {
    SCOPED_TRACE(path.filename().string());
    const PayloadParts parts = parts_of(path);
    driver::CompileResult compiled;
    std::string error;
    ASSERT_TRUE(compile_parts(parts, &compiled, &error)) << error;
    driver::HostProgram program;
    ASSERT_TRUE(program.open(compiled.file.span(), {}, {}, &error)) << error;
    std::vector<driver::Array> inputs, outputs;
    for (size_t i = 0; i < program.program().table().methods[0].input_count; ++i) {
      const ir::Bytes& data = parts.named.at("test.in." + std::to_string(i));
      const ir::Type type = input_type_of_payload(parts, i);
      inputs.push_back({type.dtype, {type.dims.begin(), type.dims.end()}, {data.data, data.data + data.size}});
    }
    ASSERT_TRUE(program.run(0, inputs, &outputs, &error)) << error;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const ir::Bytes& expected = parts.named.at("test.out." + std::to_string(i));
      ASSERT_EQ(outputs[i].data.size(), expected.size);
      const auto [most, scale] = compare(outputs[i], expected);
      const std::string name = path.filename().string();
      const double limit = name.rfind("int8", 0) == 0 ? 0 : name.rfind("f32", 0) == 0 ? 1e-4 * std::max(scale, 1.0) : 1e-5 * scale;
      EXPECT_LE(most, limit);
    }
  }
}

TEST(XnnpackPayloads, DamagedOnesAreRefusedOrCompile) {
  uint64_t seed = 1;
  for (const auto& path : payload_files()) {
    SCOPED_TRACE(path.filename().string());
    const PayloadParts parts = parts_of(path);
    for (int i = 0; i < 40; ++i) {
      fuzz::Dice dice(seed++);
      fuzz::ModelBytes bytes(parts.payload.data, parts.payload.data + parts.payload.size);
      fuzz::mutate_flatbuffer(bytes, dice);
      PayloadParts damaged = parts;
      damaged.payload = ir::Bytes::own(std::move(bytes));
      driver::CompileResult compiled;
      std::string why;
      const bool ok = compile_parts(damaged, &compiled, &why);
      EXPECT_TRUE(ok || !why.empty());
    }
  }
}

}  // namespace mote::frontends::executorch
