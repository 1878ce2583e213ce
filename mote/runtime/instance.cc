#include "mote/runtime/instance.h"

#include "mote/core/dispatch.h"
#include "mote/format/delegate.h"
#include "mote/runtime/delegate.h"
#include "mote/runtime/verify.h"

namespace mote {
namespace {

// Where empty tensors without an address point to.
uint8_t nothing[8];

}  // namespace

uint8_t degraded_handle;

BackendOperands::BackendOperands(const Tensor* all, const Call& call) noexcept {
  for (uint32_t k = 0; k < uint32_t{call.input_count} + call.output_count; ++k) {
    const Tensor& t = all[call.operands[k]];
    tensors[k] = {t.data, t.desc->dims, t.desc->strides, static_cast<uint8_t>(t.dtype()), t.desc->rank, 0};
  }
}

Status Instance::fail(Status status, int32_t expected, int32_t found) noexcept {
  diagnostic_.status = status;
  diagnostic_.expected = expected;
  diagnostic_.found = found;
  return status;
}

void Instance::trace(TraceEvent::Kind kind) const noexcept {
  if (options_.trace != nullptr && options_.trace->event != nullptr) options_.trace->event(options_.trace->self, {kind, method_, pc_, {}});
}

Status Instance::create(const Program& program, const InstanceMemory& memory, const InstanceOptions& options,
                        Diagnostic* diagnostic) noexcept {
  close();
  diagnostic_ = degraded_why_ = Diagnostic{};
  degraded_ = 0;
  program_ = &program;
  options_ = options;
  scratch_ = memory.scratch;
  const Status status = lay_out(memory);
  if (diagnostic != nullptr) *diagnostic = diagnostic_;
  if (!status.ok()) close();
  else trace(TraceEvent::Kind::kInit);
  return status;
}

Status Instance::check_memory(const ByteSpan& given, size_t needed, uint32_t alignment, Status otherwise) noexcept {
  if (needed == 0) return Status::kOk;
  const bool aligned = (reinterpret_cast<uintptr_t>(given.data) & (alignment - 1)) == 0;
  if (given.size >= needed && given.data != nullptr && aligned) return Status::kOk;
  return fail(otherwise, clamp32(needed), clamp32(given.size));
}

// More than there can be where the sum does not fit.
size_t Instance::scratch_bytes(Scratch needs) const noexcept {
  const uint32_t threads = options_.threads != nullptr ? options_.threads->count : 1;
  const uint64_t bytes = uint64_t{needs.base} + uint64_t{threads} * needs.per_thread;
  return static_cast<size_t>(bytes) == bytes ? static_cast<size_t>(bytes) : SIZE_MAX;
}

Status Instance::check_banks(const InstanceMemory& memory) noexcept {
  const Span<const Bank>& stated = program_->table().banks;
  if (memory.banks.size != stated.size)
    return fail({Status::kOutOfMemory, Why::kBankCount}, static_cast<int32_t>(stated.size), clamp32(memory.banks.size));
  for (uint32_t i = 0; i < stated.size; ++i) {
    const ByteSpan& bank = memory.banks[i];
    const size_t size = static_cast<size_t>(stated[i].size);  // below 4 GiB: read_table checked
    const uint32_t alignment = stated[i].alignment;
    MOTE_TRY(check_memory(bank, size, 1, {Status::kOutOfMemory, Why::kBankSize}));
    if (size > 0 && (reinterpret_cast<uintptr_t>(bank.data) & (alignment - 1)) != 0)
      return fail({Status::kInvalidArgument, Why::kBankAlignment}, static_cast<int32_t>(alignment), static_cast<int32_t>(i));
  }
  return Status::kOk;
}

Status Instance::lay_out(const InstanceMemory& memory) noexcept {
  const ProgramTable& t = program_->table();
  const MemoryNeeds& needs = program_->needs();
  const Threads* threads = options_.threads;
  if (threads != nullptr && (threads->parallel_for == nullptr || threads->count == 0))
    return fail({Status::kInvalidArgument, Why::kThreads});
  const size_t scratch = scratch_bytes({needs.stated.scratch_base, needs.stated.scratch_per_thread});
  MOTE_TRY(check_memory(scratch_, scratch, 16, {Status::kOutOfMemory, Why::kScratchSize}));
  MOTE_TRY(check_memory(memory.instance, needs.instance, 8, {Status::kOutOfMemory, Why::kInstanceSize}));
  MOTE_TRY(check_banks(memory));
  tensors_ = reinterpret_cast<Tensor*>(memory.instance.data);
  calls_ = reinterpret_cast<Call*>(tensors_ + t.tensors.size);
  frames_ = reinterpret_cast<Frame*>(calls_ + t.instructions.size);
  uint8_t* extra = reinterpret_cast<uint8_t*>(frames_ + needs.stated.max_nesting);
  extra = resolve_tensors(memory, extra);
  MOTE_TRY(resolve_calls(extra));
  reset_state();
  return Status::kOk;
}

// Points every tensor at its bytes and, where it is dynamic, at a descriptor of its own in `extra`. Returns the first byte behind these
// descriptors.
uint8_t* Instance::resolve_tensors(const InstanceMemory& memory, uint8_t* extra) noexcept {
  Tensor* tensor = tensors_;
  uint32_t segment = ~0u;  // the last one asked for
  const uint8_t* constants = nullptr;
  for (const TensorDesc& d : program_->table().tensors) {
    const uint8_t* data = nullptr;
    if (d.storage == Storage::kConstant) {
      if (d.bank != segment) segment = d.bank, constants = program_->segment(d.bank).data;
      data = constants + d.offset;
    } else if (d.storage < Storage::kInput) {
      data = memory.banks[d.bank].data + d.offset;
    }
    // An empty segment or bank may have no address; what lies in it is empty too.
    if (data == nullptr && d.storage < Storage::kInput) data = nothing;
    *tensor = {&d, const_cast<uint8_t*>(data)};
    if (d.dynamic != 0) {
      tensor->desc = static_cast<TensorDesc*>(std::memcpy(extra, &d, sizeof d));
      extra += sizeof d;
    }
    ++tensor;
  }
  return extra;
}

Status Instance::resolve_calls(uint8_t* extra) noexcept {
  const ProgramTable& t = program_->table();
  uint32_t strip_end = 0;
  for (uint32_t pc = 0; pc < t.instructions.size; ++pc) {
    const Instruction& n = t.instructions[pc];
    diagnostic_.instruction = static_cast<int32_t>(pc);
    diagnostic_.op = n.op;
    MOTE_TRY(resolve_call(n, pc < strip_end, &calls_[pc], &extra));
    if (n.op == static_cast<uint16_t>(ControlOp::kStrip)) strip_end = pc + 1 + static_cast<const StripAttrs*>(calls_[pc].attrs)->body_count;
  }
  diagnostic_.instruction = diagnostic_.op = -1;
  return Status::kOk;
}

Status Instance::resolve_call(const Instruction& n, bool in_strip, Call* call, uint8_t** extra) noexcept {
  const ProgramTable& t = program_->table();
  const OpDef* def = n.op < kFirstControlOp ? program_->definition(n) : nullptr;
  const CallKind kind = call_kind(*program_, n, def);
  call->def = def;
  call->attrs = t.attrs.data + n.attrs;
  call->operands = t.operands.data + n.operands;
  call->input_count = n.input_count;
  call->output_count = static_cast<uint8_t>(n.output_count);
  call->kind = static_cast<uint8_t>(kind);
  if (def == nullptr) return kind == CallKind::kDelegate ? init_delegate(n, call) : Status(Status::kOk);
  if (n.attrs_size < def->attrs_size) {
    extend_attrs(call->attrs, n.attrs_size, def->attrs_size, *extra);
    call->attrs = *extra;
    *extra += (def->attrs_size + 3u) & ~3u;
  }
  if (kind == CallKind::kDynamic) return Status::kOk;
  OpContext c = context_of(*call);
  if (in_strip) c.rows = kSomeRows;
  call->kernel = kernel_for(*def, c);
  return call->kernel != nullptr ? Status(Status::kOk) : fail({Status::kUnsupported, Why::kKernelMissing}, 0, n.op);
}

KernelFn Instance::kernel_for(const OpDef& def, const OpContext& c) const noexcept { return dispatch(def, options_.select, c); }

const BackendRecord& Instance::backend_record(const Call& call) const noexcept {
  return program_->table().backends[static_cast<const DelegateAttrs*>(call.attrs)->backend];
}

const mote_backend* Instance::backend_of(const Call& call) const noexcept {
  return find_backend(options_.backends, program_->table().string(backend_record(call).name));
}

// A backend that cannot be had is an error, unless the program says what runs in its place. That is reported, never silent.
Status Instance::init_delegate(const Instruction& n, Call* call) noexcept {
  call->handle = nullptr;
  const Status status = init_backend(n, call);
  if (status.code() != Status::kBackend || fallback_count(n, call->attrs) == 0) return status;
  call->handle = &degraded_handle;
  if (degraded_++ == 0) degraded_why_ = diagnostic_;
  const uint32_t pc = static_cast<uint32_t>(&n - program_->table().instructions.data);
  if (options_.trace != nullptr && options_.trace->event != nullptr)
    options_.trace->event(options_.trace->self, {TraceEvent::Kind::kDegraded, 0, pc, status});
  diagnostic_ = Diagnostic{};
  return Status::kOk;
}

bool Instance::is_degraded(uint32_t instruction) const noexcept {
  const Call& call = calls_[instruction];
  return static_cast<CallKind>(call.kind) == CallKind::kDelegate && call.handle == &degraded_handle;
}

Status Instance::init_backend(const Instruction& n, Call* call) noexcept {
  const ProgramTable& t = program_->table();
  const BackendRecord& record = backend_record(*call);
  const char *version = t.string(record.version), *capabilities = t.string(record.capabilities);
  diagnostic_.name = t.string(record.name);
  const mote_backend* backend = backend_of(*call);
  if (backend == nullptr) return fail({Status::kBackend, Why::kBackendMissing});
  if (backend->abi != MOTE_BACKEND_ABI) return fail({Status::kBackend, Why::kBackendVersion}, MOTE_BACKEND_ABI, backend->abi);
  if (const uint32_t error = backend->probe(version, capabilities))
    return fail({Status::kBackend, (error & MOTE_BACKEND_ABSENT) != 0 ? Why::kBackendAbsent : Why::kBackendVersion}, 0, clamp32(error));
  const ConstBytes blob = program_->segment(record.segment);
  if (blob.size < t.segments[record.segment].size) return fail({Status::kInvalidArgument, Why::kSegmentMissing}, 0, record.segment);
  const mote_backend_blob b{blob.data, blob.size, version, capabilities, static_cast<const DelegateAttrs*>(call->attrs)->entry};
  BackendOperands operands(tensors_, *call);
  uint32_t release = 0;
  delegates_ = static_cast<uint32_t>(&n - t.instructions.data) + 1;
  if (const uint32_t error =
          backend->init(&b, operands.tensors, n.input_count, operands.tensors + n.input_count, n.output_count, &call->handle, &release)) {
    call->handle = nullptr;
    return fail({Status::kBackend, Why::kBackendFailed}, 0, error);
  }
  if (release != 0 && options_.release_blob != nullptr) options_.release_blob(options_.release_self, record.segment);
  diagnostic_.name = nullptr;
  return Status::kOk;
}

void Instance::close() noexcept {
  if (program_ == nullptr) return;
  abandon();
  for (uint32_t pc = 0; pc < delegates_; ++pc) {
    const Call& call = calls_[pc];
    if (static_cast<CallKind>(call.kind) == CallKind::kDelegate && call.handle != nullptr && call.handle != &degraded_handle)
      backend_of(call)->destroy(call.handle);
  }
  delegates_ = 0;
  program_ = nullptr;
  running_ = false;
}

void Instance::reset_state() noexcept {
  for (const State& s : program_->table().states) {
    const Tensor& t = tensors_[s.tensor];
    const size_t bytes = static_cast<size_t>(extent_bytes(*t.desc));
    if (bytes == 0) continue;
    if (s.init < 0) std::memset(t.data, 0, bytes);
    else std::memcpy(t.data, tensors_[s.init].data, bytes);
  }
}

const Io& Instance::io(uint32_t method, uint32_t i, bool output) const noexcept {
  const ProgramTable& t = program_->table();
  return t.ios[(output ? t.methods[method].first_output : t.methods[method].first_input) + i];
}

// The start of every call that names a method.
Status Instance::find_method(uint32_t method) noexcept {
  const size_t count = program_->table().methods.size;
  diagnostic_ = Diagnostic{};
  return method < count ? Status(Status::kOk)
                        : fail({Status::kInvalidArgument, Why::kMethodIndex}, static_cast<int32_t>(count), static_cast<int32_t>(method));
}

Status Instance::find_io(uint32_t method, uint32_t i, bool output, uint32_t* tensor) noexcept {
  MOTE_TRY(find_method(method));
  const Method& m = program_->table().methods[method];
  const uint32_t count = output ? m.output_count : m.input_count;
  if (i >= count)
    return fail({Status::kInvalidArgument, output ? Why::kOutputIndex : Why::kInputIndex}, static_cast<int32_t>(count),
                static_cast<int32_t>(i));
  *tensor = io(method, i, output).tensor;
  diagnostic_.tensor = static_cast<int32_t>(*tensor);
  return Status::kOk;
}

Status Instance::bind(uint32_t method, uint32_t i, bool output, void* data, size_t bytes) noexcept {
  uint32_t index;
  MOTE_TRY(find_io(method, i, output, &index));
  Tensor& tensor = tensors_[index];
  if (tensor.desc->storage < Storage::kInput) return fail({Status::kInvalidArgument, Why::kIoBank});
  // An output must have room for the largest size it can have, an input for what it has now.
  const uint32_t needed = extent_bytes(output ? program_->table().tensors[index] : *tensor.desc);
  MOTE_TRY(check_memory({static_cast<uint8_t*>(data), bytes}, needed, 1, {Status::kInvalidArgument, Why::kBufferSize}));
  const uint32_t width = dtype_bytes(tensor.dtype());
  if (width > 1 && (reinterpret_cast<uintptr_t>(data) & (width - 1)) != 0)
    return fail({Status::kInvalidArgument, Why::kBufferAlignment}, width);
  // A backend that was handed the buffer before and still works on it is waited for: that buffer is the caller's again.
  for (uint32_t d = 0; running_ && d < depth_; ++d)
    if (is_pending(frames_[d])) end_run_over(index);
  tensor.data = data != nullptr ? data : nothing;
  return Status::kOk;
}

Status Instance::bind_input(uint32_t method, uint32_t i, const void* data, size_t bytes) noexcept {
  return bind(method, i, false, const_cast<void*>(data), bytes);
}

Status Instance::bind_output(uint32_t method, uint32_t i, void* data, size_t bytes) noexcept { return bind(method, i, true, data, bytes); }

Status Instance::set_input_dims(uint32_t method, uint32_t i, const int32_t* dims, uint32_t rank) noexcept {
  uint32_t index;
  MOTE_TRY(find_io(method, i, false, &index));
  const TensorDesc& bound = program_->table().tensors[index];
  if (rank != bound.rank) return fail({Status::kShape, Why::kRank}, bound.rank, static_cast<int32_t>(rank));
  const TensorDesc& actual = *tensors_[index].desc;
  const bool same = rank == 0 || std::memcmp(dims, actual.dims, sizeof *dims * rank) == 0;
  MOTE_TRY(set_dims(index, dims, Why::kDimMismatch));
  if (!same) end_run_over(index);
  return Status::kOk;
}

// A run that was begun looked for every buffer then: it cannot go on when an input has another size, and maybe no buffer, since.
void Instance::end_run_over(uint32_t tensor) noexcept {
  if (!running_) return;
  const Method& m = program_->table().methods[method_];
  for (uint32_t i = m.first_input; i < m.first_output + m.output_count; ++i) {
    if (program_->table().ios[i].tensor != tensor) continue;
    abandon();
    running_ = false;
  }
}

// Gives a tensor the sizes it has now. `fixed` names the rule that a wrong size of a fixed dimension breaks.
Status Instance::set_dims(uint32_t tensor, const int32_t* dims, Why fixed) noexcept {
  const TensorDesc& bound = program_->table().tensors[tensor];
  // Dynamic tensors have their descriptor in instance memory.
  TensorDesc& actual = *const_cast<TensorDesc*>(tensors_[tensor].desc);
  bool changed = false;
  for (int k = 0; k < bound.rank; ++k) {
    const bool dynamic = (bound.dynamic >> k & 1) != 0;
    if (dims[k] != bound.dims[k] && !(dynamic && dims[k] >= 0 && dims[k] < bound.dims[k]))
      return fail({Status::kShape, dynamic ? Why::kBound : fixed}, bound.dims[k], dims[k]);
    changed |= dims[k] != actual.dims[k];
  }
  if (!changed) return Status::kOk;
  std::memcpy(actual.dims, dims, sizeof *dims * bound.rank);
  set_dense_strides(actual);
  // The bytes bound so far were measured for another size.
  if (actual.storage == Storage::kInput) tensors_[tensor].data = nullptr;
  return Status::kOk;
}

}  // namespace mote
