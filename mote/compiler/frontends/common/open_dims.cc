#include "mote/compiler/frontends/common/open_dims.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <sstream>

#include "mote/compiler/ir/nearest.h"

namespace mote::frontends {
namespace {

constexpr char kAssumed[] = "dims.assumed";  // evidence of a program: "N=1 (axis 0 of 'x')"
// Of a graph that could not be imported, three for each OpenDim: numbers, name and input.
constexpr char kOpen[] = "dims.open";
constexpr size_t kMostShown = 3;  // axes of one name

std::string lower(std::string s) {
  std::transform(s.begin(), s.end(), s.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return s;
}

bool contains_any(const std::string& text, std::initializer_list<const char*> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](const char* p) { return text.find(p) != std::string::npos; });
}
bool is_any(const std::string& text, std::initializer_list<const char*> words) {
  return std::any_of(words.begin(), words.end(), [&](const char* w) { return text == w; });
}

// Sums and products of names ("batch*heads") are no batch.
bool is_plain(const std::string& name) { return name.find_first_of("+*/() ") == std::string::npos; }

bool is_batch_name(const std::string& name) { return is_plain(name) && (contains_any(name, {"batch"}) || is_any(name, {"n", "b", "bs"})); }
bool is_image_name(const std::string& name) { return contains_any(name, {"height", "width", "image"}) || is_any(name, {"h", "w"}); }
bool is_sequence_name(const std::string& name) {
  return contains_any(name, {"seq", "len", "time", "step", "frame", "token", "word", "text", "sample", "chunk"}) ||
         is_any(name, {"t", "l", "s"});
}

bool is_open(const ir::Dims& dims, int axis) { return dims[static_cast<size_t>(axis)] < 0; }

// One of the two axes of an image: (N, C, H, W) or (N, H, W, C), channels fixed.
bool is_image_axis(const OpenDim& d) {
  if (d.dims.size() != 4 || d.axis == 0) return false;
  const bool channels_last = is_open(d.dims, 1) && !is_open(d.dims, 3);
  return channels_last ? d.axis < 3 : d.axis > 1;
}

// States of recurrent layers: (LAYERS, batch, WIDTH).
bool is_batch_of_state(const OpenDim& d) {
  if (d.dims.size() != 3 || d.axis != 1 || is_open(d.dims, 0) || is_open(d.dims, 2)) return false;
  return d.dims[0] != 1 || contains_any(lower(d.input), {"state", "hidden", "cell", "cache", "memory"});
}

std::string place_of(const OpenDim& d) { return "axis " + std::to_string(d.axis) + " of '" + d.input + "'"; }

}  // namespace

DimRole role_of(const std::string& name, const std::vector<OpenDim>& open) {
  bool leads = false, image = false, state = false, named = false, sequence = false;
  for (const OpenDim& d : open) {
    if (d.name != name) continue;
    named |= d.is_named();
    leads |= d.axis == 0 && d.dims.size() > 1;
    image |= is_image_axis(d);
    state |= is_batch_of_state(d);
    sequence |= d.dims.size() <= 3;
  }
  const std::string low = named ? lower(name) : "";
  if (is_batch_name(low)) return DimRole::kBatch;
  if (is_image_name(low)) return DimRole::kImage;
  if (is_sequence_name(low)) return DimRole::kSequence;
  if (leads || state) return DimRole::kBatch;
  return image ? DimRole::kImage : sequence ? DimRole::kSequence : DimRole::kOther;
}

std::vector<std::string> names_of(const std::vector<OpenDim>& open) {
  std::vector<std::string> names;
  for (const OpenDim& d : open)
    if (std::find(names.begin(), names.end(), d.name) == names.end()) names.push_back(d.name);
  return names;
}

bool assume_batch(const std::vector<OpenDim>& open, ImportOptions* options, ir::Graph& graph) {
  if (std::any_of(open.begin(), open.end(), [&](const OpenDim& d) { return role_of(d.name, open) != DimRole::kBatch; })) return false;
  bool added = false;
  for (const OpenDim& d : open) {
    const int32_t size = std::max(d.least, 1);
    if (!options->dims.emplace(d.name, DimRange{size, size}).second) continue;
    note_assumed(d, size, graph);
    added = true;
  }
  return added;
}

void note_assumed(const OpenDim& dim, int32_t size, ir::Graph& graph) {
  std::string text = dim.name + "=" + std::to_string(size);
  if (dim.is_named()) text += " (" + place_of(dim) + ")";
  for (auto& [key, value] : graph.evidence) {
    if (key != kAssumed) continue;
    if ((", " + value + ",").find(", " + text + ",") == std::string::npos) value += ", " + text;
    return;
  }
  graph.evidence.emplace_back(kAssumed, text);
}

std::vector<std::string> assumed_notes(const ir::Graph& graph) {
  std::vector<std::string> notes;
  for (const auto& [key, value] : graph.evidence) {
    if (key != kAssumed) continue;
    const size_t equals = value.find('=');
    const int32_t size = std::atoi(value.c_str() + equals + 1);
    notes.push_back("the model leaves its batch open, and the smallest is taken: " + value +
                    ". Another size or a range:" + dim_word(value.substr(0, equals), {size, size + 7}));
  }
  return notes;
}

void report_open(const std::vector<OpenDim>& open, ir::Graph& graph, ir::Problems* problems) {
  std::string list, words;
  for (const std::string& name : names_of(open)) {
    list += (list.empty() ? "'" : ", '") + name + "'";
    size_t count = 0;
    int32_t least = 1;
    for (const OpenDim& d : open) {
      if (d.name != name) continue;
      least = d.least;
      if (!d.is_named() || ++count > kMostShown) continue;
      list += (count == 1 ? " (" : ", ") + place_of(d);
    }
    if (count > kMostShown) list += ", and " + std::to_string(count - kMostShown) + " more";
    if (count > 0) list += ")";
    words += dim_word(name, proposal(role_of(name, open), 0, least));
  }
  for (const OpenDim& d : open) {
    std::string numbers = std::to_string(d.axis) + " " + std::to_string(d.least);
    for (const int32_t size : d.dims) numbers += " " + std::to_string(size);
    for (const std::string& field : {numbers, d.name, d.input}) graph.evidence.emplace_back(kOpen, field);
  }
  problems->push_back({"inputs", "sizes of these dimensions are open: " + list,
                       "give each a size or a range, for instance" + words + " (or fix an input's shape with --shape NAME=1x3x224x224)"});
}

std::vector<OpenDim> open_dims(const ir::Graph& graph) {
  std::vector<std::string> fields;
  for (const auto& [key, value] : graph.evidence)
    if (key == kOpen) fields.push_back(value);
  std::vector<OpenDim> open;
  for (size_t i = 0; i + 2 < fields.size(); i += 3) {
    OpenDim d;
    std::istringstream numbers(fields[i]);
    numbers >> d.axis >> d.least;
    for (int32_t size; numbers >> size;) d.dims.push_back(size);
    d.name = fields[i + 1];
    d.input = fields[i + 2];
    open.push_back(std::move(d));
  }
  return open;
}

ir::Problem no_such_input(const std::string& name, const std::vector<std::string>& inputs) {
  return {"--shape " + name, "the model has no input of that name" + ir::did_you_mean(name, inputs), "its inputs: " + ir::listed(inputs)};
}

ir::Problem no_such_dim(const std::string& name, const std::vector<std::string>& open_dims) {
  return {"--dim " + name, "the model has no open dimension of that name" + ir::did_you_mean(name, open_dims),
          open_dims.empty() ? "it has none at all" : "its open dimensions: " + ir::listed(open_dims)};
}

std::string dim_word(const std::string& name, DimRange range) {
  std::string word = name + "=" + std::to_string(range.min);
  if (range.max != range.min) word += ".." + std::to_string(range.max);
  if (word.find_first_of(" *()$&;'\"\\<>|?![]{}#~`") == std::string::npos) return " --dim " + word;
  std::string quoted;
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return " --dim '" + quoted + "'";
}

DimRange proposal(DimRole role, size_t attempt, int32_t least) {
  // Images: sizes of usual inputs, all of them divisible by 32 in front. Sequences: a range, then sizes of it, then seconds of sound.
  static constexpr DimRange kImages[] = {{224, 224}, {320, 320}, {256, 256}, {640, 640}, {128, 128}, {64, 64}, {32, 32}, {48, 48}};
  static constexpr DimRange kSequences[] = {{1, 128}, {128, 128}, {512, 512}, {64, 64}, {100, 100}, {16000, 16000}, {16, 16}, {1, 1}};
  static constexpr DimRange kOthers[] = {{1, 16}, {16, 16}, {64, 64}, {1, 1}, {2, 2}, {4, 4}, {8, 8}, {32, 32}};
  constexpr size_t kLast = kProposals - 1;
  DimRange r = role == DimRole::kBatch      ? DimRange{1, 1}
               : role == DimRole::kImage    ? kImages[std::min(attempt, kLast)]
               : role == DimRole::kSequence ? kSequences[std::min(attempt, kLast)]
                                            : kOthers[std::min(attempt, kLast)];
  r.min = std::max(r.min, least);
  r.max = std::max(r.max, r.min);
  return r;
}

}  // namespace mote::frontends
