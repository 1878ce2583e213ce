#include "mote/compiler/frontends/onnx/importer.h"

namespace mote::frontends::onnx {

using ::onnx::TensorProto;

DType to_dtype(int onnx_type) {
  switch (onnx_type) {
    case TensorProto::FLOAT: return DType::f32;
    case TensorProto::DOUBLE: return DType::f64;
    case TensorProto::FLOAT16: return DType::f16;
    case TensorProto::BFLOAT16: return DType::bf16;
    case TensorProto::INT8: return DType::s8;
    case TensorProto::UINT8: return DType::u8;
    case TensorProto::INT16: return DType::s16;
    case TensorProto::UINT16: return DType::u16;
    case TensorProto::INT32: return DType::s32;
    case TensorProto::UINT32: return DType::u32;
    case TensorProto::INT64: return DType::s64;
    case TensorProto::UINT64: return DType::u64;
    case TensorProto::BOOL: return DType::boolean;
    default: return DType::kNone;
  }
}

std::string onnx_type_name(int onnx_type) {
  if (!::onnx::TensorProto_DataType_IsValid(onnx_type)) return "number " + std::to_string(onnx_type);
  return ::onnx::TensorProto_DataType_Name(static_cast<::onnx::TensorProto_DataType>(onnx_type));
}

}  // namespace mote::frontends::onnx
