#include "mote/compiler/frontends/torch/schema.h"

namespace mote::frontends::torch {

DType to_dtype(int scalar_type) {
  switch (scalar_type) {
    case 1: return DType::u8;
    case 2: return DType::s8;
    case 3: return DType::s16;
    case 4: return DType::s32;
    case 5: return DType::s64;
    case 6: return DType::f16;
    case 7: return DType::f32;
    case 8: return DType::f64;
    case 12: return DType::boolean;
    case 13: return DType::bf16;
    case 28: return DType::u16;
    case 34: return DType::u32;
    case 35: return DType::u64;
    default: return DType::kNone;
  }
}

std::string scalar_type_name(int scalar_type) {
  switch (scalar_type) {
    case 9: return "complex32";
    case 10: return "complex64";
    case 11: return "complex128";
    case 29:
    case 30:
    case 31:
    case 32:
    case 33: return "float8";
    default: return to_dtype(scalar_type) != DType::kNone ? dtype_name(to_dtype(scalar_type)) : "number " + std::to_string(scalar_type);
  }
}

}  // namespace mote::frontends::torch
