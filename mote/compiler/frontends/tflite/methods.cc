// Methods of the program: one for each signature, with its names; without signatures one with the names of the tensors.

#include <algorithm>

#include "mote/compiler/frontends/common/notes.h"
#include "mote/compiler/frontends/tflite/import.h"
#include "mote/format/evidence.h"

namespace mote::frontends::tflite {
namespace {

using TensorMaps = Vector<flatbuffers::Offset<fb::TensorMap>>;

// A batch that the converter left open has the size it was converted with unless the user says otherwise, as in TensorFlow Lite's own
// interpreter. Converters write 1 for every open size, so 1 says nothing of other dimensions.
bool has_default(const Tensor& t, size_t axis) { return axis == 0 ? t.default_dims[0] >= 1 : t.default_dims[axis] > 1; }

}  // namespace

// Entries follow the order of the subgraph, as other users of the file count them. What converters leave out of a signature goes by the
// tensor's name; what they name without there being such an input or output is passed over; a note tells each.
void Importer::read_entries(const TensorMaps* maps, const SubGraph& g, const std::vector<int>& order, const std::string& where,
                            std::vector<Entry>* out) {
  for (uint32_t i = 0; maps != nullptr && i < maps->size(); ++i) {
    const std::string name(text_of(maps->Get(i)->name()));
    const uint32_t tensor = maps->Get(i)->tensor_index();
    if (tensor < g.tensors.size() && std::find(order.begin(), order.end(), static_cast<int>(tensor)) != order.end())
      out->push_back({name, static_cast<int>(tensor)});
    else add_note(graph_, where + " '" + name + "' is none of its subgraph's: passed over");
  }
  for (const int t : order) {
    if (std::any_of(out->begin(), out->end(), [&](const Entry& e) { return e.tensor == t; })) continue;
    out->push_back({tensor_name(g, t), t});
    add_note(graph_, where + " '" + out->back().name + "' is not in the signature: it has its tensor's name");
  }
  const auto place = [&](const Entry& e) { return std::find(order.begin(), order.end(), e.tensor) - order.begin(); };
  std::stable_sort(out->begin(), out->end(), [&](const Entry& a, const Entry& b) { return place(a) < place(b); });
}

std::vector<Importer::Wanted> Importer::find_methods() {
  std::vector<Wanted> all;
  const auto* signatures = model_.table->signature_defs();
  for (uint32_t i = 0; signatures != nullptr && i < signatures->size(); ++i) {
    const fb::SignatureDef& s = *signatures->Get(i);
    Wanted w;
    w.name = std::string(text_of(s.signature_key()));
    if (w.name.empty()) w.name = "method_" + std::to_string(i);
    if (s.subgraph_index() >= model_.subgraphs.size()) {
      add_note(graph_, "signature '" + w.name + "' names subgraph " + std::to_string(s.subgraph_index()) + " of " +
                           std::to_string(model_.subgraphs.size()) + ": passed over");
      continue;
    }
    w.subgraph = static_cast<int>(s.subgraph_index());
    const SubGraph& g = model_.subgraphs[s.subgraph_index()];
    read_entries(s.inputs(), g, g.inputs, "signature '" + w.name + "': input", &w.inputs);
    read_entries(s.outputs(), g, g.outputs, "signature '" + w.name + "': output", &w.outputs);
    all.push_back(std::move(w));
  }
  if (!all.empty()) return all;
  const SubGraph& g = model_.subgraphs[0];
  Wanted w;
  w.name = "main";
  for (const int t : g.inputs) w.inputs.push_back({tensor_name(g, t), t});
  for (const int t : g.outputs) w.outputs.push_back({tensor_name(g, t), t});
  all.push_back(std::move(w));
  return all;
}

const Dims* Importer::given_shape(const Entry& e, const Tensor& t) const {
  auto found = options_.shapes.find(e.name);
  if (found == options_.shapes.end()) found = options_.shapes.find(std::string(t.name));
  return found == options_.shapes.end() ? nullptr : &found->second;
}

// Makes a symbol for each open dimension that --dim bounds; lists those that nothing settles in *open.
void Importer::find_symbols(const Entry& e, const Tensor& t, std::vector<OpenDim>* open) {
  if (given_shape(e, t) != nullptr) return;
  for (size_t i = 0; i < t.dims.size(); ++i) {
    if (t.dims[i] >= 0) continue;
    const std::string symbol = e.name + "." + std::to_string(i);
    auto range = options_.dims.find(symbol);
    if (range == options_.dims.end()) range = options_.dims.find(std::string(t.name) + "." + std::to_string(i));
    if (range == options_.dims.end()) {
      const OpenDim dim{symbol, e.name, static_cast<int>(i), t.dims};
      if (!has_default(t, i)) open->push_back(dim);
      else if (i == 0) note_assumed(dim, t.default_dims[0], graph_);
      continue;
    }
    const auto same = std::find_if(graph_.symbols.begin(), graph_.symbols.end(), [&](const ir::Symbol& s) { return s.name == symbol; });
    symbols_[{&t, static_cast<int>(i)}] = static_cast<int>(same - graph_.symbols.begin());
    if (same == graph_.symbols.end()) graph_.symbols.push_back(make_symbol(options_, symbol, range->second.min, range->second.max));
  }
}

Value* Importer::add_input(ir::Method& method, const Entry& e, const Tensor& t) {
  if (t.dtype == DType::kNone || t.dtype == DType::s4) {
    problem("input " + e.name, "expected a plain number type, found " + std::string(fb::EnumNameTensorType(t.source_type)));
    return nullptr;
  }
  const Dims* given = given_shape(e, t);
  Dims dims = given != nullptr ? *given : t.default_dims;
  std::vector<int> symbols(dims.size(), -1);
  for (size_t i = 0; given == nullptr && i < dims.size(); ++i) {
    const auto s = symbols_.find({&t, static_cast<int>(i)});
    if (s != symbols_.end()) symbols[i] = s->second;
  }
  const bool bad = dims.size() > static_cast<size_t>(kMaxRank) || std::any_of(dims.begin(), dims.end(), [](int32_t d) { return d < 0; });
  Value* v = bad ? nullptr : graph_.add_input(method, e.name, t.dtype, dims, symbols);
  if (v == nullptr || v->type.byte_size() > kMaxTensorBytes) {
    problem("input " + e.name, "expected at most 8 dimensions of at least 0 and 2 GB in all");
    return nullptr;
  }
  if (t.is_quantized()) v->quant = ir::QuantNote{t.scale(), t.zero()};
  return v;
}

// Either name works where a program is used (mote_program_find_input).
void Importer::keep_source_name(const char* kind, const Wanted& w, const Entry& e, const Tensor& t) {
  if (!t.name.empty() && t.name != e.name) graph_.evidence.emplace_back(kind + w.name + "." + e.name, t.name);
}

bool Importer::add_method(const Wanted& w) {
  const SubGraph& g = model_.subgraphs[static_cast<size_t>(w.subgraph)];
  ir::Method& method = graph_.add_method(w.name);
  std::vector<Value*> by_tensor(g.tensors.size(), nullptr), arguments, results;
  for (const Entry& e : w.inputs) {
    Value*& v = by_tensor[static_cast<size_t>(e.tensor)];
    v = add_input(method, e, g.tensors[static_cast<size_t>(e.tensor)]);
    if (v == nullptr) return false;
    keep_source_name(kSourceInput, w, e, g.tensors[static_cast<size_t>(e.tensor)]);
  }
  for (const int t : g.inputs) arguments.push_back(by_tensor[static_cast<size_t>(t)]);
  if (!import_subgraph(w.subgraph, *method.block, arguments, false, "method " + w.name, &results)) return false;
  std::set<Value*> given;
  for (const Entry& e : w.outputs) {
    const auto at = std::find(g.outputs.begin(), g.outputs.end(), e.tensor);
    Value* v = results[static_cast<size_t>(at - g.outputs.begin())];
    // An output of its own for what is no result of an operator, or is given twice.
    if (v->kind != ir::ValueKind::kResult || !given.insert(v).second)
      v = ir::NodeBuilder(graph_, *method.block, e.name).op(OpId::copy, {v});
    if (v == nullptr) {
      problem("output " + e.name, "the output has a type that cannot be given out");
      return false;
    }
    const Tensor& t = g.tensors[static_cast<size_t>(e.tensor)];
    if (t.is_quantized()) v->quant = ir::QuantNote{t.scale(), t.zero()};
    if (is_complex(t)) add_note(graph_, "output '" + e.name + "' is complex: pairs of floats in a last dimension of 2");
    graph_.add_output(method, e.name, v);
    keep_source_name(kSourceOutput, w, e, t);
  }
  return true;
}

bool Importer::run() {
  bytes_left_ = uint64_t{model_.source.bytes.size} * 16 + (uint64_t{64} << 20);
  const std::vector<Wanted> methods = find_methods();
  std::vector<OpenDim> open;
  for (const Wanted& w : methods)
    for (const Entry& e : w.inputs)
      find_symbols(e, model_.subgraphs[static_cast<size_t>(w.subgraph)].tensors[static_cast<size_t>(e.tensor)], &open);
  if (!open.empty()) {
    report_open(open, graph_, &problems_);
    return false;
  }
  bool fine = true;
  for (const Wanted& w : methods) fine &= add_method(w);
  return fine && problems_.empty();
}

}  // namespace mote::frontends::tflite
