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

}  // namespace

void carry_back_declared(const google::protobuf::RepeatedPtrField<::onnx::NodeProto>& nodes,
                         std::unordered_map<std::string, const ::onnx::TypeProto*>* declared) {
  for (int i = nodes.size() - 1; i >= 0; --i) {
    const ::onnx::NodeProto& n = nodes.Get(i);
    if (n.output_size() == 0 || !keeps_sizes(n)) continue;
    const auto known = declared->find(n.output(0));
    if (known == declared->end()) continue;
    const ::onnx::TypeProto* type = known->second;
    for (const auto& in : n.input()) declared->emplace(in, type);
  }
}

}  // namespace mote::frontends::onnx
