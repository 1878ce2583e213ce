// Depthwise convolutions of 3x3 windows on 64-bit Arm: 16 channels of two neighbouring outputs at a time, tap by tap. Two products are
// added in 16 bits, which cannot overflow while no weight is -128.

#include "mote/kernels/int8/depthwise/depthwise_wide.h"
#include "variant.h"

#if defined(__aarch64__) && defined(MOTE_ISA_BASE)
namespace mote::kernels {
namespace MOTE_ISA_BASE::int8 {
KernelFn select_q_depthwise_wide(const OpContext& c) noexcept;
}
// Variants with dot products share this kernel, which would not gain from them.
KernelFn MOTE_ISA_NAME::int8::select_q_depthwise_wide(const OpContext& c) noexcept {
  return MOTE_ISA_BASE::int8::select_q_depthwise_wide(c);
}
}  // namespace mote::kernels
#elif defined(__aarch64__)
#include "mote/kernels/int8/depthwise/problem.h"
#include "mote/kernels/int8/dot/dot_neon.h"
#include "mote/kernels/int8/requantize/register_epilogue_neon.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {
namespace {

using Problem = DepthwiseProblem;
using ops::q_conv::Attrs;

constexpr int kTaps = 9, kGroups = (kTaps + 3) / 4;  // groups of four taps, as weights are packed
constexpr int kMaxBlocks = 4;                        // blocks of 16 channels that are prepared together
constexpr int kEpilogueOutputs = 32;                 // outputs that go to the epilogue together

// Weights of 16 channels, and the start values of their accumulators.
struct TapWeights {
  alignas(16) int8_t w[kTaps][kPanel];
  alignas(16) int32_t base[kPanel];
};

// Zeroes the taps outside of rows [first, last) of the window, which lie outside of the input, and takes the zero point out of the start
// values. excess: zero point less the offset of the LHS encoding.
void select_rows(const TapWeights& full, int32_t first, int32_t last, int32_t excess, TapWeights* out) {
  int16x8_t low = vdupq_n_s16(0), high = low;
  for (int t = 0; t < kTaps; ++t) {
    const int8x16_t w = t / 3 >= first && t / 3 < last ? vld1q_s8(full.w[t]) : vdupq_n_s8(0);
    vst1q_s8(out->w[t], w);
    low = vaddw_s8(low, vget_low_s8(w));
    high = vaddw_high_s8(high, w);
  }
  const int32x4_t weight_sums[] = {vmovl_s16(vget_low_s16(low)), vmovl_high_s16(low), vmovl_s16(vget_low_s16(high)), vmovl_high_s16(high)};
  for (int i = 0; i < 4; ++i) vst1q_s32(out->base + i * 4, vmlsq_n_s32(vld1q_s32(full.base + i * 4), weight_sums[i], excess));
}

struct RowArgs {
  const uint8_t* rows[3];  // of the input, at the block's first channel
  int64_t step;            // bytes from column to column
  int32_t pad, width, outputs;
  uint8_t zero, flip;
  uint8_t* out;
  int64_t out_step;
  int32_t* acc;  // null: outputs are requantized in registers
  const RegisterEpilogue* epilogue;
};

// Products of the lower halves, as inline assembly: GCC would copy the halves to registers of their own.
MOTE_INLINE int16x8_t low_products(int8x16_t a, int8x16_t b) {
  int16x8_t r;
  __asm__("smull %0.8h, %1.8b, %2.8b" : "=w"(r) : "w"(a), "w"(b));
  return r;
}
MOTE_INLINE void add_low_products(int16x8_t& acc, int8x16_t a, int8x16_t b) {
  __asm__("smlal %0.8h, %1.8b, %2.8b" : "+w"(acc) : "w"(a), "w"(b));
}

// Accumulators of one output; a, b, c: columns under the window. WidenEach: every product is widened to 32 bits by itself.
template <bool WidenEach>
MOTE_INLINE void accumulate_window(const TapWeights& t, const int8x16_t (&w)[kTaps], const int8x16_t (&a)[3], const int8x16_t (&b)[3],
                                   const int8x16_t (&c)[3], int32x4_t (&acc)[4]) {
  const auto tap = [&](auto i) MOTE_LAMBDA { return i % 3 == 0 ? a[i / 3] : i % 3 == 1 ? b[i / 3] : c[i / 3]; };
  unroll<4>([&](auto i) MOTE_LAMBDA { acc[i] = vld1q_s32(t.base + i * 4); });
  constexpr int kTapsPerStep = WidenEach ? 1 : 2;
  unroll<(kTaps + kTapsPerStep - 1) / kTapsPerStep>([&](auto group) MOTE_LAMBDA {
    constexpr int kFirst = kTapsPerStep * decltype(group)::value, kSecond = kFirst + 1;
    const int8x16_t x = tap(Index<kFirst>{});
    int16x8_t low = low_products(x, w[kFirst]), high = vmull_high_s8(x, w[kFirst]);
    if constexpr (!WidenEach && kSecond < kTaps) {
      const int8x16_t y = tap(Index<kSecond>{});
      add_low_products(low, y, w[kSecond]);
      high = vmlal_high_s8(high, y, w[kSecond]);
    }
    acc[0] = vaddw_s16(acc[0], vget_low_s16(low));
    acc[1] = vaddw_high_s16(acc[1], low);
    acc[2] = vaddw_s16(acc[2], vget_low_s16(high));
    acc[3] = vaddw_high_s16(acc[3], high);
  });
}

// Outputs [o, o + N). General: u8 input or weights of -128. Inside: all columns lie in the input.
template <int S, int N, bool General, bool Inside>
MOTE_INLINE void compute_outputs(const RowArgs& r, const RegisterEpilogue& e, const ClampVectors& clamp, const TapWeights& t,
                                 const int8x16_t (&w)[kTaps], int32_t o) {
  constexpr int kColumns = (N - 1) * S + 3;
  int8x16_t x[kColumns][3];
  const int32_t first_column = o * S - r.pad;
  unroll<kColumns>([&](auto j) MOTE_LAMBDA {
    const int64_t at = (first_column + j) * r.step;
    const bool in = Inside || static_cast<uint32_t>(first_column + j) < static_cast<uint32_t>(r.width);
    unroll<3>([&](auto i) MOTE_LAMBDA {
      uint8x16_t v = in ? vld1q_u8(r.rows[i] + at) : vdupq_n_u8(r.zero);
      if constexpr (General) v = veorq_u8(v, vdupq_n_u8(r.flip));
      x[j][i] = vreinterpretq_s8_u8(v);
    });
  });
  int32x4_t acc[N][4];
  unroll<N>([&](auto n) MOTE_LAMBDA { accumulate_window<General>(t, w, x[n * S], x[n * S + 1], x[n * S + 2], acc[n]); });
  if (r.acc != nullptr) {
    unroll<N>([&](auto n) MOTE_LAMBDA { store_accumulators<4>(acc[n], r.acc + (o + n) * kPanel); });
    return;
  }
  uint8_t* to[N];
  unroll<N>([&](auto n) MOTE_LAMBDA { to[n] = r.out + (o + n) * r.out_step; });
  requantize_and_store<N, 4>(e, clamp, 0, kPanel, acc, to);
}

template <int S, bool General>
void compute_row(const RowArgs& row, const TapWeights& t) {
  const RowArgs r = row;
  const RegisterEpilogue e = *r.epilogue;
  const ClampVectors clamp(e);
  int8x16_t w[kTaps];
  unroll<kTaps>([&](auto i) MOTE_LAMBDA { w[i] = vld1q_s8(t.w[i]); });
  int32_t o = 0;
  for (; o + 2 <= r.outputs; o += 2) {
    const int32_t first_column = o * S - r.pad;
    if (first_column >= 0 && first_column + S + 3 <= r.width) compute_outputs<S, 2, General, true>(r, e, clamp, t, w, o);
    else compute_outputs<S, 2, General, false>(r, e, clamp, t, w, o);
  }
  if (o < r.outputs) compute_outputs<S, 1, General, false>(r, e, clamp, t, w, o);
}

using RowFn = void (*)(const RowArgs&, const TapWeights&);

// Some blocks of channels. Outputs that are requantized in registers are stored by whole blocks: an overlapping last block stores bytes
// again that the same thread has stored, with the same values. With a residual its first channels are skipped (ChannelBlock::skip).
class BlockGroup {
 public:
  BlockGroup(const Problem& p, int32_t first_block, int32_t count) : p_(p), first_block_(first_block), count_(count) {
    params_.fast_fixed_point = params_.real_below_one = true;
    for (int32_t i = 0; i < count; ++i) prepare(i);
    const DType type = p.epilogue.type();
    in_registers_ = !p.has_residual && (type == DType::s8 || type == DType::u8) && !p.epilogue.has_double() &&
                    (p.epilogue.has_real() || params_.fast_fixed_point) && p.epilogue.bounds().lo <= p.epilogue.bounds().hi;
  }

  // Rows [begin, end) of the outputs of image n.
  void compute(int32_t n, int32_t begin, int32_t last) {
    const int32_t zero = p_.epilogue.x_zero(n);
    excess_ = zero - LhsEncoding(p_.is_signed, zero).offset();
    for (int32_t i = 0; i < count_; ++i) select_rows(weights_[i], 0, 3, excess_, &weights_inside_[i]);
    for (int32_t y = begin; y < last; ++y)
      for (int32_t i = 0; i < count_; ++i) compute_block_row(n, y, i, static_cast<uint8_t>(zero));
  }

 private:
  void prepare(int32_t i) {
    const ChannelBlock b = p_.block(first_block_ + i);
    const int32_t first = b.first, skip = skipped_channels(i);
    TapWeights& t = weights_[i];
    int8x16_t min_weight = vdupq_n_s8(0);
    for (int group = 0; group < kGroups; ++group) {
      const int8x16x4_t four = load_four_taps(first, group);
      unroll<4>([&](auto k) MOTE_LAMBDA {
        if (group * 4 + k >= kTaps) return;
        vst1q_s8(t.w[group * 4 + k], four.val[k]);
        min_weight = vminq_s8(min_weight, four.val[k]);
      });
    }
    if (vminvq_s8(min_weight) == -128) has_minus_128_ = true;
    ChannelParams one;
    p_.epilogue.load_params(first, kPanel, 9, &one);
    params_.fast_fixed_point &= one.fast_fixed_point;
    params_.real_below_one &= one.real_below_one;
    for (int k = 0; k < kPanel; ++k) {
      const int to = i * kPanel + k;
      t.base[k] = one.base[k];
      params_.base[to] = 0;
    }
    // Parameters of the channels that are stored.
    for (int k = skip; k < kPanel; ++k) {
      const int to = i * kPanel + k - skip;
      params_.multiplier[to] = one.multiplier[k], params_.left_shift[to] = one.left_shift[k], params_.right_shift[to] = one.right_shift[k];
      params_.multiplier_f64[to] = one.multiplier_f64[k];
      if (p_.epilogue.residual_in_accumulator()) params_.residual_multiplier[to] = one.residual_multiplier[k];
    }
  }

  // Four taps of 16 channels, which may lie in two panels of weights.
  int8x16x4_t load_four_taps(int32_t first, int group) const {
    const int8_t* panel = p_.weights + (first / kPanel * kGroups + group) * (kPanel * 4);
    if (first % kPanel == 0) return vld4q_s8(panel);
    int8_t both[kPanel * 4];
    for (int i = 0; i < kPanel * 4; ++i) {
      const int at = first % kPanel * 4 + i;
      both[i] = at < kPanel * 4 ? panel[at] : panel[kGroups * kPanel * 4 + at - kPanel * 4];
    }
    return vld4q_s8(both);
  }

  void compute_block_row(int32_t n, int32_t y, int32_t i, uint8_t zero) {
    const int32_t top = y * p_.g.stride_h - p_.g.pad_h, channel = p_.block(first_block_ + i).first;
    const int32_t first = top < 0 ? (-top < 3 ? -top : 3) : 0, rows_inside = p_.x.h - top,
                  last = rows_inside < 3 ? (rows_inside > first ? rows_inside : first) : 3;
    TapWeights edge;
    if (last - first < 3) select_rows(weights_[i], first, last, excess_, &edge);
    const TapWeights& t = last - first < 3 ? edge : weights_inside_[i];
    const RegisterEpilogue epilogue(t.base, params_.multiplier + i * kPanel, params_.right_shift + i * kPanel, nullptr,
                                    p_.epilogue.bounds(), p_.epilogue.type(), p_.epilogue.has_real());
    alignas(64) int32_t acc[(kEpilogueOutputs + 1) * kPanel];  // the epilogue loads whole vectors
    RowArgs r{{},
              p_.x.column,
              p_.g.pad_w,
              p_.x.w,
              0,
              zero,
              static_cast<uint8_t>(p_.is_signed ? 0 : 0x80),
              nullptr,
              p_.y.column,
              in_registers_ ? nullptr : acc,
              &epilogue};
    for (int32_t k = 0; k < 3; ++k) {
      const int32_t input_row = k >= first && k < last ? top + k
                                : first < last         ? top + first
                                                       : 0;  // any row inside, where the weights are zero
      r.rows[k] = p_.x.at(n, input_row, 0) + channel;
    }
    const bool general = has_minus_128_ || !p_.is_signed;
    const RowFn row_fn = p_.g.stride_w == 1 ? (general ? &compute_row<1, true> : &compute_row<1, false>)
                                            : (general ? &compute_row<2, true> : &compute_row<2, false>);
    const int32_t step = in_registers_ ? p_.y.w : kEpilogueOutputs;
    for (int32_t x = 0; x < p_.y.w; x += step) {
      r.outputs = p_.y.w - x < step ? p_.y.w - x : step;
      r.pad = p_.g.pad_w - x * p_.g.stride_w;
      const int32_t width = static_cast<int32_t>(dtype_bytes(p_.epilogue.type()));
      r.out = p_.y.at(n, y, x) + channel * width;
      row_fn(r, t);
      if (!in_registers_) store(n, y, x, r, i, channel * width);
    }
  }

  void store(int32_t n, int32_t y, int32_t x, const RowArgs& r, int32_t i, int32_t channel_offset) const {
    const int32_t skip = skipped_channels(i), skip_bytes = skip * static_cast<int32_t>(dtype_bytes(p_.epilogue.type()));
    uint8_t* out[kEpilogueOutputs];
    const uint8_t* residual[kEpilogueOutputs];
    RowCorrection corrections[kEpilogueOutputs];
    for (int32_t o = 0; o < r.outputs; ++o) {
      out[o] = r.out + o * r.out_step + skip_bytes;
      if (p_.has_residual) residual[o] = p_.residual.at(n, y, x + o) + channel_offset + skip_bytes;
      corrections[o] = {0, 0, p_.epilogue.x_scale(n)};
    }
    p_.epilogue.store(params_, {r.acc + skip, kPanel, r.outputs, i * kPanel, kPanel - skip, out, p_.has_residual ? residual : nullptr,
                                corrections, false});
  }

  int32_t skipped_channels(int32_t i) const { return p_.has_residual ? p_.block(first_block_ + i).skip : 0; }

  const Problem& p_;
  int32_t first_block_, count_, excess_ = 0;
  bool in_registers_, has_minus_128_ = false;
  TapWeights weights_[kMaxBlocks], weights_inside_[kMaxBlocks];
  ChannelParams params_;
};

Status q_depthwise_3x3_s8(const OpContext& c) noexcept {
  const Problem p(c);
  // Each part has at least two blocks where there are several: the last block and the one it may overlap belong to one thread.
  const int32_t parts = (p.blocks() + kMaxBlocks - 1) / kMaxBlocks;
  p.for_each_part(parts, 1, 10, [&](int32_t part, RowRange rows) {
    const Range own_blocks = part_of(p.blocks(), static_cast<uint32_t>(part), static_cast<uint32_t>(parts));
    BlockGroup blocks(p, own_blocks.first, own_blocks.size);
    for (int32_t n = 0; n < p.y.n; ++n) blocks.compute(n, rows.begin, rows.end);
  });
  return Status::kOk;
}

}  // namespace

KernelFn select_q_depthwise_wide(const OpContext& c) noexcept {
  const Attrs& a = c.attrs<Attrs>();
  const Tensor& w = c.input(1);
  if (w.rank() != 4 || w.dim(0) < kPanel || a.weight_zero != 0) return nullptr;
  const WindowGeometry g(a, w.desc->dims + 1, 2);
  if (g.kernel_h != 3 || g.kernel_w != 3 || g.dilation_h != 1 || g.dilation_w != 1 || (g.stride_w != 1 && g.stride_w != 2)) return nullptr;
  return &q_depthwise_3x3_s8;
}

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
#endif
