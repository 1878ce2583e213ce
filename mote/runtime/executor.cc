#include "mote/runtime/instance.h"
#include "mote/runtime/verify.h"

namespace mote {

OpContext Instance::context() const noexcept {
  OpContext c;
  c.tensors = tensors_;
  c.bounds = program_->table().tensors.data;
  c.scratch = scratch_;
  c.threads = options_.threads;
  return c;
}

OpContext Instance::context_of(const Call& call) const noexcept {
  OpContext c = context();
  set_call(c, call);
  return c;
}

Status Instance::run(uint32_t method, const RunLimits& limits) noexcept {
  MOTE_TRY(begin(method));
  const Status status = execute(limits.max_steps != 0 ? limits.max_steps : 0xffffffffu, limits);
  if (status.code() != Status::kPaused) return status;
  abandon();
  running_ = false;
  return fail(Status::kStepLimit, limits.max_steps, limits.max_steps);
}

Status Instance::begin(uint32_t method) noexcept {
  const ProgramTable& t = program_->table();
  abandon();
  running_ = false;
  MOTE_TRY(find_method(method));
  const Method& m = t.methods[method];
  for (uint32_t i = m.first_input; i < m.first_output + m.output_count; ++i) {
    if (tensors_[t.ios[i].tensor].data != nullptr) continue;
    diagnostic_.tensor = static_cast<int32_t>(t.ios[i].tensor);
    return fail({Status::kNotBound, Why::kUnbound});
  }
  method_ = method;
  pc_ = m.first_instruction;
  stop_ = pc_ + m.instruction_count;
  depth_ = 0;
  in_strip_ = false;
  running_ = true;
  trace(TraceEvent::Kind::kRunBegin);
  return Status::kOk;
}

Status Instance::step(uint32_t instructions, const RunLimits& limits) noexcept {
  if (!running_) return fail({Status::kInvalidArgument, Why::kNotBegun});
  return execute(instructions, limits);
}

namespace {

Status check_limits(const RunLimits& limits) noexcept {
  if (limits.cancel != nullptr && limits.cancel->load(std::memory_order_relaxed)) return Status::kCancelled;
  if (limits.deadline != 0 && limits.now(limits.now_self) >= limits.deadline) return Status::kDeadline;
  return Status::kOk;
}

}  // namespace

// The loop that everything else is arranged around: take the next resolved instruction, call its kernel.
Status Instance::execute(uint32_t steps, const RunLimits& limits) noexcept {
  const bool watched = limits.cancel != nullptr || limits.deadline != 0;
  const bool traced = options_.trace != nullptr;
  OpContext c = context();
  uint32_t at = pc_;
  Status status = Status::kOk;
  for (;;) {
    while (pc_ == stop_) {
      if (depth_ == 0) {
        running_ = false;
        trace(TraceEvent::Kind::kRunEnd);
        return Status::kOk;
      }
      at = frames_[depth_ - 1].control;
      status = end_range();
      if (!status.ok()) break;
    }
    if (!status.ok()) break;
    if (steps-- == 0) return Status::kPaused;
    at = pc_;
    if (watched) status = check_limits(limits);
    if (!status.ok()) break;
    const Call& call = calls_[at];
    if (traced) trace(TraceEvent::Kind::kInstructionBegin);
    if (call.kind == static_cast<uint8_t>(CallKind::kStatic) && !in_strip_) {
      set_call(c, call);
      status = call.kernel(c);
      ++pc_;
    } else {
      status = special(call);
    }
    if (!status.ok()) break;
    if (traced) {
      const uint32_t next = pc_;
      pc_ = at;
      trace(TraceEvent::Kind::kInstructionEnd);
      pc_ = next;
    }
  }
  abandon();
  running_ = false;
  if (diagnostic_.status != status) (void)fail(status);
  diagnostic_.instruction = static_cast<int32_t>(at);
  diagnostic_.op = program_->table().instructions[at].op;
  return status;
}

}  // namespace mote
