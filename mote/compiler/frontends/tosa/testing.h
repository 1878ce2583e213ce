#pragma once

// Writes small graphs for the tests of this folder.

#include <gtest/gtest.h>

#include <memory>

#include "mote/compiler/frontends/tosa/model.h"

namespace mote::frontends::tosa {

extern const Frontend kFrontend;

class GraphWriter {
 public:
  flatbuffers::FlatBufferBuilder b;

  void tensor(const std::string& name, fb::DType type, const std::vector<int32_t>& shape, const std::vector<uint8_t>& data = {},
              const char* variable = nullptr) {
    tensors_.push_back(
        fb::CreateTosaTensorDirect(b, name.c_str(), &shape, type, data.empty() ? nullptr : &data, variable != nullptr, false, variable));
  }
  void shape(const std::string& name, const std::vector<int64_t>& sizes) {
    std::vector<uint8_t> data(sizes.size() * 8);
    for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<uint8_t>(static_cast<uint64_t>(sizes[i / 8]) >> (i % 8 * 8));
    shapes_.push_back(fb::CreateTosaShapeDirect(b, name.c_str(), static_cast<uint32_t>(sizes.size()), &data));
  }
  void op(fb::Op code, const std::vector<std::string>& in, const std::vector<std::string>& out, fb::Attribute kind = fb::Attribute::NONE,
          flatbuffers::Offset<void> attribute = 0) {
    ops_.push_back(fb::CreateTosaOperator(b, code, kind, attribute, names(in), names(out)));
  }
  void region(const std::string& name, const std::vector<std::string>& in, const std::vector<std::string>& out) {
    const auto block = fb::CreateTosaBasicBlock(b, b.CreateString(name), b.CreateVector(ops_), b.CreateVector(tensors_), names(in),
                                                names(out), b.CreateVector(shapes_));
    const std::vector<flatbuffers::Offset<fb::TosaBasicBlock>> blocks{block};
    regions_.push_back(fb::CreateTosaRegionDirect(b, name.c_str(), &blocks));
    ops_.clear();
    tensors_.clear();
    shapes_.clear();
  }
  std::vector<uint8_t> finish(int32_t major = 1) {
    const auto version = fb::CreateVersion(b, major, 0, 0, false);
    b.Finish(fb::CreateTosaGraphDirect(b, version, &regions_), fb::TosaGraphIdentifier());
    return {b.GetBufferPointer(), b.GetBufferPointer() + b.GetSize()};
  }

 private:
  flatbuffers::Offset<Vector<flatbuffers::Offset<flatbuffers::String>>> names(const std::vector<std::string>& list) {
    return b.CreateVectorOfStrings(list);
  }
  std::vector<flatbuffers::Offset<fb::TosaTensor>> tensors_;
  std::vector<flatbuffers::Offset<fb::TosaShape>> shapes_;
  std::vector<flatbuffers::Offset<fb::TosaOperator>> ops_;
  std::vector<flatbuffers::Offset<fb::TosaRegion>> regions_;
};

struct Imported {
  ir::Graph graph;
  ir::Problems problems;
  bool ok = false;

  std::string text() const {
    std::string all;
    for (const ir::Problem& p : problems) all += p.where + ": " + p.what + " [" + p.advice + "]\n";
    return all;
  }
};

inline std::unique_ptr<Imported> import_bytes(std::vector<uint8_t> bytes, const ImportOptions& options = {}) {
  auto r = std::make_unique<Imported>();
  const Source source{"test.tosa", ir::Bytes::own(std::move(bytes))};
  r->ok = kFrontend.import(source, options, r->graph, &r->problems);
  return r;
}

// y = clamp(x) of INT8, in one region.
inline std::vector<uint8_t> clamp_graph() {
  GraphWriter w;
  w.tensor("x", fb::DType::INT8, {2, 3});
  w.tensor("y", fb::DType::INT8, {2, 3});
  const std::vector<uint8_t> lo{0xf6}, hi{10};
  w.op(fb::Op::CLAMP, {"x"}, {"y"}, fb::Attribute::ClampAttribute, fb::CreateClampAttributeDirect(w.b, &lo, &hi).Union());
  w.region("main", {"x"}, {"y"});
  return w.finish();
}

}  // namespace mote::frontends::tosa
