#include <gtest/gtest.h>

#include "mote/compiler/frontends/torch/archive.h"
#include "mote/compiler/frontends/torch/expression.h"
#include "mote/compiler/frontends/torch/import.h"
#include "mote/compiler/frontends/torch/json.h"
#include "mote/compiler/frontends/torch/output_names.h"

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

TEST(TorchTensors, TensorsWithoutElementsNeedNoBytes) {
  ir::Dims dims;
  ir::Bytes bytes;
  std::string error;
  ASSERT_TRUE(dense_bytes(tensor_of({1, 0, 32}, {32, 32, 1}, 0), &dims, &bytes, &error)) << error;
  EXPECT_EQ(dims, (ir::Dims{1, 0, 32}));
  EXPECT_EQ(bytes.size, 0u);
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

// The pytree of results as torch.export writes it, as a program's text.
std::vector<std::string> names_of(const std::string& spec) {
  Json module = {{"module_call_graph", {{{"fqn", ""}, {"signature", {{"out_spec", "[1, " + spec + "]"}}}}}},
                 {"treespec_namedtuple_fields", {{"m.Pair", {"first", "second"}}}}};
  return read_output_names(module);
}

TEST(TorchSchema, OutputsAreNamedByTheModulesResults) {
  using Names = std::vector<std::string>;
  const std::string leaf = R"({"type": null, "context": null, "children_spec": []})";
  const std::string two = "[" + leaf + ", " + leaf + "]";
  const std::string pair = R"({"type": "builtins.tuple", "context": "null", "children_spec": )" + two + "}";
  EXPECT_EQ(names_of(leaf), (Names{"output"}));
  EXPECT_EQ(names_of(pair), (Names{"output_0", "output_1"}));
  EXPECT_EQ(
      names_of(R"({"type": "some.ModelOutput", "context": "[\"logits\", \"hidden\"]", "children_spec": [)" + leaf + ", " + pair + "]}"),
      (Names{"logits", "hidden_0", "hidden_1"}));
  EXPECT_EQ(names_of(R"({"type": "collections.namedtuple", "context": "\"m.Pair\"", "children_spec": )" + two + "}"),
            (Names{"first", "second"}));
  // Keys that are not as many as there are children, or no text, count for nothing.
  EXPECT_EQ(names_of(R"({"type": "builtins.dict", "context": "[\"a\"]", "children_spec": )" + two + "}"), (Names{"output_0", "output_1"}));
  EXPECT_EQ(names_of(R"({"type": "builtins.dict", "context": "[1, 2]", "children_spec": )" + two + "}"), (Names{"output_0", "output_1"}));
  EXPECT_TRUE(read_output_names(Json::object()).empty());
}

TEST(TorchArchive, OtherFilesAreNoArchives) {
  for (const std::string& text : {std::string(), std::string("PK"), std::string("PK\3\4 no archive at all, but long enough to be one")})
    EXPECT_FALSE(is_archive(ir::Bytes::copy_of(text.data(), text.size())));
}

// A zip archive with one file, deflated to a hundredth by the fixed code: `text` of up to four characters, then 258 bytes again and again
// that repeat it.
std::string bomb(const std::string& name, const std::string& text, size_t copies) {
  std::string stream;
  uint32_t held = 0;
  int count = 0;
  const auto bits = [&](uint32_t value, int n) {
    for (int i = 0; i < n; ++i) {
      held |= (value >> i & 1) << count++;
      if (count == 8) stream.push_back(static_cast<char>(held)), held = 0, count = 0;
    }
  };
  const auto code = [&](uint32_t value, int n) {  // from its high bit on
    for (int i = n; i-- > 0;) bits(value >> i & 1, 1);
  };
  bits(3, 3);                                                                                          // the last block, fixed codes
  for (const char c : text) code(0x30 + static_cast<uint8_t>(c), 8);                                   // literals
  for (size_t i = 0; i < copies; ++i) code(0xc5, 8), code(static_cast<uint32_t>(text.size()) - 1, 5);  // length 258, distance
  bits(0, 7);                                                                                          // the end
  bits(0, 7);
  const auto number = [](uint32_t v, int n) {
    std::string s;
    for (int i = 0; i < n; ++i) s.push_back(i < 4 ? static_cast<char>(v >> 8 * i) : 0);
    return s;
  };
  const auto stored = static_cast<uint32_t>(stream.size()), size = static_cast<uint32_t>(text.size() + copies * 258);
  const std::string both =
      number(8, 2) + number(0, 8) + number(stored, 4) + number(size, 4) + number(static_cast<uint32_t>(name.size()), 2);
  const std::string local = "PK\3\4" + number(20, 2) + number(0, 2) + both + number(0, 2) + name + stream;
  const std::string entry = "PK\1\2" + number(20, 2) + number(20, 2) + number(0, 2) + both + number(0, 14) + number(0, 2) + name;
  return local + entry + "PK\5\6" + number(0, 4) + number(1, 2) + number(1, 2) + number(static_cast<uint32_t>(entry.size()), 4) +
         number(static_cast<uint32_t>(local.size()), 4) + number(0, 2);
}

// 132 kB took 1.7 GB.
TEST(TorchArchive, UnpacksToNoMoreThanItsSizeAccountsFor) {
  for (const bool large : {false, true}) {
    const std::string text = bomb("m/models/model.json", std::string(1, '\0'), large ? 25000 : 100);
    Source source;
    source.bytes = ir::Bytes::copy_of(text.data(), text.size());
    ASSERT_TRUE(is_archive(source.bytes));
    ExportedModel model;
    ir::Problems problems;
    EXPECT_EQ(read_archive(source, &model, &problems), !large);
    if (!large) {
      ASSERT_EQ(model.methods.size(), 1u);
      EXPECT_EQ(model.methods[0].json.size(), 25801u);
      continue;
    }
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_NE(problems[0].what.find("unpacks to 6450001 bytes"), std::string::npos) << problems[0].what;
  }
}

// Texts within their size took thirty times as much again when they were parsed.
TEST(TorchArchive, HoldsNoMoreValuesThanItsSizeAccountsFor) {
  for (const bool large : {false, true}) {
    std::string file = bomb("m/models/model.json", "[],", large ? 30000 : 300);
    // 132 kB: what is between the entries nobody reads.
    const size_t directory = file.rfind("PK\1\2");
    const std::string padding(132000 - file.size(), 'x');
    file.insert(directory, padding);
    const size_t offset = file.size() - 6;
    for (int i = 0; i < 4; ++i) file[offset + static_cast<size_t>(i)] = static_cast<char>((directory + padding.size()) >> 8 * i);
    Source source;
    source.bytes = ir::Bytes::copy_of(file.data(), file.size());
    ASSERT_TRUE(is_archive(source.bytes));
    ExportedModel model;
    ir::Problems problems;
    EXPECT_EQ(read_archive(source, &model, &problems), !large);
    if (!large) continue;
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_NE(problems[0].what.find("values, expected no more than 157472 for an archive of 132000 bytes"), std::string::npos)
        << problems[0].what;
    EXPECT_TRUE(model.methods.empty()) << "and is not parsed";
  }
}

TEST(TorchArchive, ValuesAreCountedOutsideOfTexts) {
  EXPECT_EQ(most_values(R"({"a": [1, 2, "x, [y\"], "], "b": {}})"), 7u);
  EXPECT_EQ(most_values("[[],[],[]]"), 7u);
}

TEST(TorchTable, LinesAreFoundByNameAndOverload) {
  EXPECT_GT(supported_operators().size(), 350u);
  for (const char* name : {"aten.add.Tensor", "aten.conv2d.default", "aten.scaled_dot_product_attention.default", "_operator.mul"})
    EXPECT_EQ(op_index().count(name), 1u) << name;
  EXPECT_NE(operator_table().find("| `aten.rand` | default |  | refused: random numbers |"), std::string::npos);
}

}  // namespace
}  // namespace mote::frontends::torch
