#pragma once

#include <string>

namespace mote::quant {

enum class Scheme { kInt8, kInt8Dynamic, kInt16x8, kInt8Weights, kInt4Weights, kFp16Weights, kBf16Weights };
inline constexpr const char* kSchemeNames[] = {"int8",         "int8-dynamic", "int16x8",     "int8-weights",
                                               "int4-weights", "fp16-weights", "bf16-weights"};

inline bool scheme_named(const std::string& name, Scheme* out) {
  for (size_t i = 0; i < sizeof kSchemeNames / sizeof *kSchemeNames; ++i) {
    if (name != kSchemeNames[i]) continue;
    *out = static_cast<Scheme>(i);
    return true;
  }
  return false;
}

// Ranges of activations are found from data before the program is made.
inline bool is_static(Scheme s) { return s == Scheme::kInt8 || s == Scheme::kInt16x8; }

}  // namespace mote::quant
