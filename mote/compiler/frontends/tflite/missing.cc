// Operators that are refused, as custom operators for the user to fill in (--partial).

#include "mote/compiler/frontends/common/missing.h"

#include "mote/compiler/frontends/tflite/import.h"

namespace mote::frontends::tflite {
namespace {

std::string hex_text(const ir::Bytes& bytes) {
  static const char kDigits[] = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < bytes.size; ++i) text += {kDigits[bytes.data[i] >> 4], kDigits[bytes.data[i] & 15]};
  return text;
}

// What the integers of a quantized tensor stand for, which an operator's own code must know.
void add_scales(const std::string& which, const Tensor& t, MissingNode* m) {
  if (!t.is_quantized()) return;
  m->attributes.emplace_back(which + "_scale", attribute_text(t.scale()));
  m->attributes.emplace_back(which + "_zero_point", attribute_text(static_cast<int64_t>(t.zero())));
}

}  // namespace

bool Importer::leave_to_user(const Op& op, Scope& scope, size_t nodes, std::string* why) {
  MissingNode m;
  m.op = operator_name(op.source), m.name = op.b.name(), m.why = op.b.error();
  m.symbol = "tflite::" + (op.code() == BuiltinOperator::CUSTOM ? std::string(op.source.custom_code) : m.op);
  drop_nodes(graph_, *scope.block, nodes);
  for (uint32_t i = 0; i < op.inputs(); ++i) {
    const int tensor = op.source.table->inputs()->Get(i);
    m.inputs.push_back(nullptr);
    m.input_names.emplace_back();
    if (tensor < 0) continue;
    std::string error;
    m.inputs.back() = value_of(scope, tensor, false, &error);
    m.input_names.back() = tensor_name(*scope.graph, tensor);
    if (m.inputs.back() == nullptr) return *why = error, false;
    add_scales("input" + std::to_string(i), op.in(i), &m);
  }
  for (uint32_t i = 0; i < op.outputs(); ++i) {
    const int tensor = op.source.table->outputs()->Get(i);
    if (tensor < 0) return *why = "output " + std::to_string(i) + " is left out", false;
    const Tensor& t = scope.graph->tensors[static_cast<size_t>(tensor)];
    m.output_names.push_back(tensor_name(*scope.graph, tensor));
    m.outputs.push_back(t.has_rank ? std::optional<ir::Type>(ir::Type{t.dtype, t.dims, 0}) : std::nullopt);
    add_scales("output" + std::to_string(i), t, &m);
  }
  if (op.source.custom_options.size > 0)
    m.attributes.emplace_back("custom_options_hex", attribute_text(hex_text(op.source.custom_options)));
  const ir::Node* node = add_missing(graph_, *scope.block, m, why);
  for (uint32_t i = 0; node != nullptr && i < op.outputs(); ++i)
    scope.values[static_cast<size_t>(op.source.table->outputs()->Get(i))] = node->outputs[i];
  return node != nullptr;
}

}  // namespace mote::frontends::tflite
