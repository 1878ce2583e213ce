// Programs for a range of sizes: they run at every size of it, and say which sizes those are.

#include "mote/compiler/driver/ranges.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "mote/compiler/driver/compile.h"
#include "mote/compiler/driver/run.h"
#include "onnx.pb.h"

namespace mote::driver {
namespace {

using Ints = std::vector<int64_t>;

// One operator with an input (1, 2, N) or (N, 2), and constants.
struct Model {
  onnx::ModelProto proto;
  onnx::NodeProto* node;

  explicit Model(const std::string& op, bool spatial, int outputs = 1) {
    proto.set_ir_version(9);
    proto.add_opset_import()->set_version(18);
    auto* g = proto.mutable_graph();
    g->set_name("g");
    value(g->add_input(), "x", spatial ? Ints{1, 2, -1} : Ints{-1, 2});
    node = g->add_node();
    node->set_op_type(op);
    node->set_name(op);
    node->add_input("x");
    for (int i = 0; i < outputs; ++i) {
      node->add_output("y" + std::to_string(i));
      auto* v = g->add_output();
      v->set_name(node->output(i));
      v->mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
    }
  }
  static void value(onnx::ValueInfoProto* v, const std::string& name, const Ints& dims) {
    v->set_name(name);
    v->mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
    for (const int64_t d : dims) {
      auto* dim = v->mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim();
      if (d < 0) dim->set_dim_param("N");
      else dim->set_dim_value(d);
    }
  }
  Model& attribute(const std::string& name, const Ints& values) {
    auto* a = node->add_attribute();
    a->set_name(name);
    const bool one = values.size() == 1 && name != "kernel_shape" && name != "strides" && name != "dilations";
    a->set_type(one ? onnx::AttributeProto::INT : onnx::AttributeProto::INTS);
    if (one) a->set_i(values[0]);
    for (const int64_t v : values)
      if (!one) a->add_ints(v);
    return *this;
  }
  // The outputs are what this operator makes of the node's.
  Model& read_by(const std::string& op) {
    for (int i = 0; i < node->output_size(); ++i) {
      const std::string y = node->output(i);
      node->set_output(i, "part" + std::to_string(i));
      chain(op, {node->output(i)}, y);
    }
    return *this;
  }
  // The node reads its input several times, end to end.
  Model& input_repeated(int times) {
    chain("Concat", std::vector<std::string>(static_cast<size_t>(times), "x"), "repeated");
    last()->add_attribute()->set_name("axis");
    last()->mutable_attribute(0)->set_type(onnx::AttributeProto::INT);
    node->set_input(0, "repeated");
    put_last();
    return *this;
  }
  // A further node at the end.
  void chain(const std::string& op, const std::vector<std::string>& inputs, const std::string& output) {
    auto* n = proto.mutable_graph()->add_node();
    n->set_op_type(op);
    n->set_name(op + " of " + output);
    for (const std::string& name : inputs) n->add_input(name);
    n->add_output(output);
  }
  onnx::NodeProto* last() { return proto.mutable_graph()->mutable_node(proto.graph().node_size() - 1); }
  // The first node changes places with the last.
  void put_last() {
    const int end = proto.graph().node_size() - 1;
    proto.mutable_graph()->mutable_node()->SwapElements(0, end);
    node = last();
  }
  template <class T>
  std::string constant_of(onnx::TensorProto::DataType type, const Ints& dims, const std::vector<T>& values) {
    auto* t = proto.mutable_graph()->add_initializer();
    t->set_name("c" + std::to_string(proto.graph().initializer_size()));
    t->set_data_type(type);
    for (const int64_t d : dims) t->add_dims(d);
    t->set_raw_data(values.data(), values.size() * sizeof(T));
    return t->name();
  }
  template <class T>
  Model& constant(onnx::TensorProto::DataType type, const Ints& dims, const std::vector<T>& values) {
    node->add_input(constant_of(type, dims, values));
    return *this;
  }
};

struct Compiled {
  bool ok = false;
  CompileResult result;
  std::string text;  // problems and notes
};

Compiled compiled(const Model& m, int32_t least, int32_t most) {
  Compiled c;
  CompileOptions o;
  o.import.dims["N"] = {least, most};
  const std::string bytes = m.proto.SerializeAsString();
  ir::Problems problems;
  c.ok = compile({"test.onnx", ir::Bytes::copy_of(bytes.data(), bytes.size())}, o, &c.result, &problems);
  for (const ir::Problem& p : problems) c.text += p.where + ": " + p.what + "\n";
  for (const std::string& note : c.result.notes) c.text += note + "\n";
  return c;
}

// The sizes from 1 that the program runs at.
std::vector<int> runs_at(const Compiled& c, bool spatial, int most = 12) {
  HostProgram p;
  std::string error;
  EXPECT_TRUE(p.open(c.result.file.span(), {}, {}, &error)) << error;
  std::vector<int> sizes;
  for (int n = 1; n <= most; ++n) {
    Random random(1);
    std::vector<Array> out;
    if (p.run(0, {make_random(DType::f32, spatial ? Ints{1, 2, n} : Ints{n, 2}, random)}, &out, &error)) sizes.push_back(n);
  }
  return sizes;
}

// The range of the program: what a note says, or what it was compiled for.
std::pair<int, int> range_taken(const Compiled& c, int least, int most) {
  const std::string before = "; the program takes ";
  const size_t note = c.text.find(before);
  if (note == std::string::npos) return {least, most};
  std::string text = c.text.substr(note + before.size());
  const int first = std::stoi(text);
  const size_t dots = text.find("..");
  return {first, dots == std::string::npos || dots > 6 ? first : std::stoi(text.substr(dots + 2))};
}

std::vector<int> from_to(int first, int last) {
  std::vector<int> all;
  for (int n = first; n <= last; ++n) all.push_back(n);
  return all;
}

TEST(Ranges, AConvolutionTakesWhatItsWindowFits) {
  const Model m = Model("Conv", true).constant<float>(onnx::TensorProto::FLOAT, {3, 2, 7}, std::vector<float>(42, 1));
  const Compiled c = compiled(m, 1, 10);
  ASSERT_TRUE(c.ok) << c.text;
  EXPECT_NE(c.text.find("'N': the model cannot be computed at 1..6 ("), std::string::npos) << c.text;
  EXPECT_NE(c.text.find("; the program takes 7..10"), std::string::npos) << c.text;
  EXPECT_EQ(runs_at(c, true), from_to(7, 10));
  const Compiled all = compiled(m, 7, 12);
  ASSERT_TRUE(all.ok) << all.text;
  EXPECT_EQ(all.text, "");
  EXPECT_EQ(runs_at(all, true), from_to(7, 12));
  const Compiled wide = compiled(m, 1, 5000);
  ASSERT_TRUE(wide.ok) << wide.text;
  EXPECT_NE(wide.text.find("; the program takes 7..5000"), std::string::npos) << wide.text;
  const Compiled none = compiled(m, 1, 6);
  EXPECT_FALSE(none.ok);
}

TEST(Ranges, PoolsRunAtEverySizeTheyTake) {
  for (const int64_t window : {2, 3, 5, 7})
    for (const int64_t stride : {1, 2, 3})
      for (const int64_t ceil : {0, 1})
        for (const char* op : {"MaxPool", "AveragePool"}) {
          SCOPED_TRACE(op + std::to_string(window) + " " + std::to_string(stride) + " " + std::to_string(ceil));
          const Compiled c = compiled(
              Model(op, true).attribute("kernel_shape", {window}).attribute("strides", {stride}).attribute("ceil_mode", {ceil}), 1, 12);
          ASSERT_TRUE(c.ok) << c.text;
          // Where less than a stride is missing, ceil_mode has a window that begins inside; where exactly one is, an empty result.
          const int64_t least = ceil == 0 ? window : std::max<int64_t>(1, window - 2 * stride + 1);
          EXPECT_EQ(runs_at(c, true), from_to(static_cast<int>(least), 12)) << c.text;
        }
}

// The last part is largest at no size that three samples look at: of ten in three parts it has 2, of nine it has 3.
TEST(Ranges, PartsOfASplitAreBoundedAtEverySize) {
  for (int parts = 2; parts <= 5; ++parts)
    for (int most = parts; most <= 12; ++most) {
      SCOPED_TRACE(std::to_string(parts) + " of " + std::to_string(most));
      // Five in four parts: two, two, and one that is not there.
      const auto possible = [&](int n) { return (n + parts - 1) / parts * (parts - 1) <= n; };
      const Compiled c = compiled(Model("Split", false, parts).attribute("axis", {0}).attribute("num_outputs", {parts}), 1, most);
      ASSERT_EQ(c.ok, possible(most)) << c.text;
      if (!c.ok) continue;
      const std::vector<int> sizes = runs_at(c, false);
      ASSERT_FALSE(sizes.empty());
      // Smaller sizes than the range may run, too; those of the range must.
      const size_t note = c.text.find("; the program takes ");
      const int least = note == std::string::npos ? 1 : std::stoi(c.text.substr(note + 20));
      EXPECT_EQ(note == std::string::npos, sizes == from_to(1, most)) << c.text;
      for (int n = least; n <= sizes.back(); ++n) EXPECT_EQ(std::count(sizes.begin(), sizes.end(), n), 1) << n << " " << c.text;
      for (const int n : sizes) EXPECT_TRUE(possible(n)) << n;
    }
}

// Readers of the parts run at every size, too: what they are given is bounded by sizes at which the last part is largest.
TEST(Ranges, ReadersOfTheLastPartOfASplitAreBoundedAtEverySize) {
  for (int parts = 2; parts <= 7; ++parts)
    for (int most = parts; most <= 24; ++most) {
      SCOPED_TRACE(std::to_string(parts) + " of " + std::to_string(most));
      const auto possible = [&](int n) { return (n + parts - 1) / parts * (parts - 1) <= n; };
      Model m("Split", false, parts);
      m.attribute("axis", {0}).attribute("num_outputs", {parts}).read_by("Relu");
      const Compiled c = compiled(m, 1, most);
      ASSERT_EQ(c.ok, possible(most)) << c.text;
      if (!c.ok) continue;
      const std::vector<int> sizes = runs_at(c, false, most);
      const auto [first, last] = range_taken(c, 1, most);
      for (int n = first; n <= last; ++n) EXPECT_EQ(std::count(sizes.begin(), sizes.end(), n), 1) << n << " " << c.text;
    }
}

// A wide range is not tried size by size: those near its end have every remainder. And of four times N the remainders come in steps.
TEST(Ranges, ReadersOfTheLastPartOfASplitAreBoundedInAWideRange) {
  for (const int times : {1, 4})
    for (const int most : {1000, 1001, 1003, 100000}) {
      SCOPED_TRACE(std::to_string(times) + " x " + std::to_string(most));
      Model m("Split", false, 7);
      if (times > 1) m.input_repeated(times);
      m.attribute("axis", {0}).attribute("num_outputs", {7}).read_by("Relu");
      const Compiled c = compiled(m, 300, most);
      ASSERT_TRUE(c.ok) << c.text;
      HostProgram p;
      std::string error;
      ASSERT_TRUE(p.open(c.result.file.span(), {}, {}, &error)) << error;
      for (int n = most; n > most - 40; --n) {
        Random random(1);
        std::vector<Array> out;
        EXPECT_TRUE(p.run(0, {make_random(DType::f32, Ints{n, 2}, random)}, &out, &error)) << n << " " << error;
      }
    }
}

// Shape arithmetic that agrees at three sizes and nowhere else: N modulo 5 of 1, 6 and 11 is 1.
TEST(Ranges, AComputedSizeIsBoundedAtEverySize) {
  Model m("Shape", false);
  m.node->set_output(0, "shape");
  m.chain("Gather", {"shape", m.constant_of<int64_t>(onnx::TensorProto::INT64, {}, {0})}, "n");
  m.chain("Mod", {"n", m.constant_of<int64_t>(onnx::TensorProto::INT64, {}, {5})}, "rest");
  m.chain("Unsqueeze", {"rest", m.constant_of<int64_t>(onnx::TensorProto::INT64, {1}, {0})}, "end");
  m.chain("Slice", {"x", m.constant_of<int64_t>(onnx::TensorProto::INT64, {1}, {0}), "end"}, "y0");
  const Compiled c = compiled(m, 1, 11);
  ASSERT_TRUE(c.ok) << c.text;
  HostProgram p;
  std::string error;
  ASSERT_TRUE(p.open(c.result.file.span(), {}, {}, &error)) << error;
  for (int n = 1; n <= 11; ++n) {
    Random random(1);
    std::vector<Array> out;
    ASSERT_TRUE(p.run(0, {make_random(DType::f32, Ints{n, 2}, random)}, &out, &error)) << n << " " << error;
    EXPECT_EQ(out[0].dims, (Ints{n % 5, 2}));
  }
}

// A shape that is read where two of the three samples are refused: what stood in for them was taken for known, and 6 was refused.
TEST(Ranges, AShapeBehindAWindowIsNotTakenForKnown) {
  Model m("Conv", true);
  m.constant<float>(onnx::TensorProto::FLOAT, {3, 2, 3}, std::vector<float>(18, 1)).attribute("dilations", {2});
  m.node->set_output(0, "windows");
  m.chain("Shape", {"windows"}, "shape");
  m.chain("ConstantOfShape", {"shape"}, "zeros");
  m.chain("Add", {"windows", "zeros"}, "y0");
  const Compiled c = compiled(m, 0, 7);
  ASSERT_TRUE(c.ok) << c.text;
  EXPECT_NE(c.text.find("cannot be computed at 0..4 ("), std::string::npos) << c.text;
  EXPECT_NE(c.text.find("; the program takes 5..7"), std::string::npos) << c.text;
  EXPECT_EQ(runs_at(c, true, 7), from_to(5, 7));
}

// Two symbols of one range: the rows of x and those of y. Where they differ the sum of both does, and a slice of it may have nothing.
TEST(Ranges, SymbolsOfTheSameRangeHaveSizesOfTheirOwn) {
  Model m("Slice", false);
  m.value(m.proto.mutable_graph()->add_input(), "z", Ints{2, -1});
  m.proto.mutable_graph()->mutable_input(1)->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(1)->set_dim_param("M");
  // Rows N - 1 and on of a value with M rows: one where N is M, other counts elsewhere.
  m.chain("Shape", {"x"}, "shape");
  m.chain("Gather", {"shape", m.constant_of<int64_t>(onnx::TensorProto::INT64, {1}, {0})}, "n");
  m.chain("Sub", {"n", m.constant_of<int64_t>(onnx::TensorProto::INT64, {1}, {1})}, "begin");
  m.chain("Transpose", {"z"}, "rows");
  m.node->set_input(0, "rows");
  m.node->add_input("begin");
  m.constant<int64_t>(onnx::TensorProto::INT64, {1}, {100}).constant<int64_t>(onnx::TensorProto::INT64, {1}, {0});
  m.put_last();  // [Transpose, Shape, Gather, Sub, Slice]
  CompileOptions o;
  o.import.dims["N"] = o.import.dims["M"] = {1, 4};
  const std::string bytes = m.proto.SerializeAsString();
  ir::Problems problems;
  CompileResult result;
  ASSERT_TRUE(compile({"test.onnx", ir::Bytes::copy_of(bytes.data(), bytes.size())}, o, &result, &problems)) << problems[0].what;
  HostProgram p;
  std::string error;
  ASSERT_TRUE(p.open(result.file.span(), {}, {}, &error)) << error;
  for (int n = 1; n <= 4; ++n)
    for (int rows = 1; rows <= 4; ++rows) {
      Random random(1);
      std::vector<Array> out;
      const std::vector<Array> in = {make_random(DType::f32, Ints{n, 2}, random), make_random(DType::f32, Ints{2, rows}, random)};
      ASSERT_TRUE(p.run(0, in, &out, &error)) << n << " " << rows << " " << error;
      EXPECT_EQ(out[0].dims, (Ints{std::max(rows - n + 1, 0), 2}));
    }
}

// Elements are written to rows 0 to 4: from 5 rows on the model can be computed.
TEST(Ranges, ScatterElementsRunsAtEverySizeItTakes) {
  for (const bool open_indices : {false, true}) {
    Model m("ScatterElements", false);
    if (open_indices) {  // updates of every row: the range is the model's own
      m.chain("Sub", {"x", "x"}, "nothing");
      m.chain("Cast", {"nothing"}, "zeros");
      m.last()->add_attribute()->set_name("to");
      m.last()->mutable_attribute(0)->set_type(onnx::AttributeProto::INT);
      m.last()->mutable_attribute(0)->set_i(onnx::TensorProto::INT64);
      m.node->add_input("zeros");
      m.node->add_input("x");
      m.put_last();
      m.proto.mutable_graph()->mutable_node()->SwapElements(0, 1);
      m.node = m.last();
    } else {
      m.constant<int64_t>(onnx::TensorProto::INT64, {3, 2}, {0, 1, 2, 3, 4, 0});
      m.constant<float>(onnx::TensorProto::FLOAT, {3, 2}, {1, 2, 3, 4, 5, 6});
    }
    m.attribute("axis", {0});
    const Compiled c = compiled(m, 1, 10);
    ASSERT_TRUE(c.ok) << c.text;
    EXPECT_EQ(runs_at(c, false, 10), from_to(open_indices ? 1 : 5, 10)) << c.text;
    EXPECT_EQ(c.text.find("at 1, 2, 3, 4 the model does not run") == std::string::npos, open_indices) << c.text;
  }
}

TEST(Ranges, SizesThatTheModelItselfCannotRunAtAreTold) {
  const Compiled c =
      compiled(Model("Gather", false).constant<int64_t>(onnx::TensorProto::INT64, {2}, {3, 6}).attribute("axis", {0}), 1, 10);
  ASSERT_TRUE(c.ok) << c.text;
  EXPECT_NE(c.text.find("'N': at 1, 2, 3, 4, 5, 6 the model does not run"), std::string::npos) << c.text;
  EXPECT_EQ(runs_at(c, false), from_to(7, 10));
}

// Resizing other than the last dimensions reshapes: one open size is found there, whether it is resized or passes by.
TEST(Ranges, ResizeOfAnyDimensionTakesOneOpenSize) {
  for (const int64_t rows : {1, 3}) {
    for (const int64_t columns : {1, 2}) {
      SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns));
      Model m("Resize", false);
      m.node->add_input("");
      m.constant<float>(onnx::TensorProto::FLOAT, {2}, {static_cast<float>(rows), static_cast<float>(columns)});
      const Compiled c = compiled(m, 0, 12);
      ASSERT_TRUE(c.ok) << c.text;
      HostProgram p;
      std::string error;
      ASSERT_TRUE(p.open(c.result.file.span(), {}, {}, &error)) << error;
      for (int n = 0; n <= 12; ++n) {
        Random random(1);
        const Array x = make_random(DType::f32, Ints{n, 2}, random);
        std::vector<Array> out;
        ASSERT_TRUE(p.run(0, {x}, &out, &error)) << n << error;
        ASSERT_EQ(out[0].dims, (Ints{n * rows, 2 * columns}));
        const std::vector<double> from = to_doubles(x), to = to_doubles(out[0]);
        for (int64_t i = 0; i < static_cast<int64_t>(to.size()); ++i) {
          const int64_t row = i / (2 * columns) / rows, column = i % (2 * columns) / columns;
          ASSERT_EQ(to[static_cast<size_t>(i)], from[static_cast<size_t>(row * 2 + column)]) << n << " " << i;
        }
      }
    }
  }
}

// From none to some there is no way: that size is taken from the range.
TEST(Ranges, ResizeToAFixedSizeTakesOneOpenSize) {
  Model m("Resize", false);
  for (int i = 0; i < 2; ++i) m.node->add_input("");
  m.constant<int64_t>(onnx::TensorProto::INT64, {2}, {3, 4});
  const Compiled c = compiled(m, 0, 12);
  ASSERT_TRUE(c.ok) << c.text;
  EXPECT_NE(c.text.find("; the program takes 1..12"), std::string::npos) << c.text;
  EXPECT_EQ(runs_at(c, false), from_to(1, 12));
}

// Two open sizes are named, and what to type.
TEST(Ranges, ResizeOfAnyDimensionNamesTwoOpenSizes) {
  Model m("Resize", false);
  m.proto.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(1)->set_dim_param("N");
  m.node->add_input("");
  m.constant<float>(onnx::TensorProto::FLOAT, {2}, {1, 2});
  const Compiled c = compiled(m, 1, 12);
  EXPECT_FALSE(c.ok);
  EXPECT_NE(c.text.find("at most one open size, found them in dimensions 0 and 1"), std::string::npos) << c.text;
}

TEST(Ranges, TriesAllOfAFewSizesAndTheEndsOfMany) {
  EXPECT_EQ(sizes_to_try(3, 6), (std::vector<int32_t>{3, 4, 5, 6}));
  EXPECT_EQ(sizes_to_try(1, 64).size(), 64u);
  const std::vector<int32_t> many = sizes_to_try(1, 1 << 30);
  EXPECT_LT(many.size(), 70u);
  EXPECT_EQ(many.front(), 1);
  EXPECT_EQ(many.back(), 1 << 30);
  for (size_t count = 0; count < 70; ++count) {
    std::vector<size_t> order = halving_order(count);
    if (count > 1) {
      EXPECT_EQ(order[1], count - 1);
    }
    std::sort(order.begin(), order.end());
    for (size_t i = 0; i < count; ++i) ASSERT_EQ(order[i], i);
    ASSERT_EQ(order.size(), count);
  }
}

}  // namespace
}  // namespace mote::driver
