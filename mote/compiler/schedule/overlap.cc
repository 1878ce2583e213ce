#include "mote/compiler/schedule/overlap.h"

#include <algorithm>
#include <optional>

#include "mote/compiler/schedule/strips.h"

namespace mote::schedule {
namespace {

// The first input row or column in the window of output row or column i, padding excluded.
int64_t first_of(const ops::WindowDim& d, int64_t i) { return std::clamp<int64_t>(i * d.stride - d.pad_begin, 0, d.in - 1); }

// How many bytes before the input the output must start: when pixel (r, c) is written, the windows of it and all later pixels have not been
// read.
int64_t distance_of(const ops::Window& w, const TensorDesc& x, const TensorDesc& y) {
  const int64_t size = dtype_bits(y.dtype) / 8, pixel = int64_t{y.dims[3]} * size;
  const int64_t rows = y.dims[1], columns = y.dims[2], edge = w.dim[1].pad_begin / w.dim[1].stride;
  int64_t distance = INT64_MIN;
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t row = first_of(w.dim[0], r) * x.strides[1];
    const int64_t next = r + 1 < rows ? first_of(w.dim[0], r + 1) * x.strides[1] : INT64_MAX;
    // Piecewise linear in c, with a corner where the padding ends: the extremes are at these columns.
    for (const int64_t at : {int64_t{0}, edge, edge + 1, columns - 1}) {
      const int64_t c = std::clamp<int64_t>(at, 0, columns - 1);
      const int64_t written = r * y.strides[1] + c * y.strides[2] + pixel;
      distance = std::max(distance, written - std::min(row + first_of(w.dim[1], c) * x.strides[2], next));
    }
  }
  return distance;
}

// The same for a strip, which reads and writes the rows of a trip as a whole. With a negative row step: bytes behind the input's start.
int64_t distance_by_rows(const ops::Window& w, const TensorDesc& x, const TensorDesc& y, const mote::Step& rows, uint32_t trips) {
  const int64_t pixel = int64_t{y.dims[3]} * (dtype_bits(y.dtype) / 8);
  const ops::WindowDim& d = w.dim[0];
  int64_t distance = INT64_MIN;
  for (uint32_t trip = 0; trip < trips; ++trip) {
    const int64_t first = rows.begin + int64_t{trip} * rows.step, begin = std::max<int64_t>(first, 0);
    const int64_t end = std::min<int64_t>(first + rows.rows, y.dims[1]);
    if (begin >= end) continue;
    if (rows.step < 0) {
      const int64_t read = std::clamp<int64_t>((end - 1) * d.stride - d.pad_begin + d.extent(), 0, d.in);
      distance = std::max(distance, read * x.strides[1] - begin * y.strides[1]);
      continue;
    }
    const int64_t written = (end - 1) * y.strides[1] + int64_t{y.dims[2] - 1} * y.strides[2] + pixel;
    distance = std::max(distance, written - first_of(d, begin) * x.strides[1]);
  }
  return distance;
}

// The strip whose only step this is; null when there is none.
const Step* lone_strip(const Plan& plan, uint32_t i) {
  return i > 0 && plan.steps[i - 1].is(ControlOp::kStrip) && plan.steps[i - 1].body == 1 ? &plan.steps[i - 1] : nullptr;
}

bool is_image(const TensorDesc& d) {
  return d.storage == Storage::kArena && d.rank == 4 && d.dims[0] == 1 && d.dims[1] > 0 && d.dims[2] > 0 && d.dynamic == 0 &&
         d.ring_rows == 0 && d.layout == Layout::kPlain;
}

std::optional<Overlap> overlap_of(const Plan& plan, uint32_t i, const std::vector<memory::LiveRange>& live) {
  const Step& s = plan.steps[i];
  const Step* const strip = lone_strip(plan, i);
  const bool in_order = s.in_order && s.rows.rows == 0;
  if ((!in_order && strip == nullptr) || s.inputs.empty() || s.outputs.size() != 1 || s.inputs[0] < 0 || s.outputs[0] < 0) return {};
  const Tensor &x = plan.tensor(s.inputs[0]), &y = plan.tensor(s.outputs[0]);
  const std::optional<ops::Window> window = window_of(plan, s);
  if (!window || window->rank > 2 || !is_image(x.desc) || !is_image(y.desc) || x.place == y.place) return {};
  if (x.desc.strides[2] != x.desc.dims[3] * x.desc.strides[3]) return {};  // kernels need dense pixels
  const auto &ends = live[static_cast<size_t>(x.place)], &begins = live[static_cast<size_t>(y.place)];
  // Operands of a strip are live throughout it.
  if (ends.last != i || begins.first != (strip != nullptr ? i - 1 : i) || plan.buffers[static_cast<size_t>(x.place)].state) return {};
  // Another operand in the input's buffer is not read pixel after pixel.
  for (size_t k = 1; k < s.inputs.size(); ++k) {
    if (s.inputs[k] < 0) continue;
    const Tensor& t = plan.tensor(s.inputs[k]);
    if ((t.desc.storage == Storage::kArena || t.desc.storage == Storage::kState) && t.place == x.place) return {};
  }
  const int64_t away =
      strip != nullptr ? distance_by_rows(*window, x.desc, y.desc, s.rows, strip->trips) : distance_of(*window, x.desc, y.desc);
  const bool starts_after = strip != nullptr && s.rows.step < 0;
  const int64_t apart = static_cast<int64_t>(y.at) - static_cast<int64_t>(x.at);
  return Overlap{i, y.place, x.place, starts_after ? away - apart : away + apart, starts_after};
}

}  // namespace

std::vector<Overlap> find_overlaps(const Plan& plan, const std::vector<memory::LiveRange>& live) {
  std::vector<Overlap> all;
  for (uint32_t i = 0; i < plan.steps.size(); ++i)
    if (const std::optional<Overlap> o = overlap_of(plan, i, live)) all.push_back(*o);
  return all;
}

}  // namespace mote::schedule
