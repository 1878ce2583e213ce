// What backends have copied is given back: their blobs are most of a program that was compiled for a device.

#include "mote/api/impl/instance.h"

namespace mote::api {
namespace {

bool inside(const MappedFile& file, ConstBytes bytes) noexcept {
  const ConstBytes all = file.bytes();
  return all.data != nullptr && bytes.data >= all.data && bytes.data + bytes.size <= all.data + all.size;
}

// Parts that took their bytes from this segment; those whose fallback runs took none.
uint32_t users_of(const mote_instance& i, uint32_t segment) noexcept {
  const ProgramTable& t = i.table();
  uint32_t users = 0;
  for (uint32_t pc = 0; pc < t.instructions.size; ++pc) {
    const Instruction& n = t.instructions[pc];
    if (n.op != static_cast<uint16_t>(ControlOp::kDelegate) || i.instance.is_degraded(pc)) continue;
    const void* attrs = t.attrs.data + n.attrs;
    users += t.backends[static_cast<const DelegateAttrs*>(attrs)->backend].segment == segment;
  }
  return users;
}

}  // namespace

void give_blobs_back(mote_instance& i) noexcept {
  mote_program& p = *i.program;
  for (uint32_t s = 0; s < i.released.size(); ++s) {
    if (i.released[s] == 0 || i.released[s] != users_of(i, s)) continue;
    const ConstBytes bytes = p.program.segment(s);
    if (inside(p.file, bytes) || inside(p.weights, bytes)) drop_pages(bytes);
    if ((p.flags & MOTE_OPEN_ONE_INSTANCE) == 0 || s >= p.segment_memory.size() || p.segment_memory[s] == nullptr) continue;
    release(p.segment_memory[s]);
    p.segment_memory[s] = nullptr;
    p.segments[s] = {};
    p.allocated_bytes -= footprint(p.table().segments[s].size, p.table().segments[s].alignment);
  }
}

}  // namespace mote::api
