#pragma once

// One piece of a model, ready to run: its buffers, its kernels with their arguments set, a queue.

#include <vector>

#include "mote/api/backend.h"
#include "mote/backends/opencl/device.h"
#include "mote/backends/opencl/plan.h"

namespace mote::backends::opencl {

class Session {
 public:
  explicit Session(std::shared_ptr<const Device> device) : device_(std::move(device)), d_(*device_), cl_(*d_.api) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  // Uploads the constants; nothing of the plan's bytes is kept.
  Error create(const Plan& plan);
  // What submit() demands of operands.
  void set_sizes(const Program& piece) { input_sizes_ = PieceSizes(piece, false), output_sizes_ = PieceSizes(piece, true); }
  // One upload for each input, the launches, one download for each output. Operands stay as they are until wait(), which returns when the
  // outputs are there. After an error nothing is under way, and the device is given up.
  Error submit(const mote_backend_tensor* inputs, uint32_t input_count, const mote_backend_tensor* outputs, uint32_t output_count);
  Error wait();
  // How long one launch takes, alone; its operands are whatever is there.
  Error time_launch(const Launch& launch, double* ns);

 private:
  struct Ready {
    cl_kernel kernel;
    cl_uint dims;
    size_t global[3], local[3];
    bool grouped;
  };
  Error make(const Launch& launch, Ready* out);
  Error enqueue(const Ready& ready);
  Error start(const mote_backend_tensor* inputs, uint32_t input_count);
  Error fetch(const mote_backend_tensor* outputs, uint32_t output_count);
  Error failed(Error error);

  // An output with gaps, until its dense copy is there.
  struct Gapped {
    mote_backend_tensor tensor;
    int32_t dims[kMaxRank], strides[kMaxRank];
    size_t staging;
  };

  const std::shared_ptr<const Device> device_;
  const Device& d_;
  const Api& cl_;
  cl_command_queue queue_ = nullptr;
  std::vector<cl_mem> buffers_;
  std::vector<uint64_t> bytes_;  // of the buffers
  std::vector<Ready> ready_;
  std::vector<int32_t> inputs_, outputs_;
  PieceSizes input_sizes_, output_sizes_;
  std::vector<Gapped> gapped_;
  std::vector<std::vector<uint8_t>> staging_;  // dense copies of operands with gaps, inputs then outputs
};

}  // namespace mote::backends::opencl
