// Floats of 8 and 4 bits and integers of 4 and 2: codes to numbers and back, and models that move and convert them.

#include <cmath>
#include <cstring>
#include <random>

#include "mote/compiler/driver/compile.h"
#include "mote/compiler/driver/run.h"
#include "mote/compiler/frontends/onnx/narrow.h"
#include "mote/compiler/frontends/onnx/testing.h"

namespace mote::frontends::onnx::testing {
namespace {

using driver::Array;
using ::onnx::TensorProto;

const int kFloats[] = {TensorProto::FLOAT8E4M3FN,   TensorProto::FLOAT8E4M3FNUZ, TensorProto::FLOAT8E5M2,
                       TensorProto::FLOAT8E5M2FNUZ, TensorProto::FLOAT8E8M0,     TensorProto::FLOAT4E2M1};

int codes_of(const NarrowType& t) { return 1 << t.bits; }

TEST(OnnxNarrow, CodesMeanWhatOnnxSays) {
  const auto is = [](int type, int code) { return decode(*narrow_type(type), static_cast<uint8_t>(code)); };
  EXPECT_EQ(is(TensorProto::FLOAT8E4M3FN, 0x7e), 448);
  EXPECT_EQ(is(TensorProto::FLOAT8E4M3FN, 0x81), -std::ldexp(1.0f, -9));
  EXPECT_TRUE(std::isnan(is(TensorProto::FLOAT8E4M3FN, 0xff)));
  EXPECT_EQ(is(TensorProto::FLOAT8E4M3FNUZ, 0x7f), 240);
  EXPECT_TRUE(std::isnan(is(TensorProto::FLOAT8E4M3FNUZ, 0x80)));
  EXPECT_EQ(is(TensorProto::FLOAT8E5M2, 0x7b), 57344);
  EXPECT_EQ(is(TensorProto::FLOAT8E5M2, 0xfc), -INFINITY);
  EXPECT_TRUE(std::isnan(is(TensorProto::FLOAT8E5M2, 0x7d)));
  EXPECT_EQ(is(TensorProto::FLOAT8E5M2FNUZ, 0x01), std::ldexp(1.0f, -17));
  EXPECT_EQ(is(TensorProto::FLOAT8E8M0, 0), std::ldexp(1.0f, -127));
  EXPECT_EQ(is(TensorProto::FLOAT4E2M1, 15), -6);
}

TEST(OnnxNarrow, EveryCodeComesBack) {
  for (const int type : kFloats) {
    const NarrowType& t = *narrow_type(type);
    for (int code = 0; code < codes_of(t); ++code) {
      const float x = decode(t, static_cast<uint8_t>(code));
      // Rounding up takes 2^-127, which f32 has with a fraction only, to the next power, as the onnx package does.
      if (!std::isnan(x)) EXPECT_EQ(encode(t, x, {false, PowerRounding::kDown}), code) << t.name;
      else EXPECT_TRUE(std::isnan(decode(t, encode(t, x, {})))) << t.name;
    }
  }
}

// The nearest of all numbers of the type, found by looking at each of them.
TEST(OnnxNarrow, NumbersRoundToTheNearest) {
  std::mt19937 random(7);
  for (const int type : kFloats) {
    const NarrowType& t = *narrow_type(type);
    if (t.kind == NarrowKind::kExponent) continue;
    std::vector<double> numbers;
    for (int code = 0; code < codes_of(t); ++code)
      if (const float x = decode(t, static_cast<uint8_t>(code)); std::isfinite(x)) numbers.push_back(static_cast<double>(x));
    for (int i = 0; i < 20000; ++i) {
      const uint32_t bits = (random() & 0x80ffffffu) | (100 + random() % 46) << 23;
      float x;
      std::memcpy(&x, &bits, sizeof x);
      double least = INFINITY;
      for (const double n : numbers) least = std::min(least, std::fabs(n - static_cast<double>(x)));
      const double found = static_cast<double>(decode(t, encode(t, x, {})));
      ASSERT_EQ(std::fabs(found - static_cast<double>(x)), least) << t.name << " " << x;
    }
  }
}

TEST(OnnxNarrow, TiesGoToEvenCodesAndOverflowFollowsTheRule) {
  const NarrowType &e4 = *narrow_type(TensorProto::FLOAT8E4M3FN), &e5 = *narrow_type(TensorProto::FLOAT8E5M2);
  EXPECT_EQ(encode(e4, 464, {false, {}}), 0x7e);
  EXPECT_EQ(encode(e4, std::nextafter(464.0f, 500.0f), {false, {}}), 0x7f);
  EXPECT_EQ(encode(e4, -1e30f, {}), 0xfe);
  EXPECT_EQ(encode(e5, 61440, {false, {}}), 0x7c);
  EXPECT_EQ(encode(e5, std::nextafter(61440.0f, 0.0f), {false, {}}), 0x7b);
  EXPECT_EQ(encode(e5, INFINITY, {}), 0x7b);
  EXPECT_EQ(encode(*narrow_type(TensorProto::FLOAT8E4M3FNUZ), -1e-20f, {}), 0);
  EXPECT_EQ(encode(e4, -1e-20f, {}), 0x80);
}

TEST(OnnxNarrow, PowersOfTwoHaveThreeRoundings) {
  const NarrowType& t = *narrow_type(TensorProto::FLOAT8E8M0);
  const auto code = [&](float x, PowerRounding how) { return int{encode(t, x, {true, how})}; };
  EXPECT_EQ(code(1.25f, PowerRounding::kUp), 128);
  EXPECT_EQ(code(1.25f, PowerRounding::kDown), 127);
  EXPECT_EQ(code(1.25f, PowerRounding::kNearest), 127);
  EXPECT_EQ(code(1.5f, PowerRounding::kNearest), 128);
  EXPECT_EQ(code(3e38f, PowerRounding::kUp), 254);
  EXPECT_EQ(encode(t, 3e38f, {false, PowerRounding::kUp}), 255);
}

// --- models ---

struct Ran {
  std::string error;
  std::vector<Array> outputs;
  size_t bytes = 0;  // of the program
};

Ran compile_and_run(const ModelBuilder& m, const std::vector<Array>& inputs) {
  Ran r;
  const std::string bytes = m.model.SerializeAsString();
  driver::CompileOptions options;
  options.golden.count = 0;
  driver::CompileResult compiled;
  ir::Problems problems;
  if (!driver::compile({"m.onnx", ir::Bytes::copy_of(bytes.data(), bytes.size())}, options, &compiled, &problems)) {
    for (const auto& p : problems) r.error += p.where + ": " + p.what + " | " + p.advice + "\n";
    return r;
  }
  r.bytes = compiled.file.size;
  driver::HostProgram program;
  if (program.open(compiled.file.span(), {}, {}, &r.error)) program.run(0, inputs, &r.outputs, &r.error);
  return r;
}

void set_output(ModelBuilder& m, const std::string& name, const Shape& shape, int element) {
  m.output(name, shape);
  set_type(m.graph->mutable_output(m.graph->output_size() - 1)->mutable_type(), shape, element);
}

// A constant whose codes count up, several to a byte as in a model's file.
void counting(ModelBuilder& m, const std::string& name, const std::vector<int64_t>& dims, int element, size_t bytes) {
  auto& t = m.floats(name, dims, {});
  t.set_data_type(element);
  std::string raw(bytes, '\0');
  for (size_t i = 0; i < bytes; ++i) raw[i] = static_cast<char>(static_cast<uint8_t>(i * 37 + i / 256));
  t.set_raw_data(raw);
}

int code_of(size_t i, int bits) {
  const size_t in_byte = 8 / static_cast<size_t>(bits), byte = i / in_byte;
  return static_cast<uint8_t>(byte * 37 + byte / 256) >> (i % in_byte * static_cast<size_t>(bits)) & ((1 << bits) - 1);
}

// Large constants stay in the program as wide as in the model's file, and mean the same.
TEST(OnnxNarrow, LargeConstantsKeepTheirWidth) {
  constexpr int64_t kRows = 129, kColumns = 511;  // no whole number of bytes
  for (const int element : {int{TensorProto::FLOAT4E2M1}, int{TensorProto::INT4}, int{TensorProto::UINT4}, int{TensorProto::INT2},
                            int{TensorProto::UINT2}, int{TensorProto::FLOAT8E4M3FN}, int{TensorProto::FLOAT8E8M0}}) {
    const NarrowType& t = *narrow_type(element);
    const size_t bytes = static_cast<size_t>(kRows * kColumns * t.bits + 7) / 8;
    ModelBuilder m(25);
    m.input("x", {"1"});
    counting(m, "w", {kRows, kColumns}, element, bytes);
    attribute(m.node("Cast", {"w"}, {"f"}), "to", TensorProto::FLOAT);
    m.node("Mul", {"x", "f"}, {"y"});
    m.output("y");
    const auto r = compile_and_run(m, {Array{DType::f32, {1}, {0, 0, 0x80, 0x3f}}});
    ASSERT_EQ(r.error, "") << t.name;
    EXPECT_LT(r.bytes, bytes + 20000) << t.name;  // beside them: the table, and padding of segments
    const auto found = driver::to_doubles(r.outputs[0]);
    for (size_t i = 0; i < found.size(); ++i) {
      const int code = code_of(i, t.bits), wide = t.storage() == DType::s8 && code > t.high() ? code - (1 << t.bits) : code;
      const double expected = static_cast<double>(decode(t, static_cast<uint8_t>(wide)));
      ASSERT_TRUE(found[i] == expected || (std::isnan(found[i]) && std::isnan(expected))) << t.name << " " << i;
    }
  }
}

TEST(OnnxNarrow, OperatorsThatMoveElementsMoveCodes) {
  ModelBuilder m(25);
  m.input("x", {"2", "3"}, TensorProto::FLOAT8E4M3FN);
  m.node("Transpose", {"x"}, {"t"});
  attribute(m.node("Concat", {"t", "t"}, {"c"}), "axis", 0);
  attribute(m.node("Cast", {"c"}, {"y"}), "to", TensorProto::FLOAT);
  m.output("y");
  set_output(m, "c", {"6", "2"}, TensorProto::FLOAT8E4M3FN);
  const auto r = compile_and_run(m, {Array{DType::u8, {2, 3}, {0x38, 0x40, 0x44, 0xb8, 0xc0, 0x7e}}});
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(driver::to_doubles(r.outputs[0]), (std::vector<double>{1, -1, 2, -2, 3, 448, 1, -1, 2, -2, 3, 448}));
  EXPECT_EQ(r.outputs[1].data, (std::vector<uint8_t>{0x38, 0xb8, 0x40, 0xc0, 0x44, 0x7e, 0x38, 0xb8, 0x40, 0xc0, 0x44, 0x7e}));
}

TEST(OnnxNarrow, BordersKeepTheModelsTypeInTheEvidence) {
  ModelBuilder m(25);
  m.input("x", {"3"}, TensorProto::INT2);
  attribute(m.node("Cast", {"x"}, {"y"}), "to", TensorProto::FLOAT4E2M1);
  set_output(m, "y", {"3"}, TensorProto::FLOAT4E2M1);
  const auto r = import(m);
  ASSERT_TRUE(r->ok) << r->text();
  EXPECT_EQ(r->block().arguments[0]->type.dtype, DType::s8);
  EXPECT_EQ(r->block().results[0]->type.dtype, DType::u8);
  std::string found;
  for (const auto& [key, value] : r->graph.evidence)
    if (key.rfind("element.", 0) == 0) found += key + "=" + value + " ";
  EXPECT_EQ(found, "element.input.main.x=int2 element.output.main.y=float4e2m1 ");
}

TEST(OnnxNarrow, ArithmeticAndMixturesAreRefused) {
  ModelBuilder m(25);
  m.input("a", {"2"}, TensorProto::FLOAT8E5M2).input("b", {"2"}, TensorProto::UINT8).output("y").output("z");
  m.node("Add", {"a", "a"}, {"y"});
  attribute(m.node("Concat", {"a", "b"}, {"z"}), "axis", 0);
  const std::string text = import(m)->text();
  EXPECT_NE(text.find("Add_1 (Add): computing with elements of type FLOAT8E5M2 is not possible"), std::string::npos) << text;
  EXPECT_NE(text.find("found FLOAT8E5M2 and, as input 1, u8"), std::string::npos) << text;
}

}  // namespace
}  // namespace mote::frontends::onnx::testing
