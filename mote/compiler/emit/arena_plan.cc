#include "mote/compiler/emit/arena_plan.h"

#include <algorithm>

#include "mote/format/reader.h"

namespace mote::emit {
namespace {

constexpr uint64_t kTensorAlignment = 16;

struct Life {
  uint32_t first = 0xffffffffu, last = 0;
  bool used() const { return first <= last; }
  void cover(uint32_t a, uint32_t b) {
    first = std::min(first, a);
    last = std::max(last, b);
  }
};

int32_t root_of(int32_t tensor, const std::vector<int32_t>& view_of) {
  while (view_of[static_cast<size_t>(tensor)] >= 0) tensor = view_of[static_cast<size_t>(tensor)];
  return tensor;
}

// The outermost loop or strip around each instruction, as a range of instructions; the instruction itself outside of any.
std::vector<Life> repeating_ranges(const ProgramRecords& r) {
  std::vector<Life> ranges(r.instructions.size());
  uint32_t end = 0, begin = 0;
  for (uint32_t pc = 0; pc < r.instructions.size(); ++pc) {
    const Instruction& n = r.instructions[pc];
    if (pc >= end && (n.op == static_cast<uint16_t>(ControlOp::kLoop) || n.op == static_cast<uint16_t>(ControlOp::kStrip))) {
      begin = pc;
      end = pc + 1 + *reinterpret_cast<const uint32_t*>(r.attrs.data() + n.attrs);  // body_count is the first field of both
    }
    if (pc < end) ranges[pc].cover(begin, end - 1);
    else ranges[pc].cover(pc, pc);
  }
  return ranges;
}

std::vector<Life> lifetimes(const ProgramRecords& r, const std::vector<int32_t>& view_of) {
  std::vector<Life> lives(r.tensors.size());
  const std::vector<Life> ranges = repeating_ranges(r);
  for (uint32_t pc = 0; pc < r.instructions.size(); ++pc) {
    const Instruction& n = r.instructions[pc];
    for (uint32_t k = 0; k < uint32_t{n.input_count} + n.output_count; ++k) {
      const int32_t t = r.operands[n.operands + k];
      if (t >= 0) lives[static_cast<size_t>(root_of(t, view_of))].cover(ranges[pc].first, ranges[pc].last);
    }
  }
  return lives;
}

}  // namespace

void plan_arena(ProgramRecords& r, const std::vector<int32_t>& view_of, const std::vector<uint64_t>& view_offset) {
  const std::vector<Life> lives = lifetimes(r, view_of);
  struct Placed {
    uint64_t begin, end;
    Life life;
    uint8_t bank;
  };
  std::vector<Placed> placed;
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < r.tensors.size(); ++i) {
    const Storage s = r.tensors[i].storage;
    if ((s == Storage::kArena || s == Storage::kState) && view_of[i] < 0) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return extent_bytes(r.tensors[a]) > extent_bytes(r.tensors[b]); });
  for (const uint32_t i : order) {
    TensorDesc& d = r.tensors[i];
    Life life = lives[i];
    if (d.storage == Storage::kState) life.cover(0, 0xfffffffeu);
    if (!life.used()) life.cover(0, 0);
    const uint64_t bytes = (extent_bytes(d) + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment;
    // The lowest place that is free for the whole lifetime.
    std::vector<const Placed*> alive;
    for (const Placed& p : placed)
      if (p.bank == d.bank && p.life.first <= life.last && life.first <= p.life.last) alive.push_back(&p);
    std::sort(alive.begin(), alive.end(), [](const Placed* a, const Placed* b) { return a->begin < b->begin; });
    uint64_t at = 0;
    for (const Placed* p : alive) {
      if (at + bytes <= p->begin) break;
      at = std::max(at, p->end);
    }
    d.offset = at;
    placed.push_back({at, at + bytes, life, d.bank});
    uint64_t& size = r.banks[d.bank].size;
    size = std::max(size, at + bytes);
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
