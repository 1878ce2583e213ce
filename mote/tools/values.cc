#include "mote/tools/values.h"

#include <cstring>

namespace mote::tools {
namespace {

template <class T>
void append_all(const uint8_t* data, size_t bytes, std::vector<double>* out) {
  for (size_t i = 0; i + sizeof(T) <= bytes; i += sizeof(T)) {
    T v;
    std::memcpy(static_cast<void*>(&v), data + i, sizeof v);
    if constexpr (std::is_same_v<T, f16> || std::is_same_v<T, bf16>) out->push_back(static_cast<float>(v));
    else out->push_back(static_cast<double>(v));
  }
}

template <class T>
void store(std::vector<uint8_t>* data, size_t at, T v) {
  std::memcpy(data->data() + at, &v, sizeof v);
}

template <class T>
void fill_floats(std::mt19937& random, std::vector<uint8_t>* data) {
  std::uniform_real_distribution<float> dist(-1.f, 1.f);
  for (size_t i = 0; i + sizeof(T) <= data->size(); i += sizeof(T)) store(data, i, T(dist(random)));
}

template <class T>
void fill_bits(std::mt19937& random, std::vector<uint8_t>* data) {
  for (size_t i = 0; i + sizeof(T) <= data->size(); i += sizeof(T)) store(data, i, static_cast<T>(random() & 1));
}

template <class Dim, class Text>
std::string shape_text(DType dtype, const std::vector<Dim>& dims, Text text) {
  std::string s = dtype_name(dtype) + std::string(" (");
  for (size_t i = 0; i < dims.size(); ++i) s += (i > 0 ? ", " : "") + text(i);
  return s + ")";
}

}  // namespace

std::vector<double> to_doubles(DType dtype, const uint8_t* data, size_t bytes) {
  std::vector<double> out;
  switch (dtype) {
    case DType::f32: append_all<float>(data, bytes, &out); break;
    case DType::f64: append_all<double>(data, bytes, &out); break;
    case DType::f16: append_all<f16>(data, bytes, &out); break;
    case DType::bf16: append_all<bf16>(data, bytes, &out); break;
    case DType::s8: append_all<int8_t>(data, bytes, &out); break;
    case DType::s16: append_all<int16_t>(data, bytes, &out); break;
    case DType::u16: append_all<uint16_t>(data, bytes, &out); break;
    case DType::s32: append_all<int32_t>(data, bytes, &out); break;
    case DType::u32: append_all<uint32_t>(data, bytes, &out); break;
    case DType::s64: append_all<int64_t>(data, bytes, &out); break;
    case DType::u64: append_all<uint64_t>(data, bytes, &out); break;
    default: append_all<uint8_t>(data, bytes, &out); break;
  }
  return out;
}

void fill_random(DType dtype, std::mt19937& random, std::vector<uint8_t>* data) {
  switch (dtype) {
    case DType::f32: return fill_floats<float>(random, data);
    case DType::f64: return fill_floats<double>(random, data);
    case DType::f16: return fill_floats<f16>(random, data);
    case DType::bf16: return fill_floats<bf16>(random, data);
    case DType::boolean: return fill_bits<uint8_t>(random, data);
    case DType::s32:
    case DType::u32: return fill_bits<uint32_t>(random, data);
    case DType::s64:
    case DType::u64: return fill_bits<uint64_t>(random, data);
    default:
      for (uint8_t& b : *data) b = static_cast<uint8_t>(random());
  }
}

std::string type_text(const TensorSpec& spec) {
  return shape_text(static_cast<DType>(spec.dtype), spec.dims,
                    [&](size_t i) { return ((spec.dynamic >> i & 1) != 0 ? "<=" : "") + std::to_string(spec.dims[i]); });
}

std::string type_text(DType dtype, const std::vector<int64_t>& dims) {
  return shape_text(dtype, dims, [&](size_t i) { return std::to_string(dims[i]); });
}

}  // namespace mote::tools
