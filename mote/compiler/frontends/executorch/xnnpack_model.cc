#include "mote/compiler/frontends/executorch/xnnpack_model.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

namespace mote::frontends::executorch {
namespace {

using Kind = XnnQuant::Kind;
using Scales = std::shared_ptr<const std::vector<float>>;

constexpr flatbuffers::uoffset_t kXnnMaxDepth = 16, kXnnMaxTables = 1000000;
constexpr uint32_t kMaxExterns = 1u << 16;
constexpr char kMagic[] = "XH00";

struct XnnParts {
  ir::Bytes flat, constants;
  bool has_header = false;
};

template <class T>
T load(const uint8_t* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return flatbuffers::EndianScalar(v);
}

ir::Bytes part_of(const ir::Bytes& b, uint64_t offset, uint64_t size) { return {b.owner, b.data + offset, static_cast<size_t>(size)}; }

struct TypeFact {
  DType dtype;
  Kind quant;
};
TypeFact fact_of(xfb::Datatype t) {
  switch (t) {
    case xfb::Datatype::fp32:
    case xfb::Datatype::pfp32: return {DType::f32, Kind::kNone};
    case xfb::Datatype::fp16: return {DType::f16, Kind::kNone};
    case xfb::Datatype::bf16: return {DType::bf16, Kind::kNone};
    case xfb::Datatype::int32: return {DType::s32, Kind::kNone};
    case xfb::Datatype::qint8: return {DType::s8, Kind::kTensor};
    case xfb::Datatype::quint8: return {DType::u8, Kind::kTensor};
    case xfb::Datatype::qint32: return {DType::s32, Kind::kTensor};
    case xfb::Datatype::qcint8: return {DType::s8, Kind::kChannel};
    case xfb::Datatype::qcint32: return {DType::s32, Kind::kChannel};
    case xfb::Datatype::qcint4: return {DType::s4, Kind::kChannel};
    case xfb::Datatype::qbint4: return {DType::s4, Kind::kGroup};
    case xfb::Datatype::qdint8:
    case xfb::Datatype::qpint8: return {DType::s8, Kind::kToken};
    default: return {DType::kNone, Kind::kNone};
  }
}

class XnnReader {
 public:
  XnnReader(const NamedData& data, XnnModel* out, ir::Problems& problems, const std::string& place)
      : data_(data), m_(*out), problems_(problems), place_(place) {}

  // The header and the tables: enough for the list of arguments.
  bool read_tables(const ir::Bytes& payload) {
    if (!split(payload)) return false;
    // The generated code reads numbers in place.
    if (reinterpret_cast<uintptr_t>(parts_.flat.data) % 16 != 0) parts_.flat = ir::Bytes::copy_of(parts_.flat.data, parts_.flat.size);
    m_.bytes = parts_.flat;
    flatbuffers::Verifier verifier(m_.bytes.data, m_.bytes.size, kXnnMaxDepth, kXnnMaxTables);
    if (!verifier.VerifyBuffer<xfb::Graph>(nullptr)) return wrong("the FlatBuffer is damaged: an offset or a length leads out of it");
    m_.graph = flatbuffers::GetRoot<xfb::Graph>(m_.bytes.data);
    if (m_.graph->num_externs() > kMaxExterns)
      return wrong("expected at most " + std::to_string(kMaxExterns) + " arguments, found " + std::to_string(m_.graph->num_externs()));
    const uint32_t n = m_.graph->values() == nullptr ? 0 : m_.graph->values()->size();
    m_.tensors.resize(n);
    for (uint32_t i = 0; i < n; ++i)
      if (!read_value(*m_.graph->values()->Get(i), i, &m_.tensors[i])) return false;
    return list_arguments();
  }

  bool read_constants() {
    for (uint32_t i = 0; i < m_.tensors.size(); ++i)
      if (!read_quant(*m_.graph->values()->Get(i), &m_.tensors[i]) || !read_data(*tensor_table(i), &m_.tensors[i])) return false;
    return true;
  }

 private:
  bool wrong(const std::string& what) {
    problems_.push_back({place_, what, "the program is damaged or was written by an ExecuTorch this was not made for; export it again"});
    return false;
  }
  bool wrong(const XnnTensor& t, const std::string& what) { return wrong("value " + std::to_string(t.id) + ": " + what); }

  bool split(const ir::Bytes& payload) {
    if (!is_xnnpack(payload))
      return wrong("expected a graph of the XNNPACK delegate (XH00 or XN00 at byte 4), found " + std::to_string(payload.size) +
                   " other bytes");
    parts_.has_header = std::memcmp(payload.data + 4, kMagic, 4) == 0;
    if (!parts_.has_header) {
      parts_.flat = payload;
      return true;
    }
    constexpr size_t kHeaderBytes = 30;
    if (payload.size < kHeaderBytes || load<uint16_t>(payload.data + 8) < kHeaderBytes) return wrong("the header is cut off");
    const uint64_t flat = load<uint32_t>(payload.data + 10), flat_size = load<uint32_t>(payload.data + 14),
                   constants = load<uint32_t>(payload.data + 18), constants_size = load<uint64_t>(payload.data + 22);
    if (flat > payload.size || flat_size > payload.size - flat || flat_size < 8 || constants > payload.size ||
        constants_size > payload.size - constants)
      return wrong("the header names bytes behind the end of the payload");
    parts_.flat = part_of(payload, flat, flat_size);
    parts_.constants = part_of(payload, constants, constants_size);
    return true;
  }

  const xfb::TensorValue* tensor_table(uint32_t i) const {
    const xfb::Value& v = *m_.graph->values()->Get(i);
    if (v.value_type() == xfb::ValueUnion::TensorValue) return v.value_as_TensorValue();
    const xfb::QuantizedTensorValue* q = v.value_as_QuantizedTensorValue();
    return q == nullptr ? nullptr : q->tensor_value();
  }

  bool read_value(const xfb::Value& v, uint32_t index, XnnTensor* out) {
    const xfb::TensorValue* t = tensor_table(index);
    if (t == nullptr) return wrong("value number " + std::to_string(index) + " is no tensor");
    out->id = t->id_out();
    out->source_type = t->datatype();
    out->external_id = t->external_id();
    out->flags = t->flags();
    out->quantize_on_entry = t->dq_datatype() != xfb::Datatype::invalid;
    const TypeFact fact = fact_of(t->datatype());
    out->dtype = fact.dtype;
    out->quant.kind = fact.quant;
    if (fact.dtype == DType::kNone) return wrong(*out, "element type " + std::to_string(static_cast<int>(t->datatype())) + " is not known");
    if ((v.value_type() == xfb::ValueUnion::QuantizedTensorValue) != (fact.quant != Kind::kNone))
      return wrong(*out, "its element type " + describe_xnn(*out) + " does not go with its quantization");
    if (out->quantize_on_entry && (t->dq_datatype() != xfb::Datatype::qint8 || (out->flags & kExternalInput) == 0 || !out->is_float()))
      return wrong(*out, "expected a float input where it is quantized on entry");
    const uint32_t rank = t->dims() == nullptr ? 0 : t->dims()->size();
    if (rank > static_cast<uint32_t>(kMaxRank) || rank != t->num_dims())
      return wrong(*out, "expected " + std::to_string(t->num_dims()) + " sizes, at most " + std::to_string(kMaxRank) + ", found " +
                             std::to_string(rank));
    for (uint32_t i = 0; i < rank; ++i) {
      if (t->dims()->Get(i) > INT32_MAX) return wrong(*out, "a size is larger than 2147483647");
      out->dims.push_back(static_cast<int32_t>(t->dims()->Get(i)));
    }
    if (!ir::Type{out->dtype, out->dims, 0}.fits()) return wrong(*out, "it is larger than 2 GB");
    if (!m_.by_id.emplace(out->id, index).second) return wrong(*out, "is defined twice");
    return true;
  }

  // Inputs go before outputs in an instruction's row of arguments.
  bool list_arguments() {
    m_.arguments.assign(m_.inputs = m_.graph->num_externs(), -1);
    for (size_t i = 0; i < m_.tensors.size(); ++i) {
      const XnnTensor& t = m_.tensors[i];
      if (t.external_id == kNoValue) continue;
      if (t.external_id >= m_.arguments.size())
        return wrong(t, "expected an argument below " + std::to_string(m_.arguments.size()) + ", found " + std::to_string(t.external_id));
      const uint32_t way = t.flags & (kExternalInput | kExternalOutput);
      if (way != kExternalInput && way != kExternalOutput) return wrong(t, "expected an argument that is read or written");
      if (m_.arguments[t.external_id] >= 0) return wrong(t, "shares its argument with another value");
      m_.arguments[t.external_id] = static_cast<int64_t>(i);
      if (way == kExternalOutput) m_.inputs = std::min<size_t>(m_.inputs, t.external_id);
    }
    for (size_t i = m_.inputs; i < m_.arguments.size(); ++i)
      if (m_.arguments[i] < 0 || (m_.tensors[static_cast<size_t>(m_.arguments[i])].flags & kExternalOutput) == 0)
        return wrong("expected outputs behind the inputs; argument " + std::to_string(i) + " is none");
    return true;
  }

  // Bytes of entry `index` of the table of constants.
  bool buffer(uint32_t index, const XnnTensor& t, ir::Bytes* out) {
    const auto known = buffers_.find(index);
    if (known != buffers_.end()) {
      *out = known->second;
      return true;
    }
    const auto* table = m_.graph->constant_data();
    const auto* old = m_.graph->constant_buffer();
    if (table != nullptr && index < table->size()) {
      if (!entry(*table->Get(index), t, out)) return false;
    } else if (!parts_.has_header && old != nullptr && index < old->size() && old->Get(index)->storage() != nullptr) {
      const auto* storage = old->Get(index)->storage();
      *out = {m_.bytes.owner, storage->data(), storage->size()};
    } else {
      return wrong(t, "its constant number " + std::to_string(index) + " does not exist");
    }
    m_.constant_bytes += out->size;
    buffers_[index] = *out;
    return true;
  }

  bool entry(const xfb::ConstantDataOffset& e, const XnnTensor& t, ir::Bytes* out) {
    if (e.named_key() != nullptr && e.named_key()->size() > 0) {
      const std::optional<ir::Bytes> found = data_ ? data_(e.named_key()->string_view()) : std::nullopt;
      if (!found)
        return wrong(t, "the program has no data under the key '" + e.named_key()->str().substr(0, 80) +
                            "'; where it was exported with data in a .ptd file of its own, that must lie beside it");
      *out = *found;
      return true;
    }
    if (e.offset() > parts_.constants.size || e.size() > parts_.constants.size - e.offset())
      return wrong(t, "its data lies behind the end of the payload");
    *out = part_of(parts_.constants, e.offset(), e.size());
    return true;
  }

  bool read_data(const xfb::TensorValue& table, XnnTensor* t) {
    if (table.constant_buffer_idx() == 0) return true;
    ir::Bytes b;
    if (!buffer(table.constant_buffer_idx(), *t, &b)) return false;
    uint64_t need = ir::Type{t->dtype, t->dims, 0}.byte_size();
    if (t->dtype == DType::s4) {  // rows begin at bytes
      const uint64_t rows = t->dims.empty() ? 1 : static_cast<uint64_t>(t->dims[0]);
      const uint64_t count = static_cast<uint64_t>(ir::Type{t->dtype, t->dims, 0}.count());
      need = rows == 0 ? 0 : rows * ((count / rows + 1) / 2);
    }
    if (b.size < need) return wrong(*t, "expected " + std::to_string(need) + " bytes of data, found " + std::to_string(b.size));
    if (t->external_id != kNoValue || t->dynamic()) return wrong(*t, "is a constant and an argument at once");
    t->data = part_of(b, 0, need);
    return true;
  }

  bool read_quant(const xfb::Value& v, XnnTensor* t) {
    if (t->quant.kind == Kind::kNone) return true;
    const xfb::QuantizedTensorValue& q = *v.value_as_QuantizedTensorValue();
    switch (t->quant.kind) {
      case Kind::kTensor: return read_per_tensor(q.quant_params_as_PerTensorQuant(), t);
      case Kind::kChannel: return read_per_channel(q.quant_params_as_PerChannelQuant(), t);
      case Kind::kGroup: return read_groups(q.quant_params_as_PerChannelGroupQuant(), t);
      default: return read_per_token(q.quant_params_as_PerTokenDynamicQuant(), t);
    }
  }

  bool no_quant(const XnnTensor& t) { return wrong(t, "its quantization does not go with its type " + describe_xnn(t)); }

  bool read_per_tensor(const xfb::PerTensorQuant* q, XnnTensor* t) {
    if (q == nullptr) return no_quant(*t);
    const int32_t lo = t->dtype == DType::s8 ? -128 : 0, hi = t->dtype == DType::s8 ? 127 : t->dtype == DType::u8 ? 255 : 0;
    if (!(q->scale() > 0) || !std::isfinite(q->scale()) || q->zero_point() < lo || q->zero_point() > hi)
      return wrong(*t, "has scale " + std::to_string(q->scale()) + " and zero point " + std::to_string(q->zero_point()) +
                           "; expected a positive scale and a zero point in the range of its type");
    t->quant.scale = q->scale();
    t->quant.zero = q->zero_point();
    return true;
  }

  bool read_per_token(const xfb::PerTokenDynamicQuant* q, XnnTensor* t) {
    if (q == nullptr) return no_quant(*t);
    if (q->num_nonbatch_dims() < 1 || q->num_nonbatch_dims() > static_cast<int32_t>(t->dims.size()))
      return wrong(*t, "expected 1 to " + std::to_string(t->dims.size()) + " dimensions that share a scale, found " +
                           std::to_string(q->num_nonbatch_dims()));
    t->quant.nonbatch_dims = q->num_nonbatch_dims();
    return true;
  }

  // Scales from a list in the table or from a constant, each read once however many values share them.
  template <class Q>
  bool read_scales(const Q& q, DType stored, XnnTensor* t) {
    const void* key = q.scale_buffer_idx() != 0 ? nullptr : static_cast<const void*>(q.scale());
    Scales& known = scales_[{key, q.scale_buffer_idx()}];
    if (known == nullptr) {
      auto made = std::make_shared<std::vector<float>>();
      if (q.scale_buffer_idx() != 0) {
        ir::Bytes b;
        if (!buffer(q.scale_buffer_idx(), *t, &b)) return false;
        const uint64_t width = stored == DType::bf16 ? 2 : 4;
        if (b.size / width < q.num_scales()) return wrong(*t, "expected " + std::to_string(q.num_scales()) + " scales in its data");
        for (uint64_t i = 0; i < q.num_scales(); ++i)
          made->push_back(width == 2 ? from_bf16(load<uint16_t>(b.data + 2 * i)) : load<float>(b.data + 4 * i));
      } else if (q.scale() != nullptr) {
        made->assign(q.scale()->begin(), q.scale()->end());
      }
      for (const float s : *made)
        if (!(s >= 0) || !std::isfinite(s)) return wrong(*t, "has scale " + std::to_string(s) + "; expected scales of at least 0");
      known = std::move(made);
    }
    t->quant.scales = known;
    return true;
  }
  static float from_bf16(uint16_t v) {
    const uint32_t bits = static_cast<uint32_t>(v) << 16;
    float f;
    std::memcpy(&f, &bits, sizeof f);
    return f;
  }

  bool read_per_channel(const xfb::PerChannelQuant* q, XnnTensor* t) {
    if (q == nullptr) return no_quant(*t);
    if (q->channel_dim() < 0 || q->channel_dim() >= static_cast<int32_t>(t->dims.size()))
      return wrong(*t, "has no dimension " + std::to_string(q->channel_dim()) + " for its scales");
    t->quant.axis = q->channel_dim();
    if (!read_scales(*q, DType::f32, t)) return false;
    const int32_t channels = t->dims[static_cast<size_t>(t->quant.axis)];
    if (t->quant.scales->size() == static_cast<size_t>(channels)) return true;
    return wrong(*t, "expected " + std::to_string(channels) + " scales, found " + std::to_string(t->quant.scales->size()));
  }

  bool read_groups(const xfb::PerChannelGroupQuant* q, XnnTensor* t) {
    if (q == nullptr || t->dims.size() != 2) return no_quant(*t);
    if (q->group_size() < 1 || t->dims[1] % q->group_size() != 0)
      return wrong(*t, "groups of " + std::to_string(q->group_size()) + " do not divide rows of " + std::to_string(t->dims[1]));
    t->quant.group_size = q->group_size();
    if (q->scale_buffer_idx() == 0 && q->scale_bf16() != nullptr) {
      auto made = std::make_shared<std::vector<float>>();
      if ((inline_scales_ += q->scale_bf16()->size()) > m_.bytes.size) return wrong(*t, "its scales are shared too often");
      for (const uint16_t v : *q->scale_bf16()) made->push_back(from_bf16(v));
      t->quant.scales = std::move(made);
    } else if (!read_scales(*q, DType::bf16, t)) {
      return false;
    }
    const int64_t n = int64_t{t->dims[0]} * (t->dims[1] / q->group_size());
    if (static_cast<int64_t>(t->quant.scales->size()) == n) return true;
    return wrong(*t, "expected " + std::to_string(n) + " scales, found " + std::to_string(t->quant.scales->size()));
  }

  const NamedData& data_;
  XnnModel& m_;
  ir::Problems& problems_;
  const std::string& place_;
  XnnParts parts_;
  std::map<uint32_t, ir::Bytes> buffers_;
  std::map<std::pair<const void*, uint32_t>, Scales> scales_;
  uint64_t inline_scales_ = 0;
};

}  // namespace

bool is_xnnpack(const ir::Bytes& payload) {
  if (payload.size < 16) return false;
  const auto* mark = payload.data + 4;
  return std::memcmp(mark, kMagic, 4) == 0 || std::memcmp(mark, "XN00", 4) == 0 || std::memcmp(mark, "XN01", 4) == 0;
}

bool xnnpack_arity(const ir::Bytes& payload, size_t* inputs, size_t* outputs) {
  XnnModel model;
  ir::Problems problems;
  if (!XnnReader({}, &model, problems, "").read_tables(payload)) return false;
  *inputs = model.inputs;
  *outputs = model.arguments.size() - model.inputs;
  return true;
}

bool read_xnn_model(const ir::Bytes& payload, const NamedData& data, XnnModel* out, ir::Problems& problems, const std::string& place) {
  XnnReader reader(data, out, problems, place);
  return reader.read_tables(payload) && reader.read_constants();
}

std::string xnn_node_name(const xfb::Node& node) {
  const char* name = xfb::EnumNameNodeUnion(node.node_type());
  return name == nullptr || *name == 0 ? "node type " + std::to_string(static_cast<int>(node.node_type())) : name;
}

std::string describe_xnn(const XnnTensor& t) {
  const char* type = xfb::EnumNameDatatype(t.source_type);
  std::string s = std::string(type == nullptr ? "?" : type) + " (";
  for (size_t i = 0; i < t.dims.size(); ++i) s += (i == 0 ? "" : ", ") + std::to_string(t.dims[i]);
  return s + ")";
}

}  // namespace mote::frontends::executorch
