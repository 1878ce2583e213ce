// Depthwise convolutions of any window on any ISA: 16 channels at a time, the taps of a window's column in groups of four. A column is
// loaded and interleaved once for all outputs of a tile that it lies under.

#include "mote/kernels/int8/depthwise/depthwise.h"

#include "mote/kernels/int8/depthwise/depthwise_wide.h"
#include "mote/kernels/int8/depthwise/problem.h"
#include "mote/kernels/int8/dot/dot.h"
#include "mote/kernels/int8/requantize/bytes.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {
namespace {

using Problem = DepthwiseProblem;
using ops::q_conv::Attrs;

constexpr int kVectors = kPanel / kVectorOutputs;  // registers for 16 channels
constexpr int kTileOutputWidth =
    (kRegisters == 32 && kVectors > 2 ? 16 : 8) / kVectors;  // outputs whose accumulators are in registers together
constexpr int kMaxSlots = 64;                                // groups of four taps, for 16 channels
constexpr int kMaxBlocks = 4;                                // blocks of 16 channels that are packed together
constexpr int kEpilogueOutputs = 32;                         // outputs that go to the epilogue together
constexpr int kMaxKernelHeight = 64;

// Packed weights and epilogue parameters of some blocks. A weight less its zero point may take 9 bits: `overflow` is what saturating it to
// 8 bits has cut off.
struct PackedBlocks {
  alignas(64) uint8_t weights[kMaxSlots * kTapGroupBytes], overflow[kMaxSlots * kTapGroupBytes];
  ChannelParams params;  // of the channels that block i stores, from 16 * i on
  int32_t first_block, blocks;
  bool has_overflow;
};

void pack_block(const Problem& p, int32_t block, int32_t position, PackedBlocks* out) {
  const ChannelBlock b = p.block(block);
  const int32_t taps = p.g.kernel_h * p.g.kernel_w, groups = (taps + 3) / 4;
  int32_t weight_sums[2 * kPanel] = {};
  for (int32_t slot = 0; slot < p.weight_slots(); ++slot) {
    const int32_t kx = slot / p.tap_groups(), ky = slot % p.tap_groups() * 4;
    alignas(64) int16_t v[kPanel * 4] = {};
    for (int t = 0; t < 4 && ky + t < p.g.kernel_h; ++t) {
      const int32_t k = (ky + t) * p.g.kernel_w + kx;
      for (int i = 0; i < b.count; ++i) {
        const int32_t n = b.first + i,
                      w = p.weights[(n / kPanel * groups + k / 4) * (kPanel * 4) + n % kPanel * 4 + k % 4] - p.a.weight_zero;
        v[i * 4 + t] = static_cast<int16_t>(w);
        weight_sums[i] += w;
      }
    }
    const int32_t slot_offset = (position * p.weight_slots() + slot) * kTapGroupBytes;
    if (pack_tap_group(v, out->weights + slot_offset, out->overflow + slot_offset)) out->has_overflow = true;
  }
  for (int i = 0; i < kPanel; ++i) out->params.weight_sum[position * kPanel + i] = weight_sums[i + b.skip];
}

void pack_blocks(const Problem& p, int32_t batch, PackedBlocks* out) {
  out->has_overflow = false;
  for (int32_t i = 0; i < out->blocks; ++i) {
    const ChannelBlock b = p.block(out->first_block + i);
    pack_block(p, out->first_block + i, i, out);
    ChannelParams one;
    p.epilogue.load_params(b.first + b.skip, b.count - b.skip, p.g.kernel_h * p.g.kernel_w, &one);
    out->params.fast_fixed_point = (i == 0 || out->params.fast_fixed_point) && one.fast_fixed_point;
    out->params.real_below_one = (i == 0 || out->params.real_below_one) && one.real_below_one;
    for (int k = 0; k < kPanel; ++k) {
      const int32_t index = i * kPanel + k;
      out->params.base[index] = one.base[k];
      out->params.multiplier[index] = one.multiplier[k];
      out->params.left_shift[index] = one.left_shift[k];
      out->params.right_shift[index] = one.right_shift[k];
      out->params.multiplier_f64[index] = one.multiplier_f64[k];
      if (p.epilogue.residual_in_accumulator()) out->params.residual_multiplier[index] = one.residual_multiplier[k];
    }
  }
  const int32_t zero = p.epilogue.x_zero(batch), excess = zero - LhsEncoding(p.is_signed, zero).offset();
  for (int32_t i = 0; i < out->blocks * kPanel; ++i)
    out->params.base[i] = wrapping_sub(out->params.base[i], wrapping_mul(excess, out->params.weight_sum[i]));
}

// Four rows of the input, at the block's first channel; rows outside of the input are `zero_points`, with step 0.
struct RowGroup {
  const uint8_t* at[4];
  int64_t step[4];
};

// Tensors with fewer than 16 channels.
[[gnu::noinline]] U8x16 load_channel_tail(const uint8_t* p, int32_t channels) {
  alignas(16) uint8_t buffer[kPanel + 64];
  store_u8x16(hn::Zero(hn::CappedTag<uint8_t, 16>()), buffer);
  copy_bytes(buffer, p, channels);
  return load_u8x16(buffer);
}

// Full: there are 16 channels, known at compile time.
template <bool Full>
MOTE_INLINE U8x16 load_channels(const uint8_t* p, int32_t channels) {
  if (Full || channels == kPanel) return load_u8x16(p);
  if (channels == 8) return hn::ZeroExtendVector(hn::CappedTag<uint8_t, 16>(), hn::LoadU(hn::CappedTag<uint8_t, 8>(), p));
  return load_channel_tail(p, channels);
}

// Input and weights of some neighbouring outputs of a row.
struct WindowArgs {
  const RowGroup* rows;  // [groups]
  int32_t groups;
  const uint8_t* zero_points;
  int32_t x, input_width, count, channels;  // input column under the first output's first tap; width of the input; outputs; channels
  int32_t stride, dilation, kernel_w;
  const uint8_t *weights, *overflow;  // overflow: null where every weight fits 8 bits
};

template <bool Full>
MOTE_INLINE void load_column(const WindowArgs& s, const LhsEncoding& encoding, int32_t group, int32_t x, Operand* out) {
  const RowGroup& r = s.rows[group];
  U8x16 taps[4];
  if (static_cast<uint32_t>(x) < static_cast<uint32_t>(s.input_width)) {
    unroll<4>([&](auto t) { taps[t] = load_channels<Full>(r.at[t] + x * r.step[t], s.channels); });
  } else {
    taps[0] = taps[1] = taps[2] = taps[3] = load_u8x16(s.zero_points);
  }
  encoding.interleave_taps(taps[0].raw, taps[1].raw, taps[2].raw, taps[3].raw, out);
}

MOTE_INLINE void accumulate_column(const uint8_t* weights, int32_t slot, const Operand* column, Register* acc) {
  unroll<kVectors>([&](auto v) {
    constexpr int kOperandBytes = static_cast<int>(sizeof(Operand));
    acc[v] = dot(acc[v], column[v], load_operand(weights + slot * kTapGroupBytes + v * kOperandBytes));
  });
}
// The passes over the weights: 8-bit values, then their overflow, if any.
MOTE_INLINE const uint8_t* next_pass(const WindowArgs& s, const uint8_t* weights) { return weights == s.weights ? s.overflow : nullptr; }

// A tile of kTileOutputWidth outputs, window KW taps wide, stride S.
template <int KW, int S, bool Full>
void compute_tile(const WindowArgs& s, const LhsEncoding& encoding, int32_t* out) {
  Register acc[kTileOutputWidth][kVectors];
  unroll<kTileOutputWidth>([&](auto o) { unroll<kVectors>([&](auto v) { acc[o][v] = zero_register(); }); });
  for (const uint8_t* weights = s.weights; weights != nullptr; weights = next_pass(s, weights)) {
    for (int32_t group = 0; group < s.groups; ++group) {
      unroll<(kTileOutputWidth - 1) * S + KW>([&](auto j) {
        Operand column[kVectors];
        load_column<Full>(s, encoding, group, s.x + j, column);
        unroll<kTileOutputWidth>([&](auto o) {
          constexpr int kTap = j - o * S;
          if constexpr (kTap >= 0 && kTap < KW) accumulate_column(weights, kTap * s.groups + group, column, acc[o]);
        });
      });
    }
  }
  unroll<kTileOutputWidth>([&](auto o) { store_accumulators<kVectors>(acc[o], out + o * kPanel); });
}

// Any window, output by output.
template <bool Full>
void compute_outputs_generic(const WindowArgs& s, const LhsEncoding& encoding, int32_t* out) {
  for (int32_t o = 0; o < s.count; ++o) {
    Register acc[kVectors];
    unroll<kVectors>([&](auto v) { acc[v] = zero_register(); });
    for (int32_t kx = 0; kx < s.kernel_w; ++kx) {
      for (int32_t group = 0; group < s.groups; ++group) {
        Operand column[kVectors];
        load_column<Full>(s, encoding, group, s.x + o * s.stride + kx * s.dilation, column);
        for (const uint8_t* weights = s.weights; weights != nullptr; weights = next_pass(s, weights))
          accumulate_column(weights, kx * s.groups + group, column, acc);
      }
    }
    store_accumulators<kVectors>(acc, out + o * kPanel);
  }
}

// Where depthwise_wide.cc has the common windows, specialised tiles for the few other windows would not justify their code size.
constexpr bool kHasTiles = HWY_ARCH_X86 == 0;

template <bool Full>
MOTE_INLINE void compute_outputs(const WindowArgs& s, const LhsEncoding& encoding, int32_t* out) {
  // A tile may compute outputs beyond the last one; they are not stored.
  const bool use_tile = s.count * 2 >= kTileOutputWidth && s.dilation == 1;
  if (use_tile && s.kernel_w == 3 && s.stride == 1) return compute_tile<3, 1, Full>(s, encoding, out);
  if constexpr (kHasTiles) {
    if (use_tile && s.kernel_w == 3 && s.stride == 2) return compute_tile<3, 2, Full>(s, encoding, out);
    if (use_tile && s.kernel_w == 5 && s.stride == 1) return compute_tile<5, 1, Full>(s, encoding, out);
    if (use_tile && s.kernel_w == 5 && s.stride == 2) return compute_tile<5, 2, Full>(s, encoding, out);
  }
  return compute_outputs_generic<Full>(s, encoding, out);
}

// A row of outputs for one block.
void compute_row(const Problem& p, const PackedBlocks& w, int32_t block, int32_t n, int32_t y, const uint8_t* zero_points) {
  const ChannelBlock b = p.block(w.first_block + block);
  const int32_t channels = b.count;
  const int32_t element_bytes = static_cast<int32_t>(dtype_bytes(p.epilogue.type())), iy = y * p.g.stride_h - p.g.pad_h;
  RowGroup rows[kMaxKernelHeight / 4];
  for (int32_t ky = 0; ky < p.tap_groups() * 4; ++ky) {
    const int32_t input_row = iy + ky * p.g.dilation_h;
    const bool inside = ky < p.g.kernel_h && static_cast<uint32_t>(input_row) < static_cast<uint32_t>(p.x.h);
    rows[ky / 4].at[ky % 4] = inside ? p.x.at(n, input_row, 0) + b.first : zero_points;
    rows[ky / 4].step[ky % 4] = inside ? p.x.column : 0;
  }
  const LhsEncoding encoding(p.is_signed, p.epilogue.x_zero(n));
  const int32_t slot_offset = block * p.weight_slots() * kTapGroupBytes;
  WindowArgs s{rows,
               p.tap_groups(),
               zero_points,
               0,
               p.x.w,
               0,
               channels,
               p.g.stride_w,
               p.g.dilation_w,
               p.g.kernel_w,
               w.weights + slot_offset,
               w.has_overflow ? w.overflow + slot_offset : nullptr};
  alignas(64) int32_t accumulators[(kEpilogueOutputs + 1) * kPanel];  // the epilogue loads whole vectors
  const int32_t first_byte = (b.first + b.skip) * element_bytes;
  uint8_t* out[kEpilogueOutputs];
  const uint8_t* residual[kEpilogueOutputs];
  RowCorrection corrections[kEpilogueOutputs];
  for (int32_t x = 0; x < p.y.w; x += kEpilogueOutputs) {
    const int32_t count = p.y.w - x < kEpilogueOutputs ? p.y.w - x : kEpilogueOutputs;
    for (int32_t at = 0; at < count; at += kTileOutputWidth) {
      s.x = (x + at) * p.g.stride_w - p.g.pad_w;
      s.count = count - at < kTileOutputWidth ? count - at : kTileOutputWidth;
      int32_t* to = accumulators + at * kPanel;
      if (kHasTiles && channels == kPanel) compute_outputs<true>(s, encoding, to);
      else compute_outputs<false>(s, encoding, to);
    }
    for (int32_t i = 0; i < count; ++i) {
      out[i] = p.y.at(n, y, x + i) + first_byte;
      if (p.has_residual) residual[i] = p.residual.at(n, y, x + i) + first_byte;
      corrections[i] = {0, 0, p.epilogue.x_scale(n)};
    }
    p.epilogue.store(w.params, {accumulators + b.skip, kPanel, count, block * kPanel, channels - b.skip, out,
                                p.has_residual ? residual : nullptr, corrections, false});
  }
}

void compute_blocks(const Problem& p, int32_t first_block, int32_t blocks, RowRange rows) {
  PackedBlocks w;
  w.first_block = first_block;
  w.blocks = blocks;
  alignas(16) uint8_t zero_points[64];
  for (int32_t n = 0; n < p.y.n; ++n) {
    if (n == 0 || p.epilogue.x_zero_varies()) pack_blocks(p, n, &w);
    fill_bytes(zero_points, static_cast<uint8_t>(p.epilogue.x_zero(n)), kPanel);
    for (int32_t y = rows.begin; y < rows.end; ++y)
      for (int32_t block = 0; block < blocks; ++block) compute_row(p, w, block, n, y, zero_points);
  }
}

Status q_depthwise_s8(const OpContext& c) noexcept {
  const Problem p(c);
  const int32_t max_blocks = kMaxSlots / p.weight_slots(), blocks_per_part = max_blocks < kMaxBlocks ? max_blocks : kMaxBlocks;
  p.for_each_part((p.blocks() + blocks_per_part - 1) / blocks_per_part, 1, 10 + p.g.kernel_h * p.g.kernel_w,
                  [&](int32_t part, RowRange rows) {
                    const int32_t first = part * blocks_per_part, remaining = p.blocks() - first;
                    compute_blocks(p, first, remaining < blocks_per_part ? remaining : blocks_per_part, rows);
                  });
  return Status::kOk;
}

}  // namespace

KernelFn select_q_depthwise(const OpContext& c) noexcept {
  const Attrs& a = c.attrs<Attrs>();
  const Tensor& w = c.input(1);
  const WindowGeometry g(a, w.desc->dims + 1, w.rank() - 2);
  const int64_t slots = int64_t{g.kernel_w} * ((g.kernel_h + 3) / 4);
  // With a zero point of -128 the overflow of a weight would need 9 bits.
  if (w.dim(0) != a.groups || slots > kMaxSlots || g.kernel_h > kMaxKernelHeight || c.has_input(ops::kEpilogueWZero) ||
      a.weight_zero == -128)
    return nullptr;
  const KernelFn wide = select_q_depthwise_wide(c);
  return wide != nullptr ? wide : &q_depthwise_s8;
}

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
