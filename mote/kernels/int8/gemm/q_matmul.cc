// 8-bit matrix products: with constant weights that the compiler packed, and (batched) with an RHS that is packed at run time.

#include "mote/ops/q_matmul/q_matmul.h"
#include "mote/kernels/common/tensor_rows.h"
#include "mote/kernels/int8/gemm/gemm.h"
#include "mote/kernels/int8/gemm/padded_rows.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {
namespace {

using ops::q_matmul::Attrs;

class MatrixRowSource {
 public:
  // `rows` rows, from row x_first of x and row y_first of y on.
  MatrixRowSource(const Tensor& x, const Tensor& y, int32_t rows, int32_t x_first = 0, int32_t y_first = 0)
      : x_(x),
        y_(y),
        k_(x.dim(x.rank() - 1)),
        rows_(rows),
        x_first_(x_first),
        y_first_(y_first),
        end_(x_(x_first + (rows > 0 ? rows - 1 : 0)) + k_) {}
  static constexpr bool has_residual() { return false; }
  // One run (the row itself) where all rows have the same stride in x and in y.
  RunLayout run_layout() const {
    if (x_.stride() < k_ || x_.evenly_spaced(x_first_) < rows_ || y_.evenly_spaced(y_first_) < rows_) return {};
    return {1, k_, x_.stride(), rows_, true};
  }
  RowCursor cursor(int32_t first) const {
    return {x_(x_first_ + first), y_(y_first_ + first), nullptr, y_.stride(), 0, x_first_ + first, 1};
  }
  template <class Packer>
  void write_run(int32_t first, int32_t count, int32_t, Packer& packer) const {
    packer.put(x_(x_first_ + first), run_layout().elements(count));
  }
  static PaddedRowsShape padded_shape() { return {}; }
  template <class Packer>
  static void write_padded_row(int32_t, int32_t, int32_t, Packer&) {}
  // As ConvRowSource::rows_in_place.
  int32_t rows_in_place(int32_t first, int32_t count, int32_t bytes, const uint8_t** first_row, int64_t* stride) const {
    *first_row = x_(x_first_ + first);
    *stride = x_.stride();
    if (count > x_.evenly_spaced(x_first_ + first)) count = x_.evenly_spaced(x_first_ + first);
    while (count > 0 && *first_row + (count - 1) * *stride + bytes > end_) --count;
    return *stride >= 0 ? count : 0;
  }
  template <class F>
  MOTE_INLINE void visit_rows(int32_t first, int32_t count, int32_t k_begin, int32_t k_end, const F& f) const {
    for (int32_t i = 0; i < count; ++i) {
      const int32_t row = x_first_ + first + i;
      f(i, y_(y_first_ + first + i), nullptr, row, [&](auto& packer) { packer.put(x_(row) + k_begin, k_end - k_begin); });
    }
  }

 private:
  TensorRows x_, y_;
  int32_t k_, rows_, x_first_, y_first_;
  const uint8_t* end_;
};

Status q_matmul_s8(const OpContext& c) noexcept {
  const Attrs& a = c.attrs<Attrs>();
  const Tensor &x = c.input(0), &w = c.input(1), &y = c.output(0);
  const int32_t n = w.dim(0), k = w.dim(1);
  const RequantEpilogue epilogue(c, a, nullptr);
  const GemmShape p{n > 0 ? y.count() / n : 0, n, k, w.as<const int8_t>(), 0, x.dtype() == DType::s8};
  gemm_s8(p, MatrixRowSource(x, y, p.rows), epilogue, c.threads);
  return Status::kOk;
}

// Bytes of the RHS that are packed at a time.
constexpr int32_t kPackedRhsBytes = 64 * 1024;

// Packs `count` RHS rows of k elements, `stride` bytes apart, into panels. sign_flip is XORed to the elements: it turns u8 into s8.
void pack_rhs_panels(const uint8_t* rows, int64_t stride, int32_t count, int32_t k, uint32_t sign_flip, int8_t* to) {
  const int32_t k_groups = (k + 3) / 4;
  for (int32_t first = 0; first < count; first += kPanel, to += k_groups * kKGroupBytes) {
    for (int32_t n = 0; n < kPanel; ++n) {
      const uint8_t* row = rows + (first + n) * stride;
      for (int32_t group = 0; group < k_groups; ++group) {
        uint32_t v = 0;
        if (first + n >= count) v = 0;
        else if (group * 4 + 4 <= k) __builtin_memcpy(&v, row + group * 4, 4), v ^= sign_flip;
        else
          for (int32_t i = group * 4; i < k; ++i) v |= (row[i] ^ (sign_flip & 255)) << i % 4 * 8;
        __builtin_memcpy(to + group * kKGroupBytes + n * 4, &v, 4);
      }
    }
  }
}

// The matrices of batch element `batch` of y: first rows of x and y, and the RHS.
struct BatchOperands {
  int32_t x_row = 0, y_row = 0;
  const uint8_t* w;
  BatchOperands(const Tensor& x, const Tensor& rhs, const Tensor& y, int32_t batch) : w(rhs.as<const uint8_t>()) {
    const int32_t rows = y.dim(y.rank() - 2);
    y_row = batch * rows;
    int32_t x_batch_stride = 1;  // matrices of x in one step of the dimension
    for (int i = y.rank() - 3; i >= 0; --i) {
      const int xi = i - (y.rank() - x.rank()), wi = i - (y.rank() - rhs.rank()), index = batch % y.dim(i);
      batch /= y.dim(i);
      if (xi >= 0) {
        if (x.dim(xi) != 1) x_row += index * x_batch_stride * rows;
        x_batch_stride *= x.dim(xi);
      }
      if (wi >= 0 && rhs.dim(wi) != 1) w += int64_t{index} * rhs.stride(wi);
    }
  }
};

Status q_matmul_s8_dynamic(const OpContext& c) noexcept {
  const Tensor &x = c.input(0), &w = c.input(1), &y = c.output(0);
  const int32_t n = w.dim(w.rank() - 2), k = w.dim(w.rank() - 1), rows = y.dim(y.rank() - 2), stride = w.stride(w.rank() - 2);
  if (y.count() == 0) return Status::kOk;
  const RequantEpilogue epilogue(c, c.attrs<Attrs>(), nullptr);
  const int32_t batches = y.count() / (n * rows), panel_bytes = (k + 3) / 4 * kKGroupBytes,
                outputs_per_pack = kPackedRhsBytes / panel_bytes * kPanel;
  const uint32_t sign_flip = w.dtype() == DType::u8 ? 0x80808080u : 0;
  split_rows(batches > 1 ? c.threads : nullptr, batches, static_cast<double>(rows) * n * k / 8 * batches, [&](int32_t batch) {
    alignas(64) int8_t packed[kPackedRhsBytes];
    const BatchOperands operands(x, w, y, batch);
    const MatrixRowSource lhs(x, y, rows, operands.x_row, operands.y_row);
    for (int32_t first = 0; first < n; first += outputs_per_pack) {
      const int32_t count = n - first < outputs_per_pack ? n - first : outputs_per_pack;
      pack_rhs_panels(operands.w + int64_t{first} * stride, stride, count, k, sign_flip, packed);
      gemm_s8(GemmShape{rows, count, k, packed, first, x.dtype() == DType::s8}, lhs, epilogue, batches > 1 ? nullptr : c.threads);
    }
  });
  return Status::kOk;
}

KernelFn select_dynamic(const OpContext& c) {
  const Tensor& w = c.input(1);
  const int32_t n = w.dim(w.rank() - 2), k = w.dim(w.rank() - 1);
  if (k == 0 || (k + 3) / 4 * kKGroupBytes > kPackedRhsBytes || w.stride(w.rank() - 1) != 1) return nullptr;
  return is_profitable(c.output(0).dim(c.output(0).rank() - 2), n, k, PaddedRowsShape{}) ? &q_matmul_s8_dynamic : nullptr;
}

}  // namespace

KernelFn select_q_matmul(const OpContext& c) noexcept {
  const Tensor& w = c.input(1);
  const bool bytes = w.dtype() == DType::s8 || w.dtype() == DType::u8;
  if (!kMaddubsOnly && w.desc->layout == Layout::kPlain && bytes && RequantEpilogue::supports(c, c.attrs<Attrs>(), w.dtype()))
    return select_dynamic(c);
  if (!is_panel16k4(w.desc->layout) || w.rank() != 2 || w.dim(1) == 0 || !RequantEpilogue::supports(c, c.attrs<Attrs>())) return nullptr;
  if (!is_profitable(w.dim(0) > 0 ? c.output(0).count() / w.dim(0) : 0, w.dim(0), w.dim(1), PaddedRowsShape{}) || !supports_weights(w))
    return nullptr;
  return &q_matmul_s8;
}

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
