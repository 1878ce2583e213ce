// Making and ending instances.

#include "mote/api/impl/instance.h"

#include <cstring>

#include "mote/api/impl/options.h"
#include "mote/kernels/select.h"
#include "mote/platform/cpu.h"

mote_instance::~mote_instance() {
  // Backends get their handles back while the memory and the program still exist.
  instance.close();
  for (size_t i = 0; i < buffers.size(); ++i) mote::api::release(buffers[i].own);
  for (size_t i = 0; i < bank_memory.size(); ++i) mote::api::release(bank_memory[i]);
  if (pool != nullptr) mote::api::destroy(pool);
  mote::api::release(scratch_memory);
  mote::api::release(instance_memory);
  mote_program_release(program);
}

bool mote_instance::count(uint64_t bytes, mote::Diagnostic* why) noexcept {
  const uint64_t total = mote::plus(allocated_bytes, bytes);
  if (memory_limit != 0 && total > memory_limit) {
    why->status = {mote::Status::kOutOfMemory, mote::Why::kMemoryLimit};
    why->expected = mote::clamp32(memory_limit);
    why->found = mote::clamp32(total);
    return false;
  }
  allocated_bytes = total;
  return true;
}

void* mote_instance::take(uint64_t bytes, size_t alignment, mote::Diagnostic* why) noexcept {
  const uint64_t counted = mote::api::footprint(bytes, alignment);
  if (!count(counted, why)) return nullptr;
  void* p = bytes <= SIZE_MAX ? mote::api::allocate(static_cast<size_t>(bytes), alignment) : nullptr;
  if (p == nullptr) {
    allocated_bytes -= counted;
    why->status = {mote::Status::kOutOfMemory, mote::Why::kMemory};
    why->found = mote::clamp32(bytes);
    return nullptr;
  }
  return p;
}

namespace mote::api {
namespace {

const char kCreate[] = "create an instance";

void forward_trace(void* self, const TraceEvent& e) {
  const auto* i = static_cast<const mote_instance*>(self);
  i->trace(i->trace_context, static_cast<mote_trace_kind>(e.kind), e.method, e.instruction);
}
static_assert(static_cast<int>(TraceEvent::Kind::kDegraded) == MOTE_TRACE_DEGRADED, "mote.h must agree with runtime/trace.h");
static_assert(static_cast<int>(TraceEvent::Kind::kLoad) == MOTE_TRACE_LOAD, "mote.h must agree with runtime/trace.h");

// A backend's own text for a number it returned, or null.
const char* backend_text(const Diagnostic& why, const mote_program& program) noexcept {
  if (why.status.code() != Status::kBackend || why.name == nullptr || why.expected != 0 || program.registry == nullptr) return nullptr;
  const mote_backend* b = find_backend(program.registry->backend_list(), why.name);
  return b != nullptr && b->abi == MOTE_BACKEND_ABI && b->describe != nullptr ? b->describe(static_cast<uint32_t>(why.found)) : nullptr;
}

void count_released(void* self, uint32_t segment) {
  auto* i = static_cast<mote_instance*>(self);
  if (segment < i->released.size()) ++i->released[segment];
}

ByteSpan span_of(const mote_memory& m) { return {static_cast<uint8_t*>(m.data), static_cast<size_t>(m.bytes)}; }

// The instruction set of that name, or the most able one. False when this machine cannot run it.
bool find_kernels(const char* name, kernels::Isa* isa) {
  const uint32_t features = cpu_features();
  *isa = kernels::best_isa(features);
  if (name == nullptr) return true;
  for (uint8_t i = 0; i < static_cast<uint8_t>(kernels::Isa::kCount); ++i) {
    *isa = static_cast<kernels::Isa>(i);
    if (std::strcmp(kernels::isa_name(*isa), name) == 0) return kernels::can_run(*isa, features);
  }
  return false;
}

// The threads that share the work of a run: the caller's, or a pool for this instance. Null in *out: there are none.
bool find_threads(mote_instance& i, const mote_instance_options& options, const Threads** out, Diagnostic* why) {
  *out = nullptr;
  if (options.threads > ThreadPool::kMaxThreads) {
    why->status = {Status::kInvalidArgument, Why::kThreadCount};
    why->expected = static_cast<int32_t>(ThreadPool::kMaxThreads);
    why->found = clamp32(options.threads);
    return false;
  }
  if (options.threads < 2) return true;
  if (options.parallel_for != nullptr) {
    i.threads = {options.parallel_context, options.threads, options.parallel_for};
    *out = &i.threads;
    return true;
  }
  i.pool = make<ThreadPool>();
  if (i.pool == nullptr || !i.pool->start(options.threads)) {
    why->status = {Status::kOutOfMemory, Why::kThreadStart};
    return false;
  }
  *out = &i.pool->threads();
  return true;
}

// Collects the memory of an instance: the caller's where it was given, this layer's elsewhere.
bool collect(mote_instance& i, const mote_instance_options& options, InstanceMemory* out, Diagnostic* why) {
  const uint32_t threads = options.threads > 1 ? options.threads : 1;
  const MemoryNeeds& needs = i.program->program.needs();
  const Span<const Bank> banks = i.table().banks;
  if (options.instance != nullptr) {
    out->instance = span_of(*options.instance);
  } else {
    i.instance_memory = i.take(needs.instance, 16, why);
    if (i.instance_memory == nullptr) return false;
    out->instance = {static_cast<uint8_t*>(i.instance_memory), needs.instance};
  }
  if (options.scratch != nullptr) {
    out->scratch = span_of(*options.scratch);
  } else if (needs.scratch(threads) > 0) {
    i.scratch_memory = i.take(needs.scratch(threads), 64, why);
    if (i.scratch_memory == nullptr) return false;
    out->scratch = {static_cast<uint8_t*>(i.scratch_memory), static_cast<size_t>(needs.scratch(threads))};
  }
  // What the caller says there is beyond the program's banks is never looked at.
  if (options.banks != nullptr && options.bank_count != banks.size) {
    why->status = {Status::kOutOfMemory, Why::kBankCount};
    why->expected = clamp32(banks.size);
    why->found = clamp32(options.bank_count);
    return false;
  }
  const size_t count = banks.size;
  const uint64_t own_banks = options.banks != nullptr ? 0 : times(count, sizeof(void*));
  if (!i.count(plus(times(count, sizeof(ByteSpan)), own_banks), why) || !i.count(times(i.table().ios.size, sizeof(IoBuffer)), why))
    return false;
  if (i.table().backends.size > 0 && !i.count(times(i.table().segments.size, sizeof(uint32_t)), why)) return false;
  const bool made = (i.table().backends.size == 0 || i.released.resize(i.table().segments.size)) && i.banks.resize(count) &&
                    (options.banks != nullptr || i.bank_memory.resize(count)) && i.buffers.resize(i.table().ios.size);
  if (!made) {
    why->status = {Status::kOutOfMemory, Why::kMemory};
    return false;
  }
  for (size_t b = 0; b < count; ++b) {
    if (options.banks != nullptr) {
      i.banks[b] = span_of(options.banks[b]);
      continue;
    }
    i.bank_memory[b] = i.take(banks[b].size, banks[b].alignment, why);
    if (i.bank_memory[b] == nullptr) return false;
    i.banks[b] = {static_cast<uint8_t*>(i.bank_memory[b]), static_cast<size_t>(banks[b].size)};
  }
  out->banks = {i.banks.data(), i.banks.size()};
  return true;
}

}  // namespace
mote_status report_backend(mote_error* error, const char* doing, const Diagnostic& why, const mote_program& program) noexcept {
  const mote_status status = report(error, doing, why, program.names());
  if (error != nullptr) append(error, backend_text(why, program));
  return status;
}

}  // namespace mote::api

using mote::Status;
using mote::Why;
using mote::api::report;

extern "C" {

mote_status mote_instance_create(mote_program* program, const mote_instance_options* options, mote_instance** out_instance,
                                 mote_error* error) {
  using namespace mote::api;
  mote_instance_options o;
  if (program == nullptr || out_instance == nullptr || !read_struct(options, &o))
    return report(error, kCreate, {Status::kInvalidArgument, Why::kApiArgument});
  if ((program->flags & MOTE_OPEN_ONE_INSTANCE) != 0 && program->has_instance.exchange(true))
    return report(error, kCreate, {Status::kBusy, Why::kOneInstance});
  mote_instance* i = make<mote_instance>();
  if (i == nullptr) {
    program->has_instance.store(false);
    return report(error, kCreate, {Status::kOutOfMemory, Why::kMemory});
  }
  i->program = mote_program_retain(program);
  i->memory_limit = o.memory_limit_bytes;
  i->trace = o.trace;
  i->trace_context = o.trace_context;
  i->hook = {i, &forward_trace};
  mote::InstanceMemory memory;
  mote::InstanceOptions settings;
  mote::Diagnostic why;
  if (o.trace != nullptr) settings.trace = &i->hook;
  if (program->registry != nullptr) settings.backends = program->registry->backend_list();
  settings.release_blob = &count_released;
  settings.release_self = i;
  mote::kernels::Isa isa;
  bool made = find_kernels(o.kernels, &isa);
  if (!made) {
    why.status = {Status::kUnsupported, Why::kKernelsName};
    why.name = o.kernels;
  }
  settings.select = mote::kernels::select_for(isa);
  if (made) made = find_threads(*i, o, &settings.threads, &why);
  if (made) made = collect(*i, o, &memory, &why);
  if (made) made = i->instance.create(program->program, memory, settings, &why).ok();
  if (made && (program->flags & MOTE_OPEN_NO_FALLBACK) != 0 && i->instance.degraded_count() > 0) {
    why = i->instance.degraded_why();
    made = false;
  }
  if (!made) {
    const mote_status status = report_backend(error, kCreate, why, *program);
    destroy(i);
    program->has_instance.store(false);
    return status;
  }
  give_blobs_back(*i);
  *out_instance = i;
  return MOTE_OK;
}

uint32_t mote_instance_degraded(const mote_instance* instance, mote_error* why) {
  if (instance == nullptr) return 0;
  const uint32_t count = instance->instance.degraded_count();
  if (count > 0) mote::api::report_backend(why, "use the backend", instance->instance.degraded_why(), *instance->program);
  return count;
}

const char* mote_instance_backend(const mote_instance* instance, uint32_t instruction) {
  if (instance == nullptr || instruction >= instance->table().instructions.size) return nullptr;
  return instance->instance.is_degraded(instruction) ? "cpu" : mote::api::place_of(instance->table(), instruction).backend;
}

mote_status mote_instance_set_memory_limit(mote_instance* instance, uint64_t bytes, mote_error* error) {
  static const char kDoing[] = "set the memory limit";
  if (instance == nullptr) return report(error, kDoing, {Status::kInvalidArgument, Why::kApiArgument});
  if (bytes != 0 && instance->allocated_bytes > bytes)
    return report(error, kDoing, {Status::kOutOfMemory, Why::kMemoryLimit}, static_cast<int64_t>(bytes),
                  static_cast<int64_t>(instance->allocated_bytes));
  instance->memory_limit = bytes;
  return MOTE_OK;
}

const char* mote_kernels_name(uint32_t index) {
  const uint32_t features = mote::cpu_features();
  for (uint8_t i = 0; i < static_cast<uint8_t>(mote::kernels::Isa::kCount); ++i) {
    const auto isa = static_cast<mote::kernels::Isa>(i);
    if (mote::kernels::can_run(isa, features) && index-- == 0) return mote::kernels::isa_name(isa);
  }
  return nullptr;
}

void mote_instance_destroy(mote_instance* instance) { mote::api::destroy(instance); }

uint64_t mote_instance_allocated_bytes(const mote_instance* instance) { return instance != nullptr ? instance->allocated_bytes : 0; }

}  // extern "C"
