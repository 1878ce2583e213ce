#include "mote/tools/program_facts.h"

#include <algorithm>
#include <array>

#include "mote/compiler/driver/accumulators.h"
#include "mote/compiler/driver/slow_paths.h"
#include "mote/compiler/program/registry.h"
#include "mote/tools/backends.h"
#include "mote/tools/inspect.h"
#include "mote/tools/quantize_islands.h"
#include "mote/tools/roofline.h"
#include "mote/tools/size_report.h"
#include "mote/tools/text_table.h"
#include "mote/tools/values.h"

namespace mote::tools {
namespace {

constexpr size_t kMostConstants = 20;                    // the largest
constexpr uint64_t kQuickWeights = uint64_t{256} << 20;  // bytes that are read in a moment

std::string evidence_of(const ProgramView& view, const std::string& key) {
  for (const Pair& p : view.table().evidence)
    if (view.string(p.key) == key) return view.string(p.value);
  return "";
}

// Bytes of a bank that operands of instructions before and after hold, at each instruction.
std::vector<uint64_t> live_bytes(const ProgramTable& t) {
  struct Use {
    int64_t first = -1, last = -1;
  };
  std::vector<Use> uses(t.tensors.size);
  for (uint32_t i = 0; i < t.instructions.size; ++i) {
    const Instruction& n = t.instructions[i];
    for (uint32_t k = 0; k < uint32_t{n.input_count} + n.output_count; ++k) {
      const int32_t tensor = t.operands[n.operands + k];
      if (tensor < 0 || t.tensors[static_cast<size_t>(tensor)].storage != Storage::kArena) continue;
      Use& u = uses[static_cast<size_t>(tensor)];
      if (u.first < 0) u.first = i;
      u.last = i;
    }
  }
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < uses.size(); ++i)
    if (uses[i].first >= 0) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return uses[a].first < uses[b].first; });
  std::vector<uint64_t> all(t.instructions.size, 0);
  std::vector<uint32_t> live;
  size_t next = 0;
  for (uint32_t i = 0; i < t.instructions.size; ++i) {
    while (next < order.size() && uses[order[next]].first <= i) live.push_back(order[next++]);
    live.erase(std::remove_if(live.begin(), live.end(), [&](uint32_t v) { return uses[v].last < i; }), live.end());
    // Tensors lie on each other in place and as views: their union counts.
    std::vector<std::array<uint64_t, 3>> places;
    for (const uint32_t v : live)
      places.push_back({t.tensors[v].bank, t.tensors[v].offset, t.tensors[v].offset + extent_bytes(t.tensors[v])});
    std::sort(places.begin(), places.end());
    uint64_t bank = UINT64_MAX, end = 0;
    for (const auto& [b, from, to] : places) {
      if (b != bank) bank = b, end = 0;
      all[i] += to > std::max(from, end) ? to - std::max(from, end) : 0;
      end = std::max(end, to);
    }
  }
  return all;
}

std::string backend_of(const ProgramView& view, uint32_t instruction) {
  for (const Placement& p : view.table().placements)
    if (instruction >= p.first_instruction && instruction - p.first_instruction < p.instruction_count) return view.string(p.backend);
  return "cpu";
}

Json operators_json(const ProgramView& view, const target::Target* target) {
  const ProgramTable& t = view.table();
  const program::CostSource source(t);
  const std::vector<uint64_t> calls = program::calls_per_pass(source), live = live_bytes(t);
  uint64_t footprint = t.certificate->constant_bytes;
  for (const Bank& b : t.banks) footprint += b.size;
  const Roofline roofline(target != nullptr ? *target : target::Target{}, 1, footprint);
  Json all = Json::array();
  for (uint32_t i = 0; i < t.instructions.size; ++i) {
    const Instruction& n = t.instructions[i];
    const program::Cost cost = program::cost_of(source, n);
    Json j = {{"instruction", i},
              {"op", view.op_name(n)},
              {"node", i < t.source_names.size ? view.string(t.source_names[i]) : ""},
              {"macs", cost.macs},
              {"read_bytes", cost.read_bytes},
              {"constant_bytes", cost.constant_bytes},
              {"written_bytes", cost.written_bytes},
              {"live_bytes", live[i]},
              {"backend", backend_of(view, i)}};
    if (target != nullptr) {
      const Bound bound = roofline.of(cost, calls[i]);
      j["least_us"] = bound.us();
      j["limit"] = bound.limit();
    }
    const int32_t out = n.output_count > 0 ? t.operands[n.operands + n.input_count] : -1;
    if (out >= 0) {
      const TensorDesc& d = t.tensors[static_cast<size_t>(out)];
      j["output"] = type_text(d.dtype, {d.dims, d.dims + d.rank});
    }
    all.push_back(std::move(j));
  }
  return all;
}

Json accumulators_json(const ProgramView& view, ConstBytes external) {
  const ProgramTable& t = view.table();
  Json all = Json::array();
  for (const driver::Accumulator& a : driver::accumulators(t, view.bytes(), external))
    all.push_back({{"instruction", a.instruction},
                   {"op", a.op},
                   {"node", a.instruction < t.source_names.size ? view.string(t.source_names[a.instruction]) : ""},
                   {"channels", a.channels},
                   {"products", a.products},
                   {"width_bits", a.width},
                   {"bound", a.bound},
                   {"needed_bits", a.bits},
                   {"from", a.weights_known ? "weights" : "types"},
                   {"not_counted", a.not_counted},
                   {"fits", a.fits()}});
  return all;
}

Json slow_paths_json(const ProgramView& view, ConstBytes external, bool board) {
  const OpRegistry& ops = program::builtin_registry();
  Json all = Json::array();
  for (const driver::SlowPath& p : board
                                       ? driver::slow_paths_on_board(view.table(), view.bytes(), external, ops, driver::kWorthAWordOnBoard)
                                       : driver::slow_paths(view.table(), view.bytes(), external, ops, kernels::best_isa(~0u)))
    all.push_back({{"instruction", p.instruction}, {"op", p.op}, {"node", p.node}, {"elements", p.elements}, {"reason", p.reason}});
  return all;
}

// Why kernels cannot be asked about the program: it has operators or backends that this build has not, or is damaged. Empty: they can.
std::string unsound(const ProgramView& view, ConstBytes external) {
  const RegistryHandle registry = view.table().backends.size > 0 ? backend_registry() : nullptr;
  mote_open_options o{};
  o.struct_size = sizeof o;
  o.registry = registry.get();
  o.weights = external.data;
  o.weights_size = external.size;
  const ErrorHandle error(mote_error_create());
  mote_program* program = nullptr;
  if (mote_program_open_memory(view.bytes().data, view.bytes().size, &o, &program, error.get()) != 0)
    return mote_error_message(error.get());
  mote_program_release(program);
  return "";
}

Json segments_json(const ProgramView& view) {
  Json all = Json::array();
  for (const Segment& s : view.table().segments)
    all.push_back({{"kind", segment_kind(s.kind)},
                   {"bytes", s.size},
                   {"alignment", s.alignment},
                   {"external", (s.flags & kExternal) != 0},
                   {"sha256", hex(s.sha256, 32)}});
  return all;
}

Json memory_json(const ProgramView& view) {
  const ProgramTable& t = view.table();
  const CertifiedNeeds& c = t.certificate->needs;
  Json banks = Json::array();
  uint64_t arena = 0;
  for (const Bank& b : t.banks) {
    banks.push_back({{"name", view.string(b.name)}, {"bytes", b.size}, {"alignment", b.alignment}});
    arena += b.size;
  }
  return {{"arena_bytes", arena},
          {"banks", banks},
          {"instance_bytes_32", c.instance_bytes_32},
          {"instance_bytes_64", c.instance_bytes_64},
          {"scratch_base_bytes", c.scratch_base},
          {"scratch_per_thread_bytes", c.scratch_per_thread},
          {"steps_bound", c.steps_bound}};
}

Json placement_facts(const ProgramView& view) {
  Json parts = Json::array();
  for (const Placement& p : view.table().placements)
    parts.push_back({{"backend", view.string(p.backend)},
                     {"first_instruction", p.first_instruction},
                     {"instruction_count", p.instruction_count},
                     {"predicted_us", static_cast<double>(p.predicted_ns) / 1e3},
                     {"bytes_in", p.bytes_in},
                     {"bytes_out", p.bytes_out}});
  return {{"policy", view.string(view.table().policy)}, {"parts", parts}};
}

// The evidence that the quantizer left in the file; null without.
Json quantization_facts(const ProgramView& view) {
  Json evidence = Json::object(), ops = Json::array();
  for (const Pair& p : view.table().evidence) {
    const std::string key = view.string(p.key), value = view.string(p.value);
    if (key.compare(0, 6, "quant.") != 0) continue;
    if (key != "quant.ops") {
      evidence[key.substr(6)] = value;
      continue;
    }
    for (const std::vector<std::string>& cells : quantized_ops(value))
      ops.push_back({{"op", cells[0]}, {"precision", cells[1]}, {"sqnr_db", cells[2]}, {"node", cells[3]}});
  }
  const size_t integer = count_integer_operators(view.table());
  if (evidence.empty() && integer == 0) return nullptr;
  return {{"by_mote", !evidence.empty()}, {"integer_operators", integer}, {"evidence", evidence}, {"ops", ops}};
}

// What the examples in the file hold the program to.
Json examples_json(const ProgramView& view) {
  Json outputs = Json::array();
  size_t count = 0;
  for (const Golden& g : view.table().goldens) {
    if (g.is_output == 0) continue;
    count += g.io == 0;
    const Method& m = view.table().methods[g.method];
    outputs.push_back({{"method", view.string(m.name)},
                       {"example", g.example},
                       {"output", view.string(view.table().ios[m.first_output + g.io].name)},
                       {"tolerance", g.tolerance}});
  }
  return {{"count", count}, {"outputs", outputs}};
}

}  // namespace

std::vector<std::vector<std::string>> quantized_ops(const std::string& evidence) {
  std::vector<std::vector<std::string>> rows;
  for (size_t at = 0; at < evidence.size();) {
    const size_t end = std::min(evidence.find('\n', at), evidence.size());
    std::vector<std::string> cells;
    for (size_t from = at; from <= end && cells.size() < 4;) {
      const size_t tab = cells.size() == 3 ? end : std::min(evidence.find('\t', from), end);
      cells.push_back(evidence.substr(from, tab - from));
      from = tab + 1;
    }
    cells.resize(4);
    rows.push_back(std::move(cells));
    at = end + 1;
  }
  return rows;
}

Json program_facts(const ProgramView& view, const FactOptions& options) {
  const ProgramTable& t = view.table();
  const std::string target_name = evidence_of(view, "target"), why = unsound(view, options.external);
  const target::Target* target = options.target != nullptr ? options.target : target::named(target_name);
  const bool board = target != nullptr && target::is_microcontroller(*target);
  SizeReport size = size_report(view);
  if (size.constants.size() > kMostConstants) size.constants.resize(kMostConstants);
  Json ops = Json::object();
  for (const auto& [name, count] : count_ops(view)) ops[name] = count;
  Json j = {{"program",
             {{"file", options.path},
              {"bytes", view.file_bytes()},
              {"format", {{"major", t.major}, {"minor", t.minor}}},
              {"producer", evidence_of(view, "producer")},
              {"options", evidence_of(view, "options")},
              {"target", target_name},
              {"licence", evidence_of(view, "licence")}}},
            {"source",
             {{"model", evidence_of(view, "source.model")},
              {"sha256", evidence_of(view, "source.sha256")},
              {"format", evidence_of(view, "source.format")}}},
            {"examples", examples_json(view)},
            {"size", size_json(size)},
            {"segments", segments_json(view)},
            {"memory", memory_json(view)},
            {"placement", placement_facts(view)},
            {"quantization", quantization_facts(view)},
            {"not_verified", why.empty() ? Json(nullptr) : Json(why)},
            {"macs", t.certificate->macs},
            {"ops", ops}};
  if (!options.quick) j["program"]["sha256"] = driver::sha256_hex(view.bytes());
  const bool bounds = why.empty() && (!options.quick || t.certificate->constant_bytes <= kQuickWeights);
  // Kernels and attributes are looked at in programs that are verified, for the others nothing is known.
  j["kernels"] = board ? "microcontroller" : kernels::isa_name(kernels::best_isa(~0u));
  j["slow_paths"] = why.empty() ? slow_paths_json(view, options.external, board) : Json(nullptr);
  j["accumulators"] = bounds ? accumulators_json(view, options.external) : Json(nullptr);
  j["operators"] = operators_json(view, target);
  return j;
}

std::string facts_text(const Json& facts, bool all) {
  std::string text;
  if (!facts["accumulators"].is_null() && !facts["accumulators"].empty()) {
    TextTable table({"#", "operator", "products", "bound of a sum", "bits", "accumulator", "", "node"});
    size_t fit = 0;
    uint64_t most = 0;
    for (const Json& a : facts["accumulators"]) {
      const auto open = a["not_counted"].get<std::string>();
      const bool fits = a["fits"].get<bool>();
      fit += fits;
      most = std::max(most, a["needed_bits"].get<uint64_t>());
      if (fits && !all) continue;
      table.add({number(a["instruction"].get<uint64_t>()), a["op"].get<std::string>(), number(a["products"].get<uint64_t>()),
                 number(a["bound"].get<uint64_t>()), number(a["needed_bits"].get<uint64_t>()),
                 number(a["width_bits"].get<uint64_t>()) + " bits",
                 fits           ? "fits"
                 : open.empty() ? "may wrap"
                                : "without " + open,
                 one_line(a["node"].get<std::string>(), 60)});
    }
    text += "\nAccumulators of integer products, for any input\n  " + number(fit) + " of " + number(facts["accumulators"].size()) +
            " cannot overflow; the largest needs " + number(most) + " bits\n" + (table.empty() ? "" : table.text());
  }
  if (!facts["slow_paths"].is_null() && !facts["slow_paths"].empty()) {
    TextTable table({"#", "operator", "elements", "why", "node"});
    for (const Json& p : facts["slow_paths"])
      table.add({number(p["instruction"].get<uint64_t>()), p["op"].get<std::string>(), number(p["elements"].get<uint64_t>()),
                 p["reason"].get<std::string>(), one_line(p["node"].get<std::string>(), 60)});
    text += "\nPortable kernels with " + facts["kernels"].get<std::string>() + "\n" + table.text();
  }
  return text;
}

}  // namespace mote::tools
