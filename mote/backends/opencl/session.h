#pragma once

// One piece of a model, ready to run: its buffers, its kernels with their arguments set, a queue.

#include <vector>

#include "mote/api/backend.h"
#include "mote/backends/opencl/device.h"
#include "mote/backends/opencl/plan.h"

namespace mote::backends::opencl {

class Session {
 public:
  explicit Session(const Device& device) : d_(device), cl_(*device.api) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  // Uploads the constants; nothing of the plan's bytes is kept.
  Error create(const Plan& plan);
  // One upload for each input, the launches, one download for each output; returns when the outputs are there.
  Error run(const mote_backend_tensor* inputs, uint32_t input_count, const mote_backend_tensor* outputs, uint32_t output_count);

 private:
  struct Ready {
    cl_kernel kernel;
    cl_uint dims;
    size_t global[3], local[3];
    bool grouped;
  };
  Error add(const Launch& launch);
  Error start(const mote_backend_tensor* inputs, uint32_t input_count);
  Error fetch(const mote_backend_tensor* outputs, uint32_t output_count);

  const Device& d_;
  const Api& cl_;
  cl_command_queue queue_ = nullptr;
  std::vector<cl_mem> buffers_;
  std::vector<uint64_t> bytes_;  // of the buffers
  std::vector<Ready> ready_;
  std::vector<int32_t> inputs_, outputs_;
  std::vector<std::vector<uint8_t>> staging_;  // dense copies of operands with gaps, inputs then outputs
};

}  // namespace mote::backends::opencl
