#include "mote/backends/opencl/session.h"

#include <algorithm>
#include <cstring>

namespace mote::backends::opencl {
namespace {

bool is_dense(const mote_backend_tensor& t) {
  int64_t step = 4;
  for (int i = t.rank - 1; i >= 0; --i) {
    if (t.dims[i] != 1 && t.strides[i] != step) return false;
    step *= t.dims[i];
  }
  return true;
}

// Between a tensor with gaps between its rows and dense bytes.
void copy_rows(const mote_backend_tensor& t, uint8_t* dense, bool to_dense) {
  const int last = t.rank - 1;
  const size_t row = static_cast<size_t>(t.dims[last]) * 4;
  std::vector<int32_t> at(static_cast<size_t>(t.rank), 0);
  for (;;) {
    auto* strided = static_cast<uint8_t*>(t.data);
    for (int i = 0; i < last; ++i) strided += static_cast<int64_t>(at[static_cast<size_t>(i)]) * t.strides[i];
    std::memcpy(to_dense ? dense : strided, to_dense ? strided : dense, row);
    dense += row;
    int i = last - 1;
    while (i >= 0 && ++at[static_cast<size_t>(i)] == t.dims[i]) at[static_cast<size_t>(i--)] = 0;
    if (i < 0) return;
  }
}

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
  for (uint64_t bytes : bytes_) {
    buffers_.push_back(
        cl_.clCreateBuffer(d_.context, CL_MEM_READ_WRITE, static_cast<size_t>(std::max<uint64_t>(bytes, 4)), nullptr, &code));
    if (code != CL_SUCCESS) return error_of(code);
  }
  if (!plan.constants.empty())
    if (const Error e = error_of(cl_.clEnqueueWriteBuffer(queue_, buffers_[0], CL_TRUE, 0, plan.constants.size() * 4, plan.constants.data(),
                                                          0, nullptr, nullptr)))
      return e;
  for (const Launch& l : plan.launches)
    if (const Error e = add(l)) return e;
  return kOk;
}

Error Session::add(const Launch& l) {
  cl_int code = CL_SUCCESS;
  Ready r{cl_.clCreateKernel(d_.program, l.kernel, &code), 3, {}, {}, l.local[0] != 0};
  if (code != CL_SUCCESS) return error_of(code);
  std::copy(l.global, l.global + 3, r.global);
  std::copy(l.local, l.local + 3, r.local);
  ready_.push_back(r);
  for (size_t i = 0; i < l.args.size(); ++i) {
    const Arg& a = l.args[i];
    const bool buffer = a.buffer >= 0;
    const cl_mem* memory = buffer ? &buffers_[static_cast<size_t>(a.buffer)] : nullptr;
    code = cl_.clSetKernelArg(r.kernel, static_cast<cl_uint>(i), buffer ? sizeof *memory : a.bytes.size(),
                              buffer ? static_cast<const void*>(memory) : a.bytes.data());
    if (code != CL_SUCCESS) return error_of(code);
  }
  return kOk;
}

Error Session::start(const mote_backend_tensor* inputs, uint32_t input_count) {
  for (uint32_t i = 0; i < input_count; ++i) {
    const auto buffer = static_cast<size_t>(inputs_[i]);
    const void* data = inputs[i].data;
    if (!is_dense(inputs[i])) {
      staging_[i].resize(static_cast<size_t>(bytes_[buffer]));
      copy_rows(inputs[i], staging_[i].data(), true);
      data = staging_[i].data();
    }
    if (const Error e = error_of(cl_.clEnqueueWriteBuffer(queue_, buffers_[buffer], CL_FALSE, 0, static_cast<size_t>(bytes_[buffer]), data,
                                                          0, nullptr, nullptr)))
      return e;
  }
  for (const Ready& r : ready_)
    if (const Error e = error_of(
            cl_.clEnqueueNDRangeKernel(queue_, r.kernel, r.dims, nullptr, r.global, r.grouped ? r.local : nullptr, 0, nullptr, nullptr)))
      return e;
  return kOk;
}

Error Session::fetch(const mote_backend_tensor* outputs, uint32_t output_count) {
  for (uint32_t i = 0; i < output_count; ++i) {
    const auto buffer = static_cast<size_t>(outputs_[i]);
    std::vector<uint8_t>& dense = staging_[inputs_.size() + i];
    const bool gaps = !is_dense(outputs[i]);
    if (gaps) dense.resize(static_cast<size_t>(bytes_[buffer]));
    if (const Error e = error_of(cl_.clEnqueueReadBuffer(queue_, buffers_[buffer], CL_FALSE, 0, static_cast<size_t>(bytes_[buffer]),
                                                         gaps ? dense.data() : outputs[i].data, 0, nullptr, nullptr)))
      return e;
  }
  if (const Error e = error_of(cl_.clFinish(queue_))) return e;
  for (uint32_t i = 0; i < output_count; ++i)
    if (!is_dense(outputs[i])) copy_rows(outputs[i], staging_[inputs_.size() + i].data(), false);
  return kOk;
}

Error Session::run(const mote_backend_tensor* inputs, uint32_t input_count, const mote_backend_tensor* outputs, uint32_t output_count) {
  Error e = start(inputs, input_count);
  if (e == kOk) e = fetch(outputs, output_count);
  if (e != kOk) cl_.clFinish(queue_);  // nothing may still write to the caller's memory
  return e;
}

}  // namespace mote::backends::opencl
