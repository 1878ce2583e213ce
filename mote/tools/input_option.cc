#include "mote/tools/input_option.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "mote/tools/nearest.h"
#include "mote/tools/values.h"

namespace mote::tools {
namespace {

bool is_number(const std::string& text, double* out) {
  if (text == "true" || text == "false") return *out = text == "true" ? 1 : 0, true;
  char* end = nullptr;
  *out = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == 0;
}

// False where the type cannot hold the number exactly enough: fractions and overflow of integers.
template <class T>
bool put_integer(const std::string& text, double v, std::vector<uint8_t>* data) {
  T value = static_cast<T>(0);
  // 64-bit numbers have more digits than a double.
  if constexpr (std::is_unsigned_v<T>) {
    if (v != std::floor(v) || v < 0 || v >= std::ldexp(1.0, sizeof(T) * 8)) return false;
    value = sizeof(T) == 8 && v >= 1e15 ? static_cast<T>(std::strtoull(text.c_str(), nullptr, 10)) : static_cast<T>(v);
  } else {
    const double limit = std::ldexp(1.0, sizeof(T) * 8 - 1);
    if (v != std::floor(v) || v < -limit || v >= limit) return false;
    value = sizeof(T) == 8 && std::abs(v) >= 1e15 ? static_cast<T>(std::strtoll(text.c_str(), nullptr, 10)) : static_cast<T>(v);
  }
  data->resize(sizeof value);
  std::memcpy(data->data(), &value, sizeof value);
  return true;
}

template <class T>
bool put_bits(T value, std::vector<uint8_t>* data) {
  data->resize(sizeof value);
  std::memcpy(data->data(), &value, sizeof value);
  return true;
}

bool put_number(DType dtype, const std::string& text, double v, std::vector<uint8_t>* data) {
  switch (dtype) {
    case DType::f32: return put_bits(static_cast<float>(v), data);
    case DType::f64: return put_bits(v, data);
    case DType::f16: return put_bits(f16(static_cast<float>(v)).bits, data);
    case DType::bf16: return put_bits(bf16(static_cast<float>(v)).bits, data);
    case DType::s8: return put_integer<int8_t>(text, v, data);
    case DType::u8: return put_integer<uint8_t>(text, v, data);
    case DType::s16: return put_integer<int16_t>(text, v, data);
    case DType::u16: return put_integer<uint16_t>(text, v, data);
    case DType::s32: return put_integer<int32_t>(text, v, data);
    case DType::u32: return put_integer<uint32_t>(text, v, data);
    case DType::s64: return put_integer<int64_t>(text, v, data);
    case DType::u64: return put_integer<uint64_t>(text, v, data);
    case DType::boolean: return (v == 0 || v == 1) && put_bits(static_cast<uint8_t>(v), data);
    default: return false;
  }
}

template <class Specs>
std::vector<std::string> names_of(const Specs& specs) {
  std::vector<std::string> names;
  for (const auto& s : specs) names.push_back(s.name);
  return names;
}

// The set of sizes that the given inputs have: made-up ones must go with them.
size_t sizes_of(const driver::Signature::Method& method, const std::vector<bool>& given, const Sample& sample) {
  size_t sets = 1;
  for (const auto& io : method.inputs) sets = std::max(sets, io.dims.size());
  for (size_t set = 0; set < sets; ++set) {
    bool fits = true;
    for (size_t i = 0; i < method.inputs.size(); ++i) {
      const auto& dims = method.inputs[i].dims;
      fits = fits && (!given[i] || dims[std::min(set, dims.size() - 1)] == sample.inputs[i].array.dims);
    }
    if (fits) return set;
  }
  return 0;
}

// As mote_program_find_input finds it.
size_t find(const driver::Signature::Method& method, const std::string& name) {
  const auto begin = method.inputs.begin(), end = method.inputs.end();
  const auto at = std::find_if(begin, end, [&](const auto& io) { return io.name == name; });
  if (at != end || name.empty()) return static_cast<size_t>(at - begin);
  return static_cast<size_t>(std::find_if(begin, end, [&](const auto& io) { return io.source_name == name; }) - begin);
}

void check_array(const driver::Signature::Io& io, const Array& a) {
  bool fits = a.dtype == io.dtype && a.dims.size() == io.dims.front().size();
  for (size_t k = 0; fits && k < a.dims.size(); ++k) {
    bool open = false;
    for (const auto& dims : io.dims) open |= dims[k] != io.dims.front()[k];
    fits = open ? a.dims[k] <= io.dims.front()[k] : a.dims[k] == io.dims.front()[k];
  }
  if (!fits)
    throw Failure("--input: input '" + io.name + "': expected " + type_text(io.dtype, io.dims.front()) + ", found " +
                  type_text(a.dtype, a.dims));
}

}  // namespace

std::pair<size_t, std::string> split_input(const std::string& text, const std::vector<std::string>& names,
                                           const std::function<size_t(const std::string&)>& find) {
  // Names may hold '=' themselves: a split that gives a known name is preferred.
  for (size_t at = text.find('='); at != std::string::npos; at = text.find('=', at + 1))
    if (const size_t i = find(text.substr(0, at)); i < names.size()) return {i, text.substr(at + 1)};
  const size_t at = text.find('=');
  if (at != std::string::npos)
    throw Failure("--input: no such input: expected one of " + listed(names) + ", found '" + text.substr(0, at) + "'" +
                  did_you_mean(text.substr(0, at), names));
  if (names.size() == 1) return {0, text};
  throw usage("--input: expected NAME=FILE.npy or NAME=VALUE with one of " + listed(names) + ", found '" + text + "'");
}

NpyArray read_input(const std::string& name, const std::string& value, DType dtype, const std::vector<int64_t>& dims) {
  NpyArray array;
  double number = 0;
  std::error_code ec;
  if (!is_number(value, &number) || std::filesystem::exists(value, ec)) {
    std::string error;
    if (!read_npy(value, &array, &error)) throw Failure(value + ": " + error);
    return array;
  }
  const std::string type = type_text(dtype, dims);
  array.dtype = dtype;
  array.dims.assign(dims.size(), 1);
  // A dynamic dimension may be 1 as well; the program refuses a fixed one that is not.
  if (!put_number(dtype, value, number, &array.data))
    throw Failure("--input: input '" + name + "': expected a number that " + type + " can hold, found '" + value + "'");
  return array;
}

void set_given_inputs(Session& session, uint32_t method, const std::vector<std::string>& texts, std::vector<bool>* given) {
  const std::vector<TensorSpec> specs = session.specs(method, false);
  for (const std::string& text : texts) {
    const auto [index, value] = split_input(text, names_of(specs), [&](const std::string& name) {
      uint32_t found = 0;
      return mote_program_find_input(session.program(), method, name.c_str(), &found) == MOTE_OK ? found : specs.size();
    });
    const TensorSpec& spec = specs[index];
    if ((*given)[index]) throw usage("input '" + spec.name + "' is given twice");
    session.set_input(method, static_cast<uint32_t>(index),
                      read_input(spec.name, value, static_cast<DType>(spec.dtype), {spec.dims.begin(), spec.dims.end()}));
    (*given)[index] = true;
  }
}

std::vector<Sample> make_samples(const std::vector<std::string>& texts, int count, const driver::Signature::Method& method) {
  Sample fixed;
  std::vector<bool> given(method.inputs.size());
  for (const auto& io : method.inputs) fixed.inputs.push_back({io.name, {}});
  for (const std::string& text : texts) {
    const auto [index, value] = split_input(text, names_of(method.inputs), [&](const std::string& name) { return find(method, name); });
    const driver::Signature::Io& io = method.inputs[index];
    if (given[index]) throw usage("input '" + io.name + "' is given twice");
    fixed.inputs[index].array = read_input(io.name, value, io.dtype, io.dims.front());
    check_array(io, fixed.inputs[index].array);
    given[index] = true;
  }
  const bool complete = !given.empty() && std::find(given.begin(), given.end(), false) == given.end();
  if (complete) return {fixed};
  std::vector<Sample> all;
  for (int k = 0; k < count; ++k) {
    const size_t sizes = texts.empty() ? static_cast<size_t>(k) % 3 : sizes_of(method, given, fixed);
    std::vector<Array> arrays = driver::make_inputs(method, sizes, static_cast<uint64_t>(k) + 1);
    Sample sample = fixed;
    for (size_t i = 0; i < arrays.size(); ++i)
      if (!given[i]) sample.inputs[i].array = std::move(arrays[i]);
    all.push_back(std::move(sample));
  }
  return all;
}

}  // namespace mote::tools
