#include "mote/compiler/placement/overlap.h"

#include <algorithm>
#include <cstring>

#include "mote/format/delegate.h"
#include "mote/format/reader.h"

namespace mote::placement {
namespace {

constexpr auto kDelegateOp = static_cast<uint16_t>(ControlOp::kDelegate);

// Whether two tensors may share bytes. Several may lie in the buffer of one output.
bool may_share(const program::ProgramRecords& r, int32_t a, int32_t b) {
  if (a == b) return true;
  const TensorDesc &x = r.tensors[static_cast<size_t>(a)], &y = r.tensors[static_cast<size_t>(b)];
  if (x.storage >= Storage::kInput || y.storage >= Storage::kInput) return x.storage == y.storage;
  if (y.storage == Storage::kConstant || x.bank != y.bank) return false;
  return x.offset < y.offset + uint64_t{extent_bytes(y)} && y.offset < x.offset + uint64_t{extent_bytes(x)};
}

// Whether instruction n must wait for the delegate d.
bool depends(const program::ProgramRecords& r, const Instruction& n, const Instruction& d) {
  for (uint32_t i = 0; i < uint32_t{n.input_count} + n.output_count; ++i) {
    const int32_t a = r.operands[n.operands + i];
    if (a < 0 || r.tensors[static_cast<size_t>(a)].storage == Storage::kConstant) continue;
    for (uint32_t k = i < n.input_count ? d.input_count : 0; k < uint32_t{d.input_count} + d.output_count; ++k)
      if (const int32_t b = r.operands[d.operands + k]; b >= 0 && may_share(r, a, b)) return true;
  }
  return false;
}

}  // namespace

void record_overlaps(program::ProgramRecords* r) {
  for (const Method& m : r->methods) {
    const uint32_t end = m.first_instruction + m.instruction_count;
    uint32_t around = end;  // end of the range that the delegate before left open
    for (uint32_t pc = m.first_instruction; pc < end; ++pc) {
      Instruction& d = r->instructions[pc];
      if (pc >= around) around = end;
      // Ranges of control flow end at their own place: nothing is left open across them.
      if (d.op != kDelegateOp && d.op >= kFirstControlOp) break;
      if (d.op != kDelegateOp) continue;
      const uint32_t first = pc + 1 + fallback_count(d, r->attrs.data() + d.attrs);
      uint32_t at = first;
      while (at < around && (r->instructions[at].op < kFirstControlOp || r->instructions[at].op == kDelegateOp) &&
             !depends(*r, r->instructions[at], d))
        at += 1 + (r->instructions[at].op == kDelegateOp ? fallback_count(r->instructions[at], r->attrs.data() + r->instructions[at].attrs)
                                                         : 0);
      at = std::min(at, around);
      if (at > first) {
        DelegateOverlap a{};
        std::memcpy(&a.range, r->attrs.data() + d.attrs, std::min<size_t>(d.attrs_size, sizeof a.range));
        a.overlap_count = at - first;
        r->attrs.resize((r->attrs.size() + 3) / 4 * 4);
        d.attrs = static_cast<uint32_t>(r->attrs.size());
        d.attrs_size = sizeof a;
        const auto* bytes = reinterpret_cast<const uint8_t*>(&a);
        r->attrs.insert(r->attrs.end(), bytes, bytes + sizeof a);
        around = at;
      }
      pc = first - 1;
    }
  }
}

}  // namespace mote::placement
