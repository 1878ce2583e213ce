// Advice about open dimensions is a command that works: every suggestion is taken and compiled here.

#include "mote/compiler/driver/suggest.h"

#include <gtest/gtest.h>

#include <sstream>

#include "onnx.pb.h"

namespace mote::driver {
namespace {

using onnx::ModelProto;
using Shape = std::vector<std::string>;

onnx::ValueInfoProto* add_value(onnx::ValueInfoProto* v, const std::string& name, const Shape& dims) {
  v->set_name(name);
  auto* tensor = v->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(onnx::TensorProto::FLOAT);
  for (const std::string& d : dims) {
    auto* dim = tensor->mutable_shape()->add_dim();
    if (d.empty()) continue;
    if (std::isdigit(static_cast<unsigned char>(d[0])) != 0) dim->set_dim_value(std::stoll(d));
    else dim->set_dim_param(d);
  }
  return v;
}

// y = op(x, w), w of these sizes.
ModelProto model_of(const Shape& x, const std::string& op, const std::vector<int64_t>& w) {
  ModelProto m;
  m.set_ir_version(8);
  m.add_opset_import()->set_version(13);
  auto* g = m.mutable_graph();
  g->set_name("g");
  add_value(g->add_input(), "x", x);
  g->add_output()->set_name("y");
  auto* t = g->add_initializer();
  t->set_name("w");
  t->set_data_type(onnx::TensorProto::FLOAT);
  int64_t count = 1;
  for (const int64_t d : w) t->add_dims(d), count *= d;
  for (int64_t i = 0; i < count; ++i) t->add_float_data(0.5f);
  auto* n = g->add_node();
  n->set_op_type(op);
  n->add_input("x");
  n->add_input("w");
  n->add_output("y");
  return m;
}

frontends::Source source_of(const ModelProto& model) {
  const std::string bytes = model.SerializeAsString();
  return {"test.onnx", ir::Bytes::copy_of(bytes.data(), bytes.size())};
}

std::string advice_for(const frontends::Source& source, const CompileOptions& options = {}) {
  CompileResult result;
  ir::Problems problems;
  EXPECT_FALSE(compile(source, options, &result, &problems));
  EXPECT_EQ(problems.size(), 1u);
  return problems.empty() ? "" : problems[0].advice;
}

// The options that the advice names.
CompileOptions taken(const std::string& advice) {
  CompileOptions o;
  std::istringstream words(advice);
  for (std::string word; words >> word;) {
    if (word != "--dim" || !(words >> word)) continue;
    if (word[0] == '\'') word = word.substr(1, word.size() - 2);
    const size_t at = word.rfind('='), dots = word.find("..", at);
    const int low = std::stoi(word.substr(at + 1));
    o.import.dims[word.substr(0, at)] = {low, dots == std::string::npos ? low : std::stoi(word.substr(dots + 2))};
  }
  return o;
}

struct Case {
  const char* what;
  ModelProto model;
  const char* advice;
};

TEST(Suggest, WhatIsProposedCompiles) {
  const Case cases[] = {
      {"a sequence of any length", model_of({"batch", "seq", "8"}, "MatMul", {8, 2}), "--dim batch=1 --dim seq=1..128"},
      {"of one length alone", model_of({"batch", "len"}, "MatMul", {64, 2}), "--dim batch=1 --dim len=64"},
      {"an image of any size", model_of({"n", "3", "height", "width"}, "Conv", {4, 3, 3, 3}), "--dim height=224 --dim width=224"},
      {"names that shells read otherwise", model_of({"batch", "a b$c", "8"}, "MatMul", {8, 2}), "--dim 'a b$c=1..128'"},
      {"no names at all", model_of({"", "3", "", ""}, "Conv", {4, 3, 5, 5}), "--dim x.0=1 --dim x.2=224 --dim x.3=224"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    const frontends::Source source = source_of(c.model);
    const std::string advice = advice_for(source);
    EXPECT_NE(advice.find("this compiles: add"), std::string::npos) << advice;
    EXPECT_NE(advice.find(c.advice), std::string::npos) << advice;
    if (std::string(c.what).find("shells") != std::string::npos) continue;  // words with blanks are not split here
    CompileResult result;
    ir::Problems problems;
    EXPECT_TRUE(compile(source, taken(advice), &result, &problems)) << advice;
  }
}

TEST(Suggest, WhatTheUserGaveIsKept) {
  CompileOptions o;
  o.import.dims["height"] = {32, 32};
  const std::string advice = advice_for(source_of(model_of({"n", "3", "height", "width"}, "Conv", {4, 3, 3, 3})), o);
  EXPECT_NE(advice.find("--dim width=224"), std::string::npos) << advice;
  EXPECT_EQ(advice.find("--dim height"), std::string::npos) << advice;
}

TEST(Suggest, WithoutASuccessItSaysWhatWasTried) {
  const std::string advice = advice_for(source_of(model_of({"batch", "len"}, "MatMul", {77, 2})));
  EXPECT_NE(advice.find("none of these compiles"), std::string::npos) << advice;
  EXPECT_NE(advice.find("--dim batch=1 --dim len=512"), std::string::npos) << advice;
}

TEST(Suggest, CanBeSwitchedOff) {
  CompileOptions o;
  o.suggest_sizes = false;
  EXPECT_NE(advice_for(source_of(model_of({"batch", "len"}, "MatMul", {77, 2})), o).find("for instance --dim batch=1 --dim len=1..128"),
            std::string::npos);
}

}  // namespace
}  // namespace mote::driver
