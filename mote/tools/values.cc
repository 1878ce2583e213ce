#include "mote/tools/values.h"

#include <cmath>
#include <cstdio>

namespace mote::tools {

std::string type_text(const TensorSpec& spec) {
  std::string s = dtype_name(static_cast<DType>(spec.dtype)) + std::string(" (");
  for (size_t i = 0; i < spec.dims.size(); ++i)
    s += (i > 0 ? ", " : "") + std::string((spec.dynamic >> i & 1) != 0 ? "<=" : "") + std::to_string(spec.dims[i]);
  return s + ")";
}

std::string real(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", v);
  return text;
}

std::string decibels(double v) {
  if (std::isinf(v) && v > 0) return "exact";
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", v);
  return text;
}

}  // namespace mote::tools
