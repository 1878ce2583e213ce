#pragma once

// Small ONNX models written in C++, for tests.

#include <gtest/gtest.h>

#include "mote/compiler/frontends/frontend.h"
#include "onnx.pb.h"

namespace mote::frontends::onnx {

extern const Frontend kFrontend;

namespace testing {

using Shape = std::vector<std::string>;  // sizes as texts; names stay open, "" is unnamed

inline void set_type(::onnx::TypeProto* type, const Shape& shape, int element = ::onnx::TensorProto::FLOAT) {
  type->mutable_tensor_type()->set_elem_type(element);
  auto* dims = type->mutable_tensor_type()->mutable_shape();
  for (const std::string& size : shape) {
    auto* d = dims->add_dim();
    if (size.empty()) continue;
    if (size.find_first_not_of("0123456789") == std::string::npos) d->set_dim_value(std::stoll(size));
    else d->set_dim_param(size);
  }
}

class ModelBuilder {
 public:
  explicit ModelBuilder(int opset = 21, int ir = 10) {
    model.set_ir_version(ir);
    model.add_opset_import()->set_version(opset);
    graph = model.mutable_graph();
    graph->set_name("g");
  }
  ModelBuilder& input(const std::string& name, const Shape& shape, int element = ::onnx::TensorProto::FLOAT) {
    auto* v = graph->add_input();
    v->set_name(name);
    set_type(v->mutable_type(), shape, element);
    return *this;
  }
  ModelBuilder& output(const std::string& name, const Shape& shape = {}) {
    auto* v = graph->add_output();
    v->set_name(name);
    if (!shape.empty()) set_type(v->mutable_type(), shape);
    return *this;
  }
  ::onnx::NodeProto& node(const std::string& op, const std::vector<std::string>& in, const std::vector<std::string>& out) {
    return add_node(graph->mutable_node(), op, in, out);
  }
  ::onnx::TensorProto& floats(const std::string& name, const std::vector<int64_t>& dims, const std::vector<float>& values) {
    auto* t = graph->add_initializer();
    t->set_name(name);
    t->set_data_type(::onnx::TensorProto::FLOAT);
    for (int64_t d : dims) t->add_dims(d);
    for (float v : values) t->add_float_data(v);
    return *t;
  }

  static ::onnx::NodeProto& add_node(google::protobuf::RepeatedPtrField<::onnx::NodeProto>* to, const std::string& op,
                                     const std::vector<std::string>& in, const std::vector<std::string>& out) {
    auto* n = to->Add();
    n->set_op_type(op);
    n->set_name(op + "_" + std::to_string(to->size()));
    for (const auto& s : in) n->add_input(s);
    for (const auto& s : out) n->add_output(s);
    return *n;
  }

  ::onnx::ModelProto model;
  ::onnx::GraphProto* graph;
};

inline ::onnx::AttributeProto& attribute(::onnx::NodeProto& n, const std::string& name, int64_t value) {
  auto* a = n.add_attribute();
  a->set_name(name);
  a->set_type(::onnx::AttributeProto::INT);
  a->set_i(value);
  return *a;
}

struct Imported {
  ir::Graph graph;
  ir::Problems problems;
  bool ok = false;

  std::string text() const {
    std::string all;
    for (const auto& p : problems) all += p.where + ": " + p.what + " | " + p.advice + "\n";
    return all;
  }
  const ir::Block& block() const { return *graph.methods[0].block; }
};

inline std::unique_ptr<Imported> import_bytes(const std::string& bytes, const ImportOptions& options = {},
                                              const std::string& path = "m.onnx") {
  auto out = std::make_unique<Imported>();
  const Source source{path, ir::Bytes::copy_of(bytes.data(), bytes.size())};
  out->ok = kFrontend.import(source, options, out->graph, &out->problems);
  return out;
}

inline std::unique_ptr<Imported> import(const ModelBuilder& m, const ImportOptions& options = {}, const std::string& path = "m.onnx") {
  return import_bytes(m.model.SerializeAsString(), options, path);
}

}  // namespace testing
}  // namespace mote::frontends::onnx
