#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "mote/format/evidence.h"
#include "mote/tools/commands.h"
#include "mote/tools/inspect.h"
#include "mote/tools/placement_html.h"
#include "mote/tools/placement_view.h"
#include "mote/tools/quantize_islands.h"
#include "mote/tools/release_report.h"
#include "mote/tools/text_table.h"
#include "mote/tools/values.h"

namespace mote::tools {

TensorSpec spec_of(const ProgramView& view, const Io& io) {
  const TensorDesc& d = view.table().tensors[io.tensor];
  TensorSpec s;
  s.name = view.string(io.name);
  s.dtype = static_cast<mote_dtype>(d.dtype);
  s.dims.assign(d.dims, d.dims + d.rank);
  s.dynamic = d.dynamic;
  s.bytes = extent_bytes(d);
  for (const Quant& q : view.table().quants) {
    if (q.tensor != io.tensor) continue;
    s.quantized = true;
    s.scale = q.scale;
    s.zero_point = q.zero_point;
  }
  return s;
}

std::map<std::string, uint32_t> count_ops(const ProgramView& view) {
  std::map<std::string, uint32_t> counts;
  for (const Instruction& n : view.table().instructions) ++counts[view.op_name(n)];
  return counts;
}

std::string border_evidence(const ProgramView& view, const char* kind, const Method& m, const std::string& name) {
  const std::string key = std::string(kind) + view.string(m.name) + "." + name;
  for (const Pair& p : view.table().evidence)
    if (view.string(p.key) == key) return view.string(p.value);
  return "";
}

namespace {

void section(const char* title, const TextTable& table) {
  if (!table.empty()) std::printf("\n%s\n%s", title, table.text().c_str());
}

void print_methods(const ProgramView& view) {
  std::vector<std::vector<std::string>> rows{{"method", "", "name", "type", "quantization", "name in the model"}};
  bool other_names = false;
  for (const Method& m : view.table().methods) {
    for (uint32_t i = 0; i < m.input_count + m.output_count; ++i) {
      const TensorSpec s = spec_of(view, view.table().ios[m.first_input + i]);
      char quantization[64] = "";
      if (s.quantized)
        std::snprintf(quantization, sizeof quantization, "scale %.6g, zero point %d", static_cast<double>(s.scale), s.zero_point);
      const bool is_input = i < m.input_count;
      const std::string codes = border_evidence(view, is_input ? kElementInput : kElementOutput, m, s.name);
      rows.push_back({i == 0 ? view.string(m.name) : "", is_input ? "in" : "out", s.name,
                      type_text(s) + (codes.empty() ? "" : ", codes of " + codes), quantization,
                      border_evidence(view, is_input ? kSourceInput : kSourceOutput, m, s.name)});
      other_names |= !rows.back().back().empty();
    }
  }
  if (!other_names)
    for (std::vector<std::string>& row : rows) row.pop_back();
  TextTable table(rows.front());
  for (size_t i = 1; i < rows.size(); ++i) table.add(rows[i]);
  section("Inputs and outputs", table);
}

void print_certificate(const ProgramView& view) {
  const ProgramTable& t = view.table();
  const Certificate& c = *t.certificate;
  TextTable table({"", ""});
  uint64_t arena = 0;
  for (const Bank& b : t.banks) arena += b.size;
  table.add({"arena", bytes_text(arena)});
  table.add({"instance", bytes_text(c.needs.instance_bytes_64) + " (32-bit: " + bytes_text(c.needs.instance_bytes_32) + ")"});
  table.add({"scratch", bytes_text(c.needs.scratch_base) + " + " + bytes_text(c.needs.scratch_per_thread) + " per thread"});
  table.add({"constants", bytes_text(c.constant_bytes)});
  table.add({"multiply-adds", number(c.macs)});
  table.add({"bytes moved", number(c.bytes_moved)});
  table.add({"steps", c.needs.steps_bound == 0xffffffffu ? "4,294,967,295 or more" : "at most " + number(c.needs.steps_bound)});
  section("Certificate", table);
}

void print_storage(const ProgramView& view) {
  TextTable banks({"bank", "name", "bytes", "alignment"});
  uint32_t i = 0;
  for (const Bank& b : view.table().banks) banks.add({std::to_string(i++), view.string(b.name), number(b.size), number(b.alignment)});
  section("Memory banks", banks);
  TextTable segments({"segment", "kind", "offset", "bytes", "alignment", "sha256"});
  i = 0;
  for (const Segment& s : view.table().segments)
    segments.add({std::to_string(i++), std::string(segment_kind(s.kind)) + ((s.flags & kExternal) != 0 ? " (external)" : ""),
                  number(s.offset), number(s.size), number(s.alignment), hex(s.sha256, 8) + "…"});
  section("Segments", segments);
}

void print_placement(const ProgramView& view) {
  TextTable table({"instructions", "backend", "predicted us", "bytes in", "bytes out"});
  for (const Placement& p : view.table().placements)
    table.add({std::to_string(p.first_instruction) + "+" + std::to_string(p.instruction_count), view.string(p.backend),
               microseconds(static_cast<double>(p.predicted_ns) / 1e3), number(p.bytes_in), number(p.bytes_out)});
  section("Placement", table);
  TextTable backends({"backend", "version", "capabilities", "device bytes"});
  for (const BackendRecord& b : view.table().backends)
    backends.add({view.string(b.name), view.string(b.version), view.string(b.capabilities), number(b.device_bytes)});
  section("Backends", backends);
}

void print_pairs(const ProgramView& view, const char* title, Span<const Pair> pairs) {
  TextTable table({"", ""});
  for (const Pair& p : pairs) table.add({view.string(p.key), one_line(view.string(p.value), 100)});
  section(title, table);
}

void print_instructions(const ProgramView& view) {
  const ProgramTable& t = view.table();
  TextTable table({"#", "operator", "inputs", "outputs", "attributes", "source"});
  for (uint32_t i = 0; i < t.instructions.size; ++i) {
    const Instruction& n = t.instructions[i];
    std::string in, out;
    for (uint32_t k = 0; k < uint32_t{n.input_count} + n.output_count; ++k) {
      std::string& to = k < n.input_count ? in : out;
      to += (to.empty() ? "" : ", ") + view.tensor_name(t.operands[n.operands + k]);
    }
    table.add(
        {std::to_string(i), view.op_name(n), in, out, view.attrs_text(n), i < t.source_names.size ? view.string(t.source_names[i]) : ""});
  }
  section("Instructions", table);
}

// What the quantizer did and measured.
void print_quantization(const ProgramView& view) {
  TextTable table({"", ""}), ops({"operator", "precision", "SQNR dB", "node"}), islands({"instructions", "operators", "nodes"});
  for (const std::vector<uint32_t>& island : float_islands(view.table())) {
    std::string names, nodes;
    for (const uint32_t i : island) {
      names += (names.empty() ? "" : ", ") + view.op_name(view.table().instructions[i]);
      if (i < view.table().source_names.size) nodes += std::string(nodes.empty() ? "" : ", ") + view.string(view.table().source_names[i]);
    }
    islands.add({std::to_string(island.front()) + ".." + std::to_string(island.back()), names, one_line(nodes, 100)});
  }
  for (const Pair& p : view.table().evidence) {
    const std::string key = view.string(p.key), value = view.string(p.value);
    if (key.compare(0, 6, "quant.") != 0) continue;
    if (key != "quant.ops") {
      table.add({key.substr(6), one_line(value, 100)});
      continue;
    }
    for (const std::vector<std::string>& cells : quantized_ops(value)) ops.add(cells);
  }
  if (table.empty()) {
    const size_t integer = count_integer_operators(view.table());
    std::printf("not quantized by Mote; %zu of %zu operators compute with integers, as the model has them\n", integer,
                view.table().instructions.size);
  }
  section("Quantization", table);
  section("Quantized operators", ops);
  section("Float islands between integer operators", islands);
}

struct InspectSettings {
  std::string file, html, report;
  bool ops = false, quant = false, placement = false, json = false;
};

void inspect(const InspectSettings& s) {
  const ProgramView view(s.file);
  if (!s.report.empty()) {
    check_report_path(s.report);
    return write_report(s.report, file_report(view, s.file), "");
  }
  if (s.quant && !s.json) return print_quantization(view);
  if (!s.html.empty()) return write_placement_html(s.html, std::filesystem::path(s.file).filename().string(), view_placement(s.file));
  if (s.placement) return (void)std::printf("%s", placement_text(view_placement(s.file)).c_str());
  if (s.json) return print_json(inspect_json(s.file, view, s.ops));
  const ProgramTable& t = view.table();
  std::printf("%s: %s, format %u.%u, %zu instructions, %zu tensors, %zu golden records\n", s.file.c_str(),
              bytes_text(view.file_bytes()).c_str(), t.major, t.minor, t.instructions.size, t.tensors.size, t.goldens.size);
  print_methods(view);
  print_certificate(view);
  print_storage(view);
  print_placement(view);
  TextTable ops({"operator", "instructions"});
  for (const auto& [name, count] : count_ops(view)) ops.add({name, number(count)});
  section("Operators", ops);
  print_pairs(view, "Metadata", t.metadata);
  print_pairs(view, "Evidence", t.evidence);
  std::printf("%s", facts_text(program_facts(view, {s.file, {}, true}), s.ops).c_str());
  if (s.ops) print_instructions(view);
}

}  // namespace

void add_inspect(CLI::App& app, Context& context) {
  auto s = std::make_shared<InspectSettings>();
  CLI::App* c = app.add_subcommand("inspect", "Show what a program holds and needs");
  c->add_option("FILE", s->file, "program (.mote)")->required();
  c->add_flag("--ops", s->ops, "list every instruction");
  c->add_flag("--quant", s->quant, "show only what quantizing did and cost");
  auto* placement = c->add_flag("--placement", s->placement, "show only where its operators run, and what that is thought to take");
  c->add_option("--html", s->html, "with --placement: write it as a graph, a page that needs nothing else, there")->needs(placement);
  c->add_option("--report", s->report,
                "write what the file shows of itself as a page (.html) or as data (.json), as mote compile --report does");
  c->add_flag("--json", s->json, "print JSON (docs/json.md)");
  c->callback([s, &context] {
    context.json = s->json;
    inspect(*s);
  });
}

}  // namespace mote::tools
