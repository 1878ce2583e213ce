// Depthwise convolutions of 3x3 and 5x5 taps, for as many channels at a time as a register has bytes: blocks of channels with their weights
// and what belongs to their sums. depthwise_lines.h computes rows of outputs.

#include "mote/kernels/int8/depthwise_wide.h"

#if HWY_ARCH_X86
#include "mote/kernels/int8/depthwise_lines.h"
#include "mote/kernels/int8/depthwise_problem.h"

namespace mote::kernels::MOTE_ISA_NAME {
namespace {

using Problem = DepthwiseProblem;
using ops::q_conv::Attrs;

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

int32_t number_of(const Geometry& g) { return (g.kernel_w == 5) * 2 + (g.stride_w == 2); }
constexpr Slots kSlots[] = {{3, 1, 0}, {3, 2, 0}, {5, 1, Plan<Main, 5, 1, false>::kAcross}, {5, 2, Plan<Main, 5, 2, false>::kAcross}};

// Blocks that few channels fill several times; where registers hold 16, too few would.
template <class F>
constexpr bool packs() {
  return F::kChannels == Main::kChannels && F::kChannels > kPanel;
}

// Windows of 5x5 taps have Main alone: what is smaller would be as much code again.
constexpr int32_t least_channels(int32_t kernel) { return kernel == 5 ? Main::kChannels : Small::kChannels; }

template <class F>
LinesFn lines_for(const Geometry& g, bool packed) {
  if constexpr (packs<F>()) {
    if (packed) return g.stride_w == 1 ? &lines_of<F, 3, 1, true> : &lines_of<F, 3, 2, true>;
  }
  if constexpr (F::kChannels == Main::kChannels) {
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
        packed_(kPacks && p.channels < Small::kChannels),
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
      if (kPacks && packed_) run_packed(n, y, height, static_cast<uint8_t>(zero));
      else run_rows(n, y, height, zeros);
    }
  }

 private:
  static constexpr bool kPacks = packs<F>();
  static constexpr int kRun = 16;  // outputs of a row that do not end in registers

  // The channels that there are, again and again.
  MOTE_INLINE void repeat(int32_t* v) const {
    for (int i = channels_; kPacks && i < F::kChannels; ++i) v[i] = v[i - channels_];
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
  if (channels < least_channels(g.kernel_w) && (!packs<Main>() || g.kernel_w == 5 || fit < 2 || copied > kPackedBytes)) return nullptr;
  return &run;
}

}  // namespace mote::kernels::MOTE_ISA_NAME

#elif !defined(__aarch64__)  // depthwise_neon.cc

namespace mote::kernels::MOTE_ISA_NAME {

KernelFn select_q_depthwise_wide(const OpContext&) noexcept { return nullptr; }

}  // namespace mote::kernels::MOTE_ISA_NAME
#endif
