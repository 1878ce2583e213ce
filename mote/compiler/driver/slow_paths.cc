#include "mote/compiler/driver/slow_paths.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "mote/kernels/cortexm/runtime/select.h"
#include "mote/ops/op_id.h"
#include "mote/runtime/op_registry.h"

namespace mote::driver {
namespace {

bool has_family(uint16_t op) {
  switch (static_cast<OpId>(op)) {
#define MOTE_KERNEL(family, name, sets) case OpId::name:
#include "mote/kernels/kernels.def"
#undef MOTE_KERNEL
    return true;
    default: return false;
  }
}

// Boxes one after another, each decided by those before: vectors have nothing to do, the portable kernel is the fast one.
bool is_sequential(uint16_t op) {
  return op == static_cast<uint16_t>(OpId::detection_postprocess) || op == static_cast<uint16_t>(OpId::non_max_suppression);
}

// The instruction's operands as an instance will have them; values are known of constants alone.
class Operands {
 public:
  explicit Operands(const emit::ProgramRecords& r) : records_(r), tensors_(r.tensors.size()) {
    for (size_t i = 0; i < tensors_.size(); ++i) {
      const TensorDesc& d = r.tensors[i];
      tensors_[i].desc = &d;
      if (d.storage == Storage::kConstant && d.bank < r.segments.size() && d.offset < r.segments[d.bank].bytes.size())
        tensors_[i].data = const_cast<uint8_t*>(r.segments[d.bank].bytes.data() + d.offset);
    }
  }

  OpContext context(const Instruction& n, const uint8_t* attrs, bool in_strip) const {
    OpContext c;
    c.tensors = tensors_.data();
    c.operands = records_.operands.data() + n.operands;
    c.attr_bytes = attrs;
    c.bounds = records_.tensors.data();
    c.input_count = n.input_count;
    c.output_count = n.output_count;
    if (in_strip) c.rows = {0, 1};
    return c;
  }

  int64_t largest(const Instruction& n) const {
    int64_t most = 0;
    for (uint32_t i = 0; i < uint32_t{n.input_count} + n.output_count; ++i) {
      const int32_t t = records_.operands[n.operands + i];
      if (t >= 0) most = std::max<int64_t>(most, element_count(records_.tensors[static_cast<size_t>(t)]));
    }
    return most;
  }

 private:
  const emit::ProgramRecords& records_;
  std::vector<Tensor> tensors_;
};

}  // namespace

namespace {

// What serves instructions, and what is said of those it does not serve.
struct Kernels {
  kernels::SelectFn select;
  bool (*has_family)(uint16_t op);
  int64_t least;
  const char *does_not_serve, *has_none;
};

bool has_board_family(uint16_t op) {
  const auto id = static_cast<OpId>(op);
  return id == OpId::q_conv || id == OpId::q_matmul || id == OpId::q_avg_pool;
}

std::vector<SlowPath> find(const emit::ProgramRecords& r, const OpRegistry& ops, const Kernels& k) {
  std::vector<SlowPath> found;
  const Operands operands(r);
  size_t strip_end = 0;
  for (size_t pc = 0; pc < r.instructions.size(); ++pc) {
    const Instruction& n = r.instructions[pc];
    if (n.op == static_cast<uint16_t>(ControlOp::kStrip)) {
      StripAttrs strip;
      std::memcpy(&strip, r.attrs.data() + n.attrs, sizeof strip);
      strip_end = pc + 1 + strip.body_count;
    }
    const OpDef* def = n.op < kFirstCustomOp ? ops.find(n.op, nullptr) : nullptr;
    if (def == nullptr || (def->flags & kView) != 0 || is_sequential(n.op)) continue;
    const int64_t elements = operands.largest(n);
    if (elements < k.least) continue;
    // Aligned, and as long as the operator's struct.
    std::vector<uint32_t> attrs(std::max(n.attrs_size, def->attrs_size) / 4 + 1);
    if (n.attrs_size > 0) std::memcpy(attrs.data(), r.attrs.data() + n.attrs, n.attrs_size);
    const auto* bytes = reinterpret_cast<const uint8_t*>(attrs.data());
    if (k.select(n.op, operands.context(n, bytes, pc < strip_end)) != nullptr) continue;
    SlowPath path;
    path.op = def->name != nullptr ? def->name : "operator " + std::to_string(n.op);
    if (pc < r.source_names.size()) path.node = reinterpret_cast<const char*>(r.strings.bytes().data() + r.source_names[pc]);
    path.reason = k.has_family(n.op) ? k.does_not_serve : k.has_none;
    path.elements = elements;
    found.push_back(std::move(path));
  }
  return found;
}

}  // namespace

std::vector<SlowPath> slow_paths(const emit::ProgramRecords& r, const OpRegistry& ops, kernels::Isa isa) {
  const kernels::SelectFn select = kernels::select_for(isa);
  if (select == nullptr) return {};
  return find(r, ops,
              {select, has_family, kWorthAWord, "its fast kernels do not serve these types, layouts or attributes",
               "the operator has no fast kernel yet"});
}

std::vector<SlowPath> slow_paths_on_board(const emit::ProgramRecords& r, const OpRegistry& ops, int64_t least) {
  return find(r, ops,
              {cortexm::select, has_board_family, least, "its kernels for microcontrollers do not serve these types, layouts or attributes",
               "files have no kernel for it on microcontrollers (--emit cpp has more of them)"});
}

std::vector<std::string> op_names(const std::vector<SlowPath>& paths) {
  std::set<std::string> names;
  for (const SlowPath& p : paths) names.insert(p.op.rfind("mote::", 0) == 0 ? p.op.substr(6) : p.op);
  return {names.begin(), names.end()};
}

std::vector<std::string> describe(const std::vector<SlowPath>& paths) {
  struct Group {
    size_t count = 0;
    const SlowPath* largest = nullptr;
  };
  std::map<std::pair<std::string, std::string>, Group> groups;
  for (const SlowPath& p : paths) {
    Group& g = groups[{p.op, p.reason}];
    ++g.count;
    if (g.largest == nullptr || p.elements > g.largest->elements) g.largest = &p;
  }
  std::vector<std::string> lines;
  for (const auto& [key, g] : groups) {
    std::string line = key.first + " runs on a portable, slow kernel: " + key.second;
    line += "; " + std::to_string(g.count) + (g.count == 1 ? " instruction, " : " instructions, the largest with ");
    line += std::to_string(g.largest->elements) + " elements";
    if (!g.largest->node.empty()) line += " (" + g.largest->node + ")";
    lines.push_back(line);
  }
  return lines;
}

}  // namespace mote::driver
