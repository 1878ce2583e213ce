#include "mote/compiler/emit/cpp/wide.h"

#include "mote/compiler/emit/cpp/elements.h"
#include "mote/ops/q_conv/q_conv.h"
#include "mote/ops/q_matmul/q_matmul.h"

namespace mote::emit {
namespace {

// Operands and attributes that all of them need.
template <class A>
bool is_wide(const Source& s, const Instruction& n, const A& a) {
  for (uint32_t i = ops::kEpilogueXZero; i < n.input_count; ++i)
    if (s.input(n, i) >= 0) return false;
  for (const int i : {1, ops::kEpilogueBias, ops::kEpilogueMultiplier, ops::kEpilogueShift}) {
    const int32_t t = s.input(n, static_cast<uint32_t>(i));
    if (t < 0 ? i == 1 || i == ops::kEpilogueMultiplier : s.desc(t).storage != Storage::kConstant) return false;
  }
  const auto type = [&](int i) { return s.desc(s.input(n, static_cast<uint32_t>(i))).dtype; };
  const DType scale = type(ops::kEpilogueMultiplier);
  return (scale == DType::s32 || scale == DType::f64) && a.wide == 1 && a.input_zero == 0 && a.weight_zero == 0 && type(0) == DType::s16 &&
         s.desc(s.output(n, 0)).dtype == DType::s16 && type(1) == DType::s8;
}

bool is_real(const Source& s, const Instruction& n) { return s.desc(s.input(n, ops::kEpilogueMultiplier)).dtype == DType::f64; }

std::string channels_name(const Source& s, const Instruction& n, int32_t outputs, Constants* constants) {
  const auto value = [&](int operand, int32_t i) -> int64_t {
    const int32_t t = s.input(n, static_cast<uint32_t>(operand));
    if (t < 0) return 0;
    const Tensor c = s.constant(t);
    const int32_t at = c.rank() == 0 || c.dim(0) == 1 ? 0 : i;
    return c.dtype() == DType::s32 ? c.as<const int32_t>()[at] : c.as<const int64_t>()[at];
  };
  std::vector<uint32_t> words;
  for (int32_t o = 0; o < outputs; ++o) {
    // The 64 bits of an f64 are its own.
    const auto bias = static_cast<uint64_t>(value(ops::kEpilogueBias, o)),
               factor = static_cast<uint64_t>(value(ops::kEpilogueMultiplier, o));
    words.insert(words.end(), {static_cast<uint32_t>(bias), static_cast<uint32_t>(bias >> 32)});
    if (is_real(s, n)) words.insert(words.end(), {0, 0, static_cast<uint32_t>(factor), static_cast<uint32_t>(factor >> 32)});
    else words.insert(words.end(), {static_cast<uint32_t>(factor), static_cast<uint32_t>(value(ops::kEpilogueShift, o)), 0, 0});
  }
  return pointer_text(constants->words(words), "WideChannel");
}

// As wide_conv reads them.
std::string weights_name(const ops::Weights<int8_t>& w, int32_t outputs, int32_t taps, int32_t channels, Constants* constants) {
  std::vector<uint32_t> words;
  for (int32_t o = 0; o < outputs; o += 2)
    for (int32_t t = 0; t < taps; ++t)
      for (int32_t c = 0; c < channels; c += 4)
        for (int32_t i = o; i < o + 2; ++i) {
          const auto at = [&](int32_t k) -> uint32_t {
            return i < outputs && c + k < channels ? static_cast<uint8_t>(w(i, t * channels + c + k)) : 0;
          };
          words.push_back(at(0) | at(2) << 8 | at(1) << 16 | at(3) << 24);
        }
  return constants->words(words);
}

template <class A>
std::string range_text(const A& a) {
  const ops::IntRange r = ops::clamp_range(a.clamp_lo, a.clamp_hi, DType::s16);
  return std::to_string(a.output_zero) + ", " + std::to_string(r.lo) + ", " + std::to_string(r.hi) + "}";
}

std::string conv_type(const Source& s, const Instruction& n) { return is_real(s, n) ? "WideConv<true>" : "WideConv<false>"; }

KernelCall wide_call(const std::string& type, const char* function, const Source& s, const Instruction& n) {
  KernelCall call;
  call.header = "wide.h";
  call.type = type;
  call.function = function;
  call.inputs = {s.input(n, 0), s.output(n, 0)};
  call.by_rows = true;
  return call;
}

std::optional<KernelCall> conv_wide(const Source& s, const Instruction& n, Constants* constants) {
  const auto a = s.attrs<ops::q_conv::Attrs>(n);
  if (!is_wide(s, n, a)) return std::nullopt;
  const TensorDesc &in = s.desc(s.input(n, 0)), &out = s.desc(s.output(n, 0));
  if (!is_wide_image(in) || !is_wide_image(out)) return std::nullopt;
  const Tensor w = s.constant(s.input(n, 1));
  const ops::Window window = ops::make_window(a, in, w.desc->dims + 1, out);
  const int32_t taps = window.dim[0].kernel * window.dim[1].kernel, channels = in.dims[3], outputs = out.dims[3];
  if (!fits(window) || window.dim[1].dilation != 1 || channels == 0) return std::nullopt;
  const ops::Weights<int8_t> weights(w);
  const std::string shapes = "{" + rows_text(in) + ", " + rows_text(out) + ", " + window_text(window) + ", ",
                    end = ", " + channels_name(s, n, outputs, constants) + ", " + range_text(a);
  if (a.groups == 1) {
    if (in.strides[2] != channels * 2) return std::nullopt;
    KernelCall call = wide_call(conv_type(s, n), "wide_conv", s, n);
    call.geometry = shapes + weights_name(weights, outputs, taps, channels, constants) + end;
    return call;
  }
  if (a.groups != channels || outputs != channels || is_real(s, n)) return std::nullopt;
  std::vector<uint8_t> laid_out;
  for (int32_t t = 0; t < taps; ++t)
    for (int32_t c = 0; c < channels; ++c) laid_out.push_back(static_cast<uint8_t>(weights(c, t)));
  KernelCall call = wide_call("WideDepthwise", "wide_depthwise", s, n);
  call.geometry = shapes + pointer_text(constants->bytes(laid_out.data(), laid_out.size()), "int8_t") + end;
  return call;
}

// A convolution of one row, whose pixels are the rows of the matrix.
std::optional<KernelCall> matmul_wide(const Source& s, const Instruction& n, Constants* constants) {
  const auto a = s.attrs<ops::q_matmul::Attrs>(n);
  if (!is_wide(s, n, a)) return std::nullopt;
  const TensorDesc &in = s.desc(s.input(n, 0)), &out = s.desc(s.output(n, 0)), &w = s.desc(s.input(n, 1));
  if (!is_dense(in) || !is_dense(out) || in.dynamic != 0 || w.rank != 2 || element_count(in) == 0) return std::nullopt;
  const int32_t outputs = w.dims[0], inputs = w.dims[1], rows = element_count(in) / inputs;
  if (outputs > 0x7fff || inputs > 0x7fff || rows > 0x7fff) return std::nullopt;
  const auto row = [&](int32_t channels) { return list_text({0, channels * 2, 1, rows, channels, 0}); };
  KernelCall call = wide_call(conv_type(s, n), "wide_conv", s, n);
  call.by_rows = false;
  call.more = ", 0, 1";
  call.geometry = "{" + row(inputs) + ", " + row(outputs) + ", {1, 1, 1, 1, 0, 0, 1, 1}, " +
                  weights_name(ops::Weights<int8_t>(s.constant(s.input(n, 1))), outputs, 1, inputs, constants) + ", " +
                  channels_name(s, n, outputs, constants) + ", " + range_text(a);
  return call;
}

}  // namespace

std::optional<KernelCall> find_wide_kernel(const Source& s, const Instruction& n, Constants* constants) {
  switch (static_cast<OpId>(n.op)) {
    case OpId::q_conv: return conv_wide(s, n, constants);
    case OpId::q_matmul: return matmul_wide(s, n, constants);
    default: return std::nullopt;
  }
}

}  // namespace mote::emit
