// --io int8: the same numbers through 8-bit inputs and outputs.

#include "mote/compiler/driver/narrow_io.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "mote/compiler/driver/compile.h"
#include "onnx.pb.h"

namespace mote::driver {
namespace {

using onnx::ModelProto;

class Model {
 public:
  Model() {
    m_.set_ir_version(8);
    m_.add_opset_import()->set_version(13);
    m_.mutable_graph()->set_name("g");
    type(m_.mutable_graph()->add_input(), "x");
  }
  Model& output(const std::string& name) {
    type(m_.mutable_graph()->add_output(), name);
    return *this;
  }
  Model& node(const std::string& op, const std::vector<std::string>& in, const std::string& out) {
    auto* n = m_.mutable_graph()->add_node();
    n->set_op_type(op);
    n->set_name(out);
    for (const std::string& i : in) n->add_input(i);
    n->add_output(out);
    return *this;
  }
  // "NAME.q" and "NAME.dq": through 8-bit numbers and back.
  Model& pair(const std::string& of, float scale, int zero, int type) {
    auto* g = m_.mutable_graph();
    auto* s = g->add_initializer();
    s->set_name(of + ".s");
    s->set_data_type(onnx::TensorProto::FLOAT);
    s->add_float_data(scale);
    auto* z = g->add_initializer();
    z->set_name(of + ".z");
    z->set_data_type(type);
    z->add_int32_data(zero);
    node("QuantizeLinear", {of, of + ".s", of + ".z"}, of + ".q");
    return node("DequantizeLinear", {of + ".q", of + ".s", of + ".z"}, of + ".dq");
  }
  frontends::Source source() const {
    const std::string bytes = m_.SerializeAsString();
    return {"test.onnx", ir::Bytes::copy_of(bytes.data(), bytes.size())};
  }

 private:
  static void type(onnx::ValueInfoProto* v, const std::string& name) {
    v->set_name(name);
    auto* t = v->mutable_type()->mutable_tensor_type();
    t->set_elem_type(onnx::TensorProto::FLOAT);
    t->mutable_shape()->add_dim()->set_dim_value(1);
    t->mutable_shape()->add_dim()->set_dim_value(64);
  }
  ModelProto m_;
};

struct Compiled {
  CompileResult result;
  HostProgram program;
  std::string text;
  bool ok = false;

  const ProgramTable& table() const { return program.program().table(); }
  DType type(bool output, uint32_t i = 0) const {
    const Method& m = table().methods[0];
    return table().tensors[table().ios[(output ? m.first_output : m.first_input) + i].tensor].dtype;
  }
};

std::unique_ptr<Compiled> compiled(const Model& model, bool io_int8) {
  auto c = std::make_unique<Compiled>();
  CompileOptions o;
  o.io_int8 = io_int8;
  ir::Problems problems;
  c->ok = compile(model.source(), o, &c->result, &problems);
  for (const ir::Problem& p : problems) c->text += p.where + ": " + p.what + "\n";
  std::string error;
  if (c->ok) {
    EXPECT_TRUE(c->program.open(c->result.file.span(), {}, {}, &error)) << error;
  }
  return c;
}

Array ramp() {
  Array a{DType::f32, {1, 64}, std::vector<uint8_t>(64 * sizeof(float))};
  for (int i = 0; i < 64; ++i) {
    const float v = static_cast<float>(i - 30) * 0.061f;
    std::memcpy(a.data.data() + static_cast<size_t>(i) * sizeof v, &v, sizeof v);
  }
  return a;
}

TEST(NarrowIo, GivesTheSameNumbersAsTheFloatInterface) {
  for (const int type : {static_cast<int>(onnx::TensorProto::INT8), static_cast<int>(onnx::TensorProto::UINT8)}) {
    const int zero = type == onnx::TensorProto::INT8 ? -3 : 120;
    Model m;
    m.pair("x", 0.02f, zero, type).node("Relu", {"x.dq"}, "r").pair("r", 0.0125f, zero, type).output("r.dq");
    const auto plain = compiled(m, false), narrow = compiled(m, true);
    ASSERT_TRUE(plain->ok && narrow->ok) << plain->text << narrow->text;
    EXPECT_EQ(plain->type(false), DType::f32);
    const DType expected = type == onnx::TensorProto::INT8 ? DType::s8 : DType::u8;
    EXPECT_EQ(narrow->type(false), expected);
    EXPECT_EQ(narrow->type(true), expected);
    const Method& method = narrow->table().methods[0];
    const Quant *in = quant_of(narrow->table(), narrow->table().ios[method.first_input].tensor),
                *out = quant_of(narrow->table(), narrow->table().ios[method.first_output].tensor);
    ASSERT_TRUE(in != nullptr && out != nullptr);
    EXPECT_EQ(in->scale, 0.02f);
    EXPECT_EQ(in->zero_point, zero);
    EXPECT_EQ(out->scale, 0.0125f);
    std::vector<Array> a, b;
    std::string error;
    ASSERT_TRUE(plain->program.run(0, {ramp()}, &a, &error) && run_real(narrow->program, {ramp()}, &b, &error)) << error;
    EXPECT_TRUE(difference(b[0], a[0]).identical) << difference(b[0], a[0]).largest_error;
    for (const Instruction& n : narrow->table().instructions)
      EXPECT_TRUE(n.op != static_cast<uint16_t>(OpId::quantize) && n.op != static_cast<uint16_t>(OpId::dequantize));
    EXPECT_GE(narrow->table().goldens.size, 2u) << "an example in the program's own types";
  }
}

TEST(NarrowIo, OtherReadersOfTheInputGetWhatItStandsFor) {
  Model m;
  m.pair("x", 0.02f, 0, onnx::TensorProto::INT8).node("Add", {"x", "x.dq"}, "y").output("y");
  const auto c = compiled(m, true);
  ASSERT_TRUE(c->ok) << c->text;
  EXPECT_EQ(c->type(false), DType::s8);
  EXPECT_EQ(c->type(true), DType::f32);
  bool said = false;
  for (const std::string& note : c->result.notes) said |= note.find("output 'y', which stays f32") != std::string::npos;
  EXPECT_TRUE(said);
}

TEST(NarrowIo, ProbabilitiesHaveAScaleOfTheirOwn) {
  Model m;
  m.pair("x", 0.05f, 0, onnx::TensorProto::INT8).node("Softmax", {"x.dq"}, "y").output("y");
  const auto c = compiled(m, true);
  ASSERT_TRUE(c->ok) << c->text;
  const Quant* q = quant_of(c->table(), c->table().ios[c->table().methods[0].first_output].tensor);
  ASSERT_NE(q, nullptr);
  EXPECT_EQ(q->scale, 1.f / 256);
  EXPECT_EQ(q->zero_point, -128);
}

TEST(NarrowIo, ACodeThatIsInputAndOutputIsCopied) {
  Model m;
  m.pair("x", 0.05f, 0, onnx::TensorProto::INT8).output("x.dq");
  const auto c = compiled(m, true);
  ASSERT_TRUE(c->ok) << c->text;
  EXPECT_EQ(c->type(true), DType::s8);
  std::vector<Array> out;
  std::string error;
  const Array codes{DType::s8, {1, 64}, std::vector<uint8_t>(64, 7)};
  ASSERT_TRUE(c->program.run(0, {codes}, &out, &error)) << error;
  EXPECT_EQ(out[0].data, codes.data);
}

TEST(NarrowIo, AFloatModelHasNoScales) {
  Model m;
  m.node("Relu", {"x"}, "y").output("y");
  const auto c = compiled(m, true);
  EXPECT_FALSE(c->ok);
  EXPECT_NE(c->text.find("--quantize int8"), std::string::npos) << c->text;
  Model probabilities;
  EXPECT_FALSE(compiled(probabilities.node("Softmax", {"x"}, "y").output("y"), true)->ok);
}

TEST(NarrowIo, NumbersRoundAsQuantizeDoes) {
  Array real{DType::f32, {6}, std::vector<uint8_t>(6 * sizeof(float))};
  const float values[] = {0.5f, 1.5f, -0.5f, 1000, -1000, NAN};
  std::memcpy(real.data.data(), values, sizeof values);
  const Array codes = quantized(real, DType::s8, {1, 2});
  const int8_t expected[] = {2, 4, 2, 127, -128, 2};
  EXPECT_EQ(0, std::memcmp(codes.data.data(), expected, sizeof expected));
  const Array bytes = quantized(real, DType::u8, {1, 2});
  const uint8_t unsigned_ones[] = {2, 4, 2, 255, 0, 2};
  EXPECT_EQ(0, std::memcmp(bytes.data.data(), unsigned_ones, sizeof unsigned_ones));
}

}  // namespace
}  // namespace mote::driver
