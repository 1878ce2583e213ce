#include "mote/compiler/frontends/onnx/value_bounds.h"

#include <charconv>
#include <cstring>
#include <unordered_set>

#include "mote/compiler/ir/builder.h"

namespace mote::frontends::onnx {
namespace {

constexpr int64_t kMostElements = 64;
constexpr size_t kMostLookedAt = 1000;

bool is_integer(DType t) { return t == DType::s64 || t == DType::s32; }

// "size[2]": the name and the element; false when it is none.
bool parse_element(const std::string& text, std::string* name, int64_t* element) {
  const size_t open = text.rfind('[');
  if (open == std::string::npos || text.back() != ']') return false;
  const char *begin = text.data() + open + 1, *end = text.data() + text.size() - 1;
  const auto r = std::from_chars(begin, end, *element);
  *name = text.substr(0, open);
  return r.ec == std::errc() && r.ptr == end && *element >= 0;
}

ir::Bytes as_bytes(DType type, const std::vector<int64_t>& values) {
  if (type == DType::s64) return ir::Bytes::copy_of(values.data(), values.size() * sizeof(int64_t));
  const std::vector<int32_t> narrow(values.begin(), values.end());
  return ir::Bytes::copy_of(narrow.data(), narrow.size() * sizeof(int32_t));
}

}  // namespace

ValueRanges take_value_ranges(const ::onnx::GraphProto& g, ImportOptions* options) {
  ValueRanges out;
  std::unordered_set<std::string> inputs;
  for (const auto& i : g.input()) inputs.insert(i.name());
  for (auto it = options->dims.begin(); it != options->dims.end();) {
    std::string name;
    int64_t element = 0;
    if (!parse_element(it->first, &name, &element) || inputs.count(name) == 0) {
      ++it;
      continue;
    }
    out[name][element] = it->second;
    it = options->dims.erase(it);
  }
  return out;
}

ir::Value* bound_values(ir::Graph& graph, ir::Block& block, ir::Value* input, const std::map<int64_t, DimRange>& ranges,
                        std::string* error) {
  const int64_t count = input->type.count();
  const auto fail = [&](const std::string& why) {
    *error = why;
    return nullptr;
  };
  if (!is_integer(input->type.dtype) || !input->type.is_static() || count > kMostElements)
    return fail("--dim gives ranges for its values; that is possible for up to 64 integers in a fixed shape");
  if (static_cast<int64_t>(ranges.size()) != count || ranges.rbegin()->first != count - 1)
    return fail("has " + std::to_string(count) + " values, --dim gives ranges for " + std::to_string(ranges.size()) + " of them");
  std::vector<int64_t> low, high, middle;
  for (const auto& [element, r] : ranges) {
    if (r.max < r.min) return fail("--dim gives an empty range for element " + std::to_string(element));
    low.push_back(r.min);
    high.push_back(r.max);
    middle.push_back(r.min + (r.max - r.min) / 2);
  }
  const DType type = input->type.dtype;
  for (size_t s = 0; s < input->facts.size(); ++s) input->facts[s].data = as_bytes(type, ir::at_bounds(s) ? high : s == 1 ? low : middle);
  ir::NodeBuilder b(graph, block, input->name);
  const auto row = [&](const std::vector<int64_t>& v) { return graph.add_constant(type, input->type.dims, as_bytes(type, v)); };
  ir::Value* above = b.op(OpId::maximum, {input, row(low)});
  ir::Value* inside = b.ok() ? b.op(OpId::minimum, {above, row(high)}) : nullptr;
  return b.ok() ? inside : fail(b.error());
}

std::string advice_for_values(const std::vector<ir::Value*>& operands) {
  std::vector<const ir::Value*> open(operands.rbegin(), operands.rend());
  std::unordered_set<const ir::Value*> seen;
  while (!open.empty() && seen.size() < kMostLookedAt) {
    const ir::Value* v = open.back();
    open.pop_back();
    if (v == nullptr || !seen.insert(v).second) continue;
    const bool integers = is_integer(v->type.dtype) && v->type.is_static() && v->type.count() <= kMostElements && v->type.count() > 0;
    if (v->kind == ir::ValueKind::kInput && integers && !v->facts.empty() && !v->facts[0].data.present()) {
      std::string options;
      for (int64_t i = 0; i < v->type.count(); ++i) options += " --dim '" + v->name + "[" + std::to_string(i) + "]=1..256'";
      return "the values of input '" + v->name + "' decide: say in which range each of them is, for instance" + options;
    }
    if (v->producer == nullptr || v->producer->is(OpId::shape_of)) continue;  // a shape tells nothing of contents
    open.insert(open.end(), v->producer->inputs.rbegin(), v->producer->inputs.rend());
  }
  return "";
}

}  // namespace mote::frontends::onnx
