#include "mote/kernels/cortexm/runtime/select.h"

#include <cstring>

#include "mote/kernels/cortexm/depthwise.h"
#include "mote/kernels/cortexm/runtime/products.h"
#include "mote/ops/q_conv/q_conv.h"
#include "mote/ops/q_matmul/q_matmul.h"

namespace mote::cortexm {
namespace {

constexpr int32_t kMostPairBytes = 4096;  // of stack, for spread inputs
constexpr int32_t kBlock = 64;            // channels of a depthwise convolution at a time
constexpr int32_t kMostDepthwiseTaps = 9;

int32_t of_channel(const Tensor& t, int32_t i) { return t.as<const int32_t>()[t.rank() == 0 || t.dim(0) == 1 ? 0 : i]; }

// Sums become elements as QuantStage has it for fixed point, in a short form. Right for sums below 2^30.
struct Stage {
  const OpContext& c;
  int32_t zero, lo, hi;

  template <class A>
  Stage(const OpContext& context, const A& a) : c(context), zero(a.output_zero) {
    const ops::IntRange r = ops::clamp_range(a.clamp_lo, a.clamp_hi, DType::s8);
    lo = r.lo, hi = r.hi;
  }
  int32_t bias(int32_t o) const { return c.has_input(ops::kStageBias) ? of_channel(c.input(ops::kStageBias), o) : 0; }
  int32_t multiplier(int32_t o) const { return of_channel(c.input(ops::kStageMultiplier), o); }
  int32_t shift(int32_t o) const { return of_channel(c.input(ops::kStageShift), o); }
  int32_t element(int32_t sum, int32_t o) const {
    const int32_t right = -shift(o), x = high_mul(sum * 2, multiplier(o)), half = right > 0 ? 1 << (right - 1) : 0;
    const int32_t v = ((x + (right > 0 ? x >> 31 : 0) + half) >> right) + zero;
    return v < lo ? lo : v > hi ? hi : v;
  }
  // Every channel has a form for which that holds.
  bool holds(int32_t channels, int32_t inputs) const {
    const int32_t most = (1 << 30) - 1;
    if (inputs > most / (128 * 255)) return false;
    for (int32_t o = 0; o < channels; ++o) {
      const int32_t b = bias(o), limit = most - inputs * 128 * 255;
      if (shift(o) > 0 || shift(o) < -31 || multiplier(o) < 0 || b > limit || b < -limit) return false;
    }
    return true;
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

// All channels of kPixels pixels; store(pixel, channel, sum).
template <int kPixels, class Store>
void all_channels(const uint32_t* x, const int8_t* weights, int32_t inputs, int32_t outputs, const Store& store) {
  for (int32_t o = 0; o < outputs; o += 2) {
    const int8_t *w0 = weights + o * inputs, *w1 = o + 1 < outputs ? w0 + inputs : w0;
    int32_t sums[2 * kPixels] = {};
    dot_2<kPixels>(x, w0, w1, inputs, sums);
    for (int p = 0; p < kPixels; ++p) {
      store(p, o, sums[p]);
      if (o + 1 < outputs) store(p, o + 1, sums[kPixels + p]);
    }
  }
}

Status conv(const OpContext& c) noexcept {
  const auto& a = c.attrs<ops::q_conv::Attrs>();
  const Tensor &x = c.input(0), &w = c.input(1), &y = c.output(0);
  const ops::Window window = ops::make_window(a, *x.desc, w.desc->dims + 1, *y.desc);
  const int32_t outputs = w.dim(0), inputs = w.dim(1) * w.dim(2) * w.dim(3), groups = (inputs + 3) / 4;
  const Stage stage(c, a);
  const bool sums = c.has_input(ops::q_conv::kResidual);
  const ops::QuantSum<1> residual_sum(ops::q_conv::sum_attrs(a));
  auto* pairs = static_cast<uint32_t*>(__builtin_alloca(static_cast<size_t>(groups) * 16));
  auto* linear = static_cast<int8_t*>(__builtin_alloca(static_cast<size_t>(groups) * 4));
  const auto offset = [](const TensorDesc& d, int32_t n, int32_t row, int32_t column) {
    return n * d.strides[0] + (d.ring_rows != 0 ? row % d.ring_rows : row) * d.strides[1] + column * d.strides[2];
  };
  const int32_t end = c.rows.end < y.dim(1) ? c.rows.end : y.dim(1);
  for (int32_t n = 0; n < y.dim(0); ++n) {
    for (int32_t row = c.rows.begin; row < end; ++row) {
      for (int32_t column = 0; column < y.dim(2); column += 2) {
        const bool two = column + 1 < y.dim(2);
        for (int p = 0; p < 2; ++p)
          spread<2>(window_at(x, window, n, row, two ? column + p : column, a.input_zero, linear), inputs, a.input_zero, pairs + p);
        int8_t* const out = y.as<int8_t>() + offset(*y.desc, n, row, column);
        const int8_t* other = sums ? c.input(ops::q_conv::kResidual).as<const int8_t>() : nullptr;
        if (sums) other += offset(*c.input(ops::q_conv::kResidual).desc, n, row, column);
        const int32_t step = y.stride(2), other_step = sums ? c.input(ops::q_conv::kResidual).stride(2) : 0;
        all_channels<2>(pairs, w.as<const int8_t>(), inputs, outputs, [&](int p, int32_t o, int32_t sum) {
          if (p > 0 && !two) return;
          int32_t v = stage.element(sum + stage.bias(o), o);
          if (sums) v = residual_sum.of(v, other[p * other_step + o], DType::s8);
          out[p * step + o] = static_cast<int8_t>(v);
        });
      }
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

void lay_out(const Stage& stage, const int8_t* weights, int32_t taps, int32_t x_zero, int32_t first, int32_t count, Block* b) {
  uint32_t* to = b->weights;
  for (int32_t o = 0; o < count; o += 4) {
    const auto weight = [&](int32_t k, int32_t t) { return weights[(first + o + k) * taps + t] * 2; };
    for (int32_t t = 0; t < taps; ++t)
      for (int32_t i = 0; i < 2; ++i) *to++ = pair_of(weight(i, t), weight(i + 2, t));
  }
  for (int32_t o = 0; o < count; ++o) {
    const int32_t at = first + o, right = -stage.shift(at);
    int32_t sum = 0;
    for (int32_t t = 0; t < taps; ++t) sum += weights[at * taps + t];
    b->channels[o] = {(stage.bias(at) - x_zero * sum) * 2, stage.multiplier(at), (1 << (right - 1)) + stage.zero * (1 << right), right};
    b->zeros[o] = static_cast<int8_t>(x_zero);
  }
}

Status depthwise_conv(const OpContext& c) noexcept {
  const auto& a = c.attrs<ops::q_conv::Attrs>();
  const Tensor &x = c.input(0), &w = c.input(1), &y = c.output(0);
  const ops::Window window = ops::make_window(a, *x.desc, w.desc->dims + 1, *y.desc);
  const ops::WindowDim &r = window.dim[0], &k = window.dim[1];
  const Stage stage(c, a);
  const auto rows = [](const TensorDesc& d, int32_t channels) {
    return Rows{d.strides[1],
                d.strides[2],
                static_cast<int16_t>(d.dims[1]),
                static_cast<int16_t>(d.dims[2]),
                static_cast<int16_t>(channels),
                static_cast<int16_t>(d.ring_rows)};
  };
  const auto small = [](int32_t v) { return static_cast<int16_t>(v); };
  const Window taps{small(r.kernel),    small(k.kernel),    small(r.stride),   small(k.stride),
                    small(r.pad_begin), small(k.pad_begin), small(r.dilation), small(k.dilation)};
  const int32_t end = c.rows.end < y.dim(1) ? c.rows.end : y.dim(1);
  Block block;
  for (int32_t first = 0; first < y.dim(3); first += kBlock) {
    const int32_t count = y.dim(3) - first < kBlock ? y.dim(3) - first : kBlock;
    lay_out(stage, w.as<const int8_t>(), r.kernel * k.kernel, a.input_zero, first, count, &block);
    const Depthwise d{rows(*x.desc, count),
                      rows(*y.desc, count),
                      taps,
                      block.weights,
                      block.channels,
                      block.zeros,
                      {static_cast<int8_t>(stage.lo), static_cast<int8_t>(stage.hi), 0, stage.lo > -128 || stage.hi < 127}};
    for (int32_t n = 0; n < y.dim(0); ++n)
      depthwise(d, x.as<const int8_t>() + n * x.stride(0) + first, y.as<int8_t>() + n * y.stride(0) + first, c.rows.begin, end);
  }
  return Status::kOk;
}

Status matmul(const OpContext& c) noexcept {
  const auto& a = c.attrs<ops::q_matmul::Attrs>();
  const Tensor &x = c.input(0), &w = c.input(1);
  const int32_t inputs = w.dim(1), outputs = w.dim(0), rows = inputs == 0 ? 0 : static_cast<int32_t>(x.count()) / inputs;
  const ops::QuantStage stage(c, a);
  auto* pairs = static_cast<uint32_t*>(__builtin_alloca(static_cast<size_t>(inputs + 3) / 4 * 8));
  for (int32_t m = 0; m < rows; ++m) {
    spread<1>(x.as<const int8_t>() + m * inputs, inputs, a.input_zero, pairs);
    all_channels<1>(pairs, w.as<const int8_t>(), inputs, outputs,
                    [&](int, int32_t o, int32_t sum) { stage.store(m * outputs + o, static_cast<uint64_t>(int64_t{sum}), m, o); });
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

KernelFn for_conv(const OpContext& c) {
  const auto& a = c.attrs<ops::q_conv::Attrs>();
  const Tensor &x = c.input(0), &w = c.input(1), &y = c.output(0);
  if (!plain(c, a) || x.rank() != 4 || x.stride(3) != 1 || y.stride(3) != 1) return nullptr;
  if (!c.has_input(ops::kStageMultiplier) || c.input(ops::kStageMultiplier).dtype() != DType::s32) return nullptr;
  if (c.has_input(ops::kStageBias) && c.input(ops::kStageBias).dtype() != DType::s32) return nullptr;
  const int32_t inputs = w.dim(1) * w.dim(2) * w.dim(3);
  const bool residual = c.has_input(ops::q_conv::kResidual);
  if (!Stage(c, a).holds(w.dim(0), inputs)) return nullptr;
  if (a.groups == 1) {
    const bool added = !residual || a.sum_mode <= static_cast<uint32_t>(ops::QuantMode::kShift);  // to elements, not to sums
    return added && inputs <= kMostPairBytes / 4 ? conv : nullptr;
  }
  if (a.groups != x.dim(3) || a.groups != w.dim(0) || residual || a.groups % 4 != 0 || inputs > kMostDepthwiseTaps) return nullptr;
  for (int i = 1; i < 4; ++i)
    if (x.dim(i) > 0x7fff || y.dim(i) > 0x7fff) return nullptr;
  const Stage stage(c, a);
  for (int32_t o = 0; o < w.dim(0); ++o)
    if (stage.shift(o) > -1 || stage.shift(o) < -22) return nullptr;
  return depthwise_conv;
}

KernelFn for_matmul(const OpContext& c) {
  const auto& a = c.attrs<ops::q_matmul::Attrs>();
  const Tensor& w = c.input(1);
  if (!plain(c, a) || w.rank() != 2 || !is_dense(*c.input(0).desc) || !is_dense(*c.output(0).desc)) return nullptr;
  return w.dim(1) <= kMostPairBytes / 2 && w.dim(1) <= (1 << 30) / (128 * 255) ? matmul : nullptr;
}

}  // namespace

KernelFn select(uint16_t op, const OpContext& c) noexcept {
  if (op == static_cast<uint16_t>(OpId::q_conv)) return for_conv(c);
  if (op == static_cast<uint16_t>(OpId::q_matmul)) return for_matmul(c);
  return nullptr;
}

}  // namespace mote::cortexm
