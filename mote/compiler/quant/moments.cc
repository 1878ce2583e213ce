#include "mote/compiler/quant/moments.h"

#include <algorithm>

#include "mote/compiler/passes/linear.h"
#include "mote/ops/conv/conv.h"
#include "mote/ops/matmul/matmul.h"

namespace mote::quant {
namespace {

constexpr int64_t kMaxColumns = 4608;  // 3 x 3 x 512: a matrix of 81 MiB

const float* floats(const driver::Array& x) { return reinterpret_cast<const float*>(x.data.data()); }

}  // namespace

InputMoments::InputMoments(const ir::Node& n) {
  const ir::Type& w = n.inputs[passes::kWeights]->type;
  if (n.is(OpId::matmul)) {
    const auto a = n.attributes<ops::matmul::Attrs>();
    if (a.transpose_a == 0) columns_ = w.dims[a.transpose_b != 0 ? 1 : 0];
  }
  if (n.is(OpId::conv)) {
    const auto a = n.attributes<ops::conv::Attrs>();
    window_ = true;
    groups_ = a.groups;
    spatial_ = w.rank() - 2;
    channels_ = w.dims.back();
    columns_ = w.count() / std::max<int64_t>(1, w.dims[0]);
    for (int i = 0; i < spatial_; ++i) {
      kernel_[i] = w.dims[static_cast<size_t>(i + 1)];
      strides_[i] = a.strides[i];
      dilations_[i] = a.dilations[i];
      pads_begin_[i] = a.pads_begin[i];
      pads_end_[i] = a.pads_end[i];
    }
  }
  if (columns_ > kMaxColumns) columns_ = 0;
}

void InputMoments::start() {
  sums_.assign(static_cast<size_t>(groups_ * columns_), 0);
  products_.assign(static_cast<size_t>(groups_ * columns_ * columns_), 0);
}

// im2col of one output pixel, group after group.
void InputMoments::read_window(const driver::Array& x, const int64_t* place, int64_t batch, std::vector<float>* row) const {
  const int64_t all = channels_ * groups_;
  int64_t tap = 0;
  for (int64_t a = 0; a < kernel_[0]; ++a)
    for (int64_t b = 0; b < kernel_[1]; ++b)
      for (int64_t c = 0; c < kernel_[2]; ++c, ++tap) {
        const int64_t at[3] = {a, b, c};
        int64_t offset = batch;
        bool inside = true;
        for (int i = 0; i < spatial_; ++i) {
          const int64_t p = place[i] * strides_[i] + at[i] * dilations_[i] - pads_begin_[i], size = x.dims[static_cast<size_t>(i + 1)];
          inside &= p >= 0 && p < size;
          offset = offset * size + p;
        }
        for (int64_t g = 0; g < groups_; ++g) {
          float* to = row->data() + g * columns_ + tap * channels_;
          if (inside) std::copy_n(floats(x) + offset * all + g * channels_, channels_, to);
          else std::fill_n(to, channels_, 0.0f);
        }
      }
}

void InputMoments::add_row(const float* row) {
  for (int64_t g = 0; g < groups_; ++g) {
    const float* x = row + g * columns_;
    float *sums = sums_.data() + g * columns_, *matrix = products_.data() + g * columns_ * columns_;
    for (int64_t i = 0; i < columns_; ++i) {
      sums[i] += x[i];
      const float v = x[i];
      if (v == 0) continue;
      float* line = matrix + i * columns_;
      for (int64_t k = i; k < columns_; ++k) line[k] += v * x[k];
    }
  }
  ++rows_;
}

void InputMoments::add(const driver::Array& x) {
  int64_t places = 1, sizes[3] = {1, 1, 1};
  const size_t rank = x.dims.size();
  const bool fits =
      window_ ? rank == static_cast<size_t>(spatial_ + 2) && x.dims.back() == channels_ * groups_ : rank >= 1 && x.dims.back() == columns_;
  if (!fits || x.dtype != DType::f32) return;
  if (window_) {
    for (int i = 0; i < spatial_; ++i) {
      const int64_t reach = (kernel_[i] - 1) * dilations_[i] + 1;
      sizes[i] = (x.dims[static_cast<size_t>(i + 1)] + pads_begin_[i] + pads_end_[i] - reach) / strides_[i] + 1;
      places *= std::max<int64_t>(0, sizes[i]);
    }
    places *= x.dims[0];
  } else {
    for (size_t i = 0; i + 1 < rank; ++i) places *= x.dims[i];
  }
  const int64_t taken = std::min(places, kRowsPerSample);
  std::vector<float> row(static_cast<size_t>(groups_ * columns_));
  for (int64_t t = 0; t < taken; ++t) {
    // Offset by the number of rows so far, so that the next sample contributes other pixels.
    int64_t p = (t * places / taken + static_cast<int64_t>(rows_) * 7919) % places;
    if (!window_) {
      add_row(floats(x) + p * columns_);
      continue;
    }
    int64_t place[3] = {};
    for (int i = spatial_; i-- > 0; p /= sizes[i]) place[i] = p % sizes[i];
    read_window(x, place, p, &row);
    add_row(row.data());
  }
}

std::vector<float> InputMoments::mean(int64_t group) const {
  std::vector<float> m(static_cast<size_t>(columns_));
  for (int64_t i = 0; i < columns_; ++i)
    m[static_cast<size_t>(i)] = sums_[static_cast<size_t>(group * columns_ + i)] / static_cast<float>(std::max<uint64_t>(1, rows_));
  return m;
}

std::vector<float> InputMoments::covariance(int64_t group) const {
  const std::vector<float> m = mean(group);
  const auto n = static_cast<size_t>(columns_);
  const float* matrix = products_.data() + group * columns_ * columns_;
  const float part = 1.0f / static_cast<float>(std::max<uint64_t>(1, rows_));
  std::vector<float> c(n * n);
  for (size_t i = 0; i < n; ++i)
    for (size_t k = i; k < n; ++k) c[i * n + k] = c[k * n + i] = matrix[i * n + k] * part - m[i] * m[k];
  return c;
}

}  // namespace mote::quant
