// Known contents of values, from constants and facts. Declared in infer.h.

#include <cstring>

#include "mote/compiler/ir/infer.h"
#include "mote/core/half.h"

namespace mote::ir {

const Bytes* known_data(const Value& value) {
  if (value.is_constant()) return value.layout == Layout::kPlain ? &value.data : nullptr;
  if (value.facts.empty() || !value.facts[0].data.present()) return nullptr;
  const Facts& first = value.facts[0];
  for (const Facts& f : value.facts) {
    if (!f.data.present() || f.data.size != first.data.size || f.dims != first.dims) return nullptr;
    if (f.data.size > 0 && f.data.data != first.data.data && std::memcmp(f.data.data, first.data.data, f.data.size) != 0) return nullptr;
  }
  return &first.data;
}

namespace {

template <class T, class Out>
void widen(const Bytes& b, std::vector<Out>* out) {
  out->resize(b.size / sizeof(T));
  for (size_t i = 0; i < out->size(); ++i) {
    T v;
    std::memcpy(&v, b.data + i * sizeof(T), sizeof v);
    (*out)[i] = static_cast<Out>(v);
  }
}

}  // namespace

bool known_ints(const Value& value, std::vector<int64_t>* out) {
  const Bytes* b = known_data(value);
  if (b == nullptr) return false;
  switch (value.type.dtype) {
    case DType::s8: widen<int8_t>(*b, out); return true;
    case DType::u8: widen<uint8_t>(*b, out); return true;
    case DType::s16: widen<int16_t>(*b, out); return true;
    case DType::u16: widen<uint16_t>(*b, out); return true;
    case DType::s32: widen<int32_t>(*b, out); return true;
    case DType::u32: widen<uint32_t>(*b, out); return true;
    case DType::s64: widen<int64_t>(*b, out); return true;
    case DType::u64: widen<uint64_t>(*b, out); return true;
    case DType::boolean: widen<uint8_t>(*b, out); return true;
    default: return false;
  }
}

bool known_floats(const Value& value, std::vector<double>* out) {
  const Bytes* b = known_data(value);
  if (b == nullptr) return false;
  switch (value.type.dtype) {
    case DType::f32: widen<float>(*b, out); return true;
    case DType::f64: widen<double>(*b, out); return true;
    case DType::f16: widen<f16>(*b, out); return true;
    case DType::bf16: widen<bf16>(*b, out); return true;
    default: return false;
  }
}

}  // namespace mote::ir
