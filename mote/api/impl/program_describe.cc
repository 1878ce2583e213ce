// What a program says of itself.

#include <cstring>

#include "mote/api/impl/options.h"
#include "mote/api/impl/program.h"
#include "mote/core/size.h"
#include "mote/format/evidence.h"

namespace mote::api {
namespace {

mote_status not_found(Why why) noexcept { return Status(Status::kNotFound, why).bits(); }

const Io* find_io(const mote_program* program, uint32_t method, uint32_t index, bool output) noexcept {
  if (program == nullptr || method >= program->table().methods.size) return nullptr;
  const Method& m = program->table().methods[method];
  if (index >= (output ? m.output_count : m.input_count)) return nullptr;
  return &program->table().ios[(output ? m.first_output : m.first_input) + index];
}

mote_status info(const mote_program* program, uint32_t method, uint32_t index, bool output, mote_tensor_info* out) noexcept {
  if (program == nullptr || out == nullptr) return invalid_argument();
  const ProgramTable& t = program->table();
  if (method >= t.methods.size) return not_found(Why::kMethodIndex);
  const Io* io = find_io(program, method, index, output);
  if (io == nullptr) return not_found(output ? Why::kOutputIndex : Why::kInputIndex);
  const TensorDesc& d = t.tensors[io->tensor];
  mote_tensor_info i;
  std::memset(&i, 0, sizeof i);
  i.name = t.string(io->name);
  i.dtype = static_cast<mote_dtype>(d.dtype);
  i.rank = d.rank;
  for (int k = 0; k < d.rank; ++k) i.dims[k] = d.dims[k];
  i.dynamic = d.dynamic;
  i.bytes = dense_bytes(d);
  i.in_bank = d.storage == Storage::kArena || d.storage == Storage::kState;
  for (const Quant& q : t.quants) {
    if (q.tensor != io->tensor) continue;
    i.quantized = 1;
    i.scale = q.scale;
    i.zero_point = q.zero_point;
  }
  return write_struct(i, out) ? mote_status{MOTE_OK} : invalid_argument();
}

// True when `key` is `kind`, then `method`, a dot and `name`.
bool is_key(const char* key, const char* kind, const char* method, const char* name) noexcept {
  const size_t kinds = std::strlen(kind), methods = std::strlen(method);
  return std::strncmp(key, kind, kinds) == 0 && std::strncmp(key + kinds, method, methods) == 0 && key[kinds + methods] == '.' &&
         std::strcmp(key + kinds + methods + 1, name) == 0;
}

// The name of the input or output of which `name` is the tensor's name in the model that the program was made from; null: none.
const char* name_of_source(const mote_program* program, uint32_t method, const char* name, bool output) noexcept {
  const ProgramTable& t = program->table();
  const char *kind = output ? kSourceOutput : kSourceInput, *method_name = t.string(t.methods[method].name);
  for (const Pair& p : t.evidence) {
    if (std::strcmp(t.string(p.value), name) != 0) continue;
    for (uint32_t i = 0;; ++i) {
      const Io* io = find_io(program, method, i, output);
      if (io == nullptr) break;
      if (is_key(t.string(p.key), kind, method_name, t.string(io->name))) return t.string(io->name);
    }
  }
  return nullptr;
}

mote_status find(const mote_program* program, uint32_t method, const char* name, bool output, uint32_t* out_index) noexcept {
  if (program == nullptr || name == nullptr || out_index == nullptr) return invalid_argument();
  if (method >= program->table().methods.size) return not_found(Why::kMethodIndex);
  for (uint32_t i = 0;; ++i) {
    const Io* io = find_io(program, method, i, output);
    if (io == nullptr) {
      const char* other = name_of_source(program, method, name, output);
      if (other == nullptr) return not_found(output ? Why::kOutputName : Why::kInputName);
      return find(program, method, other, output, out_index);
    }
    if (std::strcmp(program->table().string(io->name), name) != 0) continue;
    *out_index = i;
    return MOTE_OK;
  }
}

mote_status pair_at(const mote_program* program, Span<const Pair> pairs, uint32_t index, const char** key, const char** value) noexcept {
  if (key == nullptr || value == nullptr) return invalid_argument();
  if (index >= pairs.size) return not_found(Why::kNoSuchRecord);
  *key = program->table().string(pairs[index].key);
  *value = program->table().string(pairs[index].value);
  return MOTE_OK;
}

const char* value_of(const mote_program* program, Span<const Pair> pairs, const char* key) noexcept {
  for (const Pair& p : pairs)
    if (std::strcmp(program->table().string(p.key), key) == 0) return program->table().string(p.value);
  return nullptr;
}

}  // namespace
}  // namespace mote::api

using namespace mote;

extern "C" {

uint64_t mote_program_allocated_bytes(const mote_program* program) { return program != nullptr ? program->allocated_bytes : 0; }
uint64_t mote_program_file_bytes(const mote_program* program) { return program != nullptr ? program->file_bytes : 0; }

uint32_t mote_program_method_count(const mote_program* program) {
  return program != nullptr ? static_cast<uint32_t>(program->table().methods.size) : 0;
}

const char* mote_program_method_name(const mote_program* program, uint32_t method) {
  if (program == nullptr || method >= program->table().methods.size) return nullptr;
  return program->table().string(program->table().methods[method].name);
}

mote_status mote_program_find_method(const mote_program* program, const char* name, uint32_t* out_method) {
  if (program == nullptr || name == nullptr || out_method == nullptr) return api::invalid_argument();
  const int32_t method = program->program.find_method(name);
  if (method < 0) return api::not_found(Why::kMethodIndex);
  *out_method = static_cast<uint32_t>(method);
  return MOTE_OK;
}

uint32_t mote_program_input_count(const mote_program* program, uint32_t method) {
  return program != nullptr && method < program->table().methods.size ? program->table().methods[method].input_count : 0;
}
uint32_t mote_program_output_count(const mote_program* program, uint32_t method) {
  return program != nullptr && method < program->table().methods.size ? program->table().methods[method].output_count : 0;
}
mote_status mote_program_input_info(const mote_program* program, uint32_t method, uint32_t index, mote_tensor_info* info) {
  return api::info(program, method, index, false, info);
}
mote_status mote_program_output_info(const mote_program* program, uint32_t method, uint32_t index, mote_tensor_info* info) {
  return api::info(program, method, index, true, info);
}
mote_status mote_program_find_input(const mote_program* program, uint32_t method, const char* name, uint32_t* out_index) {
  return api::find(program, method, name, false, out_index);
}
mote_status mote_program_find_output(const mote_program* program, uint32_t method, const char* name, uint32_t* out_index) {
  return api::find(program, method, name, true, out_index);
}

uint32_t mote_program_metadata_count(const mote_program* program) {
  return program != nullptr ? static_cast<uint32_t>(program->table().metadata.size) : 0;
}
mote_status mote_program_metadata_at(const mote_program* program, uint32_t index, const char** out_key, const char** out_value) {
  return program != nullptr ? api::pair_at(program, program->table().metadata, index, out_key, out_value) : api::invalid_argument();
}
const char* mote_program_metadata(const mote_program* program, const char* key) {
  return program != nullptr && key != nullptr ? api::value_of(program, program->table().metadata, key) : nullptr;
}
uint32_t mote_program_evidence_count(const mote_program* program) {
  return program != nullptr ? static_cast<uint32_t>(program->table().evidence.size) : 0;
}
mote_status mote_program_evidence_at(const mote_program* program, uint32_t index, const char** out_key, const char** out_value) {
  return program != nullptr ? api::pair_at(program, program->table().evidence, index, out_key, out_value) : api::invalid_argument();
}
const char* mote_program_evidence(const mote_program* program, const char* key) {
  return program != nullptr && key != nullptr ? api::value_of(program, program->table().evidence, key) : nullptr;
}

mote_status mote_program_certificate(const mote_program* program, mote_certificate* certificate) {
  if (program == nullptr || certificate == nullptr) return api::invalid_argument();
  const Certificate& stated = *program->table().certificate;
  const MemoryNeeds& needs = program->program.needs();
  mote_certificate c;
  std::memset(&c, 0, sizeof c);
  c.macs = stated.macs;
  c.bytes_moved = stated.bytes_moved;
  c.constant_bytes = stated.constant_bytes;
  c.instance_bytes = needs.instance;
  c.scratch_bytes = needs.scratch(1);
  c.scratch_per_thread_bytes = needs.stated.scratch_per_thread;
  c.bank_count = static_cast<uint32_t>(program->table().banks.size);
  c.steps_bound = needs.stated.steps_bound;
  for (const Bank& b : program->table().banks) c.arena_bytes += b.size;
  return api::write_struct(c, certificate) ? mote_status{MOTE_OK} : api::invalid_argument();
}

mote_status mote_program_bank(const mote_program* program, uint32_t index, const char** out_name, uint64_t* out_bytes,
                              uint32_t* out_alignment) {
  if (program == nullptr) return api::invalid_argument();
  if (index >= program->table().banks.size) return api::not_found(Why::kNoSuchRecord);
  const Bank& b = program->table().banks[index];
  if (out_name != nullptr) *out_name = program->table().string(b.name);
  if (out_bytes != nullptr) *out_bytes = b.size;
  if (out_alignment != nullptr) *out_alignment = b.alignment;
  return MOTE_OK;
}

uint32_t mote_program_instruction_count(const mote_program* program) {
  return program != nullptr ? static_cast<uint32_t>(program->table().instructions.size) : 0;
}

mote_status mote_program_instruction(const mote_program* program, uint32_t index, const char** out_op, const char** out_source) {
  if (program == nullptr) return api::invalid_argument();
  const ProgramTable& t = program->table();
  if (index >= t.instructions.size) return api::not_found(Why::kNoSuchRecord);
  if (out_op != nullptr) *out_op = api::op_name(t.instructions[index].op, program->names());
  if (out_source != nullptr) *out_source = index < t.source_names.size ? t.string(t.source_names[index]) : "";
  return MOTE_OK;
}

uint32_t mote_program_golden_count(const mote_program* program) {
  return program != nullptr ? static_cast<uint32_t>(program->table().goldens.size) : 0;
}

mote_status mote_program_golden(const mote_program* program, uint32_t index, mote_golden* golden) {
  if (program == nullptr || golden == nullptr) return api::invalid_argument();
  const ProgramTable& t = program->table();
  if (index >= t.goldens.size) return api::not_found(Why::kNoSuchRecord);
  const Golden& g = t.goldens[index];
  const ConstBytes segment = program->program.segment(g.segment);
  if (segment.size < t.segments[g.segment].size) return api::not_found(Why::kSegmentMissing);
  TensorDesc d = t.tensors[api::find_io(program, g.method, g.io, g.is_output != 0)->tensor];
  mote_golden out;
  std::memset(&out, 0, sizeof out);
  out.method = g.method;
  out.example = g.example;
  out.index = g.io;
  out.is_output = g.is_output;
  out.tolerance = g.tolerance;
  for (int k = 0; k < kMaxRank; ++k) out.dims[k] = d.dims[k] = g.dims[k];
  out.data = segment.data + g.offset;
  out.bytes = dense_bytes(d);
  return api::write_struct(out, golden) ? mote_status{MOTE_OK} : api::invalid_argument();
}

}  // extern "C"
