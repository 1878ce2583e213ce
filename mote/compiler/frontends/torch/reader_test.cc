#include <gtest/gtest.h>

#include "mote/compiler/frontends/torch/archive.h"
#include "mote/compiler/frontends/torch/expression.h"
#include "mote/compiler/frontends/torch/import.h"

namespace mote::frontends::torch {
namespace {

constexpr char kSymbol[] = "Symbol('s7', positive=True, integer=True)";

std::map<std::string, Range> ranges() {
  Range r;
  r.min = 2;
  r.max = 9;
  r.bounded = true;
  Range open;
  open.min = 1;
  return {{"s7", r}, {"s8", open}};
}

TEST(TorchExpression, BoundsFollowTheSymbols) {
  const std::string twice = std::string("Add(Mul(Integer(2), ") + kSymbol + "), Integer(-1))";
  const auto r = bounds_of(twice, ranges());
  ASSERT_TRUE(r.has_value());
  EXPECT_EQ(r->min, 3);
  EXPECT_EQ(r->max, 17);
  EXPECT_EQ(readable(twice), "2*s7+-1");
  EXPECT_EQ(symbol_name(kSymbol), "s7");
  EXPECT_EQ(symbol_name(twice), "");
  const auto floor = bounds_of(std::string("FloorDiv(") + kSymbol + ", Integer(4))", ranges());
  ASSERT_TRUE(floor.has_value());
  EXPECT_EQ(floor->min, 0);
  EXPECT_EQ(floor->max, 2);
}

TEST(TorchExpression, OpenSymbolsAndUnknownFunctionsHaveNoBounds) {
  EXPECT_FALSE(bounds_of("Symbol('s8', integer=True)", ranges()).has_value());
  EXPECT_FALSE(bounds_of("Symbol('s9', integer=True)", ranges()).has_value());
  EXPECT_FALSE(bounds_of(std::string("Foo(") + kSymbol + ", Integer(4))", ranges()).has_value());
  for (const char* broken : {"", "Add(", "Symbol('s7", "Integer(", "Add(Integer(1),)", "Integer(99999999999999999999)"})
    EXPECT_FALSE(bounds_of(broken, ranges()).has_value()) << broken;
  std::string deep;
  for (int i = 0; i < 10000; ++i) deep += "Add(";
  EXPECT_FALSE(bounds_of(deep, ranges()).has_value());
}

TEST(TorchTypes, PromoteAsTorchDoes) {
  EXPECT_EQ(promote_types(DType::u8, DType::s8), DType::s16);
  EXPECT_EQ(promote_types(DType::f16, DType::bf16), DType::f32);
  EXPECT_EQ(promote_types(DType::s64, DType::f16), DType::f16);
  EXPECT_EQ(promote_types(DType::boolean, DType::u8), DType::u8);
  EXPECT_EQ(promote_types(DType::s32, DType::s16), DType::s32);
}

TEST(TorchInPlace, IsToldFromOperatorsWithUnderscores) {
  std::string functional;
  EXPECT_TRUE(is_in_place("aten.add_.Tensor", &functional));
  EXPECT_EQ(functional, "aten.add.Tensor");
  EXPECT_FALSE(is_in_place("aten.__and__.Tensor", &functional));
  EXPECT_FALSE(is_in_place("aten.add.Tensor", &functional));
  EXPECT_FALSE(is_in_place("_operator.add", &functional));
}

TensorData tensor_of(std::vector<int64_t> shape, std::vector<int64_t> strides, size_t floats) {
  TensorData t;
  t.dtype = DType::f32;
  t.shape = std::move(shape);
  t.strides = std::move(strides);
  std::vector<float> values(floats);
  for (size_t i = 0; i < floats; ++i) values[i] = static_cast<float>(i);
  t.bytes = ir::Bytes::copy_of(values.data(), floats * sizeof(float));
  return t;
}

TEST(TorchTensors, StridesAreWalkedAndDenseOnesShared) {
  ir::Dims dims;
  ir::Bytes bytes;
  std::string error;
  const TensorData dense = tensor_of({2, 3}, {3, 1}, 6);
  ASSERT_TRUE(dense_bytes(dense, &dims, &bytes, &error)) << error;
  EXPECT_EQ(bytes.data, dense.bytes.data);
  const TensorData turned = tensor_of({3, 2}, {1, 3}, 6);
  dims.clear();
  ASSERT_TRUE(dense_bytes(turned, &dims, &bytes, &error)) << error;
  EXPECT_EQ(dims, (ir::Dims{3, 2}));
  const auto* f = reinterpret_cast<const float*>(bytes.data);
  EXPECT_EQ(std::vector<float>(f, f + 6), (std::vector<float>{0, 3, 1, 4, 2, 5}));
}

TEST(TorchTensors, ElementsOutsideOfTheBytesAreRefused) {
  ir::Bytes bytes;
  std::string error;
  const auto refused = [&](TensorData t) {
    ir::Dims dims;
    return !dense_bytes(t, &dims, &bytes, &error);
  };
  EXPECT_TRUE(refused(tensor_of({2, 4}, {3, 1}, 6)));
  EXPECT_TRUE(refused(tensor_of({2, 3}, {-3, 1}, 6)));
  EXPECT_TRUE(refused(tensor_of({-1}, {1}, 6)));
  EXPECT_TRUE(refused(tensor_of({2147483647, 2147483647}, {0, 0}, 6)));
  EXPECT_TRUE(refused(tensor_of({2, 3}, {1}, 6)));
  TensorData shifted = tensor_of({2, 3}, {3, 1}, 6);
  shifted.offset = 1;
  EXPECT_TRUE(refused(shifted));
}

ir::Problems import_json(const std::string& json) {
  ExportedModel model;
  ExportedMethod method;
  method.json = json;
  model.methods.push_back(method);
  ir::Graph graph;
  ir::Problems problems;
  EXPECT_FALSE(import_exported(model, {}, graph, &problems));
  return problems;
}

TEST(TorchSchema, BrokenProgramsAreRefusedWithAReason) {
  for (const char* json : {"", "[", "{}", "[]", "null", R"({"schema_version": {"major": 8}})", R"({"schema_version": {"major": "8"}})",
                           R"({"schema_version": {"major": 8, "minor": 1}, "graph_module": {"graph": {"inputs": [{"as_tensor": 3}]}}})"})
    EXPECT_EQ(import_json(json).size(), 1u) << json;
  EXPECT_NE(import_json(R"({"schema_version": {"major": 7, "minor": 1}})")[0].what.find("expected version 8"), std::string::npos);
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "[";
  EXPECT_NE(import_json(deep)[0].what.find("nested too deeply"), std::string::npos);
}

TEST(TorchArchive, OtherFilesAreNoArchives) {
  for (const std::string& text : {std::string(), std::string("PK"), std::string("PK\3\4 no archive at all, but long enough to be one")})
    EXPECT_FALSE(is_archive(ir::Bytes::copy_of(text.data(), text.size())));
}

TEST(TorchTable, LinesAreFoundByNameAndOverload) {
  EXPECT_GT(supported_operators().size(), 350u);
  for (const char* name : {"aten.add.Tensor", "aten.conv2d.default", "aten.scaled_dot_product_attention.default", "_operator.mul"})
    EXPECT_EQ(op_index().count(name), 1u) << name;
  EXPECT_NE(operator_table().find("| `aten.rand` | default |  | refused: random numbers |"), std::string::npos);
}

}  // namespace
}  // namespace mote::frontends::torch
