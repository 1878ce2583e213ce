// Instructions that are more than a kernel call: ranges, row ranges, run-time shapes, backends.

#include "mote/runtime/delegate.h"
#include "mote/runtime/instance.h"
#include "mote/runtime/verify.h"

namespace mote {

Status Instance::special(const Call& call) noexcept {
  switch (static_cast<CallKind>(call.kind)) {
    case CallKind::kIf:
      return open_if(call);
    case CallKind::kLoop: {
      const LoopAttrs& a = *static_cast<const LoopAttrs*>(call.attrs);
      uint32_t trips = a.max_trips;
      if (call.input_count > 0 && call.operands[0] >= 0) {
        const int64_t wanted = *tensors_[call.operands[0]].as<const int64_t>();
        if (wanted > a.max_trips) return fail({Status::kInvalidArgument, Why::kTripBound}, a.max_trips, wanted);
        trips = wanted > 0 ? static_cast<uint32_t>(wanted) : 0;
      }
      return open_loop(call, a.body_count, trips);
    }
    case CallKind::kStrip: {
      const StripAttrs& a = *static_cast<const StripAttrs*>(call.attrs);
      return open_loop(call, a.body_count, a.count);
    }
    default:
      break;
  }
  Status status = Status::kOk;
  if (call.kind == static_cast<uint8_t>(CallKind::kStatic)) status = run_rows(call);
  else if (call.kind == static_cast<uint8_t>(CallKind::kDynamic)) status = run_dynamic(call);
  else status = run_delegate(call);
  ++pc_;
  return status;
}

void Instance::push(uint32_t first, uint32_t count, uint32_t trips) noexcept {
  frames_[depth_++] = {pc_, first + count, 0, trips};
  in_strip_ = calls_[pc_].kind == static_cast<uint8_t>(CallKind::kStrip);
  pc_ = first;
  stop_ = first + count;
}

void Instance::pop() noexcept {
  const Method& m = program_->table().methods[method_];
  --depth_;
  stop_ = depth_ > 0 ? frames_[depth_ - 1].end : m.first_instruction + m.instruction_count;
  in_strip_ = false;  // strips hold no ranges, so the one around is none
}

Status Instance::open_if(const Call& call) noexcept {
  const IfAttrs& a = *static_cast<const IfAttrs*>(call.attrs);
  const bool yes = *tensors_[call.operands[0]].as<const uint8_t>() != 0;
  const uint32_t first = pc_ + 1 + (yes ? 0 : a.then_count);
  const uint32_t count = yes ? a.then_count : a.else_count;
  if (count > 0) push(first, count, 1);
  else pc_ += 1 + a.then_count + a.else_count;
  return Status::kOk;
}

Status Instance::open_loop(const Call& call, uint32_t body_count, uint32_t trips) noexcept {
  if (body_count == 0) {
    ++pc_;
    return Status::kOk;
  }
  bool again = false;
  const Frame frame{pc_, 0, 0, trips};
  MOTE_TRY(next_trip(call, frame, &again));
  if (again) push(pc_ + 1, body_count, trips);
  else pc_ += 1 + body_count;
  return Status::kOk;
}

// Decides whether trip number frame.trip of a loop or strip happens and, if so, tells the body its number.
Status Instance::next_trip(const Call& call, const Frame& frame, bool* again) noexcept {
  *again = frame.trip < frame.trips;
  if (call.kind != static_cast<uint8_t>(CallKind::kLoop)) return Status::kOk;
  if (call.input_count > 1 && call.operands[1] >= 0) {
    const bool wanted = *tensors_[call.operands[1]].as<const uint8_t>() != 0;
    const bool counted = call.operands[0] >= 0;
    if (wanted && !*again && !counted) return fail({Status::kInvalidArgument, Why::kTripBound}, frame.trips, int64_t{frame.trip} + 1);
    *again = *again && wanted;
  }
  if (*again && call.output_count > 0 && call.operands[call.input_count] >= 0) *tensors_[call.operands[call.input_count]].as<int64_t>() = frame.trip;
  return Status::kOk;
}

Status Instance::end_range() noexcept {
  Frame& f = frames_[depth_ - 1];
  const Call& call = calls_[f.control];
  if (call.kind == static_cast<uint8_t>(CallKind::kIf)) {
    const IfAttrs& a = *static_cast<const IfAttrs*>(call.attrs);
    pc_ = f.control + 1 + a.then_count + a.else_count;
    pop();
    return Status::kOk;
  }
  bool again = false;
  ++f.trip;
  MOTE_TRY(next_trip(call, f, &again));
  if (again) pc_ = f.control + 1;
  else pop();
  return Status::kOk;
}

// A body instruction of a strip: the rows of this trip, cut to those there are.
Status Instance::run_rows(const Call& call) noexcept {
  const Frame& f = frames_[depth_ - 1];
  const StripAttrs& a = *static_cast<const StripAttrs*>(calls_[f.control].attrs);
  const Step& s = program_->table().steps[a.first_step + (pc_ - f.control - 1)];
  OpContext c = context();
  set_call(c, call);
  const int64_t rows = c.output(0).dim(1);
  int64_t begin = s.begin + int64_t{f.trip} * s.step;
  int64_t end = begin + s.rows;
  begin = begin < 0 ? 0 : begin;
  end = end > rows ? rows : end;
  if (begin >= end) return Status::kOk;
  c.rows = {static_cast<int32_t>(begin), static_cast<int32_t>(end)};
  return call.kernel(c);
}

// Gives the outputs of a dynamic instruction the sizes they have now. A size only the kernel can tell starts at its bound.
Status Instance::set_output_types(const OpContext& c, const TensorType* types) noexcept {
  for (int o = 0; o < c.output_count; ++o) {
    if (!c.has_output(o)) continue;
    const int32_t index = c.operands[c.input_count + o];
    const TensorDesc& bound = c.bounds[index];
    diagnostic_.tensor = index;
    if (types[o].dtype != bound.dtype || types[o].rank != bound.rank) return fail({Status::kShape, Why::kOutputType}, bound.rank, types[o].rank);
    TensorDesc* actual = bound.dynamic != 0 ? const_cast<TensorDesc*>(tensors_[index].desc) : nullptr;
    for (int k = 0; k < bound.rank; ++k) {
      const int32_t size = types[o].dims[k] == kDimUnknown ? bound.dims[k] : types[o].dims[k];
      const bool dynamic = (bound.dynamic >> k & 1) != 0;
      if (dynamic ? size < 0 || size > bound.dims[k] : size != bound.dims[k]) return fail({Status::kShape, dynamic ? Why::kBound : Why::kOutputType}, bound.dims[k], size);
      if (actual != nullptr) actual->dims[k] = size;
    }
    if (actual != nullptr) set_dense_strides(*actual);
    // Planned to share bytes element by element; that holds only while the sizes agree.
    for (int i = 0; i < c.input_count; ++i)
      if (c.has_input(i) && c.input(i).data == c.output(o).data && element_count(*c.input(i).desc) != element_count(*c.output(o).desc))
        return fail({Status::kShape, Why::kOverlap}, element_count(*c.input(i).desc), element_count(*c.output(o).desc));
  }
  diagnostic_.tensor = -1;
  return Status::kOk;
}

Status Instance::run_dynamic(const Call& call) noexcept {
  const OpDef& def = *call.def;
  OpContext c = context();
  set_call(c, call);
  TensorType types[kMaxOutputs];
  MOTE_TRY(def.infer(InferContext(c, types, &diagnostic_)));
  MOTE_TRY(set_output_types(c, types));
  if (def.scratch != nullptr) {
    const Scratch s = def.scratch(c);
    const uint32_t threads = options_.threads != nullptr ? options_.threads->count : 1;
    const uint64_t needed = uint64_t{s.base} + uint64_t{threads} * s.per_thread;
    if (needed > scratch_.size) return fail({Status::kShape, Why::kScratch}, clamp32(needed), clamp32(scratch_.size));
  }
  const KernelFn kernel = def.select(c);
  if (kernel == nullptr) return fail({Status::kUnsupported, Why::kKernelMissing}, 0, def.id);
  return kernel(c);
}

Status Instance::run_delegate(const Call& call) noexcept {
  const ProgramTable& t = program_->table();
  const BackendRecord& record = t.backends[static_cast<const DelegateAttrs*>(call.attrs)->backend];
  const mote_backend* backend = find_backend(options_.backends, t.string(record.name));
  const BackendOperands operands(tensors_, call);
  const uint32_t error = backend->execute(call.handle, operands.tensors, call.input_count, operands.tensors + call.input_count, call.output_count);
  if (error == 0) return Status::kOk;
  diagnostic_.name = t.string(record.name);
  return fail({Status::kBackend, Why::kBackendFailed}, 0, error);
}

}  // namespace mote
