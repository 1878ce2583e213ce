// mote compile --partial as a user goes through it: the stub compiles as it stands, says that it is empty, is filled in, and the program
// then gives what the model means. Models of real exporters with their runtimes' results come from testing/partial_models.py (MOTE_PYTHON).

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "mote/tools/session.h"
#include "mote/tools/testing/cli.h"
#include "mote/tools/testing/onnx.h"
#include "mote/tools/values.h"

namespace mote::tools {
namespace {

namespace fs = std::filesystem;
namespace onnx = cli_test::onnx;
using cli_test::contains;
using cli_test::mote;
using cli_test::Ran;

const std::string kSource = MOTE_SOURCE_DIR;

class Partial : public ::testing::Test {
 protected:
  Partial() { fs::create_directories(folder_.str()); }
  std::string in(const std::string& name) const { return folder_.str() + "/" + name; }
  void write(const std::string& name, const std::string& text) const { std::ofstream(in(name), std::ios::binary) << text; }

  // A library of the stub, built with every warning an error. Empty after a failure.
  std::string build(const std::string& source, const std::string& compiler = "c++") const {
    const std::string library = in(source + ".so"), log = in("log");
    const std::string command = compiler + " -std=c++17 -Wall -Wextra -Wconversion -Werror -shared -fPIC -I " + kSource + " " + in(source) +
                                " -o " + library + " >" + log + " 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0) << cli_test::read_text(log);
    return library;
  }

  const api_test::TempPath folder_{"partial_cli"};
};

// A program with the operators of a library.
class Running {
 public:
  Running(const std::string& program, const std::string& library) : library_(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) throw std::runtime_error(library + " is no library");
    using List = const mote_custom_op* (*)(uint32_t*);
    const auto list = reinterpret_cast<List>(dlsym(library_, "mote_custom_ops"));
    uint32_t count = 0;
    const mote_custom_op* ops = list(&count);
    mote_registry* registry = nullptr;
    EXPECT_EQ(mote_registry_create(&registry), 0u);
    for (uint32_t i = 0; i < count; ++i) EXPECT_EQ(mote_registry_add_op(registry, &ops[i], nullptr), 0u) << ops[i].name;
    session_ = std::make_unique<Session>(program, OpenSettings{}, RegistryHandle(registry));
    session_->create_instance();
    session_->own_io(0);
  }
  ~Running() {
    session_.reset();
    dlclose(library_);
  }
  NpyArray run(const std::vector<NpyArray>& inputs) {
    for (uint32_t i = 0; i < inputs.size(); ++i) session_->set_input(0, i, inputs[i]);
    session_->run(0);
    return session_->output(0, 0);
  }

 private:
  void* library_;
  std::unique_ptr<Session> session_;
};

NpyArray floats(const std::vector<int64_t>& dims, const std::vector<float>& values) {
  NpyArray a;
  a.dtype = DType::f32;
  a.dims = dims;
  a.data.resize(values.size() * sizeof(float));
  std::memcpy(a.data.data(), values.data(), a.data.size());
  return a;
}

std::vector<float> values_of(const NpyArray& a) {
  std::vector<float> v(a.data.size() / sizeof(float));
  std::memcpy(v.data(), a.data.data(), a.data.size());
  return v;
}

// The stub with the bodies of its run() functions: (operator's name, code).
std::string filled(std::string text, const std::vector<std::pair<std::string, std::string>>& bodies) {
  for (const auto& [name, code] : bodies) {
    const std::string empty = "  (void)call;\n  return not_filled_in(\"" + name + "\");\n";
    const size_t at = text.find(empty);
    EXPECT_NE(at, std::string::npos) << name << "\n" << text;
    if (at != std::string::npos) text.replace(at, empty.size(), code);
  }
  return text;
}

// relu(x) -> acme.Swap -> neg; `declared`: the model says what Swap gives.
std::string swap_model(bool declared) {
  const std::string swap =
      onnx::bytes(1, onnx::bytes(1, "a") + onnx::bytes(2, "b") + onnx::bytes(3, "swap") + onnx::bytes(4, "Swap") + onnx::bytes(7, "acme"));
  return onnx::model(onnx::input("x", {2, 3}) + onnx::node("Relu", "relu", {"x"}, "a") + swap + onnx::node("Neg", "neg", {"b"}, "y") +
                     (declared ? onnx::bytes(13, onnx::value_info("b", {3, 2})) : "") + onnx::output("y", {3, 2}));
}

const char kSwap[] =
    "  const mote_op_tensor &x = call->inputs[0], &y = call->outputs[0];\n"
    "  for (int32_t i = 0; i < x.dims[0]; ++i)\n"
    "    for (int32_t j = 0; j < x.dims[1]; ++j) at<float>(y, {j, i}) = at<float>(x, {i, j});\n"
    "  return 0;\n";

TEST_F(Partial, AnOperatorOfAnUnknownDomainIsFilledIn) {
  write("m.onnx", swap_model(true));
  const Ran refused = mote("compile " + in("m.onnx") + " -o " + in("m.mote"));
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_TRUE(contains(refused.err, "supported: 2 of 3 operators (66.7 %)")) << refused.err;
  EXPECT_TRUE(contains(refused.err, "--partial writes the program")) << refused.err;
  EXPECT_FALSE(fs::exists(in("m.mote")));
  const Ran r = mote("compile " + in("m.onnx") + " -o " + in("m.mote") + " --partial");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_TRUE(contains(r.err, "acme::Swap is to be filled in")) << r.err;
  const std::string stub = cli_test::read_text(in("m.custom_ops.cc"));
  for (const char* part : {"acme.Swap", "nodes: swap", "input 0 'a': f32 (2, 3)", "output 0 'b': f32 (3, 2)", "not supported"})
    EXPECT_TRUE(contains(stub, part)) << part << "\n" << stub;
  const NpyArray x = floats({2, 3}, {1, 2, 3, -4, 5, 6});
  EXPECT_THROW(Running(in("m.mote"), build("m.custom_ops.cc")).run({x}), Failure) << "nothing is filled in";
  write("filled.cc", filled(stub, {{"acme::Swap", kSwap}}));
  const NpyArray y = Running(in("m.mote"), build("filled.cc")).run({x});
  EXPECT_EQ(y.dims, (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(values_of(y), (std::vector<float>{-1, 0, -2, -5, -3, -6}));
  if (std::system("clang++ --version >/dev/null 2>&1") == 0) build("m.custom_ops.cc", "clang++");
}

// What is computed from it element by element bounds its sizes; that is not enough.
TEST_F(Partial, AnUnknownShapeIsNamed) {
  write("m.onnx", swap_model(false));
  const Ran r = mote("compile " + in("m.onnx") + " -o " + in("m.mote") + " --partial");
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_TRUE(contains(r.err, "its output 'b' has open sizes")) << r.err;
  EXPECT_TRUE(contains(r.err, "infer_shapes")) << r.err;
  EXPECT_FALSE(fs::exists(in("m.custom_ops.cc")));
}

TEST_F(Partial, AStubThatWasFilledInStays) {
  write("m.onnx", swap_model(true));
  write("m.custom_ops.cc", "mine");
  const Ran r = mote("compile " + in("m.onnx") + " -o " + in("m.mote") + " --partial");
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_TRUE(contains(r.err, "is there already")) << r.err;
  EXPECT_EQ(cli_test::read_text(in("m.custom_ops.cc")), "mine");
}

TEST_F(Partial, AModelWithoutGapsCompilesAsEver) {
  const Ran r = mote("compile " + kSource + "/examples/digits/digits.onnx -o " + in("d.mote") + " --partial");
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_FALSE(fs::exists(in("d.custom_ops.cc")));
  EXPECT_EQ(mote("selftest " + in("d.mote")).exit_code, 0);
}

// Models of exporters, and what ONNX Runtime, LiteRT's converter or PyTorch say they give.
class PartialModels : public Partial {
 protected:
  void compare(const std::string& model, const std::vector<std::pair<std::string, std::string>>& bodies) const {
    const std::string name = model.substr(0, model.rfind('.'));
    const Ran r = mote("compile " + in(model) + " -o " + in(name + ".mote") + " --partial");
    ASSERT_EQ(r.exit_code, 0) << r.err;
    write(name + "_filled.cc", filled(cli_test::read_text(in(name + ".custom_ops.cc")), bodies));
    build(name + ".custom_ops.cc");
    NpyArray x, expected;
    std::string error;
    ASSERT_TRUE(read_npy(in(name + "_x.npy"), &x, &error)) << error;
    ASSERT_TRUE(read_npy(in(name + "_y.npy"), &expected, &error)) << error;
    const NpyArray y = Running(in(name + ".mote"), build(name + "_filled.cc")).run({x});
    ASSERT_EQ(y.dims, expected.dims);
    const std::vector<float> a = values_of(y), b = values_of(expected);
    float largest = 0;
    for (const float v : b) largest = std::max(largest, std::fabs(v));
    ASSERT_GT(largest, 0);
    for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-5f * largest) << i;
  }
};

const char kUnfold[] =
    "  const mote_op_tensor &x = call->inputs[0], &y = call->outputs[0];\n"
    "  for (int32_t i = 0; i < y.dims[0]; ++i)\n"
    "    for (int32_t w = 0; w < y.dims[1]; ++w)\n"
    "      for (int32_t k = 0; k < y.dims[2]; ++k) at<float>(y, {i, w, k}) = at<float>(x, {i, 2 * w + k});\n"
    "  return 0;\n";
const char kWave[] =
    "  const mote_op_tensor &x = call->inputs[0], &y = call->outputs[0];\n"
    "  for (int32_t i = 0; i < x.dims[0]; ++i)\n"
    "    for (int32_t j = 0; j < x.dims[1]; ++j) at<float>(y, {i, j}) = 2.5f * at<float>(x, {i, j}) + 1.0f;\n"
    "  return 0;\n";

TEST_F(PartialModels, GiveWhatTheirOwnRuntimesGive) {
  const char* python = std::getenv("MOTE_PYTHON");
  if (python == nullptr) GTEST_SKIP() << "MOTE_PYTHON is not set";
  const std::string made =
      std::string(python) + " " + kSource + "/mote/tools/testing/partial_models.py " + folder_.str() + " >" + in("made");
  ASSERT_EQ(std::system(made.c_str()), 0);
  const std::string list = cli_test::read_text(in("made"));
  if (contains(list, "unfold.onnx")) compare("unfold.onnx", {{"com.microsoft::UnfoldTensor", kUnfold}});
  if (contains(list, "wave.tflite")) compare("wave.tflite", {{"tflite::Wave", kWave}});
  if (contains(list, "curve.pt2")) compare("curve.pt2", {{"motetest::curve", kWave}});
  if (list.empty()) GTEST_SKIP() << "neither onnxruntime, flatbuffers nor torch is installed";
}

}  // namespace
}  // namespace mote::tools
