// Instructions that are more than a kernel call: ranges, row ranges, run-time shapes, backends.

#include "mote/format/delegate.h"
#include "mote/runtime/delegate.h"
#include "mote/runtime/instance.h"
#include "mote/runtime/verify.h"

namespace mote {
namespace {

bool has_condition(const Call& loop) { return loop.input_count > 1 && loop.operands[1] >= 0; }

}  // namespace

Status Instance::special(const Call& call) noexcept {
  Status status = Status::kOk;
  switch (static_cast<CallKind>(call.kind)) {
    case CallKind::kIf: open_if(call); return Status::kOk;
    case CallKind::kLoop: {
      const LoopAttrs& a = *static_cast<const LoopAttrs*>(call.attrs);
      const bool counted = call.input_count > 0 && call.operands[0] >= 0;
      // A condition may end the loop in time: one trip more than allowed stands for any larger number, and end_range() meets it.
      const int64_t most = int64_t{a.max_trips} + (a.max_trips < ~0u && has_condition(call) ? 1 : 0);
      const int64_t wanted = counted ? *tensors_[call.operands[0]].as<const int64_t>() : most;
      if (wanted > a.max_trips && !has_condition(call))
        return fail({Status::kInvalidArgument, Why::kTripBound}, clamp32(a.max_trips), clamp32(static_cast<uint64_t>(wanted)));
      open_loop(a.body_count, wanted <= 0 ? 0 : static_cast<uint32_t>(wanted < most ? wanted : most));
      return Status::kOk;
    }
    case CallKind::kStrip: {
      const StripAttrs& a = *static_cast<const StripAttrs*>(call.attrs);
      open_loop(a.body_count, a.count);
      return Status::kOk;
    }
    case CallKind::kStatic: status = run_rows(call); break;
    case CallKind::kDynamic: status = run_dynamic(call); break;
    case CallKind::kDelegate: return run_delegate(call);
  }
  ++pc_;
  return status;
}

// Opens the range of the instruction at hand, which ends before `end`.
void Instance::push(uint32_t end, uint32_t trips) noexcept {
  frames_[depth_++] = {pc_, end, ~0u, trips};
  in_strip_ = calls_[pc_].kind == static_cast<uint8_t>(CallKind::kStrip);
  stop_ = end;
}

void Instance::pop() noexcept {
  const Method& m = program_->table().methods[method_];
  --depth_;
  stop_ = depth_ > 0 ? frames_[depth_ - 1].end : m.first_instruction + m.instruction_count;
  in_strip_ = false;  // strips hold no ranges, so the one around is none
}

void Instance::open_if(const Call& call) noexcept {
  const IfAttrs& a = *static_cast<const IfAttrs*>(call.attrs);
  const bool yes = *tensors_[call.operands[0]].as<const uint8_t>() != 0;
  const uint32_t first = pc_ + 1 + (yes ? 0 : a.then_count);
  const uint32_t count = yes ? a.then_count : a.else_count;
  if (count > 0) push(first + count, 1);
  pc_ = count > 0 ? first : pc_ + 1 + a.then_count + a.else_count;
}

// Starts at the end of the body: end_range() decides about the first trip as about any other.
void Instance::open_loop(uint32_t body_count, uint32_t trips) noexcept {
  const uint32_t end = pc_ + 1 + body_count;
  if (body_count > 0) push(end, trips);
  pc_ = end;
}

// Leaves an if; decides whether there is another trip of a loop or strip and, if so, tells the body its number.
Status Instance::end_range() noexcept {
  Frame& f = frames_[depth_ - 1];
  const Call& call = calls_[f.control];
  if (is_pending(f)) {
    const uint32_t error = wait_for(f);
    pop();
    return backend_result(call, error);
  }
  bool again = ++f.trip < f.trips;
  if (call.kind == static_cast<uint8_t>(CallKind::kIf)) {
    const IfAttrs& a = *static_cast<const IfAttrs*>(call.attrs);
    pc_ = f.control + 1 + a.then_count + a.else_count;
    again = false;
  } else if (call.kind == static_cast<uint8_t>(CallKind::kLoop)) {
    const uint32_t most = static_cast<const LoopAttrs*>(call.attrs)->max_trips;
    if (has_condition(call)) again = again && *tensors_[call.operands[1]].as<const uint8_t>() != 0;
    if (again && f.trip == most) return fail({Status::kInvalidArgument, Why::kTripBound}, clamp32(most), clamp32(uint64_t{most} + 1));
    const int32_t number = call.output_count > 0 ? call.operands[call.input_count] : -1;
    if (again && number >= 0) *tensors_[number].as<int64_t>() = f.trip;
  }
  if (again) pc_ = f.control + 1;
  else pop();
  return Status::kOk;
}

// A body instruction of a strip: the rows of this trip, cut to those there are.
Status Instance::run_rows(const Call& call) noexcept {
  const Frame& f = frames_[depth_ - 1];
  const StripAttrs& a = *static_cast<const StripAttrs*>(calls_[f.control].attrs);
  const Step& s = program_->table().steps[a.first_step + (pc_ - f.control - 1)];
  OpContext c = context_of(call);
  const int32_t rows = c.output(0).dim(1);
  // Numbers that wrap are no program's of ours; rows outside of the tensor never are.
  int32_t begin = static_cast<int32_t>(static_cast<uint32_t>(s.begin) + f.trip * static_cast<uint32_t>(s.step));
  int32_t end = static_cast<int32_t>(static_cast<uint32_t>(begin) + static_cast<uint32_t>(s.rows));
  begin = begin < 0 ? 0 : begin;
  end = end > rows ? rows : end;
  if (begin >= end) return Status::kOk;
  c.rows = {begin, end};
  return call.kernel(c);
}

// Gives the outputs of a dynamic instruction the sizes they have now. A size only the kernel can tell starts at its bound.
Status Instance::set_output_types(const OpContext& c, TensorType* types) noexcept {
  for (int o = 0; o < c.output_count; ++o) {
    if (!c.has_output(o)) continue;
    const int32_t index = c.operands[c.input_count + o];
    const TensorDesc& bound = c.bounds[index];
    TensorType& type = types[o];
    diagnostic_.tensor = index;
    if (type.dtype != bound.dtype || type.rank != bound.rank) return fail({Status::kShape, Why::kOutputType}, bound.rank, type.rank);
    for (int k = 0; k < bound.rank; ++k)
      if (type.dims[k] == kDimUnknown) type.dims[k] = bound.dims[k];
    MOTE_TRY(set_dims(static_cast<uint32_t>(index), type.dims, Why::kOutputType));
    // Planned to share bytes element by element; that holds only while the sizes agree.
    const int32_t count = c.output(o).count();
    for (int i = 0; i < c.input_count; ++i) {
      if (!c.has_input(i) || c.input(i).data != c.output(o).data) continue;
      const int32_t input_count = c.input(i).count();
      // What has no elements holds no bytes, wherever it lies.
      if (input_count != count && input_count != 0 && count != 0) return fail({Status::kShape, Why::kOverlap}, input_count, count);
    }
  }
  diagnostic_.tensor = -1;
  return Status::kOk;
}

Status Instance::run_dynamic(const Call& call) noexcept {
  const OpDef& def = *call.def;
  const OpContext c = context_of(call);
  TensorType types[kMaxOutputs];
  MOTE_TRY(def.infer(InferContext(c, types, &diagnostic_)));
  MOTE_TRY(set_output_types(c, types));
  if (def.scratch != nullptr) MOTE_TRY(check_memory(scratch_, scratch_bytes(def.scratch(c)), 1, {Status::kShape, Why::kScratch}));
  const KernelFn kernel = kernel_for(def, c);
  return kernel != nullptr ? kernel(c) : fail({Status::kUnsupported, Why::kKernelMissing}, 0, def.id);
}

// Runs the backend and passes over what would run in its place, or runs that.
Status Instance::run_delegate(const Call& call) noexcept {
  const Instruction& n = program_->table().instructions[pc_];
  const uint32_t count = fallback_count(n, call.attrs), overlap = overlap_count(n, call.attrs), at = pc_;
  if (call.handle == &degraded_handle) {
    push(pc_ + 1 + count, 0);
    ++pc_;
    return Status::kOk;
  }
  pc_ += 1 + count;
  const mote_backend* backend = backend_of(call);
  const BackendOperands operands(tensors_, call);
  const mote_backend_tensor* outputs = operands.tensors + call.input_count;
  // A trace shall show how long the part takes: it is waited for at once.
  if (overlap == 0 || backend->submit == nullptr || options_.trace != nullptr)
    return backend_result(call, backend->execute(call.handle, operands.tensors, call.input_count, outputs, call.output_count));
  void* fence = nullptr;
  MOTE_TRY(backend_result(call, backend->submit(call.handle, operands.tensors, call.input_count, outputs, call.output_count, &fence)));
  frames_[depth_++] = {at, pc_ + overlap, 0, 0};
  std::memcpy(&frames_[depth_ - 1].trip, &fence, sizeof fence);
  stop_ = pc_ + overlap;
  return Status::kOk;
}

Status Instance::backend_result(const Call& call, uint32_t error) noexcept {
  if (error == 0) return Status::kOk;
  diagnostic_.name = program_->table().string(backend_record(call).name);
  return fail({Status::kBackend, Why::kBackendFailed}, 0, clamp32(error));
}

// Frames of delegates that were submitted hold their fence in place of trips.
bool Instance::is_pending(const Frame& f) const noexcept {
  const Call& call = calls_[f.control];
  return call.kind == static_cast<uint8_t>(CallKind::kDelegate) && call.handle != &degraded_handle;
}

uint32_t Instance::wait_for(const Frame& f) const noexcept {
  const Call& call = calls_[f.control];
  void* fence = nullptr;
  std::memcpy(&fence, &f.trip, sizeof fence);
  return backend_of(call)->wait(call.handle, fence);
}

// Waits for what was submitted by a run that ends early: nothing may write to the caller's memory behind it.
void Instance::abandon() noexcept {
  while (depth_ > 0)
    if (const Frame& f = frames_[--depth_]; is_pending(f)) (void)wait_for(f);
}

}  // namespace mote
