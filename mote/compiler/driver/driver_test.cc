// The whole compiler over small models written here: bytes in, program out.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "mote/compiler/driver/compile.h"
#include "mote/compiler/driver/run.h"
#include "onnx.pb.h"

namespace mote::driver {
namespace {

using onnx::ModelProto;

frontends::Source source_of(const ModelProto& model, const std::string& path = "test.onnx") {
  const std::string bytes = model.SerializeAsString();
  return {path, ir::Bytes::copy_of(bytes.data(), bytes.size())};
}

void set_type(onnx::ValueInfoProto* v, const std::string& name, const std::vector<std::string>& dims) {
  v->set_name(name);
  auto* tensor = v->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(onnx::TensorProto::FLOAT);
  for (const std::string& d : dims) {
    auto* dim = tensor->mutable_shape()->add_dim();
    if (std::isdigit(static_cast<unsigned char>(d[0])) != 0) dim->set_dim_value(std::stoll(d));
    else dim->set_dim_param(d);
  }
}

void add_node(onnx::GraphProto* g, const std::string& op, const std::vector<std::string>& in, const std::string& out) {
  auto* n = g->add_node();
  n->set_op_type(op);
  n->set_name("/" + out + "/" + op);
  for (const std::string& name : in) n->add_input(name);
  n->add_output(out);
}

void add_floats(onnx::GraphProto* g, const std::string& name, const std::vector<int64_t>& dims, const std::vector<float>& values) {
  auto* t = g->add_initializer();
  t->set_name(name);
  t->set_data_type(onnx::TensorProto::FLOAT);
  for (const int64_t d : dims) t->add_dims(d);
  t->set_raw_data(values.data(), values.size() * sizeof(float));
}

// y = relu(x * w + b), batch open when it is a word.
ModelProto dense_model(const std::string& batch) {
  ModelProto m;
  m.set_ir_version(8);
  m.add_opset_import()->set_version(13);
  auto* g = m.mutable_graph();
  g->set_name("dense");
  set_type(g->add_input(), "x", {batch, "4"});
  set_type(g->add_output(), "y", {batch, "2"});
  add_floats(g, "w", {4, 2}, {1, 0, 0, 1, 1, 0, 0, -1});
  add_floats(g, "b", {2}, {0.5f, -0.5f});
  add_node(g, "MatMul", {"x", "w"}, "xw");
  add_node(g, "Add", {"xw", "b"}, "sum");
  add_node(g, "Relu", {"sum"}, "y");
  return m;
}

struct Compiled {
  bool ok = false;
  CompileResult result;
  ir::Problems problems;
  std::string text() const {
    std::string s;
    for (const ir::Problem& p : problems) s += p.where + ": " + p.what + " [" + p.advice + "]\n";
    return s;
  }
};

Compiled compiled(const ModelProto& model, const CompileOptions& options = {}) {
  Compiled c;
  c.ok = compile(source_of(model), options, &c.result, &c.problems);
  return c;
}

Array floats(const std::vector<int64_t>& dims, const std::vector<float>& v) {
  Array a{DType::f32, dims, std::vector<uint8_t>(v.size() * 4)};
  std::memcpy(a.data.data(), v.data(), a.data.size());
  return a;
}

std::string evidence(const Program& program, const std::string& key) {
  for (const Pair& p : program.table().evidence)
    if (program.table().string(p.key) == key) return program.table().string(p.value);
  return "";
}

TEST(Compile, RunsWhatTheModelSays) {
  const Compiled c = compiled(dense_model("1"));
  ASSERT_TRUE(c.ok) << c.text();
  HostProgram p;
  std::string error;
  ASSERT_TRUE(p.open(c.result.file.span(), {}, {}, &error)) << error;
  std::vector<Array> out;
  ASSERT_TRUE(p.run(0, {floats({1, 4}, {1, 2, 3, 4})}, &out, &error)) << error;
  EXPECT_EQ(to_doubles(out[0]), (std::vector<double>{4.5, 0}));
  EXPECT_GE(c.result.peak_bytes, c.result.lower_bound_bytes);
  EXPECT_EQ(c.result.frontend, "onnx");
}

TEST(Compile, SameModelAndOptionsGiveTheSameBytes) {
  const Compiled a = compiled(dense_model("1")), b = compiled(dense_model("1"));
  ASSERT_TRUE(a.ok && b.ok) << a.text();
  ASSERT_EQ(a.result.file.size, b.result.file.size);
  EXPECT_EQ(std::memcmp(a.result.file.data(), b.result.file.data(), a.result.file.size), 0);
}

TEST(Compile, EvidenceSaysWhereItComesFrom) {
  CompileOptions o;
  o.producer = "mote 9.9";
  o.options_text = "--dim n=1..4";
  const Compiled c = compiled(dense_model("1"), o);
  ASSERT_TRUE(c.ok) << c.text();
  HostProgram p;
  std::string error;
  ASSERT_TRUE(p.open(c.result.file.span(), {}, {}, &error)) << error;
  EXPECT_EQ(evidence(p.program(), "producer"), "mote 9.9");
  EXPECT_EQ(evidence(p.program(), "source.model"), "test.onnx");
  EXPECT_EQ(evidence(p.program(), "options"), "--dim n=1..4");
  EXPECT_EQ(evidence(p.program(), "source.sha256").size(), 64u);
}

TEST(Compile, MadeUpExamplesTravelInTheFile) {
  CompileOptions o;
  o.golden.count = 2;
  const Compiled c = compiled(dense_model("1"), o);
  ASSERT_TRUE(c.ok) << c.text();
  ProgramTable t;
  Diagnostic d;
  ASSERT_TRUE(read_table(c.result.file.span(), c.result.file.size, &t, &d).ok());
  EXPECT_EQ(t.goldens.size, 4u);
  o.golden.count = 0;
  const Compiled none = compiled(dense_model("1"), o);
  ASSERT_TRUE(none.ok);
  EXPECT_LT(none.result.file.size, c.result.file.size);
}

TEST(Compile, GivenExamplesAreChecked) {
  CompileOptions o;
  o.golden.given = {{{"", floats({1, 4}, {1, 2, 3, 4})}, {"y", floats({1, 2}, {4.5f, 0})}}};
  EXPECT_TRUE(compiled(dense_model("1"), o).ok);
  o.golden.given = {{{"x", floats({1, 4}, {1, 2, 3, 4})}, {"y", floats({1, 2}, {4.5f, 7})}}};
  const Compiled wrong = compiled(dense_model("1"), o);
  EXPECT_FALSE(wrong.ok);
  EXPECT_NE(wrong.text().find("output 'y'"), std::string::npos) << wrong.text();
  o.golden.given = {{{"x", floats({1, 5}, {1, 2, 3, 4, 5})}}};
  const Compiled shape = compiled(dense_model("1"), o);
  EXPECT_FALSE(shape.ok);
  EXPECT_NE(shape.text().find("expected f32 (1, 4), found f32 (1, 5)"), std::string::npos) << shape.text();
}

TEST(Compile, OpenDimensionsAreListedAndBounded) {
  const Compiled open = compiled(dense_model("batch"));
  ASSERT_TRUE(open.ok) << open.text();
  ASSERT_EQ(open.result.notes.size(), 1u);
  EXPECT_NE(open.result.notes[0].find("batch=1 (axis 0 of 'x')"), std::string::npos) << open.result.notes[0];
  CompileOptions o;
  o.import.dims["batch"] = {1, 8};
  const Compiled c = compiled(dense_model("batch"), o);
  ASSERT_TRUE(c.ok) << c.text();
  HostProgram p;
  std::string error;
  ASSERT_TRUE(p.open(c.result.file.span(), {}, {}, &error)) << error;
  for (const int64_t n : {1, 3, 8}) {
    std::vector<Array> out;
    ASSERT_TRUE(p.run(0, {floats({n, 4}, std::vector<float>(static_cast<size_t>(4 * n), 1))}, &out, &error)) << error;
    EXPECT_EQ(out[0].dims, (std::vector<int64_t>{n, 2}));
  }
  std::vector<Array> out;
  EXPECT_FALSE(p.run(0, {floats({9, 4}, std::vector<float>(36))}, &out, &error));
}

TEST(Compile, EveryProblemIsReportedAtOnce) {
  ModelProto m = dense_model("1");
  auto* g = m.mutable_graph();
  g->mutable_node(0)->set_op_type("Frobnicate");
  g->mutable_node(2)->set_op_type("Transmogrify");
  const Compiled c = compiled(m);
  EXPECT_FALSE(c.ok);
  for (const char* part : {"Frobnicate", "Transmogrify", "/xw/MatMul"})
    EXPECT_NE(c.text().find(part), std::string::npos) << part << "\n" << c.text();
}

TEST(Compile, NeitherOnnxNorTflite) {
  const std::string text = "this is no model";
  CompileResult r;
  ir::Problems problems;
  EXPECT_FALSE(compile({"notes.txt", ir::Bytes::copy_of(text.data(), text.size())}, {}, &r, &problems));
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].where, "notes.txt");
  problems.clear();
  EXPECT_FALSE(compile({"broken.onnx", ir::Bytes::copy_of(text.data(), text.size())}, {}, &r, &problems));
  EXPECT_FALSE(problems.empty());
  problems.clear();
  EXPECT_FALSE(compile({"broken.tflite", ir::Bytes::copy_of(text.data(), text.size())}, {}, &r, &problems));
  EXPECT_FALSE(problems.empty());
}

TEST(Compile, WeightsMayBeASecondFile) {
  CompileOptions o;
  o.external_weights = true;
  const Compiled c = compiled(dense_model("1"), o);
  ASSERT_TRUE(c.ok) << c.text();
  ASSERT_FALSE(c.result.external.empty());
  HostProgram p;
  std::string error;
  ASSERT_TRUE(p.open(c.result.file.span(), {c.result.external.data(), c.result.external.size()}, {}, &error)) << error;
  std::vector<Array> out;
  ASSERT_TRUE(p.run(0, {floats({1, 4}, {1, 2, 3, 4})}, &out, &error)) << error;
  EXPECT_EQ(to_doubles(out[0]), (std::vector<double>{4.5, 0}));
}

TEST(Compile, ExposedValuesHaveTheModelsNames) {
  CompileOptions o = reference_options({});
  o.expose_values = true;
  const Compiled c = compiled(dense_model("1"), o);
  ASSERT_TRUE(c.ok) << c.text();
  ProgramTable t;
  Diagnostic d;
  ASSERT_TRUE(read_table(c.result.file.span(), c.result.file.size, &t, &d).ok());
  std::vector<std::string> names;
  for (uint32_t i = 0; i < t.methods[0].output_count; ++i) names.emplace_back(t.string(t.ios[t.methods[0].first_output + i].name));
  EXPECT_EQ(names, (std::vector<std::string>{"y", "xw", "sum"}));
}

TEST(Run, StaysWithinItsBudget) {
  const Compiled c = compiled(dense_model("1"));
  ASSERT_TRUE(c.ok) << c.text();
  RunBudget budget;
  budget.memory_bytes = 16;
  HostProgram p;
  std::string error;
  EXPECT_FALSE(p.open(c.result.file.span(), {}, budget, &error));
  EXPECT_NE(error.find("needs"), std::string::npos) << error;
}

// Found by fuzzing: inputs were made up before anybody asked how large they are.
TEST(Run, InputsAndOutputsCount) {
  const Compiled c = compiled(dense_model("1000000"));
  ASSERT_TRUE(c.ok) << c.text();
  RunBudget budget;
  HostProgram large, small;
  std::string error;
  EXPECT_TRUE(large.open(c.result.file.span(), {}, budget, &error)) << error;
  budget.memory_bytes = 24000000;  // (1000000, 4) and (1000000, 2) of f32, and nothing for the rest
  EXPECT_FALSE(small.open(c.result.file.span(), {}, budget, &error));
  EXPECT_NE(error.find("needs"), std::string::npos) << error;
}

TEST(Difference, TellsErrorsRatiosAndPlaces) {
  const Array expected = floats({2, 3}, {0, 1, 2, 4, 3, 0}), found = floats({2, 3}, {0, 1, 2.5f, 3, 3.5f, 0});
  const Difference d = difference(found, expected);
  EXPECT_TRUE(d.same_type);
  EXPECT_FALSE(d.identical);
  EXPECT_DOUBLE_EQ(d.largest_error, 1);
  EXPECT_DOUBLE_EQ(d.largest_expected, 4);
  EXPECT_DOUBLE_EQ(d.mean_error, 2.0 / 6);
  EXPECT_DOUBLE_EQ(d.top1, 0.5);
  EXPECT_NEAR(d.sqnr_db, 10 * std::log10(30 / 1.5), 1e-9);
  EXPECT_TRUE(d.within(0.25));
  EXPECT_FALSE(d.within(0.24));
  EXPECT_FALSE(difference(floats({3, 2}, {0, 1, 2, 4, 3, 0}), expected).same_type);
  EXPECT_TRUE(difference(expected, expected).within(0));
}

TEST(Random, IsTheSameEverywhere) {
  Random r(1);
  EXPECT_EQ(r.next(), 0x910a2dec89025cc1u);
  Random a(7), b(7);
  EXPECT_EQ(make_random(DType::f32, {5}, a).data, make_random(DType::f32, {5}, b).data);
  Random c(7);
  for (const double v : to_doubles(make_random(DType::f32, {1000}, c))) EXPECT_TRUE(v >= -1 && v < 1);
}

}  // namespace
}  // namespace mote::driver
