#include "mote/compiler/frontends/common/notes.h"

namespace mote::frontends {

constexpr char kKey[] = "import.note";

void add_note(ir::Graph& graph, const std::string& text) { graph.evidence.emplace_back(kKey, text); }

std::vector<std::string> notes_of(const ir::Graph& graph) {
  std::vector<std::string> notes;
  for (const auto& [key, value] : graph.evidence)
    if (key == kKey) notes.push_back(value);
  return notes;
}

}  // namespace mote::frontends
