#pragma once

// How the GEMM reads the rows of its LHS: what a row source (ConvRowSource, MatrixRowSource) says about them, and the strategy that is
// chosen from it once per GEMM. A row source has
//   run_layout()                                   whether neighbouring rows overlap or are adjacent; see RunLayout
//   cursor(first)                                  where the rows of a group lie, from row `first` on; only with a run_layout()
//   write_run(first, count, run, packer)           puts what run `run` of `count` rows reads into an LhsPacker; only with a run_layout()
//   visit_rows(first, count, k_begin, k_end, f)    calls f(i, out, residual, quant_index, write) for `count` rows, where write(packer) puts
//                                                  elements [k_begin, k_end) of row i into an LhsPacker
//   has_residual()
// and, for AMX (gemm_amx.h): rows_in_place(), padded_shape(), write_padded_row().

#include "mote/kernels/int8/gemm/microkernel.h"
#include "mote/kernels/int8/requantize/epilogue.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {

// Weights: panels (N / 16, K / 4, 16, 4) of outputs `first_output` and on.
struct GemmShape {
  int32_t rows, outputs, k;
  const int8_t* weights;
  int32_t first_output;
  bool is_signed;  // the LHS is s8, not u8
};

// Elements of a row that are packed at a time; the K of longer rows is split.
inline constexpr int32_t kMaxPackedK = 30 * 1024 / static_cast<int32_t>(kTileRows * sizeof(Lhs)) / kChunk * kChunk;

// Bytes in which LhsPacker may gather a row before it encodes it; with AVX-512 it gathers in a register.
#if defined(__AVX512BW__)
inline constexpr int32_t kGatherBytes = 64;
#else
inline constexpr int32_t kGatherBytes = kTileRows * kMaxPackedK + 64;
#endif

// Bytes for runs from which rows are copied (8-bit LHS only).
inline constexpr int32_t kCopiedRunBytes = sizeof(Lhs) == 1 ? 2048 : 0;

// Bytes for weights whose runs are padded to whole K groups; 0: never done. Not with vpmaddubsw: padding pairs weights with other
// neighbours than those that were checked for saturation (dot_maddubs.h).
#if HWY_ARCH_X86 && !defined(MOTE_ISA_MADDUBS)
inline constexpr int32_t kPaddedWeightBytes = 12 * 1024;
#else
inline constexpr int32_t kPaddedWeightBytes = 0;
#endif

// Rows of the LHS that consist of `runs` runs of adjacent elements (the rows of a convolution's window), where run i of a row starts
// row_stride elements behind run i of the row before it: for a whole group of `width` rows (the windows of one output row) a run is one
// contiguous piece of the input. All in elements. runs == 0: rows have no such layout.
struct RunLayout {
  int32_t runs = 0, run_length = 0, row_stride = 0, width = 0;
  bool in_place = false;  // one run, and every row lies in the input without padding, so that it can be read there
  int32_t elements(int32_t rows) const { return (rows - 1) * row_stride + run_length; }  // what one run of `rows` rows spans
  int32_t k_groups() const { return (run_length + 3) / 4; }                              // of a run
};

// Position in a group of rows.
struct RowCursor {
  const uint8_t* in;  // the first row in the input; null unless RunLayout::in_place
  uint8_t* out;
  const uint8_t* residual;
  int64_t out_step, residual_step;            // bytes from row to row
  int32_t quant_index, quant_index_step = 0;  // index of the row's scale and zero point, and its step from row to row

  MOTE_INLINE void advance(int32_t rows, int32_t row_stride) {
    if (in != nullptr) in += int64_t{rows} * row_stride;
    out += rows * out_step;
    quant_index += rows * quant_index_step;
    if (residual != nullptr) residual += rows * residual_step;
  }
};

inline int32_t round_up_to_chunk(int32_t elements) { return (elements + kChunk - 1) / kChunk * kChunk; }

// What the micro-kernel reads as LHS. Ordered: the first three read runs, the first four need a RunLayout.
enum class RowAccess : uint8_t {
  kInPlace,     // the input itself
  kSharedRuns,  // runs, packed once per tile: overlapping rows share elements
  kPaddedRuns,  // runs, packed once per group; weights are padded so that every run consists of whole K groups
  kCopiedRuns,  // rows, copied from runs that are packed once per tile
  kPackedRows,  // rows, packed one by one
  kSplitK,      // blocks of kMaxPackedK elements of rows, packed one by one
};
inline bool microkernel_reads_runs(RowAccess a) { return a <= RowAccess::kPaddedRuns; }
inline bool rows_in_groups(RowAccess a) { return a <= RowAccess::kCopiedRuns; }

// Run lengths that are no multiple of four but not much shorter than one, where padded weights of a tile and runs of a whole group fit.
inline bool fits_padded_runs(const RunLayout& s) {
  if (kPaddedWeightBytes == 0 || s.runs < 2 || s.run_length % 4 == 0) return false;
  constexpr int32_t kPanels = kTileOutputs > kPanel ? kTileOutputs / kPanel : 1;
  return s.k_groups() * 8 <= s.run_length * 3 && s.runs * s.k_groups() * kKGroupBytes * kPanels <= kPaddedWeightBytes &&
         s.runs * round_up_to_chunk(s.elements(s.width)) <= kTileRows * kMaxPackedK;
}
inline bool fits_shared_runs(const RunLayout& s) {
  return s.run_length % 4 == 0 && s.runs * round_up_to_chunk(s.elements(kTileRows)) <= kTileRows * kMaxPackedK;
}
// A single run is what kPackedRows copies anyway.
inline bool fits_copied_runs(const RunLayout& s) {
  return s.runs > 1 && s.runs * s.run_length <= kMaxPackedK && s.runs * round_up_to_chunk(s.elements(kTileRows)) <= kCopiedRunBytes;
}

// Prefers what copies least. Row sums of the LHS (for zero points of weights) and zero points that vary by row need rows packed one by one.
inline RowAccess choose_row_access(const GemmShape& p, const RunLayout& layout, const RequantEpilogue& epilogue) {
  if (layout.runs > 0 && !epilogue.has_w_zero() && !epilogue.x_zero_varies()) {
    if (fits_padded_runs(layout)) return RowAccess::kPaddedRuns;
    if (fits_shared_runs(layout)) {
      const bool identity = LhsEncoding(p.is_signed, epilogue.x_zero(0)).is_identity();
      return layout.in_place && identity ? RowAccess::kInPlace : RowAccess::kSharedRuns;
    }
    if (fits_copied_runs(layout)) return RowAccess::kCopiedRuns;
  }
  return p.k <= kMaxPackedK ? RowAccess::kPackedRows : RowAccess::kSplitK;
}

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
