// Values of a case's inputs.

#include <cmath>
#include <cstring>

#include "mote/core/half.h"
#include "tests/differential/case.h"
#include "tests/fuzz/dice.h"

namespace mote::differential {
namespace {

using ::onnx::TensorProto;

DType dtype_of_type(Type t) {
  switch (t) {
    case TensorProto::FLOAT16: return DType::f16;
    case TensorProto::INT32: return DType::s32;
    case TensorProto::INT64: return DType::s64;
    case TensorProto::INT8: return DType::s8;
    case TensorProto::UINT8: return DType::u8;
    case TensorProto::BOOL: return DType::boolean;
    default: return DType::f32;
  }
}

template <class T>
void put(std::vector<uint8_t>* data, T v) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(&v);
  data->insert(data->end(), bytes, bytes + sizeof v);
}

// Kinds of numbers: even, on a coarse grid (ties, equal ones), mostly zero.
float number(fuzz::Dice& dice, uint32_t kind, float most) {
  float v = static_cast<float>(static_cast<int32_t>(dice.raw())) * 0x1p-31f;
  if (kind == 1) v = std::round(v * 8) / 8;
  if (kind == 2 && (dice.raw() & 3) != 0) v = 0;
  return v * most;
}

}  // namespace

std::vector<driver::Array> make_inputs(const Case& c, size_t size) {
  std::vector<driver::Array> out;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const Input& in = c.inputs[i];
    fuzz::Dice dice(c.data_seed * 7919 + i * 131 + size);
    const uint32_t kind = dice.below(6);
    driver::Array a;
    a.dtype = dtype_of_type(in.type);
    int64_t count = 1;
    for (const int d : in.shapes[size]) a.dims.push_back(d), count *= d;
    for (int64_t k = 0; k < count; ++k) {
      const float v = number(dice, kind, in.most);
      switch (a.dtype) {
        case DType::f32: put(&a.data, v); break;
        case DType::f16: put(&a.data, detail::float_to_f16(v)); break;
        case DType::s32: put(&a.data, static_cast<int32_t>(v)); break;
        case DType::s64: put(&a.data, static_cast<int64_t>(v)); break;
        case DType::boolean: put(&a.data, static_cast<uint8_t>(dice.raw() >> 31)); break;
        default: put(&a.data, static_cast<uint8_t>(dice.raw() >> 24)); break;
      }
    }
    out.push_back(std::move(a));
  }
  return out;
}

}  // namespace mote::differential
