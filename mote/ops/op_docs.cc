#include "mote/ops/op_docs.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "ops_all.h"  // generated: #include of every operator's header

namespace mote {
namespace {

template <class T>
constexpr AttrDoc::Kind kind_of() {
  if constexpr (std::is_same_v<T, int32_t>) return AttrDoc::Kind::kS32;
  else if constexpr (std::is_same_v<T, uint32_t>) return AttrDoc::Kind::kU32;
  else if constexpr (std::is_same_v<T, float>) return AttrDoc::Kind::kF32;
  else if constexpr (std::is_same_v<T, int16_t>) return AttrDoc::Kind::kS16;
  else if constexpr (std::is_same_v<T, uint16_t>) return AttrDoc::Kind::kU16;
  else if constexpr (std::is_same_v<T, int8_t>) return AttrDoc::Kind::kS8;
  else {
    static_assert(std::is_same_v<T, uint8_t>, "attribute fields are fixed-width numbers");
    return AttrDoc::Kind::kU8;
  }
}

template <class A, class T>
AttrDoc doc_of(const AttrField<A, T>& field) {
  static const A sample{};
  using E = std::remove_extent_t<T>;
  const auto at = reinterpret_cast<const char*>(&(sample.*field.member)) - reinterpret_cast<const char*>(&sample);
  constexpr uint32_t kCount = std::is_array_v<T> ? std::extent_v<T> : 1;
  return {field.name, field.doc, kind_of<E>(), static_cast<uint32_t>(at), kCount, std::is_array_v<T>};
}

template <class A, class Tuple>
OpDoc make_doc(uint16_t id, const char* name, const OpInfo& info, const Tuple& fields) {
  OpDoc d{id, name, info, attrs_size<A>, {}, {}};
  std::apply([&](const auto&... f) { (d.attrs.push_back(doc_of(f)), ...); }, fields);
  if constexpr (!std::is_empty_v<A>) {
    const A defaults{};
    d.default_attrs.resize(sizeof(A));
    std::memcpy(d.default_attrs.data(), &defaults, sizeof(A));
  }
  return d;
}

uint32_t width_of(AttrDoc::Kind k) {
  switch (k) {
    case AttrDoc::Kind::kS16:
    case AttrDoc::Kind::kU16: return 2;
    case AttrDoc::Kind::kS8:
    case AttrDoc::Kind::kU8: return 1;
    default: return 4;
  }
}

template <class T>
T load(const char* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <class T>
void store(char* p, double v) {
  const T t = static_cast<T>(v);
  std::memcpy(p, &t, sizeof t);
}

double load_number(AttrDoc::Kind k, const char* p) {
  switch (k) {
    case AttrDoc::Kind::kS32: return load<int32_t>(p);
    case AttrDoc::Kind::kU32: return load<uint32_t>(p);
    case AttrDoc::Kind::kF32: return load<float>(p);
    case AttrDoc::Kind::kS16: return load<int16_t>(p);
    case AttrDoc::Kind::kU16: return load<uint16_t>(p);
    case AttrDoc::Kind::kS8: return load<int8_t>(p);
    case AttrDoc::Kind::kU8: return load<uint8_t>(p);
  }
  return 0;
}

void store_number(AttrDoc::Kind k, char* p, double v) {
  switch (k) {
    case AttrDoc::Kind::kS32: return store<int32_t>(p, v);
    case AttrDoc::Kind::kU32: return store<uint32_t>(p, v);
    case AttrDoc::Kind::kF32: return store<float>(p, v);
    case AttrDoc::Kind::kS16: return store<int16_t>(p, v);
    case AttrDoc::Kind::kU16: return store<uint16_t>(p, v);
    case AttrDoc::Kind::kS8: return store<int8_t>(p, v);
    case AttrDoc::Kind::kU8: return store<uint8_t>(p, v);
  }
}

}  // namespace

const std::vector<OpDoc>& op_docs() {
  static const std::vector<OpDoc> docs = {
#define MOTE_OP(id, op) make_doc<ops::op::Attrs>(id, #op, ops::op::kInfo, ops::op::kAttrs),
#include "ops_all.def"
#undef MOTE_OP
  };
  return docs;
}

const OpDoc* find_op_doc(uint16_t id) {
  for (const OpDoc& d : op_docs())
    if (d.id == id) return &d;
  return nullptr;
}

const OpDoc* find_op_doc(const std::string& name) {
  const std::string plain = name.rfind("mote::", 0) == 0 ? name.substr(6) : name;
  for (const OpDoc& d : op_docs())
    if (d.name == plain) return &d;
  return nullptr;
}

std::string attr_to_text(const AttrDoc& field, const void* attrs) {
  const char* p = static_cast<const char*>(attrs) + field.offset;
  std::string text;
  for (uint32_t i = 0; i < field.count; ++i, p += width_of(field.kind)) {
    char number[32];
    std::snprintf(number, sizeof number, field.kind == AttrDoc::Kind::kF32 ? "%.9g" : "%.0f", load_number(field.kind, p));
    text += (i > 0 ? ", " : "") + std::string(number);
  }
  return field.array ? "[" + text + "]" : text;
}

bool attr_from_text(const AttrDoc& field, const std::string& text, void* attrs) {
  char* p = static_cast<char*>(attrs) + field.offset;
  const char* s = text.c_str();
  if (field.array && *s++ != '[') return false;
  for (uint32_t i = 0; i < field.count; ++i, p += width_of(field.kind)) {
    char* end;
    const double v = std::strtod(s, &end);
    if (end == s) return false;
    store_number(field.kind, p, v);
    s = end;
    while (*s == ' ' || *s == ',') ++s;
  }
  return field.array ? std::strcmp(s, "]") == 0 : *s == 0;
}

}  // namespace mote
