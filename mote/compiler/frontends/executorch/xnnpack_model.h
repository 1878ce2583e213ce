#pragma once

// The payload of the XNNPACK delegate, read in place: every index, size and range is checked before anything uses it.

#include <memory>
#include <unordered_map>

#include "mote/compiler/frontends/executorch/xnnpack.h"
#include "xnnpack_generated.h"

namespace mote::frontends::executorch {

constexpr uint32_t kNoValue = UINT32_MAX;  // "no such operand", and "not external"
constexpr uint32_t kExternalInput = 1, kExternalOutput = 2;

struct XnnQuant {
  enum class Kind : uint8_t { kNone, kTensor, kChannel, kGroup, kToken };
  Kind kind = Kind::kNone;
  float scale = 1;                                   // kTensor
  int32_t zero = 0;                                  // kTensor
  std::shared_ptr<const std::vector<float>> scales;  // kChannel: along `axis`; kGroup: (rows, groups)
  int axis = 0;                                      // kChannel
  int32_t group_size = 0;                            // kGroup: neighbours in a row that share a scale
  int nonbatch_dims = 1;                             // kToken: the last dimensions, which share a scale
};

struct XnnTensor {
  uint32_t id = 0;
  xfb::Datatype source_type = xfb::Datatype::invalid;
  DType dtype = DType::kNone;
  ir::Dims dims;
  XnnQuant quant;
  ir::Bytes data;  // of constants
  uint32_t external_id = kNoValue;
  uint32_t flags = 0;
  bool quantize_on_entry = false;  // an input in float that operators read as dynamically quantized (older programs)

  bool is_constant() const { return data.present(); }
  // Integers with one scale and zero point.
  bool per_tensor() const { return quant.kind == XnnQuant::Kind::kTensor && dtype != DType::s32; }
  bool dynamic() const { return quant.kind == XnnQuant::Kind::kToken; }
  bool is_float() const { return dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16; }
};

struct XnnModel {
  ir::Bytes bytes;  // the FlatBuffer
  const xfb::Graph* graph = nullptr;
  std::vector<XnnTensor> tensors;
  std::unordered_map<uint32_t, uint32_t> by_id;  // index in tensors
  size_t inputs = 0;                             // arguments that are read; those behind them are written
  std::vector<int64_t> arguments;                // by argument: the index of its tensor, -1 where nothing reads it
  uint64_t constant_bytes = 0;                   // all constants together, each buffer once
};

// False with what is wrong. Nodes are not judged here.
bool read_xnn_model(const ir::Bytes& payload, const NamedData& data, XnnModel* out, ir::Problems& problems, const std::string& place);

std::string xnn_node_name(const xfb::Node& node);
// "qcint8 (16, 3, 3, 8)", for messages.
std::string describe_xnn(const XnnTensor& t);

}  // namespace mote::frontends::executorch
