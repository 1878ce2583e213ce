// Opening programs: mapped, in memory, read in parts; with weights in a second file.

#include <cstring>

#include "mote/api/impl/options.h"
#include "mote/api/impl/program.h"
#include "mote/format/delegate.h"
#include "mote/platform/loader.h"

mote_program::~mote_program() {
  for (size_t i = 0; i < segment_memory.size(); ++i) mote::api::release(segment_memory[i]);
  mote::api::release(table_memory);
  mote_registry_release(registry);
}

namespace mote::api {
namespace {

const char kOpen[] = "open the program";

bool listed(const char* name, const char* const* names, uint32_t count) noexcept {
  for (uint32_t i = 0; i < count; ++i)
    if (std::strcmp(names[i], name) == 0) return true;
  return false;
}

bool all_there(const char* const* names, uint32_t count) noexcept {
  for (uint32_t i = 0; names != nullptr && i < count; ++i)
    if (names[i] == nullptr) return false;
  return true;
}

// Every segment that is there; golden data that was not read cannot be used, and is no failure.
Status check_loaded(const Program& program) noexcept {
  const ProgramTable& t = program.table();
  for (uint32_t i = 0; i < t.segments.size; ++i) {
    // A signature signs the rest and is filled in later.
    if (t.segments[i].kind == SegmentKind::kSignature) continue;
    const ConstBytes bytes = program.segment(i);
    if (bytes.size < t.segments[i].size) continue;
    MOTE_TRY(check_segment(t.segments[i], bytes));
  }
  return check_layouts(program, nullptr);
}

// One attempt to open. Owns the half-made program until it is complete.
class Opening {
 public:
  Opening(const mote_open_options* options, mote_error* error) : error_(error) {
    if (!read_struct(options, &options_) || !names_are_there()) (void)fail({Status::kInvalidArgument, Why::kApiArgument});
    else if ((program_ = make<mote_program>()) == nullptr) (void)fail({Status::kOutOfMemory, Why::kMemory});
    else use_registry();
  }
  ~Opening() { destroy(program_); }

  bool ok() const { return program_ != nullptr && status_ == 0; }
  mote_status status() const { return status_; }
  const mote_open_options& options() const { return options_; }
  mote_program& program() { return *program_; }

  // Opens bytes that are all there.
  mote_status open_bytes(ConstBytes file, mote_program** out) {
    program_->file_bytes = file.size;
    ProgramSource source;
    source.file = file;
    if (has_weights() && !place_segments(file)) return status_;
    source.segments = {program_->segments.data(), program_->segments.size()};
    return finish(source, out);
  }

  // Reads the table, then the segments, into memory of this layer.
  mote_status open_parts(const ByteSource& from, mote_program** out) {
    program_->file_bytes = from.size;
    uint32_t table_size = 0;
    if (const Status s = find_table_size(from, &table_size); !s.ok()) return fail(s);
    program_->table_memory = take(table_size, kTableAlignment);
    if (program_->table_memory == nullptr) return status_;
    const ByteSpan memory{static_cast<uint8_t*>(program_->table_memory), table_size};
    ProgramTable table;
    Diagnostic d;
    if (const Status s = load_table(from, memory, &table, &d); !s.ok()) return report_failure(d);
    if (!read_segments(from, table)) return status_;
    ProgramSource source;
    source.file = memory;
    source.file_size = from.size;
    source.segments = {program_->segments.data(), program_->segments.size()};
    return finish(source, out);
  }

  mote_status fail(Status s, int64_t expected = 0, int64_t found = 0, const char* name = nullptr) {
    status_ = report(error_, kOpen, s, expected, found, name);
    return status_;
  }
  // A file that cannot be opened, with the system's reason. `name` where the caller named more files than one.
  mote_status fail_file(Status s, const char* name = nullptr) {
    char reason[128];
    last_file_error(reason, sizeof reason);
    (void)fail(s, 0, 0, name);
    append(error_, reason);
    return status_;
  }

 private:
  mote_status report_failure(const Diagnostic& d, const ProgramTable* table = nullptr) {
    status_ = report(error_, kOpen, d, {table, &program_->custom});
    return status_;
  }

  bool names_are_there() const {
    return all_there(options_.backends, options_.backend_count) && all_there(options_.require, options_.require_count);
  }

  void use_registry() {
    auto* registry = const_cast<mote_registry*>(options_.registry);
    if (registry == nullptr) return;
    registry->in_use.store(true);
    retain(registry);
    program_->registry = registry;
    program_->custom = OpRegistry({registry->ops, registry->op_count}, &program_->builtin);
  }

  bool has_weights() const { return options_.weights != nullptr || options_.weights_path != nullptr; }

  // The external weights as one run of bytes, mapped on demand. False: failed.
  bool find_weights(ConstBytes* out) {
    if (options_.weights != nullptr) {
      *out = {static_cast<const uint8_t*>(options_.weights), static_cast<size_t>(options_.weights_size)};
    } else if (options_.weights_path != nullptr) {
      const Status s = MappedFile::open(options_.weights_path, &program_->weights);
      if (!s.ok()) return (void)fail_file(s, options_.weights_path), false;
      *out = program_->weights.bytes();
    }
    return true;
  }

  static ConstBytes part(ConstBytes whole, const Segment& s) {
    if (s.offset > whole.size || s.size > whole.size - s.offset) return {};
    return {whole.data + s.offset, static_cast<size_t>(s.size)};
  }

  // Says where each segment is when some are in the second file. A segment that is not there stays empty; verification names it.
  bool place_segments(ConstBytes file) {
    ProgramTable table;
    Diagnostic d;
    if (!read_table(file, file.size, &table, &d).ok()) return (void)report_failure(d), false;
    ConstBytes weights;
    if (!find_weights(&weights)) return false;
    if (!count(times(table.segments.size, sizeof(ConstBytes)))) return false;
    if (!program_->segments.resize(table.segments.size)) return (void)fail({Status::kOutOfMemory, Why::kMemory}), false;
    for (uint32_t i = 0; i < table.segments.size; ++i) {
      const Segment& s = table.segments[i];
      program_->segments[i] = part((s.flags & kExternal) != 0 ? weights : file, s);
    }
    return true;
  }

  bool read_segments(const ByteSource& from, const ProgramTable& table) {
    ConstBytes weights;
    if (!find_weights(&weights)) return false;
    if (!count(times(table.segments.size, sizeof(ConstBytes) + sizeof(void*)))) return false;
    if (!program_->segments.resize(table.segments.size) || !program_->segment_memory.resize(table.segments.size))
      return (void)fail({Status::kOutOfMemory, Why::kMemory}), false;
    for (uint32_t i = 0; i < table.segments.size; ++i) {
      const Segment& s = table.segments[i];
      const bool wanted = s.kind == SegmentKind::kConstants || s.kind == SegmentKind::kBlob ||
                          (s.kind == SegmentKind::kGolden && (options_.flags & MOTE_OPEN_GOLDEN) != 0);
      if ((s.flags & kExternal) != 0) {
        program_->segments[i] = part(weights, s);
      } else if (wanted && s.size > 0) {
        void* memory = take(s.size, s.alignment);
        if (memory == nullptr) return false;
        program_->segment_memory[i] = memory;
        const ByteSpan bytes{static_cast<uint8_t*>(memory), static_cast<size_t>(s.size)};
        if (const Status status = load_segment(from, s, bytes, false); !status.ok()) return (void)fail(status), false;
        program_->segments[i] = bytes;
      }
    }
    return true;
  }

  // Counts memory that is about to be allocated; false and a failure beyond the limit.
  bool count(uint64_t bytes) {
    const uint64_t total = plus(program_->allocated_bytes, bytes), limit = options_.memory_limit_bytes;
    if (limit != 0 && total > limit) {
      (void)fail({Status::kOutOfMemory, Why::kMemoryLimit}, static_cast<int64_t>(limit), static_cast<int64_t>(total));
      return false;
    }
    program_->allocated_bytes = total;
    return true;
  }

  // Memory within the limit, or null and a failure.
  void* take(uint64_t bytes, size_t alignment) {
    if (!count(footprint(bytes, alignment))) return nullptr;
    void* p = bytes <= SIZE_MAX ? allocate(static_cast<size_t>(bytes), alignment) : nullptr;
    if (p == nullptr) (void)fail({Status::kOutOfMemory, Why::kMemory}, 0, static_cast<int64_t>(bytes));
    return p;
  }

  // Whether every call of a backend says what runs in its place; the instance then reports that it does.
  bool has_fallback(uint32_t backend) const {
    const ProgramTable& t = program_->table();
    for (const Instruction& n : t.instructions) {
      if (n.op != static_cast<uint16_t>(ControlOp::kDelegate)) continue;
      const void* attrs = t.attrs.data + n.attrs;
      if (static_cast<const DelegateAttrs*>(attrs)->backend == backend && fallback_count(n, attrs) == 0) return false;
    }
    return true;
  }

  // The backends a program names must be allowed and registered, so that nothing falls back in silence.
  bool check_backends() {
    for (const BackendRecord& b : program_->table().backends) {
      const char* name = program_->table().string(b.name);
      if (options_.backends != nullptr && !listed(name, options_.backends, options_.backend_count))
        return (void)fail({Status::kPolicy, Why::kBackendNotAllowed}, 0, 0, name), false;
      const bool found = program_->registry != nullptr && find_backend(program_->registry->backend_list(), name) != nullptr;
      const bool may_fall_back = (options_.flags & MOTE_OPEN_NO_FALLBACK) == 0;
      if (!found && !(may_fall_back && has_fallback(static_cast<uint32_t>(&b - program_->table().backends.data))))
        return (void)fail({Status::kBackend, Why::kBackendMissing}, 0, 0, name), false;
    }
    return true;
  }

  // Every operator must have been placed where the caller requires it; the first that was not is named. What a fallback computes was.
  bool check_required() {
    if (options_.require == nullptr) return true;
    const ProgramTable& t = program_->table();
    Diagnostic d;
    for (uint32_t pc = 0; pc < t.instructions.size; ++pc) {
      const Instruction& n = t.instructions[pc];
      if (n.op >= kFirstControlOp && n.op != static_cast<uint16_t>(ControlOp::kDelegate)) continue;
      const Place place = place_of(t, pc);
      if (!listed(place.backend, options_.require, options_.require_count) && d.found++ == 0) {
        d.instruction = static_cast<int32_t>(pc);
        d.op = n.op;
        d.name = place.backend;
      }
      pc += place.fallback_count;
    }
    if (d.found == 0) return true;
    d.status = {Status::kPolicy, Why::kPlacedElsewhere};
    return (void)report_failure(d, &t), false;
  }

  mote_status finish(const ProgramSource& source, mote_program** out) {
    Diagnostic d;
    if (const Status s = Program::open(source, program_->custom, &program_->program, &d); !s.ok()) {
      // The names help only when the table itself is sound.
      ProgramTable table;
      Diagnostic ignored;
      const bool sound = read_table(source.file, program_->file_bytes, &table, &ignored).ok();
      return report_failure(d, sound ? &table : nullptr);
    }
    if (!check_required() || !check_backends()) return status_;
    program_->flags = options_.flags;
    if ((options_.flags & MOTE_OPEN_VERIFY_DIGESTS) != 0)
      if (const Status s = check_loaded(program_->program); !s.ok()) return fail(s);
    if (options_.trace != nullptr) options_.trace(options_.trace_context, MOTE_TRACE_LOAD, 0, 0);
    *out = program_;
    program_ = nullptr;
    return MOTE_OK;
  }

  mote_open_options options_;
  mote_error* error_;
  mote_program* program_ = nullptr;
  mote_status status_ = 0;
};

// A reader of the C interface as a ByteSource.
Status read_through(void* self, uint64_t offset, ByteSpan to) {
  const auto* reader = static_cast<const mote_reader*>(self);
  return reader->read(reader->context, offset, to.data, to.size) == 0 ? Status(Status::kOk) : Status(Status::kIo, Why::kFileRead);
}

}  // namespace
}  // namespace mote::api

using mote::Status;
using mote::Why;
using mote::api::kOpen;
using mote::api::Opening;
using mote::api::report;

extern "C" {

mote_status mote_program_open_file(const char* path, const mote_open_options* options, mote_program** out_program, mote_error* error) {
  if (path == nullptr || out_program == nullptr) return report(error, kOpen, {Status::kInvalidArgument, Why::kApiArgument});
  Opening opening(options, error);
  if (!opening.ok()) return opening.status();
  if ((opening.options().flags & MOTE_OPEN_READ) != 0) {
    mote::File file;
    if (const Status s = mote::File::open(path, &file); !s.ok()) return opening.fail_file(s);
    return opening.open_parts(mote::byte_source(file), out_program);
  }
  if (const Status s = mote::MappedFile::open(path, &opening.program().file); !s.ok()) return opening.fail_file(s);
  return opening.open_bytes(opening.program().file.bytes(), out_program);
}

mote_status mote_program_open_memory(const void* data, size_t size, const mote_open_options* options, mote_program** out_program,
                                     mote_error* error) {
  if (data == nullptr || out_program == nullptr) return report(error, kOpen, {Status::kInvalidArgument, Why::kApiArgument});
  Opening opening(options, error);
  return opening.ok() ? opening.open_bytes({static_cast<const uint8_t*>(data), size}, out_program) : opening.status();
}

mote_status mote_program_open_reader(const mote_reader* reader, const mote_open_options* options, mote_program** out_program,
                                     mote_error* error) {
  mote_reader r;
  if (reader == nullptr || !mote::api::read_struct(reader, &r) || r.read == nullptr || out_program == nullptr)
    return report(error, kOpen, {Status::kInvalidArgument, Why::kApiArgument});
  Opening opening(options, error);
  return opening.ok() ? opening.open_parts({&r, r.size, &mote::api::read_through}, out_program) : opening.status();
}

mote_program* mote_program_retain(mote_program* program) {
  if (program != nullptr) program->references.fetch_add(1, std::memory_order_relaxed);
  return program;
}

void mote_program_release(mote_program* program) {
  if (program != nullptr && program->references.fetch_sub(1, std::memory_order_acq_rel) == 1) mote::api::destroy(program);
}

mote_status mote_program_verify_digests(const mote_program* program, mote_error* error) {
  static const char kDoing[] = "verify the program's digests";
  if (program == nullptr) return report(error, kDoing, {Status::kInvalidArgument, Why::kApiArgument});
  const Status s = mote::api::check_loaded(program->program);
  return s.ok() ? mote_status{MOTE_OK} : report(error, kDoing, s);
}

}  // extern "C"
