#include "mote/compiler/ir/text_words.h"

#include <cerrno>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "mote/compiler/ir/text.h"
#include "mote/ops/op_docs.h"

namespace mote::ir {
namespace {

constexpr const char* kLayoutNames[] = {"plain", "panel16", "panel16k2", "panel16k4", "panel16k8", "panel16k4pairs"};

template <class T>
T load(const uint8_t* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

std::string float_text(double v, const char* format) {
  if (std::isnan(v)) return "";
  char s[40];
  std::snprintf(s, sizeof s, format, v);
  return s;
}

// Stores an integer that fits T; false when it does not.
template <class T>
bool store_int(const std::string& text, uint8_t* p) {
  char* end = nullptr;
  errno = 0;
  T v;
  if constexpr (std::is_signed_v<T>) {
    const long long n = std::strtoll(text.c_str(), &end, 10);
    v = static_cast<T>(n);
    if (v != n) return false;
  } else {
    const unsigned long long n = std::strtoull(text.c_str(), &end, 10);
    v = static_cast<T>(n);
    if (v != n || text.find('-') != std::string::npos) return false;
  }
  std::memcpy(p, &v, sizeof v);
  return errno == 0 && end != text.c_str() && *end == 0;
}

template <class T, class Wide>
bool store_float(const std::string& text, uint8_t* p) {
  char* end = nullptr;
  const T v = static_cast<T>(static_cast<Wide>(std::strtod(text.c_str(), &end)));
  std::memcpy(p, &v, sizeof v);
  return end != text.c_str() && *end == 0;
}

}  // namespace

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c != 0 && std::strchr("_./-~", c) != nullptr);
}

std::string quoted(const std::string& s) {
  std::string out = "\"";
  for (const char c : s) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') out += "\\n";
    else out += c;
  }
  return out + "\"";
}

std::string layout_name(Layout layout) {
  const size_t i = static_cast<size_t>(layout);
  return i < std::size(kLayoutNames) ? kLayoutNames[i] : "?";
}

bool layout_from_name(const std::string& s, Layout* out) {
  for (size_t i = 0; i < std::size(kLayoutNames); ++i) {
    if (s != kLayoutNames[i]) continue;
    *out = static_cast<Layout>(i);
    return true;
  }
  return false;
}

std::string element_to_text(DType dtype, const uint8_t* p) {
  switch (dtype) {
    case DType::f32: return float_text(static_cast<double>(load<float>(p)), "%.9g");
    case DType::f64: return float_text(load<double>(p), "%.17g");
    case DType::f16: return float_text(static_cast<double>(static_cast<float>(load<f16>(p))), "%.9g");
    case DType::bf16: return float_text(static_cast<double>(static_cast<float>(load<bf16>(p))), "%.9g");
    case DType::s8: return std::to_string(load<int8_t>(p));
    case DType::u8: return std::to_string(load<uint8_t>(p));
    case DType::s16: return std::to_string(load<int16_t>(p));
    case DType::u16: return std::to_string(load<uint16_t>(p));
    case DType::s32: return std::to_string(load<int32_t>(p));
    case DType::u32: return std::to_string(load<uint32_t>(p));
    case DType::s64: return std::to_string(load<int64_t>(p));
    case DType::u64: return std::to_string(load<uint64_t>(p));
    case DType::boolean: return *p > 1 ? "" : std::to_string(*p);
    default: return "";
  }
}

bool element_from_text(DType dtype, const std::string& text, uint8_t* p) {
  switch (dtype) {
    case DType::f32: return store_float<float, double>(text, p);
    case DType::f64: return store_float<double, double>(text, p);
    case DType::f16: return store_float<f16, float>(text, p);
    case DType::bf16: return store_float<bf16, float>(text, p);
    case DType::s8: return store_int<int8_t>(text, p);
    case DType::u8: return store_int<uint8_t>(text, p);
    case DType::s16: return store_int<int16_t>(text, p);
    case DType::u16: return store_int<uint16_t>(text, p);
    case DType::s32: return store_int<int32_t>(text, p);
    case DType::u32: return store_int<uint32_t>(text, p);
    case DType::s64: return store_int<int64_t>(text, p);
    case DType::u64: return store_int<uint64_t>(text, p);
    case DType::boolean: return store_int<uint8_t>(text, p) && *p <= 1;
    default: return false;
  }
}

std::string op_name(uint16_t op) {
  switch (op) {
    case kIf: return "if";
    case kLoop: return "loop";
    case kAssign: return "assign";
    case kCustom: return "custom";
    default: break;
  }
  const OpDoc* doc = find_op_doc(op);
  return doc == nullptr ? "?" : doc->name;
}

uint16_t op_from_name(const std::string& name) {
  for (const uint16_t op : {uint16_t{kIf}, uint16_t{kLoop}, uint16_t{kAssign}, kCustom})
    if (name == op_name(op)) return op;
  const OpDoc* doc = find_op_doc(name);
  return doc == nullptr ? 0 : doc->id;
}

}  // namespace mote::ir
