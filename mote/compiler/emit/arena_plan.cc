#include "mote/compiler/emit/arena_plan.h"

#include <algorithm>

#include "mote/compiler/memory/assign_offsets.h"
#include "mote/format/reader.h"

namespace mote::emit {
namespace {

constexpr uint64_t kTensorAlignment = 16;

int32_t root_of(int32_t tensor, const std::vector<int32_t>& view_of) {
  while (view_of[static_cast<size_t>(tensor)] >= 0) tensor = view_of[static_cast<size_t>(tensor)];
  return tensor;
}

std::vector<memory::LiveRange> live_ranges(const ProgramRecords& r, const std::vector<int32_t>& view_of) {
  memory::LivenessScan scan(r.tensors.size());
  for (uint32_t pc = 0; pc < r.instructions.size(); ++pc) {
    const Instruction& n = r.instructions[pc];
    const bool repeated = n.op == static_cast<uint16_t>(ControlOp::kLoop) || n.op == static_cast<uint16_t>(ControlOp::kStrip);
    // body_count is the first field of both.
    if (repeated) scan.add_repeated_range(pc, pc + *reinterpret_cast<const uint32_t*>(r.attrs.data() + n.attrs));
    for (uint32_t k = 0; k < uint32_t{n.input_count} + n.output_count; ++k) {
      const int32_t t = r.operands[n.operands + k];
      // Who builds by hand may carry anything from trip to trip: everything counts as read.
      if (t >= 0) scan.add_access(static_cast<size_t>(root_of(t, view_of)), pc, true);
    }
  }
  return scan.live_ranges();
}

}  // namespace

void plan_arena(ProgramRecords& r, const std::vector<int32_t>& view_of, const std::vector<uint64_t>& view_offset) {
  const std::vector<memory::LiveRange> live = live_ranges(r, view_of);
  for (size_t bank = 0; bank < r.banks.size(); ++bank) {
    std::vector<memory::BufferRequest> requests;
    std::vector<uint32_t> owners;
    for (uint32_t i = 0; i < r.tensors.size(); ++i) {
      const TensorDesc& d = r.tensors[i];
      if ((d.storage != Storage::kArena && d.storage != Storage::kState) || view_of[i] >= 0 || d.bank != bank) continue;
      memory::BufferRequest b;
      b.bytes = (extent_bytes(d) + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment;
      b.live = live[i];
      if (d.storage == Storage::kState) b.live.extend(0, 0xfffffffeu);
      if (!b.live.used()) b.live.extend(0, 0);
      requests.push_back(b);
      owners.push_back(i);
    }
    r.banks[bank].size = memory::assign_offsets(requests);
    for (size_t k = 0; k < requests.size(); ++k) r.tensors[owners[k]].offset = requests[k].offset;
  }
  for (uint32_t i = 0; i < r.tensors.size(); ++i) {
    if (view_of[i] < 0) continue;
    uint64_t offset = 0;
    for (int32_t t = static_cast<int32_t>(i); view_of[static_cast<size_t>(t)] >= 0; t = view_of[static_cast<size_t>(t)])
      offset += view_offset[static_cast<size_t>(t)];
    const TensorDesc& root = r.tensors[static_cast<size_t>(root_of(static_cast<int32_t>(i), view_of))];
    r.tensors[i].offset = root.offset + offset;
    r.tensors[i].bank = root.bank;
  }
}

}  // namespace mote::emit
