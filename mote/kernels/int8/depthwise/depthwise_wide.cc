// Depthwise convolutions of 3x3 and 5x5 windows on x86, for as many channels at a time as a register has bytes: packs the weights of a
// block of channels and calls the loop nest of output_rows.h.

#include "mote/kernels/int8/depthwise/depthwise_wide.h"

#if HWY_ARCH_X86
#include "mote/kernels/int8/depthwise/output_rows.h"
#include "mote/kernels/int8/depthwise/problem.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {
namespace {

using Problem = DepthwiseProblem;
using ops::q_conv::Attrs;

using RowsFn = void (*)(const DepthwiseRows&);
constexpr int32_t kPackedBytes = 6 * 1024;  // of a padded row of few channels

#if defined(__AVX512VNNI__)
using WideTaps = QuadTaps<Wide512>;
using NarrowTaps = QuadTaps<Wide256>;
#elif defined(__AVXVNNI__)
using WideTaps = QuadTaps<Wide256>;
using NarrowTaps = WideTaps;
#else
using WideTaps = PairTaps;
using NarrowTaps = WideTaps;
#endif

int32_t window_index(const WindowGeometry& g) { return (g.kernel_w == 5) * 2 + (g.stride_w == 2); }
constexpr TapGroups kTapGroups[] = {{3, 1, 0},
                                    {3, 2, 0},
                                    {5, 1, DepthwiseTiling<WideTaps, 5, 1, false>::kOutputColumns},
                                    {5, 2, DepthwiseTiling<WideTaps, 5, 2, false>::kOutputColumns}};

// True where few channels are repeated to fill a block; blocks of 16 channels are too small for that.
template <class F>
constexpr bool can_pack_pixels() {
  return F::kChannels == WideTaps::kChannels && F::kChannels > kPanel;
}

// 5x5 windows have WideTaps alone, to save code size.
constexpr int32_t min_channels(int32_t kernel) { return kernel == 5 ? WideTaps::kChannels : NarrowTaps::kChannels; }

template <class F>
RowsFn select_rows_fn(const WindowGeometry& g, bool packed) {
  if constexpr (can_pack_pixels<F>()) {
    if (packed) return g.stride_w == 1 ? &compute_rows<F, 3, 1, true> : &compute_rows<F, 3, 2, true>;
  }
  if constexpr (F::kChannels == WideTaps::kChannels) {
    static constexpr RowsFn kFns[] = {&compute_rows<F, 3, 1>, &compute_rows<F, 3, 2>, &compute_rows<F, 5, 1>, &compute_rows<F, 5, 2>};
    return kFns[window_index(g)];
  } else {
    return g.stride_w == 1 ? &compute_rows<F, 3, 1> : &compute_rows<F, 3, 2>;
  }
}

// A block of channels: its packed weights and epilogue parameters. Packed: all channels of the tensor, repeated as often as they fit.
// Outputs that are requantized in registers are stored by whole blocks: an overlapping last block stores bytes again that the same thread
// has stored, with the same values.
template <class F>
class BlockKernel {
 public:
  BlockKernel(const Problem& p, const ChannelBlock& block)
      : p_(p),
        first_(block.first),
        first_stored_(block.first + block.skip),
        packed_(kCanPack && p.channels < NarrowTaps::kChannels),
        channels_(packed_ ? p.channels : F::kChannels),
        pixels_per_block_(F::kChannels / channels_),
        rows_per_pass_(p.rows_per_pass()),
        rows_fn_(select_rows_fn<F>(p.g, packed_)),
        epilogue_(p.epilogue.bounds(), p.epilogue.type(), p.epilogue.has_real()) {
    p.epilogue.load_params(first_, channels_, p.g.kernel_h * p.g.kernel_w, &params_);
    replicate_channels(params_.base);
    replicate_channels(params_.multiplier);
    replicate_channels(params_.right_shift);
    pack_weights();
    const DType type = p.epilogue.type();
    in_registers_ = !p.has_residual && (type == DType::s8 || type == DType::u8) && !p.epilogue.has_double() && !has_overflow_ &&
                    (p.epilogue.has_real() ? params_.real_below_one : params_.fast_fixed_point);
    if (!in_registers_) load_stored_params();
    alignas(64) int32_t ordered[F::kChannels];
    to_lane_order(params_.multiplier, ordered);
    unroll<4>([&](auto i) MOTE_LAMBDA { epilogue_.multiplier[i] = load_replicated(ordered + i % F::kRegisters * F::kLanes); });
    to_lane_order(params_.right_shift, ordered);
    unroll<4>([&](auto i) MOTE_LAMBDA {
      epilogue_.fixed_point[i] = FastFixedPointScale(epilogue_.multiplier[i], load_replicated(ordered + i % F::kRegisters * F::kLanes));
    });
  }

  // Rows [begin, end) of the outputs of image n.
  void compute(int32_t n, int32_t begin, int32_t end) {
    const int32_t zero = p_.epilogue.x_zero(n), excess = zero + (p_.is_signed ? 128 : 0);
    alignas(64) int32_t base[F::kChannels];
    for (int i = 0; i < F::kChannels; i += kIntLanes) {
      const VI zero_term = hn::Mul(set_ints(excess), hn::Load(I32(), weight_sums_ + i));
      hn::Store(hn::Sub(hn::Load(I32(), params_.base + i), zero_term), I32(), base + i);
    }
    to_lane_order(base, initial_);
    alignas(64) uint8_t zero_points[kByteLanes];
    for (uint8_t& v : zero_points) v = static_cast<uint8_t>(zero);
    for (int32_t y = begin; y < end; y += rows_per_pass_) {
      const int32_t height = end - y < rows_per_pass_ ? end - y : rows_per_pass_;
      if (kCanPack && packed_) compute_packed_rows(n, y, height, static_cast<uint8_t>(zero));
      else compute_rows_in_place(n, y, height, zero_points);
    }
  }

 private:
  static constexpr bool kCanPack = can_pack_pixels<F>();
  static constexpr int kEpilogueOutputs = 16;  // outputs that go to RequantEpilogue together

  // Fills the block with copies of the tensor's channels.
  MOTE_INLINE void replicate_channels(int32_t* v) const {
    for (int i = channels_; kCanPack && i < F::kChannels; ++i) v[i] = v[i - channels_];
  }
  // From channel order to the order of accumulators.
  static MOTE_INLINE void to_lane_order(const int32_t* from, int32_t* to) {
    unroll<F::kChannels / 4>([&](auto i) MOTE_LAMBDA { copy_four(from + i * 4, to + F::lane_of(i * 4)); });
  }
  static MOTE_INLINE void copy_four(const int32_t* from, int32_t* to) {
    store_u8x16(load_u8x16(reinterpret_cast<const uint8_t*>(from)), reinterpret_cast<uint8_t*>(to));
  }
  // A register's worth of values, repeated until a vector is full.
  static MOTE_INLINE VI load_replicated(const int32_t* from) {
    alignas(64) int32_t v[kIntLanes];
    for (int i = 0; i < kIntLanes; i += 4) copy_four(from + i % F::kLanes, v + i);
    return hn::Load(I32(), v);
  }

  // Parameters for RequantEpilogue; base is 0, since accumulators start from the bias.
  void load_stored_params() {
    p_.epilogue.load_params(first_stored_, first_ + channels_ - first_stored_, p_.g.kernel_h * p_.g.kernel_w, &stored_params_);
    for (int i = 0; i < F::kChannels; ++i) stored_params_.base[i] = 0;
  }

  void pack_weights() {
    // Panels have four taps of a channel together. They are copied to kPanel channels further on, so that the first panel may begin before
    // the block; the last panel may go beyond it.
    const int32_t groups = (p_.g.kernel_h * p_.g.kernel_w + 3) / 4, begin = first_ / kPanel * kPanel;
    alignas(64) int32_t tap_words[(kMaxTaps * kMaxTaps + 3) / 4][F::kChannels + 2 * kPanel];
    const int8_t* from = p_.weights + int64_t{begin} * groups * 4;
    for (int32_t c = begin; c < first_ + channels_; c += kPanel) {
      for (int32_t group = 0; group < groups; ++group, from += kPanel * 4) {
        int32_t* to = tap_words[group] + kPanel + c - first_;
        for (int i = 0; i < kPanel; i += kIntLanes) hn::StoreU(load_ints(reinterpret_cast<const int32_t*>(from) + i), I32(), to + i);
      }
    }
    for (int32_t group = 0; group < groups; ++group) replicate_channels(tap_words[group] + kPanel);
    const TapGroups& slots = kTapGroups[window_index(p_.g)];
    for (int c = 0; c < F::kChannels; c += kIntLanes) {
      VI sum = hn::Zero(I32());
      for (int32_t slot = 0; slot < slots.count; ++slot) {
        const VI slot_sum = pack_slot(slot, slots.taps[slot], tap_words[0] + kPanel + c, c);
        if (slot < slots.unique) sum = hn::Add(sum, slot_sum);
      }
      hn::Store(sum, I32(), weight_sums_ + c);
    }
  }
  // Packs a vector of channels from channel c on, from groups of four taps; returns the sum of their weights.
  MOTE_INLINE VI pack_slot(int32_t slot, const int8_t* taps, const int32_t* tap_words, int c) {
    VI weight[4], overflow[4], sum = hn::Zero(I32());
    unroll<4>([&](auto i) MOTE_LAMBDA {
      weight[i] = overflow[i] = hn::Zero(I32());
      const int32_t k = taps[i];
      if (k < 0) return;
      const VI word = load_ints(tap_words + k / 4 * (F::kChannels + 2 * kPanel));
      weight[i] = hn::Sub(hn::ShiftRight<24>(hn::ShiftLeftSame(word, 24 - k % 4 * 8)), set_ints(p_.a.weight_zero));
      sum = hn::Add(sum, weight[i]);
    });
    // Without a zero point all weights fit 8 bits.
    if (F::kWords == 1 && p_.a.weight_zero != 0) {
      unroll<4>([&](auto i) MOTE_LAMBDA {
        const VI saturated = hn::Min(set_ints(127), hn::Max(set_ints(-128), weight[i]));
        overflow[i] = hn::Sub(weight[i], saturated);
        weight[i] = saturated;
        if (!hn::AllTrue(I32(), hn::Eq(overflow[i], hn::Zero(I32())))) has_overflow_ = true;
      });
      store_words(F::template pack_word<0>(overflow), c, overflow_ + slot * F::kSlotBytes);
    }
    unroll<F::kWords>([&](auto w) MOTE_LAMBDA {
      store_words(F::template pack_word<w>(weight), c, weights_ + slot * F::kSlotBytes + w * F::kWordStep * 4);
    });
    return sum;
  }
  static MOTE_INLINE void store_words(VI words, int c, uint8_t* slot) {
    alignas(64) int32_t v[kIntLanes];
    hn::Store(words, I32(), v);
    unroll<kIntLanes / 4>([&](auto i) MOTE_LAMBDA { copy_four(v + i * 4, reinterpret_cast<int32_t*>(slot) + F::word_index(c + i * 4)); });
  }

  // `count` pixels, `step` bytes apart, side by side. A pixel is copied by two moves that may overlap.
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
  // Copies rows of the input with their padding; for stride 2 even pixels, then odd ones, so that the pixels of neighbouring outputs are
  // side by side.
  void compute_packed_rows(int32_t n, int32_t y, int32_t height, uint8_t zero) {
    alignas(64) uint8_t rows[4][kPackedBytes + 64];
    const int32_t outputs = (p_.y.w + pixels_per_block_ - 1) / pixels_per_block_, stride = p_.g.stride_w;
    const int32_t half = (outputs * pixels_per_block_ + 1) * channels_,
                  all = (outputs * pixels_per_block_ * stride + 3 - stride) * channels_;
    const int32_t iy = y * p_.g.stride_h - p_.g.pad_h, used = 3 + (height - 1) * p_.g.stride_h;
    DepthwiseRows s{};
    for (int32_t ky = 0; ky < 4; ++ky) {
      fill_bytes(rows[ky], zero, all);
      s.input_rows[ky] = rows[ky];
      if (ky >= used || static_cast<uint32_t>(iy + ky) >= static_cast<uint32_t>(p_.x.h)) continue;
      for (int32_t i = 0; i < stride; ++i) {
        // Pixels i, i + stride, ... of the padded row.
        const int32_t skip = p_.g.pad_w > i ? (p_.g.pad_w - i + stride - 1) / stride : 0, x = i + skip * stride - p_.g.pad_w;
        const int32_t row_pixels = (i == 0 ? (stride == 2 ? half : all) : all - half) / channels_ - skip;
        const int32_t input_pixels = x < p_.x.w ? (p_.x.w - x + stride - 1) / stride : 0;
        copy_pixels(p_.x.at(n, iy + ky, x), stride * p_.x.column, input_pixels < row_pixels ? input_pixels : row_pixels,
                    rows[ky] + i * half + skip * channels_);
      }
    }
    for (int32_t i = 0; i < 3; ++i) s.pixel_offsets[i] = stride == 2 ? i % 2 * half + i / 2 * channels_ : i * channels_;
    s.flip = p_.is_signed ? 0x80 : 0;
    s.weights = weights_, s.initial = initial_, s.epilogue = &epilogue_;
    s.outputs = outputs, s.height = height;
    s.out_step = pixels_per_block_ * channels_;
    s.row_bytes = p_.y.w * channels_;
    if (!in_registers_) return compute_by_accumulators(n, y, s);
    alignas(64) uint8_t bytes[2][kPackedBytes + 64];
    const bool dense = p_.y.column == channels_;
    for (int32_t i = 0; i < height; ++i) s.out[i] = dense ? p_.y.at(n, y + i, 0) : bytes[i];
    rows_fn_(s);
    for (int32_t i = 0; !dense && i < height; ++i)
      for (int32_t x = 0; x < p_.y.w; ++x) copy_bytes(p_.y.at(n, y + i, x), bytes[i] + x * channels_, channels_);
  }

  void compute_rows_in_place(int32_t n, int32_t y, int32_t height, const uint8_t* zero_points) {
    DepthwiseRows s{};
    const int32_t iy = y * p_.g.stride_h - p_.g.pad_h, used = p_.g.kernel_h + (height - 1) * p_.g.stride_h;
    for (int32_t ky = 0; ky < kMaxTaps; ++ky) {
      const bool inside = ky < used && static_cast<uint32_t>(iy + ky) < static_cast<uint32_t>(p_.x.h);
      s.input_rows[ky] = inside ? p_.x.at(n, iy + ky, 0) + first_ : zero_points;
      s.column_steps[ky] = inside ? p_.x.column : 0;
    }
    s.zero_points = zero_points;
    s.x = -p_.g.pad_w, s.input_width = p_.x.w;
    s.flip = p_.is_signed ? 0x80 : 0;
    s.weights = weights_;
    s.initial = initial_;
    s.outputs = p_.y.w, s.height = height;
    if (!in_registers_) return compute_by_accumulators(n, y, s);
    s.epilogue = &epilogue_;
    for (int32_t i = 0; i < height; ++i) s.out[i] = p_.y.at(n, y + i, 0) + first_;
    s.out_step = p_.y.column;
    rows_fn_(s);
  }

  // Outputs that cannot be requantized in registers: other types, a residual, other scales, weights of more than 8 bits.
  void compute_by_accumulators(int32_t n, int32_t y, DepthwiseRows s) {
    alignas(64) int32_t accumulators[(kEpilogueOutputs + 4) * 2 * F::kChannels], zero_initial[F::kChannels] = {};
    s.accumulators = accumulators;
    const int32_t all = s.outputs;
    for (int32_t x = 0; x < all; x += kEpilogueOutputs) {
      s.x = x * p_.g.stride_w - p_.g.pad_w;
      s.outputs = all - x < kEpilogueOutputs ? all - x : kEpilogueOutputs;
      rows_fn_(s);
      if (has_overflow_) {
        DepthwiseRows second = s;
        second.weights = overflow_, second.initial = zero_initial, second.accumulate = true;
        rows_fn_(second);
      }
      for (int32_t i = 0; i < s.height; ++i) store_outputs(n, y + i, x * pixels_per_block_, s.outputs, accumulators + i * F::kChannels);
      for (int32_t r = 0; packed_ && r < 4; ++r) s.input_rows[r] += kEpilogueOutputs * s.out_step;
    }
  }
  // `count` outputs of a row; packed ones are pixels_per_block_ pixels each, the last perhaps fewer.
  void store_outputs(int32_t n, int32_t y, int32_t x, int32_t count, const int32_t* from) {
    alignas(64) int32_t accumulators[(kEpilogueOutputs + 1) * F::kChannels];
    const int32_t byte_offset = first_stored_ * static_cast<int32_t>(dtype_bytes(p_.epilogue.type())), skip = first_stored_ - first_;
    for (int32_t o = 0; o < count; ++o, from += rows_per_pass_ * F::kChannels)
      for (int i = 0; i < F::kChannels; i += 4) copy_four(from + F::lane_of(i), accumulators + o * pixels_per_block_ * channels_ + i);
    const int32_t pixels = count * pixels_per_block_ < p_.y.w - x ? count * pixels_per_block_ : p_.y.w - x;
    uint8_t* out[kEpilogueOutputs];
    const uint8_t* residual[kEpilogueOutputs];
    RowCorrection corrections[kEpilogueOutputs];
    for (int32_t first = 0; first < pixels; first += kEpilogueOutputs) {
      const int32_t pixel_count = pixels - first < kEpilogueOutputs ? pixels - first : kEpilogueOutputs;
      for (int32_t o = 0; o < pixel_count; ++o) {
        out[o] = p_.y.at(n, y, x + first + o) + byte_offset;
        if (p_.has_residual) residual[o] = p_.residual.at(n, y, x + first + o) + byte_offset;
        corrections[o] = {0, 0, p_.epilogue.x_scale(n)};
      }
      p_.epilogue.store(stored_params_, {accumulators + first * channels_ + skip, channels_, pixel_count, 0, channels_ - skip, out,
                                         p_.has_residual ? residual : nullptr, corrections, false});
    }
  }

  const Problem& p_;
  int32_t first_, first_stored_;
  bool packed_;
  int32_t channels_, pixels_per_block_, rows_per_pass_;
  bool has_overflow_ = false, in_registers_;
  RowsFn rows_fn_;
  DepthwiseEpilogue epilogue_;
  ChannelParams params_, stored_params_;
  alignas(64) int32_t weight_sums_[F::kChannels], initial_[F::kChannels];
  alignas(64) uint8_t weights_[kMaxSlots * F::kSlotBytes], overflow_[kMaxSlots * F::kSlotBytes];
};

template <class F>
void compute_block(const Problem& p, const ChannelBlock& channels, int32_t begin, int32_t end) {
  BlockKernel<F> block(p, channels);
  for (int32_t n = 0; n < p.y.n; ++n) block.compute(n, begin, end);
}

// Blocks of WideTaps, and one of NarrowTaps where that is enough for the remaining channels; the last block begins early where fewer
// remain. The last part has two blocks, so that no two threads store the same channels.
int32_t count_parts(int32_t channels) { return channels < 2 * WideTaps::kChannels ? 1 : channels / WideTaps::kChannels; }

void compute_channels(const Problem& p, int32_t part, int32_t begin, int32_t end) {
  if (p.channels < NarrowTaps::kChannels) return compute_block<WideTaps>(p, {0, p.channels, 0}, begin, end);
  int32_t first = part * WideTaps::kChannels, remaining = p.channels - first;
  if (remaining >= WideTaps::kChannels) {
    compute_block<WideTaps>(p, {first, WideTaps::kChannels, 0}, begin, end);
    first += WideTaps::kChannels, remaining -= WideTaps::kChannels;
    if (remaining == 0 || remaining >= WideTaps::kChannels) return;
  }
  const bool use_wide = remaining > NarrowTaps::kChannels || p.g.kernel_w == 5;
  if (use_wide && p.channels >= WideTaps::kChannels)
    return compute_block<WideTaps>(p, {p.channels - WideTaps::kChannels, WideTaps::kChannels, WideTaps::kChannels - remaining}, begin, end);
  if (remaining > NarrowTaps::kChannels) {
    compute_block<NarrowTaps>(p, {first, NarrowTaps::kChannels, 0}, begin, end);
    remaining -= NarrowTaps::kChannels;
  }
  compute_block<NarrowTaps>(p, {p.channels - NarrowTaps::kChannels, NarrowTaps::kChannels, NarrowTaps::kChannels - remaining}, begin, end);
}

Status q_depthwise_window_s8(const OpContext& c) noexcept {
  const Problem p(c);
  // Cost of an output: its epilogue, and a quarter of its taps.
  const double cost = 5 + p.g.kernel_w * p.g.kernel_w * 0.25;
  p.for_each_part(count_parts(p.channels), p.rows_per_pass(), cost,
                  [&](int32_t part, RowRange rows) { compute_channels(p, part, rows.begin, rows.end); });
  return Status::kOk;
}

}  // namespace

KernelFn select_q_depthwise_wide(const OpContext& c) noexcept {
  const Attrs& a = c.attrs<Attrs>();
  const Tensor& w = c.input(1);
  if (w.rank() != 4) return nullptr;
  const WindowGeometry g(a, w.desc->dims + 1, 2);
  const bool square = g.kernel_h == g.kernel_w && (g.kernel_w == 3 || g.kernel_w == 5);
  if (!square || g.dilation_h != 1 || g.dilation_w != 1 || g.stride_h != g.stride_w || g.stride_w > 2) return nullptr;
  const int32_t channels = w.dim(0), fit = channels > 0 ? WideTaps::kChannels / channels : 0;
  // The padded rows must fit the buffer.
  const int64_t copied = (int64_t{c.output(0).dim(2)} + fit) * g.stride_w * channels + 2 * int64_t{channels};
  if (channels < min_channels(g.kernel_w) && (!can_pack_pixels<WideTaps>() || g.kernel_w == 5 || fit < 2 || copied > kPackedBytes))
    return nullptr;
  return &q_depthwise_window_s8;
}

}  // namespace mote::kernels::MOTE_ISA_NAME::int8

#elif !defined(__aarch64__)  // depthwise_neon.cc

namespace mote::kernels::MOTE_ISA_NAME::int8 {

KernelFn select_q_depthwise_wide(const OpContext&) noexcept { return nullptr; }

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
#endif
