#include <sstream>

#include "mote/compiler/frontends/torch/op.h"
#include "mote/compiler/frontends/torch/torch.h"

namespace mote::frontends::torch {

#define MOTE_TORCH_FAMILY(name) void add_##name##_ops(OpTable& table);
#include "mote/compiler/frontends/torch/families.def"
#undef MOTE_TORCH_FAMILY

namespace {

std::vector<std::string> words_of(const char* text) {
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

// Operators that no exporter writes.
bool is_internal(const std::string& name) { return name.compare(0, 5, "mote.") == 0; }

std::string names_of(DTypeMask types) {
  std::string out;
  for (uint8_t t = 1; t < kDTypeCount; ++t)
    if ((types >> t & 1) != 0) out += (out.empty() ? "" : " ") + std::string(dtype_name(static_cast<DType>(t)));
  return out;
}

}  // namespace

void add_lines(OpTable& table, std::initializer_list<OpLine> lines) {
  for (const OpLine& line : lines) table[line.name].push_back(line);
}

const OpTable& op_table() {
  static const OpTable* const table = [] {
    auto* t = new OpTable;  // never freed: importers may run until the process ends
#define MOTE_TORCH_FAMILY(name) add_##name##_ops(*t);
#include "mote/compiler/frontends/torch/families.def"
#undef MOTE_TORCH_FAMILY
    return t;
  }();
  return *table;
}

const OpIndex& op_index() {
  static const OpIndex* const index = [] {
    auto* t = new OpIndex;
    for (const auto& [name, lines] : op_table())
      for (const OpLine& line : lines) {
        if (*line.overloads == '\0') (*t)[name] = &line;
        for (const std::string& overload : words_of(line.overloads)) (*t)[name + "." + overload] = &line;
      }
    return t;
  }();
  return *index;
}

std::vector<std::string> supported_operators() {
  std::vector<std::string> out;
  for (const auto& [name, line] : op_index())
    if (line->import != nullptr && !is_internal(name)) out.push_back(name);
  return out;
}

std::string operator_table() {
  std::string out =
      "# PyTorch operators\n\nMade by `mote ops --aten`; do not edit. What `mote compile` and `mote.torch` take of the operators in "
      "graphs of `torch.export`;\nin-place forms (`add_`) count with the others. Other operators are decomposed by PyTorch before they "
      "get here, or refused.\n\n| operator | overloads | element types | status |\n|---|---|---|---|\n";
  for (const auto& [name, lines] : op_table()) {
    if (is_internal(name)) continue;
    for (const OpLine& line : lines) {
      std::string overloads;
      for (const std::string& o : words_of(line.overloads)) overloads += (overloads.empty() ? "" : ", ") + o;
      const std::string status = line.import == nullptr ? "refused" : "supported";
      out += "| `" + name + "` | " + overloads + " | " + (line.import == nullptr ? "" : names_of(line.types)) + " | " + status +
             (*line.note == '\0' ? "" : std::string(": ") + line.note) + " |\n";
    }
  }
  return out;
}

}  // namespace mote::frontends::torch
