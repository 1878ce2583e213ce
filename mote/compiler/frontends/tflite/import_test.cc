// What the front end makes of sound files: names, sizes, constants, states, metadata.

#include <cstring>

#include "mote/compiler/frontends/common/notes.h"
#include "mote/compiler/frontends/common/open_dims.h"
#include "mote/compiler/frontends/common/zip.h"
#include "mote/compiler/frontends/tflite/quant.h"
#include "mote/compiler/frontends/tflite/testing.h"
#include "mote/compiler/ir/verify.h"

namespace mote::frontends::tflite {
namespace {

std::vector<uint8_t> abs_model(const std::vector<int32_t>& shape, const std::vector<int32_t>& signature) {
  ModelWriter w;
  w.tensor("x", fb::TensorType::FLOAT32, shape, 0, signature);
  w.tensor("y", fb::TensorType::FLOAT32, shape, 0, signature);
  w.op(fb::BuiltinOperator::ABS, {0}, {1});
  w.subgraph({0}, {1});
  return w.finish();
}

const ir::Value& input(const Imported& r, size_t i = 0) { return *r.graph.methods[0].block->arguments[i]; }

}  // namespace

TEST(TfliteImport, ListsOpenDimensionsInOneError) {
  const auto r = import_bytes(abs_model({1, 1, 1, 3}, {-1, -1, -1, 3}));
  ASSERT_EQ(r->problems.size(), 1u);
  EXPECT_NE(r->text().find("'x.1', 'x.2'"), std::string::npos) << r->text();
  EXPECT_NE(r->text().find("--dim x.1=224 --dim x.2=224"), std::string::npos) << r->text();
}

TEST(TfliteImport, AnOpenBatchHasTheConvertedSize) {
  const auto r = import_bytes(abs_model({1, 4}, {-1, 4}));
  ASSERT_TRUE(r->ok) << r->text();
  EXPECT_EQ(input(*r).type.dims, (ir::Dims{1, 4}));
  EXPECT_EQ(input(*r).type.dynamic, 0);
  ASSERT_EQ(assumed_notes(r->graph).size(), 1u);
  EXPECT_NE(assumed_notes(r->graph)[0].find("x.0=1"), std::string::npos);
}

TEST(TfliteImport, DimAndShapeSettleOpenDimensions) {
  ImportOptions o;
  o.dims["x.0"] = {1, 8};
  auto r = import_bytes(abs_model({1, 4}, {-1, 4}), o);
  ASSERT_TRUE(r->ok) << r->text();
  EXPECT_EQ(input(*r).type.dims, (ir::Dims{8, 4}));
  EXPECT_EQ(input(*r).type.dynamic, 1);
  ASSERT_EQ(r->graph.symbols.size(), 1u);
  EXPECT_EQ(r->graph.symbols[0].name, "x.0");
  ImportOptions p;
  p.shapes["x"] = {5, 4};
  r = import_bytes(abs_model({1, 4}, {-1, 4}), p);
  ASSERT_TRUE(r->ok) << r->text();
  EXPECT_EQ(input(*r).type.dims, (ir::Dims{5, 4}));
}

TEST(TfliteImport, SignaturesAreMethods) {
  ModelWriter w;
  for (const char* code : {"abs", "neg"}) {
    w.tensor(std::string(code) + "_x", fb::TensorType::FLOAT32, {2});
    w.tensor(std::string(code) + "_y", fb::TensorType::FLOAT32, {2});
    w.op(code[0] == 'a' ? fb::BuiltinOperator::ABS : fb::BuiltinOperator::NEG, {0}, {1});
    w.subgraph({0}, {1});
  }
  w.signature("first", {{"in", 0}}, {{"out", 1}}, 0);
  w.signature("second", {{"from", 0}}, {{"to", 1}}, 1);
  const auto r = import_bytes(w.finish());
  ASSERT_TRUE(r->ok) << r->text();
  ASSERT_EQ(r->graph.methods.size(), 2u);
  EXPECT_EQ(r->graph.methods[1].name, "second");
  EXPECT_EQ(r->graph.methods[1].input_names[0], "from");
  EXPECT_EQ(r->graph.methods[1].output_names[0], "to");
  EXPECT_TRUE(r->graph.methods[1].block->nodes.front()->is(OpId::neg));
}

// Some converters write signatures that leave out an input, or name tensors that do not exist.
TEST(TfliteImport, SignaturesThatDoNotFitAreCompleted) {
  ModelWriter w;
  w.tensor("serving_a:0", fb::TensorType::FLOAT32, {2});
  w.tensor("serving_b:0", fb::TensorType::FLOAT32, {2});
  w.tensor("StatefulPartitionedCall:0", fb::TensorType::FLOAT32, {2});
  w.tensor("StatefulPartitionedCall:1", fb::TensorType::FLOAT32, {2});
  w.op(fb::BuiltinOperator::MAXIMUM, {0, 1}, {2});
  w.op(fb::BuiltinOperator::ABS, {2}, {3});
  w.subgraph({0, 1}, {2, 3});
  w.signature("serving_default", {{"b", 1}, {"gone", 77}, {"inner", 3}}, {{"y", 3}, {"none", 9}}, 0);
  w.signature("elsewhere", {{"x", 0}}, {{"y", 1}}, 5);
  const auto r = import_bytes(w.finish());
  ASSERT_TRUE(r->ok) << r->text();
  ASSERT_EQ(r->graph.methods.size(), 1u);
  EXPECT_EQ(r->graph.methods[0].input_names, (std::vector<std::string>{"serving_a:0", "b"}));
  EXPECT_EQ(r->graph.methods[0].output_names, (std::vector<std::string>{"StatefulPartitionedCall:0", "y"}));
  EXPECT_EQ(notes_of(r->graph).size(), 6u);
  std::string names;
  for (const auto& [key, value] : r->graph.evidence)
    if (key.find("source.") == 0) names += key + "=" + value + " ";
  EXPECT_EQ(names, "source.input.serving_default.b=serving_b:0 source.output.serving_default.y=StatefulPartitionedCall:1 ");
}

TEST(TfliteImport, QuantizationOfInputsAndOutputsIsNoted) {
  ModelWriter w;
  w.tensor("x", fb::TensorType::INT8, {4}, 0, {}, w.quant(0.5f, 3));
  w.tensor("y", fb::TensorType::INT8, {4}, 0, {}, w.quant(0.25f, -7));
  w.op(fb::BuiltinOperator::RELU, {0}, {1});
  w.subgraph({0}, {1});
  const auto r = import_bytes(w.finish());
  ASSERT_TRUE(r->ok) << r->text();
  ASSERT_TRUE(input(*r).quant.has_value());
  EXPECT_EQ(input(*r).quant->zero_point, 3);
  const ir::Value& y = *r->graph.methods[0].block->results[0];
  ASSERT_TRUE(y.quant.has_value());
  EXPECT_EQ(y.quant->scale, 0.25f);
}

// Found by fuzzing: an open dimension of a constant became one of size 0, which its bytes did not fit.
TEST(TfliteImport, OpenDimensionsOfConstantsHaveTheSizeOfTheirData) {
  ModelWriter w;
  w.tensor("x", fb::TensorType::INT8, {1, 2});
  w.tensor("c", fb::TensorType::INT8, {-1, 2}, w.buffer({7, 8}));
  w.tensor("y", fb::TensorType::INT8, {1, 2});
  w.op(fb::BuiltinOperator::MAXIMUM, {0, 1}, {2});
  w.subgraph({0}, {2});
  const auto r = import_bytes(w.finish());
  ASSERT_TRUE(r->ok) << r->text();
  std::string error;
  EXPECT_TRUE(ir::verify(r->graph, &error)) << error;
}

TEST(TfliteImport, SparseConstantsBecomeDense) {
  // (3, 4), rows dense, columns compressed: row 0 has columns 1 and 3, row 1 none, row 2 column 0.
  for (const bool broken : {false, true}) {
    ModelWriter w;
    const std::vector<int32_t> order{0, 1}, segments{0, 2, 2, 3}, indices{1, broken ? 4 : 3, 0};
    const auto seg = fb::CreateInt32VectorDirect(w.b, &segments), ind = fb::CreateInt32VectorDirect(w.b, &indices);
    const std::vector<flatbuffers::Offset<fb::DimensionMetadata>> dims{
        fb::CreateDimensionMetadata(w.b, fb::DimensionType::DENSE, 3),
        fb::CreateDimensionMetadata(w.b, fb::DimensionType::SPARSE_CSR, 0, fb::SparseIndexVector::Int32Vector, seg.Union(),
                                    fb::SparseIndexVector::Int32Vector, ind.Union())};
    const auto sparsity = fb::CreateSparsityParametersDirect(w.b, &order, nullptr, &dims);
    w.tensor("x", fb::TensorType::INT8, {3, 4});
    w.tensor("w", fb::TensorType::INT8, {3, 4}, w.buffer({7, 8, 9}), {}, 0, sparsity);
    w.tensor("y", fb::TensorType::INT8, {3, 4});
    w.op(fb::BuiltinOperator::MAXIMUM, {0, 1}, {2});
    w.subgraph({0}, {2});
    const auto r = import_bytes(w.finish());
    ASSERT_EQ(r->ok, !broken) << r->text();
    if (broken) {
      EXPECT_NE(r->text().find("contradicts"), std::string::npos);
      continue;
    }
    const ir::Bytes& data = r->graph.methods[0].block->nodes.front()->inputs[1]->data;
    const uint8_t expected[] = {0, 7, 0, 8, 0, 0, 0, 0, 9, 0, 0, 0};
    ASSERT_EQ(data.size, sizeof expected);
    EXPECT_EQ(std::memcmp(data.data, expected, sizeof expected), 0);
  }
}

TEST(TfliteImport, CallOnceGivesVariablesTheirFirstContents) {
  ModelWriter w;
  const auto handle = [&] { return fb::CreateVarHandleOptionsDirect(w.b, "", "v").Union(); };
  w.tensor("h", fb::TensorType::RESOURCE, {});
  w.tensor("old", fb::TensorType::INT32, {2});
  w.tensor("x", fb::TensorType::INT32, {2});
  w.tensor("new", fb::TensorType::INT32, {2});
  w.op(fb::BuiltinOperator::CALL_ONCE, {}, {}, fb::BuiltinOptions::CallOnceOptions, fb::CreateCallOnceOptions(w.b, 1).Union());
  w.op(fb::BuiltinOperator::VAR_HANDLE, {}, {0}, fb::BuiltinOptions::VarHandleOptions, handle());
  w.op(fb::BuiltinOperator::READ_VARIABLE, {0}, {1});
  w.op(fb::BuiltinOperator::ADD, {1, 2}, {3});
  w.op(fb::BuiltinOperator::ASSIGN_VARIABLE, {0, 3}, {});
  w.subgraph({2}, {3});
  w.tensor("h", fb::TensorType::RESOURCE, {});
  w.tensor("c", fb::TensorType::INT32, {2}, w.buffer({1, 0, 0, 0, 2, 0, 0, 0}));
  w.op(fb::BuiltinOperator::VAR_HANDLE, {}, {0}, fb::BuiltinOptions::VarHandleOptions, handle());
  w.op(fb::BuiltinOperator::ASSIGN_VARIABLE, {0, 1}, {});
  w.subgraph({}, {});
  const auto r = import_bytes(w.finish());
  ASSERT_TRUE(r->ok) << r->text();
  std::string error;
  EXPECT_TRUE(ir::verify(r->graph, &error)) << error;
  const auto states = r->graph.states();
  ASSERT_EQ(states.size(), 1u);
  ASSERT_EQ(states[0]->data.size, 8u);
  EXPECT_EQ(states[0]->data.data[4], 2);
}

TEST(TfliteZip, ReadsStoredAndDeflatedFiles) {
  // An archive behind other bytes: "a.txt" stored, "b.txt" deflated.
  const auto number = [](std::vector<uint8_t>* to, uint64_t v, int bytes) {
    for (int i = 0; i < bytes; ++i) to->push_back(static_cast<uint8_t>(i < 8 ? v >> (8 * i) : 0));
  };
  const std::string text = "cat\ndog\n";
  // "aaaaaaaaaaaa" with fixed codes: literals, and a copy of what came before.
  const std::vector<uint8_t> packed{0x4b, 0x4c, 0x44, 0x00, 0x00};
  std::vector<uint8_t> file(100, 0xee), directory;
  const size_t start = file.size();
  const auto add = [&](const std::string& name, const std::vector<uint8_t>& data, uint32_t size, uint32_t method) {
    const uint32_t at = static_cast<uint32_t>(file.size() - start);
    number(&file, 0x04034b50, 4);
    number(&file, 0, 22);
    number(&file, static_cast<uint32_t>(name.size()), 2);
    number(&file, 0, 2);
    file.insert(file.end(), name.begin(), name.end());
    file.insert(file.end(), data.begin(), data.end());
    number(&directory, 0x02014b50, 4);
    number(&directory, 0, 6);
    number(&directory, method, 2);
    number(&directory, 0, 8);
    number(&directory, static_cast<uint32_t>(data.size()), 4);
    number(&directory, size, 4);
    number(&directory, static_cast<uint32_t>(name.size()), 2);
    number(&directory, 0, 12);
    number(&directory, at, 4);
    directory.insert(directory.end(), name.begin(), name.end());
  };
  add("a.txt", {text.begin(), text.end()}, 8, 0);
  add("b.txt", packed, 12, 8);
  const uint32_t offset = static_cast<uint32_t>(file.size() - start);
  file.insert(file.end(), directory.begin(), directory.end());
  number(&file, 0x06054b50, 4);
  number(&file, 0, 4);
  number(&file, 2, 2);
  number(&file, 2, 2);
  number(&file, static_cast<uint32_t>(directory.size()), 4);
  number(&file, offset, 4);
  number(&file, 0, 2);
  const ir::Bytes bytes = ir::Bytes::own(std::move(file));
  const std::vector<ZipEntry> entries = read_zip(bytes);
  ASSERT_EQ(entries.size(), 2u);
  std::string out;
  ASSERT_TRUE(unpack(entries[0], 100, &out));
  EXPECT_EQ(out, text);
  EXPECT_FALSE(unpack(entries[0], 7, &out));
  ASSERT_TRUE(unpack(entries[1], 100, &out));
  EXPECT_EQ(out, std::string(12, 'a'));
  for (size_t n = 0; n < bytes.size; ++n) {
    for (const ZipEntry& e : read_zip({bytes.owner, bytes.data, n})) unpack(e, 100, &out);  // never beyond its bytes
  }
}

TEST(TfliteQuant, MultipliersAreThoseOfTensorFlowLite) {
  EXPECT_EQ(quantize_multiplier(1.0).value, 1 << 30);
  EXPECT_EQ(quantize_multiplier(1.0).shift, 1);
  EXPECT_EQ(quantize_multiplier(0.25).shift, -1);
  EXPECT_EQ(quantize_multiplier(0).value, 0);
  EXPECT_EQ(quantize_multiplier(1e-20).value, 0);
  EXPECT_EQ(quantize_multiplier(1e20).shift, 30);
  EXPECT_EQ(apply(quantize_multiplier(0.3), 1000), 300);
}

}  // namespace mote::frontends::tflite
