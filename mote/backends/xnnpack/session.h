#pragma once

// One piece of a model, ready to run with XNNPACK.

#include <list>
#include <vector>

#include "mote/backends/common/memory_budget.h"
#include "mote/backends/common/piece.h"
#include "mote/backends/xnnpack/xnn_api.h"

namespace mote::backends::xnnpack {

class Session {
 public:
  explicit Session(const Api& api) : xnn(api) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  Error create(const Program& program, const Piece& piece);
  Error run(const mote_backend_tensor* inputs, uint32_t input_count, const mote_backend_tensor* outputs, uint32_t output_count);

  // For lowering: where an operand's elements are (constants are copied; what is no plain f32 makes create() fail), memory besides, and an
  // operator behind those before.
  float* at(const Operand& o);
  float* memory(size_t count);
  void add(xnn_status created, xnn_operator_t op);
  void check(xnn_status status) { failed_ |= status != xnn_status_success; }

  const Api& xnn;

 private:
  std::vector<std::vector<float>> buffers_;
  std::list<std::vector<float>> memory_;
  std::vector<int32_t> inputs_, outputs_;
  PieceSizes input_sizes_, output_sizes_;
  std::vector<xnn_operator_t> operators_;
  MemoryBudget budget_;
  bool failed_ = false;
};

}  // namespace mote::backends::xnnpack
