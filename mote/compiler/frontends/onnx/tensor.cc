#include "mote/compiler/frontends/onnx/tensor.h"

#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "mote/compiler/frontends/onnx/importer.h"
#include "mote/compiler/frontends/onnx/narrow.h"
#include "mote/core/tensor.h"

namespace mote::frontends::onnx {
namespace {

using ::onnx::TensorProto;
namespace fs = std::filesystem;

// Of all sparse tensors written out: so much for each byte of theirs in the file, and beside that. A few bytes must not claim gigabytes.
constexpr uint64_t kDenseGrowth = 64, kDenseAlways = 16u << 20;

// Of a constant in the graph: 4-bit integers two to a byte, other narrow types one code to a byte.
DType dtype_of_constant(int onnx_type) {
  return onnx_type == TensorProto::INT4 ? DType::s4 : onnx_type == TensorProto::UINT4 ? DType::u4 : storage_of(onnx_type);
}

bool make_type(int onnx_type, const google::protobuf::RepeatedField<int64_t>& dims, ir::Type* out, std::string* error) {
  out->dtype = dtype_of_constant(onnx_type);
  if (out->dtype == DType::kNone) {
    *error = "has element type " + onnx_type_name(onnx_type) + ", which Mote does not have";
    return false;
  }
  if (dims.size() > kMaxRank) {
    *error = "expected at most " + std::to_string(kMaxRank) + " dimensions, found " + std::to_string(dims.size());
    return false;
  }
  for (int64_t d : dims) {
    if (d < 0 || d > kMaxTensorBytes) {
      *error = "has a dimension of size " + std::to_string(d);
      return false;
    }
    out->dims.push_back(static_cast<int32_t>(d));
  }
  if (out->count() > kMaxTensorBytes || out->byte_size() > kMaxTensorBytes) {
    *error = "is larger than " + std::to_string(kMaxTensorBytes) + " bytes";
    return false;
  }
  return true;
}

// Narrows the elements of a typed field to To's bytes.
template <class To, class Field>
bool narrow(const Field& field, uint64_t count, ir::Bytes* out, std::string* error) {
  if (static_cast<uint64_t>(field.size()) != count) {
    *error = "expected " + std::to_string(count) + " elements, found " + std::to_string(field.size());
    return false;
  }
  std::vector<uint8_t> bytes(count * sizeof(To));
  size_t at = 0;
  for (const auto v : field) {
    const To narrowed = static_cast<To>(v);
    std::memcpy(bytes.data() + at, &narrowed, sizeof(To));
    at += sizeof(To);
  }
  *out = ir::Bytes::own(std::move(bytes));
  return true;
}

// Bytes of the elements in the file, where 4-bit and 2-bit ones share a byte.
uint64_t bytes_in_file(const TensorProto& t, const ir::Type& type) {
  const NarrowType* narrow = narrow_type(t.data_type());
  if (narrow == nullptr) return type.byte_size();
  return (static_cast<uint64_t>(type.count()) * static_cast<uint64_t>(narrow->bits) + 7) / 8;
}

// Codes that share bytes in the file, the first in the lowest bits, one to a byte; signed integers with their sign.
ir::Bytes unpacked(const ir::Bytes& packed, size_t count, const NarrowType& t) {
  std::vector<uint8_t> codes(count);
  const size_t in_byte = 8 / static_cast<size_t>(t.bits);
  for (size_t i = 0; i < count; ++i) {
    const int code = packed.data[i / in_byte] >> (i % in_byte * static_cast<size_t>(t.bits)) & ((1 << t.bits) - 1);
    codes[i] = static_cast<uint8_t>(t.storage() == DType::s8 && code > t.high() ? code - (1 << t.bits) : code);
  }
  return ir::Bytes::own(std::move(codes));
}

bool read_typed(const TensorProto& t, const ir::Type& type, ir::Bytes* out, std::string* error) {
  const uint64_t n = static_cast<uint64_t>(type.count());
  switch (type.dtype) {
    case DType::f32: return narrow<float>(t.float_data(), n, out, error);
    case DType::f64: return narrow<double>(t.double_data(), n, out, error);
    case DType::s64: return narrow<int64_t>(t.int64_data(), n, out, error);
    case DType::u32: return narrow<uint32_t>(t.uint64_data(), n, out, error);
    case DType::u64: return narrow<uint64_t>(t.uint64_data(), n, out, error);
    case DType::s32: return narrow<int32_t>(t.int32_data(), n, out, error);
    case DType::f16:
    case DType::bf16:
    case DType::s16:
    case DType::u16: return narrow<uint16_t>(t.int32_data(), n, out, error);
    case DType::boolean: return narrow<bool>(t.int32_data(), n, out, error);
    default: return narrow<uint8_t>(t.int32_data(), bytes_in_file(t, type), out, error);  // a byte each, of whole bytes of narrow types
  }
}

bool parse_number(const std::string& text, uint64_t* out) {
  const auto r = std::from_chars(text.data(), text.data() + text.size(), *out);
  return r.ec == std::errc() && r.ptr == text.data() + text.size();
}

// The file that `location` names beside the model; empty with *error when that lies elsewhere.
fs::path resolve_beside(const std::string& model_path, const std::string& location, std::string* error) {
  std::error_code failed;
  fs::path folder = fs::path(model_path).parent_path();
  if (folder.empty()) folder = ".";
  folder = fs::weakly_canonical(folder, failed);
  const fs::path wanted(location);
  if (model_path.empty() || failed || location.empty() || wanted.is_absolute()) {
    *error = "external data must be named relative to the model file, found '" + location + "'";
    return {};
  }
  const fs::path file = fs::weakly_canonical(folder / wanted, failed);  // follows links, so that none leads out of the folder
  const fs::path inside = file.lexically_relative(folder);
  if (failed || inside.empty() || *inside.begin() == "..") {
    *error = "external data must lie in the model's folder, found '" + location + "'";
    return {};
  }
  return file;
}

// Bytes of bool tensors must be 0 or 1 for kernels that read them as bool.
void normalise_bools(ir::Bytes* bytes) {
  bool clean = true;
  for (size_t i = 0; i < bytes->size; ++i) clean = clean && bytes->data[i] <= 1;
  if (clean) return;
  std::vector<uint8_t> fixed(bytes->data, bytes->data + bytes->size);
  for (uint8_t& b : fixed) b = b != 0;
  *bytes = ir::Bytes::own(std::move(fixed));
}

}  // namespace

bool TensorReader::read_external(const TensorProto& t, uint64_t size, ir::Bytes* out, std::string* error) {
  std::string location;
  uint64_t offset = 0, length = size;
  for (const auto& entry : t.external_data()) {
    if (entry.key() == "location") location = entry.value();
    const bool number = entry.key() == "offset" || entry.key() == "length";
    if (number && !parse_number(entry.value(), entry.key() == "offset" ? &offset : &length)) {
      *error = "external data: " + entry.key() + " is '" + entry.value() + "', expected a number";
      return false;
    }
  }
  if (length != size) {
    *error = "external data: expected " + std::to_string(size) + " bytes, the model says " + std::to_string(length);
    return false;
  }
  const fs::path file = resolve_beside(model_path_, location, error);
  if (file.empty()) return false;
  std::error_code failed;
  const uint64_t have = fs::file_size(file, failed);
  if (failed) {
    *error = "external data file '" + location + "' cannot be opened";
    return false;
  }
  if (offset > have || size > have - offset) {
    *error = "external data file '" + location + "' has " + std::to_string(have) + " bytes, expected " + std::to_string(size) + " at " +
             std::to_string(offset);
    return false;
  }
  std::vector<uint8_t> bytes(size);
  std::ifstream in(file, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(offset));
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
  if (!in) {
    *error = "external data file '" + location + "' cannot be read";
    return false;
  }
  *out = ir::Bytes::own(std::move(bytes));
  return true;
}

bool TensorReader::read_bytes(const TensorProto& t, const ir::Type& type, ir::Bytes* out, std::string* error) {
  if (t.has_segment()) {
    *error = "is stored in segments, which Mote does not read";
    return false;
  }
  const uint64_t size = bytes_in_file(t, type);
  if (t.data_location() == TensorProto::EXTERNAL) return read_external(t, size, out, error);
  if (!t.has_raw_data()) return read_typed(t, type, out, error);
  if (t.raw_data().size() != size) {
    *error = "expected " + std::to_string(size) + " bytes, found " + std::to_string(t.raw_data().size());
    return false;
  }
  *out = {model_, reinterpret_cast<const uint8_t*>(t.raw_data().data()), t.raw_data().size()};
  return true;
}

ir::Value* TensorReader::make_constant(const TensorProto& t, const std::string& name, std::string* error) {
  ir::Type type;
  ir::Bytes bytes;
  if (!make_type(t.data_type(), t.dims(), &type, error) || !read_bytes(t, type, &bytes, error)) return nullptr;
  if (type.dtype == DType::boolean) normalise_bools(&bytes);
  const NarrowType* narrow = narrow_type(t.data_type());
  if (narrow != nullptr && narrow->bits < 8 && !has_packed_kernels(*narrow))
    bytes = unpacked(bytes, static_cast<size_t>(type.count()), *narrow);
  return graph_.add_constant(type.dtype, type.dims, std::move(bytes), name);
}

ir::Value* TensorReader::make_dense(const ::onnx::SparseTensorProto& sparse, const std::string& name, std::string* error) {
  ir::Type type, value_type, index_type;
  ir::Bytes values, indices;
  if (!make_type(sparse.values().data_type(), sparse.dims(), &type, error) ||
      !make_type(sparse.values().data_type(), sparse.values().dims(), &value_type, error) ||
      !make_type(sparse.indices().data_type(), sparse.indices().dims(), &index_type, error) ||
      !read_bytes(sparse.values(), value_type, &values, error) || !read_bytes(sparse.indices(), index_type, &indices, error))
    return nullptr;
  const size_t width = dtype_bytes(type.dtype), rank = type.dims.size(), count = static_cast<size_t>(value_type.count());
  const bool tuples = index_type.rank() == 2;
  const size_t per_value = tuples ? rank : 1;
  if (narrow_type(sparse.values().data_type()) != nullptr) {
    *error = "is a sparse tensor of type " + onnx_type_name(sparse.values().data_type()) + ", expected a type of 8 bits or more";
    return nullptr;
  }
  if (width == 0 || index_type.dtype != DType::s64 || static_cast<size_t>(index_type.count()) != count * per_value) {
    *error = "is a sparse tensor whose indices do not fit its values";
    return nullptr;
  }
  sparse_bytes_ += values.size + indices.size;
  dense_bytes_ += type.byte_size();
  const uint64_t most = sparse_bytes_ * kDenseGrowth + kDenseAlways;
  if (dense_bytes_ > most) {
    *error = "is a sparse tensor whose elements, with those of the ones before it, take " + std::to_string(dense_bytes_) +
             " bytes when written out, expected at most " + std::to_string(most) + " for what the file holds of them";
    return nullptr;
  }
  std::vector<uint8_t> dense(type.byte_size());
  for (size_t i = 0; i < count; ++i) {
    int64_t flat = 0;
    for (size_t k = 0; k < per_value; ++k) {
      int64_t at;
      std::memcpy(&at, indices.data + (i * per_value + k) * sizeof(at), sizeof(at));
      const int64_t limit = tuples ? type.dims[k] : type.count();
      if (at < 0 || at >= limit) {
        *error = "is a sparse tensor with index " + std::to_string(at) + ", expected less than " + std::to_string(limit);
        return nullptr;
      }
      flat = flat * (tuples ? limit : 1) + at;
    }
    std::memcpy(dense.data() + static_cast<size_t>(flat) * width, values.data + i * width, width);
  }
  return graph_.add_constant(type.dtype, type.dims, ir::Bytes::own(std::move(dense)), name);
}

}  // namespace mote::frontends::onnx
