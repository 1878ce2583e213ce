// f32 attention in one pass over the keys, block by block, with an online softmax (Milakov and Gimelshein, 2018; FlashAttention). Both
// matrix products use the GEMM micro-kernel; scores exist for one row tile and one block of keys at a time, on the stack.

#include "mote/ops/attention/attention.h"

#include "mote/kernels/gemm/gemm_f32.h"
#include "mote/kernels/gemm/pack.h"

namespace mote::kernels::MOTE_ISA_NAME::attention {

using namespace gemm;  // micro-kernel, packing
namespace {

using ops::attention::Attrs;

constexpr int32_t kKeys = 128;          // keys of a block, at most
constexpr int32_t kMaxWidth = 256;      // channels of a head
constexpr int32_t kPackedCount = 8192;  // floats of a packed block: 128 keys of 64, 64 of 128 or 32 of 256
constexpr int32_t kQueries = 128;       // queries that query_block a packed block

int32_t keys_per_block(int32_t width) { return width <= 64 ? kKeys : width <= 128 ? kKeys / 2 : kKeys / 4; }
static_assert(kKeys / 4 * kMaxWidth <= kPackedCount, "");

// The operands of one head of one batch.
struct Head {
  const uint8_t *q, *k, *v;
  uint8_t* y;
  int64_t q_row, k_row, v_row, y_row;
  int32_t depth, width;  // of keys, of values
};

// The mask's row for one query: an additive bias, or booleans that allow a key. step 0: one value for all keys.
struct MaskRow {
  const float* add = nullptr;
  const uint8_t* allow = nullptr;
  int step = 0;
};

class Masks {
 public:
  explicit Masks(const OpContext& c) : mask_(c.has_input(3) ? &c.input(3) : nullptr) {}
  MaskRow row(int32_t b, int32_t h, int32_t s) const {
    MaskRow r;
    if (mask_ == nullptr) return r;
    const int32_t index[4] = {b, h, s, 0};
    int64_t offset = 0;
    const int rank = mask_->rank();
    for (int i = 0; i + 1 < rank; ++i) offset += mask_->dim(i) == 1 ? 0 : int64_t{index[4 - rank + i]} * mask_->stride(i);
    r.step = rank > 0 && mask_->dim(rank - 1) != 1 ? 1 : 0;
    const uint8_t* at = mask_->as<const uint8_t>() + offset;
    if (mask_->dtype() == DType::boolean) r.allow = at;
    else r.add = reinterpret_cast<const float*>(at);
    return r;
  }

 private:
  const Tensor* mask_;
};

// The keys [begin, end) that a query may attend to, by causality and sliding window.
struct Keys {
  int64_t begin, end;
};
Keys keys_of(const Attrs& a, int64_t position, int64_t count) {
  Keys r{0, count};
  if (a.is_causal != 0 && position + 1 < r.end) r.end = position + 1;
  if (a.right_window >= 0 && position + a.right_window + 1 < r.end) r.end = position + a.right_window + 1;
  if (a.left_window >= 0 && position - a.left_window > r.begin) r.begin = position - a.left_window;
  return r;
}

// State of a query's online softmax: the maximum so far, and the sum of exponentials relative to it.
struct OnlineSoftmax {
  float peak = -HUGE_VALF, total = 0;
};

// Replaces lanes whose boolean is false with `low`.
MOTE_INLINE VF allow_lanes(VF v, const uint8_t* bytes, int32_t count, VF low) {
  const hn::Rebind<uint8_t, F32> d8;
  const hn::RebindToSigned<F32> d32;
  alignas(64) uint8_t padded[kLanes] = {};
  for (int32_t i = 0; count < kLanes && i < count; ++i) padded[i] = bytes[i];
  const auto flags = hn::PromoteTo(d32, count < kLanes ? hn::Load(d8, padded) : hn::LoadU(d8, bytes));
  return hn::IfThenElse(hn::RebindMask(F32(), hn::Eq(flags, hn::Zero(d32))), low, v);
}

// Lane i is key first + i: replaces lanes of keys outside [begin, end) with `low`.
MOTE_INLINE VF mask_outside(VF v, int64_t first, Keys keys, VF low) {
  const hn::RebindToSigned<F32> d;
  const auto clip = [&](int64_t at) { return hn::Set(d, static_cast<int32_t>(at < 0 ? 0 : at > kLanes ? kLanes : at)); };
  const auto lane = hn::Iota(d, 0);
  const auto outside = hn::Or(hn::Lt(lane, clip(keys.begin - first)), hn::Not(hn::Lt(lane, clip(keys.end - first))));
  return hn::IfThenElse(hn::RebindMask(F32(), outside), low, v);
}

// Turns n scores (of keys first, first + 1, ...) into exponentials relative to the new maximum, in place, and updates the state. Returns
// the factor by which what was accumulated before must be scaled.
float online_softmax(float* s, int32_t n, int64_t first, Keys keys, const MaskRow& mask, float scale, float cap, OnlineSoftmax* state) {
  const VF low = broadcast(-HUGE_VALF), factor = broadcast(scale);
  keys.end = keys.end < first + n ? keys.end : first + n;  // lanes behind the last key are masked too
  VF best = low;
  auto undefined = hn::IsNaN(low);
  for (int32_t i = 0; i < n; i += kLanes) {
    const int32_t count = n - i < kLanes ? n - i : kLanes;
    VF v = hn::Mul(load_partial(s + i, count), factor);
    if (cap > 0) v = hn::Mul(tanh(quotient(v, broadcast(cap))), broadcast(cap));
    if (mask.add != nullptr) {
      const VF bias = mask.step == 0 ? broadcast(*mask.add) : load_partial(mask.add + first + i, count);
      v = hn::IfThenElse(hn::Eq(bias, low), low, hn::Add(v, bias));  // a masked score stays masked even if it is NaN
    }
    if (mask.allow != nullptr) {
      if (mask.step != 0) v = allow_lanes(v, mask.allow + first + i, count, low);
      else if (*mask.allow == 0) v = low;
    }
    if (first + i < keys.begin || first + i + kLanes > keys.end) v = mask_outside(v, first + i, keys, low);
    store_partial(v, count, s + i);
    undefined = hn::Or(undefined, hn::IsNaN(v));
    best = larger(best, v);
  }
  const bool has_nan = !hn::AllFalse(F32(), undefined);
  const float block = has_nan ? NAN : hn::GetLane(hn::MaxOfLanes(F32(), best)), peak = has_nan || block > state->peak ? block : state->peak;
  if (peak == -HUGE_VALF) {
    for (int32_t i = 0; i < n; ++i) s[i] = 0;
    return 1;
  }
  const VF top = broadcast(peak);
  VF sum = hn::Zero(F32());
  for (int32_t i = 0; i < n; i += kLanes) {
    const int32_t count = n - i < kLanes ? n - i : kLanes;
    const VF w = exp_flush_denormal(hn::Sub(load_partial(s + i, count), top));
    store_partial(w, count, s + i);
    sum = hn::Add(sum, count < kLanes ? hn::IfThenElseZero(hn::FirstN(F32(), static_cast<size_t>(count)), w) : w);
  }
  const bool first_block = state->peak == -HUGE_VALF;  // nothing was accumulated before
  const float rescale = first_block || state->peak == peak ? 1.0f : hn::GetLane(exp_flush_denormal(broadcast(state->peak - peak)));
  state->total = state->total * rescale + hn::GetLane(hn::SumOfLanes(F32(), sum));
  state->peak = peak;
  return rescale;
}

// out[r] (+)= rows[r] (K = n) times consecutive panels; accumulate: adds to out.
void multiply_rows(const float* const* rows, int32_t count, int32_t n, const float* panels, int32_t outputs, float* const* out,
                   bool accumulate) {
  const EpilogueF32 plain(nullptr, nullptr, 1, 0, 0, 0);
  TileArgs t;
  t.rows = rows;
  t.runs = 1;
  t.run_length = n;
  t.panel_stride = int64_t{n} * kPanel * 4;
  t.out = out;
  t.residual = accumulate ? out : nullptr;
  for (int32_t first = 0; first < outputs; first += kTilePanels * kPanel) {
    t.panel = panels + int64_t{first} * n;
    t.prefetch = t.panel;
    t.first_output = 0;
    t.out_offset = first;
    t.outputs = outputs - first < kTilePanels * kPanel ? outputs - first : kTilePanels * kPanel;
    (t.outputs > kPanel ? microkernel_of<PanelF32, kTilePanels>(count) : microkernel_of<PanelF32, 1>(count))(t, plain);
  }
}

void pack_panels(const Matrix& m, int32_t depth, int32_t columns, float* panels) {
  for (int32_t n = 0; n < columns; n += kPanel)
    pack_panel(m, 0, depth, n, columns - n < kPanel ? columns - n : kPanel, panels + int64_t{n} * depth);
}

// Queries [first, first + count) of one head, at most kQueries.
class QueryBlock {
 public:
  QueryBlock(const OpContext& c, const Head& head, int32_t b, int32_t h, int32_t first, int32_t count, int64_t keys, int64_t offset)
      : a_(c.attrs<Attrs>()), head_(head), masks_(c), b_(b), h_(h), first_(first), count_(count), keys_(keys), offset_(offset) {
    scale_ = a_.scale != 0 ? a_.scale : 1.0f / hn::GetLane(square_root(broadcast(static_cast<float>(head.depth > 0 ? head.depth : 1))));
  }

  void compute() {
    const int32_t step = keys_per_block(head_.depth > head_.width ? head_.depth : head_.width);
    // The union of the ranges of keys of these queries: begin and end grow with the query.
    const int64_t from = keys_of(a_, first_ + offset_, keys_).begin, begin = from > 0 ? from : 0,
                  end = keys_of(a_, first_ + count_ - 1 + offset_, keys_).end;
    for (int64_t t = begin; t < end; t += step) key_block(t, static_cast<int32_t>(end - t < step ? end - t : step), t > begin);
    for (int32_t i = 0; i < count_; ++i) {
      float* y = row_of_y(i);
      if (begin >= end) map_row(y, y, head_.width, [](VF) { return hn::Zero(F32()); });
      const VF factor = broadcast(state_[i].total == 0 ? 0.0f : 1.0f / state_[i].total);
      map_row(y, y, head_.width, [&](VF v) { return hn::Mul(v, factor); });
    }
  }

 private:
  float* row_of_y(int32_t i) const { return reinterpret_cast<float*>(head_.y + (first_ + i) * head_.y_row); }

  // Keys [t, t + n); accumulate: there were blocks before.
  void key_block(int64_t t, int32_t n, bool accumulate) {
    alignas(64) float keys[kPackedCount], values[kPackedCount];
    pack_panels({head_.k + t * head_.k_row, 4, head_.k_row}, head_.depth, n, keys);
    pack_panels({head_.v + t * head_.v_row, head_.v_row, 4}, n, head_.width, values);
    const RowTiles tiles(count_);
    for (int32_t i = 0; i < tiles.count; ++i) {
      const int32_t first = tiles.begin(i), rows = tiles.begin(i + 1) - first;
      alignas(64) float scores[kTileRows][kKeys];
      const float* lhs[kTileRows];
      float* out[kTileRows];
      for (int32_t r = 0; r < rows; ++r) {
        lhs[r] = reinterpret_cast<const float*>(head_.q + (first_ + first + r) * head_.q_row);
        out[r] = scores[r];
      }
      multiply_rows(lhs, rows, head_.depth, keys, n, out, false);
      for (int32_t r = 0; r < rows; ++r) {
        const int32_t query = first_ + first + r;
        const float rescale = online_softmax(scores[r], n, t, keys_of(a_, query + offset_, keys_), masks_.row(b_, h_, query), scale_,
                                             a_.softcap, &state_[first + r]);
        lhs[r] = scores[r];
        out[r] = row_of_y(first + r);
        if (rescale != 1) map_row(out[r], out[r], head_.width, [&](VF v) { return hn::Mul(v, broadcast(rescale)); });
      }
      multiply_rows(lhs, rows, n, values, head_.width, out, accumulate);
    }
  }

  const Attrs& a_;
  const Head& head_;
  Masks masks_;
  int32_t b_, h_, first_, count_;
  int64_t keys_, offset_;
  float scale_;
  OnlineSoftmax state_[kQueries];
};

Status attention_f32(const OpContext& c) noexcept {
  const Attrs& a = c.attrs<Attrs>();
  const Tensor &q = c.input(0), &k = c.input(1), &v = c.input(2), &y = c.output(0);
  const int32_t heads = q.dim(1), queries = q.dim(2), group = k.dim(1) > 0 ? heads / k.dim(1) : 1;
  if (y.count() == 0) return Status::kOk;
  const auto used = [&](int32_t b) -> int64_t {
    if (!c.has_input(4)) return k.dim(2);
    const Tensor& lengths = c.input(4);
    return lengths.dtype() == DType::s32 ? lengths.as<const int32_t>()[b] : lengths.as<const int64_t>()[b];
  };
  for (int32_t b = 0; b < q.dim(0); ++b)
    if (used(b) < 0 || used(b) > k.dim(2)) return {Status::kInvalidArgument, Why::kIndexRange};
  const double work = 2.0 * q.dim(0) * heads * queries * static_cast<double>(k.dim(2)) * q.dim(3);
  const bool threads = thread_count(c.threads, work) > 1;
  const int32_t query_blocks = (queries + kQueries - 1) / kQueries;
  parallel_for(threads ? c.threads : nullptr, static_cast<uint32_t>(q.dim(0) * heads * query_blocks), [&](uint32_t i) {
    const int32_t query_block = static_cast<int32_t>(i) % query_blocks, h = static_cast<int32_t>(i) / query_blocks % heads,
                  b = static_cast<int32_t>(i) / query_blocks / heads;
    const auto at = [&](const Tensor& t, int32_t head) { return t.as<uint8_t>() + int64_t{b} * t.stride(0) + int64_t{head} * t.stride(1); };
    const Head head{at(q, h),    at(k, h / group), at(v, h / group), at(y, h), q.stride(2),
                    k.stride(2), v.stride(2),      y.stride(2),      q.dim(3), v.dim(3)};
    const int64_t keys = used(b), offset = c.has_input(4) || a.cached != 0 ? keys - queries : 0;
    const Range mine = part_of(queries, static_cast<uint32_t>(query_block), static_cast<uint32_t>(query_blocks));
    QueryBlock(c, head, b, h, mine.first, mine.size, keys, offset).compute();
  });
  return Status::kOk;
}

}  // namespace

KernelFn select_attention(const OpContext& c) noexcept {
  const Tensor &q = c.input(0), &v = c.input(2);
  const bool fits = q.dim(3) > 0 && q.dim(3) <= kMaxWidth && v.dim(3) <= kMaxWidth;
  return q.dtype() == DType::f32 && fits ? &attention_f32 : nullptr;
}

}  // namespace mote::kernels::MOTE_ISA_NAME::attention
