// Attention in one pass over the keys, block by block, with the products' micro-kernel. Scores exist for a few queries and one block of
// keys at a time; whatever a block needs lies on the stack.

#include "mote/ops/attention/attention.h"

#include "mote/kernels/gemm/pack.h"
#include "mote/kernels/gemm/product.h"

namespace mote::kernels::MOTE_ISA_NAME {
namespace {

using ops::attention::Attrs;

constexpr int32_t kKeys = 128;          // of a block, at most
constexpr int32_t kMaxWidth = 256;      // of a head
constexpr int32_t kPackedCount = 8192;  // elements of a packed block: 128 keys of 64, 64 of 128 or 32 of 256
constexpr int32_t kQueries = 128;       // that share a packed block

int32_t keys_per_block(int32_t width) { return width <= 64 ? kKeys : width <= 128 ? kKeys / 2 : kKeys / 4; }
static_assert(kKeys / 4 * kMaxWidth <= kPackedCount, "");

// One head: its queries, keys, values and results.
struct Head {
  const uint8_t *q, *k, *v;
  uint8_t* y;
  int64_t q_row, k_row, v_row, y_row;
  int32_t depth, width;  // of keys, of values
};

// The mask's row for one query: added numbers, or bytes that allow a key.
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

// Keys [begin, end) that a query may attend to.
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

// What the softmax of a query has seen so far.
struct Running {
  float peak = -HUGE_VALF, total = 0;
};

// Lanes whose byte is 0 become `low`.
MOTE_INLINE VF allow_lanes(VF v, const uint8_t* bytes, int32_t count, VF low) {
  const hn::Rebind<uint8_t, F32> d8;
  const hn::RebindToSigned<F32> d32;
  alignas(64) uint8_t some[kLanes] = {};
  for (int32_t i = 0; count < kLanes && i < count; ++i) some[i] = bytes[i];
  const auto flags = hn::PromoteTo(d32, count < kLanes ? hn::Load(d8, some) : hn::LoadU(d8, bytes));
  return hn::IfThenElse(hn::RebindMask(F32(), hn::Eq(flags, hn::Zero(d32))), low, v);
}

// Lane i stands for key first + i: those outside of [begin, end) become `low`.
MOTE_INLINE VF keys_inside(VF v, int64_t first, Keys keys, VF low) {
  const hn::RebindToSigned<F32> d;
  const auto clip = [&](int64_t at) { return hn::Set(d, static_cast<int32_t>(at < 0 ? 0 : at > kLanes ? kLanes : at)); };
  const auto lane = hn::Iota(d, 0);
  const auto outside = hn::Or(hn::Lt(lane, clip(keys.begin - first)), hn::Not(hn::Lt(lane, clip(keys.end - first))));
  return hn::IfThenElse(hn::RebindMask(F32(), outside), low, v);
}

// Turns n products (of keys first, first + 1, ...) into weights relative to the new peak. Gives the factor for what was summed before.
float soften(float* s, int32_t n, int64_t first, Keys keys, const MaskRow& mask, float scale, float cap, Running* state) {
  const VF low = broadcast(-HUGE_VALF), factor = broadcast(scale);
  keys.end = keys.end < first + n ? keys.end : first + n;  // lanes behind the last key are outside too
  VF best = low;
  auto undefined = hn::IsNaN(low);
  for (int32_t i = 0; i < n; i += kLanes) {
    const int32_t count = n - i < kLanes ? n - i : kLanes;
    VF v = hn::Mul(load_some(s + i, count), factor);
    if (cap > 0) v = hn::Mul(tanh(quotient(v, broadcast(cap))), broadcast(cap));
    if (mask.add != nullptr) {
      const VF more = mask.step == 0 ? broadcast(*mask.add) : load_some(mask.add + first + i, count);
      v = hn::IfThenElse(hn::Eq(more, low), low, hn::Add(v, more));  // what is masked stays so, be it NaN
    }
    if (mask.allow != nullptr) {
      if (mask.step != 0) v = allow_lanes(v, mask.allow + first + i, count, low);
      else if (*mask.allow == 0) v = low;
    }
    if (first + i < keys.begin || first + i + kLanes > keys.end) v = keys_inside(v, first + i, keys, low);
    store_some(v, count, s + i);
    undefined = hn::Or(undefined, hn::IsNaN(v));
    best = larger(best, v);
  }
  const bool broken = !hn::AllFalse(F32(), undefined);
  const float block = broken ? NAN : hn::GetLane(hn::MaxOfLanes(F32(), best)), peak = broken || block > state->peak ? block : state->peak;
  if (peak == -HUGE_VALF) {
    for (int32_t i = 0; i < n; ++i) s[i] = 0;
    return 1;
  }
  const VF top = broadcast(peak);
  VF sum = hn::Zero(F32());
  for (int32_t i = 0; i < n; i += kLanes) {
    const int32_t count = n - i < kLanes ? n - i : kLanes;
    const VF w = exp_fading(hn::Sub(load_some(s + i, count), top));
    store_some(w, count, s + i);
    sum = hn::Add(sum, count < kLanes ? hn::IfThenElseZero(hn::FirstN(F32(), static_cast<size_t>(count)), w) : w);
  }
  const bool first_block = state->peak == -HUGE_VALF;  // nothing was summed before
  const float shrink = first_block || state->peak == peak ? 1.0f : hn::GetLane(exp_fading(broadcast(state->peak - peak)));
  state->total = state->total * shrink + hn::GetLane(hn::SumOfLanes(F32(), sum));
  state->peak = peak;
  return shrink;
}

// out[r] (+)= rows[r] (n of them) times panels that lie one behind the other.
void multiply_rows(const float* const* rows, int32_t count, int32_t n, const float* panels, int32_t outputs, float* const* out, bool more) {
  const Finish plain(nullptr, nullptr, 1, 0, 0, 0);
  Tile t;
  t.rows = rows;
  t.runs = 1;
  t.run_length = n;
  t.panel_stride = int64_t{n} * kPanel * 4;
  t.out = out;
  t.residual = more ? out : nullptr;
  for (int32_t first = 0; first < outputs; first += kTilePanels * kPanel) {
    t.panel = panels + int64_t{first} * n;
    t.ahead = t.panel;
    t.first = 0;
    t.at = first;
    t.count = outputs - first < kTilePanels * kPanel ? outputs - first : kTilePanels * kPanel;
    (t.count > kPanel ? tile_of<PanelF32, kTilePanels>(count) : tile_of<PanelF32, 1>(count))(t, plain);
  }
}

void pack_panels(const Matrix& m, int32_t depth, int32_t columns, float* panels) {
  for (int32_t n = 0; n < columns; n += kPanel)
    pack_panel(m, 0, depth, n, columns - n < kPanel ? columns - n : kPanel, panels + int64_t{n} * depth);
}

// A share of the queries of one head: [first, first + count), at most kQueries.
class Share {
 public:
  Share(const OpContext& c, const Head& head, int32_t b, int32_t h, int32_t first, int32_t count, int64_t keys, int64_t offset)
      : a_(c.attrs<Attrs>()), head_(head), masks_(c), b_(b), h_(h), first_(first), count_(count), keys_(keys), offset_(offset) {
    scale_ = a_.scale != 0 ? a_.scale : 1.0f / hn::GetLane(root(broadcast(static_cast<float>(head.depth > 0 ? head.depth : 1))));
  }

  void run() {
    const int32_t step = keys_per_block(head_.depth > head_.width ? head_.depth : head_.width);
    // Keys that any of the queries may attend to; the ranges of neighbours overlap and move on.
    const int64_t from = keys_of(a_, first_ + offset_, keys_).begin, begin = from > 0 ? from : 0,
                  end = keys_of(a_, first_ + count_ - 1 + offset_, keys_).end;
    for (int64_t t = begin; t < end; t += step) block(t, static_cast<int32_t>(end - t < step ? end - t : step), t > begin);
    for (int32_t i = 0; i < count_; ++i) {
      float* y = row_of_y(i);
      if (begin >= end) map_row(y, y, head_.width, [](VF) { return hn::Zero(F32()); });
      const VF factor = broadcast(state_[i].total == 0 ? 0.0f : 1.0f / state_[i].total);
      map_row(y, y, head_.width, [&](VF v) { return hn::Mul(v, factor); });
    }
  }

 private:
  float* row_of_y(int32_t i) const { return reinterpret_cast<float*>(head_.y + (first_ + i) * head_.y_row); }

  // Keys [t, t + n); more: others were before.
  void block(int64_t t, int32_t n, bool more) {
    alignas(64) float keys[kPackedCount], values[kPackedCount];
    pack_panels({head_.k + t * head_.k_row, 4, head_.k_row}, head_.depth, n, keys);
    pack_panels({head_.v + t * head_.v_row, head_.v_row, 4}, n, head_.width, values);
    const RowTiles tiles(count_);
    for (int32_t i = 0; i < tiles.count; ++i) {
      const int32_t first = tiles.begin(i), rows = tiles.begin(i + 1) - first;
      alignas(64) float scores[kTileRows][kKeys];
      const float* left[kTileRows];
      float* out[kTileRows];
      for (int32_t r = 0; r < rows; ++r) {
        left[r] = reinterpret_cast<const float*>(head_.q + (first_ + first + r) * head_.q_row);
        out[r] = scores[r];
      }
      multiply_rows(left, rows, head_.depth, keys, n, out, false);
      for (int32_t r = 0; r < rows; ++r) {
        const int32_t query = first_ + first + r;
        const float shrink =
            soften(scores[r], n, t, keys_of(a_, query + offset_, keys_), masks_.row(b_, h_, query), scale_, a_.softcap, &state_[first + r]);
        left[r] = scores[r];
        out[r] = row_of_y(first + r);
        if (shrink != 1) map_row(out[r], out[r], head_.width, [&](VF v) { return hn::Mul(v, broadcast(shrink)); });
      }
      multiply_rows(left, rows, n, values, head_.width, out, more);
    }
  }

  const Attrs& a_;
  const Head& head_;
  Masks masks_;
  int32_t b_, h_, first_, count_;
  int64_t keys_, offset_;
  float scale_;
  Running state_[kQueries];
};

Status run_attention(const OpContext& c) noexcept {
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
  const bool threads = useful_threads(c.threads, work) > 1;
  const int32_t shares = (queries + kQueries - 1) / kQueries;
  parallel_for(threads ? c.threads : nullptr, static_cast<uint32_t>(q.dim(0) * heads * shares), [&](uint32_t i) {
    const int32_t share = static_cast<int32_t>(i) % shares, h = static_cast<int32_t>(i) / shares % heads,
                  b = static_cast<int32_t>(i) / shares / heads;
    const auto at = [&](const Tensor& t, int32_t head) { return t.as<uint8_t>() + int64_t{b} * t.stride(0) + int64_t{head} * t.stride(1); };
    const Head head{at(q, h),    at(k, h / group), at(v, h / group), at(y, h), q.stride(2),
                    k.stride(2), v.stride(2),      y.stride(2),      q.dim(3), v.dim(3)};
    const int64_t keys = used(b), offset = c.has_input(4) || a.cached != 0 ? keys - queries : 0;
    const Range mine = part_of(queries, static_cast<uint32_t>(share), static_cast<uint32_t>(shares));
    Share(c, head, b, h, mine.first, mine.size, keys, offset).run();
  });
  return Status::kOk;
}

}  // namespace

KernelFn select_attention(const OpContext& c) noexcept {
  const Tensor &q = c.input(0), &v = c.input(2);
  const bool fits = q.dim(3) > 0 && q.dim(3) <= kMaxWidth && v.dim(3) <= kMaxWidth;
  return q.dtype() == DType::f32 && fits ? &run_attention : nullptr;
}

}  // namespace mote::kernels::MOTE_ISA_NAME
