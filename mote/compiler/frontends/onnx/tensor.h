#pragma once

// Tensors of the model file as constants of the graph.

#include <memory>
#include <string>

#include "mote/compiler/ir/graph.h"
#include "onnx.pb.h"

namespace mote::frontends::onnx {

// Keeps the parsed model alive: constants share its bytes where they lie there as Mote stores them.
class TensorReader {
 public:
  // `model_path`: external data is looked for in its folder and nowhere else.
  TensorReader(ir::Graph& graph, std::shared_ptr<const void> model, std::string model_path)
      : graph_(graph), model_(std::move(model)), model_path_(std::move(model_path)) {}

  // Null with *error when the tensor is damaged or has a type Mote lacks.
  ir::Value* make_constant(const ::onnx::TensorProto& tensor, const std::string& name, std::string* error);
  // The dense tensor that a sparse one stands for.
  ir::Value* make_dense(const ::onnx::SparseTensorProto& sparse, const std::string& name, std::string* error);

 private:
  bool read_bytes(const ::onnx::TensorProto& tensor, const ir::Type& type, ir::Bytes* out, std::string* error);
  bool read_external(const ::onnx::TensorProto& tensor, uint64_t bytes, ir::Bytes* out, std::string* error);

  ir::Graph& graph_;
  std::shared_ptr<const void> model_;
  std::string model_path_;
  uint64_t sparse_bytes_ = 0, dense_bytes_ = 0;  // of sparse tensors so far: in the file, and written out
};

}  // namespace mote::frontends::onnx
