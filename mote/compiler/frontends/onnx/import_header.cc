// The head of a model: versions, and texts for metadata and evidence.

#include "mote/compiler/frontends/common/notes.h"
#include "mote/compiler/frontends/onnx/import.h"

namespace mote::frontends::onnx {

bool Importer::check_header() {
  constexpr int64_t kOldest = 3, kNewest = 14;
  const int64_t version = model_->ir_version();
  if (version < kOldest || version > kNewest)
    problem(
        "model",
        "expected an IR version from " + std::to_string(kOldest) + " to " + std::to_string(kNewest) + ", found " + std::to_string(version),
        "convert the model with onnx.version_converter");
  else if (!model_->has_graph()) problem("model", "has no graph");
  else if (opsets_.empty()) problem("model", "does not say which operator set it uses (opset_import)");
  return problems_->empty();
}

void Importer::read_metadata() {
  const auto keep = [](auto& list, const std::string& key, const std::string& value) {
    if (!value.empty()) list.emplace_back(key, value);
  };
  const auto& m = *model_;
  keep(graph_.evidence, "source.format", "onnx");
  keep(graph_.evidence, "source.ir_version", std::to_string(m.ir_version()));
  for (const auto& [domain, version] : opsets_)
    keep(graph_.evidence, "source.opset", (domain.empty() ? "ai.onnx" : domain) + " " + std::to_string(version));
  keep(graph_.evidence, "source.producer", m.producer_name() + (m.producer_version().empty() ? "" : " " + m.producer_version()));
  if (const auto it = opsets_.find(""); it != opsets_.end()) {
    const std::string set = "the model uses operator set " + std::to_string(it->second) + " of ONNX";
    if (it->second > kNewestOpset)
      add_note(graph_, set + ", newer than those known here (up to " + std::to_string(kNewestOpset) +
                           "): operators that changed since would be read as they were; 'mote validate' compares with ONNX Runtime");
    if (it->second < kOldestOpset)
      add_note(graph_, set + ", older than those known here (from " + std::to_string(kOldestOpset) +
                           "): convert it with onnx.version_converter, or compare with 'mote validate'");
  }
  keep(graph_.metadata, "name", m.graph().name());
  keep(graph_.metadata, "domain", m.domain());
  keep(graph_.metadata, "doc", m.doc_string());
  if (m.model_version() != 0) keep(graph_.metadata, "model_version", std::to_string(m.model_version()));
  for (const auto& e : m.metadata_props()) keep(graph_.metadata, e.key(), e.value());
}

}  // namespace mote::frontends::onnx
