#pragma once

// A TensorFlow Lite file, read in place: every index, size and range is checked before anything uses it. Host code.
// Names, operand lists and constants point into the file's bytes, which the Model keeps alive.

#include <string>
#include <string_view>
#include <vector>

#include "mote/compiler/frontends/frontend.h"
#include "tflite_generated.h"

namespace mote::frontends::tflite {

using flatbuffers::Vector;

// Scale and zero point of a tensor, one pair or one per index of `axis`.
struct Quant {
  const Vector<float>* scale = nullptr;
  const Vector<int64_t>* zero_point = nullptr;
  int axis = 0;

  bool present() const { return scale != nullptr && scale->size() > 0; }
  uint32_t count() const { return scale == nullptr ? 0 : scale->size(); }
  float scale_at(uint32_t i) const { return scale->Get(scale->size() == 1 ? 0 : i); }
  int32_t zero_at(uint32_t i) const;  // 0 where the file says nothing
};

struct Tensor {
  int index = 0;
  std::string_view name;
  fb::TensorType source_type = fb::TensorType::FLOAT32;
  DType dtype = DType::kNone;  // kNone: a type Mote has no tensors of (strings, resources, complex numbers)
  ir::Dims dims;               // kDimUnknown where open
  ir::Dims default_dims;       // the sizes the file was converted with, open or not
  bool has_rank = true;
  bool variable = false;
  Quant quant;
  ir::Bytes data;                                    // constants: the bytes of the file; dense unless `sparsity` is set
  const fb::SparsityParameters* sparsity = nullptr;  // see sparse.h

  bool is_constant() const { return data.present(); }
  bool is_quantized() const { return quant.present() && dtype != DType::f32 && dtype != DType::f16; }
  float scale() const { return quant.present() ? quant.scale_at(0) : 0.0f; }
  int32_t zero() const { return quant.present() ? quant.zero_at(0) : 0; }
};

struct Operator {
  const fb::Operator* table = nullptr;
  fb::BuiltinOperator code = fb::BuiltinOperator::CUSTOM;
  std::string_view custom_code;
  ir::Bytes custom_options;

  uint32_t inputs() const { return table->inputs() == nullptr ? 0 : table->inputs()->size(); }
  uint32_t outputs() const { return table->outputs() == nullptr ? 0 : table->outputs()->size(); }
};

struct SubGraph {
  std::string_view name;
  std::vector<Tensor> tensors;
  std::vector<Operator> operators;
  std::vector<int> inputs, outputs;  // indices of tensors, all valid
};

struct Model {
  Source source;
  const fb::Model* table = nullptr;
  std::vector<SubGraph> subgraphs;

  // The bytes of a buffer, inside or behind the FlatBuffer; absent when it is empty or does not exist.
  ir::Bytes buffer(uint32_t index) const;
};

// True when the bytes carry the format's identifier.
bool is_model(const Source& source);

// False with what is wrong when the file is not a sound model. Operators are not judged here.
bool read_model(const Source& source, Model* out, ir::Problems* problems);

std::string_view text_of(const flatbuffers::String* s);
// "CONV_2D", or the custom operator's own name.
std::string operator_name(const Operator& op);

}  // namespace mote::frontends::tflite
