#include "mote/compiler/emit/tosa/writer.h"

#include <cmath>
#include <cstring>

namespace mote::emit::tosa {
namespace {

template <class T>
void put(std::vector<uint8_t>* to, T v) {
  const auto* p = reinterpret_cast<const uint8_t*>(&v);
  to->insert(to->end(), p, p + sizeof v);
}

template <class T>
T saturated(double v) {
  using L = std::numeric_limits<T>;
  return v >= static_cast<double>(L::max()) ? L::max() : v <= static_cast<double>(L::min()) ? L::min() : static_cast<T>(v);
}

void put_number(std::vector<uint8_t>* to, fb::DType t, double v) {
  switch (t) {
    case fb::DType::BOOL: put<uint8_t>(to, v != 0); break;
    case fb::DType::INT8: put(to, saturated<int8_t>(v)); break;
    case fb::DType::INT16: put(to, saturated<int16_t>(v)); break;
    case fb::DType::INT32: put(to, saturated<int32_t>(v)); break;
    case fb::DType::INT48: {
      const int64_t wide = saturated<int64_t>(v);
      for (int i = 0; i < 6; ++i) put(to, static_cast<uint8_t>(static_cast<uint64_t>(wide) >> (8 * i)));
      break;
    }
    case fb::DType::FP16: put(to, f16(v)); break;
    case fb::DType::BF16: put(to, bf16(v)); break;
    default: put(to, static_cast<float>(v)); break;
  }
}

// The attribute table of an operator without fields: the tables of the union are in the order of the operators, but for the last ones.
fb::Attribute kind_of(fb::Op code) { return static_cast<fb::Attribute>(static_cast<int>(code)); }

}  // namespace

fb::DType type_of(DType t) {
  switch (t) {
    case DType::boolean: return fb::DType::BOOL;
    case DType::s8:
    case DType::u8: return fb::DType::INT8;
    case DType::s16:
    case DType::u16: return fb::DType::INT16;
    case DType::s32:
    case DType::u32: return fb::DType::INT32;
    case DType::s64: return fb::DType::INT48;
    case DType::f32: return fb::DType::FP32;
    case DType::f16: return fb::DType::FP16;
    case DType::bf16: return fb::DType::BF16;
    default: return fb::DType::UNKNOWN;
  }
}

std::string Writer::fresh(const char* stem) {
  std::string name = stem + std::to_string(next_++);
  while (reserved_.count(name) != 0) name = stem + std::to_string(next_++);
  return name;
}

void Writer::declare(const Operand& x, const std::vector<uint8_t>* data) {
  if (std::any_of(x.dims.begin(), x.dims.end(), [](int32_t d) { return d < 1; })) fail("TOSA has no empty tensors");
  flatbuffers::Offset<flatbuffers::Vector<uint8_t>> bytes = 0;
  if (data != nullptr) {
    b.ForceVectorAlignment(data->size(), 1, 8);
    bytes = b.CreateVector(*data);
  }
  const auto dims = b.CreateVector(x.dims);
  now_.tensors.push_back(fb::CreateTosaTensor(b, b.CreateString(x.name), dims, x.type, bytes));
}

Operand Writer::bytes(fb::DType type, const Dims& dims, const void* data, size_t size) {
  const Operand x{fresh("c"), type, dims};
  const auto* p = static_cast<const uint8_t*>(data);
  const std::vector<uint8_t> copy(p, p + size);
  declare(x, &copy);
  now_.ops.push_back(fb::CreateTosaOperator(b, fb::Op::CONST, fb::Attribute::ConstAttribute, fb::CreateConstAttribute(b).Union(),
                                            b.CreateVectorOfStrings(std::vector<std::string>{}),
                                            b.CreateVectorOfStrings(std::vector<std::string>{x.name})));
  return x;
}

Operand Writer::numbers(fb::DType type, const Dims& dims, const std::vector<double>& values) {
  std::vector<uint8_t> data;
  for (const double v : values) put_number(&data, type, v);
  return bytes(type, dims, data.data(), data.size());
}

Operand Writer::shape(const std::vector<int64_t>& sizes) {
  const Operand x{fresh("s"), fb::DType::SHAPE, {static_cast<int32_t>(sizes.size())}};
  std::vector<uint8_t> data;
  for (const int64_t s : sizes) put(&data, s);
  b.ForceVectorAlignment(data.size(), 1, 8);
  const auto bytes = b.CreateVector(data);
  now_.shapes.push_back(fb::CreateTosaShape(b, b.CreateString(x.name), static_cast<uint32_t>(sizes.size()), bytes));
  now_.ops.push_back(fb::CreateTosaOperator(b, fb::Op::CONST_SHAPE, fb::Attribute::ConstShapeAttribute,
                                            fb::CreateConstShapeAttribute(b).Union(), b.CreateVectorOfStrings(std::vector<std::string>{}),
                                            b.CreateVectorOfStrings(std::vector<std::string>{x.name})));
  return x;
}

// RESCALE without scaling: u8 with the bits it has to signed elements, or back.
Operand Writer::turned(const Operand& x, bool to_signed) {
  const auto kind = fb::CreateRescaleAttribute(b, true, fb::RoundingMode::SINGLE_ROUND, false, to_signed, !to_signed).Union();
  const Operand mid = zero(x.type, -128), none = zero(x.type, 0);
  return op(fb::Op::RESCALE, fb::Attribute::RescaleAttribute, kind,
            {x, numbers(fb::DType::INT32, {1}, {1 << 30}), numbers(fb::DType::INT8, {1}, {30}), mid, none}, x.type, x.dims);
}

Operand Writer::signed_of(const Value* v) {
  if (v == nullptr || v->type.dtype != DType::u8) return of(v);
  const auto found = now_.twins.find(v);
  if (found != now_.twins.end()) return found->second;
  if (!v->is_constant()) {
    const Operand x = of(v);
    return ok() ? now_.twins[v] = turned(x, true) : x;
  }
  std::vector<uint8_t> data(v->data.data, v->data.data + v->data.size);
  for (uint8_t& e : data) e = static_cast<uint8_t>(e ^ 0x80);
  return now_.twins[v] = bytes(fb::DType::INT8, v->type.dims, data.data(), data.size());
}

void Writer::bind_signed(const Value* v, const Operand& x) { (v->type.dtype == DType::u8 ? now_.twins : now_.values)[v] = x; }

Operand Writer::of(const Value* v) {
  const auto found = now_.values.find(v);
  if (found != now_.values.end()) return found->second;
  const auto twin = now_.twins.find(v);
  if (twin != now_.twins.end()) return now_.values[v] = turned(twin->second, false);
  if (v == nullptr || !v->is_constant() || v->layout != Layout::kPlain) {
    fail("an operand is missing");
    return {};
  }
  if (v->type.dtype == DType::s4) {  // as INT8; the low half of a byte comes first
    std::vector<double> whole;
    for (size_t i = 0; i < static_cast<size_t>(v->type.count()); ++i) {
      const int part = v->data.data[i / 2] >> (i % 2 * 4) & 15;
      whole.push_back(part >= 8 ? part - 16 : part);
    }
    return now_.values[v] = numbers(fb::DType::INT8, v->type.dims, whole);
  }
  const fb::DType t = type_of(v->type.dtype);
  if (t == fb::DType::UNKNOWN) {
    fail(std::string("constants of type ") + dtype_name(v->type.dtype) + " have no place in TOSA");
    return {};
  }
  if (t != fb::DType::INT48) return now_.values[v] = bytes(t, v->type.dims, v->data.data, v->data.size);
  // Small numbers of 64 bits are mostly indices.
  std::vector<double> wide;
  bool small = true;
  for (size_t i = 0; i + 8 <= v->data.size; i += 8) {
    int64_t x;
    std::memcpy(&x, v->data.data + i, sizeof x);
    wide.push_back(static_cast<double>(x));
    small = small && x >= INT32_MIN && x <= INT32_MAX;
  }
  return now_.values[v] = numbers(small ? fb::DType::INT32 : fb::DType::INT48, v->type.dims, wide);
}

Operand Writer::of(const Value* v, int rank) { return padded(of(v), rank); }
Operand Writer::signed_of(const Value* v, int rank) { return padded(signed_of(v), rank); }

Operand Writer::padded(const Operand& x, int rank) {
  if (!ok() || static_cast<int>(x.dims.size()) >= rank) return x;
  Dims dims(static_cast<size_t>(rank) - x.dims.size(), 1);
  dims.insert(dims.end(), x.dims.begin(), x.dims.end());
  return reshape(x, dims);
}

Operand Writer::op(fb::Op code, fb::Attribute kind, flatbuffers::Offset<void> attribute, const std::vector<Operand>& in, fb::DType type,
                   const Dims& dims) {
  std::vector<std::string> names;
  for (const Operand& x : in) names.push_back(x.name);
  const Operand y{fresh("t"), type, dims};
  declare(y, nullptr);
  now_.ops.push_back(fb::CreateTosaOperator(b, code, kind, attribute, b.CreateVectorOfStrings(names),
                                            b.CreateVectorOfStrings(std::vector<std::string>{y.name})));
  return y;
}

std::vector<Operand> Writer::op_of_many(fb::Op code, fb::Attribute kind, flatbuffers::Offset<void> attribute,
                                        const std::vector<Operand>& in, std::vector<Operand> out) {
  std::vector<std::string> names, results;
  for (const Operand& x : in) names.push_back(x.name);
  for (Operand& y : out) {
    y.name = fresh("t");
    results.push_back(y.name);
    declare(y, nullptr);
  }
  now_.ops.push_back(fb::CreateTosaOperator(b, code, kind, attribute, b.CreateVectorOfStrings(names), b.CreateVectorOfStrings(results)));
  return out;
}

Operand Writer::op(fb::Op code, const std::vector<Operand>& in, fb::DType type, const Dims& dims) {
  return op(code, kind_of(code), fb::CreateAddAttribute(b).Union(), in, type, dims);
}

Operand Writer::reshape(const Operand& x, const Dims& dims) {
  if (x.dims == dims) return x;
  return op(fb::Op::RESHAPE, {x, shape({dims.begin(), dims.end()})}, x.type, dims);
}

Operand Writer::cast(const Operand& x, fb::DType to) { return x.type == to ? x : op(fb::Op::CAST, {x}, to, x.dims); }

Operand Writer::binary(fb::Op code, const Operand& x, const Operand& y) {
  Dims dims = x.dims;
  for (size_t i = 0; i < dims.size() && i < y.dims.size(); ++i) dims[i] = dims[i] == 1 ? y.dims[i] : dims[i];
  const bool test = code == fb::Op::EQUAL || code == fb::Op::GREATER || code == fb::Op::GREATER_EQUAL;
  const fb::DType type = test ? fb::DType::BOOL : x.type;
  if (code == fb::Op::MAXIMUM)
    return op(code, fb::Attribute::MaximumAttribute, fb::CreateMaximumAttribute(b, fb::NanPropagationMode::PROPAGATE).Union(), {x, y}, type,
              dims);
  if (code == fb::Op::MINIMUM)
    return op(code, fb::Attribute::MinimumAttribute, fb::CreateMinimumAttribute(b, fb::NanPropagationMode::PROPAGATE).Union(), {x, y}, type,
              dims);
  if (code == fb::Op::MUL) return op(code, {x, y, zero(fb::DType::INT8)}, type, dims);
  return op(code, {x, y}, type, dims);
}

Operand Writer::transpose(const Operand& x, const std::vector<int>& perm) {
  Dims dims;
  bool same = true;
  for (size_t i = 0; i < perm.size(); ++i) {
    dims.push_back(x.dims[static_cast<size_t>(perm[i])]);
    same = same && perm[i] == static_cast<int>(i);
  }
  if (same) return x;
  const std::vector<int32_t> list(perm.begin(), perm.end());
  return op(fb::Op::TRANSPOSE, fb::Attribute::TransposeAttribute, fb::CreateTransposeAttributeDirect(b, &list).Union(), {x}, x.type, dims);
}

Operand Writer::clamp(const Operand& x, double lo, double hi) {
  std::vector<uint8_t> low, high;
  put_number(&low, x.type, lo);
  put_number(&high, x.type, hi);
  if (x.type == fb::DType::INT32) {  // CLAMP has no 32-bit integers
    const int rank = static_cast<int>(x.dims.size());
    return binary(fb::Op::MINIMUM, binary(fb::Op::MAXIMUM, x, number(x.type, lo, rank)), number(x.type, hi, rank));
  }
  b.ForceVectorAlignment(low.size(), 1, 8);
  const auto lo_bytes = b.CreateVector(low);
  b.ForceVectorAlignment(high.size(), 1, 8);
  const auto hi_bytes = b.CreateVector(high);
  return op(fb::Op::CLAMP, fb::Attribute::ClampAttribute,
            fb::CreateClampAttribute(b, lo_bytes, hi_bytes, fb::NanPropagationMode::PROPAGATE).Union(), {x}, x.type, x.dims);
}

void Writer::input(const Value* v, const std::string& name) {
  const Operand x{name, type_of(v->type.dtype), v->type.dims};
  if (x.type == fb::DType::UNKNOWN || x.type == fb::DType::INT48)
    return fail(std::string("inputs of type ") + dtype_name(v->type.dtype) + " have no place in TOSA");
  declare(x, nullptr);
  now_.inputs.push_back(name);
  bind(v, x);
}

void Writer::output(const Value* v, const std::string& name) {
  const Operand x = of(v);
  if (!ok()) return;
  if (x.type == fb::DType::INT48 || (v->type.dtype == DType::s64 && x.type == fb::DType::INT32))
    return fail("outputs of type s64 have no place in TOSA");
  const Operand y{name, x.type, x.dims};
  declare(y, nullptr);
  now_.ops.push_back(fb::CreateTosaOperator(b, fb::Op::IDENTITY, fb::Attribute::IdentityAttribute, fb::CreateIdentityAttribute(b).Union(),
                                            b.CreateVectorOfStrings(std::vector<std::string>{x.name}),
                                            b.CreateVectorOfStrings(std::vector<std::string>{name})));
  now_.outputs.push_back(name);
}

std::string Writer::open_region(const char* stem) {
  outer_.push_back(std::move(now_));
  now_ = Region();
  return now_.name = fresh(stem);
}

void Writer::close_region() {
  regions_.push_back(finish_region());
  now_ = std::move(outer_.back());
  outer_.pop_back();
}

Operand Writer::region_input(const Operand& like) {
  const Operand x{fresh("a"), like.type, like.dims};
  declare(x, nullptr);
  now_.inputs.push_back(x.name);
  return x;
}

void Writer::region_output(const Operand& x) {
  const Operand y = op(fb::Op::IDENTITY, {x}, x.type, x.dims);
  now_.outputs.push_back(y.name);
}

flatbuffers::Offset<fb::TosaRegion> Writer::finish_region() {
  const auto block =
      fb::CreateTosaBasicBlock(b, b.CreateString(now_.name), b.CreateVector(now_.ops), b.CreateVector(now_.tensors),
                               b.CreateVectorOfStrings(now_.inputs), b.CreateVectorOfStrings(now_.outputs), b.CreateVector(now_.shapes));
  const std::vector<flatbuffers::Offset<fb::TosaBasicBlock>> blocks{block};
  return fb::CreateTosaRegionDirect(b, now_.name.c_str(), &blocks);
}

// The first region is the program.
std::vector<uint8_t> Writer::finish() {
  regions_.insert(regions_.begin(), finish_region());
  b.Finish(fb::CreateTosaGraphDirect(b, fb::CreateVersion(b, 1, 0, 0, false), &regions_), fb::TosaGraphIdentifier());
  return {b.GetBufferPointer(), b.GetBufferPointer() + b.GetSize()};
}

}  // namespace mote::emit::tosa
