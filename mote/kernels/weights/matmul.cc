#include "mote/kernels/weights/matmul.h"

#include "mote/kernels/common/rows_of.h"
#include "mote/kernels/gemm/pieces.h"
#include "mote/kernels/weights/widen.h"
#include "mote/ops/matmul/matmul.h"

namespace mote::kernels::MOTE_ISA_NAME {
namespace {

using ops::matmul::Attrs;

struct GroupedFactors {
  RowsOf left, out, more;
  bool has_more;
  int32_t n, k;
  const uint8_t* a(int32_t row) const { return left(row); }
  uint8_t* y(int32_t row) const { return out(row); }
  const uint8_t* residual(int32_t row) const { return has_more ? more(row) : nullptr; }
};

template <class P>
Status run_grouped(const OpContext& c) noexcept {
  const Attrs& attrs = c.attrs<Attrs>();
  const Tensor &a = c.input(0), &w = c.input(1), &y = c.output(0), &scales = c.input(4);
  const int32_t n = w.dim(0), k = w.dim(1), m = n > 0 ? y.count() / n : 0;
  if (y.count() == 0) return Status::kOk;
  const bool half = scales.dtype() == DType::f16, grouped = attrs.group_size > 0 && attrs.group_size < k;
  const GroupScales s = {half ? nullptr : scales.as<const float>(),
                         half ? scales.as<const f16>() : nullptr,
                         c.has_input(5) ? c.input(5).as<const int8_t>() : nullptr,
                         scales.stride(0) / (half ? 2 : 4),
                         c.has_input(5) ? c.input(5).stride(0) : 0,
                         grouped ? attrs.group_size : k};
  const int64_t panel_words = int64_t{(k + P::kStep - 1) / P::kStep} * kPanel;
  const float* bias = c.has_input(2) ? c.input(2).as<const float>() : nullptr;
  const Finish last(bias, nullptr, attrs.alpha, attrs.activation, attrs.act_a, attrs.act_b), plain(nullptr, nullptr, attrs.alpha, 0, 0, 0);
  const GroupedFactors f = {RowsOf(a), RowsOf(y), RowsOf(c.has_input(3) ? c.input(3) : y), c.has_input(3), n, k};
  const int32_t columns = (n + kWidth - 1) / kWidth;
  const uint32_t helpers = useful_threads(c.threads, static_cast<double>(m) * n * k);
  const int32_t row_parts = row_parts_of(columns, m, helpers);
  parallel_for(helpers > 1 ? c.threads : nullptr, static_cast<uint32_t>(columns * row_parts), [&](uint32_t part) {
    const int32_t i = static_cast<int32_t>(part);
    const Range rows = part_of(m, part % static_cast<uint32_t>(row_parts), static_cast<uint32_t>(row_parts));
    if (rows.size == 0) return;
    multiply_columns(f, rows.first, rows.size, i / row_parts * kWidth, last, plain,
                     [&](int32_t first, int32_t depth, int32_t column, int32_t count, float* panel) {
                       widen_panel<P>(w.as<const int32_t>() + column / kPanel * panel_words, s, first, depth, column, count, panel);
                     });
  });
  return Status::kOk;
}

}  // namespace

KernelFn select_matmul_grouped(const OpContext& c) noexcept {
  const Attrs& a = c.attrs<Attrs>();
  const Tensor &left = c.input(0), &w = c.input(1);
  const bool nibbles = w.dtype() == DType::s4;
  if (left.dtype() != DType::f32 || !c.has_input(4) || a.transpose_a != 0 || w.dim(1) == 0 || w.dim(0) == 0) return nullptr;
  if (nibbles ? w.desc->layout != Layout::kPanel16k8 : !is_panel16k4(w.desc->layout)) return nullptr;
  const bool grouped = a.group_size > 0 && a.group_size < w.dim(1);
  if ((a.group_size > 0 && a.groups_first == 0) || (grouped && a.group_size % (nibbles ? 8 : 4) != 0)) return nullptr;
  if (c.has_input(2) && (c.input(2).rank() < 1 || c.input(2).count() != w.dim(0) || c.input(2).dim(c.input(2).rank() - 1) != w.dim(0)))
    return nullptr;
  return nibbles ? &run_grouped<NibblesOfWord> : &run_grouped<BytesOfWord>;
}

}  // namespace mote::kernels::MOTE_ISA_NAME
