// Depthwise convolutions of 3x3 and 5x5 taps: a few outputs of a row for as many channels as a register has bytes. A column of the window
// is interleaved once and serves every output it lies under; sums begin as the bias and become bytes 32 or 64 at a time.

#include "mote/kernels/int8/depthwise_wide.h"

#if HWY_ARCH_X86
#include "mote/kernels/int8/depthwise_forms.h"
#include "mote/kernels/int8/depthwise_problem.h"

namespace mote::kernels::MOTE_ISA_NAME {
namespace {

using Problem = DepthwiseProblem;
using ops::q_conv::Attrs;

constexpr int kMaxTaps = 5, kMaxSlots = kMaxTaps * ((kMaxTaps + 3) / 4);
constexpr int kRun = 32;  // outputs that are finished together

// What a strip of outputs is computed from.
struct Strip {
  const uint8_t* rows[kMaxTaps];  // of the input, at the first channel
  int64_t steps[kMaxTaps];        // from column to column
  const uint8_t* zeros;
  int32_t x, width;  // column under the first tap of the first output, columns in all
  uint8_t flip;
  const uint8_t *main, *rest;  // weights of eight bits, then what is left of those that need more (or null)
  const int32_t* base;         // register by register
};

// Sums of kOutputs outputs from number `output` of a run on.
template <class F>
constexpr int kOutputs = kRegisters == 32 ? 4 : 4 / (F::kRegisters / 2);

template <class F, int K, int S>
void strip_of(const Strip& s, int32_t output, int32_t* out) {
  constexpr int kN = kOutputs<F>, kFours = (K + 3) / 4;
  typename F::Register sums[kN][F::kRegisters];
  unroll<kN>([&](auto o) MOTE_LAMBDA {
    unroll<F::kRegisters>([&](auto i) MOTE_LAMBDA { sums[o][i] = F::load(s.base + i * (F::kChannels / F::kRegisters)); });
  });
  const auto flip = F::all(s.flip);
  for (const uint8_t* weights = s.main; weights != nullptr; weights = weights == s.main ? s.rest : nullptr) {
    unroll<kFours>([&](auto four) MOTE_LAMBDA {
      constexpr int kRows = K - four * 4 < 4 ? K - four * 4 : 4;
      unroll<(kN - 1) * S + K>([&](auto j) MOTE_LAMBDA {
        const int32_t x = s.x + j;
        const bool in = static_cast<uint32_t>(x) < static_cast<uint32_t>(s.width);
        const uint8_t* at[kRows];
        unroll<kRows>([&](auto r) MOTE_LAMBDA { at[r] = in ? s.rows[four * 4 + r] + x * s.steps[four * 4 + r] : s.zeros; });
        const auto column = F::template column<kRows>(at, flip);
        unroll<kN>([&](auto o) MOTE_LAMBDA {
          constexpr int kTap = j - o * S;
          if constexpr (kTap >= 0 && kTap < K) F::template add<kRows>(sums[o], column, weights + (kTap * kFours + four) * F::kSlotBytes);
        });
      });
    });
  }
  unroll<kN>([&](auto o) MOTE_LAMBDA {
    unroll<F::kRegisters>([&](auto i) MOTE_LAMBDA { F::store(sums[o][i], out + F::register_place(output + o, i)); });
  });
}

using StripFn = void (*)(const Strip&, int32_t, int32_t*);

template <class F>
StripFn strip_for(int32_t kernel, int32_t stride) {
  static constexpr StripFn kFns[] = {&strip_of<F, 3, 1>, &strip_of<F, 3, 2>, &strip_of<F, 5, 1>, &strip_of<F, 5, 2>};
  return kFns[(kernel == 5) * 2 + (stride == 2)];
}

// A block of channels: its weights, and what belongs to its sums.
template <class F>
class Block {
 public:
  Block(const Problem& p, int32_t first) : p_(p), first_(first) {
    pack_weights();
    p.stage.describe(first, F::kChannels, p.g.kernel_h * p.g.kernel_w, &columns_);
    for (int i = 0; i < kByteLanes; ++i) {
      multiplier_[F::place(i)] = columns_.multiplier[i % F::kChannels];
      right_[F::place(i)] = columns_.right[i % F::kChannels];
    }
    const DType type = p.stage.type();
    direct_ = !p.add && (type == DType::s8 || type == DType::u8) && !p.stage.has_double() &&
              (p.stage.has_real() ? columns_.small : columns_.simple);
    strip_ = strip_for<F>(p.g.kernel_w, p.g.stride_w);
  }

  // Rows [begin, end) of the outputs of image n.
  void run(int32_t n, int32_t begin, int32_t end) {
    const int32_t zero = p_.stage.x_zero(n), excess = zero + (p_.is_signed ? 128 : 0);
    for (int i = 0; i < F::kChannels; ++i) {
      const int32_t sum = wrapping_sub(columns_.base[i], wrapping_mul(excess, weight_sums_[i]));
      base_[F::place(i) / kIntLanes * (F::kChannels / F::kRegisters) + F::place(i) % kIntLanes] = sum;
    }
    alignas(64) uint8_t zeros[kByteLanes];
    for (uint8_t& v : zeros) v = static_cast<uint8_t>(zero);
    for (int32_t y = begin; y < end; ++y) run_row(n, y, zeros);
  }

 private:
  void pack_weights() {
    const int32_t kernel = p_.g.kernel_w, fours = p_.fours();
    // Tap by tap, less the zero point; a row of zeros behind them.
    alignas(64) int16_t taps[kMaxTaps * kMaxTaps + 1][kTapRow];
    for (int16_t& v : taps[kernel * kernel]) v = 0;
    unpack_weights(kernel * kernel, taps);
    for (int32_t kx = 0; kx < kernel; ++kx) {
      for (int32_t four = 0; four < fours; ++four) {
        const int16_t* rows[4];
        for (int32_t t = 0; t < 4; ++t) rows[t] = taps[four * 4 + t < kernel ? (four * 4 + t) * kernel + kx : kernel * kernel] + kPanel;
        const int32_t slot = (kx * fours + four) * F::kSlotBytes;
        if (F::store_weights(rows, main_ + slot, rest_ + slot)) has_rest_ = true;
      }
    }
  }
  // Panels hold four taps of a channel together. The block's channels come to be behind kPanel others; the last panel may go beyond them.
  static constexpr int kTapRow = F::kChannels + 2 * kPanel;
  void unpack_weights(int32_t count, int16_t (*taps)[kTapRow]) {
    const int32_t groups = (count + 3) / 4;
    const VI zero = set_ints(p_.a.weight_zero);
    for (int32_t panel = first_ / kPanel; panel * kPanel < first_ + F::kChannels; ++panel) {
      for (int32_t k = 0; k < count; ++k) {
        for (int i = 0; i < kPanel; i += kIntLanes) {
          const int8_t* from = p_.weights + ((panel * groups + k / 4) * kPanel + i) * 4;
          const VI four = load_ints(reinterpret_cast<const int32_t*>(from));
          const VI tap = hn::Sub(hn::ShiftRight<24>(hn::Shl(four, set_ints(24 - k % 4 * 8))), zero);
          store_ints(tap, kIntLanes, taps[k] + kPanel + panel * kPanel - first_ + i);
        }
      }
    }
    for (int i = 0; i < F::kChannels; i += kIntLanes) {
      VI sum = hn::Zero(I32());
      for (int32_t k = 0; k < count; ++k) sum = hn::Add(sum, load_as_ints(taps[k] + kPanel + i, kIntLanes));
      hn::Store(sum, I32(), weight_sums_ + i);
    }
  }

  void run_row(int32_t n, int32_t y, const uint8_t* zeros) {
    Strip s{};
    const int32_t iy = y * p_.g.stride_h - p_.g.pad_h;
    for (int32_t ky = 0; ky < p_.g.kernel_h; ++ky) {
      const bool in = static_cast<uint32_t>(iy + ky) < static_cast<uint32_t>(p_.x.h);
      s.rows[ky] = in ? p_.x.at(n, iy + ky, 0) + first_ : zeros;
      s.steps[ky] = in ? p_.x.column : 0;
    }
    s.zeros = zeros;
    s.width = p_.x.w;
    s.flip = p_.is_signed ? 0x80 : 0;
    s.main = main_, s.rest = has_rest_ ? rest_ : nullptr;
    s.base = base_;
    for (int32_t x = 0; x < p_.y.w; x += kRun) {
      const int32_t count = p_.y.w - x < kRun ? p_.y.w - x : kRun;
      for (int32_t at = 0; at < count; at += kOutputs<F>) {
        s.x = (x + at) * p_.g.stride_w - p_.g.pad_w;
        strip_(s, at, sums_);
      }
      finish(n, y, x, count);
    }
  }

  void finish(int32_t n, int32_t y, int32_t x, int32_t count) {
    if (!direct_) return finish_any(n, y, x, count);
    uint8_t* out = p_.y.at(n, y, x) + first_;
    if (p_.stage.has_real()) finish_bytes<true>(out, count);
    else finish_bytes<false>(out, count);
  }

  template <bool Real>
  void finish_bytes(uint8_t* out, int32_t count) {
    const ByteBounds bounds(p_.stage.bounds(), p_.stage.type());
    VI multiplier[4], right[4], v[4];
    unroll<4>([&](auto i) MOTE_LAMBDA {
      multiplier[i] = hn::Load(I32(), multiplier_ + i * kIntLanes);
      right[i] = hn::Load(I32(), right_ + i * kIntLanes);
    });
    alignas(64) uint8_t bytes[kByteLanes];
    for (int32_t o = 0; o < count; o += F::kPixels) {
      const int32_t* from = sums_ + o * F::kChannels;
      unroll<4>([&](auto i) MOTE_LAMBDA {
        const VI sum = hn::Load(I32(), from + i * kIntLanes);
        if constexpr (Real) v[i] = nearest_small(hn::Mul(hn::ConvertTo(FloatOfInts(), sum), hn::BitCast(FloatOfInts(), multiplier[i])));
        else v[i] = rounding_shift_right(high_mul(sum, multiplier[i]), right[i]);
      });
      if constexpr (F::kPixels == 1) {
        F::store(F::bytes(v, bounds), out + o * p_.y.column);
      } else {
        store_some(F::bytes(v, bounds), kByteLanes, bytes);
        for (int32_t i = 0; i < F::kPixels && o + i < count; ++i) copy_channels(bytes + i * F::kChannels, out + (o + i) * p_.y.column);
      }
    }
  }
  static MOTE_INLINE void copy_channels(const uint8_t* from, uint8_t* to) {
    unroll<F::kChannels / 16>([&](auto i) MOTE_LAMBDA { store_block(load_block(from + i * 16), to + i * 16); });
  }

  // Outputs of other types, with a residual, or scaled in other ways.
  void finish_any(int32_t n, int32_t y, int32_t x, int32_t count) {
    alignas(64) int32_t sums[kRun * F::kChannels];
    uint8_t* out[kRun];
    const uint8_t* residual[kRun];
    RowTerms terms[kRun];
    const int32_t width = static_cast<int32_t>(dtype_bytes(p_.stage.type()));
    for (int32_t o = 0; o < count; ++o) {
      const int32_t* from = sums_ + o / F::kPixels * kByteLanes;
      for (int i = 0; i < F::kChannels; ++i) sums[o * F::kChannels + i] = from[F::place(o % F::kPixels * F::kChannels + i)];
      out[o] = p_.y.at(n, y, x + o) + first_ * width;
      if (p_.add) residual[o] = p_.residual.at(n, y, x + o) + first_ * width;
      terms[o] = {0, 0, p_.stage.x_scale(n)};
    }
    Columns done = columns_;
    for (int i = 0; i < F::kChannels; ++i) done.base[i] = 0;
    p_.stage.store(done, {sums, F::kChannels, count, 0, F::kChannels, out, p_.add ? residual : nullptr, terms, false});
  }

  const Problem& p_;
  int32_t first_;
  bool has_rest_ = false, direct_;
  StripFn strip_;
  Columns columns_;
  alignas(64) int32_t weight_sums_[F::kChannels], base_[F::kChannels], multiplier_[kByteLanes], right_[kByteLanes];
  alignas(64) uint8_t main_[kMaxSlots * F::kSlotBytes], rest_[kMaxSlots * F::kSlotBytes];
  alignas(64) int32_t sums_[(kRun + 8) * F::kChannels];
};

template <class F>
void run_block(const Problem& p, int32_t first, int32_t begin, int32_t end) {
  Block<F> block(p, first);
  for (int32_t n = 0; n < p.y.n; ++n) block.run(n, begin, end);
}

#if defined(__AVX512VNNI__)
using Main = QuadForm<Wide512>;
using Small = QuadForm<Wide256>;
#elif defined(__AVXVNNI__)
using Main = QuadForm<Wide256>;
using Small = Main;
#else
using Main = PairForm;
using Small = Main;
#endif

// Channels in blocks of Main, and one of Small where that is enough for the rest; the last begins early where channels are missing.
void run_channels(const Problem& p, int32_t number, int32_t begin, int32_t end) {
  const int32_t first = number * Main::kChannels, left = p.channels - first;
  if (left >= Main::kChannels) return run_block<Main>(p, first, begin, end);
  if (left > Small::kChannels && p.channels >= Main::kChannels) return run_block<Main>(p, p.channels - Main::kChannels, begin, end);
  if (left > Small::kChannels) run_block<Small>(p, first, begin, end);
  run_block<Small>(p, p.channels - Small::kChannels, begin, end);
}

Status run(const OpContext& c) noexcept {
  const Problem p(c);
  p.share((p.channels + Main::kChannels - 1) / Main::kChannels, 16,
          [&](int32_t number, RowRange rows) { run_channels(p, number, rows.begin, rows.end); });
  return Status::kOk;
}

}  // namespace

KernelFn select_q_depthwise_wide(const OpContext& c) noexcept {
  const Attrs& a = c.attrs<Attrs>();
  const Tensor& w = c.input(1);
  if (w.rank() != 4 || w.dim(0) < Small::kChannels) return nullptr;
  const Geometry g(a, w.desc->dims + 1, 2);
  const bool square = g.kernel_h == g.kernel_w && (g.kernel_w == 3 || g.kernel_w == 5);
  if (!square || g.dilation_h != 1 || g.dilation_w != 1 || (g.stride_w != 1 && g.stride_w != 2)) return nullptr;
  return &run;
}

}  // namespace mote::kernels::MOTE_ISA_NAME

#elif !defined(__aarch64__)  // depthwise_neon.cc

namespace mote::kernels::MOTE_ISA_NAME {

KernelFn select_q_depthwise_wide(const OpContext&) noexcept { return nullptr; }

}  // namespace mote::kernels::MOTE_ISA_NAME
#endif
