// Quantized convolutions of one channel each: 16 channels at a time, the taps of a column of the window four by four. A column that
// was brought together serves every output it lies under.

#include "mote/kernels/int8/depthwise.h"

#include "mote/kernels/int8/bytes.h"
#include "mote/kernels/int8/depthwise_problem.h"
#include "mote/kernels/int8/depthwise_wide.h"
#include "mote/kernels/int8/dot.h"

namespace mote::kernels::MOTE_ISA_NAME {
namespace {

using Problem = DepthwiseProblem;
using ops::q_conv::Attrs;

constexpr int kVectors = kPanel / kVectorOutputs;                               // registers for 16 channels
constexpr int kStrip = (kRegisters == 32 && kVectors > 2 ? 16 : 8) / kVectors;  // outputs whose sums are in registers together
constexpr int kMaxSlots = 64;                                                   // fours of taps, for 16 channels
constexpr int kMaxBlocks = 4;                                                   // sixteens of channels that are prepared together
constexpr int kMaxRun = 32;                                                     // outputs that go to the stage together
constexpr int kMaxHeight = 64;

// Weights and columns of some blocks.
struct Prepared {
  alignas(64) uint8_t main[kMaxSlots * kColumnBytes], rest[kMaxSlots * kColumnBytes];
  Columns columns;  // of block i from 16 * i on
  int32_t first_block, blocks;
  bool has_rest;
};

void prepare_block(const Problem& p, int32_t block, int32_t at, Prepared* out) {
  const int32_t first = p.first_channel(block), taps = p.g.kernel_h * p.g.kernel_w, groups = (taps + 3) / 4;
  int32_t* sums = out->columns.weight + at * kPanel;
  for (int i = 0; i < kPanel; ++i) sums[i] = 0;
  for (int32_t slot = 0; slot < p.slots(); ++slot) {
    const int32_t kx = slot / p.fours(), ky = slot % p.fours() * 4;
    alignas(64) int16_t v[kPanel * 4] = {};
    for (int t = 0; t < 4 && ky + t < p.g.kernel_h; ++t) {
      const int32_t k = (ky + t) * p.g.kernel_w + kx;
      for (int i = 0; i < kPanel && first + i < p.channels; ++i) {
        const int32_t n = first + i, w = p.weights[(n / kPanel * groups + k / 4) * (kPanel * 4) + n % kPanel * 4 + k % 4] - p.a.weight_zero;
        v[i * 4 + t] = static_cast<int16_t>(w);
        sums[i] += w;
      }
    }
    const int32_t place = (at * p.slots() + slot) * kColumnBytes;
    if (pack_column(v, out->main + place, out->rest + place)) out->has_rest = true;
  }
}

void prepare(const Problem& p, int32_t batch, Prepared* out) {
  out->has_rest = false;
  for (int32_t i = 0; i < out->blocks; ++i) {
    const int32_t first = p.first_channel(out->first_block + i);
    prepare_block(p, out->first_block + i, i, out);
    Columns one;
    p.stage.describe(first, p.channels - first < kPanel ? p.channels - first : kPanel, p.g.kernel_h * p.g.kernel_w, &one);
    out->columns.simple = (i == 0 || out->columns.simple) && one.simple;
    out->columns.small = (i == 0 || out->columns.small) && one.small;
    for (int k = 0; k < kPanel; ++k) {
      const int32_t to = i * kPanel + k;
      out->columns.base[to] = one.base[k];
      out->columns.multiplier[to] = one.multiplier[k];
      out->columns.left[to] = one.left[k];
      out->columns.right[to] = one.right[k];
      out->columns.real[to] = one.real[k];
      if (p.stage.residual_in_sums()) out->columns.residual[to] = one.residual[k];
    }
  }
  const int32_t zero = p.stage.x_zero(batch), excess = zero - LeftForm(p.is_signed, zero).offset();
  for (int32_t i = 0; i < out->blocks * kPanel; ++i)
    out->columns.base[i] = wrapping_sub(out->columns.base[i], wrapping_mul(excess, out->columns.weight[i]));
}

// Four rows of the input, at the first channel of a block; rows outside of it repeat `zeros`.
struct FourRows {
  const uint8_t* at[4];
  int64_t step[4];
};

// Fewer channels than a block has.
[[gnu::noinline]] Block load_few(const uint8_t* p, int32_t channels) {
  alignas(16) uint8_t some[kPanel + 64];
  store_block(hn::Zero(hn::CappedTag<uint8_t, 16>()), some);
  copy_bytes(some, p, channels);
  return load_block(some);
}

// Whole: there are 16 channels; else that is found out.
template <bool Whole>
MOTE_INLINE Block load_channels(const uint8_t* p, int32_t channels) {
  if (Whole || channels == kPanel) return load_block(p);
  if (channels == 8) return hn::ZeroExtendVector(hn::CappedTag<uint8_t, 16>(), hn::LoadU(hn::CappedTag<uint8_t, 8>(), p));
  return load_few(p, channels);
}

// What a strip of outputs is computed from.
struct Strip {
  const FourRows* rows;  // [fours]
  int32_t fours;
  const uint8_t* zeros;
  int32_t x, width, count, channels;  // input position of the first output's first tap, width of the input, outputs, channels
  int32_t stride, dilation, kernel_w;
  const uint8_t *main, *rest;  // rest: or null
};

template <bool Whole>
MOTE_INLINE void load_column(const Strip& s, const LeftForm& form, int32_t four, int32_t x, Operand* out) {
  const FourRows& r = s.rows[four];
  Block taps[4];
  if (static_cast<uint32_t>(x) < static_cast<uint32_t>(s.width)) {
    unroll<4>([&](auto t) { taps[t] = load_channels<Whole>(r.at[t] + x * r.step[t], s.channels); });
  } else {
    taps[0] = taps[1] = taps[2] = taps[3] = load_block(s.zeros);
  }
  form.columns(taps[0].raw, taps[1].raw, taps[2].raw, taps[3].raw, out);
}

MOTE_INLINE void add_column(const uint8_t* weights, int32_t slot, const Operand* column, Register* sums) {
  unroll<kVectors>([&](auto v) {
    constexpr int kBytes = static_cast<int>(sizeof(Operand));
    sums[v] = dot(sums[v], column[v], load_operand(weights + slot * kColumnBytes + v * kBytes));
  });
}
// Weights of eight bits, then what is left of those that need more.
MOTE_INLINE const uint8_t* next_weights(const Strip& s, const uint8_t* weights) { return weights == s.main ? s.rest : nullptr; }

// kStrip outputs of a window of KW columns, S apart.
template <int KW, int S, bool Whole>
void strip_of(const Strip& s, const LeftForm& form, int32_t* out) {
  Register sums[kStrip][kVectors];
  unroll<kStrip>([&](auto o) { unroll<kVectors>([&](auto v) { sums[o][v] = zero_register(); }); });
  for (const uint8_t* weights = s.main; weights != nullptr; weights = next_weights(s, weights)) {
    for (int32_t four = 0; four < s.fours; ++four) {
      unroll<(kStrip - 1) * S + KW>([&](auto j) {
        Operand column[kVectors];
        load_column<Whole>(s, form, four, s.x + j, column);
        unroll<kStrip>([&](auto o) {
          constexpr int kTap = j - o * S;
          if constexpr (kTap >= 0 && kTap < KW) add_column(weights, kTap * s.fours + four, column, sums[o]);
        });
      });
    }
  }
  unroll<kStrip>([&](auto o) { store_sums<kVectors>(sums[o], out + o * kPanel); });
}

// Any window, output by output.
template <bool Whole>
void strip_of_any(const Strip& s, const LeftForm& form, int32_t* out) {
  for (int32_t o = 0; o < s.count; ++o) {
    Register sums[kVectors];
    unroll<kVectors>([&](auto v) { sums[v] = zero_register(); });
    for (int32_t kx = 0; kx < s.kernel_w; ++kx) {
      for (int32_t four = 0; four < s.fours; ++four) {
        Operand column[kVectors];
        load_column<Whole>(s, form, four, s.x + o * s.stride + kx * s.dilation, column);
        for (const uint8_t* weights = s.main; weights != nullptr; weights = next_weights(s, weights))
          add_column(weights, kx * s.fours + four, column, sums);
      }
    }
    store_sums<kVectors>(sums, out + o * kPanel);
  }
}

// Where depthwise_wide.cc has the common windows, few others are worth loops of their own.
constexpr bool kCommonToo = HWY_ARCH_X86 == 0;

template <bool Whole>
MOTE_INLINE void strip(const Strip& s, const LeftForm& form, int32_t* out) {
  // Outputs too many are computed and left where they are.
  const bool full = s.count * 2 >= kStrip && s.dilation == 1;
  if (full && s.kernel_w == 3 && s.stride == 1) return strip_of<3, 1, Whole>(s, form, out);
  if constexpr (kCommonToo) {
    if (full && s.kernel_w == 3 && s.stride == 2) return strip_of<3, 2, Whole>(s, form, out);
    if (full && s.kernel_w == 5 && s.stride == 1) return strip_of<5, 1, Whole>(s, form, out);
    if (full && s.kernel_w == 5 && s.stride == 2) return strip_of<5, 2, Whole>(s, form, out);
  }
  return strip_of_any<Whole>(s, form, out);
}

// One row of outputs for one block.
void run_row(const Problem& p, const Prepared& w, int32_t block, int32_t n, int32_t y, const uint8_t* zeros) {
  const int32_t first = p.first_channel(w.first_block + block), some = p.channels - first, channels = some < kPanel ? some : kPanel;
  const int32_t width = static_cast<int32_t>(dtype_bytes(p.stage.type())), iy = y * p.g.stride_h - p.g.pad_h;
  FourRows rows[kMaxHeight / 4];
  for (int32_t ky = 0; ky < p.fours() * 4; ++ky) {
    const int32_t line = iy + ky * p.g.dilation_h;
    const bool in = ky < p.g.kernel_h && static_cast<uint32_t>(line) < static_cast<uint32_t>(p.x.h);
    rows[ky / 4].at[ky % 4] = in ? p.x.at(n, line, 0) + first : zeros;
    rows[ky / 4].step[ky % 4] = in ? p.x.column : 0;
  }
  const LeftForm form(p.is_signed, p.stage.x_zero(n));
  const int32_t place = block * p.slots() * kColumnBytes;
  Strip s{rows,           p.fours(),
          zeros,          0,
          p.x.w,          0,
          channels,       p.g.stride_w,
          p.g.dilation_w, p.g.kernel_w,
          w.main + place, w.has_rest ? w.rest + place : nullptr};
  alignas(64) int32_t sums[kMaxRun * kPanel];
  uint8_t* out[kMaxRun];
  const uint8_t* residual[kMaxRun];
  RowTerms terms[kMaxRun];
  for (int32_t x = 0; x < p.y.w; x += kMaxRun) {
    const int32_t count = p.y.w - x < kMaxRun ? p.y.w - x : kMaxRun;
    for (int32_t at = 0; at < count; at += kStrip) {
      s.x = (x + at) * p.g.stride_w - p.g.pad_w;
      s.count = count - at < kStrip ? count - at : kStrip;
      int32_t* to = sums + at * kPanel;
      if (kCommonToo && channels == kPanel) strip<true>(s, form, to);
      else strip<false>(s, form, to);
    }
    for (int32_t i = 0; i < count; ++i) {
      out[i] = p.y.at(n, y, x + i) + first * width;
      if (p.add) residual[i] = p.residual.at(n, y, x + i) + first * width;
      terms[i] = {0, 0, p.stage.x_scale(n)};
    }
    p.stage.store(w.columns, {sums, kPanel, count, block * kPanel, channels, out, p.add ? residual : nullptr, terms, false});
  }
}

void run_blocks(const Problem& p, int32_t first_block, int32_t blocks, RowRange rows) {
  Prepared w;
  w.first_block = first_block;
  w.blocks = blocks;
  alignas(16) uint8_t zeros[64];
  for (int32_t n = 0; n < p.y.n; ++n) {
    if (n == 0 || p.stage.x_zero_varies()) prepare(p, n, &w);
    fill_bytes(zeros, static_cast<uint8_t>(p.stage.x_zero(n)), kPanel);
    for (int32_t y = rows.begin; y < rows.end; ++y)
      for (int32_t block = 0; block < blocks; ++block) run_row(p, w, block, n, y, zeros);
  }
}

Status run(const OpContext& c) noexcept {
  const Problem p(c);
  const int32_t fit = kMaxSlots / p.slots(), together = fit < kMaxBlocks ? fit : kMaxBlocks;
  p.share((p.blocks() + together - 1) / together, 1, 10 + p.g.kernel_h * p.g.kernel_w, [&](int32_t part, RowRange rows) {
    const int32_t first = part * together, left = p.blocks() - first;
    run_blocks(p, first, left < together ? left : together, rows);
  });
  return Status::kOk;
}

}  // namespace

KernelFn select_q_depthwise(const OpContext& c) noexcept {
  const Attrs& a = c.attrs<Attrs>();
  const Tensor& w = c.input(1);
  const Geometry g(a, w.desc->dims + 1, w.rank() - 2);
  const int64_t slots = int64_t{g.kernel_w} * ((g.kernel_h + 3) / 4);
  // A zero point of -128 would need 9 bits for what is left of a weight.
  if (w.dim(0) != a.groups || slots > kMaxSlots || g.kernel_h > kMaxHeight || c.has_input(ops::kStageWZero) || a.weight_zero == -128)
    return nullptr;
  const KernelFn wide = select_q_depthwise_wide(c);
  return wide != nullptr ? wide : &run;
}

}  // namespace mote::kernels::MOTE_ISA_NAME
