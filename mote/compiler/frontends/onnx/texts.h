#pragma once

// Texts of a model (class labels, categories) as numbers: programs have no strings, so a tensor of strings is one of s64 whose elements
// are places in a table of all texts that the model itself holds; -1 stands for every other text. The table travels as metadata.

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "mote/compiler/ir/graph.h"
#include "onnx.pb.h"

namespace mote::frontends::onnx {

class Texts {
 public:
  // Collects the texts, from the last node to the first: so the labels of the classes that a model gives come first, in their order.
  explicit Texts(const ::onnx::ModelProto& model);

  int64_t index_of(const std::string& text) const;  // -1: not in the table
  std::vector<int64_t> indices_of(const google::protobuf::RepeatedPtrField<std::string>& texts) const;

  // Which values are places in the table.
  void mark(const ir::Value* v) { marked_.insert(v->id); }
  bool is_text(const ir::Value* v) const { return v != nullptr && marked_.count(v->id) != 0; }

  // A tensor of strings as a marked constant; null with *error.
  ir::Value* constant(ir::Graph& graph, const ::onnx::TensorProto& tensor, const std::string& name, std::string* error);

  // Tell the user, in notes and metadata, what the numbers of an input or output mean.
  void note_input(ir::Graph& graph, const std::string& name) const;
  void note_output(ir::Graph& graph, const std::string& name) const;

 private:
  void collect_nodes(const google::protobuf::RepeatedPtrField<::onnx::NodeProto>& nodes, int depth);
  void collect(const google::protobuf::RepeatedPtrField<std::string>& texts);

  std::vector<std::string> table_;
  std::unordered_map<std::string, int64_t> places_;
  std::unordered_map<std::string, const ::onnx::TensorProto*> initializers_;  // of strings, by name
  std::unordered_set<int> marked_;
  size_t classes_ = 0;  // length of the first list
};

// Metadata `labels`, one a line, unless the model brings its own.
void keep_labels(ir::Graph& graph, const std::vector<std::string>& labels);

}  // namespace mote::frontends::onnx
