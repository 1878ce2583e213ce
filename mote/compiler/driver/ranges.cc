#include "mote/compiler/driver/ranges.h"

#include <algorithm>
#include <functional>

#include "mote/compiler/ir/sizes.h"

namespace mote::driver {
namespace {

constexpr int32_t kAll = 64, kEnds = 16;
constexpr int64_t kGrid = 256;                     // sizes of several ranges that are all tried together
constexpr int32_t kStrides = 64, kMostEnd = 1024;  // of find_samples()

std::vector<int32_t> sizes_of(const ir::Graph& graph, size_t sample) {
  std::vector<int32_t> sizes;
  for (size_t s = 0; s < graph.symbols.size(); ++s) sizes.push_back(graph.symbol_size(s, sample));
  return sizes;
}

// Of sizes in ascending order and whether each is accepted: the longest piece [first, last] of accepted ones, the latest of several.
std::pair<size_t, size_t> longest(const std::vector<int32_t>& sizes, const std::vector<bool>& accepted) {
  std::pair<size_t, size_t> best{sizes.size() - 1, sizes.size() - 1};
  int32_t most = -1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    size_t end = i;
    while (end < sizes.size() && accepted[end]) ++end;
    if (end == i) continue;
    if (sizes[end - 1] - sizes[i] >= most) {
      most = sizes[end - 1] - sizes[i];
      best = {i, end - 1};
    }
    i = end - 1;
  }
  return best;
}

std::string range_text(int32_t least, int32_t most) { return std::to_string(least) + (least == most ? "" : ".." + std::to_string(most)); }

// Sizes that are refused, as ranges: "1..6, 9".
std::string refused_text(const std::vector<int32_t>& sizes, const std::vector<bool>& accepted) {
  std::string text;
  for (size_t i = 0; i < sizes.size(); ++i) {
    size_t end = i;
    while (end < sizes.size() && !accepted[end]) ++end;
    if (end == i) continue;
    text += (text.empty() ? "" : ", ") + range_text(sizes[i], sizes[end - 1]);
    i = end - 1;
  }
  return text;
}

}  // namespace

std::vector<int32_t> sizes_to_try(int32_t least, int32_t most) {
  std::vector<int32_t> sizes;
  const auto add = [&](int64_t from, int64_t to) {
    for (int64_t n = std::max<int64_t>(from, least); n <= std::min<int64_t>(to, most); ++n) sizes.push_back(static_cast<int32_t>(n));
  };
  if (int64_t{most} - least < kAll) {
    add(least, most);
    return sizes;
  }
  add(least, int64_t{least} + kEnds - 1);
  add(int64_t{most} - kEnds + 1, most);
  for (int64_t n = 1; n <= most; n *= 2) add(n, n);
  add(least + (int64_t{most} - least) / 2, least + (int64_t{most} - least) / 2);
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

std::vector<size_t> halving_order(size_t count) {
  std::vector<size_t> order;
  std::vector<bool> taken(count);
  const auto take = [&](size_t i) {
    if (i < count && !taken[i]) order.push_back(i);
    if (i < count) taken[i] = true;
  };
  if (count > 0) take(0), take(count - 1);
  for (size_t parts = 2; order.size() < count; parts *= 2)
    for (size_t p = 1; p < parts; p += 2) take(p * (count - 1) / parts);
  return order;
}

bool narrow_ranges(ir::Graph& graph, frontends::ImportOptions* options, std::vector<std::string>* notes) {
  // Where operators refuse a size for what is in the data alone, no size is to blame.
  if (graph.symbols.empty()) return false;
  ir::Probe probe(graph);
  if (!probe.refusal_at(sizes_of(graph, 0)).empty()) return false;
  bool narrowed = false;
  for (size_t s = 0; s < graph.symbols.size(); ++s) {
    const ir::Symbol symbol = graph.symbols[s];
    const std::vector<int32_t> sizes = sizes_to_try(symbol.min, symbol.max);
    std::vector<bool> accepted;
    std::string why;
    for (const int32_t size : sizes) {
      std::vector<int32_t> all = sizes_of(graph, 0);
      all[s] = size;
      const std::string refusal = probe.refusal_at(all);
      accepted.push_back(refusal.empty());
      if (why.empty()) why = refusal;
    }
    if (why.empty()) continue;
    auto [first, last] = longest(sizes, accepted);
    int32_t least = sizes[first], most = sizes[last];
    // Sizes between the tried ones: the edges are looked for by halving.
    const auto edge = [&](int32_t good, int32_t bad) {
      while (std::abs(good - bad) > 1) {
        const int32_t middle = bad + (good - bad) / 2;
        std::vector<int32_t> all = sizes_of(graph, 0);
        all[s] = middle;
        (probe.refusal_at(all).empty() ? good : bad) = middle;
      }
      return good;
    };
    if (first > 0) least = edge(least, sizes[first - 1]);
    if (last + 1 < sizes.size()) most = edge(most, sizes[last + 1]);
    options->dims[symbol.name] = {least, most};
    options->more.clear();  // some lie outside
    notes->push_back("'" + symbol.name + "': the model cannot be computed at " + refused_text(sizes, accepted) + " (" + why +
                     "); the program takes " + range_text(least, most));
    narrowed = true;
  }
  return narrowed;
}

namespace {

// Into how many equal parts an open size is split at most; 0 where none is.
int32_t most_parts(const ir::Block& block) {
  int32_t most = 0;
  for (const auto& n : block.nodes) {
    for (const auto& b : n->blocks) most = std::max(most, most_parts(*b));
    if (n->is(OpId::split) && n->input(1) == nullptr && n->input(0)->type.dynamic != 0)
      most = std::max(most, static_cast<int32_t>(n->outputs.size()));
  }
  return most;
}

// Sizes of a range, the largest first.
std::vector<int32_t> sizes_to_compare(const ir::Symbol& symbol, int32_t parts) {
  std::vector<int32_t> sizes = sizes_to_try(symbol.min, symbol.max);
  const int64_t end = std::min<int64_t>(int64_t{parts} * kStrides, kMostEnd);
  for (int64_t n = std::max<int64_t>(symbol.min, symbol.max - end); n <= symbol.max; ++n) sizes.push_back(static_cast<int32_t>(n));
  std::sort(sizes.begin(), sizes.end(), std::greater<>());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

// Symbols that the samples do not tell apart have different sizes.
bool parts_equal(const ir::Graph& graph, const std::vector<int32_t>& point) {
  for (size_t a = 0; a < point.size(); ++a)
    for (size_t b = 0; b < a; ++b) {
      bool same = true;
      for (size_t s = 0; same && s < graph.sample_count(); ++s) same = graph.symbol_size(a, s) == graph.symbol_size(b, s);
      if (same && point[a] != point[b]) return true;
    }
  return false;
}

// Every combination of the sizes where they are few, otherwise one range after the other with the others at their ends.
std::vector<std::vector<int32_t>> points_of(const ir::Graph& graph, const std::vector<std::vector<int32_t>>& sizes) {
  int64_t count = 1;
  for (const auto& s : sizes) count = std::min<int64_t>(count * static_cast<int64_t>(s.size()), kGrid + 1);
  std::vector<std::vector<int32_t>> points;
  if (count <= kGrid) {
    points.push_back({});
    for (const auto& s : sizes) {
      std::vector<std::vector<int32_t>> longer;
      for (const auto& p : points)
        for (const int32_t size : s) longer.push_back(p), longer.back().push_back(size);
      points = std::move(longer);
    }
    return points;
  }
  for (size_t s = 0; s < sizes.size(); ++s)
    for (const int32_t size : sizes[s])
      for (size_t others = 0; others < (sizes.size() > 1 ? 2 : 1); ++others) {
        points.push_back(sizes_of(graph, others));
        points.back()[s] = size;
      }
  return points;
}

}  // namespace

bool find_samples(ir::Graph& graph, frontends::ImportOptions* options, std::string* what) {
  what->clear();
  if (graph.symbols.empty()) return false;
  int32_t parts = 0;
  for (const ir::Method& m : graph.methods) parts = std::max(parts, most_parts(*m.block));
  std::vector<std::vector<int32_t>> sizes;
  for (const ir::Symbol& s : graph.symbols) sizes.push_back(sizes_to_compare(s, parts));
  ir::Probe probe(graph, true);
  for (const std::vector<int32_t>& point : points_of(graph, sizes)) {
    const bool refused = !probe.refusal_at(point).empty();
    if (probe.unforeseen().empty() || (refused && parts_equal(graph, point))) continue;
    for (size_t s = 0; s < point.size(); ++s) {
      const ir::Symbol& symbol = graph.symbols[s];
      options->more[symbol.name] = symbol.more;
      options->more[symbol.name].push_back(point[s]);
      *what += "'" + symbol.name + "' = " + std::to_string(point[s]) + ", ";
    }
    *what += probe.unforeseen();
    return true;
  }
  return false;
}

}  // namespace mote::driver
