#include <algorithm>

#include "mote/compiler/emit/cpp/elements.h"
#include "mote/compiler/emit/cpp/names.h"
#include "mote/ops/clip/clip.h"
#include "mote/ops/max_pool/max_pool.h"
#include "mote/ops/q_avg_pool/q_avg_pool.h"
#include "mote/ops/q_lut16/q_lut16.h"
#include "mote/ops/q_mul/q_mul.h"
#include "mote/ops/q_softmax/q_softmax.h"
#include "mote/ops/requantize/requantize.h"

namespace mote::emit {
namespace {

bool is_wide(const TensorDesc& d) { return d.dtype == DType::s16 && is_dense(d) && d.ring_rows == 0 && d.dynamic == 0; }

KernelCall wide_call(const char* type, const char* function, std::string geometry, std::vector<int32_t> inputs) {
  return {"wide_elements.h", type, function, std::move(geometry), std::move(inputs)};
}
std::string constant_name(const Source& s, int32_t tensor, const char* type, Constants* constants) {
  const Tensor t = s.constant(tensor);
  return pointer_text(constants->bytes(t.as<const uint8_t>(), static_cast<size_t>(t.count()) * 2), type);
}

// Results of both operands at their ends, as the kernel doubles their sum: it must stay within 31 bits.
bool sum_fits(const ops::QuantBinaryAttrs& a, int sign) {
  if (a.a_zero != 0 || a.b_zero != 0 || a.left_shift > 15) return false;
  const auto end = [&](int32_t x, int32_t multiplier, int32_t shift) {
    return int64_t{ops::scale_by(ops::wrapping_shift_left(x, a.left_shift), multiplier, shift)};
  };
  int64_t least = 0, most = 0;
  for (const int32_t x : {-32768, 32767})
    for (const int32_t y : {-32768, 32767}) {
      const int64_t v = end(x, a.a_multiplier, a.a_shift) + sign * end(y, a.b_multiplier, a.b_shift);
      least = std::min(least, v), most = std::max(most, v);
    }
  return least >= -(1 << 30) && most < 1 << 30;
}

std::optional<KernelCall> sum(const Source& s, const Instruction& n, int sign) {
  const auto a = s.attrs<ops::QuantBinaryAttrs>(n);
  const std::vector<int32_t> operands = {s.input(n, 0), s.input(n, 1), s.output(n, 0)};
  const auto pairs = pairs_text(DType::s16, s.desc(operands[0]), s.desc(operands[1]), s.desc(operands[2]));
  if (!pairs) return std::nullopt;
  if (static_cast<ops::QuantMode>(a.mode) == ops::QuantMode::kShift) {
    const ops::IntRange r = ops::clamp_range(a.clamp_lo, a.clamp_hi, DType::s16);
    std::string geometry = "{" + *pairs + ", " + scale_text(0, a.a_shift) + ", " + scale_text(0, a.b_shift);
    for (const int32_t v : {a.a_zero, a.b_zero, a.y_zero, r.lo, r.hi}) geometry += ", " + text(v);
    return wide_call("ShiftSum", sign > 0 ? "add_shifted" : "subtract_shifted", geometry + "}", operands);
  }
  const std::optional<std::string> how = sum_text(a, DType::s16);
  if (!how || !sum_fits(a, sign)) return std::nullopt;
  return wide_call("SumPairs", sign > 0 ? "add_pairs" : "subtract_pairs", "{" + *pairs + ", " + *how + "}", operands);
}

std::optional<KernelCall> multiply_wide(const Source& s, const Instruction& n) {
  const auto a = s.attrs<ops::q_mul::Attrs>(n);
  const std::vector<int32_t> operands = {s.input(n, 0), s.input(n, 1), s.output(n, 0)};
  if (a.mode != 0 || a.shift > 0 || a.shift < -31 || a.multiplier < 0 || a.a_zero != 0 || a.b_zero != 0) return std::nullopt;
  const auto pairs = pairs_text(DType::s16, s.desc(operands[0]), s.desc(operands[1]), s.desc(operands[2]));
  if (!pairs) return std::nullopt;
  const ops::IntRange r = ops::clamp_range(a.clamp_lo, a.clamp_hi, DType::s16);
  std::string geometry = "{" + *pairs + ", " + scale_text(a.multiplier, a.shift);
  for (const int32_t v : {0, 0, a.y_zero, r.lo, r.hi}) geometry += ", " + text(v);
  return wide_call("MulPairs", "multiply_wide", geometry + "}", operands);
}

// Both kinds of pools. Sums have 32 bits.
std::optional<KernelCall> pool(const Source& s, const Instruction& n, ops::Window w, ops::IntRange r, const char* function) {
  const TensorDesc &x = s.desc(s.input(n, 0)), &y = s.desc(s.output(n, 0));
  if (!is_wide_image(x) || !is_wide_image(y)) return std::nullopt;
  for (int i = 0; i < 2; ++i) {
    ops::WindowDim& d = w.dim[i];
    d.out = y.dims[i + 1];
    // Every window has an element.
    if (d.dilation != 1 || d.pad_begin >= d.kernel || int64_t{d.out - 1} * d.stride - d.pad_begin >= d.in) return std::nullopt;
  }
  if (!fits(w) || int64_t{w.dim[0].kernel} * w.dim[1].kernel > 1 << 15) return std::nullopt;
  KernelCall call = wide_call(
      "WidePool", function, "{" + rows_text(x) + ", " + rows_text(y) + ", " + window_text(w) + ", " + text(r.lo) + ", " + text(r.hi) + "}",
      {s.input(n, 0), s.output(n, 0)});
  call.by_rows = call.in_order = true;
  return call;
}

std::optional<KernelCall> average(const Source& s, const Instruction& n) {
  const auto a = s.attrs<ops::q_avg_pool::Attrs>(n);
  if (a.mode != 0 || a.count_include_pad != 0 || s.desc(s.input(n, 0)).rank != 4) return std::nullopt;
  const ops::IntRange r = ops::clamp_range(a.clamp_lo, a.clamp_hi, DType::s16);
  return pool(s, n, ops::q_avg_pool::window_of(a, s.desc(s.input(n, 0))), r, "avg_pool_wide");
}

std::optional<KernelCall> max_pool_wide(const Source& s, const Instruction& n) {
  const auto a = s.attrs<ops::max_pool::Attrs>(n);
  if (s.output(n, 1) >= 0 || s.desc(s.input(n, 0)).rank != 4) return std::nullopt;
  return pool(s, n, ops::make_window(a, s.desc(s.input(n, 0)), a.kernel), {0, 0}, "max_pool_wide");
}

std::optional<KernelCall> function_of_one(const Source& s, const Instruction& n, Constants* constants) {
  const auto a = s.attrs<ops::q_lut16::Attrs>(n);
  const TensorDesc &x = s.desc(s.input(n, 0)), &y = s.desc(s.output(n, 0));
  if (!is_wide(x) || !is_wide(y) || s.desc(s.input(n, 1)).storage != Storage::kConstant) return std::nullopt;
  const std::vector<int32_t> operands = {s.input(n, 0), s.output(n, 0)};
  const auto kind = static_cast<ops::q_lut16::Kind>(a.kind);
  if (kind == ops::q_lut16::Kind::kTable)
    return wide_call("WideTable", "look_up_wide",
                     "{" + constant_name(s, s.input(n, 1), "int16_t", constants) + ", " + text(element_count(x)) + "}", operands);
  const int64_t half = a.shift > 0 ? int64_t{1} << (a.shift - 1) : 0;
  return wide_call("WideSigmoid", kind == ops::q_lut16::Kind::kLogistic ? "logistic_wide" : "tanh_wide",
                   "{" + constant_name(s, s.input(n, 1), "uint16_t", constants) + ", " + text(element_count(x)) + ", " +
                       text(a.multiplier) + ", " + text(half) + ", " + text(a.shift) + "}",
                   operands);
}

std::optional<KernelCall> softmax(const Source& s, const Instruction& n, Constants* constants) {
  const auto a = s.attrs<ops::q_softmax::Attrs>(n);
  const TensorDesc &x = s.desc(s.input(n, 0)), &y = s.desc(s.output(n, 0));
  if (!is_wide(x) || !is_wide(y) || x.rank == 0 || element_count(x) == 0 || a.multiplier < 0 || a.shift > 13) return std::nullopt;
  for (const uint32_t i : {1u, 2u})
    if (s.input(n, i) < 0 || s.desc(s.input(n, i)).storage != Storage::kConstant) return std::nullopt;
  const int32_t count = x.dims[x.rank - 1], left = std::max(a.shift, 0);
  if (count > 0xffff) return std::nullopt;
  return wide_call("WideSoftmax", "softmax_wide",
                   "{" + constant_name(s, s.input(n, 1), "int16_t", constants) + ", " +
                       constant_name(s, s.input(n, 2), "int16_t", constants) + ", " + text(element_count(x) / count) + ", " + text(count) +
                       ", " + scale_text(a.multiplier, std::min(a.shift, 0)) + ", " + text(left + 1) + "}",
                   {s.input(n, 0), s.output(n, 0)});
}

// From and to 16 bits; one scale for all elements, in fixed point.
std::optional<KernelCall> rescale(const Source& s, const Instruction& n) {
  const auto a = s.attrs<ops::requantize::Attrs>(n);
  const TensorDesc &x = s.desc(s.input(n, 0)), &y = s.desc(s.output(n, 0));
  const auto flat = [](const TensorDesc& d) {
    return (d.dtype == DType::s8 || d.dtype == DType::u8 || d.dtype == DType::s16) && is_dense(d) && d.ring_rows == 0 && d.dynamic == 0;
  };
  if (!flat(x) || !flat(y) || (x.dtype != DType::s16 && y.dtype != DType::s16) || s.input(n, 2) < 0) return std::nullopt;
  for (const uint32_t i : {1u, 2u}) {
    const TensorDesc& d = s.desc(s.input(n, i));
    if (d.storage != Storage::kConstant || d.dtype != DType::s32 || element_count(d) != 1) return std::nullopt;
  }
  const int32_t multiplier = *s.constant(s.input(n, 1)).as<const int32_t>(), shift = *s.constant(s.input(n, 2)).as<const int32_t>();
  if (multiplier < 0 || shift > 13 || shift < -31) return std::nullopt;
  const ops::IntRange r = ops::clamp_range(a.clamp_lo, a.clamp_hi, y.dtype);
  std::string geometry = "{" + scale_text(multiplier, std::min(shift, 0));
  for (const int32_t v : {element_count(x), std::max(shift, 0) + 1, a.input_zero, a.output_zero, r.lo, r.hi}) geometry += ", " + text(v);
  return wide_call("Rescale", "rescale", geometry + "}", {s.input(n, 0), s.output(n, 0)});
}

std::optional<KernelCall> clamp(const Source& s, const Instruction& n) {
  const auto a = s.attrs<ops::clip::Attrs>(n);
  const TensorDesc &x = s.desc(s.input(n, 0)), &y = s.desc(s.output(n, 0));
  if (!is_wide(x) || !is_wide(y) || s.input(n, 1) >= 0 || s.input(n, 2) >= 0 || a.lo > a.hi) return std::nullopt;
  const auto bound = [](float v) { return static_cast<int32_t>(std::clamp(v, -32768.0f, 32767.0f)); };
  return wide_call("Clamp", "clamp", "{" + text(element_count(x)) + ", " + text(bound(a.lo)) + ", " + text(bound(a.hi)) + "}",
                   {s.input(n, 0), s.output(n, 0)});
}

}  // namespace

std::optional<KernelCall> find_wide_element_kernel(const Source& s, const Instruction& n, Constants* constants) {
  if (n.input_count == 0 || s.input(n, 0) < 0) return std::nullopt;
  if (static_cast<OpId>(n.op) == OpId::requantize) return rescale(s, n);
  if (s.desc(s.input(n, 0)).dtype != DType::s16) return std::nullopt;
  switch (static_cast<OpId>(n.op)) {
    case OpId::q_add: return sum(s, n, 1);
    case OpId::q_sub: return sum(s, n, -1);
    case OpId::q_mul: return multiply_wide(s, n);
    case OpId::q_avg_pool: return average(s, n);
    case OpId::max_pool: return max_pool_wide(s, n);
    case OpId::clip: return clamp(s, n);
    case OpId::q_lut16: return function_of_one(s, n, constants);
    case OpId::q_softmax: return softmax(s, n, constants);
    case OpId::q_reduce: return reduction_call(s, n, DType::s16);
    default: return std::nullopt;
  }
}

}  // namespace mote::emit
