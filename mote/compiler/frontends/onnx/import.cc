#include "mote/compiler/frontends/onnx/import.h"

#include <algorithm>

#include "mote/compiler/frontends/common/bound_advice.h"
#include "mote/compiler/frontends/onnx/narrow_words.h"
#include "mote/compiler/frontends/onnx/value_bounds.h"

namespace mote::frontends::onnx {
namespace {

using google::protobuf::RepeatedPtrField;
using ::onnx::GraphProto;
using ::onnx::NodeProto;
using ::onnx::TypeProto;

constexpr size_t kMaxModelNodes = 100000;  // after functions are written out: a small file must not ask for endless work
constexpr int kLookedAtPerNode = 16;       // nodes of a body that may be looked at for what importing one costs
constexpr int kMaxDepth = 48;              // of functions and subgraphs inside each other

std::string canonical_domain(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

std::string node_name(const NodeProto& n, const Scope& scope) {
  if (!n.name().empty()) return scope.prefix + n.name();
  for (const auto& out : n.output())
    if (!out.empty()) return scope.prefix + out;
  return scope.prefix + "unnamed";
}

std::string operator_key(const NodeProto& n) {
  const std::string domain = canonical_domain(n.domain());
  return domain.empty() ? n.op_type() : domain + "." + n.op_type();
}

std::string function_key(const std::string& domain, const std::string& name, const std::string& overload) {
  return canonical_domain(domain) + '\0' + name + '\0' + overload;
}

Opsets read_opsets(const RepeatedPtrField<::onnx::OperatorSetIdProto>& imports) {
  Opsets out;
  for (const auto& i : imports) out[canonical_domain(i.domain())] = static_cast<int>(std::clamp<int64_t>(i.version(), 0, 1 << 20));
  return out;
}

// Before operator set 7 the second operand of Add and its like could be laid along the first one's axes from `axis` on, where since then
// it always ends with the last one.
bool broadcasts_along(const NodeProto& n, const std::vector<Entity>& operands) {
  if (operands.size() != 2 || operands[0].value == nullptr || operands[1].value == nullptr) return false;
  bool broadcast = false;
  int64_t axis = -1;
  for (const auto& a : n.attribute()) {
    if (a.name() == "broadcast") broadcast = a.i() != 0;
    if (a.name() == "axis") axis = a.i();
  }
  const int rank = operands[0].value->type.rank();
  return broadcast && axis != -1 && (axis < 0 ? axis + rank : axis) != rank - operands[1].value->type.rank();
}

// What to type where a size depends on data: ranges for the input that decides, or the size itself.
std::string advice_for_bounds(NodeContext& c, const std::string& value) {
  const std::string& error = c.b.error();
  if (error.find("nothing bounds it") == std::string::npos) return "";
  const std::string values = advice_for_values(c.inputs), sizes = bound_advice(error, value, c.inputs, c.b.graph());
  return values + (values.empty() || sizes.empty() ? "" : "; or ") + sizes;
}

}  // namespace

const Entity* Scope::find(const std::string& name) const {
  for (const Scope* s = this; s != nullptr; s = s->outer)
    if (const auto it = s->names.find(name); it != s->names.end()) return &it->second;
  return nullptr;
}

const ::onnx::AttributeProto* Scope::resolve(const ::onnx::AttributeProto& a) const {
  if (a.ref_attr_name().empty()) return &a;
  if (attributes == nullptr) return nullptr;
  const auto it = attributes->find(a.ref_attr_name());
  return it == attributes->end() ? nullptr : it->second;
}

Importer::Importer(std::shared_ptr<const ::onnx::ModelProto> model, const std::string& path, const ImportOptions& options, ir::Graph& graph,
                   ir::Problems* problems)
    : model_(std::move(model)), options_(options), graph_(graph), problems_(problems), tensors_(graph, model_, path) {
  texts_ = std::make_unique<Texts>(*model_);
  opsets_ = read_opsets(model_->opset_import());
  for (const auto& f : model_->functions()) functions_[function_key(f.domain(), f.name(), f.overload())] = &f;
}

void Importer::problem(const std::string& where, const std::string& what, const std::string& advice, bool hard) {
  problems_->push_back({where, what, advice});
  if (hard) ++hard_problems_;
}

ir::Problem Importer::take_back(size_t count) {
  ir::Problem first = (*problems_)[count];
  problems_->resize(count);
  return first;
}

void Importer::run() {
  if (!check_header()) return;
  read_metadata();
  const GraphProto& g = model_->graph();
  graph_.methods.clear();
  ir::Method& method = graph_.add_method("main");
  Scope scope;
  scope.opsets = &opsets_;
  scope.block = method.block.get();
  auto used = std::make_shared<NameSet>();
  for (const auto& o : g.output()) used->insert(o.name());
  const std::vector<bool> live = find_live(g.node(), used.get());
  scope.used = used;
  add_inputs(g, scope);
  if (!problems_->empty()) return;  // without sizes nothing else can be judged
  add_initializers(g, scope);
  for (const auto& v : g.value_info()) scope.declared[v.name()] = &v.type();
  for (const auto& v : g.output()) scope.declared[v.name()] = &v.type();
  carry_back_declared(g.node(), &scope);
  import_nodes(g.node(), scope, live);
  add_outputs(g, scope);
}

Value* Importer::make_constant(const ::onnx::TensorProto& t, const std::string& name, std::string* error) {
  return t.data_type() == ::onnx::TensorProto::STRING ? texts_->constant(graph_, t, name, error) : tensors_.make_constant(t, name, error);
}

void Importer::add_initializers(const GraphProto& g, Scope& scope) {
  const auto add = [&](const std::string& name, Value* v, const std::string& error, int element) {
    scope.names[name] = v == nullptr ? Entity::poisoned() : Entity::tensor(v, element);
    if (v == nullptr) problem("tensor '" + name + "'", error);
  };
  for (const auto& t : g.initializer()) {
    if (scope.used->count(t.name()) == 0) continue;
    std::string error;
    Value* v = make_constant(t, t.name(), &error);
    const NarrowType* narrow = narrow_type(t.data_type());
    if (v != nullptr && narrow != nullptr && !has_packed_kernels(*narrow)) v = spread(v, *narrow, *scope.block, &error);
    add(t.name(), v, error, narrow_element(t.data_type()));
  }
  for (const auto& t : g.sparse_initializer()) {
    if (scope.used->count(t.values().name()) == 0) continue;
    std::string error;
    Value* v = tensors_.make_dense(t, t.values().name(), &error);
    add(t.values().name(), v, error, 0);
  }
}

std::optional<ir::Type> Importer::declared_type(const TypeProto& proto) const {
  if (!trust_declared_ || !proto.has_tensor_type() || !proto.tensor_type().has_shape()) return std::nullopt;
  ir::Type type;
  type.dtype = storage_of(proto.tensor_type().elem_type());
  const auto& dims = proto.tensor_type().shape().dim();
  if (type.dtype == DType::kNone || dims.size() > kMaxRank) return std::nullopt;
  for (const auto& d : dims) {
    int32_t size = kDimUnknown;
    if (d.has_dim_value() && d.dim_value() >= 0 && d.dim_value() <= INT32_MAX) size = static_cast<int32_t>(d.dim_value());
    if (const auto it = fixed_dims_.find(d.dim_param()); d.has_dim_param() && it != fixed_dims_.end()) {
      size = it->second;
      type.dynamic = static_cast<uint8_t>(type.dynamic | 1u << type.dims.size());
    }
    type.dims.push_back(size);
  }
  if (type.count() > kMaxTensorBytes || type.byte_size() > kMaxTensorBytes) return std::nullopt;  // bounds nothing
  return type;
}

std::optional<ir::Type> Importer::declared_type(const Scope& scope, const std::string& name) const {
  std::optional<ir::Type> type;
  if (const auto it = scope.declared.find(name); it != scope.declared.end()) {
    type = declared_type(*it->second);
  } else if (const auto bound = scope.bounds.find(name); bound != scope.bounds.end()) {
    type = declared_type(*bound->second);
    if (type) type->dynamic = static_cast<uint8_t>((1u << type->dims.size()) - 1);
  }
  // --dim VALUE.AXIS=MIN..MAX, for what the model does not tell.
  for (size_t axis = 0; !options_.dims.empty() && axis < static_cast<size_t>(kMaxRank); ++axis) {
    const auto it = options_.dims.find(scope.prefix + name + "." + std::to_string(axis));
    if (it == options_.dims.end()) continue;
    if (!type) type = ir::Type{};  // of no element type: bounds alone, whatever the rank
    if (type->dims.size() <= axis) type->dims.resize(axis + 1, kDimUnknown);
    type->dims[axis] = it->second.max;
    type->dynamic = static_cast<uint8_t>(type->dynamic | 1u << axis);
  }
  return type;
}

void Importer::poison_outputs(const NodeProto& n, Scope& scope) {
  for (const auto& o : n.output())
    if (!o.empty()) scope.names[o] = Entity::poisoned();
}

void Importer::import_nodes(const RepeatedPtrField<NodeProto>& nodes, Scope& scope, const std::vector<bool>& live) {
  for (int i = 0; i < nodes.size(); ++i)
    if (live[static_cast<size_t>(i)]) import_node(nodes.Get(i), scope);
}

const OpImporter* Importer::find_importer(const std::string& key, int opset) const {
  const auto it = op_table().find(key);
  if (it == op_table().end()) return nullptr;
  const OpImporter* best = nullptr;
  for (const OpImporter& line : it->second)
    if (line.since <= opset && (best == nullptr || line.since >= best->since)) best = &line;
  return best;
}

const ::onnx::FunctionProto* Importer::find_function(const NodeProto& n) const {
  const auto it = functions_.find(function_key(n.domain(), n.op_type(), n.overload()));
  return it == functions_.end() ? nullptr : it->second;
}

bool Importer::gather_operands(const NodeProto& n, Scope& scope, const std::string& where, std::vector<Entity>* out) {
  bool fine = true;
  for (const auto& name : n.input()) {
    const Entity* e = name.empty() ? nullptr : scope.find(name);
    if (e == nullptr && !name.empty()) {
      problem(where, "reads '" + name + "', which nothing before it computes",
              "the model is damaged or not sorted; check it with onnx.checker");
      fine = false;
    }
    if (e != nullptr && e->is(Entity::Kind::kPoisoned)) fine = false;
    out->push_back(e == nullptr ? Entity{} : *e);
  }
  return fine;
}

void Importer::import_node(const NodeProto& n, Scope& scope) {
  if (++node_count_ > kMaxModelNodes) {
    if (!too_large_) problem("model", "has more than " + std::to_string(kMaxModelNodes) + " nodes once its functions are written out");
    too_large_ = true;
    return poison_outputs(n, scope);
  }
  const std::string domain = canonical_domain(n.domain()), key = operator_key(n);
  const std::string where = node_name(n, scope) + " (" + key + ")";
  const ::onnx::FunctionProto* function = find_function(n);
  const auto opset = scope.opsets->find(domain);
  const int version = opset == scope.opsets->end() ? 1 : opset->second;
  const OpImporter* op = function != nullptr ? nullptr : find_importer(key, version);
  const Mark before = begin_node(function == nullptr ? node_name(n, scope) : "", key, scope);
  if (function == nullptr && op == nullptr) {
    problem(where, "operator " + key + " of opset " + std::to_string(version) + " is not supported" + similar_op(key),
            "export the model without it, or define it as a function in the model");
    return refuse(n, key, where, scope, before);
  }
  std::vector<Entity> operands;
  const bool fine =
      gather_operands(n, scope, where, &operands) &&
      (function != nullptr ? call_function(n, *function, scope, where, operands) : call_importer(n, *op, scope, where, operands));
  if (!fine) refuse(n, key, where, scope, before);
}

bool Importer::call_function(const NodeProto& n, const ::onnx::FunctionProto& f, Scope& scope, const std::string& where,
                             const std::vector<Entity>& operands) {
  if (scope.depth >= kMaxDepth) {
    problem(where, "functions call each other more than " + std::to_string(kMaxDepth) + " deep");
    return false;
  }
  node_count_ += static_cast<size_t>((f.node_size() + f.value_info_size()) / kLookedAtPerNode);
  const Opsets opsets = read_opsets(f.opset_import());
  Scope inner;
  inner.opsets = &opsets;
  inner.prefix = node_name(n, scope) + "/";
  inner.block = scope.block;
  inner.depth = scope.depth + 1;
  auto attributes = std::make_shared<std::map<std::string, const ::onnx::AttributeProto*>>();
  for (const auto& a : f.attribute_proto()) (*attributes)[a.name()] = &a;
  for (const auto& a : n.attribute())
    if (const auto* given = scope.resolve(a); given != nullptr) (*attributes)[a.name()] = given;
  inner.attributes = std::move(attributes);
  for (int i = 0; i < f.input_size(); ++i)
    inner.names[f.input(i)] = static_cast<size_t>(i) < operands.size() ? operands[static_cast<size_t>(i)] : Entity{};
  for (const auto& v : f.value_info()) inner.declared[v.name()] = &v.type();
  auto used = std::make_shared<NameSet>();
  for (int i = 0; i < f.output_size() && i < n.output_size(); ++i) {
    if (scope.used->count(n.output(i)) == 0) continue;
    used->insert(f.output(i));
    if (const auto it = scope.declared.find(n.output(i)); it != scope.declared.end()) inner.declared[f.output(i)] = it->second;
  }
  carry_back_declared(f.node(), &inner);
  const std::vector<bool> live = find_live(f.node(), used.get());
  inner.used = used;
  const size_t before = problems_->size();
  import_nodes(f.node(), inner, live);
  for (int i = 0; i < f.output_size() && i < n.output_size(); ++i) {
    const Entity* e = inner.find(f.output(i));
    if (n.output(i).empty() || scope.used->count(n.output(i)) == 0) continue;
    if (e == nullptr && problems_->size() == before) problem(where, "its function does not compute output '" + f.output(i) + "'");
    scope.names[n.output(i)] = e == nullptr ? Entity::poisoned() : *e;
  }
  return problems_->size() == before;
}

bool Importer::call_importer(const NodeProto& n, const OpImporter& op, Scope& scope, const std::string& where,
                             const std::vector<Entity>& operands) {
  const auto opset = scope.opsets->find(canonical_domain(n.domain()));
  NodeContext c(*this, scope, n, opset == scope.opsets->end() ? 1 : opset->second, {graph_, *scope.block, node_name(n, scope)});
  for (size_t i = 0; i < operands.size(); ++i) {
    const Entity& e = operands[i];
    c.inputs.push_back(e.value);
    if (op.sequences || e.is(Entity::Kind::kAbsent) || e.is(Entity::Kind::kTensor)) continue;
    if (n.op_type() == "Identity") {
      scope.names[n.output(0)] = e;
      return true;
    }
    c.fail("input " + std::to_string(i) + " is a sequence or an optional, expected a tensor");
  }
  c.operands = operands;
  for (int i = 0; i < op.inputs && !op.sequences; ++i)
    if (c.in(i) == nullptr)
      c.fail("expected at least " + std::to_string(op.inputs) + " inputs, input " + std::to_string(i) + " is missing");
  if (c.opset < kOldestOpset && canonical_domain(n.domain()).empty() && broadcasts_along(n, operands)) {
    c.fail("attributes broadcast and axis as operator set " + std::to_string(c.opset) + " has them",
           "convert the model to operator set 13 or newer with onnx.version_converter");
  }
  std::vector<std::optional<ir::Type>> declared;
  for (int i = 0; i < n.output_size(); ++i) declared.push_back(c.declared(i));
  c.b.declare(std::move(declared));
  const bool texts = refuse_texts(c, n);
  int carried = 0;
  if (c.b.ok()) prepare_narrow(c, operator_key(n), &carried);
  if (c.b.ok()) op.import(c);
  if (c.given_up) return false;
  if (texts) mark_texts(c);
  for (int i = 0; i < n.output_size() && c.b.ok(); ++i) {
    const size_t at = static_cast<size_t>(i);
    Value* v = at < c.outputs.size() ? c.outputs[at] : nullptr;
    const bool listed = at < c.results.size() && !c.results[at].is(Entity::Kind::kAbsent);
    if (v != nullptr && v->name.empty()) v->name = scope.prefix + n.output(i);
    if (v != nullptr || listed)
      scope.names[n.output(i)] = v != nullptr ? Entity::tensor(v, carried != 0 ? carried : c.elements[at]) : c.results[at];
    else if (c.wants(i)) c.fail("output " + std::to_string(i) + " ('" + n.output(i) + "') is not supported");
  }
  if (!c.b.ok() && c.advice.empty() && n.output_size() > 0) c.advice = advice_for_bounds(c, scope.prefix + n.output(0));
  if (!c.b.ok()) problem(where, c.b.error(), c.advice, c.refused);
  return c.b.ok();
}

bool Importer::import_body(Scope& around, const GraphProto& body, ir::Block& block, const std::vector<Entity>& arguments,
                           std::vector<Entity>* results) {
  if (around.depth >= kMaxDepth) {
    problem("graph '" + body.name() + "'", "graphs lie inside each other more than " + std::to_string(kMaxDepth) + " deep");
    return false;
  }
  node_count_ += static_cast<size_t>((body.node_size() + body.value_info_size() + body.initializer_size()) / kLookedAtPerNode);
  Scope scope;
  scope.outer = &around;
  scope.opsets = around.opsets;
  scope.prefix = around.prefix;
  scope.block = &block;
  scope.depth = around.depth + 1;
  scope.attributes = around.attributes;
  auto used = std::make_shared<NameSet>();
  for (const auto& o : body.output()) used->insert(o.name());
  const std::vector<bool> live = find_live(body.node(), used.get());
  scope.used = used;
  for (int i = 0; i < body.input_size() && static_cast<size_t>(i) < arguments.size(); ++i)
    scope.names[body.input(i).name()] = arguments[static_cast<size_t>(i)];
  for (const auto& v : body.value_info()) scope.declared[v.name()] = &v.type();
  for (const auto& v : body.output()) scope.declared[v.name()] = &v.type();
  carry_back_declared(body.node(), &scope);
  const size_t before = problems_->size();
  add_initializers(body, scope);
  import_nodes(body.node(), scope, live);
  for (const auto& o : body.output()) {
    const Entity* e = scope.find(o.name());
    if (e == nullptr) problem("output '" + o.name() + "' of graph '" + body.name() + "'", "no node computes it");
    results->push_back(e == nullptr ? Entity::poisoned() : *e);
    spread_result(&results->back(), block);
    if (results->back().is(Entity::Kind::kPoisoned)) return false;
  }
  return problems_->size() == before;
}

}  // namespace mote::frontends::onnx
