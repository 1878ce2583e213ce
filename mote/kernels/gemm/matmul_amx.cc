// matmul of f32 rows with bf16 weights on AMX. An f32 is exactly the sum of three bf16 (its 24-bit significand in three parts), so each
// step multiplies the weights three times, and only the accumulation rounds.

#include "mote/kernels/common/activate.h"
#include "mote/kernels/common/parallel.h"
#include "mote/kernels/common/tensor_rows.h"
#include "mote/kernels/common/tiles_amx.h"
#include "mote/ops/matmul/matmul.h"

// Slow activations are shared with the variant that this one extends.
namespace mote::kernels::avx512 {
void (*activate_row_for(uint32_t kind))(float, float, float* const*, int32_t, int64_t, int32_t);
}  // namespace mote::kernels::avx512

namespace mote::kernels::MOTE_ISA_NAME::gemm {
namespace {

using ops::matmul::Attrs;

constexpr int32_t kTileRows = 16, kBlockRows = 2 * kTileRows;  // LHS rows of a tile register, and of a row block
constexpr int32_t kStep = 32;                                  // k of a tile
constexpr int32_t kBlockK = 256;                               // k of a block of the LHS, which is split into bf16 at once
constexpr int32_t kBlockOutputs = 256;                         // outputs whose accumulators are kept together
constexpr int32_t kPanelOutputs = 16, kTileBytes = 1024;
constexpr int kParts = 3;

// Working memory of a thread, on its stack.
struct Work {
  alignas(64) uint8_t lhs[2][kBlockK / kStep][kParts][kTileBytes];
  alignas(64) uint8_t last[kBlockOutputs / kPanelOutputs][kTileBytes];  // the K tail of each panel, zero-padded
  alignas(64) float accumulators[kBlockRows][kBlockOutputs];
};

class MatmulBf16Amx {
 public:
  explicit MatmulBf16Amx(const OpContext& c)
      : a_(c.attrs<Attrs>()),
        x_(c.input(0)),
        y_(c.output(0)),
        residual_(c.has_input(3) ? c.input(3) : c.output(0)),
        has_residual_(c.has_input(3)),
        bias_(c.has_input(2) ? c.input(2).as<const float>() : nullptr),
        scales_(c.has_input(4) ? c.input(4).as<const float>() : nullptr),
        weights_(c.input(1).as<const uint8_t>()),
        n_(c.input(1).dim(0)),
        k_(c.input(1).dim(1)),
        rows_(n_ > 0 ? c.output(0).count() / n_ : 0),
        bounds_(a_.activation, a_.act_a, a_.act_b) {
    if (bounds_.needs_function) slow_activation_ = avx512::activate_row_for(a_.activation);
  }

  void compute(const Threads* threads) const {
    const int32_t blocks = (rows_ + kBlockRows - 1) / kBlockRows, panels = (n_ + kPanelOutputs - 1) / kPanelOutputs;
    const BytesMoved bytes{int64_t{rows_} * k_ * 4, panels * panel_bytes(), int64_t{rows_} * n_ * 4};
    const TilePartition split(blocks, blocks, panels, 2, static_cast<double>(rows_) * n_ * k_ / 4, threads, bytes);
    split.run([&](int32_t first_block, int32_t block_count, int32_t first_panel, int32_t panel_count) {
      AmxScope tiles;
      Work work;
      const int32_t end = (first_panel + panel_count) * kPanelOutputs, last = end < n_ ? end : n_;
      for (int32_t first = first_panel * kPanelOutputs; first < last; first += kBlockOutputs) {
        const int32_t count = last - first < kBlockOutputs ? last - first : kBlockOutputs;
        copy_k_tail(first, count, &work);
        for (int32_t block = first_block; block < first_block + block_count; ++block) {
          const int32_t row = block * kBlockRows;
          multiply_block(row, rows_ - row < kBlockRows ? rows_ - row : kBlockRows, first, count, &work);
        }
      }
    });
  }

 private:
  int64_t panel_bytes() const { return int64_t{(k_ + 1) / 2} * 64; }
  const uint8_t* panel(int32_t output) const { return weights_ + output / kPanelOutputs * panel_bytes(); }

  // Copies the K tail of the panels with zeros behind it. The LHS is zero there too, but 0 times a NaN or infinity behind the panel is NaN.
  void copy_k_tail(int32_t first, int32_t count, Work* work) const {
    const int32_t rest = k_ % kStep;
    for (int32_t i = 0; rest != 0 && i < count; i += kPanelOutputs) {
      const uint8_t* from = panel(first + i) + int64_t{k_ - rest} / 2 * 64;
      uint8_t* to = work->last[i / kPanelOutputs];
      for (int32_t pair = 0; pair < kStep / 2; ++pair) {
        const int32_t remaining = rest - pair * 2;
        __m512i v = remaining > 0 ? _mm512_loadu_si512(from + pair * 64) : _mm512_setzero_si512();
        if (remaining == 1) v = _mm512_and_si512(v, _mm512_set1_epi32(0xffff));
        _mm512_store_si512(to + pair * 64, v);
      }
    }
  }

  // Splits 32 f32 into three times 32 bf16. Infinities and NaN appear in the first part alone.
  static MOTE_INLINE void split_floats(__m512 a, __m512 b, uint8_t (*to)[kTileBytes]) {
    alignas(64) static constexpr uint16_t kUpper[32] = {1,  3,  5,  7,  9,  11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31,
                                                        33, 35, 37, 39, 41, 43, 45, 47, 49, 51, 53, 55, 57, 59, 61, 63};
    const __m512i upper = _mm512_load_si512(kUpper);
    constexpr int kNotFinite = 0x01 | 0x08 | 0x10 | 0x80;
    const auto quiet = [](__m512 v) MOTE_LAMBDA {
      const __m512i bits = _mm512_castps_si512(v);
      return _mm512_castsi512_ps(_mm512_mask_or_epi32(bits, _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q), bits, _mm512_set1_epi32(0x400000)));
    };
    const auto top = [](__m512 v) MOTE_LAMBDA {
      return _mm512_castsi512_ps(_mm512_and_si512(_mm512_castps_si512(v), _mm512_set1_epi32(static_cast<int>(0xffff0000u))));
    };
    const __mmask16 finite_a = _knot_mask16(_mm512_fpclass_ps_mask(a, kNotFinite)),
                    finite_b = _knot_mask16(_mm512_fpclass_ps_mask(b, kNotFinite));
    a = quiet(a), b = quiet(b);
    for (int part = 0; part < kParts; ++part) {
      _mm512_store_si512(to[part], _mm512_permutex2var_epi16(_mm512_castps_si512(a), upper, _mm512_castps_si512(b)));
      a = _mm512_maskz_sub_ps(finite_a, a, top(a));
      b = _mm512_maskz_sub_ps(finite_b, b, top(b));
    }
  }

  void split_rows(int32_t row, int32_t count, int32_t k, int32_t depth, Work* work) const {
    for (int32_t i = 0; i < kBlockRows; ++i) {
      const float* from = reinterpret_cast<const float*>(x_(row + (i < count ? i : 0))) + k;
      for (int32_t at = 0; at < depth; at += kStep) {
        const int32_t remaining = i < count ? depth - at : 0;
        const auto mask = [&](int32_t first) MOTE_LAMBDA {
          const int32_t n = remaining - first;
          return static_cast<__mmask16>(n >= 16 ? 0xffff : n <= 0 ? 0 : (1 << n) - 1);
        };
        uint8_t(*to)[kTileBytes] = work->lhs[i / kTileRows][at / kStep];
        split_floats(_mm512_maskz_loadu_ps(mask(0), from + at), _mm512_maskz_loadu_ps(mask(16), from + at + 16),
                     reinterpret_cast<uint8_t(*)[kTileBytes]>(to[0] + i % kTileRows * 64));
      }
    }
  }

  // 32 rows times two panels over `steps` steps of K. Tiles 0 to 3 are accumulators, 4 and 5 the LHS, 6 and 7 weights.
  // last: replacements for the weights' last step, or null; first_block: accumulators start at 0.
  static void multiply_panels(const Work& work, const uint8_t* const* weights, const uint8_t* const* last, int32_t steps, bool first_block,
                              float* accumulators) {
    constexpr int64_t kStride = kBlockOutputs * 4;
    float* const lower = accumulators + kTileRows * kBlockOutputs;
    if (first_block) {
      _tile_zero(0);
      _tile_zero(1);
      _tile_zero(2);
      _tile_zero(3);
    } else {
      _tile_loadd(0, accumulators, kStride);
      _tile_loadd(1, accumulators + kPanelOutputs, kStride);
      _tile_loadd(2, lower, kStride);
      _tile_loadd(3, lower + kPanelOutputs, kStride);
    }
    for (int32_t step = 0; step < steps; ++step) {
      const bool k_tail = step + 1 == steps && last[0] != nullptr;
      _tile_loadd(6, k_tail ? last[0] : weights[0] + step * kTileBytes, 64);
      _tile_loadd(7, k_tail ? last[1] : weights[1] + step * kTileBytes, 64);
      for (int part = 0; part < kParts; ++part) {
        _tile_loadd(4, work.lhs[0][step][part], 64);
        _tile_loadd(5, work.lhs[1][step][part], 64);
        _tile_dpbf16ps(0, 4, 6);
        _tile_dpbf16ps(1, 4, 7);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
      }
    }
    _tile_stored(0, accumulators, kStride);
    _tile_stored(1, accumulators + kPanelOutputs, kStride);
    _tile_stored(2, lower, kStride);
    _tile_stored(3, lower + kPanelOutputs, kStride);
  }

  void multiply_block(int32_t row, int32_t rows, int32_t first, int32_t count, Work* work) const {
    for (int32_t k = 0; k < k_; k += kBlockK) {
      const int32_t depth = k_ - k < kBlockK ? k_ - k : kBlockK, steps = (depth + kStep - 1) / kStep;
      split_rows(row, rows, k, depth, work);
      for (int32_t at = 0; at < count; at += 2 * kPanelOutputs) {
        // An odd last panel is multiplied twice; the second result is discarded.
        const int32_t next = at + kPanelOutputs < count ? at + kPanelOutputs : at;
        const uint8_t* weights[] = {panel(first + at) + int64_t{k} / 2 * 64, panel(first + next) + int64_t{k} / 2 * 64};
        const bool k_tail = depth % kStep != 0;
        const uint8_t* last[] = {k_tail ? work->last[at / kPanelOutputs] : nullptr, k_tail ? work->last[next / kPanelOutputs] : nullptr};
        multiply_panels(*work, weights, last, steps, k == 0, work->accumulators[0] + at);
      }
    }
    for (int32_t i = 0; i < rows; ++i) store_row(work->accumulators[i], row + i, first, count);
  }

  // The epilogue of one row.
  void store_row(const float* accumulators, int32_t row, int32_t first, int32_t count) const {
    float* y = reinterpret_cast<float*>(y_(row)) + first;
    const float* residual = has_residual_ ? reinterpret_cast<const float*>(residual_(row)) + first : nullptr;
    for (int32_t i = 0; i < count; i += 16) {
      const __mmask16 mask = static_cast<__mmask16>(count - i >= 16 ? 0xffff : (1 << (count - i)) - 1);
      __m512 v = _mm512_load_ps(accumulators + i);
      if (a_.alpha != 1) v = _mm512_mul_ps(v, _mm512_set1_ps(a_.alpha));
      if (scales_ != nullptr) v = _mm512_mul_ps(v, _mm512_maskz_loadu_ps(mask, scales_ + first + i));
      if (bias_ != nullptr) v = _mm512_add_ps(v, _mm512_maskz_loadu_ps(mask, bias_ + first + i));
      if (residual != nullptr) v = _mm512_add_ps(v, _mm512_maskz_loadu_ps(mask, residual + i));
      // This operand order propagates NaN in v.
      v = _mm512_min_ps(_mm512_set1_ps(bounds_.hi), _mm512_max_ps(_mm512_set1_ps(bounds_.lo), v));
      _mm512_mask_storeu_ps(y + i, mask, v);
    }
    if (slow_activation_ != nullptr) slow_activation_(a_.act_a, a_.act_b, &y, 1, 0, count);
  }

  const Attrs& a_;
  TensorRows x_, y_, residual_;
  bool has_residual_;
  const float *bias_, *scales_;
  const uint8_t* weights_;
  int32_t n_, k_, rows_;
  ActivationBounds bounds_;
  ActivateFn slow_activation_ = nullptr;
};

Status matmul_f32_f32_bf16_amx(const OpContext& c) noexcept {
  MatmulBf16Amx(c).compute(c.threads);
  return Status::kOk;
}

// True when the input is absent or has one value for each output column.
bool is_vector(const OpContext& c, int input, int32_t n) {
  if (!c.has_input(input)) return true;
  const Tensor& t = c.input(input);
  return t.dtype() == DType::f32 && t.rank() >= 1 && t.dim(t.rank() - 1) == n && t.count() == n;
}

}  // namespace

KernelFn select_matmul(const OpContext& c) noexcept {
  const Attrs& a = c.attrs<Attrs>();
  const Tensor &x = c.input(0), &w = c.input(1);
  if (x.dtype() != DType::f32 || w.dtype() != DType::bf16 || w.desc->layout != Layout::kPanel16k2 || w.rank() != 2) return nullptr;
  if (a.transpose_a != 0 || a.group_size > 0 || c.has_input(5) || !is_vector(c, 2, w.dim(0)) || !is_vector(c, 4, w.dim(0))) return nullptr;
  // Fewer rows are bound by reading the weights, where tiles gain nothing.
  constexpr int32_t kMinRows = 8;
  return w.dim(1) >= kStep && w.dim(0) > 0 && c.output(0).count() / w.dim(0) >= kMinRows ? &matmul_f32_f32_bf16_amx : nullptr;
}

}  // namespace mote::kernels::MOTE_ISA_NAME::gemm
