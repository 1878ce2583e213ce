#pragma once

#include <atomic>

#include "mote/runtime/backend_registry.h"
#include "mote/runtime/instance_layout.h"
#include "mote/runtime/program.h"
#include "mote/runtime/trace.h"

namespace mote {

// Memory for one instance, owned by the caller and sized by the certificate: program.needs() and the table's banks.
struct InstanceMemory {
  ByteSpan instance;           // needs().instance bytes, 8-byte aligned
  Span<const ByteSpan> banks;  // one for each bank of the program, aligned as it states
  ByteSpan scratch;            // needs().scratch(threads) bytes, 16-byte aligned
};

struct InstanceOptions {
  const Threads* threads = nullptr;  // null: single-threaded
  // Asked first for the kernel of a built-in operator; null, or a null answer: the operator's portable kernel (kernels/select.h).
  KernelFn (*select)(uint16_t op, const OpContext&) noexcept = nullptr;
  BackendList backends;
  const TraceHook* trace = nullptr;
  // Called when a backend has copied what it needs of a blob segment: its bytes may be released, for this instance's part.
  void (*release_blob)(void* self, uint32_t segment) = nullptr;
  void* release_self = nullptr;
};

// How far one run may go.
struct RunLimits {
  uint32_t max_steps = 0;                     // instructions; 0: no limit but the program's own bound
  const std::atomic<bool>* cancel = nullptr;  // checked between instructions
  uint64_t deadline = 0;                      // in the units of now(); 0: none
  uint64_t (*now)(void* self) = nullptr;
  void* now_self = nullptr;
};

// A program with memory to run in. Used by one thread at a time; instances of one program are independent.
// run() allocates nothing; on one thread it takes no lock and makes no system call. A pool the caller passes wakes and waits (futex).
class Instance {
 public:
  Instance() = default;
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;
  ~Instance() { close(); }

  // Resolves every instruction to a kernel and sets state to its first value. Program, memory, options and what they point to
  // must outlive the instance.
  Status create(const Program& program, const InstanceMemory& memory, const InstanceOptions& options = {},
                Diagnostic* diagnostic = nullptr) noexcept;
  // Gives backends their handles back. The memory is the caller's again.
  void close() noexcept;

  // Uses the caller's bytes as an input or output, without a copy. They must stay there until unbound or bound anew.
  // Tensors that live in a bank cannot be bound: fill or read input()/output() in place.
  Status bind_input(uint32_t method, uint32_t i, const void* data, size_t bytes) noexcept;
  Status bind_output(uint32_t method, uint32_t i, void* data, size_t bytes) noexcept;
  // Sets the sizes of an input with dynamic dimensions, within their bounds. A new size ends a run of its method that was begun.
  Status set_input_dims(uint32_t method, uint32_t i, const int32_t* dims, uint32_t rank) noexcept;

  // The tensor as it is now: bytes (null while unbound) and actual shape.
  const Tensor& input(uint32_t method, uint32_t i) const noexcept { return tensors_[io(method, i, false).tensor]; }
  const Tensor& output(uint32_t method, uint32_t i) const noexcept { return tensors_[io(method, i, true).tensor]; }
  const Tensor& tensor(uint32_t index) const noexcept { return tensors_[index]; }

  // Runs a method to its end. After an error the instance can be run again.
  Status run(uint32_t method, const RunLimits& limits = {}) noexcept;

  // Step-wise: begin(), then step() until it returns something other than kPaused.
  Status begin(uint32_t method) noexcept;
  Status step(uint32_t instructions, const RunLimits& limits = {}) noexcept;
  // The instruction that runs next, while stepping.
  uint32_t position() const noexcept { return pc_; }

  // Sets state tensors to their first value.
  void reset_state() noexcept;

  // Delegates whose fallback runs because their backend cannot be had; 0: everything runs where the program says.
  uint32_t degraded_count() const noexcept { return degraded_; }
  // Whether this instruction is such a delegate.
  bool is_degraded(uint32_t instruction) const noexcept;
  // Why the first of them is one: status, instruction and the backend's name.
  const Diagnostic& degraded_why() const noexcept { return degraded_why_; }

  const Program& program() const noexcept { return *program_; }
  // What went wrong in the last failing call.
  const Diagnostic& diagnostic() const noexcept { return diagnostic_; }

 private:
  const Io& io(uint32_t method, uint32_t i, bool output) const noexcept;
  Status find_io(uint32_t method, uint32_t i, bool output, uint32_t* tensor) noexcept;
  Status find_method(uint32_t method) noexcept;
  Status lay_out(const InstanceMemory& memory) noexcept;
  Status check_memory(const ByteSpan& given, size_t needed, uint32_t alignment, Status otherwise) noexcept;
  Status check_banks(const InstanceMemory& memory) noexcept;
  size_t scratch_bytes(Scratch needs) const noexcept;
  uint8_t* resolve_tensors(const InstanceMemory& memory, uint8_t* extra) noexcept;
  Status resolve_calls(uint8_t* extra) noexcept;
  Status resolve_call(const Instruction& n, bool in_strip, Call* call, uint8_t** extra) noexcept;
  KernelFn kernel_for(const OpDef& def, const OpContext& c) const noexcept;
  Status init_delegate(const Instruction& n, Call* call) noexcept;
  Status init_backend(const Instruction& n, Call* call) noexcept;
  const BackendRecord& backend_record(const Call& call) const noexcept;
  const mote_backend* backend_of(const Call& call) const noexcept;
  Status fail(Status status, int32_t expected = 0, int32_t found = 0) noexcept;
  Status bind(uint32_t method, uint32_t i, bool output, void* data, size_t bytes) noexcept;
  Status set_dims(uint32_t tensor, const int32_t* dims, Why fixed) noexcept;
  void end_run_over(uint32_t tensor) noexcept;
  OpContext context() const noexcept;
  OpContext context_of(const Call& call) const noexcept;

  Status execute(uint32_t steps, const RunLimits& limits) noexcept;
  Status special(const Call& call) noexcept;
  Status run_rows(const Call& call) noexcept;
  Status run_dynamic(const Call& call) noexcept;
  Status set_output_types(const OpContext& c, TensorType* types) noexcept;
  Status run_delegate(const Call& call) noexcept;
  Status backend_result(const Call& call, uint32_t error) noexcept;
  bool is_pending(const Frame& f) const noexcept;
  uint32_t wait_for(const Frame& f) const noexcept;
  void abandon() noexcept;
  void open_if(const Call& call) noexcept;
  void open_loop(uint32_t body_count, uint32_t trips) noexcept;
  Status end_range() noexcept;
  void push(uint32_t end, uint32_t trips) noexcept;
  void pop() noexcept;
  void trace(TraceEvent::Kind kind) const noexcept;

  const Program* program_ = nullptr;
  Tensor* tensors_ = nullptr;
  Call* calls_ = nullptr;
  Frame* frames_ = nullptr;
  InstanceOptions options_;
  ByteSpan scratch_;
  Diagnostic diagnostic_;
  Diagnostic degraded_why_;
  uint32_t degraded_ = 0;
  uint32_t delegates_ = 0;  // calls whose backend was initialised: all before this one
  uint32_t method_ = 0, pc_ = 0, stop_ = 0, depth_ = 0;
  bool in_strip_ = false;
  bool running_ = false;
};

}  // namespace mote
