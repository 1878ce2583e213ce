#include "tests/executorch/payload.h"

#include <cstring>

#include "mote/compiler/frontends/executorch/xnnpack_model.h"

namespace mote::frontends::executorch {

bool read_payload_file(const ir::Bytes& file, PayloadParts* out) {
  size_t at = 4;
  const auto number = [&](uint32_t* v) {
    if (file.size - at < 4) return false;
    std::memcpy(v, file.data + at, 4);
    at += 4;
    return true;
  };
  uint32_t count = 0;
  if (file.size < 8 || std::memcmp(file.data, "MXP1", 4) != 0 || !number(&count)) return false;
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t key_size = 0, size = 0;
    if (!number(&key_size) || file.size - at < key_size) return false;
    const std::string key(reinterpret_cast<const char*>(file.data) + at, key_size);
    at += key_size;
    if (!number(&size) || file.size - at < size) return false;
    (i == 0 ? out->payload : out->named[key]) = {file.owner, file.data + at, size};
    at += size;
  }
  return count > 0;
}

namespace {

// Inputs that nothing reads are numbers.
ir::Type type_of(const XnnModel& model, size_t input) {
  if (model.arguments[input] < 0) return {DType::f32, {1}, 0};
  const XnnTensor& t = model.tensors[static_cast<size_t>(model.arguments[input])];
  return {t.dtype, t.dims, 0};
}

NamedData named_data(const PayloadParts& parts) {
  return [&parts](std::string_view key) -> std::optional<ir::Bytes> {
    const auto it = parts.named.find(key);
    return it == parts.named.end() ? std::nullopt : std::optional<ir::Bytes>(it->second);
  };
}

}  // namespace

ir::Type input_type_of_payload(const PayloadParts& parts, size_t i) {
  XnnModel model;
  ir::Problems problems;
  return read_xnn_model(parts.payload, named_data(parts), &model, problems, "payload") && i < model.inputs ? type_of(model, i) : ir::Type{};
}

Source source_of_payload(const PayloadParts& parts) {
  Source source;
  source.path = "payload";
  source.format = "xnnpack";
  source.import = [parts](const ImportOptions&, ir::Graph& graph, ir::Problems* problems) {
    const NamedData data = named_data(parts);
    XnnModel model;
    if (!read_xnn_model(parts.payload, data, &model, *problems, "payload")) return false;
    ir::Method& method = graph.add_method("forward");
    std::vector<ir::Value*> inputs, outputs;
    for (size_t i = 0; i < model.inputs; ++i) {
      const ir::Type type = type_of(model, i);
      inputs.push_back(graph.add_input(method, "in_" + std::to_string(i), type.dtype, type.dims));
    }
    if (!import_xnnpack(parts.payload, data, graph, *method.block, inputs, {}, &outputs, *problems, "payload")) return false;
    for (size_t i = 0; i < outputs.size(); ++i) graph.add_output(method, "out_" + std::to_string(i), outputs[i]);
    return true;
  };
  return source;
}

}  // namespace mote::frontends::executorch
