#pragma once

// Writes small payloads of the XNNPACK delegate for the tests of this folder.

#include <gtest/gtest.h>

#include <cstring>

#include "mote/compiler/frontends/executorch/xnnpack_model.h"

namespace mote::frontends::executorch {

class PayloadWriter {
 public:
  flatbuffers::FlatBufferBuilder b;

  template <class T>
  uint32_t constant(const std::vector<T>& values) {
    const size_t at = constants_.size();
    constants_.resize((at + values.size() * sizeof(T) + 15) / 16 * 16);
    std::memcpy(constants_.data() + at, values.data(), values.size() * sizeof(T));
    offsets_.push_back(xfb::CreateConstantDataOffsetDirect(b, at, values.size() * sizeof(T), ""));
    return static_cast<uint32_t>(offsets_.size());
  }
  uint32_t named(const char* key) {
    offsets_.push_back(xfb::CreateConstantDataOffsetDirect(b, UINT64_MAX, 0, key));
    return static_cast<uint32_t>(offsets_.size());
  }
  // Ids count from 0. `way`: kExternalInput, kExternalOutput or 0.
  uint32_t value(xfb::Datatype type, const std::vector<uint32_t>& dims, uint32_t way = 0, uint32_t buffer = 0,
                 xfb::QuantParams kind = xfb::QuantParams::NONE, flatbuffers::Offset<void> quant = 0) {
    const uint32_t id = static_cast<uint32_t>(values_.size()), external = way == 0 ? kNoValue : externs_++;
    const auto t = xfb::CreateTensorValueDirect(b, type, static_cast<uint32_t>(dims.size()), &dims, buffer, external, way, id);
    if (kind == xfb::QuantParams::NONE) {
      values_.push_back(xfb::CreateValue(b, xfb::ValueUnion::TensorValue, t.Union()));
    } else {
      const auto q = xfb::CreateQuantizedTensorValue(b, t, kind, quant);
      values_.push_back(xfb::CreateValue(b, xfb::ValueUnion::QuantizedTensorValue, q.Union()));
    }
    return id;
  }
  uint32_t s8(const std::vector<uint32_t>& dims, float scale, int32_t zero, uint32_t way = 0) {
    return value(xfb::Datatype::qint8, dims, way, 0, xfb::QuantParams::PerTensorQuant, xfb::CreatePerTensorQuant(b, scale, zero).Union());
  }
  template <class T>
  void node(xfb::NodeUnion type, flatbuffers::Offset<T> fields, flatbuffers::Offset<xfb::OutputMinMax> range = 0) {
    nodes_.push_back(xfb::CreateNode(b, type, fields.Union(), 0, range));
  }
  std::vector<uint8_t> finish() {
    offsets_.insert(offsets_.begin(), xfb::CreateConstantDataOffset(b));
    b.Finish(xfb::CreateGraphDirect(b, "0", &nodes_, &values_, externs_, nullptr, nullptr, nullptr, nullptr, &offsets_), "XN01");
    const uint32_t flat = 32, size = b.GetSize(), constants = (flat + size + 15) / 16 * 16;
    std::vector<uint8_t> out(constants + constants_.size());
    const uint16_t header = 30;
    const uint64_t constants_size = constants_.size();
    std::memcpy(out.data() + 4, "XH00", 4);
    std::memcpy(out.data() + 8, &header, 2);
    std::memcpy(out.data() + 10, &flat, 4);
    std::memcpy(out.data() + 14, &size, 4);
    std::memcpy(out.data() + 18, &constants, 4);
    std::memcpy(out.data() + 22, &constants_size, 8);
    std::memcpy(out.data() + flat, b.GetBufferPointer(), size);
    if (!constants_.empty()) std::memcpy(out.data() + constants, constants_.data(), constants_.size());
    return out;
  }

 private:
  std::vector<flatbuffers::Offset<xfb::Value>> values_;
  std::vector<flatbuffers::Offset<xfb::Node>> nodes_;
  std::vector<flatbuffers::Offset<xfb::ConstantDataOffset>> offsets_;
  std::vector<uint8_t> constants_;
  uint32_t externs_ = 0;
};

// Imports a payload as a method of its own, with inputs of the sizes that it names.
inline bool import_alone(const std::vector<uint8_t>& bytes, ir::Graph& graph, ir::Problems* problems) {
  const ir::Bytes payload = ir::Bytes::copy_of(bytes.data(), bytes.size());
  XnnModel model;
  if (!read_xnn_model(payload, {}, &model, *problems, "payload")) return false;
  ir::Method& method = graph.add_method("forward");
  std::vector<ir::Value*> inputs, outputs;
  for (size_t i = 0; i < model.inputs; ++i) {
    const XnnTensor& t = model.tensors[static_cast<size_t>(model.arguments[i])];
    inputs.push_back(graph.add_input(method, "x" + std::to_string(i), t.dtype, t.dims));
  }
  if (!import_xnnpack(payload, {}, graph, *method.block, inputs, {}, &outputs, *problems, "payload")) return false;
  for (size_t i = 0; i < outputs.size(); ++i) graph.add_output(method, "y" + std::to_string(i), outputs[i]);
  return true;
}

inline std::string problems_text(const ir::Problems& problems) {
  std::string s;
  for (const ir::Problem& p : problems) s += p.where + ": " + p.what + "\n";
  return s;
}

}  // namespace mote::frontends::executorch
