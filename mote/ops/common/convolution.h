#pragma once

// The convolution and its transpose: both sum, for every output position, the taps that WindowWalk finds under it.
// Inputs: x (N, spatial, C), weights (O, kernel, C/groups), bias? (O), residual? (as y), scales? (O), or of groups of weights.

#include "mote/ops/common/linear.h"
#include "mote/ops/common/window.h"

namespace mote::ops {

// Checks everything that depends neither on the output's spatial sizes nor on scales.
template <class A>
Status check_convolution(const A& a, const InferContext& c, DTypeMask types) noexcept {
  MOTE_TRY(c.require(0, types));
  MOTE_TRY(require_spatial(c, 0));
  MOTE_TRY(check_weights(c));
  MOTE_TRY(check_activation(c, a));
  const TensorDesc &x = c.in(0), &w = c.in(1);
  if (x.layout != Layout::kPlain) return c.reject(Why::kLayout, 0, static_cast<uint8_t>(x.layout));
  if (w.rank != x.rank) return c.reject(Why::kRank, x.rank, w.rank);
  const int32_t channels = x.dims[x.rank - 1];
  if (a.groups < 1 || channels % a.groups != 0 || w.dims[0] % a.groups != 0) return c.reject(Why::kGroups, channels, a.groups);
  if (w.dims[w.rank - 1] != channels / a.groups) return c.reject(Why::kDimMismatch, channels / a.groups, w.dims[w.rank - 1]);
  MOTE_TRY(check_per_channel(c, 2, w.dims[0]));
  if (c.has(4) && x.dtype != DType::f32) return c.reject(Why::kDType, mask_of(DType::f32), static_cast<uint8_t>(x.dtype));
  return Status::kOk;
}

// Attributes::group_size, of operators that have it.
template <class A>
constexpr auto group_size_of(const A& a, int) -> decltype(a.group_size) {
  return a.group_size;
}
template <class A>
constexpr int32_t group_size_of(const A&, long) {
  return 0;
}

// Weights (o, k) whose groups of neighbouring k have scales, and zero points where input 5 is there: (groups, O).
template <class W>
class GroupedWeights {
 public:
  GroupedWeights(const OpContext& c, int32_t size) : weights_(c.input(1)), context_(c), size_(size) {}
  float operator()(int32_t o, int32_t k) const {
    if (size_ == 0) return static_cast<float>(weights_(o, k));
    const auto at = [&](const Tensor& t) { return k / size_ * t.stride(0) + o * t.stride(1); };
    const int32_t zero = context_.has_input(5) ? *context_.input(5).at<const int8_t>(at(context_.input(5))) : 0;
    return static_cast<float>(weights_(o, k) - zero) * scale_at(context_.input(4), at(context_.input(4)));
  }
  const W* panel(int32_t) const { return nullptr; }

 private:
  Weights<W> weights_;
  const OpContext& context_;
  int32_t size_;
};

// Sets the output, and checks the input that has its shape.
inline Status set_convolution_output(const InferContext& c, const Window& w) noexcept {
  MOTE_TRY(set_spatial(c, 0, c.in(0).dtype, c.in(0).dims[0], w, c.in(1).dims[0]));
  return check_residual(c, 3);
}

template <class A, class T, class W, bool Transposed>
struct Convolution {
  static Status run(const OpContext& c) noexcept {
    using C = Compute<T>;
    constexpr int32_t kLanes = 16;
    const A& a = c.attrs<A>();
    const Tensor &x = c.input(0), &w = c.input(1), &y = c.output(0);
    constexpr bool kGroups = std::is_same_v<W, s4> || std::is_same_v<W, int8_t>;
    const int32_t group_size = kGroups ? group_size_of(a, 0) : 0;
    const auto weights = [&] {
      if constexpr (kGroups) return GroupedWeights<W>(c, group_size);
      else return Weights<W>(w);
    }();
    const T* bias = c.has_input(2) ? c.input(2).as<const T>() : nullptr;
    const float* scales = c.has_input(4) && group_size == 0 ? c.input(4).as<const float>() : nullptr;
    const int32_t outputs = w.dim(0), outputs_per_group = outputs / a.groups, inputs_per_group = w.dim(w.rank() - 1);
    Window window = make_window(a, *x.desc, &w.desc->dims[1], *y.desc);
    window.transposed = Transposed;
    WindowWalk walk(window, *y.desc, c.rows);
    while (walk.next()) {
      T* out = y.at<T>(walk.output_offset(*y.desc));
      const T* residual = c.has_input(3) ? c.input(3).at<const T>(walk.output_offset(*c.input(3).desc)) : nullptr;
      // Several output channels at once: the taps are looked for once for all of them. Each sums in the order of taps and channels.
      for (int32_t block = 0; block < outputs; block += kLanes) {
        const int32_t lanes = outputs - block < kLanes ? outputs - block : kLanes;
        C sum[kLanes] = {};
        int32_t first[kLanes];
        for (int32_t l = 0; l < lanes; ++l) first[l] = (block + l) / outputs_per_group * inputs_per_group;
        const W* panel = a.groups == 1 ? weights.panel(block) : nullptr;
        const auto add_tap = [&](const Tap& t) {
          const T* in = x.at<const T>(walk.input_offset(*x.desc, t));
          if constexpr (!std::is_same_v<W, s4>) {
            if (panel != nullptr) return add_panel_rows(in, panel + t.index * inputs_per_group * kLanes, inputs_per_group, sum);
          }
          for (int32_t i = 0; i < inputs_per_group; ++i)
            for (int32_t l = 0; l < lanes; ++l)
              sum[l] += static_cast<C>(in[first[l] + i]) * static_cast<C>(weights(block + l, t.index * inputs_per_group + i));
        };
        if (inputs_per_group > 0) walk.taps(add_tap);
        for (int32_t l = 0; l < lanes; ++l) {
          const int32_t o = block + l;
          if (scales != nullptr) sum[l] *= static_cast<C>(scales[o]);
          out[o] = finish_sum<T>(a, sum[l], bias == nullptr ? nullptr : bias + o, residual == nullptr ? nullptr : residual + o);
        }
      }
    }
    return Status::kOk;
  }
};

}  // namespace mote::ops
