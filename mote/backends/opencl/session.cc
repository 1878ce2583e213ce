#include "mote/backends/opencl/session.h"

#include <algorithm>
#include <chrono>

#include "mote/backends/common/guard.h"
#include "mote/backends/common/memory_budget.h"
#include "mote/backends/common/rows.h"

namespace mote::backends::opencl {
namespace {

uint32_t width_of(const mote_backend_tensor& t) { return dtype_bytes(static_cast<DType>(t.dtype)); }

}  // namespace

Session::~Session() {
  for (const Ready& r : ready_) cl_.clReleaseKernel(r.kernel);
  for (cl_mem m : buffers_)
    if (m != nullptr) cl_.clReleaseMemObject(m);
  if (queue_ != nullptr) cl_.clReleaseCommandQueue(queue_);
}

Error Session::create(const Plan& plan) {
  cl_int code = CL_SUCCESS;
  queue_ = cl_.clCreateCommandQueue(d_.context, d_.id, 0, &code);
  if (code != CL_SUCCESS) return error_of(code);
  bytes_ = plan.buffer_bytes;
  inputs_ = plan.inputs;
  outputs_ = plan.outputs;
  staging_.resize(inputs_.size() + outputs_.size());
  // What the driver gives is kept at once: nothing may fail in between.
  buffers_.reserve(bytes_.size());
  ready_.reserve(plan.launches.size());
  MemoryBudget budget;
  for (uint64_t bytes : bytes_) {
    budget.take(bytes);
    cl_mem m = cl_.clCreateBuffer(d_.context, CL_MEM_READ_WRITE, static_cast<size_t>(std::max<uint64_t>(bytes, 4)), nullptr, &code);
    if (code != CL_SUCCESS) return error_of(code);
    buffers_.push_back(m);
  }
  if (!plan.halves.empty())
    if (const Error e = error_of(cl_.clEnqueueWriteBuffer(queue_, buffers_[static_cast<size_t>(plan.half_buffer)], CL_TRUE, 0,
                                                          plan.halves.size() * 2, plan.halves.data(), 0, nullptr, nullptr)))
      return e;
  if (!plan.constants.empty())
    if (const Error e = error_of(cl_.clEnqueueWriteBuffer(queue_, buffers_[0], CL_TRUE, 0, plan.constants.size() * 4, plan.constants.data(),
                                                          0, nullptr, nullptr)))
      return e;
  for (const Launch& l : plan.launches) {
    Ready r{};
    const Error e = make(l, &r);
    if (r.kernel != nullptr) ready_.push_back(r);
    if (e != kOk) return e;
  }
  return kOk;
}

// A kernel that was made is released by the caller, whatever happened after.
Error Session::make(const Launch& l, Ready* out) {
  Error error = kOk;
  cl_program program = program_with(d_, l.kernel, l.kernels, &error);
  if (program == nullptr) return error;
  cl_int code = CL_SUCCESS;
  Ready& r = *out;
  r = {cl_.clCreateKernel(program, l.kernel, &code), 3, {}, {}, l.local[0] != 0};
  if (code != CL_SUCCESS) return r.kernel = nullptr, error_of(code);
  std::copy(l.global, l.global + 3, r.global);
  std::copy(l.local, l.local + 3, r.local);
  for (size_t i = 0; i < l.args.size(); ++i) {
    const Arg& a = l.args[i];
    const bool buffer = a.buffer >= 0;
    const cl_mem* memory = buffer ? &buffers_[static_cast<size_t>(a.buffer)] : nullptr;
    code = cl_.clSetKernelArg(r.kernel, static_cast<cl_uint>(i), buffer ? sizeof(cl_mem) : a.bytes.size(),
                              buffer ? static_cast<const void*>(memory) : a.bytes.data());
    if (code != CL_SUCCESS) return error_of(code);
  }
  return kOk;
}

Error Session::start(const mote_backend_tensor* inputs, uint32_t input_count) {
  for (uint32_t i = 0; i < input_count; ++i) {
    const auto buffer = static_cast<size_t>(inputs_[i]);
    const void* data = inputs[i].data;
    if (!is_dense(inputs[i], width_of(inputs[i]))) {
      staging_[i].resize(static_cast<size_t>(bytes_[buffer]));
      copy_rows(inputs[i], width_of(inputs[i]), staging_[i].data(), true);
      data = staging_[i].data();
    }
    if (const Error e = error_of(cl_.clEnqueueWriteBuffer(queue_, buffers_[buffer], CL_FALSE, 0, static_cast<size_t>(bytes_[buffer]), data,
                                                          0, nullptr, nullptr)))
      return e;
  }
  for (const Ready& r : ready_)
    if (const Error e = enqueue(r)) return e;
  return kOk;
}

Error Session::enqueue(const Ready& r) {
  return error_of(
      cl_.clEnqueueNDRangeKernel(queue_, r.kernel, r.dims, nullptr, r.global, r.grouped ? r.local : nullptr, 0, nullptr, nullptr));
}

Error Session::time_launch(const Launch& launch, double* ns) {
  Ready r{};
  Error e = make(launch, &r);
  if (e == kOk) e = error_of(cl_.clFinish(queue_));
  const auto begin = std::chrono::steady_clock::now();
  if (e == kOk) e = enqueue(r);
  if (e == kOk) e = error_of(cl_.clFinish(queue_));
  *ns = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
  if (r.kernel != nullptr) cl_.clReleaseKernel(r.kernel);
  return e;
}

Error Session::fetch(const mote_backend_tensor* outputs, uint32_t output_count) {
  gapped_.clear();
  for (uint32_t i = 0; i < output_count; ++i) {
    const auto buffer = static_cast<size_t>(outputs_[i]);
    void* to = outputs[i].data;
    if (!is_dense(outputs[i], width_of(outputs[i]))) {
      Gapped g{outputs[i], {}, {}, inputs_.size() + i};
      std::copy(outputs[i].dims, outputs[i].dims + outputs[i].rank, g.dims);
      std::copy(outputs[i].strides, outputs[i].strides + outputs[i].rank, g.strides);
      gapped_.push_back(g);
      staging_[g.staging].resize(static_cast<size_t>(bytes_[buffer]));
      to = staging_[g.staging].data();
    }
    if (const Error e = error_of(
            cl_.clEnqueueReadBuffer(queue_, buffers_[buffer], CL_FALSE, 0, static_cast<size_t>(bytes_[buffer]), to, 0, nullptr, nullptr)))
      return e;
  }
  return error_of(cl_.clFlush(queue_));
}

Error Session::failed(Error error) {
  cl_.clFinish(queue_);  // nothing may still write to the caller's memory
  give_up(&d_);
  return error;
}

Error Session::submit(const mote_backend_tensor* inputs, uint32_t input_count, const mote_backend_tensor* outputs, uint32_t output_count) {
  // Buffers are uploaded whole: of an input with fewer elements than the piece was made for there are not so many bytes.
  if (!input_sizes_.fit(inputs, input_count) || !output_sizes_.fit(outputs, output_count)) return kOperandsUnfit;
  const uint32_t e = guarded(kOutOfMemory, kCommandFailed, [&]() -> uint32_t {
    const Error started = start(inputs, input_count);
    return started == kOk ? fetch(outputs, output_count) : started;
  });
  return e == kOk ? kOk : failed(static_cast<Error>(e));
}

Error Session::wait() {
  if (const Error e = error_of(cl_.clFinish(queue_))) return failed(e);
  for (Gapped& g : gapped_) {
    g.tensor.dims = g.dims;
    g.tensor.strides = g.strides;
    copy_rows(g.tensor, width_of(g.tensor), staging_[g.staging].data(), false);
  }
  return kOk;
}

}  // namespace mote::backends::opencl
