#include "mote/kernels/cortexm/runtime/select.h"

#include <cstring>

#include "mote/kernels/cortexm/depthwise.h"
#include "mote/kernels/cortexm/runtime/products.h"
#include "mote/kernels/cortexm/simple.h"
#include "mote/ops/q_avg_pool/q_avg_pool.h"
#include "mote/ops/q_conv/q_conv.h"
#include "mote/ops/q_matmul/q_matmul.h"

namespace mote::cortexm {
namespace {

constexpr int32_t kMostPairBytes = 4096;  // of stack, for spread inputs
constexpr int32_t kBlock = 64;            // channels of a depthwise convolution or a matrix product at a time
constexpr int32_t kInputBlock = 1024;     // inputs of a matrix product
constexpr int32_t kMostDepthwiseTaps = 9;
constexpr int32_t kLeastDepthwiseShift = -22;
constexpr int32_t kMostSum = (1 << 30) - 1, kMostProduct = 128 * 255, kMostInputs = kMostSum / kMostProduct;

// One number, or one for each channel.
struct Numbers {
  const int32_t* first = nullptr;
  int32_t step = 0;

  Numbers(const OpContext& c, int operand) {
    if (!c.has_input(operand)) return;
    const Tensor& t = c.input(operand);
    first = t.as<const int32_t>();
    step = t.rank() == 0 || t.dim(0) == 1 ? 0 : 1;
  }
  int32_t operator()(int32_t i) const { return first[i * step]; }
};

// Sums become elements as QuantStage has it for fixed point, in a short form. Right for sums below 2^30, shifts to the left included.
struct Stage {
  Numbers biases, multiplier, shift;
  int32_t zero, lo, hi;

  template <class A>
  Stage(const OpContext& c, const A& a)
      : biases(c, ops::kStageBias), multiplier(c, ops::kStageMultiplier), shift(c, ops::kStageShift), zero(a.output_zero) {
    const ops::IntRange r = ops::clamp_range(a.clamp_lo, a.clamp_hi, DType::s8);
    lo = r.lo, hi = r.hi;
  }
  [[gnu::always_inline]] int32_t bias(int32_t o) const { return biases.first != nullptr ? biases(o) : 0; }
  int32_t clamped(int32_t v) const { return v < lo ? lo : v > hi ? hi : v; }
  // As the operator has it, for any sum.
  int32_t exact(int32_t sum, int32_t o) const { return ops::clamp_to(int64_t{ops::scale_by(sum, multiplier(o), shift(o))} + zero, lo, hi); }

  // A channel's scaling. grown: what sums are multiplied by first, as high_mul halves.
  struct Scaling {
    int32_t multiplier, right, half, grown;
  };
  [[gnu::always_inline]] Scaling scaling(int32_t o) const {
    const int32_t s = shift(o), right = s < 0 ? -s : 0;
    return {multiplier(o), right, right > 0 ? 1 << (right - 1) : 0, s > 0 ? 2 << s : 2};
  }
  // Whether the short form holds: shifts from `least` on, sums of `inputs` products and the bias below 2^30.
  [[gnu::always_inline]] bool tame(int32_t o, int32_t inputs, int32_t least) const {
    const int32_t s = shift(o), b = bias(o), limit = (s > 0 ? kMostSum >> (s < 7 ? s : 7) : kMostSum) - inputs * kMostProduct;
    return s <= 6 && s >= least && multiplier(o) >= 0 && b <= limit && b >= -limit;
  }
  // Channels whose result is the same for all inputs, as those with weights of 0 are.
  bool constant(int32_t o, int32_t inputs) const {
    const int64_t low = int64_t{bias(o)} - int64_t{inputs} * kMostProduct, high = int64_t{bias(o)} + int64_t{inputs} * kMostProduct;
    if (low != static_cast<int32_t>(low) || high != static_cast<int32_t>(high) || multiplier(o) < 0) return false;
    return exact(static_cast<int32_t>(low), o) == exact(static_cast<int32_t>(high), o);
  }

  // Elements of one channel, in place of their sums.
  template <int kCount>
  [[gnu::always_inline]] void elements(int32_t* sums, int32_t o, int32_t inputs) const {
    if (!tame(o, inputs, -31)) {
      for (int i = 0; i < kCount; ++i) sums[i] = exact(sums[i], o);
      return;
    }
    const Scaling k = scaling(o);
    const int32_t minus = k.right > 0 ? -1 : 0;
    for (int i = 0; i < kCount; ++i) {
      const int32_t x = high_mul(sums[i] * k.grown, k.multiplier);
      sums[i] = clamped(((x + ((x >> 31) & minus) + k.half) >> k.right) + zero);
    }
  }
};

// The inputs of a pixel, one behind the other: in place where they are, else in `to`.
const int8_t* window_at(const Tensor& x, const ops::Window& w, int32_t batch, int32_t row, int32_t column, int32_t zero, int8_t* to) {
  const TensorDesc& d = *x.desc;
  const int32_t channels = d.dims[3], ring = d.ring_rows;
  const ops::WindowDim &r = w.dim[0], &k = w.dim[1];
  const auto place = [&](int32_t i, int32_t j) {
    return x.as<const int8_t>() + batch * d.strides[0] + (ring != 0 ? i % ring : i) * d.strides[1] + j * d.strides[2];
  };
  if (r.kernel * k.kernel == 1 && r.pad_begin == 0 && k.pad_begin == 0 && r.pad_end == 0 && k.pad_end == 0)
    return place(row * r.stride, column * k.stride);
  int8_t* out = to;
  for (int32_t i = 0; i < r.kernel; ++i) {
    const int32_t from = row * r.stride - r.pad_begin + i * r.dilation;
    for (int32_t j = 0; j < k.kernel; ++j, out += channels) {
      const int32_t at = column * k.stride - k.pad_begin + j * k.dilation;
      if (from < 0 || from >= d.dims[1] || at < 0 || at >= d.dims[2]) std::memset(out, zero, static_cast<size_t>(channels));
      else std::memcpy(out, place(from, at), static_cast<size_t>(channels));
    }
  }
  return to;
}

// What a convolution adds to its elements, as q_add does.
struct Residual {
  const Tensor* tensor = nullptr;
  ops::QuantSum<1> sum;

  Residual(const OpContext& c, const ops::q_conv::Attrs& a) : sum(ops::q_conv::sum_attrs(a)) {
    if (c.has_input(ops::q_conv::kResidual)) tensor = &c.input(ops::q_conv::kResidual);
  }
};

int32_t offset_of(const TensorDesc& d, int32_t n, int32_t row, int32_t column) {
  return n * d.strides[0] + (d.ring_rows != 0 ? row % d.ring_rows : row) * d.strides[1] + column * d.strides[2];
}

int32_t end_row(const OpContext& c) { return c.rows.end < c.output(0).dim(1) ? c.rows.end : c.output(0).dim(1); }

// All channels of two pixels side by side, or of the first alone. The second one's `out` is the first one's then, and is written first.
void two_pixels(const uint32_t* x, const int8_t* weights, int32_t inputs, int32_t outputs, const Stage& stage, const Residual& residual,
                const int8_t* const* other, int8_t* const* out) {
  for (int32_t o = 0; o < outputs; o += 2) {
    const int32_t last = o + 1 < outputs ? o + 1 : o;
    const int8_t *w0 = weights + o * inputs, *w1 = weights + last * inputs;
    const int32_t b0 = stage.bias(o), b1 = stage.bias(last);
    int32_t sums[4] = {b0, b0, b1, b1};
    dot_2<2>(x, w0, w1, inputs, sums);
    stage.elements<2>(sums, o, inputs);
    stage.elements<2>(sums + 2, last, inputs);
    if (residual.tensor != nullptr)
      for (int i = 0; i < 4; ++i) sums[i] = residual.sum.of(sums[i], other[i % 2][i < 2 ? o : last], DType::s8);
    for (int p = 1; p >= 0; --p) {
      out[p][o] = static_cast<int8_t>(sums[p]);
      out[p][last] = static_cast<int8_t>(sums[2 + p]);
    }
  }
}

Status conv(const OpContext& c) noexcept {
  const auto& a = c.attrs<ops::q_conv::Attrs>();
  const Tensor &x = c.input(0), &w = c.input(1), &y = c.output(0);
  const ops::Window window = ops::make_window(a, *x.desc, w.desc->dims + 1, *y.desc);
  const int32_t outputs = w.dim(0), inputs = w.dim(1) * w.dim(2) * w.dim(3), groups = (inputs + 3) / 4;
  const Stage stage(c, a);
  const Residual residual(c, a);
  auto* pairs = static_cast<uint32_t*>(__builtin_alloca(static_cast<size_t>(groups) * 16));
  auto* linear = static_cast<int8_t*>(__builtin_alloca(static_cast<size_t>(groups) * 4));
  const int32_t width = y.dim(2), first = c.rows.begin * width, count = end_row(c) * width;
  for (int32_t n = 0; n < y.dim(0); ++n) {
    for (int32_t pixel = first; pixel < count; pixel += 2) {
      const int8_t* other[2] = {};
      int8_t* out[2];
      for (int p = 0; p < 2; ++p) {
        const int32_t at = pixel + p < count ? pixel + p : pixel, row = at / width, column = at % width;
        spread<2>(window_at(x, window, n, row, column, a.input_zero, linear), inputs, a.input_zero, pairs + p);
        out[p] = y.as<int8_t>() + offset_of(*y.desc, n, row, column);
        if (residual.tensor != nullptr) other[p] = residual.tensor->as<const int8_t>() + offset_of(*residual.tensor->desc, n, row, column);
      }
      two_pixels(pairs, w.as<const int8_t>(), inputs, outputs, stage, residual, other, out);
    }
  }
  return Status::kOk;
}

// Weights of a block of channels as mote::cortexm::depthwise reads them, shifted left by one with their biases.
struct Block {
  uint32_t weights[kBlock / 2 * kMostDepthwiseTaps];
  Channel channels[kBlock];
  alignas(4) int8_t zeros[kBlock];
};

// Without a shift to the right the short form is one too low below zero: right where those are clamped away.
bool fits_depthwise(const Stage& stage, int32_t o, int32_t taps) {
  return stage.tame(o, taps, kLeastDepthwiseShift) && (stage.shift(o) < 0 || stage.lo >= stage.zero);
}

void lay_out(const Stage& stage, const int8_t* weights, int32_t taps, int32_t x_zero, int32_t first, int32_t count, Block* b) {
  for (int32_t o = 0; o < count; ++o) {
    const int32_t at = first + o;
    const bool tame = fits_depthwise(stage, at, taps);
    const Stage::Scaling k = tame ? stage.scaling(at) : Stage::Scaling{0, 0, 0, 0};
    uint32_t* to = b->weights + o / 4 * taps * 2 + o % 2;  // channels 0 and 2 make pairs, and 1 and 3
    int32_t sum = 0;
    for (int32_t t = 0; t < taps; ++t, to += 2) {
      const int32_t w = weights[at * taps + t];
      sum += w;
      *to = o % 4 < 2 ? pair_of(w * k.grown, 0) : pair_of(low(*to), w * k.grown);
    }
    const int32_t add = tame ? k.half + stage.zero * (1 << k.right) : stage.exact(stage.bias(at), at);
    b->channels[o] = {tame ? (stage.bias(at) - x_zero * sum) * k.grown : 0, k.multiplier, add, k.right};
    b->zeros[o] = static_cast<int8_t>(x_zero);
  }
}

Rows rows_of(const TensorDesc& d, int32_t channels) {
  const auto small = [](int32_t v) { return static_cast<int16_t>(v); };
  return {d.strides[1], d.strides[2], small(d.dims[1]), small(d.dims[2]), small(channels), small(d.ring_rows)};
}
Window taps_of(const ops::Window& w) {
  const auto small = [](int32_t v) { return static_cast<int16_t>(v); };
  const ops::WindowDim &r = w.dim[0], &k = w.dim[1];
  return {small(r.kernel),    small(k.kernel),    small(r.stride),   small(k.stride),
          small(r.pad_begin), small(k.pad_begin), small(r.dilation), small(k.dilation)};
}
// Sizes that those hold.
bool is_small(const Tensor& t) {
  for (int i = 1; i < 4; ++i)
    if (t.dim(i) > 0x7fff) return false;
  return t.rank() == 4 && t.stride(3) == 1 && t.desc->ring_rows <= 0x7fff;
}

Status depthwise_conv(const OpContext& c) noexcept {
  const auto& a = c.attrs<ops::q_conv::Attrs>();
  const Tensor &x = c.input(0), &w = c.input(1), &y = c.output(0);
  const ops::Window window = ops::make_window(a, *x.desc, w.desc->dims + 1, *y.desc);
  const int32_t taps = window.dim[0].kernel * window.dim[1].kernel;
  const Stage stage(c, a);
  Block block;
  for (int32_t first = 0; first < y.dim(3); first += kBlock) {
    const int32_t count = y.dim(3) - first < kBlock ? y.dim(3) - first : kBlock;
    lay_out(stage, w.as<const int8_t>(), taps, a.input_zero, first, count, &block);
    const Depthwise d{rows_of(*x.desc, count),
                      rows_of(*y.desc, count),
                      taps_of(window),
                      block.weights,
                      block.channels,
                      block.zeros,
                      {static_cast<int8_t>(stage.lo), static_cast<int8_t>(stage.hi), 0, stage.lo > -128 || stage.hi < 127}};
    for (int32_t n = 0; n < y.dim(0); ++n)
      depthwise(d, x.as<const int8_t>() + n * x.stride(0) + first, y.as<int8_t>() + n * y.stride(0) + first, c.rows.begin, end_row(c));
  }
  return Status::kOk;
}

Status average(const OpContext& c) noexcept {
  const auto& a = c.attrs<ops::q_avg_pool::Attrs>();
  const Tensor &x = c.input(0), &y = c.output(0);
  const ops::IntRange r = ops::clamp_range(a.clamp_lo, a.clamp_hi, DType::s8);
  const AvgPool p{rows_of(*x.desc, x.dim(3)), rows_of(*y.desc, y.dim(3)), taps_of(ops::q_avg_pool::window_of(a, *x.desc)),
                  static_cast<int8_t>(r.lo), static_cast<int8_t>(r.hi)};
  for (int32_t n = 0; n < y.dim(0); ++n)
    avg_pool(p, x.as<const int8_t>() + n * x.stride(0), y.as<int8_t>() + n * y.stride(0), c.rows.begin, end_row(c));
  return Status::kOk;
}

// Blocks of channels and of inputs, so that the stack holds them.
Status matmul(const OpContext& c) noexcept {
  const auto& a = c.attrs<ops::q_matmul::Attrs>();
  const Tensor &x = c.input(0), &w = c.input(1);
  const int32_t inputs = w.dim(1), outputs = w.dim(0), rows = static_cast<int32_t>(x.count()) / inputs;
  const ops::QuantStage stage(c, a);
  uint32_t pairs[kInputBlock / 2];
  for (int32_t m = 0; m < rows; ++m) {
    for (int32_t first = 0; first < outputs; first += kBlock) {
      const int32_t end = outputs - first < kBlock ? outputs : first + kBlock;
      int32_t sums[kBlock + 1] = {};
      for (int32_t k = 0; k < inputs; k += kInputBlock) {
        const int32_t count = inputs - k < kInputBlock ? inputs - k : kInputBlock;
        spread<1>(x.as<const int8_t>() + m * inputs + k, count, a.input_zero, pairs);
        for (int32_t o = first; o < end; o += 2) {
          const int8_t *w0 = w.as<const int8_t>() + o * inputs + k, *w1 = o + 1 < end ? w0 + inputs : w0;
          dot_2<1>(pairs, w0, w1, count, sums + (o - first));
        }
      }
      for (int32_t o = first; o < end; ++o) stage.store(m * outputs + o, static_cast<uint64_t>(int64_t{sums[o - first]}), m, o);
    }
  }
  return Status::kOk;
}

bool is_s8(const Tensor& t) { return t.dtype() == DType::s8 && t.desc->layout == Layout::kPlain && t.desc->dynamic == 0; }

// Operands and attributes that all of them need.
template <class A>
bool plain(const OpContext& c, const A& a) {
  for (const int i : {ops::kStageXZero, ops::kStageWZero, ops::kStageXScale})
    if (c.has_input(i)) return false;
  const Tensor& w = c.input(1);
  return is_s8(c.input(0)) && is_s8(w) && is_s8(c.output(0)) && is_dense(*w.desc) && a.weight_zero == 0 && a.wide == 0 && w.count() > 0;
}

[[maybe_unused]] KernelFn for_conv(const OpContext& c) {
  const auto& a = c.attrs<ops::q_conv::Attrs>();
  const Tensor &x = c.input(0), &w = c.input(1), &y = c.output(0);
  if (!plain(c, a) || x.rank() != 4 || x.stride(3) != 1 || y.stride(3) != 1) return nullptr;
  if (!c.has_input(ops::kStageMultiplier) || c.input(ops::kStageMultiplier).dtype() != DType::s32) return nullptr;
  if (c.has_input(ops::kStageBias) && c.input(ops::kStageBias).dtype() != DType::s32) return nullptr;
  const int32_t inputs = w.dim(1) * w.dim(2) * w.dim(3);
  const bool residual = c.has_input(ops::q_conv::kResidual);
  if (inputs > kMostInputs) return nullptr;
  if (a.groups == 1) {
    const bool added = !residual || a.sum_mode <= static_cast<uint32_t>(ops::QuantMode::kShift);  // to elements, not to sums
    return added && inputs <= kMostPairBytes / 4 ? conv : nullptr;
  }
  if (a.groups != x.dim(3) || a.groups != w.dim(0) || residual || a.groups % 4 != 0 || inputs > kMostDepthwiseTaps) return nullptr;
  if (!is_small(x) || !is_small(y)) return nullptr;
  const Stage stage(c, a);
  for (int32_t o = 0; o < w.dim(0); ++o)
    if (!fits_depthwise(stage, o, inputs) && !stage.constant(o, inputs)) return nullptr;
  return depthwise_conv;
}

[[maybe_unused]] KernelFn for_average(const OpContext& c) {
  const auto& a = c.attrs<ops::q_avg_pool::Attrs>();
  const Tensor &x = c.input(0), &y = c.output(0);
  if (!is_s8(x) || !is_s8(y) || !is_small(x) || !is_small(y) || a.mode != 0 || a.count_include_pad != 0) return nullptr;
  const ops::Window w = ops::q_avg_pool::window_of(a, *x.desc);
  for (int i = 0; i < 2; ++i) {
    const ops::WindowDim& d = w.dim[i];
    // Every window has an element.
    if (d.dilation != 1 || d.pad_begin >= d.kernel || (y.dim(i + 1) - 1) * d.stride - d.pad_begin >= d.in || d.kernel > 0x7fff)
      return nullptr;
  }
  return average;
}

[[maybe_unused]] KernelFn for_matmul(const OpContext& c) {
  const auto& a = c.attrs<ops::q_matmul::Attrs>();
  const Tensor& w = c.input(1);
  if (!plain(c, a) || w.rank() != 2 || !is_dense(*c.input(0).desc) || !is_dense(*c.output(0).desc)) return nullptr;
  return w.dim(1) <= kMostInputs ? matmul : nullptr;
}

}  // namespace

KernelFn select([[maybe_unused]] uint16_t op, [[maybe_unused]] const OpContext& c) noexcept {
  // Builds for some programs leave out what those do not use.
  if constexpr (selected_types(OpId::q_conv) != 0)
    if (op == static_cast<uint16_t>(OpId::q_conv)) return for_conv(c);
  if constexpr (selected_types(OpId::q_matmul) != 0)
    if (op == static_cast<uint16_t>(OpId::q_matmul)) return for_matmul(c);
  if constexpr (selected_types(OpId::q_avg_pool) != 0)
    if (op == static_cast<uint16_t>(OpId::q_avg_pool)) return for_average(c);
  return nullptr;
}

}  // namespace mote::cortexm
