#pragma once

#include <atomic>

#include "mote/api/impl/error.h"
#include "mote/api/impl/memory.h"
#include "mote/api/impl/registry.h"
#include "mote/platform/file.h"
#include "mote/runtime/program.h"

struct mote_program {
  std::atomic<uint32_t> references{1};
  mote_registry* registry = nullptr;  // a reference, or null
  mote::OpRegistry builtin{mote::builtin_ops()};
  mote::OpRegistry custom{{}, &builtin};
  mote::Program program;

  // Where the bytes are: a mapping, the caller's, or memory of this layer.
  mote::MappedFile file;
  mote::MappedFile weights;
  void* table_memory = nullptr;
  mote::api::Array<void*> segment_memory;
  mote::api::Array<mote::ConstBytes> segments;  // empty while all lie inside the file
  uint32_t flags = 0;                           // it was opened with
  std::atomic<bool> has_instance{false};        // with MOTE_OPEN_ONE_INSTANCE
  uint64_t file_bytes = 0;
  uint64_t allocated_bytes = 0;

  mote_program() = default;
  ~mote_program();

  const mote::ProgramTable& table() const { return program.table(); }
  mote::api::Names names() const { return {&program.table(), &custom}; }
};

namespace mote::api {

// As report(), with what the backend itself says of its failure.
mote_status report_backend(mote_error* error, const char* doing, const Diagnostic& why, const mote_program& program) noexcept;

// Where an instruction was placed: "cpu" for every one but a delegate.
struct Place {
  const char* backend;
  uint32_t fallback_count;  // instructions behind it that run in its place
};
Place place_of(const ProgramTable& table, uint32_t instruction) noexcept;

inline mote_status invalid_argument() { return Status(Status::kInvalidArgument, Why::kApiArgument).bits(); }

}  // namespace mote::api
