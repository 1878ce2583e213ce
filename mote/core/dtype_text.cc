#include "mote/core/dtype.h"

namespace mote {

const char* dtype_name(DType t) noexcept {
  if (t == DType::boolean) return "bool";
  struct Entry {
    DType type;
    const char* name;
  };
  static const Entry kNames[] = {
#define MOTE_DTYPE(value, name, type, bits) {DType::name, #name},
#include "mote/core/dtype.def"
#undef MOTE_DTYPE
  };
  for (const Entry& e : kNames)
    if (e.type == t) return e.name;
  return t == DType::kNone ? "none" : "invalid";
}

DType dtype_from_name(const char* name) noexcept {
  for (uint8_t v = 1; v < kDTypeCount; ++v)
    if (std::strcmp(dtype_name(static_cast<DType>(v)), name) == 0) return static_cast<DType>(v);
  return DType::kNone;
}

}  // namespace mote
