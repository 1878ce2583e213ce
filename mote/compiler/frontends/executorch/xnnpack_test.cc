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

namespace {

driver::Array floats(const std::vector<int64_t>& dims, const std::vector<float>& v) {
  driver::Array a;
  a.dtype = DType::f32;
  a.dims = dims;
  a.data.resize(v.size() * sizeof(float));
  std::memcpy(a.data.data(), v.data(), a.data.size());
  return a;
}
template <class T>
std::vector<T> values_of(const driver::Array& a) {
  std::vector<T> v(a.data.size() / sizeof(T));
  std::memcpy(v.data(), a.data.data(), a.data.size());
  return v;
}
// 0.37, -0.71, ...: numbers without an order.
std::vector<float> mixed(size_t n) {
  std::vector<float> v;
  for (size_t i = 0; i < n; ++i) v.push_back(std::sin(static_cast<float>(i * i + 3 * i) * 0.7f));
  return v;
}

}  // namespace

// The partitioner writes none of these three.
TEST(Xnnpack, ArgMaxPoolingCountsColumnByColumn) {
  PayloadWriter w;
  w.value(Datatype::fp32, {1, 4, 6, 1}, kExternalInput);
  w.value(Datatype::fp32, {1, 2, 2, 1}, kExternalOutput);
  w.value(Datatype::int32, {1, 2, 2, 1}, kExternalOutput);
  w.node(NodeUnion::XNNArgMaxPooling2d, xfb::CreateArgMaxPooling(w.b, 0, 0, 0, 0, 2, 3, 0, 1, 2, 0));
  const std::vector<float> x = mixed(24);
  const auto out = run_payload(w.finish(), {floats({1, 4, 6, 1}, x)});
  ASSERT_EQ(out.size(), 2u);
  const auto best = values_of<float>(out[0]);
  const auto place = values_of<int64_t>(out[1]);
  for (size_t oy = 0; oy < 2; ++oy)
    for (size_t ox = 0; ox < 2; ++ox) {
      float most = -INFINITY;
      int64_t at = 0;
      for (size_t py = 0; py < 2; ++py)
        for (size_t px = 0; px < 3; ++px)
          if (const float v = x[(oy * 2 + py) * 6 + ox * 3 + px]; v > most) most = v, at = static_cast<int64_t>(px * 2 + py);
      EXPECT_EQ(best[oy * 2 + ox], most);
      EXPECT_EQ(place[oy * 2 + ox], at);
    }
}

TEST(Xnnpack, Elu) {
  PayloadWriter w;
  w.value(Datatype::fp32, {16}, kExternalInput);
  w.value(Datatype::fp32, {16}, kExternalOutput);
  w.node(NodeUnion::XNNELU, xfb::CreateElu(w.b, 0.5f, 0, 1));
  const std::vector<float> x = mixed(16);
  const auto y = values_of<float>(run_payload(w.finish(), {floats({16}, x)}).at(0));
  for (size_t i = 0; i < 16; ++i) EXPECT_NEAR(y[i], x[i] < 0 ? 0.5f * std::expm1(x[i]) : x[i], 1e-6f);
}

TEST(Xnnpack, Attention) {
  constexpr size_t kT = 3, kU = 4, kC = 2;
  PayloadWriter w;
  w.value(Datatype::fp32, {1, 1, kT, kC}, kExternalInput);
  w.value(Datatype::fp32, {1, 1, kU, kC}, kExternalInput);
  w.value(Datatype::fp32, {1, 1, kU, kC}, kExternalInput);
  w.value(Datatype::fp32, {kC}, 0, w.constant<float>({0.5f, 0.25f}));
  w.value(Datatype::fp32, {kT, kU}, 0, w.constant<float>({0, 0, 0, -50, 0, 0, 1, 0, 0, 0, 0, 0}));
  w.value(Datatype::fp32, {1, 1, kT, kC}, kExternalOutput);
  w.node(NodeUnion::XNNScaledDotProductAttention, xfb::CreateAttention(w.b, 0, 1, 2, 3, 4, 5));
  const std::vector<float> q = mixed(kT * kC), k = mixed(kU * kC), v = mixed(kU * kC), scale{0.5f, 0.25f};
  const std::vector<float> mask{0, 0, 0, -50, 0, 0, 1, 0, 0, 0, 0, 0};
  const auto out = run_payload(w.finish(), {floats({1, 1, kT, kC}, q), floats({1, 1, kU, kC}, k), floats({1, 1, kU, kC}, v)});
  const auto y = values_of<float>(out.at(0));
  for (size_t t = 0; t < kT; ++t) {
    std::vector<float> e(kU);
    float total = 0;
    for (size_t u = 0; u < kU; ++u) {
      float s = mask[t * kU + u];
      for (size_t c = 0; c < kC; ++c) s += q[t * kC + c] * scale[c] * k[u * kC + c];
      total += e[u] = std::exp(s);
    }
    for (size_t c = 0; c < kC; ++c) {
      float expected = 0;
      for (size_t u = 0; u < kU; ++u) expected += e[u] / total * v[u * kC + c];
      EXPECT_NEAR(y[t * kC + c], expected, 1e-5f);
    }
  }
}

// Rows of an odd number of 4-bit weights begin at bytes in the file.
TEST(Xnnpack, FourBitRowsOfOddLength) {
  PayloadWriter w;
  const uint32_t filter = w.constant<uint8_t>({0x2f, 0x08, 0x70, 0x09});  // (15, 2, 8), (0, 7, 9): 7 -6 0, -8 -1 1
  const std::vector<float> scales{0.5f, 2};
  const auto quant = xfb::CreatePerChannelQuantDirect(w.b, &scales, 0);
  w.value(Datatype::fp32, {1, 3}, kExternalInput);
  w.value(Datatype::qcint4, {2, 3}, 0, filter, xfb::QuantParams::PerChannelQuant, quant.Union());
  w.value(Datatype::fp32, {1, 2}, kExternalOutput);
  w.node(NodeUnion::XNNFullyConnected, xfb::CreateFullyConnected(w.b, 0, 1, kNoValue, 2, 0));
  const auto y = values_of<float>(run_payload(w.finish(), {floats({1, 3}, {1, 2, 4})}).at(0));
  EXPECT_NEAR(y[0], -2.5f, 1e-5f);
  EXPECT_NEAR(y[1], -12, 1e-5f);
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
