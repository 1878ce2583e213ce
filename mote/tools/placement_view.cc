#include "mote/tools/placement_view.h"

#include <cstring>

#include "mote/compiler/emit/writer.h"
#include "mote/format/delegate.h"
#include "mote/ops/op_docs.h"
#include "mote/tools/failure.h"
#include "mote/tools/files.h"
#include "mote/tools/text_table.h"
#include "mote/tools/values.h"

namespace mote::tools {
namespace {

bool read_program(const std::vector<uint8_t>& bytes, emit::ProgramRecords* out) {
  emit::FileBytes file = emit::FileBytes::of_size(bytes.size());
  if (!bytes.empty()) std::memcpy(file.data(), bytes.data(), bytes.size());
  return emit::read_records(file.span(), out);
}

// Texts of verified records lie inside of the pool and end there.
std::string text_of(const emit::ProgramRecords& r, uint32_t at) {
  const std::vector<uint8_t>& pool = r.strings.bytes();
  return at < pool.size() ? std::string(reinterpret_cast<const char*>(pool.data()) + at) : "";
}

PlacedOp op_of(const emit::ProgramRecords& r, size_t i, const std::string& backend) {
  const OpDoc* doc = find_op_doc(r.instructions[i].op);
  const uint16_t op = r.instructions[i].op;
  const std::string name = doc != nullptr                                   ? doc->name
                           : op == static_cast<uint16_t>(ControlOp::kIf)    ? "if"
                           : op == static_cast<uint16_t>(ControlOp::kLoop)  ? "loop"
                           : op == static_cast<uint16_t>(ControlOp::kStrip) ? "strip"
                                                                            : std::to_string(op);
  return {name, i < r.source_names.size() ? text_of(r, r.source_names[i]) : "", backend};
}

// What the file says of the cost of the part that begins with this instruction.
void add_costs(const emit::ProgramRecords& r, size_t first, PlacedPart* part) {
  for (const Placement& p : r.placements) {
    if (p.first_instruction != first) continue;
    part->predicted_ms = static_cast<double>(p.predicted_ns) / 1e6;
    part->bytes_in = p.bytes_in;
    part->bytes_out = p.bytes_out;
  }
}

PlacedPart delegate_part(const emit::ProgramRecords& r, size_t i) {
  const Instruction& n = r.instructions[i];
  DelegateAttrs a{};
  std::memcpy(&a, r.attrs.data() + n.attrs, sizeof a);
  PlacedPart part;
  part.has_fallback = fallback_count(n, r.attrs.data() + n.attrs) > 0;
  if (a.backend >= r.backends.size()) return part;
  const BackendRecord& b = r.backends[a.backend];
  part.backend = text_of(r, b.name);
  part.version = text_of(r, b.version);
  part.capabilities = text_of(r, b.capabilities);
  part.device_bytes = b.device_bytes;
  add_costs(r, i, &part);
  emit::ProgramRecords inner;
  if (b.segment >= r.segments.size() || !read_program(r.segments[b.segment].bytes, &inner)) return part;
  for (size_t k = 0; k < inner.instructions.size(); ++k) part.ops.push_back(op_of(inner, k, part.backend));
  return part;
}

}  // namespace

PlacementView view_placement(const std::string& path) {
  std::vector<uint8_t> bytes;
  std::string error;
  if (!read_whole_file(path, &bytes, &error)) throw Failure(path + ": " + error);
  emit::ProgramRecords r;
  if (!read_program(bytes, &r)) throw Failure(path + ": expected a .mote program whose structure is sound");
  PlacementView view;
  view.policy = text_of(r, r.policy);
  for (size_t i = 0; i < r.instructions.size();) {
    const Instruction& n = r.instructions[i];
    if (n.op == static_cast<uint16_t>(ControlOp::kDelegate)) {
      view.parts.push_back(delegate_part(r, i));
      i += 1 + fallback_count(n, r.attrs.data() + n.attrs);
      continue;
    }
    PlacedPart part;
    part.backend = "cpu";
    add_costs(r, i, &part);
    for (; i < r.instructions.size() && r.instructions[i].op != static_cast<uint16_t>(ControlOp::kDelegate); ++i)
      part.ops.push_back(op_of(r, i, "cpu"));
    view.parts.push_back(std::move(part));
  }
  return view;
}

std::string placement_text(const PlacementView& view) {
  TextTable parts({"part", "backend", "version", "operators", "in", "out", "device memory", "predicted ms", "fallback"});
  TextTable ops({"part", "backend", "operator", "node"});
  uint64_t moved = 0;
  for (size_t i = 0; i < view.parts.size(); ++i) {
    const PlacedPart& p = view.parts[i];
    moved += p.bytes_in + p.bytes_out;
    parts.add({std::to_string(i), p.backend, p.version, std::to_string(p.ops.size()), bytes_text(p.bytes_in), bytes_text(p.bytes_out),
               bytes_text(p.device_bytes), real(p.predicted_ms), p.has_fallback ? "cpu" : "none"});
    for (const PlacedOp& o : p.ops) ops.add({std::to_string(i), o.backend, o.op, one_line(o.node, 60)});
  }
  std::string text = parts.text() + "  " + std::to_string(view.parts.size()) + " parts, " + bytes_text(moved) + " moved in one run\n\n";
  text += ops.text();
  if (!view.policy.empty()) text += "\npolicy\n" + view.policy;
  return text;
}

}  // namespace mote::tools
