// Shapes that a model declares, carried back to values of which it says nothing. Exporters that write out functions leave their inner
// values undeclared, and sizes that depend on data need a bound.

#include "mote/compiler/frontends/onnx/import.h"

namespace mote::frontends::onnx {
namespace {

// Operators whose inputs (broadcast) have at most the sizes of their output.
bool keeps_sizes(const ::onnx::NodeProto& n) {
  static const NameSet kOperators = {
      "Abs",   "Acos",     "Acosh", "Add",      "And",        "Asin",        "Asinh",  "Atan",        "Atanh",         "BitCast",
      "Cast",  "CastLike", "Ceil",  "Clip",     "Cos",        "Cosh",        "Div",    "Dropout",     "Elu",           "Equal",
      "Erf",   "Exp",      "Floor", "Greater",  "Identity",   "IsInf",       "IsNaN",  "LeakyRelu",   "Less",          "Log",
      "Max",   "Min",      "Mod",   "Mul",      "Neg",        "Not",         "Or",     "Pow",         "Relu",          "Reciprocal",
      "Round", "Sigmoid",  "Sign",  "Sin",      "Sinh",       "Softmax",     "Sqrt",   "Sub",         "Sum",           "Tan",
      "Tanh",  "Where",    "Xor",   "Softplus", "LogSoftmax", "HardSigmoid", "CumSum", "LessOrEqual", "GreaterOrEqual"};
  return (n.domain().empty() || n.domain() == "ai.onnx") && kOperators.count(n.op_type()) != 0;
}

bool gives(const google::protobuf::RepeatedPtrField<::onnx::NodeProto>& nodes, const std::string& value, bool in_function) {
  for (const auto& n : nodes) {
    for (const auto& o : n.output()) {
      if (o.empty()) continue;
      if (o == value) return true;
      const std::string behind = "/" + o;
      if (in_function && value.size() > behind.size() && value.compare(value.size() - behind.size(), behind.size(), behind) == 0)
        return true;
    }
    for (const auto& a : n.attribute())
      if (a.has_g() && gives(a.g().node(), value, in_function)) return true;
  }
  return false;
}

}  // namespace

bool bounds_value(const ::onnx::ModelProto& model, const std::string& dim) {
  const size_t dot = dim.rfind('.');
  if (dot == std::string::npos || dot + 2 != dim.size() || dim[dot + 1] < '0' || dim[dot + 1] > '7') return false;
  const std::string value = dim.substr(0, dot);
  if (gives(model.graph().node(), value, false)) return true;
  for (const auto& f : model.functions())
    if (gives(f.node(), value, true)) return true;
  return false;
}

void carry_back_declared(const google::protobuf::RepeatedPtrField<::onnx::NodeProto>& nodes, Scope* scope) {
  for (int i = nodes.size() - 1; i >= 0; --i) {
    const ::onnx::NodeProto& n = nodes.Get(i);
    if (n.output_size() == 0 || !keeps_sizes(n)) continue;
    const ::onnx::TypeProto* type = nullptr;
    for (const auto* known : {&scope->declared, &scope->bounds})
      if (const auto it = known->find(n.output(0)); type == nullptr && it != known->end()) type = it->second;
    if (type == nullptr) continue;
    for (const auto& in : n.input())
      if (scope->declared.count(in) == 0) scope->bounds.emplace(in, type);
  }
}

}  // namespace mote::frontends::onnx
