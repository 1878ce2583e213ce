// Where a program's operators run, as it was decided when it was compiled.

#include <cstring>

#include "mote/api/impl/options.h"
#include "mote/api/impl/program.h"
#include "mote/format/delegate.h"

namespace mote::api {
namespace {

bool is_delegate(const Instruction& n) noexcept { return n.op == static_cast<uint16_t>(ControlOp::kDelegate); }

const DelegateAttrs& delegate_attrs(const ProgramTable& t, const Instruction& n) noexcept {
  const void* attrs = t.attrs.data + n.attrs;
  return *static_cast<const DelegateAttrs*>(attrs);
}

// The part that begins with an instruction; *next is the first one behind it.
mote_part part_at(const ProgramTable& t, uint32_t first, uint32_t* next) noexcept {
  mote_part p;
  std::memset(&p, 0, sizeof p);
  p.first_instruction = first;
  const Place place = place_of(t, first);
  p.backend = place.backend;
  p.fallback_count = place.fallback_count;
  uint32_t end = first + 1;
  if (is_delegate(t.instructions[first])) p.device_bytes = t.backends[delegate_attrs(t, t.instructions[first]).backend].device_bytes;
  else
    while (end < t.instructions.size && !is_delegate(t.instructions[end])) ++end;
  p.instruction_count = end - first;
  *next = end + p.fallback_count;
  return p;
}

}  // namespace

Place place_of(const ProgramTable& t, uint32_t instruction) noexcept {
  const Instruction& n = t.instructions[instruction];
  if (!is_delegate(n)) return {"cpu", 0};
  const DelegateAttrs& attrs = delegate_attrs(t, n);
  return {t.string(t.backends[attrs.backend].name), fallback_count(n, &attrs)};
}

}  // namespace mote::api

using namespace mote;

extern "C" {

uint32_t mote_program_part_count(const mote_program* program) {
  if (program == nullptr) return 0;
  uint32_t count = 0;
  for (uint32_t pc = 0; pc < program->table().instructions.size; ++count) (void)api::part_at(program->table(), pc, &pc);
  return count;
}

mote_status mote_program_part(const mote_program* program, uint32_t index, mote_part* part) {
  if (program == nullptr || part == nullptr) return api::invalid_argument();
  const ProgramTable& t = program->table();
  for (uint32_t pc = 0; pc < t.instructions.size;) {
    mote_part p = api::part_at(t, pc, &pc);
    if (index-- != 0) continue;
    for (const Placement& stated : t.placements) {
      if (stated.first_instruction != p.first_instruction) continue;
      p.predicted_us = static_cast<double>(stated.predicted_ns) * 1e-3;
      p.bytes_in = stated.bytes_in;
      p.bytes_out = stated.bytes_out;
    }
    return api::write_struct(p, part) ? mote_status{MOTE_OK} : api::invalid_argument();
  }
  return Status(Status::kNotFound, Why::kNoSuchRecord).bits();
}

const char* mote_program_policy(const mote_program* program) {
  return program != nullptr ? program->table().string(program->table().policy) : "";
}

}  // extern "C"
