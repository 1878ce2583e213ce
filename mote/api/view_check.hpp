// What mote::Model asks of the caller's buffers before a run, and what it says when one is not right.
#ifndef MOTE_API_VIEW_CHECK_HPP_
#define MOTE_API_VIEW_CHECK_HPP_

#include "mote/api/values.hpp"

namespace mote {
namespace api_detail {

inline std::string dims_text(const std::vector<int32_t>& dims) {
  std::string s;
  for (const int32_t d : dims) s += (s.empty() ? "" : ", ") + std::to_string(d);
  return "(" + s + ")";
}

// Whether elements of the view's type hold the bits of the tensor's.
inline bool holds(mote_dtype view, mote_dtype tensor) {
  if (view == kUntyped || view == tensor) return true;
  switch (tensor) {
    case MOTE_F16:
    case MOTE_BF16: return view == MOTE_U16;
    case MOTE_BOOL:
    case MOTE_S4:
    case MOTE_U4: return view == MOTE_U8;
    default: return false;
  }
}

inline Error view_error(const char* kind, const TensorSpec& spec, const std::string& what) {
  Error e;
  e.status = MOTE_INVALID_ARGUMENT;
  e.tensor = spec.name;
  e.message = "cannot run: " + std::string(kind) + " '" + spec.name + "': " + what;
  return e;
}

inline Error type_error(const char* kind, const TensorSpec& spec, mote_dtype found) {
  std::string what = "wrong element type: expected " + std::string(mote_dtype_name(spec.dtype)) + ", found " + mote_dtype_name(found);
  if (spec.quantized && (found == MOTE_F32 || found == MOTE_F64))
    what += "; it is quantized: real value = " + std::to_string(spec.scale) + " * (stored - " + std::to_string(spec.zero_point) + ")";
  return view_error(kind, spec, what);
}

// Bytes of a dense tensor of these sizes; sizes are within the bounds of `spec`.
inline uint64_t dense_bytes(const TensorSpec& spec, const std::vector<int32_t>& dims) {
  uint64_t bits = mote_dtype_bits(spec.dtype);
  for (const int32_t d : dims) bits *= static_cast<uint32_t>(d);
  return (bits + 7) / 8;
}

inline bool dims_fit(const TensorSpec& spec, const std::vector<int32_t>& dims) {
  if (dims.size() != spec.dims.size()) return false;
  for (size_t i = 0; i < dims.size(); ++i) {
    const bool dynamic = (spec.dynamic >> i & 1) != 0;
    if (dims[i] != spec.dims[i] && !(dynamic && dims[i] >= 0 && dims[i] < spec.dims[i])) return false;
  }
  return true;
}

inline Error check_size(const char* kind, const TensorSpec& spec, const std::vector<int32_t>& dims, const void* data, uint64_t found) {
  const uint64_t expected = dense_bytes(spec, dims);
  if (found == expected && (data != nullptr || expected == 0)) return {};
  const std::string bytes = data != nullptr ? std::to_string(found) + " bytes" : "no buffer";
  return view_error(kind, spec,
                    "wrong size of the buffer: expected " + std::to_string(expected) + " bytes, " + mote_dtype_name(spec.dtype) + " " +
                        dims_text(dims) + ", found " + bytes);
}

inline Error check_view(const TensorSpec& spec, const InputView& v) {
  if (!holds(v.dtype, spec.dtype)) return type_error("input", spec, v.dtype);
  if (v.dims.empty()) return check_size("input", spec, spec.dims, v.data, v.bytes);
  if (!dims_fit(spec, v.dims))
    return view_error("input", spec,
                      std::string("wrong dimensions: expected ") + (spec.dynamic != 0 ? "at most " : "") + dims_text(spec.dims) +
                          ", found " + dims_text(v.dims));
  return check_size("input", spec, v.dims, v.data, v.bytes);
}

inline Error check_view(const TensorSpec& spec, const OutputView& v) {
  if (!holds(v.dtype, spec.dtype)) return type_error("output", spec, v.dtype);
  return check_size("output", spec, spec.dims, v.data, v.bytes);
}

// The first thing that is not right, if any. `kind` is "input" or "output".
template <class View>
Error check_views(const std::vector<TensorSpec>& specs, const std::vector<View>& views, const char* kind) {
  if (views.size() == specs.size()) {
    for (size_t i = 0; i < specs.size(); ++i)
      if (Error e = check_view(specs[i], views[i])) return e;
    return {};
  }
  std::string names;
  for (const TensorSpec& s : specs) names += (names.empty() ? "" : ", ") + s.name;
  Error e;
  e.status = MOTE_INVALID_ARGUMENT;
  e.message = "cannot run: the number of " + std::string(kind) + "s is wrong: expected " + std::to_string(specs.size()) + " (" + names +
              "), found " + std::to_string(views.size());
  return e;
}

}  // namespace api_detail
}  // namespace mote

#endif  // MOTE_API_VIEW_CHECK_HPP_
