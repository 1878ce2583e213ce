#include "mote/runtime/instance.h"

#include "mote/runtime/delegate.h"
#include "mote/runtime/verify.h"

namespace mote {
namespace {

bool same_dims(const TensorDesc& d, const int32_t* dims) noexcept {
  for (int i = 0; i < d.rank; ++i)
    if (d.dims[i] != dims[i]) return false;
  return true;
}

// Where empty tensors that nobody bound point to.
uint8_t nothing[8];

}  // namespace

Status Instance::fail(Status status, int32_t expected, int32_t found) noexcept {
  diagnostic_.status = status;
  diagnostic_.expected = expected;
  diagnostic_.found = found;
  return status;
}

void Instance::trace(TraceEvent::Kind kind) const noexcept {
  if (options_.trace != nullptr && options_.trace->event != nullptr) options_.trace->event(options_.trace->self, {kind, method_, pc_});
}

Status Instance::create(const Program& program, const InstanceMemory& memory, const InstanceOptions& options, Diagnostic* diagnostic) noexcept {
  close();
  diagnostic_ = Diagnostic{};
  program_ = &program;
  options_ = options;
  const uint32_t threads = options.threads != nullptr ? options.threads->count : 1;
  const MemoryNeeds& needs = program.needs();
  const uint64_t scratch = uint64_t{needs.stated.scratch_base} + uint64_t{threads} * needs.stated.scratch_per_thread;
  Status status = Status::kOk;
  if (options.threads != nullptr && (options.threads->parallel_for == nullptr || threads == 0)) {
    status = fail({Status::kInvalidArgument, Why::kThreads});
  } else if (memory.scratch.size < scratch || (scratch > 0 && reinterpret_cast<uintptr_t>(memory.scratch.data) % 16 != 0)) {
    status = fail({Status::kOutOfMemory, Why::kScratchSize}, clamp32(scratch), clamp32(memory.scratch.size));
  } else {
    scratch_ = memory.scratch;
    status = lay_out(memory);
  }
  if (diagnostic != nullptr) *diagnostic = diagnostic_;
  if (!status.ok()) close();
  else trace(TraceEvent::Kind::kInit);
  return status;
}

Status Instance::lay_out(const InstanceMemory& memory) noexcept {
  const ProgramTable& t = program_->table();
  const uint32_t needed = program_->needs().instance;
  if (memory.instance.size < needed || (needed > 0 && reinterpret_cast<uintptr_t>(memory.instance.data) % 8 != 0))
    return fail({Status::kOutOfMemory, Why::kInstanceSize}, needed, clamp32(memory.instance.size));
  InstanceLayout layout;
  layout.tensors = static_cast<uint32_t>(t.tensors.size);
  layout.calls = static_cast<uint32_t>(t.instructions.size);
  layout.frames = program_->needs().stated.max_nesting;
  uint8_t* at = memory.instance.data;
  tensors_ = reinterpret_cast<Tensor*>(at);
  at += layout.tensors_bytes(sizeof(void*));
  calls_ = reinterpret_cast<Call*>(at);
  at += layout.calls_bytes(sizeof(void*));
  frames_ = reinterpret_cast<Frame*>(at);
  at += layout.frames_bytes();
  dynamic_ = reinterpret_cast<TensorDesc*>(at);
  for (const TensorDesc& d : t.tensors) at += d.dynamic != 0 ? sizeof(TensorDesc) : 0;
  MOTE_TRY(resolve_tensors(memory));
  MOTE_TRY(resolve_calls(at));
  reset_state();
  return Status::kOk;
}

Status Instance::resolve_tensors(const InstanceMemory& memory) noexcept {
  const ProgramTable& t = program_->table();
  if (memory.banks.size != t.banks.size) return fail({Status::kOutOfMemory, Why::kBankCount}, clamp32(t.banks.size), clamp32(memory.banks.size));
  for (uint32_t i = 0; i < t.banks.size; ++i) {
    const ByteSpan bank = memory.banks[i];
    if (bank.size < t.banks[i].size) return fail({Status::kOutOfMemory, Why::kBankSize}, clamp32(t.banks[i].size), clamp32(bank.size));
    if (t.banks[i].size > 0 && reinterpret_cast<uintptr_t>(bank.data) % t.banks[i].alignment != 0) return fail({Status::kInvalidArgument, Why::kBankAlignment}, t.banks[i].alignment, i);
  }
  TensorDesc* next_dynamic = dynamic_;
  for (uint32_t i = 0; i < t.tensors.size; ++i) {
    const TensorDesc& d = t.tensors[i];
    tensors_[i] = {&d, nullptr};
    if (d.dynamic != 0) {
      *next_dynamic = d;
      tensors_[i].desc = next_dynamic++;
    }
    if (d.storage == Storage::kConstant) tensors_[i].data = const_cast<uint8_t*>(program_->segment(d.bank).data + d.offset);
    else if (d.storage == Storage::kArena || d.storage == Storage::kState) tensors_[i].data = memory.banks[d.bank].data + d.offset;
  }
  return Status::kOk;
}

Status Instance::resolve_calls(uint8_t* extended) noexcept {
  const ProgramTable& t = program_->table();
  uint32_t strip_end = 0;
  for (uint32_t pc = 0; pc < t.instructions.size; ++pc) {
    const Instruction& n = t.instructions[pc];
    diagnostic_.instruction = static_cast<int32_t>(pc);
    diagnostic_.op = n.op;
    MOTE_TRY(resolve_call(pc, n, pc < strip_end, &extended));
    if (n.op == static_cast<uint16_t>(ControlOp::kStrip)) strip_end = pc + 1 + static_cast<const StripAttrs*>(calls_[pc].attrs)->body_count;
  }
  diagnostic_.instruction = diagnostic_.op = -1;
  return Status::kOk;
}

Status Instance::resolve_call(uint32_t pc, const Instruction& n, bool in_strip, uint8_t** extended) noexcept {
  const ProgramTable& t = program_->table();
  Call& call = calls_[pc];
  const OpDef* def = n.op < kFirstControlOp ? program_->definition(n) : nullptr;
  const CallKind kind = call_kind(*program_, n, def);
  call.handle = nullptr;
  call.attrs = t.attrs.data + n.attrs;
  call.operands = t.operands.data + n.operands;
  call.input_count = n.input_count;
  call.output_count = static_cast<uint8_t>(n.output_count);
  call.kind = static_cast<uint8_t>(kind);
  if (def != nullptr && n.attrs_size < def->attrs_size) {
    extend_attrs(call.attrs, n.attrs_size, def->attrs_size, *extended);
    call.attrs = *extended;
    *extended += (def->attrs_size + 3u) & ~3u;
  }
  if (kind == CallKind::kDelegate) return init_backend(n, &call);
  if (kind == CallKind::kDynamic) call.def = def;
  if (kind != CallKind::kStatic) return Status::kOk;
  OpContext c = context();
  set_call(c, call);
  if (in_strip) c.rows = kSomeRows;
  call.kernel = def->select(c);
  return call.kernel != nullptr ? Status(Status::kOk) : fail({Status::kUnsupported, Why::kKernelMissing}, 0, n.op);
}

Status Instance::init_backend(const Instruction& n, Call* call) noexcept {
  const ProgramTable& t = program_->table();
  const BackendRecord& record = t.backends[static_cast<const DelegateAttrs*>(call->attrs)->backend];
  diagnostic_.name = t.string(record.name);
  const mote_backend* backend = find_backend(options_.backends, diagnostic_.name);
  if (backend == nullptr) return fail({Status::kBackend, Why::kBackendMissing});
  if (backend->abi != MOTE_BACKEND_ABI) return fail({Status::kBackend, Why::kBackendVersion}, MOTE_BACKEND_ABI, backend->abi);
  if (const uint32_t error = backend->probe(t.string(record.version), t.string(record.capabilities))) return fail({Status::kBackend, Why::kBackendVersion}, 0, error);
  const ConstBytes blob = program_->segment(record.segment);
  if (blob.size < t.segments[record.segment].size) return fail({Status::kInvalidArgument, Why::kSegmentMissing}, 0, record.segment);
  const mote_backend_blob b{blob.data, blob.size, t.string(record.version), t.string(record.capabilities), static_cast<const DelegateAttrs*>(call->attrs)->entry};
  BackendOperands operands(tensors_, *call);
  uint32_t release = 0;
  delegates_ = static_cast<uint32_t>(&n - t.instructions.data) + 1;
  if (const uint32_t error = backend->init(&b, operands.tensors, n.input_count, operands.tensors + n.input_count, n.output_count, &call->handle, &release)) {
    call->handle = nullptr;
    return fail({Status::kBackend, Why::kBackendFailed}, 0, error);
  }
  diagnostic_.name = nullptr;
  return Status::kOk;
}

void Instance::close() noexcept {
  if (program_ == nullptr) return;
  const ProgramTable& t = program_->table();
  for (uint32_t pc = 0; pc < delegates_; ++pc) {
    const Call& call = calls_[pc];
    if (static_cast<CallKind>(call.kind) != CallKind::kDelegate || call.handle == nullptr) continue;
    const BackendRecord& record = t.backends[static_cast<const DelegateAttrs*>(call.attrs)->backend];
    find_backend(options_.backends, t.string(record.name))->destroy(call.handle);
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

Status Instance::find_io(uint32_t method, uint32_t i, bool output, uint32_t* tensor) noexcept {
  const ProgramTable& t = program_->table();
  diagnostic_ = Diagnostic{};
  if (method >= t.methods.size) return fail({Status::kInvalidArgument, Why::kMethodIndex}, clamp32(t.methods.size), method);
  const uint32_t count = output ? t.methods[method].output_count : t.methods[method].input_count;
  if (i >= count) return fail({Status::kInvalidArgument, output ? Why::kOutputIndex : Why::kInputIndex}, count, i);
  *tensor = io(method, i, output).tensor;
  diagnostic_.tensor = static_cast<int32_t>(*tensor);
  return Status::kOk;
}

Status Instance::bind(uint32_t method, uint32_t i, bool output, void* data, size_t bytes) noexcept {
  uint32_t index;
  MOTE_TRY(find_io(method, i, output, &index));
  Tensor& tensor = tensors_[index];
  if (tensor.desc->storage != Storage::kInput && tensor.desc->storage != Storage::kOutput) return fail({Status::kInvalidArgument, Why::kIoBank});
  // An output must have room for the largest size it can have, an input for what it has now.
  const uint32_t needed = extent_bytes(output ? program_->table().tensors[index] : *tensor.desc);
  if (bytes < needed || (data == nullptr && needed > 0)) return fail({Status::kInvalidArgument, Why::kBufferSize}, clamp32(needed), clamp32(bytes));
  const uint32_t width = dtype_bytes(tensor.dtype());
  if (width > 1 && (reinterpret_cast<uintptr_t>(data) & (width - 1)) != 0) return fail({Status::kInvalidArgument, Why::kBufferAlignment}, width);
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
  if (rank != bound.rank) return fail({Status::kShape, Why::kRank}, bound.rank, rank);
  for (uint32_t k = 0; k < rank; ++k) {
    const bool dynamic = (bound.dynamic >> k & 1) != 0;
    if (dims[k] == bound.dims[k] || (dynamic && dims[k] >= 0 && dims[k] < bound.dims[k])) continue;
    return fail({Status::kShape, dynamic ? Why::kBound : Why::kDimMismatch}, bound.dims[k], dims[k]);
  }
  if (bound.dynamic == 0) return Status::kOk;
  TensorDesc& actual = *const_cast<TensorDesc*>(tensors_[index].desc);
  if (same_dims(actual, dims)) return Status::kOk;
  for (uint32_t k = 0; k < rank; ++k) actual.dims[k] = dims[k];
  set_dense_strides(actual);
  // The bytes bound so far were measured for another size.
  if (actual.storage == Storage::kInput) tensors_[index].data = nullptr;
  return Status::kOk;
}

}  // namespace mote
