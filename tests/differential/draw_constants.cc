// Constants of a graph that is drawn.

#include <cmath>

#include "mote/core/half.h"
#include "tests/differential/draw.h"

namespace mote::differential {

using ::onnx::TensorProto;

TensorProto* Draw::initializer(const std::string& name, Type type, const Dims& dims) {
  TensorProto* t = graph_->add_initializer();
  t->set_name(name);
  t->set_data_type(type);
  for (const int d : dims) t->add_dims(d);
  return t;
}

std::string Draw::reals(const Dims& dims, float most, float offset) {
  const std::string name = fresh("c");
  TensorProto* t = initializer(name, real, dims);
  fuzz::Dice dice(out_.data_seed * 1000003 + static_cast<uint64_t>(names_));
  const bool coarse = (dice.raw() & 3) == 0;
  std::string& raw = *t->mutable_raw_data();
  for (int64_t i = 0, n = count_of(dims); i < n; ++i) {
    float v = static_cast<float>(static_cast<int32_t>(dice.raw())) * 0x1p-31f;
    if (coarse) v = std::round(v * 4) / 4;
    v = v * most + offset;
    if (real == TensorProto::FLOAT) {
      raw.append(reinterpret_cast<const char*>(&v), 4);
    } else {
      const uint16_t h = detail::float_to_f16(v);
      raw.append(reinterpret_cast<const char*>(&h), 2);
    }
  }
  return name;
}

namespace {
void append_integer(Type type, int64_t v, std::string* raw) {
  // Little endian: the low bytes come first.
  const size_t bytes = type == TensorProto::INT64                                  ? 8
                       : type == TensorProto::INT32                                ? 4
                       : type == TensorProto::INT16 || type == TensorProto::UINT16 ? 2
                                                                                   : 1;
  raw->append(reinterpret_cast<const char*>(&v), bytes);
}
}  // namespace

std::string Draw::scalar(float v, Type type) {
  const std::string name = fresh("c");
  TensorProto* t = initializer(name, type, {});
  std::string& raw = *t->mutable_raw_data();
  if (type == TensorProto::FLOAT) {
    raw.assign(reinterpret_cast<const char*>(&v), 4);
  } else if (type == TensorProto::FLOAT16) {
    const uint16_t h = detail::float_to_f16(v);
    raw.assign(reinterpret_cast<const char*>(&h), 2);
  } else {
    append_integer(type, static_cast<int64_t>(v), &raw);
  }
  return name;
}

void Draw::set_floats(const std::string& name, const std::vector<float>& to) {
  for (TensorProto& t : *graph_->mutable_initializer())
    if (t.name() == name) t.mutable_raw_data()->assign(reinterpret_cast<const char*>(to.data()), 4 * to.size());
}

std::string Draw::int64s(const std::vector<int64_t>& v) {
  const std::string name = fresh("c");
  TensorProto* t = initializer(name, TensorProto::INT64, {static_cast<int>(v.size())});
  t->mutable_raw_data()->assign(reinterpret_cast<const char*>(v.data()), 8 * v.size());
  return name;
}

std::string Draw::int64_scalar(int64_t v) { return scalar(static_cast<float>(v), TensorProto::INT64); }

std::string Draw::integers(Type type, const Dims& dims, int64_t low, int64_t high) {
  const std::string name = fresh("c");
  TensorProto* t = initializer(name, type, dims);
  fuzz::Dice dice(out_.data_seed * 1000003 + static_cast<uint64_t>(names_));
  for (int64_t i = 0, n = count_of(dims); i < n; ++i)
    append_integer(type, low + static_cast<int64_t>(dice.raw() % static_cast<uint64_t>(high - low + 1)), t->mutable_raw_data());
  return name;
}

std::string Draw::weights(const Dims& dims, int axis, float most, float* scale) {
  *scale = most / 127;
  if (!quantized || c.chance(4)) return reals(dims, most);
  const bool each = c.chance(60);
  const Type code = c.chance(15) ? TensorProto::UINT8 : TensorProto::INT8;
  const int count = dims[static_cast<size_t>(axis)];
  Value out;
  std::string scale_name, zero_name;
  if (each) {
    const std::string name = fresh("c");
    TensorProto* t = initializer(name, TensorProto::FLOAT, {count});
    fuzz::Dice dice(out_.data_seed * 1000003 + static_cast<uint64_t>(names_));
    for (int i = 0; i < count; ++i) {
      const float s = *scale * (0.5f + static_cast<float>(dice.raw() % 64) / 64.0f);
      t->mutable_raw_data()->append(reinterpret_cast<const char*>(&s), 4);
    }
    scale_name = name;
    zero_name = code == TensorProto::UINT8 ? integers(code, {count}, 128, 128) : integers(code, {count}, 0, 0);
  } else {
    scale_name = scalar(*scale, TensorProto::FLOAT);
    zero_name = scalar(code == TensorProto::UINT8 ? 128 : 0, code);
  }
  const int64_t low = code == TensorProto::UINT8 ? 0 : -127;
  const std::string codes = integers(code, dims, low, low + 254);
  if (!node(
          "DequantizeLinear", {codes, scale_name, zero_name}, TensorProto::FLOAT, most, [&](size_t) { return dims; }, &out,
          [&](Node& n) {
            if (each) n.i("axis", axis);
          }))
    return reals(dims, most);
  if (each) *scale = -1;
  return out.name;
}

std::string Draw::bias(int count, int products, const Value& x, float weight_scale) {
  if (!quantized || weight_scale < 0 || !x.dequantized() || c.chance(30)) return reals({count}, 0.5f);
  // As quantizers write it: 32-bit codes at the scale of the products.
  Value out;
  const std::string codes = integers(TensorProto::INT32, {count}, -400 * products, 400 * products);
  const std::string zero = scalar(0, TensorProto::INT32), scale = scalar(x.scale_value * weight_scale, TensorProto::FLOAT);
  if (!node(
          "DequantizeLinear", {codes, scale, zero}, TensorProto::FLOAT, 1, [&](size_t) { return Dims{count}; }, &out))
    return reals({count}, 0.5f);
  return out.name;
}

}  // namespace mote::differential
