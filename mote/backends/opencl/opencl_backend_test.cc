// Every family of operators on the device beside the CPU. Skipped, by name, where there is no OpenCL device.

#include "mote/backends/opencl/opencl_backend.h"
#include "mote/backends/opencl/binary_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

#include "mote/backends/opencl/blob.h"
#include "mote/backends/opencl/device.h"
#include "mote/backends/opencl/version.h"
#include "mote/compiler/assemble/lower.h"
#include "mote/compiler/ir/builder.h"
#include "mote/compiler/placement/place.h"
#include "mote/compiler/schedule/schedule.h"
#include "mote/ops/avg_pool/avg_pool.h"
#include "mote/ops/concat/concat.h"
#include "mote/ops/conv/conv.h"
#include "mote/ops/conv_transpose/conv_transpose.h"
#include "mote/ops/layer_norm/layer_norm.h"
#include "mote/ops/matmul/matmul.h"
#include "mote/ops/max_pool/max_pool.h"
#include "mote/ops/pad/pad.h"
#include "mote/ops/reduce_mean/reduce_mean.h"
#include "mote/ops/resize/resize.h"
#include "mote/ops/slice/slice.h"
#include "mote/ops/softmax/softmax.h"
#include "mote/ops/transpose/transpose.h"
#include "mote/runtime/testing/run_program.h"

namespace mote::backends {
namespace {

using Make = std::function<ir::Value*(ir::Graph&, ir::NodeBuilder&, ir::Value*)>;

float wave(int i) { return std::sin(static_cast<float>(i) * 1.7f) * 1.5f; }

ir::Value* weights(ir::Graph& g, const ir::Dims& dims) {
  std::vector<float> v;
  int64_t count = 1;
  for (int32_t d : dims) count *= d;
  for (int64_t i = 0; i < count; ++i) v.push_back(wave(static_cast<int>(i) + 11) * 0.3f);
  return g.constant<float>(dims, v);
}

struct Case {
  const char* name;
  ir::Dims input;
  Make make;
};

struct Kind {
  const mote_backend* device;
  const mote_backend_compiler* compiler;
};
const Kind kSingle = {opencl_backend(), opencl_compiler()}, kHalfStorage = {opencl_f16_backend(), opencl_f16_compiler()},
           kHalfMath = {opencl_f16a_backend(), opencl_f16a_compiler()};

// Why what was compiled for one of these cannot run here; empty: it can.
std::string absent(const Kind& kind) {
  const uint32_t error = kind.device->probe(kind.compiler->version, kind.compiler->capabilities);
  return error == 0 ? "" : kind.device->describe(error);
}

// The model with everything on the CPU, or with everything on the device.
bool program_of(const Case& c, bool device, emit::FileBytes* file, std::string* error, const Kind& kind = kSingle) {
  ir::Graph graph;
  ir::Method& m = graph.add_method("main");
  ir::Value* x = graph.add_input(m, "x", DType::f32, c.input);
  ir::NodeBuilder b(graph, *m.block, c.name);
  ir::Value* y = c.make(graph, b, x);
  if (y == nullptr || !b.ok()) return *error = b.error(), false;
  graph.add_output(m, "y", y);
  placement::Placed placed;
  placement::PlaceOptions options;
  ir::Problems problems;
  if (!placement::parse_policy(std::string("[default]\nrequire = [\"") + kind.device->name + "\"]\n", &options.policy, error)) return false;
  options.backends = {kind.compiler};
  if (device && !placement::place(graph, options, &placed, &problems)) return *error = problems[0].what, false;
  schedule::Plan plan;
  emit::ProgramRecords records;
  if (!schedule::make_plan(graph, {}, &plan, error) || !assemble::lower(plan, {}, &records, error)) return false;
  if (device) placement::record(placed, options.policy, &records);
  return emit::write_program(records, {}, emit::builtin_registry(), file, error);
}

std::vector<float> outputs_of(const emit::FileBytes& file, const Case& c) {
  static const mote_backend* const list[] = {opencl_backend(), opencl_f16_backend(), opencl_f16a_backend()};
  InstanceOptions options;
  options.backends = {list, 3};
  runtest::Loaded loaded(file, emit::builtin_registry(), options);
  EXPECT_TRUE(loaded.status.ok()) << emit::describe(loaded.diagnostic) << " "
                                  << opencl::describe(static_cast<uint32_t>(loaded.diagnostic.found));
  if (!loaded.status.ok()) return {};
  std::vector<float> x;
  int64_t count = 1;
  for (int32_t d : c.input) count *= d;
  for (int64_t i = 0; i < count; ++i) x.push_back(wave(static_cast<int>(i)));
  std::vector<std::vector<uint8_t>> outputs;
  // Twice: the second run must not depend on the first.
  for (int run = 0; run < 2; ++run) EXPECT_TRUE(loaded.run(0, {runtest::bytes_of(x)}, &outputs).ok());
  return runtest::values_of<float>(outputs[0]);
}

template <class A>
Make unary(OpId id, const A& a) {
  return [=](ir::Graph&, ir::NodeBuilder& b, ir::Value* x) { return b.op(id, a, {x}); };
}

ops::conv::Attrs conv_attrs(int32_t stride, int32_t pad, int32_t groups, uint32_t activation) {
  ops::conv::Attrs a;
  for (int i = 0; i < 2; ++i) a.strides[i] = stride, a.pads_begin[i] = a.pads_end[i] = pad;
  a.groups = groups;
  a.activation = activation;
  return a;
}

Make conv(const ops::conv::Attrs& a, const ir::Dims& w, bool bias, bool residual) {
  return [=](ir::Graph& g, ir::NodeBuilder& b, ir::Value* x) {
    return b.op(OpId::conv, a, {x, weights(g, w), bias ? weights(g, {w[0]}) : nullptr, residual ? b.op(OpId::relu, {x}) : nullptr});
  };
}

std::vector<Case> cases() {
  std::vector<Case> all = {
      {"conv 3x3", {1, 9, 7, 5}, conv(conv_attrs(1, 1, 1, 2), {20, 3, 3, 5}, true, false)},
      {"conv 3x3, stride 2", {2, 12, 9, 4}, conv(conv_attrs(2, 1, 1, 3), {70, 3, 3, 4}, true, false)},
      {"conv 1x1 with residual", {1, 8, 8, 16}, conv(conv_attrs(1, 0, 1, 0), {16, 1, 1, 16}, true, true)},
      {"conv with many channels", {1, 4, 4, 130}, conv(conv_attrs(1, 1, 1, 7), {33, 3, 3, 130}, false, false)},
      {"conv in Winograd's form", {1, 30, 29, 48}, conv(conv_attrs(1, 1, 1, 2), {48, 3, 3, 48}, true, true)},
      {"conv in Winograd's form, a batch", {3, 17, 20, 32}, conv(conv_attrs(1, 0, 1, 0), {70, 3, 3, 32}, false, false)},
      {"conv depthwise", {1, 9, 8, 24}, conv(conv_attrs(2, 1, 24, 3), {24, 3, 3, 1}, true, false)},
      {"conv in groups", {1, 6, 6, 8}, conv(conv_attrs(1, 1, 2, 0), {6, 3, 3, 4}, true, false)},
      {"matmul with constant weights",
       {5, 40},
       [](ir::Graph& g, ir::NodeBuilder& b, ir::Value* x) {
         ops::matmul::Attrs a;
         a.transpose_b = 1;
         a.alpha = 0.5f;
         return b.op(OpId::matmul, a, {x, weights(g, {100, 40}), weights(g, {100})});
       }},
      {"matmul of two computed",
       {3, 4, 6},
       [](ir::Graph&, ir::NodeBuilder& b, ir::Value* x) {
         ops::matmul::Attrs a;
         a.transpose_b = 1;
         return b.op(OpId::matmul, a, {x, b.op(OpId::relu, {x})});
       }},
      {"broadcast add",
       {2, 3, 4, 5},
       [](ir::Graph& g, ir::NodeBuilder& b, ir::Value* x) {
         return b.op(OpId::add, {x, weights(g, {5})});
       }},
      {"broadcast mul of rows",
       {2, 3, 4, 5},
       [](ir::Graph& g, ir::NodeBuilder& b, ir::Value* x) {
         return b.op(OpId::mul, {weights(g, {3, 1, 5}), x});
       }},
      {"two branches",
       {1, 4, 4, 8},
       [](ir::Graph&, ir::NodeBuilder& b, ir::Value* x) {
         ops::concat::Attrs a;
         a.axis = -1;
         ir::Value* t = b.op(OpId::tanh, {x});
         return b.op(OpId::concat, a, {t, b.op(OpId::sigmoid, {t}), b.op(OpId::sub, {t, x})});
       }},
      {"softmax", {3, 70}, unary(OpId::softmax, ops::softmax::Attrs{})},
      {"softmax along an axis", {2, 5, 7}, unary(OpId::softmax, ops::softmax::Attrs{1})},
      {"layer norm",
       {4, 90},
       [](ir::Graph& g, ir::NodeBuilder& b, ir::Value* x) {
         return b.ops(OpId::layer_norm, ops::layer_norm::Attrs{}, {x, weights(g, {90}), weights(g, {90})}, 1)[0];
       }},
      {"transpose", {2, 3, 4, 5}, unary(OpId::transpose, ops::transpose::Attrs{{0, 3, 1, 2}, 4})},
      {"reshape",
       {2, 3, 4},
       [](ir::Graph&, ir::NodeBuilder& b, ir::Value* x) {
         return b.op(OpId::relu, {b.reshape(x, {6, 4})});
       }},
  };
  ops::max_pool::Attrs max;
  ops::avg_pool::Attrs avg, padded;
  for (int i = 0; i < 2; ++i) max.kernel[i] = avg.kernel[i] = padded.kernel[i] = 3, max.strides[i] = avg.strides[i] = padded.strides[i] = 2;
  for (int i = 0; i < 2; ++i) max.pads_begin[i] = avg.pads_begin[i] = padded.pads_begin[i] = padded.pads_end[i] = 1;
  padded.count_include_pad = 1;
  all.push_back({"max pool", {1, 9, 8, 6}, unary(OpId::max_pool, max)});
  all.push_back({"average pool", {1, 9, 8, 6}, unary(OpId::avg_pool, avg)});
  all.push_back({"average pool with padding", {1, 9, 8, 6}, unary(OpId::avg_pool, padded)});
  ops::ReduceAttrs mean;
  mean.axes[0] = 1, mean.axes[1] = 2, mean.axis_count = 2;
  all.push_back({"mean of a plane", {1, 7, 7, 80}, unary(OpId::reduce_mean, mean)});
  mean.axes[0] = 0, mean.axis_count = 1;
  all.push_back({"sum of rows", {300, 3}, unary(OpId::reduce_sum, mean)});
  all.push_back({"largest", {3, 200}, unary(OpId::reduce_max, ops::ReduceAttrs{{1}, 1, 0})});
  ops::resize::Attrs grow;
  grow.mode = ops::resize::kLinear;
  grow.sizes[0] = 11, grow.sizes[1] = 6;
  all.push_back({"resize, linear", {1, 5, 4, 3}, unary(OpId::resize, grow)});
  grow.mode = ops::resize::kNearest;
  all.push_back({"resize, nearest", {1, 5, 4, 3}, unary(OpId::resize, grow)});
  grow.mode = ops::resize::kCubic;
  all.push_back({"resize, cubic", {1, 5, 4, 3}, unary(OpId::resize, grow)});
  ops::pad::Attrs pad;
  pad.begin[1] = 1, pad.end[2] = 2, pad.value = 3;
  all.push_back({"pad", {2, 3, 4}, unary(OpId::pad, pad)});
  pad.mode = ops::pad::kReflect;
  all.push_back({"pad, reflected", {2, 3, 4}, unary(OpId::pad, pad)});
  ops::slice::Attrs cut;
  cut.count = 2, cut.axes[0] = 1, cut.starts[0] = 4, cut.ends[0] = 0, cut.steps[0] = -2, cut.axes[1] = 2, cut.starts[1] = 1,
  cut.ends[1] = 5, cut.steps[1] = 1;
  all.push_back({"slice", {2, 6, 6}, unary(OpId::slice, cut)});
  ops::conv_transpose::Attrs up;
  up.strides[0] = up.strides[1] = 2;
  all.push_back({"transposed convolution", {1, 5, 4, 3}, [up](ir::Graph& g, ir::NodeBuilder& b, ir::Value* x) {
                   return b.op(OpId::conv_transpose, up, {x, weights(g, {4, 2, 2, 3}), weights(g, {4})});
                 }});
  return all;
}

void compare_all(const Kind& kind, float tolerance) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    emit::FileBytes on_cpu, on_device;
    std::string why;
    ASSERT_TRUE(program_of(c, false, &on_cpu, &why)) << why;
    ASSERT_TRUE(program_of(c, true, &on_device, &why, kind)) << why;
    const std::vector<float> expected = outputs_of(on_cpu, c), found = outputs_of(on_device, c);
    ASSERT_EQ(found.size(), expected.size());
    float largest = 0, worst = 0;
    for (size_t i = 0; i < found.size(); ++i) {
      largest = std::max(largest, std::fabs(expected[i]));
      worst = std::max(worst, std::isnan(found[i]) ? INFINITY : std::fabs(found[i] - expected[i]));
    }
    EXPECT_LE(worst, tolerance * std::max(largest, 1.0f));
  }
}

TEST(OpenCl, ComputesWhatTheCpuComputes) {
  opencl::Error error = opencl::kOk;
  std::string detail;
  if (opencl::find_device(&error, &detail) == nullptr) GTEST_SKIP() << opencl::describe(error) << ": " << detail;
  compare_all(kSingle, 1e-5f);
}

TEST(OpenCl, TensorsStoredInHalfAreNear) {
  opencl::Error error = opencl::kOk;
  std::string detail;
  if (opencl::find_device(&error, &detail) == nullptr) GTEST_SKIP() << opencl::describe(error) << ": " << detail;
  compare_all(kHalfStorage, 1e-2f);
}

TEST(OpenCl, ProductsThatMultiplyInHalfAreNear) {
  if (const std::string why = absent(kHalfMath); !why.empty()) GTEST_SKIP() << "not executed: " << why;
  compare_all(kHalfMath, 1e-2f);
}

// What a part multiplies in f16, by the operators' order: from its blob, which needs no device.
std::vector<bool> multiplied(const Case& c) {
  emit::FileBytes file;
  emit::ProgramRecords records;
  std::string why;
  EXPECT_TRUE(program_of(c, true, &file, &why, kHalfMath)) << why;
  EXPECT_TRUE(emit::read_records(file.span(), &records));
  if (records.backends.size() != 1) return {};
  opencl::BlobEnd end;
  uint64_t bytes = 0;
  Program program;
  Piece piece;
  const auto& blob = records.segments[records.backends[0].segment].bytes;
  emit::FileBytes aligned = emit::FileBytes::of_size(blob.size());
  std::copy(blob.begin(), blob.end(), aligned.data());
  EXPECT_TRUE(opencl::read_blob(aligned.data(), aligned.size, &bytes, &end));
  EXPECT_TRUE(open_piece(aligned.data(), bytes, &program) && read_piece(program, &piece, &why)) << why;
  opencl::Plan plan;
  EXPECT_TRUE(opencl::make_plan(program, {}, end.narrow, &plan, &why)) << why;
  std::vector<bool> found;
  for (const OpView& op : piece.ops)
    found.push_back(std::any_of(plan.launches.begin(), plan.launches.end(), [&](const opencl::Launch& l) {
      return l.instruction == op.instruction && (l.kernels & opencl::kHalfMath) != 0;
    }));
  return found;
}

// Products multiply in f16 where that is good enough, and only there: a difference of large sums is not.
TEST(OpenCl, ProductsMultiplyInHalfWhereThatIsGoodEnough) {
  const Case good = {"conv, depthwise, conv", {1, 16, 16, 8}, [](ir::Graph& g, ir::NodeBuilder& b, ir::Value* x) {
                       ir::Value* wide = b.op(OpId::conv, conv_attrs(1, 0, 1, 2), {x, weights(g, {64, 1, 1, 8}), weights(g, {64})});
                       wide = b.op(OpId::conv, conv_attrs(1, 1, 64, 2), {wide, weights(g, {64, 3, 3, 1}), weights(g, {64})});
                       return b.op(OpId::conv, conv_attrs(1, 0, 1, 0), {wide, weights(g, {16, 1, 1, 64}), weights(g, {16})});
                     }};
  EXPECT_EQ(multiplied(good), (std::vector<bool>{true, true, true}));
  const Case bad = {"a difference of products", {1, 16, 16, 8}, [](ir::Graph& g, ir::NodeBuilder& b, ir::Value* x) {
                      std::vector<float> one(32 * 8), other;
                      for (size_t i = 0; i < one.size(); ++i) one[i] = wave(static_cast<int>(i)), other.push_back(one[i] * 1.002f);
                      ir::Value* y = b.op(OpId::conv, conv_attrs(1, 0, 1, 0), {x, g.constant<float>({32, 1, 1, 8}, one)});
                      ir::Value* z = b.op(OpId::conv, conv_attrs(1, 0, 1, 0), {x, g.constant<float>({32, 1, 1, 8}, other)});
                      return b.op(OpId::sub, {y, z});
                    }};
  EXPECT_EQ(multiplied(bad), (std::vector<bool>{false, false, false}));
}

// A program whose part multiplies in f16 says so, and is not loaded where the device cannot.
TEST(OpenCl, HalfProductsAreRefusedByDevicesWithoutThem) {
  EXPECT_NE(std::string(opencl_f16a_compiler()->capabilities).find("cl_khr_fp16"), std::string::npos);
  setenv("MOTE_OPENCL_EXTENSIONS", "0", 1);
  opencl::give_up(nullptr);
  opencl::Error error = opencl::kOk;
  std::string detail;
  const bool device = opencl::find_device(&error, &detail) != nullptr;
  const uint32_t found = opencl_f16a_backend()->probe(opencl::kVersion, opencl_f16a_compiler()->capabilities);
  unsetenv("MOTE_OPENCL_EXTENSIONS");
  opencl::give_up(nullptr);
  if (!device) GTEST_SKIP() << opencl::describe(error) << ": " << detail;
  EXPECT_EQ(found, uint32_t{opencl::kNoHalfMath});
  EXPECT_NE(std::string(opencl::describe(found)).find("cl_khr_fp16"), std::string::npos);
}

TEST(OpenCl, HalfStorageTakesHalfTheMemory) {
  const Case c = {"two convs", {1, 32, 32, 4}, [](ir::Graph& g, ir::NodeBuilder& b, ir::Value* x) {
                    ir::Value* wide = b.op(OpId::conv, conv_attrs(1, 0, 1, 2), {x, weights(g, {64, 1, 1, 4}), weights(g, {64})});
                    return b.op(OpId::conv, conv_attrs(1, 0, 1, 0), {wide, weights(g, {4, 1, 1, 64}), weights(g, {4})});
                  }};
  uint64_t bytes[2] = {};
  for (const bool half : {false, true}) {
    emit::FileBytes file;
    emit::ProgramRecords records;
    std::string why;
    ASSERT_TRUE(program_of(c, true, &file, &why, half ? kHalfStorage : kSingle)) << why;
    ASSERT_TRUE(emit::read_records(file.span(), &records));
    bytes[half ? 1 : 0] = records.backends[0].device_bytes;
  }
  // The wide tensor between takes 256 KiB or 128; inputs and outputs, 16 KiB each, are there in both forms.
  EXPECT_LT(bytes[1] + 80000, bytes[0]);
}

// What a driver compiled is kept for the next process, and a damaged file is no obstacle.
TEST(OpenCl, KernelsAreKeptAsTheDriverCompiledThem) {
  const std::string folder = testing::TempDir() + "/mote_opencl_cache_test";
  setenv("MOTE_OPENCL_CACHE", folder.c_str(), 1);
  std::filesystem::remove_all(folder);
  opencl::Error error = opencl::kOk;
  std::string detail;
  const auto files = [&] {
    std::vector<std::filesystem::path> all;
    for (const auto& f : std::filesystem::directory_iterator(folder)) all.push_back(f.path());
    return all;
  };
  // The first use of a kernel builds what has its family.
  const auto use = [&] {
    opencl::give_up(nullptr);
    const auto device = opencl::find_device(&error, &detail);
    return device != nullptr && opencl::program_with(*device, "resize", 0, &error) != nullptr;
  };
  if (!use()) GTEST_SKIP() << opencl::describe(error) << ": " << detail;
  ASSERT_EQ(files().size(), 1u);
  const auto written = std::filesystem::last_write_time(files()[0]);
  ASSERT_TRUE(use()) << opencl::describe(error);
  EXPECT_EQ(std::filesystem::last_write_time(files()[0]), written) << "it was compiled again";
  std::ofstream(files()[0], std::ios::app) << "damaged";
  ASSERT_TRUE(use()) << opencl::describe(error);
  compare_all(kSingle, 1e-5f);
  unsetenv("MOTE_OPENCL_CACHE");
  opencl::give_up(nullptr);
  std::filesystem::remove_all(folder);
}

// A binary runs with this process's rights: only what this user wrote, where nobody else may write, is taken.
TEST(OpenCl, BinariesOfOthersAreNotTaken) {
  const std::string folder = testing::TempDir() + "/mote_opencl_owner_test";
  setenv("MOTE_OPENCL_CACHE", folder.c_str(), 1);
  std::filesystem::remove_all(folder);
  const std::string key = opencl::binary_key({"a"});
  const std::vector<unsigned char> binary(100, 7);
  std::vector<unsigned char> found;
  opencl::store_binary(key, binary);
  ASSERT_TRUE(opencl::load_binary(key, &found));
  EXPECT_EQ(found, binary);
  using std::filesystem::perms;
  const std::filesystem::path file = folder + "/" + key;
  EXPECT_EQ(std::filesystem::status(folder).permissions(), perms::owner_all);
  EXPECT_EQ(std::filesystem::status(file).permissions(), perms::owner_read | perms::owner_write);
  for (const auto& [path, more] : {std::pair{std::filesystem::path(folder), perms::others_write}, {file, perms::group_write}}) {
    const auto before = std::filesystem::status(path).permissions();
    std::filesystem::permissions(path, before | more);
    EXPECT_FALSE(opencl::load_binary(key, &found)) << path;
    std::filesystem::permissions(path, before);
  }
  EXPECT_TRUE(opencl::load_binary(key, &found));
  std::filesystem::rename(file, folder + "/elsewhere");
  std::filesystem::create_symlink(folder + "/elsewhere", file);
  EXPECT_FALSE(opencl::load_binary(key, &found));
  unsetenv("MOTE_OPENCL_CACHE");
  std::filesystem::remove_all(folder);
}

TEST(OpenCl, EveryUnaryOperatorComputesWhatTheCpuComputes) {
  opencl::Error error = opencl::kOk;
  std::string detail;
  if (opencl::find_device(&error, &detail) == nullptr) GTEST_SKIP() << opencl::describe(error) << ": " << detail;
  for (uint16_t id = static_cast<uint16_t>(OpId::abs); id <= static_cast<uint16_t>(OpId::mish); ++id) {
    const Case c = {"unary", {3, 50}, [id](ir::Graph&, ir::NodeBuilder& b, ir::Value* x) { return b.op(static_cast<OpId>(id), {x}); }};
    SCOPED_TRACE(id);
    emit::FileBytes on_cpu, on_device;
    std::string why;
    if (!program_of(c, false, &on_cpu, &why)) continue;  // needs attributes
    ASSERT_TRUE(program_of(c, true, &on_device, &why)) << why;
    const std::vector<float> expected = outputs_of(on_cpu, c), found = outputs_of(on_device, c);
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) {
      if (std::isnan(expected[i]) || std::isinf(expected[i])) EXPECT_EQ(std::isnan(expected[i]), std::isnan(found[i]));
      else EXPECT_NEAR(found[i], expected[i], 1e-5f * std::max(1.0f, std::fabs(expected[i])));
    }
  }
}

// What is too large for f16, or loses too much there, stays f32.
TEST(OpenCl, TensorsThatF16DoesNotHoldStayF32) {
  opencl::Error error = opencl::kOk;
  std::string detail;
  if (opencl::find_device(&error, &detail) == nullptr) GTEST_SKIP() << opencl::describe(error) << ": " << detail;
  const auto times = [](ir::Graph& g, ir::NodeBuilder& b, ir::Value* x, float v, OpId op) {
    return b.op(op, {x, g.add_constant(DType::f32, {1}, ir::Bytes::copy_of(&v, sizeof v))});
  };
  const Case cases[] = {
      {"past the range",
       {4, 64},
       [&](ir::Graph& g, ir::NodeBuilder& b, ir::Value* x) { return times(g, b, times(g, b, x, 3e5f, OpId::mul), 1e-5f, OpId::mul); }},
      {"small differences", {4, 64}, [&](ir::Graph& g, ir::NodeBuilder& b, ir::Value* x) {
         return times(g, b, times(g, b, x, 100, OpId::add), -100, OpId::add);
       }}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    emit::FileBytes on_cpu, on_device;
    std::string why;
    ASSERT_TRUE(program_of(c, false, &on_cpu, &why)) << why;
    ASSERT_TRUE(program_of(c, true, &on_device, &why, kHalfStorage)) << why;
    const std::vector<float> expected = outputs_of(on_cpu, c), found = outputs_of(on_device, c);
    float largest = 0;
    for (float v : expected) largest = std::max(largest, std::fabs(v));
    ASSERT_GT(largest, 0);
    for (size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected[i], 1e-2f * largest);
  }
}

TEST(OpenCl, RefusesDamagedBlobsAndOtherVersions) {
  const mote_backend* b = opencl_backend();
  EXPECT_EQ(b->probe("1", ""), uint32_t{opencl::kVersionUnfit});
  EXPECT_EQ(b->probe("4", ""), uint32_t{opencl::kVersionUnfit});
  EXPECT_NE(b->probe("2", ""), uint32_t{opencl::kVersionUnfit}) << "what the backend did before, it still does";
  if (b->probe(opencl::kVersion, "f32") != 0) GTEST_SKIP() << b->describe(b->probe(opencl::kVersion, "f32"));
  EXPECT_EQ(b->probe(opencl::kVersion, "f32 wings"), uint32_t{opencl::kCapabilityMissing});
  alignas(16) const uint8_t nonsense[64] = {1, 2, 3};
  const mote_backend_blob blob = {nonsense, sizeof nonsense, opencl::kVersion, "f32", 0};
  void* handle = nullptr;
  uint32_t release = 0;
  EXPECT_EQ(b->init(&blob, nullptr, 0, nullptr, 0, &handle, &release), uint32_t{opencl::kBlobBroken});
  EXPECT_EQ(handle, nullptr);
  EXPECT_STRNE(b->describe(opencl::kBlobBroken), "");
}

}  // namespace
}  // namespace mote::backends
