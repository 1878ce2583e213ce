#include "mote/backends/xnnpack/session.h"

#include <cstring>

#include "mote/backends/common/rows.h"
#include "mote/backends/xnnpack/operators.h"

namespace mote::backends::xnnpack {
namespace {

constexpr size_t kExtra = XNN_EXTRA_BYTES / sizeof(float);  // its kernels read so far behind a tensor

}  // namespace

Session::~Session() {
  for (xnn_operator_t op : operators_) xnn.xnn_delete_operator(op);
}

float* Session::memory(size_t count) {
  memory_.emplace_back(count + kExtra, 0.0f);
  return memory_.back().data();
}

float* Session::at(const Operand& o) {
  if (o.data == nullptr) return buffers_[static_cast<size_t>(o.place.buffer)].data() + o.place.offset;
  float* copy = memory(static_cast<size_t>(o.count()));
  std::memcpy(copy, o.data, static_cast<size_t>(o.count()) * sizeof *copy);
  return copy;
}

void Session::add(xnn_status created, xnn_operator_t op) {
  check(created);
  if (created == xnn_status_success) operators_.push_back(op);
}

Error Session::create(Piece piece) {
  for (uint64_t bytes : piece.buffer_bytes) buffers_.emplace_back(static_cast<size_t>((bytes + 3) / 4) + kExtra, 0.0f);
  inputs_ = piece.inputs;
  outputs_ = piece.outputs;
  for (const OpView& op : piece.ops) {
    if (lower_op(op, this) != nullptr) return kBlobBroken;
    if (failed_) return kFailed;
  }
  return kOk;
}

Error Session::run(const mote_backend_tensor* inputs, uint32_t input_count, const mote_backend_tensor* outputs, uint32_t output_count) {
  const auto bytes_of = [&](int32_t buffer) { return reinterpret_cast<uint8_t*>(buffers_[static_cast<size_t>(buffer)].data()); };
  for (uint32_t i = 0; i < input_count; ++i) copy_rows(inputs[i], 4, bytes_of(inputs_[i]), true);
  for (xnn_operator_t op : operators_)
    if (xnn.xnn_run_operator(op, xnn.threads) != xnn_status_success) return kFailed;
  for (uint32_t i = 0; i < output_count; ++i) copy_rows(outputs[i], 4, bytes_of(outputs_[i]), false);
  return kOk;
}

}  // namespace mote::backends::xnnpack
