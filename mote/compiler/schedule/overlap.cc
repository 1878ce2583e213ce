#include "mote/compiler/schedule/overlap.h"

#include <algorithm>
#include <optional>

#include "mote/compiler/schedule/strips.h"

namespace mote::schedule {
namespace {

// Where the first pixel of the window in this row or column lies.
int64_t first_of(const ops::WindowDim& d, int64_t i) { return std::clamp<int64_t>(i * d.stride - d.pad_begin, 0, d.in - 1); }

// How far the output must lie in front of the input: when pixel (r, c) is written, that and all further ones have still to be read.
int64_t distance_of(const ops::Window& w, const TensorDesc& x, const TensorDesc& y) {
  const int64_t size = dtype_bits(y.dtype) / 8, pixel = int64_t{y.dims[3]} * size;
  const int64_t rows = y.dims[1], columns = y.dims[2], edge = w.dim[1].pad_begin / w.dim[1].stride;
  int64_t most = INT64_MIN;
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t row = first_of(w.dim[0], r) * x.strides[1];
    const int64_t next = r + 1 < rows ? first_of(w.dim[0], r + 1) * x.strides[1] : INT64_MAX;
    // Linear in c, but where the padding ends.
    for (const int64_t at : {int64_t{0}, edge, edge + 1, columns - 1}) {
      const int64_t c = std::clamp<int64_t>(at, 0, columns - 1);
      const int64_t written = r * y.strides[1] + c * y.strides[2] + pixel;
      most = std::max(most, written - std::min(row + first_of(w.dim[1], c) * x.strides[2], next));
    }
  }
  return most;
}

bool is_image(const TensorDesc& d) {
  return d.storage == Storage::kArena && d.rank == 4 && d.dims[0] == 1 && d.dims[1] > 0 && d.dims[2] > 0 && d.dynamic == 0 &&
         d.ring_rows == 0 && d.layout == Layout::kPlain;
}

std::optional<Overlap> overlap_of(const Plan& plan, uint32_t i, const std::vector<emit::Life>& lives) {
  const Step& s = plan.steps[i];
  if (!s.in_order || s.rows.rows != 0 || s.inputs.empty() || s.outputs.size() != 1 || s.inputs[0] < 0 || s.outputs[0] < 0) return {};
  const Tensor &x = plan.tensor(s.inputs[0]), &y = plan.tensor(s.outputs[0]);
  const std::optional<ops::Window> window = window_of(plan, s);
  if (!window || window->rank > 2 || !is_image(x.desc) || !is_image(y.desc) || x.place == y.place) return {};
  if (x.desc.strides[2] != x.desc.dims[3] * x.desc.strides[3]) return {};  // as kernels want it: pixels side by side
  const auto &ends = lives[static_cast<size_t>(x.place)], &begins = lives[static_cast<size_t>(y.place)];
  if (ends.last != i || begins.first != i || plan.buffers[static_cast<size_t>(x.place)].state) return {};
  // Other operands are read in their own order.
  for (size_t k = 1; k < s.inputs.size(); ++k) {
    if (s.inputs[k] < 0) continue;
    const Tensor& t = plan.tensor(s.inputs[k]);
    if ((t.desc.storage == Storage::kArena || t.desc.storage == Storage::kState) && t.place == x.place) return {};
  }
  const int64_t distance = distance_of(*window, x.desc, y.desc) + static_cast<int64_t>(y.at) - static_cast<int64_t>(x.at);
  return Overlap{i, y.place, x.place, distance};
}

}  // namespace

std::vector<Overlap> find_overlaps(const Plan& plan, const std::vector<emit::Life>& lives) {
  std::vector<Overlap> all;
  for (uint32_t i = 0; i < plan.steps.size(); ++i)
    if (const std::optional<Overlap> o = overlap_of(plan, i, lives)) all.push_back(*o);
  return all;
}

}  // namespace mote::schedule
