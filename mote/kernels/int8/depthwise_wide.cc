// Depthwise convolutions of 3x3 and 5x5 taps: a few outputs for as many channels as a register has bytes. A column of the window is
// interleaved once and serves every output it lies under; sums begin as the bias and become bytes in the registers they were added up in.

#include "mote/kernels/int8/depthwise_wide.h"

#if HWY_ARCH_X86
#include "mote/kernels/int8/depthwise_forms.h"
#include "mote/kernels/int8/depthwise_problem.h"

namespace mote::kernels::MOTE_ISA_NAME {
namespace {

using Problem = DepthwiseProblem;
using ops::q_conv::Attrs;

// How windows of K x K taps, S apart, are read. Columns have four rows, which serve two outputs of 3x3 taps, one below the other, where
// windows are neighbours: the weights of the second are one row lower. The fifth row of 5x5 taps is read along the row, by fours of columns
// that begin with the first of a strip; outputs that begin later have weights of their own.
// Packed: few channels, and as many pixels side by side as a block has room for; columns are those of one output each.
template <class F, int K, int S, bool Packed>
struct Plan {
  static constexpr bool kMany = kRegisters == 32;
  static constexpr int kRows = K == 3 && S == 1 ? 2 : 1;                                                     // outputs, one below the other
  static constexpr int kTapRows = K == 3 ? 3 + kRows - 1 : 4;                                                // of a column
  static constexpr int kSums = K == 5 && kMany ? 16 : 8;                                                     // registers
  static constexpr int kAcross = Packed ? (F::kPixels + kRows - 1) / kRows : kSums / kRows / F::kRegisters;  // outputs side by side
  static constexpr int kStep = Packed ? K : S;                                                               // columns from one to the next
  static constexpr int kColumns = (kAcross - 1) * kStep + K;
  static constexpr int kKept = kMany && K == 3 && !Packed ? K - S : 0;  // columns that are kept for the next strip
};
constexpr int kMaxTaps = 5, kMaxSlots = kMaxTaps + 2 * 4;

// Weights are kept in slots of four taps. First the columns, row by row of outputs, then what is read along the row; the first `once` slots
// hold every tap.
struct Slots {
  constexpr Slots(int kernel, int stride)
      : count(kernel == 3 ? (stride == 1 ? 6 : 3) : kernel + 2 * (4 / stride)), once(kernel == 3 ? 3 : 7), taps() {
    for (int slot = 0; slot < count; ++slot) {
      for (int i = 0; i < 4; ++i) {
        const int row = i - slot / kernel, line = slot - kernel, kx = line % 2 * 4 + i - line / 2 * stride;
        if (kernel == 3 || line < 0) taps[slot][i] = static_cast<int8_t>(row >= 0 && row < kernel ? row * kernel + slot % kernel : -1);
        else taps[slot][i] = static_cast<int8_t>(kx >= 0 && kx < kernel ? 4 * kernel + kx : -1);
      }
    }
  }
  int32_t count, once;
  int8_t taps[kMaxSlots][4];  // or -1
};
constexpr Slots kSlots[] = {{3, 1}, {3, 2}, {5, 1}, {5, 2}};

int32_t number_of(const Geometry& g) { return (g.kernel_w == 5) * 2 + (g.stride_w == 2); }

// From sums to bytes.
struct End {
  End(const Bounds& bounds, DType type, bool is_real) : limits(bounds, type), real(is_real) {}
  // Fours of vectors, N of them.
  template <int N>
  MOTE_INLINE void scale(VI (*v)[4]) const {
    unroll<4>([&](auto i) MOTE_LAMBDA {
      const FloatOfInts d;
      if (real) {
        const VFI by = hn::BitCast(d, multiplier[i]);
        unroll<N>([&](auto n) MOTE_LAMBDA { v[n][i] = nearest_small(hn::Mul(hn::ConvertTo(d, v[n][i]), by)); });
      } else {
        const SmallScale<> by = fixed[i];
        unroll<N>([&](auto n) MOTE_LAMBDA { v[n][i] = by(v[n][i]); });
      }
    });
  }
  ByteBounds limits;
  VI multiplier[4];
  SmallScale<> fixed[4];
  bool real;
};

// A row of outputs, or two, one below the other.
struct Lines {
  const uint8_t* rows[kMaxTaps];  // of the input, at the first channel
  int64_t steps[kMaxTaps];        // from column to column
  const uint8_t* zeros;
  int32_t x, width;  // column under the first tap of the first output, columns in all
  uint8_t flip;
  const uint8_t* weights;
  const int32_t* begin;  // what sums begin with, register by register
  int32_t count, height;
  int32_t* sums;  // where they go, output by output, those below after those above; or null
  bool more;      // they are added to what is there
  const End* end;
  uint8_t* out[2];
  int64_t out_step;
  // Packed: from pixel to pixel of a window, and the bytes of all outputs; an output is then as many as fit.
  int64_t taps[3];
  int32_t bytes;
};

template <class F, int K, int S, bool Packed = false>
void lines_of(const Lines& s) {
  using P = Plan<F, K, S, Packed>;
  constexpr int kRows = P::kRows, kTapRows = P::kTapRows;
  const auto flip = F::all(s.flip);
  const auto tap = [&](int32_t row, int32_t x) MOTE_LAMBDA {
    return static_cast<uint32_t>(x) < static_cast<uint32_t>(s.width) ? s.rows[row] + x * s.steps[row] : s.zeros;
  };
  const auto column = [&](int32_t x) MOTE_LAMBDA {
    const uint8_t* at[kTapRows];
    unroll<kTapRows>([&](auto r) MOTE_LAMBDA { at[r] = tap(r, x); });
    return F::template column<kTapRows>(at, flip);
  };
  typename F::Column kept[P::kKept + 1];
  unroll<P::kKept>([&](auto j) MOTE_LAMBDA { kept[j] = column(s.x + j); });
  for (int32_t o = 0, x = s.x; o < s.count; o += P::kAcross, x += P::kAcross * S) {
    typename F::Register sums[P::kAcross * kRows][F::kRegisters];
    unroll<P::kAcross * kRows>(
        [&](auto q) MOTE_LAMBDA { unroll<F::kRegisters>([&](auto i) MOTE_LAMBDA { sums[q][i] = F::load(s.begin + i * F::kLanes); }); });
    unroll<P::kColumns>([&](auto j) MOTE_LAMBDA {
      const auto c = [&]() MOTE_LAMBDA {
        if constexpr (Packed) {
          const uint8_t* at[kTapRows];
          unroll<kTapRows>([&](auto r) MOTE_LAMBDA { at[r] = s.rows[r] + s.taps[j % K] + (o + j / K) * s.out_step; });
          return F::template column<kTapRows>(at, flip);
        } else if constexpr (j < P::kKept) {
          return kept[j];
        } else {
          return column(x + j);
        }
      }();
      unroll<P::kAcross * kRows>([&](auto q) MOTE_LAMBDA {
        constexpr int kTap = j - q / kRows * P::kStep;
        if constexpr (kTap >= 0 && kTap < K) F::template add<kTapRows>(sums[q], c, s.weights + (q % kRows * K + kTap) * F::kSlotBytes);
      });
      if constexpr (P::kKept > 0 && j >= P::kAcross * S) kept[j - P::kAcross * S] = c;
    });
    if constexpr (K == 5) {
      unroll<(P::kColumns + 3) / 4>([&](auto four) MOTE_LAMBDA {
        const uint8_t* at[4];
        unroll<4>([&](auto i) MOTE_LAMBDA { at[i] = tap(4, x + four * 4 + i); });
        const auto c = F::template column<4>(at, flip);
        unroll<P::kAcross>([&](auto q) MOTE_LAMBDA {
          constexpr int kPart = four - q * S / 4, kShift = q * S % 4 / S;
          if constexpr (kPart == 0 || kPart == 1) F::template add<4>(sums[q], c, s.weights + (K + kShift * 2 + kPart) * F::kSlotBytes);
        });
      });
    }
    // What comes now is loaded now: the compiler would keep it in registers that the products need.
    __asm__ volatile("" ::: "memory");
    if (s.sums != nullptr) {
      unroll<P::kAcross * kRows>([&](auto q) MOTE_LAMBDA {
        int32_t* to = s.sums + (o * kRows + q) * F::kChannels;
        unroll<F::kRegisters>([&](auto i) MOTE_LAMBDA {
          int32_t* at = to + i * F::kLanes;
          F::store(s.more ? F::sum(sums[q][i], F::load(at)) : sums[q][i], at);
        });
      });
      continue;
    }
    // Two at a time, so that what they are scaled with is loaded once.
    constexpr int kEnds = P::kAcross * kRows / F::kPixels, kTogether = kEnds > 1 ? 2 : 1;
    unroll<kEnds / kTogether>([&](auto g) MOTE_LAMBDA {
      VI v[kTogether][4];
      unroll<kTogether>([&](auto i) MOTE_LAMBDA { F::together(sums + (g * kTogether + i) * F::kPixels, v[i]); });
      s.end->template scale<kTogether>(v);
      unroll<kTogether>([&](auto i) MOTE_LAMBDA {
        const ByteVector bytes = F::bytes(v[i], s.end->limits);
        unroll<F::kPixels>([&](auto pixel) MOTE_LAMBDA {
          constexpr int kNumber = (g * kTogether + i) * F::kPixels + pixel, kRow = kNumber % kRows;
          const int32_t at = o + kNumber / kRows;
          if (at >= s.count || kRow >= s.height) return;
          uint8_t* to = s.out[kRow] + at * s.out_step;
          const int64_t left = Packed ? s.bytes - at * s.out_step : 0;
          if constexpr (Packed) F::template store_some_bytes<pixel>(bytes, static_cast<int32_t>(left < s.out_step ? left : s.out_step), to);
          else F::template store_bytes<pixel>(bytes, to);
        });
      });
    });
  }
}

using LinesFn = void (*)(const Lines&);
constexpr int32_t kPackedBytes = 6 * 1024;  // a row of few channels

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

// Windows of 5x5 taps have Main alone: what is smaller would be as much code again.
constexpr int32_t least_channels(int32_t kernel) { return kernel == 5 ? Main::kChannels : Small::kChannels; }

template <class F>
LinesFn lines_for(const Geometry& g, bool packed) {
  if constexpr (F::kChannels == Main::kChannels) {
    if (packed) return g.stride_w == 1 ? &lines_of<F, 3, 1, true> : &lines_of<F, 3, 2, true>;
    static constexpr LinesFn kFns[] = {&lines_of<F, 3, 1>, &lines_of<F, 3, 2>, &lines_of<F, 5, 1>, &lines_of<F, 5, 2>};
    return kFns[number_of(g)];
  } else {
    return g.stride_w == 1 ? &lines_of<F, 3, 1> : &lines_of<F, 3, 2>;
  }
}

// A block of channels: its weights, and what belongs to its sums. Packed: all channels there are, as often as they fit.
template <class F>
class Block {
 public:
  Block(const Problem& p, int32_t first)
      : p_(p),
        first_(first),
        packed_(kMain && p.channels < Small::kChannels),
        channels_(packed_ ? p.channels : F::kChannels),
        fit_(F::kChannels / channels_),
        rows_(p.rows_together()),
        lines_(lines_for<F>(p.g, packed_)),
        end_(p.stage.bounds(), p.stage.type(), p.stage.has_real()) {
    p.stage.describe(first, channels_, p.g.kernel_h * p.g.kernel_w, &columns_);
    repeat(columns_.base);
    repeat(columns_.multiplier);
    repeat(columns_.right);
    pack_weights();
    const DType type = p.stage.type();
    direct_ = !p.add && (type == DType::s8 || type == DType::u8) && !p.stage.has_double() && !has_rest_ &&
              (p.stage.has_real() ? columns_.small : columns_.simple);
    alignas(64) int32_t ordered[F::kChannels];
    order(columns_.multiplier, ordered);
    unroll<4>([&](auto i) MOTE_LAMBDA { end_.multiplier[i] = repeated(ordered + i % F::kRegisters * F::kLanes); });
    order(columns_.right, ordered);
    unroll<4>([&](auto i)
                  MOTE_LAMBDA { end_.fixed[i] = SmallScale(end_.multiplier[i], repeated(ordered + i % F::kRegisters * F::kLanes)); });
  }

  // Rows [begin, end) of the outputs of image n.
  void run(int32_t n, int32_t begin, int32_t end) {
    const int32_t zero = p_.stage.x_zero(n), excess = zero + (p_.is_signed ? 128 : 0);
    alignas(64) int32_t base[F::kChannels];
    for (int i = 0; i < F::kChannels; i += kIntLanes) {
      const VI less = hn::Mul(set_ints(excess), hn::Load(I32(), weight_sums_ + i));
      hn::Store(hn::Sub(hn::Load(I32(), columns_.base + i), less), I32(), base + i);
    }
    order(base, base_);
    alignas(64) uint8_t zeros[kByteLanes];
    for (uint8_t& v : zeros) v = static_cast<uint8_t>(zero);
    for (int32_t y = begin; y < end; y += rows_) {
      const int32_t height = end - y < rows_ ? end - y : rows_;
      if (kMain && packed_) run_packed(n, y, height, static_cast<uint8_t>(zero));
      else run_rows(n, y, height, zeros);
    }
  }

 private:
  static constexpr bool kMain = F::kChannels == Main::kChannels;
  static constexpr int kRun = 16;  // outputs of a row that do not end in registers

  // The channels that there are, again and again.
  MOTE_INLINE void repeat(int32_t* v) const {
    for (int i = channels_; kMain && i < F::kChannels; ++i) v[i] = v[i - channels_];
  }
  // Channels in the order that sums have.
  static MOTE_INLINE void order(const int32_t* from, int32_t* to) {
    unroll<F::kChannels / 4>([&](auto i) MOTE_LAMBDA { copy_four(from + i * 4, to + F::place(i * 4)); });
  }
  static MOTE_INLINE void copy_four(const int32_t* from, int32_t* to) {
    store_block(load_block(reinterpret_cast<const uint8_t*>(from)), reinterpret_cast<uint8_t*>(to));
  }
  // The sums of a register, as often as a vector holds them.
  static MOTE_INLINE VI repeated(const int32_t* from) {
    alignas(64) int32_t v[kIntLanes];
    for (int i = 0; i < kIntLanes; i += 4) copy_four(from + i % F::kLanes, v + i);
    return hn::Load(I32(), v);
  }

  void pack_weights() {
    // Panels hold four taps of a channel together. The block's channels come to be behind kPanel others; the last panel may go beyond them.
    const int32_t groups = (p_.g.kernel_h * p_.g.kernel_w + 3) / 4, begin = first_ / kPanel * kPanel;
    alignas(64) int32_t fours[(kMaxTaps * kMaxTaps + 3) / 4][F::kChannels + 2 * kPanel];
    const int8_t* from = p_.weights + int64_t{begin} * groups * 4;
    for (int32_t c = begin; c < first_ + channels_; c += kPanel) {
      for (int32_t group = 0; group < groups; ++group, from += kPanel * 4) {
        int32_t* to = fours[group] + kPanel + c - first_;
        for (int i = 0; i < kPanel; i += kIntLanes) hn::StoreU(load_ints(reinterpret_cast<const int32_t*>(from) + i), I32(), to + i);
      }
    }
    for (int32_t group = 0; group < groups; ++group) repeat(fours[group] + kPanel);
    const Slots& slots = kSlots[number_of(p_.g)];
    for (int c = 0; c < F::kChannels; c += kIntLanes) {
      VI sum = hn::Zero(I32());
      for (int32_t slot = 0; slot < slots.count; ++slot) {
        const VI more = pack_slot(slot, slots.taps[slot], fours[0] + kPanel + c, c);
        if (slot < slots.once) sum = hn::Add(sum, more);
      }
      hn::Store(sum, I32(), weight_sums_ + c);
    }
  }
  // A vector of channels from number c on, from groups of four taps; returns the sum of their weights.
  MOTE_INLINE VI pack_slot(int32_t slot, const int8_t* taps, const int32_t* fours, int c) {
    VI near[4], far[4], sum = hn::Zero(I32());
    unroll<4>([&](auto i) MOTE_LAMBDA {
      near[i] = far[i] = hn::Zero(I32());
      const int32_t k = taps[i];
      if (k < 0) return;
      const VI four = load_ints(fours + k / 4 * (F::kChannels + 2 * kPanel));
      near[i] = hn::Sub(hn::ShiftRight<24>(hn::ShiftLeftSame(four, 24 - k % 4 * 8)), set_ints(p_.a.weight_zero));
      sum = hn::Add(sum, near[i]);
    });
    // Without a zero point, nothing needs more than 8 bits.
    if (F::kWords == 1 && p_.a.weight_zero != 0) {
      unroll<4>([&](auto i) MOTE_LAMBDA {
        const VI within = hn::Min(set_ints(127), hn::Max(set_ints(-128), near[i]));
        far[i] = hn::Sub(near[i], within);
        near[i] = within;
        if (!hn::AllTrue(I32(), hn::Eq(far[i], hn::Zero(I32())))) has_rest_ = true;
      });
      place_words(F::template word<0>(far), c, rest_ + slot * F::kSlotBytes);
    }
    unroll<F::kWords>([&](auto w)
                          MOTE_LAMBDA { place_words(F::template word<w>(near), c, main_ + slot * F::kSlotBytes + w * F::kWordStep * 4); });
    return sum;
  }
  static MOTE_INLINE void place_words(VI words, int c, uint8_t* slot) {
    alignas(64) int32_t v[kIntLanes];
    hn::Store(words, I32(), v);
    unroll<kIntLanes / 4>([&](auto i) MOTE_LAMBDA { copy_four(v + i * 4, reinterpret_cast<int32_t*>(slot) + F::word_place(c + i * 4)); });
  }

  // `count` pixels, `step` bytes apart, side by side. Two moves that may overlap make up a pixel.
  template <class T>
  void copy_pixels_as(const uint8_t* from, int64_t step, int32_t count, uint8_t* to) const {
    const int64_t last = channels_ - static_cast<int64_t>(sizeof(T));
    for (int32_t i = 0; i < count; ++i, from += step, to += channels_) copy_as<T>(to, from), copy_as<T>(to + last, from + last);
  }
  void copy_pixels(const uint8_t* from, int64_t step, int32_t count, uint8_t* to) const {
    if (step == channels_) return copy_bytes(to, from, count * channels_);
    if (channels_ >= 16) return copy_pixels_as<__m128i>(from, step, count, to);
    if (channels_ >= 8) return copy_pixels_as<uint64_t>(from, step, count, to);
    for (int32_t i = 0; i < count; ++i) copy_bytes(to + i * channels_, from + i * step, channels_);
  }
  // Rows of the input are copied with what is outside of them; windows that are two apart see even pixels, then odd ones.
  void run_packed(int32_t n, int32_t y, int32_t height, uint8_t zero) {
    alignas(64) uint8_t rows[4][kPackedBytes + 64];
    const int32_t outputs = (p_.y.w + fit_ - 1) / fit_, stride = p_.g.stride_w;
    const int32_t half = (outputs * fit_ + 1) * channels_, all = (outputs * fit_ * stride + 3 - stride) * channels_;
    const int32_t iy = y * p_.g.stride_h - p_.g.pad_h, used = 3 + (height - 1) * p_.g.stride_h;
    Lines s{};
    for (int32_t ky = 0; ky < 4; ++ky) {
      fill_bytes(rows[ky], zero, all);
      s.rows[ky] = rows[ky];
      if (ky >= used || static_cast<uint32_t>(iy + ky) >= static_cast<uint32_t>(p_.x.h)) continue;
      for (int32_t i = 0; i < stride; ++i) {
        // Pixels i, i + stride and so on of the padded row.
        const int32_t skip = p_.g.pad_w > i ? (p_.g.pad_w - i + stride - 1) / stride : 0, x = i + skip * stride - p_.g.pad_w;
        const int32_t room = (i == 0 ? (stride == 2 ? half : all) : all - half) / channels_ - skip;
        const int32_t there = x < p_.x.w ? (p_.x.w - x + stride - 1) / stride : 0;
        copy_pixels(p_.x.at(n, iy + ky, x), stride * p_.x.column, there < room ? there : room, rows[ky] + i * half + skip * channels_);
      }
    }
    for (int32_t i = 0; i < 3; ++i) s.taps[i] = stride == 2 ? i % 2 * half + i / 2 * channels_ : i * channels_;
    s.flip = p_.is_signed ? 0x80 : 0;
    s.weights = main_, s.begin = base_, s.end = &end_;
    s.count = outputs, s.height = height;
    s.out_step = fit_ * channels_;
    s.bytes = p_.y.w * channels_;
    if (!direct_) return run_sums(n, y, s);
    alignas(64) uint8_t bytes[2][kPackedBytes + 64];
    const bool dense = p_.y.column == channels_;
    for (int32_t i = 0; i < height; ++i) s.out[i] = dense ? p_.y.at(n, y + i, 0) : bytes[i];
    lines_(s);
    for (int32_t i = 0; !dense && i < height; ++i)
      for (int32_t x = 0; x < p_.y.w; ++x) copy_bytes(p_.y.at(n, y + i, x), bytes[i] + x * channels_, channels_);
  }

  void run_rows(int32_t n, int32_t y, int32_t height, const uint8_t* zeros) {
    Lines s{};
    const int32_t iy = y * p_.g.stride_h - p_.g.pad_h, used = p_.g.kernel_h + (height - 1) * p_.g.stride_h;
    for (int32_t ky = 0; ky < kMaxTaps; ++ky) {
      const bool in = ky < used && static_cast<uint32_t>(iy + ky) < static_cast<uint32_t>(p_.x.h);
      s.rows[ky] = in ? p_.x.at(n, iy + ky, 0) + first_ : zeros;
      s.steps[ky] = in ? p_.x.column : 0;
    }
    s.zeros = zeros;
    s.x = -p_.g.pad_w, s.width = p_.x.w;
    s.flip = p_.is_signed ? 0x80 : 0;
    s.weights = main_;
    s.begin = base_;
    s.count = p_.y.w, s.height = height;
    if (!direct_) return run_sums(n, y, s);
    s.end = &end_;
    for (int32_t i = 0; i < height; ++i) s.out[i] = p_.y.at(n, y + i, 0) + first_;
    s.out_step = p_.y.column;
    lines_(s);
  }

  // Outputs of other types, with a residual, scaled in other ways, or whose weights have more than 8 bits.
  void run_sums(int32_t n, int32_t y, Lines s) {
    alignas(64) int32_t sums[(kRun + 4) * 2 * F::kChannels], none[F::kChannels] = {};
    s.sums = sums;
    const int32_t all = s.count;
    for (int32_t x = 0; x < all; x += kRun) {
      s.x = x * p_.g.stride_w - p_.g.pad_w;
      s.count = all - x < kRun ? all - x : kRun;
      lines_(s);
      if (has_rest_) {
        Lines more = s;
        more.weights = rest_, more.begin = none, more.more = true;
        lines_(more);
      }
      for (int32_t i = 0; i < s.height; ++i) finish(n, y + i, x * fit_, s.count, sums + i * F::kChannels);
      for (int32_t r = 0; packed_ && r < 4; ++r) s.rows[r] += kRun * s.out_step;
    }
  }
  // `count` outputs of a row; packed ones are as many pixels as fit, and the last may have fewer.
  void finish(int32_t n, int32_t y, int32_t x, int32_t count, const int32_t* from) {
    alignas(64) int32_t sums[(kRun + 1) * F::kChannels];
    const int32_t width = static_cast<int32_t>(dtype_bytes(p_.stage.type()));
    for (int32_t o = 0; o < count; ++o, from += rows_ * F::kChannels)
      for (int i = 0; i < F::kChannels; i += 4) copy_four(from + F::place(i), sums + o * fit_ * channels_ + i);
    // Sums began with the bias.
    Columns done = columns_;
    for (int i = 0; i < F::kChannels; ++i) done.base[i] = 0;
    const int32_t pixels = count * fit_ < p_.y.w - x ? count * fit_ : p_.y.w - x;
    uint8_t* out[kRun];
    const uint8_t* residual[kRun];
    RowTerms terms[kRun];
    for (int32_t first = 0; first < pixels; first += kRun) {
      const int32_t some = pixels - first < kRun ? pixels - first : kRun;
      for (int32_t o = 0; o < some; ++o) {
        out[o] = p_.y.at(n, y, x + first + o) + first_ * width;
        if (p_.add) residual[o] = p_.residual.at(n, y, x + first + o) + first_ * width;
        terms[o] = {0, 0, p_.stage.x_scale(n)};
      }
      p_.stage.store(done, {sums + first * channels_, channels_, some, 0, channels_, out, p_.add ? residual : nullptr, terms, false});
    }
  }

  const Problem& p_;
  int32_t first_;
  bool packed_;
  int32_t channels_, fit_, rows_;
  bool has_rest_ = false, direct_;
  LinesFn lines_;
  End end_;
  Columns columns_;
  alignas(64) int32_t weight_sums_[F::kChannels], base_[F::kChannels];
  alignas(64) uint8_t main_[kMaxSlots * F::kSlotBytes], rest_[kMaxSlots * F::kSlotBytes];
};

template <class F>
void run_block(const Problem& p, int32_t first, int32_t begin, int32_t end) {
  Block<F> block(p, first);
  for (int32_t n = 0; n < p.y.n; ++n) block.run(n, begin, end);
}

// Channels in blocks of Main, and one of Small where that is enough for the rest; the last begins early where channels are missing.
void run_channels(const Problem& p, int32_t number, int32_t begin, int32_t end) {
  if (p.channels < Small::kChannels) return run_block<Main>(p, 0, begin, end);
  const int32_t first = number * Main::kChannels, left = p.channels - first;
  if (left >= Main::kChannels) return run_block<Main>(p, first, begin, end);
  const bool whole = left > Small::kChannels || p.g.kernel_w == 5;
  if (whole && p.channels >= Main::kChannels) return run_block<Main>(p, p.channels - Main::kChannels, begin, end);
  if (left > Small::kChannels) run_block<Small>(p, first, begin, end);
  run_block<Small>(p, p.channels - Small::kChannels, begin, end);
}

Status run(const OpContext& c) noexcept {
  const Problem p(c);
  // About what an output takes: the end of its sum, and the products of its taps.
  const double steps = 5 + p.g.kernel_w * p.g.kernel_w * 0.25;
  p.share((p.channels + Main::kChannels - 1) / Main::kChannels, p.rows_together(), steps,
          [&](int32_t number, RowRange rows) { run_channels(p, number, rows.begin, rows.end); });
  return Status::kOk;
}

}  // namespace

KernelFn select_q_depthwise_wide(const OpContext& c) noexcept {
  const Attrs& a = c.attrs<Attrs>();
  const Tensor& w = c.input(1);
  if (w.rank() != 4) return nullptr;
  const Geometry g(a, w.desc->dims + 1, 2);
  const bool square = g.kernel_h == g.kernel_w && (g.kernel_w == 3 || g.kernel_w == 5);
  if (!square || g.dilation_h != 1 || g.dilation_w != 1 || g.stride_h != g.stride_w || g.stride_w > 2) return nullptr;
  const int32_t channels = w.dim(0), fit = channels > 0 ? Main::kChannels / channels : 0;
  // Rows that are copied must fit.
  const int64_t copied = (int64_t{c.output(0).dim(2)} + fit) * g.stride_w * channels + 2 * int64_t{channels};
  if (channels < least_channels(g.kernel_w) && (g.kernel_w == 5 || fit < 2 || copied > kPackedBytes)) return nullptr;
  return &run;
}

}  // namespace mote::kernels::MOTE_ISA_NAME

#elif !defined(__aarch64__)  // depthwise_neon.cc

namespace mote::kernels::MOTE_ISA_NAME {

KernelFn select_q_depthwise_wide(const OpContext&) noexcept { return nullptr; }

}  // namespace mote::kernels::MOTE_ISA_NAME
#endif
