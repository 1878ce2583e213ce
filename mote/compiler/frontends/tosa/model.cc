#include "mote/compiler/frontends/tosa/model.h"

#include <algorithm>
#include <cstring>

namespace mote::frontends::tosa {
namespace {

constexpr flatbuffers::uoffset_t kMaxDepth = 64, kMaxTables = 400000;

DType dtype_of_source(fb::DType t) {
  switch (t) {
    case fb::DType::BOOL: return DType::boolean;
    case fb::DType::INT4:
    case fb::DType::INT8: return DType::s8;
    case fb::DType::INT16: return DType::s16;
    case fb::DType::INT32: return DType::s32;
    case fb::DType::INT48:
    case fb::DType::INT64: return DType::s64;
    case fb::DType::FP32: return DType::f32;
    case fb::DType::FP16: return DType::f16;
    case fb::DType::BF16: return DType::bf16;
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
    if (!is_model(m_.source) || bytes.size > FLATBUFFERS_MAX_BUFFER_SIZE)
      return wrong("file", "expected a TOSA FlatBuffer (identifier TOSA at byte 4) of less than 2 GB, found " + std::to_string(bytes.size) +
                               " other bytes");
    flatbuffers::Verifier verifier(bytes.data, bytes.size, kMaxDepth, kMaxTables);
    if (!fb::VerifyTosaGraphBuffer(verifier))
      return wrong("file", "the FlatBuffer is damaged: an offset or a length leads out of the file");
    m_.table = fb::GetTosaGraph(bytes.data);
    const fb::Version* v = m_.table->version();
    if (v == nullptr || v->_major() != 1)
      return wrong("file", "expected TOSA version 1, found " + (v == nullptr ? std::string("none") : std::to_string(v->_major())));
    const auto* regions = m_.table->regions();
    if (regions == nullptr || regions->size() == 0) return wrong("file", "the graph has no region");
    m_.regions.resize(regions->size());
    for (uint32_t i = 0; i < regions->size(); ++i)
      if (!read_region(*regions->Get(i), "region " + std::to_string(i), &m_.regions[i])) return false;
    return true;
  }

 private:
  bool wrong(const std::string& where, const std::string& what) {
    problems_.push_back({where, what, "the file is damaged or was not made by a TOSA 1.0 serializer; make or fetch it again"});
    return false;
  }

  bool read_region(const fb::TosaRegion& r, const std::string& where, Region* out) {
    out->name = text_of(r.name());
    if (r.blocks() == nullptr || r.blocks()->size() != 1)
      return wrong(where, "expected one basic block, found " + std::to_string(r.blocks() == nullptr ? 0 : r.blocks()->size()));
    const fb::TosaBasicBlock& b = *r.blocks()->Get(0);
    const uint32_t tensors = b.tensors() == nullptr ? 0 : b.tensors()->size();
    const uint32_t shapes = b.shapes() == nullptr ? 0 : b.shapes()->size();
    const uint32_t operators = b.operators() == nullptr ? 0 : b.operators()->size();
    if (!count_references(uint64_t{tensors} + shapes + operators, where)) return false;
    out->tensors.resize(tensors);
    for (uint32_t i = 0; i < tensors; ++i) {
      if (!read_tensor(*b.tensors()->Get(i), where + ", tensor " + std::to_string(i), &out->tensors[i])) return false;
      out->tensor_of.emplace(out->tensors[i].name, i);
    }
    out->shapes.resize(shapes);
    for (uint32_t i = 0; i < shapes; ++i) {
      if (!read_shape(*b.shapes()->Get(i), where + ", shape " + std::to_string(i), &out->shapes[i])) return false;
      out->shape_of.emplace(out->shapes[i].name, i);
    }
    out->operators.resize(operators);
    for (uint32_t i = 0; i < operators; ++i) {
      const fb::TosaOperator& o = *b.operators()->Get(i);
      const std::string place = where + ", operator " + std::to_string(i);
      out->operators[i].table = &o;
      out->operators[i].code = o.op();
      if (!read_names(o.inputs(), place, &out->operators[i].inputs) || !read_names(o.outputs(), place, &out->operators[i].outputs))
        return false;
    }
    return read_names(b.inputs(), where + " inputs", &out->inputs) && read_names(b.outputs(), where + " outputs", &out->outputs);
  }

  // Lists that are shared inside the file could make small files expensive: together they may not be longer than the file.
  bool count_references(uint64_t n, const std::string& where) {
    if (n > references_left_) return wrong(where, "lists are longer than a file of this size can hold");
    references_left_ -= n;
    return true;
  }

  bool read_names(const Vector<flatbuffers::Offset<flatbuffers::String>>* list, const std::string& where, Names* out) {
    if (list == nullptr) return true;
    if (!count_references(list->size(), where)) return false;
    for (const flatbuffers::String* s : *list) out->push_back(text_of(s));
    return true;
  }

  bool read_tensor(const fb::TosaTensor& t, const std::string& where, Tensor* out) {
    out->name = text_of(t.name());
    const std::string place = out->name.empty() ? where : where + " (" + std::string(out->name.substr(0, 200)) + ")";
    out->source_type = t.type();
    out->dtype = dtype_of_source(t.type());
    out->variable = text_of(t.variable_name());
    if (t.variable() && out->variable.empty()) out->variable = out->name;
    out->ranked = !t.is_unranked();
    const uint32_t rank = t.shape() == nullptr ? 0 : t.shape()->size();
    if (rank > kMaxRank) return wrong(place, "expected at most " + std::to_string(kMaxRank) + " dimensions, found " + std::to_string(rank));
    ir::Type type{out->dtype, {}, 0};
    for (uint32_t i = 0; i < rank; ++i) {
      const int32_t size = t.shape()->Get(i);
      if (size < 0 && size != kDimUnknown) return wrong(place, "expected sizes of at least 0, found " + std::to_string(size));
      out->dims.push_back(size);
      type.dims.push_back(std::max(size, 1));
    }
    if (!type.fits()) return wrong(place, "the tensor is larger than 2 GB");
    ir::Bytes data;
    if (!find_data(t, place, &data)) return false;
    if (!data.present() || out->dtype == DType::kNone || out->is_open()) return true;
    // A variable that nothing initialises has no bytes; constants without elements have none either.
    const uint64_t bytes = packed_bytes(t.type(), static_cast<uint64_t>(ir::Type{out->dtype, out->dims, 0}.count()));
    if (data.size < bytes || data.size > bytes + 8)
      return wrong(place, "expected " + std::to_string(bytes) + " bytes of data, found " + std::to_string(data.size));
    out->data = data;
    out->data.size = static_cast<size_t>(bytes);
    return true;
  }

  // In the FlatBuffer, or behind it in files of more than 2 GB.
  bool find_data(const fb::TosaTensor& t, const std::string& place, ir::Bytes* out) {
    const ir::Bytes& file = m_.source.bytes;
    if (t.offset() > 1) {
      if (t.offset() > file.size || t.size() > file.size - t.offset()) return wrong(place, "its data lies behind the end of the file");
      *out = {file.owner, file.data + t.offset(), static_cast<size_t>(t.size())};
    } else if (t.data() != nullptr && t.data()->size() > 0) {
      *out = {file.owner, t.data()->data(), t.data()->size()};
    }
    return true;
  }

  bool read_shape(const fb::TosaShape& s, const std::string& where, Shape* out) {
    out->name = text_of(s.name());
    if (s.rank() > 2 * kMaxRank)
      return wrong(where, "expected at most " + std::to_string(2 * kMaxRank) + " sizes, found " + std::to_string(s.rank()));
    out->known = s.rank() == 0 || (s.data() != nullptr && s.data()->size() > 0);
    if (!out->known || s.rank() == 0) return true;
    if (s.data()->size() < s.rank() * sizeof(int64_t))
      return wrong(where,
                   "expected " + std::to_string(s.rank() * sizeof(int64_t)) + " bytes of data, found " + std::to_string(s.data()->size()));
    for (uint32_t i = 0; i < s.rank(); ++i) {
      int64_t v;
      std::memcpy(&v, s.data()->data() + sizeof v * i, sizeof v);
      out->values.push_back(flatbuffers::EndianScalar(v));
    }
    return true;
  }

  Model& m_;
  ir::Problems& problems_;
  uint64_t references_left_ = 0;
};

}  // namespace

bool Tensor::is_open() const {
  return !ranked || std::any_of(dims.begin(), dims.end(), [](int32_t d) { return d < 0; });
}

const Tensor* Region::tensor(std::string_view wanted) const {
  const auto found = tensor_of.find(wanted);
  return found == tensor_of.end() ? nullptr : &tensors[found->second];
}

int Model::region(std::string_view wanted) const {
  for (size_t i = 0; i < regions.size(); ++i)
    if (regions[i].name == wanted) return static_cast<int>(i);
  return -1;
}

bool is_model(const Source& source) { return source.bytes.size >= 8 && fb::TosaGraphBufferHasIdentifier(source.bytes.data); }

bool read_model(const Source& source, Model* out, ir::Problems* problems) { return Reader(source, out, problems).read(); }

std::string_view text_of(const flatbuffers::String* s) {
  return s == nullptr ? std::string_view() : std::string_view(s->c_str(), s->size());
}

std::string operator_name(fb::Op code) {
  const char* name = fb::EnumNameOp(code);
  return name == nullptr || *name == 0 ? "operator code " + std::to_string(static_cast<uint32_t>(code)) : name;
}

std::string describe(const Tensor& t) {
  const char* type = fb::EnumNameDType(t.source_type);
  std::string s = type == nullptr || *type == 0 ? "type " + std::to_string(static_cast<uint32_t>(t.source_type)) : type;
  if (!t.ranked) return s + " of unknown rank";
  s += " (";
  for (size_t i = 0; i < t.dims.size(); ++i) s += (i > 0 ? ", " : "") + (t.dims[i] < 0 ? std::string("?") : std::to_string(t.dims[i]));
  return s + ")";
}

uint64_t packed_bytes(fb::DType type, uint64_t count) {
  switch (type) {
    case fb::DType::INT4: return (count + 1) / 2;
    case fb::DType::INT48: return count * 6;
    default: return count * dtype_bytes(dtype_of_source(type));
  }
}

}  // namespace mote::frontends::tosa
