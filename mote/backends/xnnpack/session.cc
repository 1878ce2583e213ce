#include "mote/backends/xnnpack/session.h"

#include <cstring>

#include "mote/backends/common/rows.h"
#include "mote/backends/xnnpack/operators.h"
#include "mote/core/size.h"

namespace mote::backends::xnnpack {
namespace {

constexpr size_t kExtra = XNN_EXTRA_BYTES / sizeof(float);  // its kernels read so far behind a tensor

uint32_t width_of(const mote_backend_tensor& t) { return dtype_bytes(static_cast<DType>(t.dtype)); }

}  // namespace

Session::~Session() {
  for (xnn_operator_t op : operators_) xnn.xnn_delete_operator(op);
}

float* Session::memory(size_t count) {
  budget_.take(times(count + kExtra, sizeof(float)));
  memory_.emplace_back(count + kExtra, 0.0f);
  return memory_.back().data();
}

float* Session::at(const Operand& o) {
  const bool floats = o.dtype == DType::f32 && o.layout == Layout::kPlain;
  failed_ |= !floats;
  if (o.data == nullptr && floats) return buffers_[static_cast<size_t>(o.place.buffer)].data() + o.place.offset;
  float* copy = memory(static_cast<size_t>(o.count()));
  if (floats && o.count() > 0) std::memcpy(copy, o.data, static_cast<size_t>(o.count()) * sizeof *copy);
  return copy;
}

void Session::add(xnn_status created, xnn_operator_t op) {
  check(created);
  if (created != xnn_status_success) return;
  try {
    operators_.push_back(op);
  } catch (...) {
    xnn.xnn_delete_operator(op);
    throw;
  }
}

Error Session::create(const Program& program, const Piece& piece) {
  input_sizes_ = PieceSizes(program, false);
  output_sizes_ = PieceSizes(program, true);
  for (uint64_t bytes : piece.buffer_bytes) {
    budget_.take(plus(bytes, XNN_EXTRA_BYTES));
    buffers_.emplace_back(static_cast<size_t>((bytes + 3) / 4) + kExtra, 0.0f);
  }
  inputs_ = piece.inputs;
  outputs_ = piece.outputs;
  for (const OpView& op : piece.ops) {
    if (lower_op(op, this) != nullptr) return kBlobBroken;
    if (failed_) return kFailed;
  }
  return kOk;
}

Error Session::run(const mote_backend_tensor* inputs, uint32_t input_count, const mote_backend_tensor* outputs, uint32_t output_count) {
  if (!input_sizes_.fit(inputs, input_count) || !output_sizes_.fit(outputs, output_count)) return kOperandsUnfit;
  const auto bytes_of = [&](int32_t buffer) { return reinterpret_cast<uint8_t*>(buffers_[static_cast<size_t>(buffer)].data()); };
  for (uint32_t i = 0; i < input_count; ++i) copy_rows(inputs[i], width_of(inputs[i]), bytes_of(inputs_[i]), true);
  for (xnn_operator_t op : operators_)
    if (xnn.xnn_run_operator(op, xnn.threads) != xnn_status_success) return kFailed;
  for (uint32_t i = 0; i < output_count; ++i) copy_rows(outputs[i], width_of(outputs[i]), bytes_of(outputs_[i]), false);
  return kOk;
}

}  // namespace mote::backends::xnnpack
