#include "mote/compiler/driver/values.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "mote/core/size.h"
#include "mote/format/sha256.h"

namespace mote::driver {
namespace {

template <class T>
void append_all(const uint8_t* data, size_t bytes, std::vector<double>* out) {
  out->reserve(bytes / sizeof(T));
  for (size_t i = 0; i + sizeof(T) <= bytes; i += sizeof(T)) {
    T v;
    std::memcpy(static_cast<void*>(&v), data + i, sizeof v);
    if constexpr (std::is_same_v<T, f16> || std::is_same_v<T, bf16>) out->push_back(static_cast<float>(v));
    else out->push_back(static_cast<double>(v));
  }
}

void append_nibbles(const uint8_t* data, size_t bytes, bool is_signed, std::vector<double>* out) {
  for (size_t i = 0; i < 2 * bytes; ++i) {
    const int v = data[i / 2] >> 4 * (i % 2) & 15;
    out->push_back(is_signed && v > 7 ? v - 16 : v);
  }
}

template <class T, class Make>
void fill(std::vector<uint8_t>* data, Make make) {
  for (size_t i = 0; i + sizeof(T) <= data->size(); i += sizeof(T)) {
    const T v = make();
    std::memcpy(data->data() + i, static_cast<const void*>(&v), sizeof v);
  }
}

template <class T>
void fill_floats(Random& random, std::vector<uint8_t>* data) {
  fill<T>(data, [&] { return T(random.unit() * 2 - 1); });
}
template <class T>
void fill_bits(Random& random, std::vector<uint8_t>* data) {
  fill<T>(data, [&] { return static_cast<T>(random.next() >> 63); });
}

size_t arg_max(const double* row, size_t count) { return static_cast<size_t>(std::max_element(row, row + count) - row); }

}  // namespace

uint64_t dense_bytes(DType dtype, const std::vector<int64_t>& dims) {
  uint64_t count = 1;
  for (const int64_t d : dims) count = times(count, d < 0 ? kTooLarge : static_cast<uint64_t>(d));
  return count <= kMaxTensorBytes ? bytes_of_elements(dtype, count) : 0;
}

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
    case DType::s4: append_nibbles(data, bytes, true, &out); break;
    case DType::u4: append_nibbles(data, bytes, false, &out); break;
    default: append_all<uint8_t>(data, bytes, &out); break;
  }
  return out;
}

std::vector<double> to_doubles(const Array& array) {
  std::vector<double> v = to_doubles(array.dtype, array.data.data(), array.data.size());
  if (dtype_bits(array.dtype) < 8) {
    size_t count = 1;
    for (const int64_t d : array.dims) count *= static_cast<size_t>(d);
    v.resize(std::min(v.size(), count));
  }
  return v;
}

// SplitMix64 (Steele, Lea, Flood 2014).
uint64_t Random::next() {
  uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

void fill_random(DType dtype, Random& random, std::vector<uint8_t>* data) {
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
    default: fill<uint8_t>(data, [&] { return static_cast<uint8_t>(random.next() >> 56); });
  }
}

Array make_random(DType dtype, const std::vector<int64_t>& dims, Random& random) {
  Array a{dtype, dims, std::vector<uint8_t>(dense_bytes(dtype, dims))};
  fill_random(dtype, random, &a.data);
  return a;
}

bool Difference::within(double tolerance) const {
  if (!same_type) return false;
  if (tolerance == 0) return identical;
  return !specials_differ && largest_error <= tolerance * largest_expected;
}

Difference difference(const Array& found, const Array& expected) {
  Difference d;
  d.same_type = found.dtype == expected.dtype && found.dims == expected.dims && found.data.size() == expected.data.size();
  if (!d.same_type) return d;
  d.identical = found.data == expected.data;
  const std::vector<double> a = to_doubles(found), b = to_doubles(expected);
  d.count = b.size();
  double signal = 0, noise = 0, sum = 0;
  for (size_t i = 0; i < b.size(); ++i) {
    // Values that are not numbers must be the same; a difference of infinities means nothing.
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) {
      d.specials_differ |= !(a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])));
      continue;
    }
    const double error = std::fabs(a[i] - b[i]);
    d.largest_expected = std::max(d.largest_expected, std::fabs(b[i]));
    d.largest_error = std::max(d.largest_error, error);
    sum += error;
    signal += b[i] * b[i];
    noise += error * error;
  }
  if (d.count > 0) d.mean_error = sum / static_cast<double>(d.count);
  d.sqnr_db = noise == 0 ? std::numeric_limits<double>::infinity() : 10 * std::log10(signal / noise);
  const size_t row = expected.dims.empty() ? 1 : static_cast<size_t>(expected.dims.back());
  size_t rows = 0, same = 0;
  for (size_t i = 0; row > 0 && i + row <= b.size(); i += row, ++rows) same += arg_max(&a[i], row) == arg_max(&b[i], row);
  if (rows > 0) d.top1 = static_cast<double>(same) / static_cast<double>(rows);
  return d;
}

std::string type_text(DType dtype, const std::vector<int64_t>& dims) {
  std::string s = dtype_name(dtype) + std::string(" (");
  for (size_t i = 0; i < dims.size(); ++i) s += (i > 0 ? ", " : "") + std::to_string(dims[i]);
  return s + ")";
}

std::string sha256_hex(ConstBytes bytes) {
  Sha256 sha;
  sha.update(bytes);
  uint8_t digest[32];
  sha.finish(digest);
  std::string hex;
  for (const uint8_t d : digest) {
    hex += "0123456789abcdef"[d >> 4];
    hex += "0123456789abcdef"[d & 15];
  }
  return hex;
}

std::string file_name_of(const std::string& name) {
  std::string out = name;
  for (char& c : out) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
    if (!plain) c = '_';
  }
  return out;
}

}  // namespace mote::driver
