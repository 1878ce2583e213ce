#include "mote/compiler/ir/infer.h"

#include <algorithm>
#include <cstring>

#include "mote/compiler/ir/evaluate.h"
#include "mote/compiler/ir/text.h"
#include "mote/ops/op_docs.h"

namespace mote::ir {
namespace {

// Contents are followed while they are small: shapes, axes, indices, scales.
constexpr int64_t kMostKnownElements = 1024;

std::vector<Operand> operands_of(const Node& node, size_t sample) {
  std::vector<Operand> out(node.inputs.size());
  for (size_t i = 0; i < out.size(); ++i) {
    const Value* v = node.inputs[i];
    if (v == nullptr) continue;
    Operand& o = out[i];
    o.present = true;
    o.dtype = v->type.dtype;
    o.layout = v->layout;
    o.dims = sample < v->facts.size() ? v->facts[sample].dims : v->type.dims;
    if (v->is_constant()) o.data = v->data;
    else if (sample < v->facts.size()) o.data = v->facts[sample].data;
  }
  return out;
}

int64_t count_of(const Dims& dims) { return Type{DType::u8, dims, 0}.count(); }

// The largest size that a dimension can have when the operator cannot tell; -1 when there is no such thing.
int32_t natural_bound(const Node& node, const std::vector<Operand>& inputs, int rank, size_t axis) {
  const Dims& x = inputs.empty() ? Dims{} : inputs[0].dims;
  if (node.is(OpId::slice)) return axis < x.size() ? x[axis] : -1;
  if (node.is(OpId::non_zero) || node.is(OpId::unique) || node.is(OpId::compress)) {
    const int64_t n = count_of(x);
    const bool along_axis = x.size() > axis && !node.is(OpId::non_zero) && rank == static_cast<int>(x.size());
    return along_axis ? x[axis] : static_cast<int32_t>(std::min<int64_t>(n, INT32_MAX));
  }
  if (node.is(OpId::top_k)) return axis < x.size() ? x[axis] : -1;
  if (node.is(OpId::split)) return axis < x.size() ? x[axis] : -1;
  if (node.op >= static_cast<uint16_t>(OpId::reduce_sum) && node.op <= static_cast<uint16_t>(OpId::reduce_var)) {
    // Dropped axes move the later ones to the front.
    const size_t gone = x.size() - static_cast<size_t>(rank);
    return axis + gone < x.size() ? *std::max_element(x.begin() + static_cast<long>(axis), x.begin() + static_cast<long>(axis + gone + 1))
                                  : -1;
  }
  return -1;
}

struct Outcome {
  std::vector<TensorType> types;
  std::vector<Bytes> data;
  std::vector<uint8_t> unknown;  // per output: sizes that depend on data
};

// True when the contents of the outputs can be computed at once.
bool computable(const Node& node, const Outcome& r, const std::vector<Operand>& inputs) {
  if (node.is(OpId::shape_of)) return true;  // reads no contents
  int64_t elements = 0;
  for (const Operand& o : inputs) {
    if (o.present && !o.data.present()) return false;
    if (o.present) elements += count_of(o.dims);
  }
  for (const TensorType& t : r.types) elements = std::max(elements, count_of(Dims(t.dims, t.dims + t.rank)));
  return elements <= 4 * kMostKnownElements;
}

// Puts a bound in place of every size the operator could not tell. In samples that are not at the bounds such sizes are small, unless
// the model declares them.
bool bound_sizes(const Node& node, const std::vector<Operand>& inputs, size_t sample, Outcome* r, std::string* error) {
  r->unknown.assign(r->types.size(), 0);
  for (size_t o = 0; o < r->types.size(); ++o) {
    TensorType& t = r->types[o];
    const Value* v = node.outputs[o];
    if (v == nullptr) continue;
    std::string open;  // axes that nothing bounds
    // A declaration without element type is bounds alone, for the axes it has.
    const bool use_declared = v->declared.has_value() && (v->declared->dims.size() == t.rank || v->declared->dtype == DType::kNone);
    for (int i = 0; i < t.rank; ++i) {
      if (t.dims[i] != kDimUnknown) continue;
      r->unknown[o] = static_cast<uint8_t>(r->unknown[o] | 1u << i);
      const size_t axis = static_cast<size_t>(i);
      const int32_t declared = use_declared && axis < v->declared->dims.size() ? v->declared->dims[axis] : kDimUnknown;
      const bool exact = declared >= 0 && (v->declared->dynamic >> i & 1) == 0;
      const int32_t natural = natural_bound(node, inputs, t.rank, axis);
      const int32_t bound = declared >= 0 ? declared : natural;
      if (bound < 0) {
        open += (open.empty() ? "" : ", ") + std::to_string(i);
        continue;
      }
      // Where values decide, a size of at most 1 may be 0, and what follows must see that it varies. A slice of one element is one.
      const int32_t small = (op_flags(node) & kDataDependent) != 0 && bound <= 1 ? 0 : std::min(bound, 1);
      t.dims[i] = at_bounds(sample) || exact ? bound : small;
    }
    if (open.empty()) continue;
    const bool one = open.find(',') == std::string::npos;
    *error = std::string(one ? "dimension " : "dimensions ") + open + " of " + (v->name.empty() ? "the result" : "'" + v->name + "'") +
             (one ? " depends" : ": each depends") + " on data and nothing bounds it";
    return false;
  }
  return true;
}

bool infer_sample(const Node& node, size_t sample, Outcome* r, std::string* error) {
  const std::vector<Operand> inputs = operands_of(node, sample);
  if (!ask_types(node, inputs, &r->types, error)) return false;
  r->data.assign(r->types.size(), Bytes{});
  if (!bound_sizes(node, inputs, sample, r, error)) return false;
  if (!computable(node, *r, inputs)) return true;
  std::vector<Bytes> data;
  std::vector<TensorType> types = r->types;
  if (!run_operator(node, inputs, r->unknown, &types, &data)) return true;
  r->types = types;
  r->unknown.assign(r->types.size(), 0);
  for (size_t o = 0; o < data.size(); ++o)
    if (count_of(Dims(types[o].dims, types[o].dims + types[o].rank)) <= kMostKnownElements) r->data[o] = data[o];
  return true;
}

// Joins what the samples say into the value's type.
void set_value(Value& v, const std::vector<Outcome>& samples, size_t output) {
  const TensorType& first = samples[0].types[output];
  v.type.dtype = first.dtype;
  v.type.dims.assign(first.dims, first.dims + first.rank);
  v.type.dynamic = 0;
  v.facts.assign(samples.size(), Facts{});
  for (size_t s = 0; s < samples.size(); ++s) {
    const TensorType& t = samples[s].types[output];
    v.facts[s].dims.assign(t.dims, t.dims + t.rank);
    v.facts[s].data = samples[s].data[output];
    v.type.dynamic = static_cast<uint8_t>(v.type.dynamic | samples[s].unknown[output]);
    for (int i = 0; i < first.rank; ++i) {
      int32_t& bound = v.type.dims[static_cast<size_t>(i)];
      if (t.dims[i] != first.dims[i]) v.type.dynamic = static_cast<uint8_t>(v.type.dynamic | 1u << i);
      bound = std::max(bound, t.dims[i]);
    }
  }
}

bool any_dynamic_input(const Node& node) {
  return std::any_of(node.inputs.begin(), node.inputs.end(), [](const Value* v) { return v != nullptr && v->type.dynamic != 0; });
}

bool infer_operator(Node& node, std::string* error) {
  const size_t count = node.inputs.empty() && node.block == nullptr ? 1 : node.block->graph->sample_count();
  std::vector<Outcome> samples(count);
  if (!infer_sample(node, 0, &samples[0], error)) return false;
  std::vector<size_t> refused;
  for (size_t s = 1; s < count; ++s) {
    std::string ignored;
    bool fine = infer_sample(node, s, &samples[s], &ignored);
    for (size_t o = 0; fine && o < samples[0].types.size(); ++o) fine = samples[s].types[o].rank == samples[0].types[o].rank;
    if (!fine) refused.push_back(s);
  }
  // The operator refuses some of the smaller sizes (a window larger than its input, or a guess that cannot be): large ones stand in for
  // them, and when no smaller size is left to compare with, every size is called open.
  for (size_t s : refused) {
    samples[s] = samples[0];
    for (size_t o = 0; o < samples[s].types.size(); ++o) {
      samples[s].data[o] = Bytes{};
      if (refused.size() + 1 == count && any_dynamic_input(node))
        samples[s].unknown[o] = static_cast<uint8_t>((1u << samples[s].types[o].rank) - 1);
    }
  }
  for (size_t o = 0; o < node.outputs.size(); ++o)
    if (node.outputs[o] != nullptr) set_value(*node.outputs[o], samples, o);
  return true;
}

// The type that covers both: equal, or larger and dynamic. False when element type or rank differ.
bool join(const Value& a, const Value& b, Value* out) {
  if (a.type.dtype != b.type.dtype || a.type.rank() != b.type.rank()) return false;
  Type type = a.type;
  type.dynamic = a.type.dynamic | b.type.dynamic;
  for (size_t i = 0; i < type.dims.size(); ++i) {
    if (a.type.dims[i] != b.type.dims[i]) type.dynamic = static_cast<uint8_t>(type.dynamic | 1u << i);
    type.dims[i] = std::max(a.type.dims[i], b.type.dims[i]);
  }
  out->facts.assign(std::max(a.facts.size(), b.facts.size()), Facts{type.dims, {}});
  for (size_t s = 0; s < out->facts.size(); ++s) {
    for (size_t i = 0; i < type.dims.size(); ++i) {
      const int32_t x = s < a.facts.size() ? a.facts[s].dims[i] : type.dims[i], y = s < b.facts.size() ? b.facts[s].dims[i] : type.dims[i];
      out->facts[s].dims[i] = at_bounds(s) ? std::max(x, y) : std::min(x, y);
    }
  }
  out->type = type;
  return true;
}

// A condition or a number of trips: one element of this type.
bool one_of_type(const Value* value, DType dtype, const char* what, std::string* error) {
  if (value != nullptr && value->type.dtype == dtype && value->type.count() == 1) return true;
  *error = std::string(what) + ": expected one " + dtype_name(dtype) + ", found " +
           (value == nullptr ? "nothing" : std::to_string(value->type.count()) + " " + dtype_name(value->type.dtype));
  return false;
}

bool infer_if(Node& node, std::string* error) {
  if (!one_of_type(node.input(0), DType::boolean, "the condition", error)) return false;
  const Block &a = *node.blocks[0], &b = *node.blocks[1];
  if (a.results.size() != node.outputs.size() || b.results.size() != node.outputs.size()) {
    *error = "the branches give " + std::to_string(a.results.size()) + " and " + std::to_string(b.results.size()) + " values; expected " +
             std::to_string(node.outputs.size());
    return false;
  }
  for (size_t o = 0; o < node.outputs.size(); ++o) {
    if (node.outputs[o] == nullptr || join(*a.results[o], *b.results[o], node.outputs[o])) continue;
    *error = "output " + std::to_string(o) + " has another element type or number of dimensions in each branch";
    return false;
  }
  return true;
}

// Trips of a loop in a sample when its count is known and nothing ends it earlier; -1 otherwise.
int64_t exact_trips(const Node& node, size_t sample) {
  const Value *trips = node.input(0), *condition = node.input(1);
  const Block& body = *node.blocks[0];
  std::vector<int64_t> known;
  const bool starts = condition == nullptr || (known_ints(*condition, &known) && known.size() == 1 && known[0] != 0);
  const Value* again = body.results[0];
  const bool goes_on = again == body.arguments[1] || (known_ints(*again, &known) && known.size() == 1 && known[0] != 0);
  if (trips == nullptr || !starts || !goes_on || sample >= trips->facts.size()) return -1;
  const Bytes& data = trips->is_constant() ? trips->data : trips->facts[sample].data;
  if (!data.present() || data.size != 8) return -1;
  int64_t n;
  std::memcpy(&n, data.data, 8);
  return std::max<int64_t>(n, 0);
}

bool infer_loop(Node& node, std::string* error) {
  if (node.input(0) != nullptr && !one_of_type(node.input(0), DType::s64, "the number of trips", error)) return false;
  if (node.input(1) != nullptr && !one_of_type(node.input(1), DType::boolean, "the condition", error)) return false;
  const Block& body = *node.blocks[0];
  const size_t carried = node.inputs.size() < 2 ? 0 : node.inputs.size() - 2;
  if (body.arguments.size() != carried + 2 || body.results.size() != node.outputs.size() + 1 || node.outputs.size() < carried) {
    *error = "the loop's body has " + std::to_string(body.arguments.size()) + " arguments and " + std::to_string(body.results.size()) +
             " results; expected " + std::to_string(carried + 2) + " and " + std::to_string(node.outputs.size() + 1);
    return false;
  }
  const size_t samples = node.block->graph->sample_count();
  std::vector<int64_t> trips(samples);
  bool exact = true;
  for (size_t s = 0; s < samples; ++s) {
    trips[s] = exact_trips(node, s);
    exact = exact && trips[s] >= 0;
  }
  if (exact) node.max_trips = *std::max_element(trips.begin(), trips.end());
  for (size_t o = 0; o < node.outputs.size(); ++o) {
    Value* v = node.outputs[o];
    const Value& result = *body.results[o + 1];
    if (v == nullptr) continue;
    if (o < carried) {
      if (join(*body.arguments[o + 2], result, v)) continue;
      *error = "carried value " + std::to_string(o) + " changes its element type or number of dimensions in the body";
      return false;
    }
    const int64_t most = std::min<int64_t>(node.max_trips, INT32_MAX);
    v->type = result.type;
    v->type.dims.insert(v->type.dims.begin(), static_cast<int32_t>(most));
    v->type.dynamic = static_cast<uint8_t>(result.type.dynamic << 1);
    const bool open = !exact || *std::min_element(trips.begin(), trips.end()) != most;
    if (open) v->type.dynamic = static_cast<uint8_t>(v->type.dynamic | 1u);
    v->facts.assign(samples, Facts{v->type.dims, {}});
    for (size_t s = 0; s < samples; ++s) {
      if (s < result.facts.size()) std::copy(result.facts[s].dims.begin(), result.facts[s].dims.end(), v->facts[s].dims.begin() + 1);
      v->facts[s].dims[0] = static_cast<int32_t>(exact ? trips[s] : at_bounds(s) ? most : std::min<int64_t>(most, 1));
    }
  }
  return true;
}

bool infer_block(Block& block, std::string* error) {
  for (const auto& n : block.nodes) {
    for (const auto& b : n->blocks)
      if (!infer_block(*b, error)) return false;
    if (infer(*n, error)) continue;
    *error = n->name + ": " + *error;
    return false;
  }
  return true;
}

}  // namespace

bool infer(Node& node, std::string* error) {
  if (node.op == kIf) return infer_if(node, error);
  if (node.op == kLoop) return infer_loop(node, error);
  if (node.op == kAssign) {
    const Value *state = node.input(0), *to = node.input(1);
    if (state != nullptr && to != nullptr && state->type == to->type) return true;
    *error = "a state must be given a value of its own type and shape";
    if (state != nullptr && to != nullptr) *error += ": expected " + print(state->type) + ", found " + print(to->type);
    return false;
  }
  if (node.op == kCustom) return true;  // the front end that made it has set its types
  return infer_operator(node, error);
}

bool facts_of(const Node& node, size_t sample, std::vector<Facts>* out, std::string* error) {
  Outcome r;
  if (!infer_sample(node, sample, &r, error)) return false;
  out->clear();
  for (size_t o = 0; o < r.types.size(); ++o)
    out->push_back({Dims(r.types[o].dims, r.types[o].dims + r.types[o].rank), o < r.data.size() ? r.data[o] : Bytes{}});
  return true;
}

bool infer_all(Graph& graph, std::string* error) {
  return std::all_of(graph.methods.begin(), graph.methods.end(), [&](Method& m) { return infer_block(*m.block, error); });
}

bool evaluate(const Node& node, std::vector<Bytes>* out) {
  if (!node.is_operator()) return false;
  std::vector<Operand> inputs = operands_of(node, 0);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].present) continue;
    const Bytes* data = node.inputs[i]->is_constant() ? &node.inputs[i]->data : known_data(*node.inputs[i]);
    if (data == nullptr || node.inputs[i]->type.dynamic != 0) return false;
    inputs[i].data = *data;
  }
  std::vector<TensorType> types;
  std::string error;
  if (!ask_types(node, inputs, &types, &error)) return false;
  for (const TensorType& t : types)
    for (int i = 0; i < t.rank; ++i)
      if (t.dims[i] == kDimUnknown) return false;
  return run_operator(node, inputs, std::vector<uint8_t>(types.size(), 0), &types, out);
}

}  // namespace mote::ir
