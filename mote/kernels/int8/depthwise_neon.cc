// Depthwise convolutions of 3x3 taps on 64-bit Arm: 16 channels of two neighbouring outputs at a time, tap by tap. Two products are added
// as 16 bits, which holds as long as no weight is -128.

#include "mote/kernels/int8/depthwise_wide.h"

#if defined(__aarch64__) && defined(MOTE_ISA_BASE)
namespace mote::kernels {
namespace MOTE_ISA_BASE {
KernelFn select_q_depthwise_wide(const OpContext& c) noexcept;
}
// Dot products would not help.
KernelFn MOTE_ISA_NAME::select_q_depthwise_wide(const OpContext& c) noexcept { return MOTE_ISA_BASE::select_q_depthwise_wide(c); }
}  // namespace mote::kernels
#elif defined(__aarch64__)
#include "mote/kernels/int8/depthwise_problem.h"
#include "mote/kernels/int8/dot_neon.h"
#include "mote/kernels/int8/end_neon.h"

namespace mote::kernels::MOTE_ISA_NAME {
namespace {

using Problem = DepthwiseProblem;
using ops::q_conv::Attrs;

constexpr int kTaps = 9, kGroups = (kTaps + 3) / 4;  // groups of taps, as weights are packed
constexpr int kMaxBlocks = 4;                        // sixteens of channels that are prepared together
constexpr int kMaxRun = 32;                          // outputs that go to the stage together

// Taps of 16 channels, and what sums begin with.
struct Taps {
  alignas(16) int8_t w[kTaps][kPanel];
  alignas(16) int32_t base[kPanel];
};

// The taps of rows [first, last) of the window alone; the others lie outside of the input. excess: zero point as the left side has it.
void take_rows(const Taps& all, int32_t first, int32_t last, int32_t excess, Taps* out) {
  int16x8_t low = vdupq_n_s16(0), high = low;
  for (int t = 0; t < kTaps; ++t) {
    const int8x16_t w = t / 3 >= first && t / 3 < last ? vld1q_s8(all.w[t]) : vdupq_n_s8(0);
    vst1q_s8(out->w[t], w);
    low = vaddw_s8(low, vget_low_s8(w));
    high = vaddw_high_s8(high, w);
  }
  const int32x4_t sums[] = {vmovl_s16(vget_low_s16(low)), vmovl_high_s16(low), vmovl_s16(vget_low_s16(high)), vmovl_high_s16(high)};
  for (int i = 0; i < 4; ++i) vst1q_s32(out->base + i * 4, vmlsq_n_s32(vld1q_s32(all.base + i * 4), sums[i], excess));
}

struct Row {
  const uint8_t* rows[3];  // of the input, at the first channel
  int64_t step;            // from column to column
  int32_t pad, width, outputs;
  uint8_t zero, flip;
  uint8_t* out;
  int64_t out_step;
  int32_t* sums;  // null: finished as `end` says
  const TileEnd* end;
};

// Products of the lower halves. GCC would keep those in registers of their own.
MOTE_INLINE int16x8_t low_products(int8x16_t a, int8x16_t b) {
  int16x8_t r;
  __asm__("smull %0.8h, %1.8b, %2.8b" : "=w"(r) : "w"(a), "w"(b));
  return r;
}
MOTE_INLINE void add_low_products(int16x8_t& sum, int8x16_t a, int8x16_t b) {
  __asm__("smlal %0.8h, %1.8b, %2.8b" : "+w"(sum) : "w"(a), "w"(b));
}

// Sums of one output; a, b, c: columns under the window. Each: every product is widened by itself.
template <bool Each>
MOTE_INLINE void window_sums(const Taps& t, const int8x16_t (&w)[kTaps], const int8x16_t (&a)[3], const int8x16_t (&b)[3],
                             const int8x16_t (&c)[3], int32x4_t (&sums)[4]) {
  const auto tap = [&](auto i) MOTE_LAMBDA { return i % 3 == 0 ? a[i / 3] : i % 3 == 1 ? b[i / 3] : c[i / 3]; };
  unroll<4>([&](auto i) MOTE_LAMBDA { sums[i] = vld1q_s32(t.base + i * 4); });
  constexpr int kTogether = Each ? 1 : 2;
  unroll<(kTaps + kTogether - 1) / kTogether>([&](auto group) MOTE_LAMBDA {
    constexpr int kFirst = kTogether * decltype(group)::value, kSecond = kFirst + 1;
    const int8x16_t x = tap(Index<kFirst>{});
    int16x8_t low = low_products(x, w[kFirst]), high = vmull_high_s8(x, w[kFirst]);
    if constexpr (!Each && kSecond < kTaps) {
      const int8x16_t y = tap(Index<kSecond>{});
      add_low_products(low, y, w[kSecond]);
      high = vmlal_high_s8(high, y, w[kSecond]);
    }
    sums[0] = vaddw_s16(sums[0], vget_low_s16(low));
    sums[1] = vaddw_high_s16(sums[1], low);
    sums[2] = vaddw_s16(sums[2], vget_low_s16(high));
    sums[3] = vaddw_high_s16(sums[3], high);
  });
}

// Outputs [o, o + N). General: any sign of the input, any weights. Inside: all columns lie in the input.
template <int S, int N, bool General, bool Inside>
MOTE_INLINE void outputs_of(const Row& r, const TileEnd& e, const Limits& limits, const Taps& t, const int8x16_t (&w)[kTaps], int32_t o) {
  constexpr int kColumns = (N - 1) * S + 3;
  int8x16_t x[kColumns][3];
  const int32_t left = o * S - r.pad;
  unroll<kColumns>([&](auto j) MOTE_LAMBDA {
    const int64_t at = (left + j) * r.step;
    const bool in = Inside || static_cast<uint32_t>(left + j) < static_cast<uint32_t>(r.width);
    unroll<3>([&](auto i) MOTE_LAMBDA {
      uint8x16_t v = in ? vld1q_u8(r.rows[i] + at) : vdupq_n_u8(r.zero);
      if constexpr (General) v = veorq_u8(v, vdupq_n_u8(r.flip));
      x[j][i] = vreinterpretq_s8_u8(v);
    });
  });
  int32x4_t sums[N][4];
  unroll<N>([&](auto n) MOTE_LAMBDA { window_sums<General>(t, w, x[n * S], x[n * S + 1], x[n * S + 2], sums[n]); });
  if (r.sums != nullptr) {
    unroll<N>([&](auto n) MOTE_LAMBDA { store_sums<4>(sums[n], r.sums + (o + n) * kPanel); });
    return;
  }
  uint8_t* to[N];
  unroll<N>([&](auto n) MOTE_LAMBDA { to[n] = r.out + (o + n) * r.out_step; });
  finish<N, 4>(e, limits, 0, kPanel, sums, to);
}

template <int S, bool General>
void run_row(const Row& row, const Taps& t) {
  const Row r = row;
  const TileEnd e = *r.end;
  const Limits limits(e);
  int8x16_t w[kTaps];
  unroll<kTaps>([&](auto i) MOTE_LAMBDA { w[i] = vld1q_s8(t.w[i]); });
  int32_t o = 0;
  for (; o + 2 <= r.outputs; o += 2) {
    const int32_t left = o * S - r.pad;
    if (left >= 0 && left + S + 3 <= r.width) outputs_of<S, 2, General, true>(r, e, limits, t, w, o);
    else outputs_of<S, 2, General, false>(r, e, limits, t, w, o);
  }
  if (o < r.outputs) outputs_of<S, 1, General, false>(r, e, limits, t, w, o);
}

using RowFn = void (*)(const Row&, const Taps&);

// Some blocks of channels and their rows.
class Blocks {
 public:
  Blocks(const Problem& p, int32_t first_block, int32_t count) : p_(p), first_block_(first_block), count_(count) {
    columns_.simple = columns_.small = true;
    for (int32_t i = 0; i < count; ++i) prepare(i);
    const DType type = p.stage.type();
    direct_ = !p.add && (type == DType::s8 || type == DType::u8) && !p.stage.has_double() && (p.stage.has_real() || columns_.simple) &&
              p.stage.bounds().lo <= p.stage.bounds().hi;
  }

  // Rows [begin, end) of the outputs of image n.
  void run(int32_t n, int32_t begin, int32_t end) {
    const int32_t zero = p_.stage.x_zero(n);
    excess_ = zero - LeftForm(p_.is_signed, zero).offset();
    for (int32_t i = 0; i < count_; ++i) take_rows(taps_[i], 0, 3, excess_, &whole_[i]);
    for (int32_t y = begin; y < end; ++y)
      for (int32_t i = 0; i < count_; ++i) run_row_of(n, y, i, static_cast<uint8_t>(zero));
  }

 private:
  void prepare(int32_t i) {
    const int32_t first = p_.first_channel(first_block_ + i);
    Taps& t = taps_[i];
    int8x16_t least = vdupq_n_s8(0);
    for (int group = 0; group < kGroups; ++group) {
      const int8x16x4_t four = four_taps(first, group);
      unroll<4>([&](auto k) MOTE_LAMBDA {
        if (group * 4 + k >= kTaps) return;
        vst1q_s8(t.w[group * 4 + k], four.val[k]);
        least = vminq_s8(least, four.val[k]);
      });
    }
    if (vminvq_s8(least) == -128) careful_ = true;
    Columns one;
    p_.stage.describe(first, kPanel, 9, &one);
    columns_.simple &= one.simple;
    columns_.small &= one.small;
    for (int k = 0; k < kPanel; ++k) {
      const int to = i * kPanel + k;
      t.base[k] = one.base[k];
      columns_.base[to] = 0;
      columns_.multiplier[to] = one.multiplier[k], columns_.left[to] = one.left[k], columns_.right[to] = one.right[k];
      columns_.real[to] = one.real[k];
      if (p_.stage.residual_in_sums()) columns_.residual[to] = one.residual[k];
    }
  }

  // Four taps of 16 channels, which may lie in two panels.
  int8x16x4_t four_taps(int32_t first, int group) const {
    const int8_t* panel = p_.weights + (first / kPanel * kGroups + group) * (kPanel * 4);
    if (first % kPanel == 0) return vld4q_s8(panel);
    int8_t both[kPanel * 4];
    for (int i = 0; i < kPanel * 4; ++i) {
      const int at = first % kPanel * 4 + i;
      both[i] = at < kPanel * 4 ? panel[at] : panel[kGroups * kPanel * 4 + at - kPanel * 4];
    }
    return vld4q_s8(both);
  }

  void run_row_of(int32_t n, int32_t y, int32_t i, uint8_t zero) {
    const int32_t top = y * p_.g.stride_h - p_.g.pad_h, channel = p_.first_channel(first_block_ + i);
    const int32_t first = top < 0 ? (-top < 3 ? -top : 3) : 0, room = p_.x.h - top, last = room < 3 ? (room > first ? room : first) : 3;
    Taps some;
    if (last - first < 3) take_rows(taps_[i], first, last, excess_, &some);
    const Taps& t = last - first < 3 ? some : whole_[i];
    const TileEnd end(t.base, columns_.multiplier + i * kPanel, columns_.right + i * kPanel, nullptr, p_.stage.bounds(), p_.stage.type(),
                      p_.stage.has_real());
    alignas(64) int32_t sums[kMaxRun * kPanel];
    Row r{{},
          p_.x.column,
          p_.g.pad_w,
          p_.x.w,
          0,
          zero,
          static_cast<uint8_t>(p_.is_signed ? 0 : 0x80),
          nullptr,
          p_.y.column,
          direct_ ? nullptr : sums,
          &end};
    for (int32_t k = 0; k < 3; ++k) {
      const int32_t line = k >= first && k < last ? top + k : first < last ? top + first : 0;  // any, where the taps are zero
      r.rows[k] = p_.x.at(n, line, 0) + channel;
    }
    const bool general = careful_ || !p_.is_signed;
    const RowFn row_fn =
        p_.g.stride_w == 1 ? (general ? &run_row<1, true> : &run_row<1, false>) : (general ? &run_row<2, true> : &run_row<2, false>);
    const int32_t step = direct_ ? p_.y.w : kMaxRun;
    for (int32_t x = 0; x < p_.y.w; x += step) {
      r.outputs = p_.y.w - x < step ? p_.y.w - x : step;
      r.pad = p_.g.pad_w - x * p_.g.stride_w;
      const int32_t width = static_cast<int32_t>(dtype_bytes(p_.stage.type()));
      r.out = p_.y.at(n, y, x) + channel * width;
      row_fn(r, t);
      if (!direct_) store(n, y, x, r, i, channel * width);
    }
  }

  void store(int32_t n, int32_t y, int32_t x, const Row& r, int32_t i, int32_t shift) const {
    uint8_t* out[kMaxRun];
    const uint8_t* residual[kMaxRun];
    RowTerms terms[kMaxRun];
    for (int32_t o = 0; o < r.outputs; ++o) {
      out[o] = r.out + o * r.out_step;
      if (p_.add) residual[o] = p_.residual.at(n, y, x + o) + shift;
      terms[o] = {0, 0, p_.stage.x_scale(n)};
    }
    p_.stage.store(columns_, {r.sums, kPanel, r.outputs, i * kPanel, kPanel, out, p_.add ? residual : nullptr, terms, false});
  }

  const Problem& p_;
  int32_t first_block_, count_, excess_ = 0;
  bool direct_, careful_ = false;
  Taps taps_[kMaxBlocks], whole_[kMaxBlocks];
  Columns columns_;
};

Status run(const OpContext& c) noexcept {
  const Problem p(c);
  p.share((p.blocks() + kMaxBlocks - 1) / kMaxBlocks, 1, 10, [&](int32_t part, RowRange rows) {
    const int32_t first = part * kMaxBlocks, left = p.blocks() - first;
    Blocks blocks(p, first, left < kMaxBlocks ? left : kMaxBlocks);
    for (int32_t n = 0; n < p.y.n; ++n) blocks.run(n, rows.begin, rows.end);
  });
  return Status::kOk;
}

}  // namespace

KernelFn select_q_depthwise_wide(const OpContext& c) noexcept {
  const Attrs& a = c.attrs<Attrs>();
  const Tensor& w = c.input(1);
  if (w.rank() != 4 || w.dim(0) < kPanel || a.weight_zero != 0) return nullptr;
  const Geometry g(a, w.desc->dims + 1, 2);
  if (g.kernel_h != 3 || g.kernel_w != 3 || g.dilation_h != 1 || g.dilation_w != 1 || (g.stride_w != 1 && g.stride_w != 2)) return nullptr;
  return &run;
}

}  // namespace mote::kernels::MOTE_ISA_NAME
#endif
