#include "mote/compiler/frontends/tflite/model.h"

#include <algorithm>
#include <cstring>

namespace mote::frontends::tflite {
namespace {

constexpr flatbuffers::uoffset_t kMaxDepth = 64, kMaxTables = 400000;

DType dtype_of_source(fb::TensorType t) {
  switch (t) {
    case fb::TensorType::FLOAT32: return DType::f32;
    case fb::TensorType::FLOAT16: return DType::f16;
    case fb::TensorType::BFLOAT16: return DType::bf16;
    case fb::TensorType::FLOAT64: return DType::f64;
    case fb::TensorType::INT4: return DType::s4;
    case fb::TensorType::INT8: return DType::s8;
    case fb::TensorType::UINT8: return DType::u8;
    case fb::TensorType::INT16: return DType::s16;
    case fb::TensorType::UINT16: return DType::u16;
    case fb::TensorType::INT32: return DType::s32;
    case fb::TensorType::UINT32: return DType::u32;
    case fb::TensorType::INT64: return DType::s64;
    case fb::TensorType::UINT64: return DType::u64;
    case fb::TensorType::BOOL: return DType::boolean;
    default: return DType::kNone;
  }
}

class Reader {
 public:
  Reader(const Source& source, Model* out, ir::Problems* problems) : m_(*out), problems_(*problems) {
    m_.source = source;
    references_left_ = source.bytes.size;
  }

  bool read() {
    const ir::Bytes& bytes = m_.source.bytes;
    if (bytes.size < 8 || bytes.size > FLATBUFFERS_MAX_BUFFER_SIZE || !fb::ModelBufferHasIdentifier(bytes.data))
      return wrong("file", "expected a TensorFlow Lite model (identifier TFL3 at byte 4) of less than 2 GB, found " +
                               std::to_string(bytes.size) + " other bytes");
    flatbuffers::Verifier verifier(bytes.data, bytes.size, kMaxDepth, kMaxTables);
    if (!fb::VerifyModelBuffer(verifier)) return wrong("file", "the FlatBuffer is damaged: an offset or a length leads out of the file");
    m_.table = fb::GetModel(bytes.data);
    if (m_.table->version() != 3) return wrong("file", "expected schema version 3, found " + std::to_string(m_.table->version()));
    if (m_.table->subgraphs() == nullptr || m_.table->subgraphs()->size() == 0) return wrong("file", "the model has no subgraph");
    m_.subgraphs.resize(m_.table->subgraphs()->size());
    for (uint32_t i = 0; i < m_.subgraphs.size(); ++i)
      if (!read_subgraph(i)) return false;
    return true;
  }

 private:
  bool wrong(const std::string& where, const std::string& what) {
    problems_.push_back({where, what, "the file is damaged or was not made by a TensorFlow Lite converter; make or fetch it again"});
    return false;
  }

  bool read_subgraph(uint32_t index) {
    const fb::SubGraph* g = m_.table->subgraphs()->Get(index);
    SubGraph& out = m_.subgraphs[index];
    out.name = text_of(g->name());
    const std::string where = "subgraph " + std::to_string(index);
    const uint32_t tensors = g->tensors() == nullptr ? 0 : g->tensors()->size();
    out.tensors.resize(tensors);
    for (uint32_t i = 0; i < tensors; ++i)
      if (!read_tensor(*g->tensors()->Get(i), where + ", tensor " + std::to_string(i), &out.tensors[i])) return false;
    for (uint32_t i = 0; i < tensors; ++i) out.tensors[i].index = static_cast<int>(i);
    if (!check_indices(g->inputs(), tensors, 0, where + " inputs") || !check_indices(g->outputs(), tensors, 0, where + " outputs"))
      return false;
    if (g->inputs() != nullptr) out.inputs.assign(g->inputs()->begin(), g->inputs()->end());
    if (g->outputs() != nullptr) out.outputs.assign(g->outputs()->begin(), g->outputs()->end());
    const uint32_t operators = g->operators() == nullptr ? 0 : g->operators()->size();
    out.operators.resize(operators);
    for (uint32_t i = 0; i < operators; ++i)
      if (!read_operator(*g->operators()->Get(i), tensors, where + ", operator " + std::to_string(i), &out.operators[i])) return false;
    return true;
  }

  // Lists that are shared inside the file could make small files expensive: together they may not be longer than the file.
  bool count_references(uint64_t n, const std::string& where) {
    if (n > references_left_) return wrong(where, "lists are longer than a file of this size can hold");
    references_left_ -= n;
    return true;
  }

  bool check_indices(const Vector<int32_t>* list, uint32_t tensors, int32_t least, const std::string& where) {
    if (list == nullptr) return true;
    if (!count_references(list->size(), where)) return false;
    for (const int32_t i : *list)
      if (i < least || i >= static_cast<int64_t>(tensors))
        return wrong(where, "expected a tensor index below " + std::to_string(tensors) + ", found " + std::to_string(i));
    return true;
  }

  bool read_tensor(const fb::Tensor& t, const std::string& where, Tensor* out) {
    out->name = text_of(t.name());
    const std::string place = out->name.empty() ? where : where + " (" + std::string(out->name.substr(0, 200)) + ")";
    out->source_type = t.type();
    out->dtype = dtype_of_source(t.type());
    out->variable = t.is_variable();
    out->sparsity = t.sparsity();
    const uint32_t rank = t.shape() == nullptr ? 0 : t.shape()->size();
    const bool open = t.shape_signature() != nullptr && t.shape_signature()->size() == rank && rank > 0;
    if (rank > kMaxRank && out->dtype != DType::kNone)
      return wrong(place, "expected at most " + std::to_string(kMaxRank) + " dimensions, found " + std::to_string(rank));
    ir::Type type{out->dtype, {}, 0};
    for (uint32_t i = 0; i < std::min<uint32_t>(rank, kMaxRank); ++i) {
      const int32_t size = t.shape()->Get(i);
      if (size < 0 && size != kDimUnknown) return wrong(place, "expected sizes of at least 0, found " + std::to_string(size));
      type.dims.push_back(size < 0 ? 1 : size);
      out->dims.push_back(size < 0 || (open && t.shape_signature()->Get(i) < 0) ? kDimUnknown : size);
    }
    out->default_dims = type.dims;
    if (!type.fits()) return wrong(place, "the tensor is larger than 2 GB");
    return read_quant(t.quantization(), place, out) && read_data(t.buffer(), type, place, out);
  }

  bool read_quant(const fb::QuantizationParameters* q, const std::string& place, Tensor* out) {
    if (q == nullptr || q->scale() == nullptr || q->scale()->size() == 0) return true;
    const uint32_t n = q->scale()->size();
    out->quant.scale = q->scale();
    out->quant.zero_point = q->zero_point() != nullptr && q->zero_point()->size() > 0 ? q->zero_point() : nullptr;
    out->quant.axis = q->quantized_dimension();
    if (!count_references(n, place)) return false;
    if (out->quant.zero_point != nullptr && out->quant.zero_point->size() != n && out->quant.zero_point->size() != 1)
      return wrong(place, "expected as many zero points as scales (" + std::to_string(n) + "), found " +
                              std::to_string(out->quant.zero_point->size()));
    return true;
  }

  bool read_data(uint32_t buffer, const ir::Type& type, const std::string& place, Tensor* out) {
    const uint32_t buffers = m_.table->buffers() == nullptr ? 0 : m_.table->buffers()->size();
    if (buffer != 0 && buffer >= buffers)
      return wrong(place, "expected a buffer index below " + std::to_string(buffers) + ", found " + std::to_string(buffer));
    if (buffer >= buffers) return true;
    const fb::Buffer* b = m_.table->buffers()->Get(buffer);
    // Offsets 0 and 1 are placeholders that converters leave.
    if (b->offset() > 1 && (b->offset() > m_.source.bytes.size || b->size() > m_.source.bytes.size - b->offset()))
      return wrong(place, "its data lies behind the end of the file");
    const ir::Bytes data = m_.buffer(buffer);
    if (!data.present()) return true;
    if (out->dtype != DType::kNone && out->sparsity == nullptr && data.size != type.byte_size())
      return wrong(place, "expected " + std::to_string(type.byte_size()) + " bytes of data, found " + std::to_string(data.size));
    out->data = data;
    return true;
  }

  bool read_operator(const fb::Operator& o, uint32_t tensors, const std::string& where, Operator* out) {
    out->table = &o;
    const auto* codes = m_.table->operator_codes();
    if (codes == nullptr || o.opcode_index() >= codes->size())
      return wrong(where, "expected an operator code below " + std::to_string(codes == nullptr ? 0 : codes->size()) + ", found " +
                              std::to_string(o.opcode_index()));
    const fb::OperatorCode& code = *codes->Get(o.opcode_index());
    out->code = static_cast<fb::BuiltinOperator>(std::max<int32_t>(code.builtin_code(), code.deprecated_builtin_code()));
    out->custom_code = text_of(code.custom_code());
    if (!check_indices(o.inputs(), tensors, -1, where) || !check_indices(o.outputs(), tensors, -1, where)) return false;
    if (!check_indices(o.intermediates(), tensors, -1, where)) return false;
    const uint64_t offset = o.large_custom_options_offset(), size = o.large_custom_options_size(), file = m_.source.bytes.size;
    if (offset > 1) {
      if (offset > file || size > file - offset) return wrong(where, "its options lie behind the end of the file");
      out->custom_options = {m_.source.bytes.owner, m_.source.bytes.data + offset, static_cast<size_t>(size)};
    } else if (o.custom_options() != nullptr) {
      out->custom_options = {m_.source.bytes.owner, o.custom_options()->data(), o.custom_options()->size()};
    }
    return true;
  }

  Model& m_;
  ir::Problems& problems_;
  uint64_t references_left_ = 0;
};

}  // namespace

int32_t Quant::zero_at(uint32_t i) const {
  if (zero_point == nullptr) return 0;
  int64_t z;  // the file's verifier knows no alignment of vectors of 64-bit numbers
  std::memcpy(&z, zero_point->Data() + sizeof z * (zero_point->size() == 1 ? 0 : i), sizeof z);
  z = flatbuffers::EndianScalar(z);
  return static_cast<int32_t>(std::max<int64_t>(INT32_MIN, std::min<int64_t>(INT32_MAX, z)));
}

ir::Bytes Model::buffer(uint32_t index) const {
  if (table->buffers() == nullptr || index >= table->buffers()->size()) return {};
  const fb::Buffer* b = table->buffers()->Get(index);
  if (b->offset() > 1) {
    if (b->size() == 0 || b->offset() > source.bytes.size || b->size() > source.bytes.size - b->offset()) return {};
    return {source.bytes.owner, source.bytes.data + b->offset(), static_cast<size_t>(b->size())};
  }
  if (b->data() == nullptr || b->data()->size() == 0) return {};
  return {source.bytes.owner, b->data()->data(), b->data()->size()};
}

bool is_model(const Source& source) { return source.bytes.size >= 8 && fb::ModelBufferHasIdentifier(source.bytes.data); }

bool read_model(const Source& source, Model* out, ir::Problems* problems) { return Reader(source, out, problems).read(); }

std::string_view text_of(const flatbuffers::String* s) {
  return s == nullptr ? std::string_view() : std::string_view(s->c_str(), s->size());
}

std::string operator_name(const Operator& op) {
  if (op.code == fb::BuiltinOperator::CUSTOM) return "custom operator " + std::string(op.custom_code.substr(0, 200));
  const char* name = fb::EnumNameBuiltinOperator(op.code);
  return name == nullptr || *name == 0 ? "operator code " + std::to_string(static_cast<int>(op.code)) : name;
}

}  // namespace mote::frontends::tflite
