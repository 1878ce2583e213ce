#include "mote/compiler/emit/cpp/kernels.h"

#include <algorithm>

#include "mote/compiler/assemble/lower.h"
#include "mote/compiler/emit/cpp/elements.h"
#include "mote/compiler/emit/cpp/floats.h"
#include "mote/compiler/emit/cpp/product.h"
#include "mote/compiler/emit/cpp/recurrent.h"
#include "mote/compiler/emit/cpp/streams.h"
#include "mote/compiler/emit/cpp/wide.h"
#include "mote/kernels/cortexm/conv.h"
#include "mote/kernels/cortexm/depthwise.h"
#include "mote/ops/common/window.h"
#include "mote/ops/q_avg_pool/q_avg_pool.h"
#include "mote/ops/q_softmax/q_softmax.h"

namespace mote::emit {
namespace {

bool small(const TensorDesc& d) {
  for (int i = 0; i < d.rank; ++i)
    if (d.dims[i] > 0x7fff) return false;
  return d.dynamic == 0;
}
}  // namespace

std::string list_text(std::initializer_list<int64_t> values) {
  std::string s = "{";
  for (const int64_t v : values) s += (s.size() > 1 ? ", " : "") + text(v);
  return s + "}";
}

bool is_image(const TensorDesc& d) {
  return d.dtype == DType::s8 && d.layout == Layout::kPlain && d.rank == 4 && small(d) && d.ring_rows < 0x8000;
}
bool is_wide_image(TensorDesc d) {
  if (d.dtype != DType::s16 || d.rank != 4 || d.strides[3] != 2) return false;
  d.dtype = DType::s8;
  return is_image(d);
}
std::string rows_text(const TensorDesc& d) { return list_text({d.strides[1], d.strides[2], d.dims[1], d.dims[2], d.dims[3], d.ring_rows}); }

bool fits(const ops::Window& w) {
  for (const ops::WindowDim& d : w.dim)
    if (d.kernel > 0x7fff || d.stride > 0x7fff || d.pad_begin > 0x7fff || d.dilation > 0x7fff) return false;
  return true;
}
std::string window_text(const ops::Window& w) {
  const ops::WindowDim &r = w.dim[0], &c = w.dim[1];
  return list_text({r.kernel, c.kernel, r.stride, c.stride, r.pad_begin, c.pad_begin, r.dilation, c.dilation});
}
std::string pointer_text(const std::string& name, const char* type) {
  return "reinterpret_cast<const " + std::string(type) + "*>(" + name + ")";
}

std::string scale_text(int32_t multiplier, int32_t shift) {
  return list_text({multiplier, shift < 0 ? int64_t{1} << (-shift - 1) : 0, shift < 0 ? -1 : 0, -shift});
}
std::optional<std::string> sum_text(const ops::QuantBinaryAttrs& a, DType type) {
  if (static_cast<ops::QuantMode>(a.mode) != ops::QuantMode::kFixed || a.left_shift > 20) return std::nullopt;
  for (const int32_t shift : {a.a_shift, a.b_shift, a.y_shift})
    if (shift > 0 || shift < -31) return std::nullopt;
  for (const int32_t m : {a.a_multiplier, a.b_multiplier, a.y_multiplier})
    if (m < 0) return std::nullopt;
  const ops::IntRange r = ops::clamp_range(a.clamp_lo, a.clamp_hi, type);
  return "{" + scale_text(a.a_multiplier, a.a_shift) + ", " + scale_text(a.b_multiplier, a.b_shift) + ", " +
         scale_text(a.y_multiplier, a.y_shift) + ", " + text(a.a_zero) + ", " + text(a.b_zero) + ", " + text(a.y_zero) + ", " + text(r.lo) +
         ", " + text(r.hi) + ", " + text(a.left_shift + 1) + "}";
}

namespace {

std::string range_text(const Product& p) {
  const bool narrower = p.lo > -128 || p.hi < 127;
  return "{" + text(p.lo) + ", " + text(p.hi) + ", " + text(p.left) + (narrower ? ", true}" : ", false}");
}
// Weights as dot_3x2 reads them: inputs of each row of the window filled up to a word.
std::vector<uint32_t> pair_weights(const Product& p, int32_t rows, int32_t run, int32_t run_words) {
  std::vector<uint32_t> out;
  const auto at = [&](int32_t n, int32_t row, int32_t k) -> uint32_t {
    return n < p.outputs && k < run ? static_cast<uint8_t>(p.weight(n, row * run + k)) : 0;
  };
  for (int32_t n = 0; n < p.outputs; n += 2)
    for (int32_t row = 0; row < rows; ++row)
      for (int32_t k = 0; k < run_words * 4; k += 4)
        for (int32_t i = 0; i < 2; ++i)
          out.push_back(at(n, row, k + i) | at(n + 1, row, k + i) << 8 | at(n, row, k + i + 2) << 16 | at(n + 1, row, k + i + 2) << 24);
  return out;
}

std::string bytes_name(const std::vector<uint8_t>& bytes, Constants* constants) {
  return pointer_text(constants->bytes(bytes.data(), bytes.size()), "int8_t");
}
// Helium's high products are doubled ones: there is always a shift to the left in them.
bool for_helium(Isa isa, const Product& p) { return isa == Isa::kHelium && p.left >= 1; }

void use_helium(KernelCall* call) {
  call->header = "helium.h";
  call->type = "helium::" + call->type;
  call->function = "helium::" + call->function;
}

std::optional<KernelCall> conv(const Source& s, const Instruction& n, const ops::q_conv::Attrs& a, const ops::Window& window, Product& p,
                               Isa isa, Constants* constants) {
  const int32_t x = s.input(n, 0), y = s.output(n, 0), residual = s.input(n, ops::q_conv::kResidual);
  const TensorDesc &in = s.desc(x), &out = s.desc(y);
  if (in.strides[2] != in.dims[3] || window.dim[0].dilation != 1 || window.dim[1].dilation != 1) return std::nullopt;
  std::string sum = "nullptr", other = "{}";
  if (residual >= 0) {
    const std::optional<std::string> how = sum_text(ops::q_conv::sum_attrs(a));
    if (!how || !is_image(s.desc(residual))) return std::nullopt;
    sum = *how;
    other = rows_text(s.desc(residual));
  }
  const int32_t run = window.dim[1].kernel * in.dims[3], run_words = (run + 3) / 4;
  if (run_words > 0x7fff) return std::nullopt;
  const ops::WindowDim &wr = window.dim[0], &wc = window.dim[1];
  const bool pointwise = wr.kernel == 1 && wc.kernel == 1 && wr.pad_begin == 0 && wc.pad_begin == 0 && wr.pad_end == 0 && wc.pad_end == 0 &&
                         in.dims[3] % 4 == 0;
  KernelCall call;
  call.header = "conv.h";
  call.type = "Conv";
  call.function = "conv";
  call.sum = residual >= 0 ? sum : "";
  call.inputs = {x, residual, y};
  call.by_rows = call.in_order = true;
  const std::string shapes = "{" + rows_text(in) + ", " + rows_text(out) + ", " + other + ", " + window_text(window) + ", ",
                    how = std::string(residual >= 0 ? ", &kSum@" : ", nullptr") + ", " + range_text(p) + ", ";
  if (for_helium(isa, p)) {
    use_helium(&call);
    const int32_t blocks = (p.inputs + 15) / 16;
    const bool direct = pointwise && in.dims[3] % 16 == 0;
    call.geometry = shapes + bytes_name(p.blocks(4, 16), constants) + ", " +
                    pointer_text(constants->channels(p.channel_blocks()), "helium::Channels") + how + text(blocks) + ", " + text(p.x_zero) +
                    (direct ? ", true}" : ", false}");
    call.scratch_bytes = direct ? 16 : static_cast<uint32_t>(blocks) * 16;
    call.scratch_type = "int8_t*";
    return call;
  }
  const std::string weights = constants->words(pair_weights(p, window.dim[0].kernel, run, run_words));
  const std::string channels = constants->channels(p.channel_words(2));
  call.geometry = shapes + weights + ", " + pointer_text(channels, "Channel") + how + text(run_words) + ", " + text(p.x_zero) +
                  (pointwise ? ", true}" : ", false}");
  call.scratch_bytes = cortexm::conv_scratch_bytes(window.dim[0].kernel, run_words, residual >= 0 ? p.outputs : 0);
  return call;
}

std::optional<KernelCall> depthwise(const Source& s, const Instruction& n, const ops::Window& window, Product& p, Isa isa,
                                    Constants* constants) {
  const int32_t x = s.input(n, 0), y = s.output(n, 0);
  const int32_t taps = window.dim[0].kernel * window.dim[1].kernel;
  if (p.outputs % 4 != 0 || taps > cortexm::kMostTaps) return std::nullopt;
  const std::vector<uint8_t> zeros(static_cast<size_t>(p.outputs), static_cast<uint8_t>(p.x_zero));
  KernelCall call;
  call.header = "depthwise.h";
  call.type = "Depthwise";
  call.function = "depthwise";
  call.inputs = {x, y};
  call.by_rows = call.in_order = true;
  const std::string shapes = "{" + rows_text(s.desc(x)) + ", " + rows_text(s.desc(y)) + ", " + window_text(window) + ", ",
                    zero_name = bytes_name(zeros, constants);
  if (for_helium(isa, p) && p.outputs % 8 == 0) {
    use_helium(&call);
    call.geometry = shapes + bytes_name(p.blocks(8, 1), constants) + ", " +
                    pointer_text(constants->channels(p.channel_blocks(true)), "helium::Channels") + ", " + zero_name + ", " +
                    range_text(p) + "}";
    return call;
  }
  // 16 bits have room for the shift of the sums.
  const int32_t grown = p.left <= 7 ? 1 << p.left : 1;
  if (grown > 1) {
    for (cortexm::Channel& c : p.channels) c.bias = static_cast<int32_t>(static_cast<uint32_t>(c.bias) << p.left);
    p.left = 0;
  }
  std::vector<uint32_t> weights;
  for (int32_t c = 0; c < p.outputs; c += 4)
    for (int32_t t = 0; t < taps; ++t)
      for (int32_t i = 0; i < 2; ++i) weights.push_back(cortexm::pair_of(p.weight(c + i, t) * grown, p.weight(c + i + 2, t) * grown));
  call.geometry = shapes + constants->words(weights) + ", " + pointer_text(constants->channels(p.channel_words(4)), "Channel") + ", " +
                  zero_name + ", " + range_text(p) + "}";
  return call;
}

std::optional<KernelCall> q_conv(const Source& s, const Instruction& n, Isa isa, Constants* constants) {
  const auto a = s.attrs<ops::q_conv::Attrs>(n);
  const int32_t x = s.input(n, 0), y = s.output(n, 0), w = s.input(n, 1);
  const TensorDesc &in = s.desc(x), &out = s.desc(y);
  if (!is_image(in) || !is_image(out)) return std::nullopt;
  const ops::Window window = ops::make_window(a, in, s.desc(w).dims + 1, out);
  Product p;
  if (!fits(window) || !read_product(s, n, a, &p)) return std::nullopt;
  const bool by_channel = a.groups == in.dims[3] && a.groups == out.dims[3] && a.groups > 1;
  if (a.groups != 1 && !by_channel) return std::nullopt;
  if (by_channel && s.input(n, ops::q_conv::kResidual) >= 0) return std::nullopt;
  if (!find_channels(&p)) return std::nullopt;
  return by_channel ? depthwise(s, n, window, p, isa, constants) : conv(s, n, a, window, p, isa, constants);
}

std::optional<KernelCall> q_matmul(const Source& s, const Instruction& n, Isa isa, Constants* constants) {
  const int32_t x = s.input(n, 0), y = s.output(n, 0);
  const TensorDesc &in = s.desc(x), &out = s.desc(y);
  if (!is_dense(in) || !is_dense(out) || in.dtype != DType::s8 || out.dtype != DType::s8 || in.dynamic != 0) return std::nullopt;
  if (s.desc(s.input(n, 1)).rank != 2) return std::nullopt;
  Product p;
  if (!read_product(s, n, s.attrs<ops::q_matmul::Attrs>(n), &p) || !find_channels(&p, true)) return std::nullopt;
  KernelCall call;
  call.header = "fully_connected.h";
  call.type = "FullyConnected";
  call.function = "fully_connected";
  call.inputs = {x, y};
  const std::string sizes = ", " + text(element_count(in) / p.inputs) + ", " + text(p.inputs) + ", " + text(p.outputs) + ", ";
  if (for_helium(isa, p)) {
    use_helium(&call);
    call.geometry = "{" + bytes_name(p.blocks(4, 16), constants) + ", " +
                    pointer_text(constants->channels(p.channel_blocks()), "helium::Channels") + sizes + text((p.inputs + 15) / 16) + ", " +
                    text(p.limit) + ", " + range_text(p) + "}";
    return call;
  }
  std::vector<uint32_t> weights;
  for (int32_t o = 0; o < p.outputs; o += 4) {
    for (int32_t k = 0; k < p.inputs; k += 4) {
      for (int32_t i = o; i < o + 4; ++i) {
        uint32_t word = 0;
        for (int32_t b = 0; b < 4 && i < p.outputs && k + b < p.inputs; ++b)
          word |= static_cast<uint32_t>(static_cast<uint8_t>(p.weight(i, k + b))) << 8 * b;
        weights.push_back(word);
      }
    }
  }
  const std::string data = constants->words(weights), channels = constants->channels(p.channel_words(4));
  call.geometry = "{" + data + ", " + pointer_text(channels, "Channel") + sizes + text(p.limit) + ", " + range_text(p) + "}";
  return call;
}

std::optional<KernelCall> q_avg_pool(const Source& s, const Instruction& n) {
  const auto a = s.attrs<ops::q_avg_pool::Attrs>(n);
  const TensorDesc &in = s.desc(s.input(n, 0)), &out = s.desc(s.output(n, 0));
  if (!is_image(in) || !is_image(out) || a.mode != 0 || a.count_include_pad != 0) return std::nullopt;
  ops::Window w = ops::q_avg_pool::window_of(a, in);
  for (int i = 0; i < 2; ++i) {
    w.dim[i].out = out.dims[i + 1];
    // Every window has an element.
    if (w.dim[i].dilation != 1 || w.dim[i].pad_begin >= w.dim[i].kernel ||
        (w.dim[i].out - 1) * w.dim[i].stride - w.dim[i].pad_begin >= w.dim[i].in)
      return std::nullopt;
  }
  if (!fits(w) || int64_t{w.dim[0].kernel} * w.dim[1].kernel > 1 << 20) return std::nullopt;
  const ops::IntRange r = ops::clamp_range(a.clamp_lo, a.clamp_hi, DType::s8);
  KernelCall call;
  call.header = "pool.h";
  call.type = "AvgPool";
  call.function = "avg_pool";
  call.geometry = "{" + rows_text(in) + ", " + rows_text(out) + ", " + window_text(w) + ", " + text(r.lo) + ", " + text(r.hi) + "}";
  call.inputs = {s.input(n, 0), s.output(n, 0)};
  call.by_rows = call.in_order = true;
  return call;
}

// Operators over all elements, in order.
bool plain(const TensorDesc& d) { return d.dtype == DType::s8 && is_dense(d) && d.ring_rows == 0 && d.dynamic == 0; }

std::optional<KernelCall> q_softmax(const Source& s, const Instruction& n, Constants* constants) {
  const auto a = s.attrs<ops::q_softmax::Attrs>(n);
  const TensorDesc &in = s.desc(s.input(n, 0)), &out = s.desc(s.output(n, 0));
  if (!plain(in) || !plain(out)) return std::nullopt;
  int32_t exps[256];
  ops::q_softmax::exponentials(a, exps);
  const int32_t most = std::min(-a.diff_min, 255), count = in.dims[in.rank - 1];
  KernelCall call;
  call.header = "simple.h";
  call.type = "Softmax";
  call.function = "softmax";
  const std::string table = constants->bytes(reinterpret_cast<const uint8_t*>(exps), static_cast<size_t>(most + 1) * 4);
  call.geometry = "{" + pointer_text(table, "int32_t") + ", " + text(count == 0 ? 0 : element_count(in) / count) + ", " + text(count) +
                  ", " + text(most) + "}";
  call.inputs = {s.input(n, 0), s.output(n, 0)};
  return call;
}

std::optional<KernelCall> q_add(const Source& s, const Instruction& n) {
  const TensorDesc &a = s.desc(s.input(n, 0)), &b = s.desc(s.input(n, 1)), &y = s.desc(s.output(n, 0));
  if (!plain(a) || !plain(b) || !plain(y) || !same_shape(a, b)) return std::nullopt;
  const std::optional<std::string> sum = sum_text(s.attrs<ops::QuantBinaryAttrs>(n));
  if (!sum) return std::nullopt;
  KernelCall call;
  call.header = "simple.h";
  call.type = "Sum";
  call.function = "add";
  call.geometry = *sum;
  call.inputs = {s.input(n, 0), s.input(n, 1), s.output(n, 0)};
  call.more = ", " + text(element_count(y));
  return call;
}

}  // namespace

std::optional<KernelCall> find_kernel(const Source& source, const Instruction& n, Isa isa, Constants* constants) {
  if (const auto call = find_wide_kernel(source, n, constants)) return call;
  if (const auto call = find_wide_element_kernel(source, n, constants)) return call;
  switch (static_cast<OpId>(n.op)) {
    case OpId::q_conv: return q_conv(source, n, isa, constants);
    case OpId::q_matmul: return q_matmul(source, n, isa, constants);
    case OpId::q_avg_pool: return q_avg_pool(source, n);
    case OpId::conv:
    case OpId::matmul: return find_float_kernel(source, n, constants);
    case OpId::q_softmax: return q_softmax(source, n, constants);
    case OpId::q_svdf:
    case OpId::q_lstm: return find_recurrent_kernel(source, n, isa, constants);
    case OpId::q_add:
      if (const auto call = q_add(source, n)) return call;
      break;
    default:
      if (const auto call = find_stream_kernel(source, n, constants)) return call;
  }
  return find_element_kernel(source, n, constants);
}

std::vector<bool> steps_in_order(const schedule::Plan& plan, Isa isa) {
  program::ProgramRecords records;
  std::string error;
  if (!assemble::lower(plan, {}, &records, &error)) return {};
  const Source source{records};
  Constants ignored;
  std::vector<bool> in_order;
  for (const Instruction& n : records.instructions) {
    const std::optional<KernelCall> call = n.op < kFirstControlOp ? find_kernel(source, n, isa, &ignored) : std::nullopt;
    in_order.push_back(call && call->in_order);
  }
  return in_order;
}

}  // namespace mote::emit
