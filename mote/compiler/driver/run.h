#pragma once

// Runs programs inside the compiler: for golden examples, validation and comparison.

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mote/compiler/driver/values.h"
#include "mote/compiler/emit/writer.h"
#include "mote/kernels/select.h"
#include "mote/runtime/instance.h"

namespace mote::driver {

class KernelCheck;

// What a run on the host may cost; beyond it run() fails with a text.
struct RunBudget {
  uint64_t memory_bytes = uint64_t{4} << 30;  // instance, arena, inputs and outputs
  uint64_t time_ms = 0;                       // looked at between instructions; 0: no limit
  uint64_t work = 0;                          // multiply-adds, and as many bytes moved, as the certificate counts them; 0: no limit
};

// A program in memory with one instance.
class HostProgram {
 public:
  HostProgram();
  HostProgram(const HostProgram&) = delete;
  HostProgram& operator=(const HostProgram&) = delete;
  ~HostProgram();

  // For open() that follows: kernels share their work among these threads, which must outlive this. Not with a KernelCheck.
  void use_threads(const Threads* threads) { threads_ = threads; }

  // For open() that follows: hears after each instruction how many runs are done, the present one as the part of its instructions.
  using RunsHeard = std::function<void(double runs)>;
  void on_progress(RunsHeard heard) { heard_ = std::move(heard); }

  // `file` and `external` (the constants, where they are a second file) are borrowed and must outlive this.
  // `ops` null: the built-in operators. `select` null: portable kernels, whose results are the same on every machine. With `check` its
  // kernels run, compared with the portable ones.
  bool open(ConstBytes file, ConstBytes external, const RunBudget& budget, std::string* error, const OpRegistry* ops = nullptr,
            kernels::SelectFn select = nullptr, KernelCheck* check = nullptr);

  // Runs a method from the first state on. One array for each input; sizes within the program's bounds.
  bool run(uint32_t method, const std::vector<Array>& inputs, std::vector<Array>* outputs, std::string* error);

  const Program& program() const { return program_; }
  std::vector<int64_t> input_dims(uint32_t method, uint32_t index) const;  // at their bounds
  DType input_type(uint32_t method, uint32_t index) const;

 private:
  struct Block;  // aligned memory
  const TensorDesc& io(uint32_t method, uint32_t index, bool output) const;
  uint64_t io_bytes(uint32_t method) const;  // of inputs and outputs, at their bounds
  bool set_input(uint32_t method, uint32_t index, const Array& input, std::vector<std::unique_ptr<Block>>* buffers);
  bool fail(const char* doing, std::string* error) const;
  void hear(const TraceEvent& event);

  RunBudget budget_;
  KernelCheck* check_ = nullptr;
  const Threads* threads_ = nullptr;
  RunsHeard heard_;
  double begun_ = 0;  // runs
  TraceHook hook_;
  std::vector<ConstBytes> segments_;
  Program program_;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::vector<ByteSpan> banks_;
  Instance instance_;
};

// How far two programs are together that run one after the other.
class RunsOfTwo {
 public:
  RunsOfTwo(HostProgram::RunsHeard heard, double total) : heard_(std::move(heard)), total_(total) {}
  HostProgram::RunsHeard first() { return of(&first_); }
  HostProgram::RunsHeard second() { return of(&second_); }

 private:
  HostProgram::RunsHeard of(double* runs) {
    if (!heard_) return {};
    return [this, runs](double done) {
      *runs = done;
      heard_((first_ + second_) / total_);
    };
  }
  HostProgram::RunsHeard heard_;
  double total_, first_ = 0, second_ = 0;
};

}  // namespace mote::driver
