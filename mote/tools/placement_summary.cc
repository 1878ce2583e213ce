#include "mote/tools/placement_summary.h"

#include <algorithm>
#include <cstdio>

#include "mote/tools/placement_view.h"

namespace mote::tools {
namespace {

// Backends whose costs nobody measured for this target: their own assumptions of a usual device stand in.
std::vector<std::string> assumed(const placement::Placed& p, const target::Target& target) {
  std::vector<std::string> names;
  for (const placement::Piece& piece : p.pieces) {
    if (piece.backend == "cpu" || target::find_backend(target, piece.backend) != nullptr) continue;
    if (std::find(names.begin(), names.end(), piece.backend) == names.end()) names.push_back(piece.backend);
  }
  return names;
}

unsigned long long count(uint64_t v) { return v; }

}  // namespace

void print_placement(const placement::Placed& p, const target::Target& target) {
  if (p.pieces.empty()) return;
  const std::vector<std::string> guessed = assumed(p, target);
  for (const placement::Piece& piece : p.pieces) {
    const bool guess = std::find(guessed.begin(), guessed.end(), piece.backend) != guessed.end();
    std::printf("  on %s: %zu %s, %s%s, %llu bytes in, %llu out, predicted %.3f ms%s\n", piece.backend.c_str(), piece.nodes.size(),
                piece.nodes.size() == 1 ? "operator" : "operators", piece.nodes.front().c_str(),
                piece.nodes.size() > 1 ? (" to " + piece.nodes.back()).c_str() : "", count(piece.bytes_in), count(piece.bytes_out),
                piece.predicted_ns / 1e6, guess ? " (assumed)" : "");
  }
  std::printf("  placement: %s, %llu bytes moved, predicted %.3f ms", parts_text(p.pieces.size()).c_str(), count(p.transfer_bytes),
              p.predicted_ns / 1e6);
  if (p.cpu_ns >= 0) std::printf(" (CPU alone %.3f ms)", p.cpu_ns / 1e6);
  std::printf("%s\n", guessed.empty() ? "" : ", by assumed costs");
  for (const std::string& name : guessed)
    std::fprintf(
        stderr,
        "mote: warning: costs of %s are assumed for a usual device, not measured on this one: parts may be slower there than on the "
        "CPU; 'mote measure --backend %s -o this.toml' measures (some seconds), --target this.toml places by it\n",
        name.c_str(), name.c_str());
  for (const std::string& note : p.notes) std::fprintf(stderr, "mote: note: %s\n", note.c_str());
}

Json placement_json(const placement::Placed& p, const target::Target& target) {
  Json parts = Json::array();
  for (const placement::Piece& piece : p.pieces)
    parts.push_back({{"backend", piece.backend},
                     {"operators", piece.nodes.size()},
                     {"bytes_in", piece.bytes_in},
                     {"bytes_out", piece.bytes_out},
                     {"predicted_ms", piece.predicted_ns / 1e6}});
  Json j = {{"parts", parts},
            {"predicted_ms", p.predicted_ns / 1e6},
            {"transfer_bytes", p.transfer_bytes},
            {"assumed", assumed(p, target)},
            {"notes", p.notes}};
  if (p.cpu_ns >= 0) j["cpu_ms"] = p.cpu_ns / 1e6;
  return j;
}

}  // namespace mote::tools
