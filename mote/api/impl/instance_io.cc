// Inputs and outputs of an instance: binding, copying, sizes.

#include "mote/api/impl/dense_copy.h"
#include "mote/api/impl/instance.h"
#include "mote/core/size.h"

namespace mote::api {

int64_t io_index(const mote_instance& instance, uint32_t method, uint32_t index, bool output, Diagnostic* why) noexcept {
  const ProgramTable& t = instance.table();
  const uint32_t methods = static_cast<uint32_t>(t.methods.size);
  const bool found = method < methods;
  const uint32_t count = !found ? 0 : output ? t.methods[method].output_count : t.methods[method].input_count;
  if (found && index < count) return int64_t{output ? t.methods[method].first_output : t.methods[method].first_input} + index;
  why->status = {Status::kInvalidArgument, !found ? Why::kMethodIndex : output ? Why::kOutputIndex : Why::kInputIndex};
  why->expected = clamp32(found ? count : methods);
  why->found = clamp32(found ? index : method);
  return -1;
}

namespace {

bool is_bindable(const mote_instance& i, int64_t io) noexcept {
  const Storage s = i.table().tensors[i.table().ios[static_cast<size_t>(io)].tensor].storage;
  return s == Storage::kInput || s == Storage::kOutput;
}

mote_status bind(mote_instance* i, uint32_t method, uint32_t index, bool output, void* data, uint64_t bytes, mote_error* error) noexcept {
  const char* doing = output ? "bind an output" : "bind an input";
  if (i == nullptr) return report(error, doing, {Status::kInvalidArgument, Why::kApiArgument});
  Diagnostic why;
  const int64_t io = io_index(*i, method, index, output, &why);
  if (io < 0) return report(error, doing, why);
  const size_t size = bytes < SIZE_MAX ? static_cast<size_t>(bytes) : SIZE_MAX;
  const Status s = output ? i->instance.bind_output(method, index, data, size) : i->instance.bind_input(method, index, data, size);
  if (!s.ok()) return report(error, doing, i->instance.diagnostic(), i->program->names());
  IoBuffer& buffer = i->buffers[static_cast<size_t>(io)];
  buffer.bound = data;
  buffer.bound_bytes = size;
  return MOTE_OK;
}

// Binds this layer's own buffer, large enough for any size the tensor can have.
Status own(mote_instance& i, uint32_t method, uint32_t index, bool output, int64_t io, Diagnostic* why) noexcept {
  IoBuffer& b = i.buffers[static_cast<size_t>(io)];
  if (b.own == nullptr) {
    const uint32_t bytes = extent_bytes(i.table().tensors[i.table().ios[static_cast<size_t>(io)].tensor]);
    b.own = i.take(bytes, 64, why);
    if (b.own == nullptr) return why->status;
    b.own_bytes = bytes;
  }
  const Status s =
      output ? i.instance.bind_output(method, index, b.own, b.own_bytes) : i.instance.bind_input(method, index, b.own, b.own_bytes);
  if (!s.ok()) {
    *why = i.instance.diagnostic();
    return s;
  }
  b.bound = b.own;
  b.bound_bytes = b.own_bytes;
  return Status::kOk;
}

Status own_method(mote_instance& i, uint32_t method, Diagnostic* why) noexcept {
  const Method& m = i.table().methods[method];
  for (uint32_t k = 0; k < m.input_count + m.output_count; ++k) {
    const bool output = k >= m.input_count;
    const int64_t io = int64_t{m.first_input} + k;
    if (!is_bindable(i, io) || i.instance.tensor(i.table().ios[static_cast<size_t>(io)].tensor).data != nullptr) continue;
    MOTE_TRY(own(i, method, output ? k - m.input_count : k, output, io, why));
  }
  return Status::kOk;
}

mote_status dims_of(const mote_instance* i, uint32_t method, uint32_t index, bool output, int32_t* dims, uint32_t* rank) noexcept {
  if (i == nullptr || dims == nullptr || rank == nullptr) return invalid_argument();
  Diagnostic why;
  if (io_index(*i, method, index, output, &why) < 0) return why.status.bits();
  const TensorDesc& d = *(output ? i->instance.output(method, index) : i->instance.input(method, index)).desc;
  for (int k = 0; k < d.rank; ++k) dims[k] = d.dims[k];
  *rank = d.rank;
  return MOTE_OK;
}

}  // namespace
}  // namespace mote::api

using namespace mote;
using namespace mote::api;

extern "C" {

mote_status mote_instance_bind_input(mote_instance* instance, uint32_t method, uint32_t index, const void* data, uint64_t bytes,
                                     mote_error* error) {
  return bind(instance, method, index, false, const_cast<void*>(data), bytes, error);
}

mote_status mote_instance_bind_output(mote_instance* instance, uint32_t method, uint32_t index, void* data, uint64_t bytes,
                                      mote_error* error) {
  return bind(instance, method, index, true, data, bytes, error);
}

mote_status mote_instance_own_io(mote_instance* instance, uint32_t method, mote_error* error) {
  static const char kDoing[] = "allocate inputs and outputs";
  if (instance == nullptr) return report(error, kDoing, {Status::kInvalidArgument, Why::kApiArgument});
  const int64_t methods = static_cast<int64_t>(instance->table().methods.size);
  if (method >= methods) return report(error, kDoing, {Status::kInvalidArgument, Why::kMethodIndex}, methods, method);
  Diagnostic why;
  return own_method(*instance, method, &why).ok() ? mote_status{MOTE_OK} : report(error, kDoing, why, instance->program->names());
}

mote_status mote_instance_set_input(mote_instance* instance, uint32_t method, uint32_t index, const void* data, uint64_t bytes,
                                    mote_error* error) {
  static const char kDoing[] = "set an input";
  if (instance == nullptr || (data == nullptr && bytes > 0)) return report(error, kDoing, {Status::kInvalidArgument, Why::kApiArgument});
  Diagnostic why;
  const int64_t io = io_index(*instance, method, index, false, &why);
  if (io < 0) return report(error, kDoing, why);
  const Tensor& tensor = instance->instance.input(method, index);
  why.tensor = static_cast<int32_t>(instance->table().ios[static_cast<size_t>(io)].tensor);
  const IoBuffer& buffer = instance->buffers[static_cast<size_t>(io)];
  if (is_bindable(*instance, io)) {
    if (buffer.bound != nullptr && buffer.bound != buffer.own) why.status = {Status::kBusy, Why::kBoundByCaller};
    else if (tensor.data == nullptr) (void)own(*instance, method, index, false, io, &why);
    if (!why.status.ok()) return report(error, kDoing, why, instance->program->names());
  }
  const uint64_t needed = dense_bytes(*tensor.desc);
  if (bytes != needed) {
    why.status = {Status::kShape, Why::kBufferSize};
    why.expected = mote::clamp32(needed);
    why.found = mote::clamp32(bytes);
    return report(error, kDoing, why, instance->program->names());
  }
  copy_to_tensor(tensor, data);
  return MOTE_OK;
}

mote_status mote_instance_get_output(mote_instance* instance, uint32_t method, uint32_t index, void* data, uint64_t capacity,
                                     uint64_t* out_bytes, mote_error* error) {
  static const char kDoing[] = "get an output";
  if (instance == nullptr || (data == nullptr && capacity > 0)) return report(error, kDoing, {Status::kInvalidArgument, Why::kApiArgument});
  Diagnostic why;
  const int64_t io = io_index(*instance, method, index, true, &why);
  if (io < 0) return report(error, kDoing, why);
  const Tensor& tensor = instance->instance.output(method, index);
  const uint64_t needed = dense_bytes(*tensor.desc);
  why.tensor = static_cast<int32_t>(instance->table().ios[static_cast<size_t>(io)].tensor);
  if (tensor.data == nullptr && needed > 0) why.status = {Status::kNotBound, Why::kUnbound};
  else if (capacity < needed) why.status = {Status::kInvalidArgument, Why::kBufferSize};
  if (!why.status.ok()) {
    why.expected = mote::clamp32(needed);
    why.found = mote::clamp32(capacity);
    return report(error, kDoing, why, instance->program->names());
  }
  copy_from_tensor(tensor, data);
  if (out_bytes != nullptr) *out_bytes = needed;
  return MOTE_OK;
}

mote_status mote_instance_set_input_dims(mote_instance* instance, uint32_t method, uint32_t index, const int32_t* dims, uint32_t rank,
                                         mote_error* error) {
  static const char kDoing[] = "set an input's dimensions";
  if (instance == nullptr || (dims == nullptr && rank > 0)) return report(error, kDoing, {Status::kInvalidArgument, Why::kApiArgument});
  Diagnostic why;
  const int64_t io = io_index(*instance, method, index, false, &why);
  if (io < 0) return report(error, kDoing, why);
  if (!instance->instance.set_input_dims(method, index, dims, rank).ok())
    return report(error, kDoing, instance->instance.diagnostic(), instance->program->names());
  // The runtime forgets a buffer when the size changes. One that still fits is bound again; another stays unbound, and run says so.
  const IoBuffer& b = instance->buffers[static_cast<size_t>(io)];
  if (is_bindable(*instance, io) && b.bound != nullptr && instance->instance.input(method, index).data == nullptr)
    (void)instance->instance.bind_input(method, index, b.bound, b.bound_bytes);
  return MOTE_OK;
}

mote_status mote_instance_input_dims(const mote_instance* instance, uint32_t method, uint32_t index, int32_t* dims, uint32_t* out_rank) {
  return dims_of(instance, method, index, false, dims, out_rank);
}

mote_status mote_instance_output_dims(const mote_instance* instance, uint32_t method, uint32_t index, int32_t* dims, uint32_t* out_rank) {
  return dims_of(instance, method, index, true, dims, out_rank);
}

void* mote_instance_input_data(mote_instance* instance, uint32_t method, uint32_t index) {
  Diagnostic why;
  if (instance == nullptr || io_index(*instance, method, index, false, &why) < 0) return nullptr;
  return instance->instance.input(method, index).data;
}

const void* mote_instance_output_data(const mote_instance* instance, uint32_t method, uint32_t index) {
  Diagnostic why;
  if (instance == nullptr || io_index(*instance, method, index, true, &why) < 0) return nullptr;
  return instance->instance.output(method, index).data;
}

}  // extern "C"
