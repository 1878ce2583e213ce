#include "mote/compiler/frontends/onnx/texts.h"

#include <algorithm>

#include "mote/compiler/frontends/common/notes.h"
#include "mote/core/tensor.h"

namespace mote::frontends::onnx {
namespace {

using google::protobuf::RepeatedPtrField;
using ::onnx::TensorProto;

constexpr int kMaxDepth = 48;  // of graphs inside each other

// Attributes that hold texts as values; what a classifier gives goes before what an encoder reads.
constexpr const char* kLists[] = {"classlabels_strings", "values_strings", "value_strings",
                                  "cats_strings",        "keys_strings",   "classes_strings"};
constexpr const char* kOnes[] = {"value_string", "default_string"};

std::string joined(const std::vector<std::string>& list, size_t count) {
  std::string out;
  for (size_t i = 0; i < count && i < list.size(); ++i) {
    std::string line = list[i];
    std::replace(line.begin(), line.end(), '\n', ' ');  // a line each
    out += (i > 0 ? "\n" : "") + line;
  }
  return out;
}

void keep(ir::Graph& graph, const std::string& key, const std::string& text) {
  for (const auto& [known, value] : graph.metadata)
    if (known == key) return;
  if (!text.empty()) graph.metadata.emplace_back(key, text);
}

}  // namespace

void keep_labels(ir::Graph& graph, const std::vector<std::string>& labels) { keep(graph, "labels", joined(labels, labels.size())); }

Texts::Texts(const ::onnx::ModelProto& model) {
  for (const TensorProto& t : model.graph().initializer())
    if (t.data_type() == TensorProto::STRING) initializers_.emplace(t.name(), &t);
  collect_nodes(model.graph().node(), 0);
  for (const auto& f : model.functions()) collect_nodes(f.node(), 0);
}

void Texts::collect(const RepeatedPtrField<std::string>& texts) {
  for (const std::string& text : texts)
    if (places_.emplace(text, static_cast<int64_t>(table_.size())).second) table_.push_back(text);
  if (classes_ == 0) classes_ = table_.size();
}

void Texts::collect_nodes(const RepeatedPtrField<::onnx::NodeProto>& nodes, int depth) {
  if (depth > kMaxDepth) return;
  for (int i = nodes.size() - 1; i >= 0; --i) {
    const ::onnx::NodeProto& n = nodes.Get(i);
    for (const char* name : kLists)
      for (const auto& a : n.attribute())
        if (a.name() == name) collect(a.strings());
    for (const auto& a : n.attribute()) {
      if (a.has_t() && a.t().data_type() == TensorProto::STRING) collect(a.t().string_data());
      for (const char* name : kOnes) {
        RepeatedPtrField<std::string> one;
        if (a.name() == name && a.has_s()) one.Add()->assign(a.s()), collect(one);
      }
      if (a.has_g()) {
        for (const TensorProto& t : a.g().initializer())
          if (t.data_type() == TensorProto::STRING) collect(t.string_data());
        collect_nodes(a.g().node(), depth + 1);
      }
    }
    for (const std::string& in : n.input()) {
      const auto it = initializers_.find(in);
      if (it == initializers_.end()) continue;
      collect(it->second->string_data());
      initializers_.erase(it);  // once is enough
    }
  }
}

int64_t Texts::index_of(const std::string& text) const {
  const auto it = places_.find(text);
  return it == places_.end() ? -1 : it->second;
}

std::vector<int64_t> Texts::indices_of(const RepeatedPtrField<std::string>& texts) const {
  std::vector<int64_t> out;
  for (const std::string& t : texts) out.push_back(index_of(t));
  return out;
}

ir::Value* Texts::constant(ir::Graph& graph, const TensorProto& t, const std::string& name, std::string* error) {
  ir::Dims dims;
  int64_t count = 1;
  for (const int64_t d : t.dims()) {
    if (d < 0 || d > INT32_MAX || t.dims_size() > kMaxRank) count = -1;
    else if (count >= 0) count = d > 0 && count > INT32_MAX / d ? -1 : count * d;
    dims.push_back(static_cast<int32_t>(std::clamp<int64_t>(d, 0, INT32_MAX)));
  }
  if (count != t.string_data_size() || !ir::Type{DType::s64, dims, 0}.fits()) {
    *error = "is a tensor of strings whose shape does not fit its " + std::to_string(t.string_data_size()) + " elements";
    return nullptr;
  }
  ir::Value* v = graph.constant<int64_t>(dims, indices_of(t.string_data()), name);
  mark(v);
  return v;
}

void Texts::note_input(ir::Graph& graph, const std::string& name) const {
  keep(graph, "strings", joined(table_, table_.size()));
  add_note(graph, "input '" + name +
                      "' holds text in the model; the program takes the place of each text in the metadata 'strings', counted "
                      "from 0, and -1 for every other text");
}

void Texts::note_output(ir::Graph& graph, const std::string& name) const {
  keep(graph, "labels", joined(table_, classes_));
  if (table_.size() > classes_) keep(graph, "strings", joined(table_, table_.size()));
  add_note(graph, "output '" + name + "' holds text in the model; the program gives the place of each text in the metadata '" +
                      (table_.size() > classes_ ? "strings" : "labels") + "', counted from 0");
}

}  // namespace mote::frontends::onnx
