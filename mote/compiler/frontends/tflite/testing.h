#pragma once

// Writes small models for the tests of this folder.

#include <gtest/gtest.h>

#include "mote/compiler/frontends/tflite/model.h"

namespace mote::frontends::tflite {

extern const Frontend kFrontend;

class ModelWriter {
 public:
  flatbuffers::FlatBufferBuilder b;

  int buffer(const std::vector<uint8_t>& bytes) {
    buffers_.push_back(fb::CreateBufferDirect(b, &bytes));
    return static_cast<int>(buffers_.size());
  }
  // A buffer whose bytes lie behind the FlatBuffer.
  int far_buffer(uint64_t offset, uint64_t size) {
    buffers_.push_back(fb::CreateBuffer(b, 0, offset, size));
    return static_cast<int>(buffers_.size());
  }
  // The index of the tensor in the present subgraph.
  int tensor(const std::string& name, fb::TensorType type, const std::vector<int32_t>& shape, int buffer = 0,
             const std::vector<int32_t>& signature = {}, flatbuffers::Offset<fb::QuantizationParameters> quant = 0,
             flatbuffers::Offset<fb::SparsityParameters> sparsity = 0) {
    tensors_.push_back(fb::CreateTensorDirect(b, &shape, type, static_cast<uint32_t>(buffer), name.c_str(), quant, false, sparsity,
                                              signature.empty() ? nullptr : &signature));
    return static_cast<int>(tensors_.size()) - 1;
  }
  flatbuffers::Offset<fb::QuantizationParameters> quant(float scale, int64_t zero) {
    const std::vector<float> s{scale};
    const std::vector<int64_t> z{zero};
    return fb::CreateQuantizationParametersDirect(b, nullptr, nullptr, &s, &z);
  }
  void op(fb::BuiltinOperator code, const std::vector<int32_t>& in, const std::vector<int32_t>& out,
          fb::BuiltinOptions kind = fb::BuiltinOptions::NONE, flatbuffers::Offset<void> options = 0, const char* custom = nullptr) {
    codes_.push_back(
        fb::CreateOperatorCodeDirect(b, static_cast<int8_t>(std::min(static_cast<int>(code), 127)), custom, 1, static_cast<int32_t>(code)));
    ops_.push_back(fb::CreateOperatorDirect(b, static_cast<uint32_t>(codes_.size() - 1), &in, &out, kind, options));
  }
  void subgraph(const std::vector<int32_t>& in, const std::vector<int32_t>& out) {
    graphs_.push_back(fb::CreateSubGraphDirect(b, &tensors_, &in, &out, &ops_));
    tensors_.clear();
    ops_.clear();
  }
  void signature(const std::string& key, const std::vector<std::pair<std::string, int>>& in,
                 const std::vector<std::pair<std::string, int>>& out, int graph) {
    const auto maps = [&](const auto& list) {
      std::vector<flatbuffers::Offset<fb::TensorMap>> made;
      for (const auto& e : list) made.push_back(fb::CreateTensorMapDirect(b, e.first.c_str(), static_cast<uint32_t>(e.second)));
      return made;
    };
    const auto ins = maps(in), outs = maps(out);
    signatures_.push_back(fb::CreateSignatureDefDirect(b, &ins, &outs, key.c_str(), static_cast<uint32_t>(graph)));
  }
  std::vector<uint8_t> finish() {
    std::vector<flatbuffers::Offset<fb::Buffer>> all{fb::CreateBuffer(b)};
    all.insert(all.end(), buffers_.begin(), buffers_.end());
    fb::FinishModelBuffer(
        b, fb::CreateModelDirect(b, 3, &codes_, &graphs_, nullptr, &all, nullptr, nullptr, signatures_.empty() ? nullptr : &signatures_));
    return {b.GetBufferPointer(), b.GetBufferPointer() + b.GetSize()};
  }

 private:
  std::vector<flatbuffers::Offset<fb::Buffer>> buffers_;
  std::vector<flatbuffers::Offset<fb::Tensor>> tensors_;
  std::vector<flatbuffers::Offset<fb::Operator>> ops_;
  std::vector<flatbuffers::Offset<fb::OperatorCode>> codes_;
  std::vector<flatbuffers::Offset<fb::SubGraph>> graphs_;
  std::vector<flatbuffers::Offset<fb::SignatureDef>> signatures_;
};

struct Imported {
  ir::Graph graph;
  ir::Problems problems;
  bool ok = false;

  std::string text() const {
    std::string all;
    for (const ir::Problem& p : problems) all += p.where + ": " + p.what + "; " + p.advice + "\n";
    return all;
  }
};

inline std::unique_ptr<Imported> import_bytes(std::vector<uint8_t> bytes, const ImportOptions& options = {}) {
  auto r = std::make_unique<Imported>();
  Source s;
  s.path = "test.tflite";
  s.bytes = ir::Bytes::own(std::move(bytes));
  r->ok = kFrontend.import(s, options, r->graph, &r->problems);
  return r;
}

// A model that adds two tensors of shape (2, 3).
inline std::vector<uint8_t> add_model() {
  ModelWriter w;
  w.tensor("a", fb::TensorType::FLOAT32, {2, 3});
  w.tensor("b", fb::TensorType::FLOAT32, {2, 3}, w.buffer(std::vector<uint8_t>(24, 0)));
  w.tensor("y", fb::TensorType::FLOAT32, {2, 3});
  w.op(fb::BuiltinOperator::ADD, {0, 1}, {2});
  w.subgraph({0}, {2});
  return w.finish();
}

}  // namespace mote::frontends::tflite
