// Walks the nodes of a graph for the XNNPACK delegate.

#include "mote/compiler/frontends/executorch/xnnpack.h"

#include <algorithm>

#include "mote/compiler/frontends/executorch/xnnpack_op.h"

namespace mote::frontends::executorch {
namespace {

XnnImportFn find_xnn_importer(xfb::NodeUnion type) {
  switch (type) {
#define MOTE_XNN_NODE(type, function) \
  case xfb::NodeUnion::type:          \
    return &function;
#include "mote/compiler/frontends/executorch/xnnpack_nodes.def"
#undef MOTE_XNN_NODE
    default: return nullptr;
  }
}

class XnnImport {
 public:
  XnnImport(const XnnModel& model, ir::Graph& graph, ir::Block& block, ir::Problems& problems, const std::string& place)
      : scope_(model, graph, block), problems_(problems), place_(place) {}

  bool bind(const std::vector<Value*>& inputs) {
    const XnnModel& m = scope_.model;
    if (inputs.size() != m.inputs)
      return refuse("", "expected " + std::to_string(m.inputs) + " inputs, found " + std::to_string(inputs.size()));
    for (size_t i = 0; i < inputs.size(); ++i)
      if (m.arguments[i] >= 0 && !bind(static_cast<size_t>(m.arguments[i]), inputs[i], i)) return false;
    return true;
  }

  bool import_nodes() {
    const auto* nodes = scope_.model.graph->nodes();
    const uint32_t n = nodes == nullptr ? 0 : nodes->size();
    for (uint32_t i = 0; i < n; ++i) import_node(*nodes->Get(i), i);
    return ok_;
  }

  bool results(const std::vector<ir::Type>& declared, std::vector<Value*>* outputs) {
    const XnnModel& m = scope_.model;
    outputs->clear();
    for (size_t i = 0; i < m.arguments.size() - m.inputs; ++i) {
      Value* v = scope_.held[static_cast<size_t>(m.arguments[m.inputs + i])].value;
      if (v == nullptr) return refuse("", "nothing computes output " + std::to_string(i));
      if (i < declared.size() && declared[i].dtype != DType::kNone && declared[i].dtype != v->type.dtype) {
        ir::NodeBuilder b(scope_.graph, scope_.block, place_);
        v = b.cast(v, declared[i].dtype);
        if (v == nullptr) return refuse("", b.error());
      }
      outputs->push_back(v);
    }
    return true;
  }

 private:
  bool refuse(const std::string& node, const std::string& what) {
    ok_ = false;
    problems_.push_back({node.empty() ? place_ : place_ + ", " + node, what, ""});
    return false;
  }

  bool bind(size_t index, Value* v, size_t number) {
    const XnnTensor& t = scope_.model.tensors[index];
    const std::string which = "input " + std::to_string(number) + " ";
    if (v == nullptr) return refuse("", which + "is missing");
    if (t.quant.kind != XnnQuant::Kind::kNone && !t.per_tensor()) return refuse("", which + "cannot be " + describe_xnn(t));
    if (v->type.dtype != t.dtype)
      return refuse("", which + "has element type " + dtype_name(v->type.dtype) + "; expected " + describe_xnn(t));
    ir::NodeBuilder b(scope_.graph, scope_.block, place_ + "/input");
    if (v->type.rank() != static_cast<int>(t.dims.size())) {
      // A scalar is a vector of one element here.
      if (v->type.rank() != 0 || t.dims.size() != 1) return refuse("", which + "has another rank than " + describe_xnn(t));
      v = b.reshape(v, {1});
    }
    XnnHeld& h = scope_.held[index];
    h.value = v;
    if (!t.quantize_on_entry) return true;
    h = quantize_xnn_rows(b, v, 1);
    return b.ok() || refuse("", which + "cannot be quantized: " + b.error());
  }

  void import_node(const xfb::Node& node, uint32_t index) {
    const std::string type = xnn_node_name(node), name = type + "_" + std::to_string(index);
    ir::NodeBuilder b(scope_.graph, scope_.block, name);
    const XnnImportFn import = find_xnn_importer(node.node_type());
    if (import == nullptr || node.node() == nullptr) {
      refuse(type + ", node " + std::to_string(index), "this type of node is not supported");
      scope_.refused = true;
      return;
    }
    XnnOp op(scope_, node, b);
    import(op);
    if (!b.ok() && !op.given_up) refuse(type + ", node " + std::to_string(index), b.error());
    scope_.refused = scope_.refused || !b.ok();
  }

  XnnScope scope_;
  ir::Problems& problems_;
  const std::string& place_;
  bool ok_ = true;
};

}  // namespace

bool import_xnnpack(const ir::Bytes& payload, const NamedData& data, ir::Graph& graph, ir::Block& block,
                    const std::vector<ir::Value*>& inputs, const std::vector<ir::Type>& declared, std::vector<ir::Value*>* outputs,
                    ir::Problems& problems, const std::string& place) {
  XnnModel model;
  if (!read_xnn_model(payload, data, &model, problems, place)) return false;
  set_pixel_scales(&model);
  XnnImport import(model, graph, block, problems, place);
  return import.bind(inputs) && import.import_nodes() && import.results(declared, outputs);
}

}  // namespace mote::frontends::executorch
