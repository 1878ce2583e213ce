// Importers of single operators, compiled and run: what the node tests of the onnx package do not look at.

#include <cstring>

#include "mote/compiler/driver/compile.h"
#include "mote/compiler/driver/run.h"
#include "mote/compiler/frontends/onnx/testing.h"

namespace mote::frontends::onnx::testing {
namespace {

using driver::Array;
using ::onnx::TensorProto;

template <class T>
Array array(const std::vector<int64_t>& dims, const std::vector<T>& values) {
  Array a{dtype_of<T>, dims, std::vector<uint8_t>(values.size() * sizeof(T))};
  if (!values.empty()) std::memcpy(a.data.data(), values.data(), a.data.size());
  return a;
}

struct Ran {
  std::string error;
  std::vector<Array> outputs;
};

Ran compile_and_run(const ModelBuilder& m, const std::vector<Array>& inputs, const ImportOptions& import = {}) {
  Ran r;
  const std::string bytes = m.model.SerializeAsString();
  const Source source{"m.onnx", ir::Bytes::copy_of(bytes.data(), bytes.size())};
  driver::CompileOptions options;
  options.import = import;
  options.golden.count = 0;
  driver::CompileResult compiled;
  ir::Problems problems;
  if (!driver::compile(source, options, &compiled, &problems)) {
    for (const auto& p : problems) r.error += p.where + ": " + p.what + " | " + p.advice + "\n";
    return r;
  }
  driver::HostProgram program;
  if (program.open(compiled.file.span(), {}, {}, &r.error)) program.run(0, inputs, &r.outputs, &r.error);
  return r;
}

void expect_output(const Ran& r, const std::vector<int64_t>& dims, const std::vector<double>& values) {
  ASSERT_EQ(r.error, "");
  ASSERT_EQ(r.outputs.size(), 1u);
  EXPECT_EQ(r.outputs[0].dims, dims);
  EXPECT_EQ(driver::to_doubles(r.outputs[0]), values);
}

void set_ints(::onnx::NodeProto& n, const std::string& name, const std::vector<int64_t>& values) {
  auto* a = n.add_attribute();
  a->set_name(name);
  a->set_type(::onnx::AttributeProto::INTS);
  for (const int64_t v : values) a->add_ints(v);
}

const Array kSix = array<float>({1, 2, 1, 3}, {1, 2, 3, 4, 5, 6});

// The same program removes whichever axes arrive; the declared shape only bounds the result.
TEST(OnnxImporters, SqueezeTakesItsAxesWhenRunning) {
  ModelBuilder m;
  m.input("x", {"1", "2", "1", "3"}).input("axes", {"1"}, TensorProto::INT64).output("y", {"2", "2", "3"});
  m.node("Squeeze", {"x", "axes"}, {"y"});
  expect_output(compile_and_run(m, {kSix, array<int64_t>({1}, {0})}), {2, 1, 3}, {1, 2, 3, 4, 5, 6});
  expect_output(compile_and_run(m, {kSix, array<int64_t>({1}, {-2})}), {1, 2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_NE(compile_and_run(m, {kSix, array<int64_t>({1}, {1})}).error, "") << "an axis of size 2 cannot go";
  EXPECT_NE(compile_and_run(m, {kSix, array<int64_t>({1}, {4})}).error, "") << "there is no axis 4";
}

TEST(OnnxImporters, UnsqueezeTakesItsAxesWhenRunning) {
  ModelBuilder m;
  m.input("x", {"2", "3"}).input("axes", {"2"}, TensorProto::INT64).output("y", {"2", "3", "3", "3"});
  m.node("Unsqueeze", {"x", "axes"}, {"y"});
  const Array x = array<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  expect_output(compile_and_run(m, {x, array<int64_t>({2}, {0, -2})}), {1, 2, 1, 3}, {1, 2, 3, 4, 5, 6});
  expect_output(compile_and_run(m, {x, array<int64_t>({2}, {3, 1})}), {2, 1, 3, 1}, {1, 2, 3, 4, 5, 6});
}

TEST(OnnxImporters, ReduceWithoutKeptAxesTakesItsAxesWhenRunning) {
  ModelBuilder m;
  m.input("x", {"2", "3"}).input("axes", {"1"}, TensorProto::INT64).output("y", {"3"});
  attribute(m.node("ReduceSum", {"x", "axes"}, {"y"}), "keepdims", 0);
  const Array x = array<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  expect_output(compile_and_run(m, {x, array<int64_t>({1}, {0})}), {3}, {5, 7, 9});
  expect_output(compile_and_run(m, {x, array<int64_t>({1}, {1})}), {2}, {6, 15});
}

TEST(OnnxImporters, ReduceWithoutAxesAndNoopLeavesElementsToTheOperator) {
  ModelBuilder m;
  m.input("x", {"3"}).output("y", {"3"});
  attribute(m.node("ReduceSumSquare", {"x"}, {"y"}), "noop_with_empty_axes", 1);
  expect_output(compile_and_run(m, {array<float>({3}, {1, -2, 3})}), {3}, {1, 4, 9});
}

// A run-time size beyond the declared one is an error of the run, never a write outside of the plan.
TEST(OnnxImporters, DeclaredShapesBoundRunTimeSizes) {
  ModelBuilder m;
  m.input("x", {"1"}).input("shape", {"1"}, TensorProto::INT64).output("y", {"4"});
  m.node("Expand", {"x", "shape"}, {"y"});
  const Array x = array<float>({1}, {7});
  expect_output(compile_and_run(m, {x, array<int64_t>({1}, {3})}), {3}, {7, 7, 7});
  EXPECT_NE(compile_and_run(m, {x, array<int64_t>({1}, {5})}).error, "");
}

// What is computed element by element from a value bounds it, where the model declares that; it may be smaller all the same.
TEST(OnnxImporters, DeclaredShapesReachValuesBeforeThem) {
  ModelBuilder m;
  m.input("n", {}, TensorProto::INT64).input("b", {"8"}, TensorProto::INT64).output("y", {"8"}).output("count");
  m.graph->mutable_output(0)->mutable_type()->mutable_tensor_type()->set_elem_type(TensorProto::INT64);
  for (int i = 0; i < 2; ++i) {
    auto* t = m.graph->add_initializer();
    t->set_name(i == 0 ? "zero" : "one");
    t->set_data_type(TensorProto::INT64);
    t->add_int64_data(i);
  }
  m.node("Range", {"zero", "n", "one"}, {"r"});
  m.node("Add", {"r", "b"}, {"y"});
  m.node("Shape", {"r"}, {"count"});
  for (const int64_t n : {1, 8}) {
    const auto r = compile_and_run(m, {array<int64_t>({}, {n}), array<int64_t>({8}, std::vector<int64_t>(8, 5))});
    ASSERT_EQ(r.error, "");
    EXPECT_EQ(driver::to_doubles(r.outputs[1]), std::vector<double>{static_cast<double>(n)});
    EXPECT_EQ(driver::to_doubles(r.outputs[0])[7], n == 1 ? 5 : 12);
  }
}

TEST(OnnxImporters, DimBoundsWhatTheModelDoesNotDeclare) {
  ModelBuilder m;
  m.input("x", {"1", "1"}).input("shape", {"2"}, TensorProto::INT64).output("y");
  m.node("Expand", {"x", "shape"}, {"big"});
  m.node("Neg", {"big"}, {"y"});
  const Array x = array<float>({1, 1}, {7}), shape = array<int64_t>({2}, {2, 1});
  const auto open = compile_and_run(m, {x, shape});
  EXPECT_NE(open.error.find("what stands in input 'shape' decides; say how large it can get, for instance --dim big.0=1..16"),
            std::string::npos)
      << open.error;
  EXPECT_NE(open.error.find("--dim 'shape[0]=1..256' --dim 'shape[1]=1..256'"), std::string::npos) << open.error;
  ImportOptions values;
  values.dims["shape[0]"] = values.dims["shape[1]"] = {1, 3};
  expect_output(compile_and_run(m, {x, shape}, values), {2, 1}, {-7, -7});
  expect_output(compile_and_run(m, {x, array<int64_t>({2}, {4, 1})}, values), {3, 1}, {-7, -7, -7});  // the nearest inside
  values.dims.erase("shape[1]");
  EXPECT_NE(compile_and_run(m, {x, shape}, values).error, "") << "a range for each value";
  ImportOptions options;
  options.dims["big.0"] = options.dims["big.1"] = {1, 3};
  expect_output(compile_and_run(m, {x, shape}, options), {2, 1}, {-7, -7});
  EXPECT_NE(compile_and_run(m, {x, array<int64_t>({2}, {4, 1})}, options).error, "") << "beyond the bound";
}

TEST(OnnxImporters, TensorScatterWrapsAround) {
  ModelBuilder m(24);
  m.input("cache", {"1", "3", "1"}).input("update", {"1", "2", "1"}).input("at", {"1"}, TensorProto::INT64).output("y", {"1", "3", "1"});
  auto& n = m.node("TensorScatter", {"cache", "update", "at"}, {"y"});
  auto* mode = n.add_attribute();
  mode->set_name("mode");
  mode->set_s("circular");
  const auto r = compile_and_run(m, {array<float>({1, 3, 1}, {1, 2, 3}), array<float>({1, 2, 1}, {8, 9}), array<int64_t>({1}, {2})});
  expect_output(r, {1, 3, 1}, {9, 2, 8});
}

TEST(OnnxImporters, TreesThatLeadInCirclesAreRefused) {
  ModelBuilder m;
  auto* ml = m.model.add_opset_import();
  ml->set_domain("ai.onnx.ml");
  ml->set_version(3);
  m.input("x", {"2", "1"}).output("y", {"2", "1"});
  auto& n = m.node("TreeEnsembleRegressor", {"x"}, {"y"});
  n.set_domain("ai.onnx.ml");
  set_ints(n, "nodes_treeids", {0, 0});
  set_ints(n, "nodes_nodeids", {0, 1});
  set_ints(n, "nodes_featureids", {0, 0});
  set_ints(n, "nodes_truenodeids", {1, 0});
  set_ints(n, "nodes_falsenodeids", {1, 0});
  auto* values = n.add_attribute();
  values->set_name("nodes_values");
  auto* modes = n.add_attribute();
  modes->set_name("nodes_modes");
  for (int i = 0; i < 2; ++i) {
    values->add_floats(0);
    modes->add_strings("BRANCH_LEQ");
  }
  EXPECT_NE(compile_and_run(m, {array<float>({2, 1}, {1, 2})}).error, "");
}

// Operators before opset 10 that ONNX Runtime does not run either (tests/onnx has the others).
TEST(OnnxImporters, LegacyConstantsHaveTheShapeAskedFor) {
  ModelBuilder m(9, 4);
  m.input("x", {"2"}).output("y", {"2", "1"});
  auto& n = m.node("GivenTensorFill", {"x"}, {"c"});
  set_ints(n, "extra_shape", {1});
  auto* values = n.add_attribute();
  values->set_name("values");
  values->set_type(::onnx::AttributeProto::FLOATS);
  for (const float v : {3.0f, 4.0f}) values->add_floats(v);
  m.node("Neg", {"c"}, {"y"});
  expect_output(compile_and_run(m, {array<float>({2}, {0, 0})}), {2, 1}, {-3, -4});
  values->add_floats(5);
  EXPECT_NE(compile_and_run(m, {}).error.find("expected values for 2 elements, found 3"), std::string::npos);
}

TEST(OnnxImporters, AGruUnitKeepsTheStateOfSamplesThatHaveEnded) {
  ModelBuilder m(9, 4);
  m.input("h", {"1", "2", "1"}).input("g", {"1", "2", "3"}).input("n", {"2"}, TensorProto::INT32).input("t", {"1"}, TensorProto::INT32);
  m.output("y", {"1", "2", "1"});
  m.node("GRUUnit", {"h", "g", "n", "t"}, {"y"});
  // The first sample's gates: update 0.5, output 0.
  const auto r = compile_and_run(m, {array<float>({1, 2, 1}, {8, 7}), array<float>({1, 2, 3}, {5, 0, 0, 1, 2, 3}),
                                     array<int32_t>({2}, {3, 2}), array<int32_t>({1}, {2})});
  expect_output(r, {1, 2, 1}, {4, 7});
}

TEST(OnnxImporters, RefusalsNameTypeAndNode) {
  ModelBuilder m;
  m.input("x", {"2"}).output("y", {"2"});
  attribute(m.node("Cast", {"x"}, {"y"}), "to", 27);
  const auto r = compile_and_run(m, {});
  EXPECT_NE(r.error.find("Cast_1 (Cast)"), std::string::npos) << r.error;
  EXPECT_NE(r.error.find("FLOAT6E2M3"), std::string::npos) << r.error;
}

TEST(OnnxImporters, TypesThatAnOperatorLacksAreNamed) {
  ModelBuilder m;
  m.input("x", {"2"}, TensorProto::INT32).output("y", {"2"});
  m.node("Sqrt", {"x"}, {"y"});
  const auto r = compile_and_run(m, {});
  EXPECT_NE(r.error.find("expected f32 f64 f16 bf16, found s32"), std::string::npos) << r.error;
}

// Found by fuzzing: a constant for the scale was made in the shape of the zero points.
TEST(OnnxImporters, QuantizedProductsHaveOneOutputZeroPoint) {
  ModelBuilder m;
  m.input("a", {"2", "4"}, TensorProto::INT8).input("b", {"4", "3"}, TensorProto::INT8);
  for (const char* name : {"as", "bs", "ys"}) m.input(name, {"1"});
  for (const char* name : {"az", "bz"}) m.input(name, {"1"}, TensorProto::INT8);
  m.input("yz", {"2"}, TensorProto::INT8).output("y");
  m.node("QLinearMatMul", {"a", "as", "az", "b", "bs", "bz", "ys", "yz"}, {"y"});
  EXPECT_NE(compile_and_run(m, {}).error.find("y_zero_point: expected one, found 2"), std::string::npos);
}

}  // namespace
}  // namespace mote::frontends::onnx::testing
