#include "mote/compiler/emit/cpp/floats.h"

#include <functional>

#include "mote/compiler/emit/cpp/elements.h"
#include "mote/ops/conv/conv.h"
#include "mote/ops/matmul/matmul.h"

namespace mote::emit {
namespace {

bool is_constant(const Source& s, int32_t t, DType type) {
  return t >= 0 && s.desc(t).storage == Storage::kConstant && s.desc(t).dtype == type;
}

std::string floats_name(const std::vector<float>& values, Constants* constants) {
  return pointer_text(constants->bytes(reinterpret_cast<const uint8_t*>(values.data()), values.size() * sizeof(float)), "float");
}
// Every bit of it.
std::string float_text(float v) {
  char text[40];
  std::snprintf(text, sizeof text, "%af", static_cast<double>(v));
  return text;
}

template <class A>
std::string epilogue_text(const Source& s, int32_t bias, const A& a, Constants* constants) {
  std::string biases = "nullptr";
  if (bias >= 0) {
    const float* data = s.constant(bias).as<const float>();
    biases = floats_name({data, data + element_count(s.desc(bias))}, constants);
  }
  return "{" + biases + ", " + float_text(a.act_a) + ", " + float_text(a.act_b) + "}";
}

// For every 4 channels, of each input 4 weights.
std::vector<float> by_four(int32_t outputs, int32_t inputs, const std::function<float(int32_t, int32_t)>& weight) {
  std::vector<float> out;
  for (int32_t o = 0; o < outputs; o += 4)
    for (int32_t k = 0; k < inputs; ++k)
      for (int32_t i = o; i < o + 4; ++i) out.push_back(i < outputs ? weight(i, k) : 0.0f);
  return out;
}

KernelCall float_call(const char* type, const char* function, uint32_t activation, std::vector<int32_t> operands) {
  KernelCall call;
  call.header = "floats.h";
  call.type = type;
  call.function = std::string(function) + "<" + std::to_string(activation) + ">";
  call.inputs = std::move(operands);
  call.by_rows = true;
  return call;
}

// Rows of pixels without gaps between channels, as is_image has it for 8 bits.
bool is_float_image(TensorDesc d) {
  if (d.dtype != DType::f32 || d.rank != 4 || d.strides[3] != 4) return false;
  d.dtype = DType::s8;
  return is_image(d);
}

// Activations whose function of the C library would have other bits than the host's stay with the portable kernel: results are the same.
bool is_exact(uint32_t activation) { return activation <= static_cast<uint32_t>(ops::Activation::kLeaky); }

std::optional<KernelCall> conv(const Source& s, const Instruction& n, Constants* constants) {
  const auto a = s.attrs<ops::conv::Attrs>(n);
  const int32_t x = s.input(n, 0), w = s.input(n, 1), bias = s.input(n, 2), residual = s.input(n, 3), y = s.output(n, 0);
  const TensorDesc &in = s.desc(x), &out = s.desc(y);
  if (!is_float_image(in) || !is_float_image(out) || !is_constant(s, w, DType::f32) || s.input(n, 4) >= 0 || !is_exact(a.activation))
    return std::nullopt;
  if ((bias >= 0 && !is_constant(s, bias, DType::f32)) || (residual >= 0 && !is_float_image(s.desc(residual)))) return std::nullopt;
  const ops::Window window = ops::make_window(a, in, s.desc(w).dims + 1, out);
  const int32_t taps = window.dim[0].kernel * window.dim[1].kernel, channels = in.dims[3], outputs = out.dims[3];
  if (!fits(window) || window.dim[1].dilation != 1 || channels == 0) return std::nullopt;
  const ops::Weights<float> weights(s.constant(w));
  const std::string shapes = "{" + rows_text(in) + ", " + rows_text(out) + ", ", epilogue = epilogue_text(s, bias, a, constants) + "}";
  if (a.groups == 1) {
    if (in.strides[2] != channels * 4) return std::nullopt;
    const std::string laid_out = floats_name(by_four(outputs, taps * channels, weights), constants);
    KernelCall call = float_call("FloatConv", "float_conv", a.activation, {x, residual, y});
    call.geometry =
        shapes + (residual >= 0 ? rows_text(s.desc(residual)) : "{}") + ", " + window_text(window) + ", " + laid_out + ", " + epilogue;
    return call;
  }
  if (a.groups != channels || outputs != channels || residual >= 0) return std::nullopt;
  std::vector<float> laid_out;
  for (int32_t t = 0; t < taps; ++t)
    for (int32_t c = 0; c < channels; ++c) laid_out.push_back(weights(c, t));
  KernelCall call = float_call("FloatDepthwise", "float_depthwise", a.activation, {x, y});
  call.geometry = shapes + window_text(window) + ", " + floats_name(laid_out, constants) + ", " + epilogue;
  return call;
}

// A convolution of one row, whose pixels are the rows of the matrix.
std::optional<KernelCall> matmul(const Source& s, const Instruction& n, Constants* constants) {
  const auto a = s.attrs<ops::matmul::Attrs>(n);
  const int32_t x = s.input(n, 0), w = s.input(n, 1), bias = s.input(n, 2), y = s.output(n, 0);
  const TensorDesc &in = s.desc(x), &out = s.desc(y), &d = s.desc(w);
  for (uint32_t i = 3; i < n.input_count; ++i)
    if (s.input(n, i) >= 0) return std::nullopt;
  if (in.dtype != DType::f32 || !is_dense(in) || !is_dense(out) || in.dynamic != 0 || d.rank != 2 || !is_constant(s, w, DType::f32))
    return std::nullopt;
  if (a.transpose_a != 0 || a.alpha != 1 || !is_exact(a.activation) || element_count(in) == 0) return std::nullopt;
  const bool packed = d.layout != Layout::kPlain, by_rows = packed || a.transpose_b != 0;
  const int32_t outputs = d.dims[by_rows ? 0 : 1], inputs = d.dims[by_rows ? 1 : 0], rows = element_count(in) / inputs;
  if (outputs > 0x7fff || inputs > 0x7fff || rows > 0x7fff) return std::nullopt;
  if (bias >= 0 && (!is_constant(s, bias, DType::f32) || element_count(s.desc(bias)) != outputs)) return std::nullopt;
  const Tensor plain = s.constant(w);
  const auto weight = [&](int32_t o, int32_t k) {
    return packed ? ops::Weights<float>(plain)(o, k)
                  : *plain.at<const float>(by_rows ? o * d.strides[0] + k * 4 : k * d.strides[0] + o * 4);
  };
  const auto row = [&](int32_t channels) { return list_text({0, channels * 4, 1, rows, channels, 0}); };
  KernelCall call = float_call("FloatConv", "float_conv", a.activation, {x, -1, y});
  call.by_rows = false;
  call.more = ", 0, 1";
  call.geometry = "{" + row(inputs) + ", " + row(outputs) + ", {}, {1, 1, 1, 1, 0, 0, 1, 1}, " +
                  floats_name(by_four(outputs, inputs, weight), constants) + ", " + epilogue_text(s, bias, a, constants) + "}";
  return call;
}

}  // namespace

std::optional<KernelCall> find_float_kernel(const Source& s, const Instruction& n, Constants* constants) {
  switch (static_cast<OpId>(n.op)) {
    case OpId::conv: return conv(s, n, constants);
    case OpId::matmul: return matmul(s, n, constants);
    default: return std::nullopt;
  }
}

}  // namespace mote::emit
