// The backend through its interface alone; its operators are judged by backend_conformance. Skipped, by name, where there is no library.

#include "mote/backends/xnnpack/xnnpack_backend.h"

#include <gtest/gtest.h>

#include <cmath>

#include "mote/backends/reference/reference_backend.h"

#include "mote/backends/xnnpack/xnn_api.h"
#include "mote/compiler/ir/builder.h"
#include "mote/compiler/placement/pieces.h"
#include "mote/ops/conv/conv.h"

namespace mote::backends {
namespace {

TEST(Xnnpack, SaysWhatItCannotRun) {
  const mote_backend* b = xnnpack_backend();
  EXPECT_EQ(b->probe("2", ""), uint32_t{xnnpack::kVersionUnfit});
  EXPECT_EQ(b->probe("1", "f32 wings"), uint32_t{xnnpack::kCapabilityMissing});
  for (uint32_t e = 1; e <= xnnpack::kFailed; ++e) EXPECT_STRNE(b->describe(e), "");
  for (uint32_t e = xnnpack::kNoLibrary; e <= xnnpack::kNotThisCpu; ++e) {
    EXPECT_STRNE(b->describe(e), "");
    EXPECT_NE(e & MOTE_BACKEND_ABSENT, 0u);
  }
}

TEST(Xnnpack, RefusesDamagedBlobs) {
  const mote_backend* b = xnnpack_backend();
  if (const uint32_t absent = b->probe("1", "f32")) GTEST_SKIP() << b->describe(absent);
  alignas(16) const uint8_t nonsense[64] = {1, 2, 3};
  const mote_backend_blob blob = {nonsense, sizeof nonsense, "1", "f32", 0};
  void* handle = nullptr;
  uint32_t release = 0;
  EXPECT_EQ(b->init(&blob, nullptr, 0, nullptr, 0, &handle, &release), uint32_t{xnnpack::kBlobBroken});
  EXPECT_EQ(handle, nullptr);
}

// Runs the nodes of a graph with one input and one output, all (1, 8, 8, 16).
std::vector<float> run(const mote_backend& device, const mote_backend_compiler& compiler, ir::Graph& graph) {
  std::vector<ir::Node*> nodes;
  for (const auto& n : graph.methods[0].block->nodes) nodes.push_back(n.get());
  placement::Blob blob;
  std::string error;
  EXPECT_TRUE(placement::make_blob(nodes, placement::boundary_of(nodes), compiler, nullptr, &blob, &error)) << error;
  program::FileBytes bytes = program::FileBytes::of_size(blob.bytes.size());
  std::copy(blob.bytes.begin(), blob.bytes.end(), bytes.data());
  const int32_t dims[] = {1, 8, 8, 16}, strides[] = {4096, 512, 64, 4};
  std::vector<float> x(1024), y(1024);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 11) - 5;
  const auto f32 = static_cast<uint8_t>(DType::f32);
  const mote_backend_tensor in = {x.data(), dims, strides, f32, 4, 0}, out = {y.data(), dims, strides, f32, 4, 0};
  const mote_backend_blob view = {bytes.data(), bytes.size, blob.version.c_str(), blob.capabilities.c_str(), 0};
  void* handle = nullptr;
  uint32_t release = 0;
  EXPECT_EQ(device.init(&view, &in, 1, &out, 1, &handle, &release), 0u);
  if (handle == nullptr) return {};
  EXPECT_EQ(device.execute(handle, &in, 1, &out, 1), 0u);
  device.destroy(handle);
  return y;
}

// A plan lets the sums lie where the residual is read from.
TEST(Xnnpack, AResidualMayLieInTheOutputsMemory) {
  if (const uint32_t absent = xnnpack_backend()->probe("1", "f32")) GTEST_SKIP() << xnnpack_backend()->describe(absent);
  ir::Graph graph;
  ir::Method& m = graph.add_method("main");
  ir::Value* x = graph.add_input(m, "x", DType::f32, {1, 8, 8, 16});
  ir::NodeBuilder b(graph, *m.block, "node");
  std::vector<float> weights(256);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = 0.1f * static_cast<float>(i % 7) - 0.3f;
  ir::Value* w = graph.constant<float>({16, 1, 1, 16}, weights);
  ops::conv::Attrs a;
  a.activation = 2;
  ir::Value* r = b.op(OpId::relu, {x});
  for (int i = 0; i < 3; ++i) r = b.op(OpId::conv, a, {b.op(OpId::conv, a, {r, w}), w, nullptr, r});
  graph.add_output(m, "y", b.op(OpId::abs, {r}));
  ASSERT_TRUE(b.ok()) << b.error();
  const std::vector<float> expected = run(*reference_backend(), *reference_compiler(), graph),
                           found = run(*xnnpack_backend(), *xnnpack_compiler(), graph);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected[i], 1e-4f * std::max(1.0f, std::fabs(expected[i])));
}

}  // namespace
}  // namespace mote::backends
