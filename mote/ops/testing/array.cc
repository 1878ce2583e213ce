#include "mote/ops/testing/array.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "mote/core/layout.h"

namespace mote::optest {
namespace {

template <class T>
double load_as(const uint8_t* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return static_cast<double>(v);
}
template <class T>
void store_as(uint8_t* p, double x) {
  T v;
  if constexpr (std::is_same_v<T, bool>) v = x != 0;
  else if constexpr (std::is_integral_v<T>) v = x < 0 ? static_cast<T>(static_cast<int64_t>(x)) : static_cast<T>(static_cast<uint64_t>(x));
  else v = static_cast<T>(x);
  std::memcpy(p, &v, sizeof v);
}

double load_element(DType t, const uint8_t* base, int64_t i) {
  switch (t) {
    case DType::f32: return load_as<float>(base + 4 * i);
    case DType::f64: return load_as<double>(base + 8 * i);
    case DType::f16: return static_cast<float>(f16(load_as<f16>(base + 2 * i)));
    case DType::bf16: return load_as<bf16>(base + 2 * i);
    case DType::s8: return load_as<int8_t>(base + i);
    case DType::u8: return load_as<uint8_t>(base + i);
    case DType::s16: return load_as<int16_t>(base + 2 * i);
    case DType::u16: return load_as<uint16_t>(base + 2 * i);
    case DType::s32: return load_as<int32_t>(base + 4 * i);
    case DType::u32: return load_as<uint32_t>(base + 4 * i);
    case DType::s64: return load_as<int64_t>(base + 8 * i);
    case DType::u64: return load_as<uint64_t>(base + 8 * i);
    case DType::boolean: return base[i] != 0;
    case DType::s4: {
      const int v = i % 2 ? base[i / 2] >> 4 : base[i / 2] & 15;
      return v >= 8 ? v - 16 : v;
    }
    case DType::u4: return i % 2 ? base[i / 2] >> 4 : base[i / 2] & 15;
    default: ADD_FAILURE() << "no element type"; return 0;
  }
}

void store_element(DType t, uint8_t* base, int64_t i, double x) {
  switch (t) {
    case DType::f32: return store_as<float>(base + 4 * i, x);
    case DType::f64: return store_as<double>(base + 8 * i, x);
    case DType::f16: return store_as<f16>(base + 2 * i, x);
    case DType::bf16: return store_as<bf16>(base + 2 * i, x);
    case DType::s8: return store_as<int8_t>(base + i, x);
    case DType::u8: return store_as<uint8_t>(base + i, x);
    case DType::s16: return store_as<int16_t>(base + 2 * i, x);
    case DType::u16: return store_as<uint16_t>(base + 2 * i, x);
    case DType::s32: return store_as<int32_t>(base + 4 * i, x);
    case DType::u32: return store_as<uint32_t>(base + 4 * i, x);
    case DType::s64: return store_as<int64_t>(base + 8 * i, x);
    case DType::u64: return store_as<uint64_t>(base + 8 * i, x);
    case DType::boolean: base[i] = x != 0; return;
    case DType::s4:
    case DType::u4: {
      const uint8_t v = static_cast<uint8_t>(static_cast<int>(x) & 15);
      base[i / 2] = static_cast<uint8_t>(i % 2 ? (base[i / 2] & 15) | v << 4 : (base[i / 2] & 0xf0) | v);
      return;
    }
    default: ADD_FAILURE() << "no element type";
  }
}

}  // namespace

int64_t count_of(const Shape& shape) {
  int64_t n = 1;
  for (int32_t d : shape) n *= d;
  return n;
}

Array::Array(DType dtype, Shape shape) : dtype_(dtype), shape_(std::move(shape)) {
  bytes_.resize(static_cast<size_t>((count() * dtype_bits(dtype) + 7) / 8));
}

Array Array::from(DType dtype, Shape shape, const std::vector<double>& values) {
  Array a(dtype, std::move(shape));
  EXPECT_EQ(static_cast<int64_t>(values.size()), a.count()) << "a test gave the wrong number of values";
  for (int64_t i = 0; i < std::min<int64_t>(a.count(), static_cast<int64_t>(values.size())); ++i) a.set(i, values[static_cast<size_t>(i)]);
  return a;
}

Array Array::random(DType dtype, Shape shape, uint32_t seed, double lo, double hi) {
  Array a(dtype, std::move(shape));
  const bool whole = (mask_of(dtype) & kFloat) == 0;
  const bool is_unsigned =
      (mask_of(dtype) & (mask_of(DType::u8) | mask_of(DType::u16) | mask_of(DType::u32) | mask_of(DType::u64) | mask_of(DType::u4))) != 0;
  if (is_unsigned) lo = std::max(lo, 0.0);
  if (dtype == DType::boolean) lo = 0, hi = 1;
  uint64_t state = seed * 0x9e3779b97f4a7c15ull + 0x123456789ull;
  for (int64_t i = 0; i < a.count(); ++i) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    const double unit = static_cast<double>(state >> 33) / 2147483648.0;
    a.set(i, whole ? std::floor(lo + unit * (hi - lo + 1)) : lo + unit * (hi - lo));
  }
  return a;
}

Array Array::packed(Layout layout) const {
  Array p = *this;
  p.layout_ = layout;
  const uint32_t n_count = static_cast<uint32_t>(shape_[0]);
  const uint32_t k_count = static_cast<uint32_t>(count() / std::max(1, shape_[0]));
  p.bytes_.assign(panel_bytes(layout, dtype_, n_count, k_count), 0);
  const PanelShape g = panel_shape(layout, dtype_);
  for (uint32_t n = 0; n < n_count; ++n) {
    for (uint32_t k = 0; k < k_count; ++k) {
      uint8_t* group = p.bytes_.data() + panel_offset(layout, dtype_, n, k, k_count);
      const double v = get(static_cast<int64_t>(n) * k_count + k);
      if (dtype_ == DType::s4) store_element(DType::s4, group, k % 4 * 2 + (k % 8 >= 4 ? 1 : 0), v);
      else store_element(dtype_, group, k % g.k_group, v);
    }
  }
  return p;
}

Array Array::reshaped(Shape shape) const {
  Array r = *this;
  EXPECT_EQ(count(), count_of(shape)) << "a test gave a shape with another number of elements";
  r.shape_ = std::move(shape);
  return r;
}

double Array::get(int64_t flat) const { return load_element(dtype_, bytes_.data(), flat); }
void Array::set(int64_t flat, double value) { store_element(dtype_, bytes_.data(), flat, value); }

int64_t Array::flat_index(const Shape& index) const {
  int64_t flat = 0;
  for (size_t i = 0; i < shape_.size(); ++i) flat = flat * shape_[i] + index[i];
  return flat;
}

void for_each_index(const Shape& shape, const std::function<void(const Shape&)>& visit) {
  if (count_of(shape) == 0) return;
  Shape index(shape.size(), 0);
  while (true) {
    visit(index);
    size_t i = shape.size();
    while (i > 0 && ++index[i - 1] == shape[i - 1]) index[--i] = 0;
    if (i == 0) return;
  }
}

}  // namespace mote::optest
