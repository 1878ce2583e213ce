#include "mote/compiler/frontends/tflite/metadata.h"

#include <cmath>
#include <cstdio>

#include "mote/compiler/frontends/common/zip.h"

namespace mote::frontends::tflite {
namespace {

constexpr size_t kMaxText = 1 << 20;                 // of one entry
constexpr int8_t kAxisLabels = 2, kValueLabels = 3;  // AssociatedFile.type

void keep(ir::Graph& g, const std::string& key, std::string_view value) {
  if (value.empty() || value.size() > kMaxText) return;
  for (const auto& e : g.metadata)
    if (e.first == key) return;
  g.metadata.emplace_back(key, value);
}

std::string numbers(const Vector<float>& values) {
  std::string text;
  char one[32];
  for (const float v : values) {
    std::snprintf(one, sizeof one, "%s%.9g", text.empty() ? "" : " ", static_cast<double>(v));
    text += one;
  }
  return text;
}

bool all_finite(const Vector<float>* values) {
  if (values == nullptr || values->size() == 0 || values->size() > 16) return false;
  for (const float v : *values)
    if (!std::isfinite(v)) return false;
  return true;
}

// The metadata's own FlatBuffer; null when it is absent or damaged.
const fb::ModelMetadata* find_metadata(const Model& model, ir::Bytes* bytes) {
  const auto* entries = model.table->metadata();
  for (uint32_t i = 0; entries != nullptr && i < entries->size(); ++i) {
    if (text_of(entries->Get(i)->name()) != "TFLITE_METADATA") continue;
    *bytes = model.buffer(entries->Get(i)->buffer());
    if (bytes->size < 8) return nullptr;
    // FlatBuffers are read where they lie; a copy has the alignment they need.
    *bytes = ir::Bytes::copy_of(bytes->data, bytes->size);
    flatbuffers::Verifier verifier(bytes->data, bytes->size, 64, 100000);
    return verifier.VerifyBuffer<fb::ModelMetadata>(nullptr) ? flatbuffers::GetRoot<fb::ModelMetadata>(bytes->data) : nullptr;
  }
  return nullptr;
}

void add_labels(const std::vector<ZipEntry>& files, std::string_view file, const std::string& key, ir::Graph& graph) {
  for (const ZipEntry& e : files) {
    std::string text;
    if (e.name != file || !unpack(e, kMaxText, &text)) continue;
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
    keep(graph, key, text);
  }
}

void add_normalization(const fb::TensorMetadata& input, ir::Graph& graph) {
  const auto* units = input.process_units();
  for (uint32_t i = 0; units != nullptr && i < units->size(); ++i) {
    const auto* n = units->Get(i)->options_as_NormalizationOptions();
    if (n == nullptr || !all_finite(n->mean()) || !all_finite(n->std())) continue;
    // Mean and deviation are of pixels from 0 to 255.
    keep(graph, "preprocess.image.scale", "1");
    keep(graph, "preprocess.image.mean", numbers(*n->mean()));
    keep(graph, "preprocess.image.std", numbers(*n->std()));
  }
}

}  // namespace

void add_metadata(const Model& model, ir::Graph& graph) {
  keep(graph, "description", text_of(model.table->description()));
  const std::vector<ZipEntry> files = read_zip(model.source.bytes);
  ir::Bytes bytes;
  const fb::ModelMetadata* m = find_metadata(model, &bytes);
  if (m != nullptr) {
    keep(graph, "name", text_of(m->name()));
    keep(graph, "about", text_of(m->description()));
    keep(graph, "version", text_of(m->version()));
    keep(graph, "author", text_of(m->author()));
    keep(graph, "licence", text_of(m->license()));
  }
  const auto* graphs = m == nullptr ? nullptr : m->subgraph_metadata();
  const fb::SubGraphMetadata* s = graphs == nullptr || graphs->size() == 0 ? nullptr : graphs->Get(0);
  if (s != nullptr && s->input_tensor_metadata() != nullptr && s->input_tensor_metadata()->size() > 0)
    add_normalization(*s->input_tensor_metadata()->Get(0), graph);
  const auto* outputs = s == nullptr ? nullptr : s->output_tensor_metadata();
  for (uint32_t i = 0; outputs != nullptr && i < outputs->size() && i < 64; ++i) {
    const auto* named = outputs->Get(i)->associated_files();
    for (uint32_t k = 0; named != nullptr && k < named->size() && k < 64; ++k)
      if (named->Get(k)->type() == kAxisLabels || named->Get(k)->type() == kValueLabels)
        add_labels(files, text_of(named->Get(k)->name()), "labels", graph);
  }
  // Without metadata an archive with one text is a list of labels, as older models carry it.
  if (files.size() == 1 && files[0].name.size() > 4 && files[0].name.substr(files[0].name.size() - 4) == ".txt")
    add_labels(files, files[0].name, "labels", graph);
}

}  // namespace mote::frontends::tflite
