#include "mote/tools/placement_view.h"

#include <cstring>
#include <map>

#include "mote/compiler/emit/writer.h"
#include "mote/format/delegate.h"
#include "mote/format/reader.h"
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

std::string name_of(uint16_t op) {
  const OpDoc* doc = find_op_doc(op);
  return doc != nullptr                                   ? doc->name
         : op == static_cast<uint16_t>(ControlOp::kIf)    ? "if"
         : op == static_cast<uint16_t>(ControlOp::kLoop)  ? "loop"
         : op == static_cast<uint16_t>(ControlOp::kStrip) ? "strip"
                                                          : std::to_string(op);
}

// Operators with what they read, over the program and the pieces inside of its blobs.
class Viewer {
 public:
  explicit Viewer(const emit::ProgramRecords& r) : r_(r) {}

  PlacementView run() {
    view_.policy = text_of(r_, r_.policy);
    for (size_t i = 0; i < r_.instructions.size();) {
      const Instruction& n = r_.instructions[i];
      PlacedPart part;
      part.first_instruction = static_cast<uint32_t>(i);
      if (n.op == static_cast<uint16_t>(ControlOp::kDelegate)) {
        delegate(n, &part);
        i += 1 + fallback_count(n, attrs_of(n));
      } else {
        part.backend = "cpu";
        for (; i < r_.instructions.size() && r_.instructions[i].op != static_cast<uint16_t>(ControlOp::kDelegate); ++i)
          add(r_, i, writers_, &part);
        part.instruction_count = static_cast<uint32_t>(i) - part.first_instruction;
      }
      add_costs(&part);
      view_.parts.push_back(std::move(part));
    }
    return std::move(view_);
  }

 private:
  using Writers = std::map<int32_t, int>;  // of tensors

  const uint8_t* attrs_of(const Instruction& n) const { return r_.attrs.data() + n.attrs; }

  void add(const emit::ProgramRecords& r, size_t i, Writers& writers, PlacedPart* part) {
    const Instruction& n = r.instructions[i];
    PlacedOp op;
    op.op = name_of(n.op);
    op.node = i < r.source_names.size() ? text_of(r, r.source_names[i]) : "";
    op.backend = part->backend;
    for (uint32_t k = 0; k < uint32_t{n.input_count} + n.output_count; ++k) {
      const int32_t t = r.operands[n.operands + k];
      if (t < 0 || r.tensors[static_cast<size_t>(t)].storage == Storage::kConstant) continue;
      const auto known = writers.find(t);
      if (k < n.input_count) op.from.push_back(known != writers.end() ? known->second : -1);
      else writers[t] = count_;
      if (k == n.input_count) op.result_bytes = extent_bytes(r.tensors[static_cast<size_t>(t)]);
    }
    ++count_;
    part->ops.push_back(std::move(op));
  }

  void delegate(const Instruction& n, PlacedPart* part) {
    DelegateAttrs a{};
    std::memcpy(&a, attrs_of(n), sizeof a);
    part->has_fallback = fallback_count(n, attrs_of(n)) > 0;
    part->overlap = overlap_count(n, attrs_of(n));
    if (a.backend >= r_.backends.size()) return;
    const BackendRecord& b = r_.backends[a.backend];
    part->backend = text_of(r_, b.name);
    part->version = text_of(r_, b.version);
    part->capabilities = text_of(r_, b.capabilities);
    part->device_bytes = b.device_bytes;
    emit::ProgramRecords inner;
    if (b.segment >= r_.segments.size() || !read_program(r_.segments[b.segment].bytes, &inner) || inner.methods.size() != 1) return;
    const Method& m = inner.methods[0];
    Writers writers;
    for (uint32_t k = 0; k < m.input_count && k < n.input_count; ++k) {
      const auto known = writers_.find(r_.operands[n.operands + k]);
      writers[static_cast<int32_t>(inner.ios[m.first_input + k].tensor)] = known != writers_.end() ? known->second : -1;
    }
    for (size_t k = 0; k < inner.instructions.size(); ++k) add(inner, k, writers, part);
    for (uint32_t k = 0; k < m.output_count && k < n.output_count; ++k) {
      const auto known = writers.find(static_cast<int32_t>(inner.ios[m.first_output + k].tensor));
      if (known != writers.end()) writers_[r_.operands[n.operands + n.input_count + k]] = known->second;
    }
  }

  // What the file says of the cost of the part.
  void add_costs(PlacedPart* part) const {
    for (const Placement& p : r_.placements) {
      if (p.first_instruction != part->first_instruction) continue;
      part->predicted_ms = static_cast<double>(p.predicted_ns) / 1e6;
      part->bytes_in = p.bytes_in;
      part->bytes_out = p.bytes_out;
    }
  }

  const emit::ProgramRecords& r_;
  PlacementView view_;
  Writers writers_;
  int count_ = 0;
};

}  // namespace

PlacementView view_placement(const std::string& path) {
  std::vector<uint8_t> bytes;
  std::string error;
  if (!read_whole_file(path, &bytes, &error)) throw Failure(path + ": " + error);
  emit::ProgramRecords r;
  if (!read_program(bytes, &r)) throw Failure(path + ": expected a .mote program whose structure is sound");
  return Viewer(r).run();
}

std::string parts_text(size_t count) { return std::to_string(count) + (count == 1 ? " part" : " parts"); }

std::string placement_text(const PlacementView& view) {
  TextTable parts(
      {"part", "backend", "version", "operators", "in", "out", "device memory", "predicted ms", "overlap", "fallback", "needs"});
  TextTable ops({"part", "backend", "operator", "node"});
  uint64_t moved = 0;
  for (size_t i = 0; i < view.parts.size(); ++i) {
    const PlacedPart& p = view.parts[i];
    moved += p.bytes_in + p.bytes_out;
    parts.add({std::to_string(i), p.backend, p.version, std::to_string(p.ops.size()), bytes_text(p.bytes_in), bytes_text(p.bytes_out),
               bytes_text(p.device_bytes), real(p.predicted_ms), p.overlap > 0 ? std::to_string(p.overlap) : "none",
               p.has_fallback ? "cpu" : "none", p.capabilities.empty() ? "nothing" : p.capabilities});
    for (const PlacedOp& o : p.ops) ops.add({std::to_string(i), o.backend, o.op, one_line(o.node, 60)});
  }
  std::string text = parts.text() + "  " + parts_text(view.parts.size()) + ", " + bytes_text(moved) + " moved in one run\n\n";
  text += ops.text();
  if (!view.policy.empty()) text += "\npolicy\n" + view.policy;
  return text;
}

}  // namespace mote::tools
