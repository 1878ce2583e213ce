#include <algorithm>
#include <cmath>

#include "mote/compiler/driver/compile.h"
#include "mote/compiler/driver/run.h"
#include "mote/compiler/frontends/executorch/xnnpack_testing.h"

namespace mote::frontends::executorch {
namespace {

using xfb::Datatype;
using xfb::NodeUnion;

std::string refusal(const std::vector<uint8_t>& payload) {
  ir::Graph graph;
  ir::Problems problems;
  EXPECT_FALSE(import_alone(payload, graph, &problems));
  EXPECT_FALSE(problems.empty());
  return problems_text(problems);
}

// Outputs of the compiled payload as bytes.
std::vector<driver::Array> run_payload(const std::vector<uint8_t>& payload, const std::vector<driver::Array>& inputs) {
  Source source;
  source.format = "xnnpack";
  source.import = [&](const ImportOptions&, ir::Graph& graph, ir::Problems* problems) { return import_alone(payload, graph, problems); };
  driver::CompileOptions options;
  options.golden.count = 0;
  driver::CompileResult compiled;
  ir::Problems problems;
  EXPECT_TRUE(driver::compile(source, options, &compiled, &problems)) << problems_text(problems);
  driver::HostProgram program;
  std::string error;
  std::vector<driver::Array> outputs;
  EXPECT_TRUE(program.open(compiled.file.span(), {}, {}, &error) && program.run(0, inputs, &outputs, &error)) << error;
  return outputs;
}

driver::Array bytes_from(int first, const std::vector<int64_t>& dims) {
  driver::Array a;
  a.dtype = DType::s8;
  a.dims = dims;
  for (int i = 0; i < 256; ++i) a.data.push_back(static_cast<uint8_t>(first + i));
  return a;
}

std::vector<uint8_t> linear(uint32_t filter_columns = 3) {
  PayloadWriter w;
  const uint32_t filter = w.constant<float>({1, 2, 3, 4, 5, 6}), bias = w.constant<float>({0.5f, -0.5f});
  w.value(Datatype::fp32, {1, 3}, kExternalInput);
  w.value(Datatype::fp32, {2, filter_columns}, 0, filter);
  w.value(Datatype::fp32, {2}, 0, bias);
  w.value(Datatype::fp32, {1, 2}, kExternalOutput);
  w.node(NodeUnion::XNNFullyConnected, xfb::CreateFullyConnected(w.b, 0, 1, 2, 3, 0), xfb::CreateOutputMinMax(w.b, 0, 6));
  return w.finish();
}

// Every pair of 8-bit operands of a node with two inputs.
std::vector<uint8_t> pairs(NodeUnion type, float a, int32_t az, float c, int32_t cz, float y, int32_t yz) {
  PayloadWriter w;
  w.s8({256, 1}, a, az, kExternalInput);
  w.s8({1, 256}, c, cz, kExternalInput);
  w.s8({256, 256}, y, yz, kExternalOutput);
  w.node(type, xfb::CreateBinary(w.b, 0, 1, 2, 0));
  return w.finish();
}

int32_t clamp8(int64_t v) { return static_cast<int32_t>(v < -128 ? -128 : v > 127 ? 127 : v); }

template <class F>
void expect_pairs(const std::vector<uint8_t>& payload, F expected) {
  const auto out = run_payload(payload, {bytes_from(-128, {256, 1}), bytes_from(-128, {1, 256})});
  ASSERT_EQ(out.size(), 1u);
  ASSERT_EQ(out[0].data.size(), 65536u);
  int wrong = 0;
  for (int i = 0; i < 256; ++i)
    for (int k = 0; k < 256; ++k) wrong += static_cast<int8_t>(out[0].data[static_cast<size_t>(i * 256 + k)]) != expected(i - 128, k - 128);
  EXPECT_EQ(wrong, 0);
}

}  // namespace

TEST(Xnnpack, FullyConnectedWithBounds) {
  driver::Array x;
  x.dtype = DType::f32;
  x.dims = {1, 3};
  const float values[] = {1, -1, 0.5f};
  x.data.assign(reinterpret_cast<const uint8_t*>(values), reinterpret_cast<const uint8_t*>(values) + sizeof values);
  const auto out = run_payload(linear(), {x});
  ASSERT_EQ(out.size(), 1u);
  const float* y = reinterpret_cast<const float*>(out[0].data.data());
  EXPECT_FLOAT_EQ(y[0], 1.0f);
  EXPECT_FLOAT_EQ(y[1], 1.5f);
}

TEST(Xnnpack, AritySeparatesInputsFromOutputs) {
  const std::vector<uint8_t> p = linear();
  size_t inputs = 0, outputs = 0;
  ASSERT_TRUE(xnnpack_arity(ir::Bytes::copy_of(p.data(), p.size()), &inputs, &outputs));
  EXPECT_EQ(inputs, 1u);
  EXPECT_EQ(outputs, 1u);
}

// Sums are scaled with factors of 21 bits and rounded once, ties up.
TEST(Xnnpack, QuantizedSumHasTheDelegatesBits) {
  const float scales[][3] = {{0.0213f, 0.0071f, 0.0254f}, {0.05f, 0.05f, 0.1f}, {0.003f, 0.9f, 0.8f}};
  for (const auto& s : scales) {
    const float p = s[0] / s[2], r = s[1] / s[2];
    const int shift = 20 - std::ilogb(std::max(p, r));
    const int32_t fp = static_cast<int32_t>(std::lrint(std::ldexp(p, shift))), fr = static_cast<int32_t>(std::lrint(std::ldexp(r, shift)));
    for (const bool minus : {false, true})
      expect_pairs(pairs(minus ? NodeUnion::XNNSubtract : NodeUnion::XNNAdd, s[0], 3, s[1], -11, s[2], 5), [&](int a, int c) {
        const int64_t sum = int64_t{a - 3} * fp + (minus ? -1 : 1) * int64_t{c + 11} * fr;
        return clamp8(((sum + (int64_t{1} << (shift - 1))) >> shift) + 5);
      });
  }
}

TEST(Xnnpack, QuantizedProductHasTheDelegatesBits) {
  const float scales[][3] = {{0.0213f, 0.0071f, 0.0154f}, {0.05f, 0.05f, 0.1f}, {0.0123f, 0.00391f, 0.00777f}, {0.3f, 0.01f, 0.0247f}};
  for (const auto& s : scales) {
    const float scale = s[0] * s[1] / s[2];
    expect_pairs(pairs(NodeUnion::XNNMultiply, s[0], 3, s[1], -128, s[2], -7), [&](int a, int c) {
      return clamp8(static_cast<int64_t>(std::nearbyint(static_cast<float>((a - 3) * (c + 128)) * scale)) - 7);
    });
  }
}

TEST(Xnnpack, EveryUnsupportedNodeIsToldByName) {
  PayloadWriter w;
  w.value(Datatype::fp32, {4}, kExternalInput);
  w.value(Datatype::fp32, {4}, kExternalOutput);
  w.node(static_cast<NodeUnion>(201), xfb::CreateUnary(w.b, 0, 1));
  w.node(NodeUnion::XNNAbs, xfb::CreateUnary(w.b, 7, 1));
  w.node(static_cast<NodeUnion>(202), xfb::CreateUnary(w.b, 0, 1));
  const std::string text = refusal(w.finish());
  EXPECT_NE(text.find("node type 201"), std::string::npos) << text;
  EXPECT_NE(text.find("node type 202"), std::string::npos) << text;
  EXPECT_NE(text.find("value 7"), std::string::npos) << text;
}

TEST(Xnnpack, MissingConstants) {
  EXPECT_NE(refusal(linear(4)).find("expected 32 bytes of data, found 24"), std::string::npos);
  PayloadWriter w;
  w.value(Datatype::fp32, {1}, 0, w.named("weights"));
  EXPECT_NE(refusal(w.finish()).find("'weights'"), std::string::npos);
}

TEST(Xnnpack, ScalesMustFitTheWeights) {
  PayloadWriter w;
  const uint32_t data = w.constant<int8_t>({1, 2, 3, 4});
  const std::vector<float> scales{1, 2, 3};
  const auto q = xfb::CreatePerChannelQuantDirect(w.b, &scales, 0);
  w.value(Datatype::qcint8, {2, 2}, 0, data, xfb::QuantParams::PerChannelQuant, q.Union());
  EXPECT_NE(refusal(w.finish()).find("expected 2 scales, found 3"), std::string::npos);
  PayloadWriter v;
  v.s8({4}, -1, 0, kExternalInput);
  EXPECT_NE(refusal(v.finish()).find("expected a positive scale"), std::string::npos);
}

TEST(Xnnpack, ValuesAreWrittenOnceAndBeforeTheyAreRead) {
  PayloadWriter w;
  w.value(Datatype::fp32, {4}, kExternalInput);
  w.value(Datatype::fp32, {4});
  w.value(Datatype::fp32, {4}, kExternalOutput);
  w.node(NodeUnion::XNNAbs, xfb::CreateUnary(w.b, 1, 2));
  w.node(NodeUnion::XNNAbs, xfb::CreateUnary(w.b, 0, 0));
  const std::string text = refusal(w.finish());
  EXPECT_NE(text.find("value 1 before"), std::string::npos) << text;
  EXPECT_NE(text.find("value 0, which has contents"), std::string::npos) << text;
}

TEST(Xnnpack, CutPayloadsAreRefused) {
  const std::vector<uint8_t> whole = linear();
  for (size_t size = 0; size < whole.size(); ++size) {
    ir::Graph graph;
    ir::Problems problems;
    const std::vector<uint8_t> cut(whole.begin(), whole.begin() + static_cast<long>(size));
    EXPECT_FALSE(import_alone(cut, graph, &problems)) << size;
    EXPECT_FALSE(problems.empty());
  }
}

}  // namespace mote::frontends::executorch
