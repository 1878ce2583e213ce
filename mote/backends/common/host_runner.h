#pragma once

// A piece run on this CPU, in memory of its own: what the reference backend does, and how compilers look at a piece's numbers.

#include <memory>
#include <vector>

#include "mote/backends/common/memory_budget.h"
#include "mote/runtime/instance.h"

namespace mote::backends {

class HostRunner {
 public:
  using Select = KernelFn (*)(uint16_t op, const OpContext&) noexcept;

  HostRunner() = default;
  HostRunner(const HostRunner&) = delete;
  HostRunner& operator=(const HostRunner&) = delete;
  ~HostRunner() { instance_.close(); }

  // `program` and `trace` outlive it. select: asked for kernels before the operators' own; may be null.
  bool create(const Program& program, Select select, const TraceHook* trace = nullptr);
  // Dense inputs and outputs of the first method.
  uint8_t* input(uint32_t i) { return io_[i].data; }
  uint8_t* output(uint32_t i) { return io_[inputs_ + i].data; }
  // Where a tensor that is no constant lies.
  uint8_t* tensor(uint32_t t);
  bool run();

 private:
  ByteSpan block(size_t bytes, size_t alignment = 64);

  const Program* program_ = nullptr;
  Instance instance_;
  std::vector<std::unique_ptr<uint64_t[]>> memory_;
  std::vector<ByteSpan> banks_, io_;
  MemoryBudget budget_;
  uint32_t inputs_ = 0;
};

}  // namespace mote::backends
