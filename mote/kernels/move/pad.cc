// pad, row by row: copies the part that is inside the input, fills or mirrors the rest.

#include "mote/ops/pad/pad.h"
#include "mote/kernels/move/move.h"
#include "mote/ops/common/quant.h"

namespace mote::kernels::MOTE_ISA_NAME::move {
namespace {

using ops::pad::Attrs;

// One axis: output positions [inside, inside + count) are elements [first, first + count) of x.
struct Axis {
  Axis(int32_t begin, int32_t end, int32_t size, int64_t step)
      : inside(begin > 0 ? begin : 0), first(begin < 0 ? -begin : 0), count(size - first + (end < 0 ? end : 0)), stride(step) {}
  // The element of x for output position i, or -1 for the padding value.
  int64_t source(int32_t mode, int64_t i) const {
    const int64_t n = count, at = i - inside;
    if (at >= 0 && at < n) return first + at;
    if (mode == ops::pad::kConstant) return -1;
    if (mode == ops::pad::kEdge) return first + (at < 0 ? 0 : n - 1);
    if (mode == ops::pad::kReflect && n == 1) return first;
    const int64_t period = mode == ops::pad::kWrap ? n : mode == ops::pad::kReflect ? 2 * (n - 1) : 2 * n;
    const int64_t phase = (at % period + period) % period;
    if (phase < n) return first + phase;
    return first + (mode == ops::pad::kReflect ? period - phase : period - 1 - phase);
  }
  int32_t inside, first, count;
  int64_t stride;
};

class Padding {
 public:
  explicit Padding(const OpContext& c)
      : c_(c), x_(c.input(0)), y_(c.output(0)), mode_(c.attrs<Attrs>().mode), width_(dtype_bytes(x_.dtype())) {
    last_ = y_.rank() - 1;
    // Trailing dimensions without padding are merged into one wide element.
    while (last_ > 0 && is_unpadded(last_)) {
      unit_ *= y_.dim(last_);
      --last_;
    }
    if (c.has_input(1)) value_ = c.input(1).data;
    else if (x_.dtype() == DType::f32) value_ = &c.attrs<Attrs>().value;
    else integer_ = static_cast<int64_t>(c.attrs<Attrs>().value), value_ = &integer_;
  }
  Axis axis(int i) const { return Axis(c_.attrs<Attrs>().begin[i], c_.attrs<Attrs>().end[i], x_.dim(i), x_.stride(i)); }

  // The dimension that rows extend along.
  int row_axis() const { return last_; }

  // Writes the row of y with this index in the dimensions before row_axis() to `to`.
  void row(const int32_t* index, uint8_t* to) const {
    const int last = last_;
    const int32_t n = y_.dim(last);
    const int64_t bytes = unit_ * width_;
    const uint8_t* from = x_.as<const uint8_t>();
    for (int i = 0; i < last; ++i) {
      const Axis a = axis(i);
      const int64_t at = a.source(mode_, index[i]);
      if (at < 0) return fill_elements(to, value_, width_, static_cast<int32_t>(n * unit_));
      from += at * a.stride;
    }
    const Axis a = axis(last);
    const int32_t begin = a.inside, end = a.inside + a.count;
    edge(a, from, to, 0, begin < n ? begin : n);
    if (a.count > 0) copy_bytes(to + begin * bytes, from + a.first * bytes, a.count * bytes);
    edge(a, from, to, end > begin ? end : begin, n);
  }

 private:
  void edge(const Axis& a, const uint8_t* from, uint8_t* to, int32_t begin, int32_t end) const {
    if (begin >= end) return;
    const int64_t bytes = unit_ * width_;
    if (mode_ == ops::pad::kConstant) return fill_elements(to + begin * bytes, value_, width_, static_cast<int32_t>((end - begin) * unit_));
    for (int32_t i = begin; i < end; ++i) copy_bytes(to + i * bytes, from + a.source(mode_, i) * bytes, bytes);
  }
  bool is_unpadded(int i) const {
    const Attrs& a = c_.attrs<Attrs>();
    return a.begin[i] == 0 && a.end[i] == 0 && x_.stride(i - 1) == x_.dim(i) * x_.stride(i) && y_.stride(i - 1) == y_.dim(i) * y_.stride(i);
  }

  int64_t integer_ = 0;  // padding value of integer types; narrower types read its low bytes (little endian)
  const OpContext& c_;
  const Tensor &x_, &y_;
  int32_t mode_;
  uint32_t width_;
  int last_;
  int64_t unit_ = 1;  // elements of a merged wide element
  const void* value_;
};

Status pad_any(const OpContext& c) noexcept {
  const Tensor& y = c.output(0);
  if (y.count() == 0) return Status::kOk;
  const Padding padding(c);
  const int outer = padding.row_axis();
  int32_t rows = 1;
  for (int i = 0; i < outer; ++i) rows *= y.dim(i);
  const uint32_t helpers = thread_count(c.threads, 4.0 * y.count()), parts = helpers < 2 ? 1 : helpers * 2;
  parallel_for(c.threads, parts, [&](uint32_t part) {
    const Range mine = part_of(rows, part, parts);
    for (int32_t r = mine.first; r < mine.first + mine.size; ++r) {
      int32_t index[kMaxRank], rest = r;
      int64_t to = 0;
      for (int i = outer - 1; i >= 0; --i) {
        index[i] = rest % y.dim(i);
        rest /= y.dim(i);
        to += int64_t{index[i]} * y.stride(i);
      }
      padding.row(index, y.as<uint8_t>() + to);
    }
  });
  return Status::kOk;
}

}  // namespace

// True when the padding value converts to the type without rounding or saturation; others are left to the portable kernel.
bool is_representable(float value, DType type) {
  if (value == 0) return true;
  const ops::IntRange range = (mask_of(type) & ops::kQuant) != 0 ? ops::int_range(type) : ops::IntRange{};
  return value >= static_cast<float>(range.lo) && value <= static_cast<float>(range.hi) &&
         value == static_cast<float>(static_cast<int32_t>(value));
}

KernelFn select_pad(const OpContext& c) noexcept {
  const Tensor& x = c.input(0);
  if (x.rank() == 0 || dtype_bytes(x.dtype()) == 0 || c.has_input(2) || c.has_input(3)) return nullptr;
  if (!c.has_input(1) && x.dtype() != DType::f32 && !is_representable(c.attrs<Attrs>().value, x.dtype())) return nullptr;
  return &pad_any;
}

}  // namespace mote::kernels::MOTE_ISA_NAME::move
