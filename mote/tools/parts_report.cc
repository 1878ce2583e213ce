#include "mote/tools/parts_report.h"

#include <cstdio>

#include "mote/tools/text_table.h"
#include "mote/tools/values.h"

namespace mote::tools {

std::vector<MeasuredPart> measured_parts(const std::string& path, const std::vector<OpRecord>& ops) {
  const PlacementView view = view_placement(path);
  std::vector<MeasuredPart> parts;
  bool placed = false;
  for (const PlacedPart& p : view.parts) {
    MeasuredPart m{p.backend, p.ops.size(), p.bytes_in, p.bytes_out, p.predicted_ms * 1e3, 0};
    placed |= p.predicted_ms > 0 || p.backend != "cpu";
    for (const OpRecord& r : ops)
      if (r.instruction >= p.first_instruction && r.instruction < p.first_instruction + p.instruction_count) m.measured_us += r.median_us;
    parts.push_back(m);
  }
  return placed ? parts : std::vector<MeasuredPart>{};
}

std::string parts_text(const std::vector<MeasuredPart>& parts) {
  TextTable table({"part", "backend", "operators", "in", "out", "predicted us", "measured us", "predicted/measured"});
  MeasuredPart all;
  const auto ratio = [](const MeasuredPart& m) { return m.measured_us > 0 ? real(m.predicted_us / m.measured_us) : "-"; };
  for (size_t i = 0; i < parts.size(); ++i) {
    const MeasuredPart& m = parts[i];
    table.add({std::to_string(i), m.backend, std::to_string(m.operators), bytes_text(m.bytes_in), bytes_text(m.bytes_out),
               real(m.predicted_us), real(m.measured_us), ratio(m)});
    all.operators += m.operators;
    all.bytes_in += m.bytes_in;
    all.bytes_out += m.bytes_out;
    all.predicted_us += m.predicted_us;
    all.measured_us += m.measured_us;
  }
  table.add({"all", "", std::to_string(all.operators), bytes_text(all.bytes_in), bytes_text(all.bytes_out), real(all.predicted_us),
             real(all.measured_us), ratio(all)});
  return table.text();
}

Json parts_json(const std::vector<MeasuredPart>& parts) {
  Json list = Json::array();
  for (const MeasuredPart& m : parts)
    list.push_back({{"backend", m.backend},
                    {"operators", m.operators},
                    {"bytes_in", m.bytes_in},
                    {"bytes_out", m.bytes_out},
                    {"predicted_us", m.predicted_us},
                    {"measured_us", m.measured_us}});
  return list;
}

}  // namespace mote::tools
