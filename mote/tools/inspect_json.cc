#include "mote/tools/inspect.h"

#include "mote/format/evidence.h"
#include "mote/tools/program_facts.h"
#include "mote/tools/values.h"

namespace mote::tools {
namespace {

Json ios_json(const ProgramView& view, const Method& m, const char* element, uint32_t first, uint32_t count) {
  Json all = Json::array();
  for (uint32_t i = first; i < first + count; ++i) {
    const TensorSpec spec = spec_of(view, view.table().ios[i]);
    all.push_back(spec_json(spec));
    if (const std::string codes = border_evidence(view, element, m, spec.name); !codes.empty()) all.back()["element"] = codes;
  }
  return all;
}

Json methods_json(const ProgramView& view) {
  Json all = Json::array();
  for (const Method& m : view.table().methods)
    all.push_back({{"name", view.string(m.name)},
                   {"inputs", ios_json(view, m, kElementInput, m.first_input, m.input_count)},
                   {"outputs", ios_json(view, m, kElementOutput, m.first_output, m.output_count)},
                   {"first_instruction", m.first_instruction},
                   {"instruction_count", m.instruction_count}});
  return all;
}

Json certificate_json(const ProgramTable& t) {
  const Certificate& c = *t.certificate;
  uint64_t arena = 0;
  for (const Bank& b : t.banks) arena += b.size;
  return {{"arena_bytes", arena},
          {"instance_bytes_32", c.needs.instance_bytes_32},
          {"instance_bytes_64", c.needs.instance_bytes_64},
          {"scratch_base_bytes", c.needs.scratch_base},
          {"scratch_per_thread_bytes", c.needs.scratch_per_thread},
          {"constant_bytes", c.constant_bytes},
          {"macs", c.macs},
          {"bytes_moved", c.bytes_moved},
          {"max_nesting", c.needs.max_nesting},
          {"steps_bound", c.needs.steps_bound}};
}

Json storage_json(const ProgramView& view, bool segments) {
  Json all = Json::array();
  if (!segments) {
    for (const Bank& b : view.table().banks) all.push_back({{"name", view.string(b.name)}, {"bytes", b.size}, {"alignment", b.alignment}});
    return all;
  }
  for (const Segment& s : view.table().segments)
    all.push_back({{"kind", segment_kind(s.kind)},
                   {"offset", s.offset},
                   {"bytes", s.size},
                   {"alignment", s.alignment},
                   {"external", (s.flags & kExternal) != 0},
                   {"sha256", hex(s.sha256, 32)}});
  return all;
}

Json placement_json(const ProgramView& view) {
  Json all = Json::array();
  for (const Placement& p : view.table().placements)
    all.push_back({{"backend", view.string(p.backend)},
                   {"first_instruction", p.first_instruction},
                   {"instruction_count", p.instruction_count},
                   {"predicted_ns", p.predicted_ns},
                   {"bytes_in", p.bytes_in},
                   {"bytes_out", p.bytes_out}});
  return all;
}

Json backends_json(const ProgramView& view) {
  Json all = Json::array();
  for (const BackendRecord& b : view.table().backends)
    all.push_back({{"name", view.string(b.name)},
                   {"version", view.string(b.version)},
                   {"capabilities", view.string(b.capabilities)},
                   {"segment", b.segment},
                   {"device_bytes", b.device_bytes}});
  return all;
}

Json pairs_json(const ProgramView& view, Span<const Pair> pairs) {
  Json all = Json::object();
  for (const Pair& p : pairs) all[view.string(p.key)] = view.string(p.value);
  return all;
}

Json instructions_json(const ProgramView& view) {
  const ProgramTable& t = view.table();
  Json all = Json::array();
  for (uint32_t i = 0; i < t.instructions.size; ++i) {
    const Instruction& n = t.instructions[i];
    Json inputs = Json::array(), outputs = Json::array();
    for (uint32_t k = 0; k < uint32_t{n.input_count} + n.output_count; ++k)
      (k < n.input_count ? inputs : outputs).push_back(t.operands[n.operands + k]);
    all.push_back({{"index", i},
                   {"op", view.op_name(n)},
                   {"source", i < t.source_names.size ? view.string(t.source_names[i]) : ""},
                   {"attributes", view.attrs_text(n)},
                   {"inputs", inputs},
                   {"outputs", outputs}});
  }
  return all;
}

}  // namespace

Json inspect_json(const std::string& path, const ProgramView& view, bool with_instructions) {
  const ProgramTable& t = view.table();
  Json ops = Json::object();
  for (const auto& [name, count] : count_ops(view)) ops[name] = count;
  Json j = {{"file", path},
            {"file_bytes", view.file_bytes()},
            {"format", {{"major", t.major}, {"minor", t.minor}}},
            {"methods", methods_json(view)},
            {"certificate", certificate_json(t)},
            {"banks", storage_json(view, false)},
            {"segments", storage_json(view, true)},
            {"placement", placement_json(view)},
            {"backends", backends_json(view)},
            {"policy", view.string(t.policy)},
            {"ops", ops},
            {"tensor_count", t.tensors.size},
            {"instruction_count", t.instructions.size},
            {"state_count", t.states.size},
            {"golden_count", t.goldens.size},
            {"metadata", pairs_json(view, t.metadata)},
            {"evidence", pairs_json(view, t.evidence)}};
  const Json facts = program_facts(view, {path, {}, true});
  for (const char* key : {"size", "quantization", "kernels", "slow_paths", "accumulators", "not_verified"}) j[key] = facts[key];
  if (with_instructions) j["operators"] = facts["operators"];
  if (with_instructions) j["instructions"] = instructions_json(view);
  return j;
}

}  // namespace mote::tools
