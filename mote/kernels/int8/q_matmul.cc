// Products of 8-bit matrices (or batches of them) with packed weights, and of pairs of matrices, whose right side is packed on the way.

#include "mote/ops/q_matmul/q_matmul.h"
#include "mote/kernels/common/rows_of.h"
#include "mote/kernels/int8/lines.h"
#include "mote/kernels/int8/multiply.h"

namespace mote::kernels::MOTE_ISA_NAME {
namespace {

using ops::q_matmul::Attrs;

class MatrixLeft {
 public:
  // Rows from x_first and y_first on.
  MatrixLeft(const Tensor& x, const Tensor& y, int32_t rows, int32_t x_first = 0, int32_t y_first = 0)
      : x_(x),
        y_(y),
        k_(x.dim(x.rank() - 1)),
        rows_(rows),
        x_first_(x_first),
        y_first_(y_first),
        end_(x_(x_first + (rows > 0 ? rows - 1 : 0)) + k_) {}
  static constexpr bool has_residual() { return false; }
  // Rows that lie and go one behind the other.
  Strip strip() const {
    if (x_.stride() < k_ || x_.neighbours(x_first_) < rows_ || y_.neighbours(y_first_) < rows_) return {};
    return {1, k_, x_.stride(), rows_};
  }
  Line line(int32_t first) const { return {x_(x_first_ + first), y_(y_first_ + first), nullptr, y_.stride(), 0, x_first_ + first, 1}; }
  template <class W>
  void write_run(int32_t first, int32_t count, int32_t, W& writer) const {
    writer.put(x_(x_first_ + first), strip().elements(count));
  }
  static LineShape lines() { return {}; }
  template <class W>
  static void write_line(int32_t, int32_t, int32_t, W&) {}
  // Rows that lie one behind the other, as WindowLeft has it.
  int32_t direct(int32_t first, int32_t count, int32_t bytes, const uint8_t** at, int64_t* stride) const {
    *at = x_(x_first_ + first);
    *stride = x_.stride();
    if (count > x_.neighbours(x_first_ + first)) count = x_.neighbours(x_first_ + first);
    while (count > 0 && *at + (count - 1) * *stride + bytes > end_) --count;
    return *stride >= 0 ? count : 0;
  }
  template <class F>
  MOTE_INLINE void visit(int32_t first, int32_t count, int32_t k_begin, int32_t k_end, const F& f) const {
    for (int32_t i = 0; i < count; ++i) {
      const int32_t row = x_first_ + first + i;
      f(i, y_(y_first_ + first + i), nullptr, row, [&](auto& writer) { writer.put(x_(row) + k_begin, k_end - k_begin); });
    }
  }

 private:
  RowsOf x_, y_;
  int32_t k_, rows_, x_first_, y_first_;
  const uint8_t* end_;
};

Status run(const OpContext& c) noexcept {
  const Attrs& a = c.attrs<Attrs>();
  const Tensor &x = c.input(0), &w = c.input(1), &y = c.output(0);
  const int32_t n = w.dim(0), k = w.dim(1);
  const Stage stage(c, a, nullptr);
  const Product p{n > 0 ? y.count() / n : 0, n, k, w.as<const int8_t>(), 0, x.dtype() == DType::s8};
  multiply(p, MatrixLeft(x, y, p.rows), stage, c.threads);
  return Status::kOk;
}

// Right sides are packed in parts of so many bytes.
constexpr int32_t kPackedBytes = 64 * 1024;

// `count` rows of k elements, `stride` bytes apart, as panels; `flip` is xored to the elements.
void pack_panels(const uint8_t* rows, int64_t stride, int32_t count, int32_t k, uint32_t flip, int8_t* to) {
  const int32_t steps = (k + 3) / 4;
  for (int32_t first = 0; first < count; first += kPanel, to += steps * kStepBytes) {
    for (int32_t n = 0; n < kPanel; ++n) {
      const uint8_t* row = rows + (first + n) * stride;
      for (int32_t step = 0; step < steps; ++step) {
        uint32_t v = 0;
        if (first + n >= count) v = 0;
        else if (step * 4 + 4 <= k) __builtin_memcpy(&v, row + step * 4, 4), v ^= flip;
        else
          for (int32_t i = step * 4; i < k; ++i) v |= (row[i] ^ (flip & 255)) << i % 4 * 8;
        __builtin_memcpy(to + step * kStepBytes + n * 4, &v, 4);
      }
    }
  }
}

// The matrices of one element of y's batch: first rows of x and y, and the right side.
struct Pair {
  int32_t x_row = 0, y_row = 0;
  const uint8_t* w;
  Pair(const Tensor& x, const Tensor& right, const Tensor& y, int32_t batch) : w(right.as<const uint8_t>()) {
    const int32_t rows = y.dim(y.rank() - 2);
    y_row = batch * rows;
    int32_t place = 1;  // of the dimension of x
    for (int i = y.rank() - 3; i >= 0; --i) {
      const int xi = i - (y.rank() - x.rank()), wi = i - (y.rank() - right.rank()), at = batch % y.dim(i);
      batch /= y.dim(i);
      if (xi >= 0) {
        if (x.dim(xi) != 1) x_row += at * place * rows;
        place *= x.dim(xi);
      }
      if (wi >= 0 && right.dim(wi) != 1) w += int64_t{at} * right.stride(wi);
    }
  }
};

Status run_pairs(const OpContext& c) noexcept {
  const Tensor &x = c.input(0), &w = c.input(1), &y = c.output(0);
  const int32_t n = w.dim(w.rank() - 2), k = w.dim(w.rank() - 1), rows = y.dim(y.rank() - 2), stride = w.stride(w.rank() - 2);
  if (y.count() == 0) return Status::kOk;
  const Stage stage(c, c.attrs<Attrs>(), nullptr);
  const int32_t batches = y.count() / (n * rows), panel_bytes = (k + 3) / 4 * kStepBytes, together = kPackedBytes / panel_bytes * kPanel;
  const uint32_t flip = w.dtype() == DType::u8 ? 0x80808080u : 0;
  split_rows(batches > 1 ? c.threads : nullptr, batches, static_cast<double>(rows) * n * k / 8 * batches, [&](int32_t batch) {
    alignas(64) int8_t packed[kPackedBytes];
    const Pair pair(x, w, y, batch);
    const MatrixLeft left(x, y, rows, pair.x_row, pair.y_row);
    for (int32_t first = 0; first < n; first += together) {
      const int32_t some = n - first < together ? n - first : together;
      pack_panels(pair.w + int64_t{first} * stride, stride, some, k, flip, packed);
      multiply(Product{rows, some, k, packed, first, x.dtype() == DType::s8}, left, stage, batches > 1 ? nullptr : c.threads);
    }
  });
  return Status::kOk;
}

KernelFn select_pairs(const OpContext& c) {
  const Tensor& w = c.input(1);
  const int32_t n = w.dim(w.rank() - 2), k = w.dim(w.rank() - 1);
  if (k == 0 || (k + 3) / 4 * kStepBytes > kPackedBytes || w.stride(w.rank() - 1) != 1) return nullptr;
  return pays(c.output(0).dim(c.output(0).rank() - 2), n, k, LineShape{}) ? &run_pairs : nullptr;
}

}  // namespace

KernelFn select_q_matmul(const OpContext& c) noexcept {
  const Tensor& w = c.input(1);
  const bool bytes = w.dtype() == DType::s8 || w.dtype() == DType::u8;
  if (!kPairsAlone && w.desc->layout == Layout::kPlain && bytes && Stage::can(c, c.attrs<Attrs>(), w.dtype())) return select_pairs(c);
  if (!is_panel16k4(w.desc->layout) || w.rank() != 2 || w.dim(1) == 0 || !Stage::can(c, c.attrs<Attrs>())) return nullptr;
  if (!pays(w.dim(0) > 0 ? c.output(0).count() / w.dim(0) : 0, w.dim(0), w.dim(1), LineShape{}) || !suits(w)) return nullptr;
  return &run;
}

}  // namespace mote::kernels::MOTE_ISA_NAME
