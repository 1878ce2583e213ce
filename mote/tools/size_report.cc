#include "mote/tools/size_report.h"

#include <algorithm>
#include <cstdio>

#include "mote/format/reader.h"
#include "mote/tools/text_table.h"
#include "mote/tools/values.h"

namespace mote::tools {
namespace {

// The instruction that names each tensor first, or -1.
std::vector<int64_t> first_users(const ProgramTable& t) {
  std::vector<int64_t> users(t.tensors.size, -1);
  for (size_t i = 0; i < t.instructions.size; ++i) {
    const Instruction& n = t.instructions[i];
    for (uint32_t k = 0; k < n.input_count; ++k) {
      const int32_t tensor = t.operands[n.operands + k];
      if (tensor >= 0 && users[static_cast<size_t>(tensor)] < 0) users[static_cast<size_t>(tensor)] = static_cast<int64_t>(i);
    }
  }
  return users;
}

std::string percent(uint64_t part, uint64_t all) {
  char text[16];
  std::snprintf(text, sizeof text, "%.1f %%", all > 0 ? 100 * static_cast<double>(part) / static_cast<double>(all) : 0);
  return text;
}

}  // namespace

SizeReport size_report(const ProgramView& view) {
  const ProgramTable& t = view.table();
  SizeReport r;
  uint64_t in_segments = 0, table_end = view.file_bytes();
  for (const Segment& s : t.segments) {
    const bool external = (s.flags & kExternal) != 0;
    if (s.size == 0) continue;
    r.parts.push_back({segment_kind(s.kind), external ? "in the second file" : "", external ? 0 : s.size});
    if (external) continue;
    in_segments += s.size;
    table_end = std::min(table_end, s.offset);
  }
  uint64_t tables =
      t.tensors.size * sizeof(TensorDesc) + t.instructions.size * sizeof(Instruction) + t.operands.size * sizeof(int32_t) + t.attrs.size;
  r.parts.push_back(
      {"tensors and instructions", number(t.tensors.size) + " tensors, " + number(t.instructions.size) + " instructions", tables});
  r.parts.push_back({"texts", "names, metadata, evidence", t.strings.size});
  tables += t.strings.size;
  r.parts.push_back({"other tables and padding", "segments begin at pages unless --alignment says otherwise",
                     view.file_bytes() - in_segments - std::min(tables, table_end)});
  const std::vector<int64_t> users = first_users(t);
  std::vector<std::pair<uint64_t, uint64_t>> seen;  // place and size: equal constants are kept once
  for (size_t i = 0; i < t.tensors.size; ++i) {
    const TensorDesc& d = t.tensors[i];
    if (d.storage != Storage::kConstant || users[i] < 0) continue;
    const std::pair<uint64_t, uint64_t> place{d.offset, extent_bytes(d)};
    if (std::find(seen.begin(), seen.end(), place) != seen.end()) continue;
    seen.push_back(place);
    const auto at = static_cast<size_t>(users[i]);
    const std::string source = at < t.source_names.size ? view.string(t.source_names[at]) : "";
    r.constants.push_back({view.op_name(t.instructions[at]) + " " + type_text(d.dtype, {d.dims, d.dims + d.rank}), source, place.second});
  }
  std::stable_sort(r.constants.begin(), r.constants.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  return r;
}

std::string size_text(const SizeReport& report, size_t constants_shown) {
  uint64_t all = 0, constants = 0;
  for (const auto& p : report.parts) all += p.bytes;
  for (const auto& c : report.constants) constants += c.bytes;
  TextTable parts({"bytes", "share", "part of the file", ""});
  for (const auto& p : report.parts) parts.add({number(p.bytes), percent(p.bytes, all), p.what, p.detail});
  TextTable largest({"bytes", "share", "constant of", "node of the model"});
  for (size_t i = 0; i < std::min(constants_shown, report.constants.size()); ++i) {
    const auto& c = report.constants[i];
    largest.add({number(c.bytes), percent(c.bytes, constants), c.what, c.detail});
  }
  std::string text = "What takes the space\n" + parts.text();
  if (!largest.empty()) text += "Largest constants\n" + largest.text();
  return text;
}

Json size_json(const SizeReport& report) {
  const auto list = [](const std::vector<SizeReport::Line>& lines) {
    Json all = Json::array();
    for (const auto& l : lines) all.push_back({{"what", l.what}, {"detail", l.detail}, {"bytes", l.bytes}});
    return all;
  };
  return {{"parts", list(report.parts)}, {"constants", list(report.constants)}};
}

}  // namespace mote::tools
