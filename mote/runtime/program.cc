#include "mote/runtime/program.h"

#include <cstring>

#include "mote/core/text.h"
#include "mote/runtime/verify.h"

namespace mote {

Status Program::open_uncertified(const ProgramSource& source, const OpRegistry& ops, Program* out, Diagnostic* diagnostic) noexcept {
  *diagnostic = Diagnostic{};
  out->source_ = source;
  out->ops_ = &ops;
  const uint64_t size = source.file_size != 0 ? source.file_size : source.file.size;
  MOTE_TRY(read_table(source.file, size, &out->table_, diagnostic));
  return verify_meaning(*out, &out->needs_, diagnostic);
}

Status Program::open(const ProgramSource& source, const OpRegistry& ops, Program* out, Diagnostic* diagnostic) noexcept {
  Diagnostic local;
  if (diagnostic == nullptr) diagnostic = &local;
  Program p;
  MOTE_TRY(open_uncertified(source, ops, &p, diagnostic));
  const CertifiedNeeds &stated = p.table_.certificate->needs, &needed = p.needs_.stated;
  if (std::memcmp(&stated, &needed, sizeof needed) != 0) {
    diagnostic->status = {Status::kCorrupt, Why::kCertificateWrong};
    diagnostic->expected = clamp32(needed.instance_bytes_64);
    diagnostic->found = clamp32(stated.instance_bytes_64);
    return diagnostic->status;
  }
  *out = p;
  return Status::kOk;
}

ConstBytes Program::segment(uint32_t i) const noexcept {
  const Segment& s = table_.segments[i];
  if (i < source_.segments.size) return source_.segments[i].size >= s.size ? source_.segments[i] : ConstBytes();
  if ((s.flags & kExternal) != 0 || s.offset + s.size > source_.file.size) return {};
  return {source_.file.data + s.offset, static_cast<size_t>(s.size)};
}

int32_t Program::find_method(const char* name) const noexcept {
  for (uint32_t i = 0; i < table_.methods.size; ++i)
    if (same_text(table_.string(table_.methods[i].name), name)) return static_cast<int32_t>(i);
  return -1;
}

const char* Program::op_name(uint16_t op) const noexcept {
  // By halving: a walk over all names for each instruction would take quadratic time. Names out of order are not found, no worse.
  const Span<const OpName> names = table_.op_names;
  size_t low = 0, high = names.size;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (names[middle].op < op) low = middle + 1;
    else high = middle;
  }
  return low < names.size && names[low].op == op ? table_.string(names[low].name) : nullptr;
}

const OpDef* Program::definition(const Instruction& n) const noexcept { return ops_->find(n.op, op_name(n.op)); }

}  // namespace mote
