#include "mote/bindings/python/src/graph_view.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "mote/bindings/python/src/array_view.h"
#include "mote/bindings/python/src/graph_session.h"
#include "mote/bindings/python/src/numpy.h"
#include "mote/compiler/ir/infer.h"
#include "mote/compiler/ir/text.h"
#include "mote/ops/op_docs.h"

namespace mote::python {
namespace {

using Values = std::vector<std::optional<ValueHandle>>;

Values handles(const std::shared_ptr<GraphSession>& session, const std::vector<ir::Value*>& values) {
  Values all;
  for (ir::Value* v : values) all.push_back(v != nullptr ? std::optional<ValueHandle>({session, v}) : std::nullopt);
  return all;
}

std::vector<NodeHandle> nodes_of(const std::shared_ptr<GraphSession>& session, const ir::Block& block) {
  std::vector<NodeHandle> all;
  for (const auto& n : block.nodes) all.push_back({session, n.get()});
  return all;
}

// "[1, 1]" or "0.5", as attr_to_text says it.
nb::object attribute_value(const AttrDoc& field, const uint8_t* attrs) {
  const std::string text = attr_to_text(field, attrs);
  const auto number = [&](const std::string& s) -> nb::object {
    return field.kind == AttrDoc::Kind::kF32 ? nb::object(nb::float_(std::stod(s))) : nb::object(nb::int_(std::stoll(s)));
  };
  if (!field.array) return number(text);
  nb::list list;
  for (size_t at = 1; at + 1 < text.size();) {
    const size_t end = std::min(text.find(", ", at), text.size() - 1);
    list.append(number(text.substr(at, end - at)));
    at = end + 2;
  }
  return list;
}

nb::object attributes(const NodeHandle& n) {
  const ir::Node& node = n.get();
  if (node.op == ir::kCustom) return nb::bytes(node.attrs.data(), node.attrs.size());
  nb::dict d;
  const OpDoc* doc = find_op_doc(node.op);
  if (doc == nullptr) return d;
  std::vector<uint8_t> bytes = node.attrs;
  bytes.resize(std::max<size_t>(doc->attrs_size, bytes.size()));
  for (const AttrDoc& f : doc->attrs) d[f.name.c_str()] = attribute_value(f, bytes.data());
  return d;
}

// `bytes` with some attributes changed.
std::vector<uint8_t> attribute_bytes(const OpDoc& doc, std::vector<uint8_t> bytes, nb::dict changes) {
  bytes.resize(std::max<size_t>(doc.attrs_size, bytes.size()));
  for (auto [key, value] : changes) {
    const std::string name = nb::cast<std::string>(key);
    const AttrDoc* field = nullptr;
    for (const AttrDoc& f : doc.attrs)
      if (f.name == name) field = &f;
    if (field == nullptr) raise(MOTE_INVALID_ARGUMENT, "operator " + doc.name + " has no attribute '" + name + "'");
    nb::object full = nb::borrow(value);
    if (field->array) {
      // Elements that are left out keep their default values.
      nb::list all = nb::cast<nb::list>(attribute_value(*field, bytes.data()));
      size_t i = 0;
      for (nb::handle v : value) {
        if (i == all.size()) raise(MOTE_INVALID_ARGUMENT, "attribute " + name + " of " + doc.name + " has too many elements");
        all[i++] = v;
      }
      full = all;
    }
    if (!attr_from_text(*field, nb::cast<std::string>(nb::str(full)), bytes.data()))
      raise(MOTE_INVALID_ARGUMENT, "attribute " + name + " of " + doc.name + " cannot be " + nb::cast<std::string>(nb::str(full)));
  }
  return bytes;
}

nb::object array_of(const ValueHandle& v) {
  const ir::Value& value = v.get();
  const ir::Bytes* data = ir::known_data(value);
  if (data == nullptr || value.layout != Layout::kPlain) return nb::none();
  const nb::module_ np = nb::module_::import_("numpy");
  nb::object dims = nb::cast(value.type.dims);
  if (dtype_bits(value.type.dtype) < 8) dims = nb::int_(data->size);
  return np.attr("frombuffer")(nb::bytes(data->data, data->size), numpy().dtype(static_cast<mote_dtype>(value.type.dtype)))
      .attr("reshape")(dims);
}

ValueHandle add_constant(const GraphHandle& g, nb::object array, const std::string& name) {
  ArrayView view;
  view.take_any(array.ptr(), name.empty() ? "constant" : name);
  const ir::Dims dims(view.dims, view.dims + view.rank);
  ir::Value* v = g.get().add_constant(static_cast<DType>(view.dtype()), dims, ir::Bytes::copy_of(view.data, view.bytes), name);
  g.session->add(v);
  return {g.session, v};
}

std::vector<ir::Value*> operands(const Values& inputs) {
  std::vector<ir::Value*> all;
  for (const auto& v : inputs) all.push_back(v ? &v->get() : nullptr);
  return all;
}

NodeHandle finish(const GraphHandle& g, ir::Node* node) {
  std::string error;
  if (ir::infer(*node, &error)) {
    g.session->add(node);
    return {g.session, node};
  }
  g.get().erase(node);
  raise(MOTE_SHAPE, error);
}

NodeHandle add_before(const GraphHandle& g, const NodeHandle& before, const std::string& op, const Values& inputs, nb::dict attributes,
                      size_t outputs, const std::string& name) {
  ir::Node& at = before.get();
  const OpDoc* doc = find_op_doc(op);
  if (doc == nullptr) raise(MOTE_NOT_FOUND, "no such operator: '" + op + "'; 'mote ops' lists them");
  const std::vector<uint8_t> attrs = attribute_bytes(*doc, doc->default_attrs, attributes);
  return finish(
      g, g.get().add_node(*at.block, doc->id, attrs.data(), attrs.size(), operands(inputs), outputs, name.empty() ? at.name : name, &at));
}

// An operator of the user's own has the output types that it is given.
NodeHandle add_custom_before(const GraphHandle& g, const NodeHandle& before, const std::string& symbol, const Values& inputs,
                             const Values& like, nb::bytes attrs, const std::string& name) {
  ir::Node& at = before.get();
  ir::Node* node = g.get().add_node(*at.block, ir::kCustom, attrs.data(), attrs.size(), operands(inputs), like.size(),
                                    name.empty() ? at.name : name, &at);
  node->symbol = symbol;
  for (size_t i = 0; i < like.size(); ++i) {
    if (!like[i]) continue;
    node->outputs[i]->type = like[i]->get().type;
    node->outputs[i]->facts = like[i]->get().facts;
    for (ir::Facts& f : node->outputs[i]->facts) f.data = {};
  }
  return finish(g, node);
}

// A new value takes the place of another one, and has to be of its type.
void replace(const GraphHandle& g, const ValueHandle& from, const ValueHandle& to) {
  if (from.get().type != to.get().type)
    raise(MOTE_SHAPE, "a value cannot be replaced by one of another type: expected " + ir::print(from.get().type) + ", found " +
                          ir::print(to.get().type));
  g.get().replace_uses(&from.get(), &to.get());
}

void erase(const GraphHandle& g, const NodeHandle& n) {
  for (const ir::Value* v : n.get().outputs)
    if (v != nullptr && !v->unused())
      raise(MOTE_BUSY, "node '" + n.get().name + "' cannot be erased: its output '" + v->name + "' is used");
  g.get().erase(&n.get());
  g.session->look();
}

void set_attributes(const NodeHandle& n, nb::dict changes) {
  ir::Node& node = n.get();
  const OpDoc* doc = find_op_doc(node.op);
  if (doc == nullptr) raise(MOTE_UNSUPPORTED, "node '" + node.name + "' has no attributes that can be set");
  const std::vector<uint8_t> before = node.attrs;
  node.attrs = attribute_bytes(*doc, before, changes);
  std::string error;
  if (ir::infer(node, &error)) return;
  node.attrs = before;
  raise(MOTE_SHAPE, error);
}

std::string node_op(const NodeHandle& n) { return n.get().op == ir::kCustom ? n.get().symbol : ir::op_name(n.get().op); }

std::vector<NodeHandle> all_nodes(const GraphHandle& g) {
  std::vector<NodeHandle> all;
  for (const ir::Method& m : g.get().methods)
    for (const NodeHandle& n : nodes_of(g.session, *m.block)) all.push_back(n);
  return all;
}

}  // namespace

void run_pass(nb::handle pass, ir::Graph& graph) {
  const auto session = std::make_shared<GraphSession>(graph);
  try {
    pass(GraphHandle{session});
  } catch (...) {
    session->end();
    throw;
  }
  session->end();
}

void bind_graph(nb::module_& m) {
  nb::class_<ValueHandle>(m, "Value")
      .def_prop_ro("name", [](const ValueHandle& v) { return v.get().name; })
      .def_prop_ro("dtype", [](const ValueHandle& v) { return mote_dtype_name(static_cast<mote_dtype>(v.get().type.dtype)); })
      .def_prop_ro("dims", [](const ValueHandle& v) { return v.get().type.dims; })
      .def_prop_ro("dynamic_axes",
                   [](const ValueHandle& v) {
                     std::vector<int> axes;
                     for (int i = 0; i < v.get().type.rank(); ++i)
                       if ((v.get().type.dynamic >> i & 1) != 0) axes.push_back(i);
                     return axes;
                   })
      .def_prop_ro("is_constant", [](const ValueHandle& v) { return v.get().is_constant(); })
      .def_prop_ro("is_state", [](const ValueHandle& v) { return v.get().kind == ir::ValueKind::kState; })
      .def_prop_ro("is_output", [](const ValueHandle& v) { return v.get().result_uses > 0; })
      .def_prop_ro("producer",
                   [](const ValueHandle& v) {
                     ir::Node* n = v.get().producer;
                     return n != nullptr ? std::optional<NodeHandle>({v.session, n}) : std::nullopt;
                   })
      .def_prop_ro("users",
                   [](const ValueHandle& v) {
                     std::vector<NodeHandle> all;
                     for (ir::Node* n : v.get().users) all.push_back({v.session, n});
                     return all;
                   })
      .def("array", &array_of)
      .def("__eq__", [](const ValueHandle& a, const ValueHandle& b) { return a.value == b.value; })
      .def("__hash__", [](const ValueHandle& v) { return reinterpret_cast<uintptr_t>(v.value); });
  nb::class_<NodeHandle>(m, "Node")
      .def_prop_ro("op", &node_op)
      .def_prop_ro("name", [](const NodeHandle& n) { return n.get().name; })
      .def_prop_ro("inputs", [](const NodeHandle& n) { return handles(n.session, n.get().inputs); })
      .def_prop_ro("outputs", [](const NodeHandle& n) { return handles(n.session, n.get().outputs); })
      .def_prop_ro("attributes", &attributes)
      .def_prop_ro("blocks",
                   [](const NodeHandle& n) {
                     std::vector<std::vector<NodeHandle>> all;
                     for (const auto& b : n.get().blocks) all.push_back(nodes_of(n.session, *b));
                     return all;
                   })
      .def("set_attributes", &set_attributes, nb::arg("attributes"))
      .def("__str__", [](const NodeHandle& n) { return ir::print(n.get()); })
      .def("__eq__", [](const NodeHandle& a, const NodeHandle& b) { return a.node == b.node; })
      .def("__hash__", [](const NodeHandle& n) { return reinterpret_cast<uintptr_t>(n.node); });
  nb::class_<GraphHandle>(m, "Graph")
      .def_prop_ro("nodes", &all_nodes)
      .def("constant", &add_constant, nb::arg("array"), nb::arg("name") = "")
      .def("add", &add_before, nb::arg("before"), nb::arg("op"), nb::arg("inputs"), nb::arg("attributes") = nb::dict(),
           nb::arg("outputs") = 1, nb::arg("name") = "")
      .def("add_custom", &add_custom_before, nb::arg("before"), nb::arg("symbol"), nb::arg("inputs"), nb::arg("like"),
           nb::arg("attributes") = nb::bytes("", 0), nb::arg("name") = "")
      .def("replace", &replace, nb::arg("value"), nb::arg("by"))
      .def("erase", &erase, nb::arg("node"))
      .def("__str__", [](const GraphHandle& g) {
        ir::TextOptions o;
        o.bytes = false;
        return ir::print(g.get(), o);
      });
}

}  // namespace mote::python
