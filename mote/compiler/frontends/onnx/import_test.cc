#include <filesystem>
#include <fstream>

#include "mote/compiler/frontends/common/notes.h"
#include "mote/compiler/frontends/common/open_dims.h"
#include "mote/compiler/frontends/onnx/testing.h"
#include "mote/compiler/ir/infer.h"

namespace mote::frontends::onnx::testing {
namespace {

size_t count_ops(const ir::Block& block, OpId id) {
  size_t n = 0;
  for (const auto& node : block.nodes) {
    n += node->is(id) ? 1 : 0;
    for (const auto& b : node->blocks) n += count_ops(*b, id);
  }
  return n;
}

TEST(OnnxImport, KeepsNamesShapesAndMetadata) {
  ModelBuilder m;
  m.input("x", {"2", "3"}).output("y");
  m.node("Relu", {"x"}, {"y"}).set_name("/act/Relu");
  m.model.set_producer_name("pytorch");
  auto* p = m.model.add_metadata_props();
  p->set_key("labels");
  p->set_value("cat,dog");
  const auto r = import(m);
  ASSERT_TRUE(r->ok) << r->text();
  ASSERT_EQ(r->block().nodes.size(), 1u);
  EXPECT_EQ(r->block().nodes.front()->name, "/act/Relu");
  EXPECT_EQ(r->graph.methods[0].input_names, std::vector<std::string>{"x"});
  EXPECT_EQ(r->graph.methods[0].output_names, std::vector<std::string>{"y"});
  EXPECT_EQ(r->block().results[0]->type.dims, (ir::Dims{2, 3}));
  const auto has = [](const auto& list, const std::string& k, const std::string& v) {
    return std::find(list.begin(), list.end(), std::make_pair(k, v)) != list.end();
  };
  EXPECT_TRUE(has(r->graph.metadata, "labels", "cat,dog"));
  EXPECT_TRUE(has(r->graph.evidence, "source.opset", "ai.onnx 21"));
  EXPECT_TRUE(has(r->graph.evidence, "source.producer", "pytorch"));
}

TEST(OnnxImport, ReportsEveryUnsupportedNodeOnceAndNotItsFollowers) {
  ModelBuilder m;
  m.input("x", {"2"}).output("y").output("z");
  m.node("Frobnicate", {"x"}, {"a"});
  m.node("Relu", {"a"}, {"b"});          // follows a refused node: nothing to say
  m.node("ImageDecoder", {"b"}, {"y"});  // unsupported for its own reason, whatever its inputs
  m.node("StringNormalizer", {"x"}, {"z"});
  const auto r = import(m);
  EXPECT_FALSE(r->ok);
  ASSERT_EQ(r->problems.size(), 2u) << r->text();
  EXPECT_EQ(r->problems[0].where, "Frobnicate_1 (Frobnicate)");
  EXPECT_NE(r->problems[0].what.find("not supported"), std::string::npos);
  EXPECT_NE(r->problems[1].what.find("strings"), std::string::npos);
}

TEST(OnnxImport, DeadNodesDoNotMatter) {
  ModelBuilder m;
  m.input("x", {"2"}).output("y");
  m.node("Frobnicate", {"x"}, {"unused"});
  m.node("Relu", {"x"}, {"y"});
  const auto r = import(m);
  EXPECT_TRUE(r->ok) << r->text();
}

TEST(OnnxImport, OpenDimensionsAreListedTogetherWithAnExample) {
  ModelBuilder m;
  m.input("x", {"batch", "", "4"}).input("w", {"batch", "len"}).output("y");
  m.node("Relu", {"x"}, {"y"});
  const auto r = import(m);
  ASSERT_EQ(r->problems.size(), 1u) << r->text();
  EXPECT_NE(r->problems[0].what.find("'batch' (axis 0 of 'x', axis 0 of 'w'), 'x.1', 'len' (axis 1 of 'w')"), std::string::npos)
      << r->text();
  EXPECT_NE(r->problems[0].advice.find("--dim batch=1 --dim x.1=1..128 --dim len=1..128"), std::string::npos) << r->text();
}

// Names as exporters write them: a batch alone needs no option.
TEST(OnnxImport, AnOpenBatchIsOne) {
  struct Case {
    std::vector<std::pair<std::string, Shape>> inputs;
    const char* assumed;  // nothing: refused
  };
  const Case cases[] = {
      {{{"x", {"batch", "3"}}}, "batch=1"},
      {{{"x", {"N", "3"}}}, "N=1"},
      {{{"x", {"unk__749", "4", "3"}}}, "unk__749=1"},
      {{{"x", {"", "3"}}}, "x.0=1"},
      {{{"x", {"?", "3"}}}, "x.0=1"},
      {{{"x", {"p2o.DynamicDimension.0", "3"}}}, "p2o.DynamicDimension.0=1"},
      {{{"x", {"batch_size", "3"}}, {"mask", {"batch_size", "7"}}}, "batch_size=1"},
      {{{"x", {"unk__1", "3"}}, {"mask", {"unk__2", "7"}}}, "unk__2=1"},
      {{{"x", {"batch", "3"}}, {"state", {"2", "batch", "8"}}}, "batch=1"},
      {{{"x", {"", "3"}}, {"state", {"2", "", "8"}}}, "state.1=1"},
      {{{"x", {"N"}}}, "N=1"},
      {{{"x", {"seq_len", "3"}}}, nullptr},
      {{{"x", {""}}}, nullptr},
      {{{"x", {"batch", "seq"}}}, nullptr},
      {{{"x", {"batch", "3", "height", "width"}}}, nullptr},
      {{{"x", {"batch*heads", "time"}}}, nullptr},
  };
  for (const Case& c : cases) {
    ModelBuilder m;
    for (const auto& [name, shape] : c.inputs) m.input(name, shape);
    m.output("y").node("Relu", {"x"}, {"y"});
    const auto r = import(m);
    SCOPED_TRACE(c.inputs[0].second[0]);
    EXPECT_EQ(r->ok, c.assumed != nullptr) << r->text();
    if (!r->ok || c.assumed == nullptr) continue;
    EXPECT_TRUE(r->graph.symbols.empty());
    EXPECT_EQ(r->block().results[0]->type.dims[0], 1);
    const auto notes = assumed_notes(r->graph);
    ASSERT_EQ(notes.size(), 1u);
    EXPECT_NE(notes[0].find(c.assumed), std::string::npos) << notes[0];
    EXPECT_NE(notes[0].find("--dim"), std::string::npos) << notes[0];
  }
}

TEST(OnnxImport, OperatorSetsBeyondThoseKnownAreSaid) {
  for (const int opset : {1, 5, 6, 7, 21, 28, 29, 99}) {
    ModelBuilder m(opset);
    m.input("x", {"2"}).output("y").node("Relu", {"x"}, {"y"});
    const auto r = import(m);
    ASSERT_TRUE(r->ok) << r->text();
    EXPECT_EQ(notes_of(r->graph).size(), opset < 7 || opset > 28 ? 1u : 0u) << opset;
    for (const std::string& note : notes_of(r->graph))
      EXPECT_NE(note.find("operator set " + std::to_string(opset)), std::string::npos) << note;
  }
}

// Operator set 6 lays (3) along axis 1 of (2, 3, 3); since 7 it would be axis 2, silently.
TEST(OnnxImport, OldBroadcastingIsRefusedWhereItDiffers) {
  const auto sum = [](int64_t axis) {
    ModelBuilder m(6);
    m.input("x", {"2", "3", "3"}).input("b", {"3"}).output("y");
    auto& n = m.node("Add", {"x", "b"}, {"y"});
    attribute(n, "broadcast", 1);
    attribute(n, "axis", axis);
    return import(m);
  };
  EXPECT_TRUE(sum(2)->ok) << sum(2)->text();
  EXPECT_TRUE(sum(-1)->ok) << sum(-1)->text();
  EXPECT_FALSE(sum(1)->ok);
  EXPECT_NE(sum(1)->text().find("operator set 6"), std::string::npos) << sum(1)->text();
}

TEST(OnnxImport, ABatchThatOptionsSettleIsNotAssumed) {
  ModelBuilder m;
  m.input("x", {"batch", "seq"}).output("y", {"batch", "seq"});
  m.node("Relu", {"x"}, {"y"});
  ImportOptions o;
  o.dims["seq"] = {1, 128};
  const auto rest = import(m, o);
  ASSERT_TRUE(rest->ok) << rest->text();
  EXPECT_EQ(rest->block().results[0]->type.dims, (ir::Dims{1, 128}));
  ASSERT_EQ(rest->graph.symbols.size(), 1u);
  EXPECT_EQ(rest->graph.symbols[0].name, "seq");
  o.dims["batch"] = {1, 4};
  const auto all = import(m, o);
  ASSERT_TRUE(all->ok) << all->text();
  EXPECT_EQ(all->block().results[0]->type.dims, (ir::Dims{4, 128}));
  EXPECT_TRUE(assumed_notes(all->graph).empty());
  ImportOptions shape;
  shape.shapes["x"] = {2, 5};
  const auto fixed = import(m, shape);
  ASSERT_TRUE(fixed->ok) << fixed->text();
  EXPECT_EQ(fixed->block().results[0]->type.dims, (ir::Dims{2, 5}));
  EXPECT_TRUE(assumed_notes(fixed->graph).empty());
}

TEST(OnnxImport, DimRangesBecomeSymbolsAndFixedOnesSizes) {
  ModelBuilder m;
  m.input("x", {"batch", "n"}).input("w", {"batch", "n"}).output("y");
  m.node("Add", {"x", "w"}, {"y"});
  ImportOptions o;
  o.dims["batch"] = {1, 8};
  o.dims["n"] = {5, 5};
  const auto r = import(m, o);
  ASSERT_TRUE(r->ok) << r->text();
  ASSERT_EQ(r->graph.symbols.size(), 1u);
  EXPECT_EQ(r->graph.symbols[0].name, "batch");
  const ir::Type& y = r->block().results[0]->type;
  EXPECT_EQ(y.dims, (ir::Dims{8, 5}));
  EXPECT_EQ(y.dynamic, 1);
}

TEST(OnnxImport, ShapeOptionFixesNamedDimensionsEverywhere) {
  ModelBuilder m;
  m.input("x", {"batch", "n"}).input("w", {"batch", "7"}).output("y");
  m.node("Relu", {"w"}, {"y"});
  ImportOptions o;
  o.shapes["x"] = {3, 9};
  const auto r = import(m, o);
  ASSERT_TRUE(r->ok) << r->text();
  EXPECT_EQ(r->block().results[0]->type.dims, (ir::Dims{3, 7}));
}

TEST(OnnxImport, OptionsThatNameNothingAreErrors) {
  ModelBuilder m;
  m.input("x", {"2"}).output("y");
  m.node("Relu", {"x"}, {"y"});
  ImportOptions o;
  o.shapes["typo"] = {1};
  o.dims["n"] = {1, 2};
  const auto r = import(m, o);
  EXPECT_FALSE(r->ok);
  EXPECT_EQ(r->problems.size(), 2u) << r->text();
}

TEST(OnnxImport, InitializersThatAreInputsTooAreConstants) {
  ModelBuilder m;
  m.input("x", {"2"}).input("w", {"2"}).output("y");
  m.floats("w", {2}, {1, 2});
  m.node("Add", {"x", "w"}, {"y"});
  const auto r = import(m);
  ASSERT_TRUE(r->ok) << r->text();
  EXPECT_EQ(r->graph.methods[0].input_names.size(), 1u);
  std::vector<double> w;
  ASSERT_TRUE(ir::known_floats(*r->block().nodes.front()->inputs[1], &w));
  EXPECT_EQ(w, (std::vector<double>{1, 2}));
}

TEST(OnnxImport, DamagedTensorsAreNamed) {
  ModelBuilder m;
  m.input("x", {"2"}).output("y");
  m.floats("short", {2}, {1});
  auto& f6 = m.floats("f6", {1}, {});
  f6.set_data_type(::onnx::TensorProto::FLOAT6E2M3);
  auto& f4 = m.floats("f4", {3}, {});
  f4.set_data_type(::onnx::TensorProto::FLOAT4E2M1);
  f4.set_raw_data("abc");
  m.floats("huge", {1 << 30, 1 << 30}, {});
  m.floats("negative", {-1}, {});
  m.node("Sum", {"x", "short", "f6", "f4", "huge", "negative"}, {"y"});
  const auto r = import(m);
  EXPECT_FALSE(r->ok);
  const std::string text = r->text();
  EXPECT_EQ(r->problems.size(), 5u) << text;
  EXPECT_NE(text.find("tensor 'short': expected 2 elements, found 1"), std::string::npos) << text;
  EXPECT_NE(text.find("tensor 'f6': has element type FLOAT6E2M3"), std::string::npos) << text;
  EXPECT_NE(text.find("tensor 'f4': expected 2 bytes, found 3"), std::string::npos) << text;
}

TEST(OnnxImport, SparseInitializersBecomeDense) {
  ModelBuilder m;
  m.input("x", {"2", "3"}).output("y");
  auto* s = m.graph->add_sparse_initializer();
  s->add_dims(2);
  s->add_dims(3);
  s->mutable_values()->set_name("w");
  s->mutable_values()->set_data_type(::onnx::TensorProto::FLOAT);
  s->mutable_values()->add_dims(2);
  s->mutable_values()->add_float_data(5);
  s->mutable_values()->add_float_data(7);
  s->mutable_indices()->set_data_type(::onnx::TensorProto::INT64);
  s->mutable_indices()->add_dims(2);
  s->mutable_indices()->add_int64_data(1);
  s->mutable_indices()->add_int64_data(5);
  m.node("Add", {"x", "w"}, {"y"});
  const auto r = import(m);
  ASSERT_TRUE(r->ok) << r->text();
  std::vector<double> w;
  ASSERT_TRUE(ir::known_floats(*r->block().nodes.front()->inputs[1], &w));
  EXPECT_EQ(w, (std::vector<double>{0, 5, 0, 0, 0, 7}));
  s->mutable_indices()->set_int64_data(1, 6);
  EXPECT_FALSE(import(m)->ok);
}

// Each was bounded, not all together.
TEST(OnnxImport, SparseInitializersTakeNoMoreThanTheFileAccountsFor) {
  for (const int count : {1, 3}) {
    ModelBuilder m;
    m.input("x", {"1"}).output("y");
    for (int i = 0; i < count; ++i) {
      const std::string name = "w" + std::to_string(i);
      auto* s = m.graph->add_sparse_initializer();
      s->add_dims(4000000);
      s->mutable_values()->set_name(name);
      s->mutable_values()->set_data_type(::onnx::TensorProto::FLOAT);
      s->mutable_values()->add_dims(1);
      s->mutable_values()->add_float_data(5);
      s->mutable_indices()->set_data_type(::onnx::TensorProto::INT64);
      s->mutable_indices()->add_dims(1);
      s->mutable_indices()->add_int64_data(1);
      m.node("Add", {i == 0 ? "x" : "y" + std::to_string(i - 1), name}, {i + 1 == count ? "y" : "y" + std::to_string(i)});
    }
    const auto r = import(m);
    EXPECT_EQ(r->ok, count == 1) << r->text();
  }
}

class ExternalData : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) / "mote_onnx_external";
    std::filesystem::create_directories(folder_ / "inside");
    const float w[] = {1, 2, 3};
    std::ofstream(folder_ / "inside" / "w.bin", std::ios::binary).write(reinterpret_cast<const char*>(w), sizeof w);
    std::ofstream(folder_.parent_path() / "outside.bin", std::ios::binary).write(reinterpret_cast<const char*>(w), sizeof w);
  }
  std::unique_ptr<Imported> read(const std::string& location, const std::string& offset) {
    ModelBuilder m;
    m.input("x", {"2"}).output("y");
    auto& t = m.floats("w", {2}, {});
    t.set_data_location(::onnx::TensorProto::EXTERNAL);
    for (const auto& [key, value] : {std::make_pair("location", location), std::make_pair("offset", offset)}) {
      auto* e = t.add_external_data();
      e->set_key(key);
      e->set_value(value);
    }
    m.node("Add", {"x", "w"}, {"y"});
    return import(m, {}, (folder_ / "m.onnx").string());
  }
  std::filesystem::path folder_;
};

TEST_F(ExternalData, IsReadBesideTheModel) {
  const auto r = read("inside/w.bin", "4");
  ASSERT_TRUE(r->ok) << r->text();
  std::vector<double> w;
  ASSERT_TRUE(ir::known_floats(*r->block().nodes.front()->inputs[1], &w));
  EXPECT_EQ(w, (std::vector<double>{2, 3}));
}

TEST_F(ExternalData, StaysInTheModelsFolderAndInsideTheFile) {
  EXPECT_FALSE(read("../outside.bin", "0")->ok);
  EXPECT_FALSE(read("inside/../../outside.bin", "0")->ok);
  EXPECT_FALSE(read((folder_.parent_path() / "outside.bin").string(), "0")->ok);
  std::filesystem::remove(folder_ / "link.bin");
  std::filesystem::create_symlink(folder_.parent_path() / "outside.bin", folder_ / "link.bin");
  EXPECT_FALSE(read("link.bin", "0")->ok);
  EXPECT_NE(read("inside/w.bin", "8")->text().find("has 12 bytes, expected 8 at 8"), std::string::npos);
  EXPECT_FALSE(read("inside/w.bin", "18446744073709551615")->ok);
  EXPECT_FALSE(read("inside/none.bin", "0")->ok);
  EXPECT_FALSE(read("inside/w.bin", "-4")->ok);
}

// --- functions ---

::onnx::FunctionProto& add_function(ModelBuilder& m, const std::string& name) {
  auto* f = m.model.add_functions();
  f->set_domain("local");
  f->set_name(name);
  f->add_opset_import()->set_version(21);
  auto* own = f->add_opset_import();
  own->set_domain("local");
  own->set_version(1);
  f->add_input("a");
  f->add_output("r");
  return *f;
}

TEST(OnnxFunctions, AreWrittenOutWithTheirAttributes) {
  ModelBuilder m;
  m.input("x", {"2"}).output("y");
  auto& inner = add_function(m, "Leaky");
  inner.add_attribute("slope");
  auto& leaky = ModelBuilder::add_node(inner.mutable_node(), "LeakyRelu", {"a"}, {"r"});
  auto* alpha = leaky.add_attribute();
  alpha->set_name("alpha");
  alpha->set_type(::onnx::AttributeProto::FLOAT);
  alpha->set_ref_attr_name("slope");
  auto& outer = add_function(m, "Twice");
  for (int i = 0; i < 2; ++i) {
    auto& call = ModelBuilder::add_node(outer.mutable_node(), "Leaky", {i == 0 ? "a" : "t"}, {i == 0 ? "t" : "r"});
    call.set_domain("local");
    auto* slope = call.add_attribute();
    slope->set_name("slope");
    slope->set_type(::onnx::AttributeProto::FLOAT);
    slope->set_f(0.25f);
  }
  m.node("Twice", {"x"}, {"y"}).set_domain("local");
  const auto r = import(m);
  ASSERT_TRUE(r->ok) << r->text();
  ASSERT_EQ(count_ops(r->block(), OpId::leaky_relu), 2u);
  EXPECT_EQ(r->block().nodes.front()->name, "Twice_1/Leaky_1/LeakyRelu_1");
  float slope = 0;
  std::memcpy(&slope, r->block().nodes.front()->attrs.data(), sizeof slope);
  EXPECT_EQ(slope, 0.25f);
}

TEST(OnnxFunctions, ThatCallThemselvesOrGrowWithoutBoundAreRefused) {
  ModelBuilder endless;
  endless.input("x", {"2"}).output("y");
  ModelBuilder::add_node(add_function(endless, "F").mutable_node(), "F", {"a"}, {"r"}).set_domain("local");
  endless.node("F", {"x"}, {"y"}).set_domain("local");
  EXPECT_NE(import(endless)->text().find("deep"), std::string::npos);

  ModelBuilder large;
  large.input("x", {"2"}).output("y");
  for (int i = 0; i < 30; ++i) {  // each calls the next one twice
    auto& f = add_function(large, "F" + std::to_string(i));
    const std::string next = i == 29 ? "Relu" : "F" + std::to_string(i + 1);
    for (int k = 0; k < 2; ++k)
      ModelBuilder::add_node(f.mutable_node(), next, {k == 0 ? "a" : "t"}, {k == 0 ? "t" : "r"}).set_domain(i == 29 ? "" : "local");
  }
  large.node("F0", {"x"}, {"y"}).set_domain("local");
  EXPECT_NE(import(large)->text().find("nodes once its functions are written out"), std::string::npos);
}

// --- hostile files ---

TEST(OnnxImport, TruncatedFilesAreErrors) {
  ModelBuilder m;
  m.input("x", {"2"}).output("y");
  m.floats("w", {2}, {1, 2});
  m.node("Add", {"x", "w"}, {"y"});
  const std::string whole = m.model.SerializeAsString();
  for (size_t n = 0; n < whole.size(); ++n) EXPECT_FALSE(import_bytes(whole.substr(0, n))->ok) << n;
  EXPECT_TRUE(import_bytes(whole)->ok);
}

TEST(OnnxImport, BrokenReferencesAreErrors) {
  ModelBuilder m;
  m.input("x", {"2"}).output("y").output("nowhere");
  m.node("Add", {"x", "later"}, {"y"});
  const auto r = import(m);
  EXPECT_NE(r->text().find("reads 'later', which nothing before it computes"), std::string::npos) << r->text();
  EXPECT_NE(r->text().find("output 'nowhere': no node computes it"), std::string::npos) << r->text();

  ModelBuilder few;
  few.input("x", {"2"}).output("y");
  few.node("Where", {"x"}, {"y"});
  EXPECT_NE(import(few)->text().find("input 1 is missing"), std::string::npos) << import(few)->text();
}

TEST(OnnxImport, HeadersAreChecked) {
  ModelBuilder old(1, 2), none(21, 10);
  EXPECT_NE(import(old)->text().find("expected an IR version from 3 to 14, found 2"), std::string::npos);
  none.model.clear_opset_import();
  EXPECT_NE(import(none)->text().find("opset_import"), std::string::npos);
}

}  // namespace
}  // namespace mote::frontends::onnx::testing
