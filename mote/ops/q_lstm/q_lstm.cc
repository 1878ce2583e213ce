#include "mote/ops/q_lstm/q_lstm.h"

#include "mote/ops/common/nn_checks.h"

namespace mote::ops::q_lstm {
namespace {

Status check_dims(const InferContext& c, int i, DType type, int rank, const int32_t* dims) noexcept {
  MOTE_TRY(c.require(i, mask_of(type)));
  const TensorDesc& d = c.in(i);
  if (d.rank != rank) return c.reject(Why::kRank, rank, d.rank);
  for (int k = 0; k < rank; ++k)
    if (d.dims[k] != dims[k]) return c.reject(Why::kDimMismatch, dims[k], d.dims[k]);
  return Status::kOk;
}

int32_t dot(const int8_t* a, const int8_t* b, int32_t n, int32_t bias) {
  int64_t sum = bias;
  for (int32_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return wrap_to_s32(sum);
}

// tanh() of a cell state with scale 2^exponent.
int16_t tanh_of_cell(int16_t x, int32_t exponent) {
  switch (15 + exponent) {
    case 0: return tanh_of(Fixed<int16_t, 0>{x}).raw;
    case 1: return tanh_of(Fixed<int16_t, 1>{x}).raw;
    case 2: return tanh_of(Fixed<int16_t, 2>{x}).raw;
    case 3: return tanh_of(Fixed<int16_t, 3>{x}).raw;
    case 4: return tanh_of(Fixed<int16_t, 4>{x}).raw;
    case 5: return tanh_of(Fixed<int16_t, 5>{x}).raw;
    default: return tanh_of(Fixed<int16_t, 6>{x}).raw;
  }
}

// One sequence of the batch; the states live in the outputs.
class Sequence {
 public:
  Sequence(const OpContext& c, int32_t batch)
      : c_(c), a_(c.attrs<Attrs>()), gates_(static_cast<int16_t*>(static_cast<void*>(c.scratch.data))) {
    const Tensor &h = c.output(1), &cell = c.output(2);
    hidden_ = h.at<int8_t>(batch * h.stride(0));
    cell_ = cell.at<int16_t>(batch * cell.stride(0));
    outputs_ = h.dim(1);
    cells_ = cell.dim(1);
    projected_ = static_cast<int8_t*>(static_cast<void*>(gates_ + 4 * static_cast<ptrdiff_t>(cells_)));
    const int8_t* h0 = c.input(kHidden).at<const int8_t>(batch * c.input(kHidden).stride(0));
    const int16_t* c0 = c.input(kCell).at<const int16_t>(batch * c.input(kCell).stride(0));
    for (int32_t i = 0; i < outputs_; ++i) hidden_[i] = h0[i];
    for (int32_t i = 0; i < cells_; ++i) cell_[i] = c0[i];
  }

  void step(const int8_t* x, int8_t* y) {
    for (int32_t g = a_.coupled != 0 ? 1 : 0; g < 4; ++g) gate(x, g);
    update();
    for (int32_t i = 0; y != nullptr && i < outputs_; ++i) y[i] = hidden_[i];
  }

 private:
  // Gate g (input, forget, cell, output) of all cells, activated, 15 bits of fraction.
  void gate(const int8_t* x, int32_t g) {
    const Tensor &wx = c_.input(kInputWeights), &wh = c_.input(kRecurrentWeights), &bx = c_.input(kInputBias),
                 &bh = c_.input(kRecurrentBias);
    const int32_t at = g - (a_.coupled != 0 ? 1 : 0);
    for (int32_t i = 0; i < cells_; ++i) {
      const int32_t from_x =
          dot(x, wx.at<const int8_t>(at * wx.stride(0) + i * wx.stride(1)), wx.dim(2), bx.at<const int32_t>(at * bx.stride(0))[i]);
      const int32_t from_h =
          dot(hidden_, wh.at<const int8_t>(at * wh.stride(0) + i * wh.stride(1)), outputs_, bh.at<const int32_t>(at * bh.stride(0))[i]);
      const int16_t first = saturate_to<int16_t>(scale_by(from_x, a_.input_multiplier[g], a_.input_shift[g]));
      const int16_t both = saturate_to<int16_t>(int64_t{scale_by(from_h, a_.recurrent_multiplier[g], a_.recurrent_shift[g])} + first);
      gates_[g * cells_ + i] = g == 2 ? tanh_of(Fixed<int16_t, 3>{both}).raw : logistic_of(Fixed<int16_t, 3>{both}).raw;
    }
  }

  void update() {
    const bool project = c_.has_input(kProjection);
    for (int32_t i = 0; i < cells_; ++i) {
      const int16_t forget = gates_[cells_ + i], in = a_.coupled != 0 ? static_cast<int16_t>(32767 - forget) : gates_[i];
      const int16_t kept = static_cast<int16_t>(rounding_shift_right(forget * cell_[i], 15));
      const int16_t added = static_cast<int16_t>(rounding_shift_right(in * gates_[2 * cells_ + i], 30 + a_.cell_exponent));
      int32_t next = saturate_to<int16_t>(int64_t{kept} + added);
      if (a_.cell_clip > 0) next = clamp_to(next, -a_.cell_clip, a_.cell_clip);
      cell_[i] = static_cast<int16_t>(next);
      const int32_t product = gates_[3 * cells_ + i] * tanh_of_cell(cell_[i], a_.cell_exponent);
      (project ? projected_ : hidden_)[i] =
          saturate_to<int8_t>(int64_t{scale_by(product, a_.hidden_multiplier, a_.hidden_shift)} + a_.hidden_zero);
    }
    if (!project) return;
    const Tensor& w = c_.input(kProjection);
    const int32_t* bias = c_.has_input(kProjectionBias) ? c_.input(kProjectionBias).as<const int32_t>() : nullptr;
    for (int32_t o = 0; o < outputs_; ++o) {
      const int32_t sum = dot(projected_, w.at<const int8_t>(o * w.stride(0)), cells_, bias != nullptr ? bias[o] : 0);
      int32_t v = saturate_to<int8_t>(int64_t{scale_by(sum, a_.projection_multiplier, a_.projection_shift)} + a_.output_zero);
      if (a_.projection_clip > 0) v = clamp_to(v, -a_.projection_clip, a_.projection_clip);
      hidden_[o] = static_cast<int8_t>(v);
    }
  }

  const OpContext& c_;
  const Attrs& a_;
  int16_t* gates_;
  int8_t* projected_;
  int8_t* hidden_;
  int16_t* cell_;
  int32_t outputs_, cells_;
};

template <class T>
struct Lstm {
  static Status run(const OpContext& c) noexcept {
    const Tensor &x = c.input(kX), *y = c.has_output(0) ? &c.output(0) : nullptr;
    const int time = c.attrs<Attrs>().time_major != 0 ? 0 : 1, batch = 1 - time;
    for (int32_t b = 0; b < x.dim(batch); ++b) {
      Sequence sequence(c, b);
      for (int32_t t = 0; t < x.dim(time); ++t)
        sequence.step(x.at<const T>(b * x.stride(batch) + t * x.stride(time)),
                      y == nullptr ? nullptr : y->at<T>(b * y->stride(batch) + t * y->stride(time)));
    }
    return Status::kOk;
  }
};

}  // namespace

Scratch scratch(const OpContext& c) noexcept {
  return scratch_numbers((static_cast<uint64_t>(c.input(kCell).dim(1)) * 9 + 3) / 4, DType::s32);
}

Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(kX, kInfo.types_));
  MOTE_TRY(c.require(kHidden, kInfo.types_));
  MOTE_TRY(c.require(kCell, mask_of(DType::s16)));
  const TensorDesc &x = c.in(kX), &h = c.in(kHidden), &cell = c.in(kCell);
  if (x.rank != 3) return c.reject(Why::kRank, 3, x.rank);
  if (h.rank != 2) return c.reject(Why::kRank, 2, h.rank);
  if (cell.rank != 2) return c.reject(Why::kRank, 2, cell.rank);
  if (a.time_major > 1 || a.coupled > 1) return c.reject(Why::kAttribute, 1, a.time_major > 1 ? a.time_major : a.coupled);
  if (a.cell_exponent < -15 || a.cell_exponent > -9) return c.reject(Why::kAttribute, -9, a.cell_exponent);
  if (a.cell_clip < 0 || a.cell_clip > 32767 || a.projection_clip < 0 || a.projection_clip > 127)
    return c.reject(Why::kAttribute, 0, a.cell_clip);
  MOTE_TRY(check_zero(c, a.hidden_zero, DType::s16));
  MOTE_TRY(check_zero(c, a.output_zero, DType::s8));
  const int32_t gates = a.coupled != 0 ? 3 : 4, batches = x.dims[a.time_major], outputs = h.dims[1], cells = cell.dims[1];
  if (cells > 1 << 26) return c.reject(Why::kShapeOverflow, 1 << 26, cells);  // scratch memory stays below 2^31
  const int32_t state[2] = {batches, outputs}, memory[2] = {batches, cells}, wx[3] = {gates, cells, x.dims[2]},
                wh[3] = {gates, cells, outputs};
  MOTE_TRY(check_dims(c, kHidden, DType::s8, 2, state));
  MOTE_TRY(check_dims(c, kCell, DType::s16, 2, memory));
  MOTE_TRY(check_dims(c, kInputWeights, DType::s8, 3, wx));
  MOTE_TRY(check_dims(c, kRecurrentWeights, DType::s8, 3, wh));
  MOTE_TRY(check_dims(c, kInputBias, DType::s32, 2, wx));
  MOTE_TRY(check_dims(c, kRecurrentBias, DType::s32, 2, wh));
  const int32_t projection[2] = {outputs, cells};
  if (c.has(kProjection)) MOTE_TRY(check_dims(c, kProjection, DType::s8, 2, projection));
  else if (outputs != cells) return c.reject(Why::kDimMismatch, cells, outputs);
  if (c.has(kProjectionBias)) MOTE_TRY(check_dims(c, kProjectionBias, DType::s32, 1, &outputs));
  int32_t dims[3] = {x.dims[0], x.dims[1], outputs};
  MOTE_TRY(c.set(0, DType::s8, 3, dims));
  MOTE_TRY(c.set(1, DType::s8, 2, state));
  return c.set(2, DType::s16, 2, memory);
}
KernelFn select(const OpContext& c) noexcept { return pick<OpId::q_lstm, Lstm>(c.input(kX).dtype(), Types{}); }

}  // namespace mote::ops::q_lstm
