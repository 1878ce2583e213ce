#include "mote/compiler/driver/slow_paths.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "mote/compiler/program/cost.h"
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

// What is looked at, of records that are being written or of a file.
struct Listing {
  program::CostSource parts;
  std::vector<ConstBytes> segments;  // of constants; empty where they are not known
  Span<const uint32_t> names;        // of the model's nodes: places in `strings`
  const char* strings;
};

Listing listing_of(const emit::ProgramRecords& r) {
  Listing l{program::CostSource(r), {}, {r.source_names.data(), r.source_names.size()}, nullptr};
  for (const program::SegmentData& s : r.segments) l.segments.push_back({s.bytes.data(), s.bytes.size()});
  l.strings = reinterpret_cast<const char*>(r.strings.bytes().data());
  return l;
}

Listing listing_of(const ProgramTable& t, ConstBytes file, ConstBytes external) {
  Listing l{program::CostSource(t), {}, t.source_names, reinterpret_cast<const char*>(t.strings.data)};
  for (const Segment& s : t.segments) {
    const bool apart = (s.flags & kExternal) != 0, inside = s.offset <= file.size && s.size <= file.size - s.offset;
    l.segments.push_back(apart ? external : inside ? ConstBytes{file.data + s.offset, static_cast<size_t>(s.size)} : ConstBytes{});
  }
  return l;
}

// The instruction's operands as an instance will have them; values are known of constants alone.
class Operands {
 public:
  explicit Operands(const Listing& l) : listing_(l), tensors_(l.parts.tensors.size) {
    for (size_t i = 0; i < tensors_.size(); ++i) {
      const TensorDesc& d = l.parts.tensors[i];
      tensors_[i].desc = &d;
      if (d.storage != Storage::kConstant || d.bank >= l.segments.size()) continue;
      const ConstBytes& bytes = l.segments[d.bank];
      if (d.offset < bytes.size && extent_bytes(d) <= bytes.size - d.offset) tensors_[i].data = const_cast<uint8_t*>(bytes.data + d.offset);
    }
  }

  OpContext context(const Instruction& n, const uint8_t* attrs, bool in_strip) const {
    OpContext c;
    c.tensors = tensors_.data();
    c.operands = listing_.parts.operands.data + n.operands;
    c.attr_bytes = attrs;
    c.bounds = listing_.parts.tensors.data;
    c.input_count = n.input_count;
    c.output_count = n.output_count;
    if (in_strip) c.rows = {0, 1};
    return c;
  }

  int64_t largest(const Instruction& n) const {
    int64_t most = 0;
    for (uint32_t i = 0; i < uint32_t{n.input_count} + n.output_count; ++i) {
      const int32_t t = listing_.parts.operands[n.operands + i];
      if (t >= 0) most = std::max<int64_t>(most, element_count(listing_.parts.tensors[static_cast<size_t>(t)]));
    }
    return most;
  }

 private:
  const Listing& listing_;
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

std::vector<SlowPath> find(const Listing& l, const OpRegistry& ops, const Kernels& k) {
  std::vector<SlowPath> found;
  const Operands operands(l);
  size_t strip_end = 0;
  for (size_t pc = 0; pc < l.parts.instructions.size; ++pc) {
    const Instruction& n = l.parts.instructions[pc];
    if (n.op == static_cast<uint16_t>(ControlOp::kStrip)) {
      StripAttrs strip;
      std::memcpy(&strip, l.parts.attrs.data + n.attrs, sizeof strip);
      strip_end = pc + 1 + strip.body_count;
    }
    const OpDef* def = n.op < kFirstCustomOp ? ops.find(n.op, nullptr) : nullptr;
    if (def == nullptr || (def->flags & kView) != 0 || is_sequential(n.op)) continue;
    const int64_t elements = operands.largest(n);
    if (elements < k.least) continue;
    // Aligned, and as long as the operator's struct.
    std::vector<uint32_t> attrs(std::max(n.attrs_size, def->attrs_size) / 4 + 1);
    if (n.attrs_size > 0) std::memcpy(attrs.data(), l.parts.attrs.data + n.attrs, n.attrs_size);
    const auto* bytes = reinterpret_cast<const uint8_t*>(attrs.data());
    if (k.select(n.op, operands.context(n, bytes, pc < strip_end)) != nullptr) continue;
    SlowPath path;
    path.op = def->name != nullptr ? def->name : "operator " + std::to_string(n.op);
    if (pc < l.names.size) path.node = l.strings + l.names[pc];
    path.reason = k.has_family(n.op) ? k.does_not_serve : k.has_none;
    path.elements = elements;
    path.instruction = static_cast<uint32_t>(pc);
    found.push_back(std::move(path));
  }
  return found;
}

std::vector<SlowPath> find_for(const Listing& l, const OpRegistry& ops, kernels::Isa isa) {
  const kernels::SelectFn select = kernels::select_for(isa);
  if (select == nullptr) return {};
  return find(l, ops,
              {select, has_family, kWorthAWord, "its fast kernels do not serve these types, layouts or attributes",
               "the operator has no fast kernel yet"});
}

std::vector<SlowPath> find_for_board(const Listing& l, const OpRegistry& ops, int64_t least) {
  return find(l, ops,
              {cortexm::select, has_board_family, least, "its kernels for microcontrollers do not serve these types, layouts or attributes",
               "files have no kernel for it on microcontrollers (--emit cpp has more of them)"});
}

}  // namespace

std::vector<SlowPath> slow_paths(const emit::ProgramRecords& r, const OpRegistry& ops, kernels::Isa isa) {
  return find_for(listing_of(r), ops, isa);
}

std::vector<SlowPath> slow_paths(const ProgramTable& table, ConstBytes file, ConstBytes external, const OpRegistry& ops, kernels::Isa isa) {
  return find_for(listing_of(table, file, external), ops, isa);
}

std::vector<SlowPath> slow_paths_on_board(const emit::ProgramRecords& r, const OpRegistry& ops, int64_t least) {
  return find_for_board(listing_of(r), ops, least);
}

std::vector<SlowPath> slow_paths_on_board(const ProgramTable& table, ConstBytes file, ConstBytes external, const OpRegistry& ops,
                                          int64_t least) {
  return find_for_board(listing_of(table, file, external), ops, least);
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
