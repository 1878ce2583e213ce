// Small ExecuTorch programs (fixtures.py makes them) through the compiler and the runtime, against what ExecuTorch's runtime computed, run
// after run.

#include <gtest/gtest.h>

#include <cstring>

#include "mote/api/mote.hpp"
#include "mote/compiler/driver/compile.h"
#include "mote/compiler/driver/values.h"
#include "mote/tools/files.h"
#include "mote/tools/npy.h"

namespace mote {
namespace {

constexpr double kTolerance = 1e-5;

std::string folder_of(const std::string& fixture) { return std::string(MOTE_SOURCE_DIR) + "/tests/executorch/fixtures/" + fixture; }

frontends::Source source_of(const std::string& fixture) {
  frontends::Source s;
  s.path = folder_of(fixture) + "/model.pte";
  std::vector<uint8_t> bytes;
  std::string error;
  EXPECT_TRUE(tools::read_whole_file(s.path, &bytes, &error)) << error;
  s.bytes = ir::Bytes::own(std::move(bytes));
  return s;
}

std::vector<driver::Array> arrays_of(const std::string& fixture, int run, const char* kind) {
  std::vector<driver::Array> out;
  std::string error;
  const std::string begin = folder_of(fixture) + "/" + std::to_string(run) + "_" + kind + "_";
  for (driver::Array a; tools::read_npy(begin + std::to_string(out.size()) + ".npy", &a, &error);) out.push_back(std::move(a));
  return out;
}

std::string texts_of(const ir::Problems& problems) {
  std::string out;
  for (const ir::Problem& p : problems) out += p.where + ": " + p.what + " -> " + p.advice + "\n";
  return out;
}

void run_all(const std::string& fixture, Model& model, int* runs) {
  for (*runs = 0;; ++*runs) {
    std::vector<driver::Array> expected = arrays_of(fixture, *runs, "out"), in = arrays_of(fixture, *runs, "in");
    if (expected.empty()) return;
    ASSERT_EQ(in.size(), model.inputs().size());
    ASSERT_EQ(expected.size(), model.outputs().size());
    std::vector<InputView> inputs;
    std::vector<OutputView> outputs;
    std::vector<driver::Array> found = expected;
    for (size_t i = 0; i < in.size(); ++i) {
      inputs.push_back(input_bytes(in[i].data.data(), in[i].data.size()));
      if (model.inputs()[i].dynamic != 0) inputs.back().dims.assign(in[i].dims.begin(), in[i].dims.end());
    }
    for (size_t i = 0; i < found.size(); ++i) {
      found[i].data.assign(model.outputs()[i].bytes, 0x55);
      outputs.push_back(output_bytes(found[i].data.data(), found[i].data.size()));
    }
    const Error error = model.run(inputs, outputs);
    ASSERT_FALSE(error) << "run " << *runs << ": " << error.message;
    for (size_t i = 0; i < found.size(); ++i) {
      found[i].dims.assign(outputs[i].dims.begin(), outputs[i].dims.end());
      found[i].data.resize(driver::dense_bytes(found[i].dtype, found[i].dims));
      const driver::Difference d = driver::difference(found[i], expected[i]);
      EXPECT_TRUE(d.same_type && d.within(kTolerance)) << "run " << *runs << ", output " << i << " differs by " << d.largest_error;
    }
  }
}

class ExecutorchFixtures : public testing::TestWithParam<const char*> {};

TEST_P(ExecutorchFixtures, GiveWhatExecutorchGives) {
  driver::CompileResult compiled;
  ir::Problems problems;
  ASSERT_TRUE(driver::compile(source_of(GetParam()), {}, &compiled, &problems)) << texts_of(problems);
  EXPECT_EQ(compiled.frontend, "executorch");
  const auto file = compiled.file.span();
  auto model = Model::load(file.data, file.size);
  ASSERT_TRUE(model) << model.error().message;
  int runs = 0;
  run_all(GetParam(), *model, &runs);
  EXPECT_GT(runs, 0);
}

INSTANTIATE_TEST_SUITE_P(All, ExecutorchFixtures,
                         testing::Values("linear", "convolution", "channels_last", "recurrent", "attention", "total", "cache", "choice",
                                         "reshapes", "open_batch", "open_reshapes", "open_attention", "mixed", "methods", "external",
                                         "xnnpack", "tokens", "dynamic", "int8", "open_int8"),
                         [](const auto& fixture) { return std::string(fixture.param); });

TEST(ExecutorchPrograms, AxesThatVaryAreOpen) {
  const std::tuple<const char*, int, int> kCases[] = {
      {"open_batch", 0, 6}, {"open_reshapes", 0, 5}, {"open_attention", 1, 7}, {"open_int8", 0, 6}};
  for (const auto& [fixture, axis, bound] : kCases) {
    SCOPED_TRACE(fixture);
    driver::CompileResult compiled;
    ir::Problems problems;
    ASSERT_TRUE(driver::compile(source_of(fixture), {}, &compiled, &problems)) << texts_of(problems);
    auto model = Model::load(compiled.file.span().data, compiled.file.span().size);
    ASSERT_TRUE(model) << model.error().message;
    EXPECT_EQ(model->inputs()[0].dynamic, 1u << axis);
    EXPECT_EQ(model->inputs()[0].dims[static_cast<size_t>(axis)], bound);
  }
}

TEST(ExecutorchPrograms, EveryMethodIsThere) {
  driver::CompileResult two;
  ir::Problems problems;
  ASSERT_TRUE(driver::compile(source_of("methods"), {}, &two, &problems)) << texts_of(problems);
  ModelOptions options;
  options.method = "half";
  auto model = Model::load(two.file.span().data, two.file.span().size, options);
  ASSERT_TRUE(model) << model.error().message;
  std::vector<float> x(8), y(4);
  std::vector<driver::Array> in = arrays_of("linear", 0, "in"), out = arrays_of("linear", 0, "out");
  std::memcpy(x.data(), in[0].data.data(), 32);  // the first row of two
  ASSERT_FALSE(model->run({input_view(x)}, {output_view(y)}));
  for (size_t i = 0; i < 4; ++i) {
    float expected;
    std::memcpy(&expected, out[0].data.data() + 4 * i, 4);
    EXPECT_NEAR(y[i], expected, kTolerance);
  }
}

TEST(ExecutorchPrograms, OtherDelegatesAreNamedOnce) {
  driver::CompileResult compiled;
  ir::Problems problems;
  ASSERT_FALSE(driver::compile(source_of("own_backend"), {}, &compiled, &problems));
  ASSERT_EQ(problems.size(), 1u) << texts_of(problems);
  EXPECT_EQ(problems[0].where, "delegate 'BackendWithCompilerDemo'");
  EXPECT_NE(problems[0].what.find("takes 1 instruction of the program"), std::string::npos) << problems[0].what;
  EXPECT_NE(problems[0].advice.find("export the program without"), std::string::npos) << problems[0].advice;
}

}  // namespace
}  // namespace mote
