#include "mote/ops/unique/unique.h"

#include <algorithm>

#include "mote/ops/common/nn_checks.h"
#include "mote/ops/common/number.h"

namespace mote::ops::unique {
namespace {

// x as a list of slices: single elements, or all elements that share an index along the axis.
class Slices {
 public:
  explicit Slices(const OpContext& c) : x_(c.input(0)) {
    const Attrs& a = c.attrs<Attrs>();
    axis_ = a.has_axis != 0 ? checked_axis(a.axis, x_.rank()) : -1;
    for (int i = 0; axis_ >= 0 && i < x_.rank(); ++i) dims_[i] = i == axis_ ? 1 : x_.dim(i);
  }
  int axis() const { return axis_; }
  int rank() const { return axis_ < 0 ? 0 : x_.rank(); }
  const int32_t* dims() const { return dims_; }
  int32_t count() const { return axis_ < 0 ? x_.count() : x_.dim(axis_); }
  const uint8_t* at(int32_t i) const { return x_.at<uint8_t>(axis_ < 0 ? offset_of(*x_.desc, i) : i * x_.stride(axis_)); }

  // -1, 0, 1 as slice a comes before, equals, comes after slice b.
  [[gnu::noinline]] int compare(int32_t a, int32_t b) const {
    const uint8_t *pa = at(a), *pb = at(b);
    GridWalk<1> w(rank(), dims_, {{x_.desc->strides}});
    while (w.next()) {
      const uint64_t ka = order_key(x_.dtype(), pa + w.offset[0]), kb = order_key(x_.dtype(), pb + w.offset[0]);
      if (ka != kb) return ka < kb ? -1 : 1;
    }
    return 0;
  }

 private:
  const Tensor& x_;
  int axis_;
  int32_t dims_[kMaxRank] = {};
};

void set_s64(const OpContext& c, int output, int32_t at, int64_t value) noexcept {
  if (c.has_output(output)) c.output(output).as<int64_t>()[at] = value;
}

Status run(const OpContext& c) noexcept {
  const Tensor &x = c.input(0), *y = c.has_output(0) ? &c.output(0) : nullptr;
  const Slices slices(c);
  const int32_t n = slices.count();
  if (c.scratch.size < static_cast<size_t>(n) * 12u) return {Status::kOutOfMemory, Why::kScratch};
  auto* order = reinterpret_cast<int32_t*>(c.scratch.data);
  int32_t *first = order + n, *place = first + n;  // of each slice: its first occurrence, and that one's place in y
  for (int32_t i = 0; i < n; ++i) order[i] = i;
  std::sort(order, order + n, [&](int32_t a, int32_t b) {
    const int way = slices.compare(a, b);
    return way != 0 ? way < 0 : a < b;
  });
  int32_t found = 0;
  for (int32_t i = 0; i < n; ++i) {
    const bool again = i > 0 && slices.compare(order[i - 1], order[i]) == 0;
    first[order[i]] = again ? first[order[i - 1]] : order[i];
    found += again ? 0 : 1;
  }
  const int across = slices.axis() < 0 ? 0 : slices.axis();
  if (y != nullptr) MOTE_TRY(c.set_output_dim(0, across, found));
  if (c.has_output(1)) MOTE_TRY(c.set_output_dim(1, 0, found));
  if (c.has_output(3)) MOTE_TRY(c.set_output_dim(3, 0, found));

  const bool sorted = c.attrs<Attrs>().sorted != 0;
  int32_t at = 0;
  for (int32_t k = 0; k < n; ++k) {
    const int32_t i = sorted ? order[k] : k;
    if (first[i] != i) continue;
    place[i] = at;
    if (y != nullptr)
      copy_grid(dtype_bytes(x.dtype()), slices.rank(), slices.dims(), slices.at(i), x.desc->strides, y->at<uint8_t>(at * y->stride(across)),
                y->desc->strides);
    set_s64(c, 1, at, i);
    set_s64(c, 3, at, 0);
    ++at;
  }
  for (int32_t i = 0; i < n; ++i) {
    set_s64(c, 2, i, place[first[i]]);
    if (c.has_output(3)) ++c.output(3).as<int64_t>()[place[first[i]]];
  }
  return Status::kOk;
}

}  // namespace

Scratch scratch(const OpContext& c) noexcept { return scratch_numbers(static_cast<uint64_t>(Slices(c).count()) * 3, DType::s32); }
KernelFn select(const OpContext&) noexcept { return &run; }

}  // namespace mote::ops::unique
