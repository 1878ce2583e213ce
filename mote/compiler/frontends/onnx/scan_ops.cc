#include <algorithm>

#include "mote/compiler/frontends/onnx/loop.h"
#include "mote/compiler/frontends/onnx/op_support.h"
#include "mote/ops/reverse/reverse.h"

namespace mote::frontends::onnx {
namespace {

constexpr int32_t kMostBatches = 64;  // of the first Scan, which is written once for each

struct ScanSpec {
  const ::onnx::GraphProto* body = nullptr;
  std::vector<Value*> states, inputs;
  std::vector<int> input_axes;
  std::vector<bool> input_reversed, output_reversed;
  std::vector<int64_t> output_axes;
  size_t scanned = 0;
};

bool read_flags(NodeContext& c, const char* name, size_t count, std::vector<bool>* out) {
  const std::vector<int64_t> given = c.attr_ints(name);
  if (!given.empty() && given.size() != count)
    c.fail(std::string(name) + ": expected " + std::to_string(count) + " values, found " + std::to_string(given.size()));
  out->assign(count, false);
  for (size_t i = 0; i < given.size() && i < count; ++i) (*out)[i] = given[i] != 0;
  return c.b.ok();
}

bool read_body(NodeContext& c, size_t first, ScanSpec* s) {
  const auto* a = c.attr("body");
  const int64_t scans = c.attr_int("num_scan_inputs", 0), inputs = c.inputs_given() - static_cast<int64_t>(first);
  if (a == nullptr || !a->has_g()) c.fail("has no graph 'body'");
  else if (scans < 1 || scans > inputs)
    c.fail("num_scan_inputs: expected 1 to " + std::to_string(inputs) + ", found " + std::to_string(scans));
  if (!c.b.ok()) return false;
  s->body = &a->g();
  for (int i = static_cast<int>(first); i < c.inputs_given(); ++i) {
    if (c.in(i) == nullptr) c.fail("input " + std::to_string(i) + " is missing");
    (i < c.inputs_given() - scans ? s->states : s->inputs).push_back(c.in(i));
  }
  const int64_t results = s->body->output_size() - static_cast<int64_t>(s->states.size());
  if (results < 0 || s->body->input_size() != inputs)
    c.fail("its body has " + std::to_string(s->body->input_size()) + " inputs, expected " + std::to_string(inputs));
  s->scanned = static_cast<size_t>(std::max<int64_t>(results, 0));
  return c.b.ok();
}

Value* reversed(Decompose& d, Value* x, int axis) {
  ops::reverse::Attrs a;
  a.axes[0] = axis;
  a.count = 1;
  return d.b.ok() ? d.b.op(OpId::reverse, a, {x}) : nullptr;
}

// Rows (axis 0) to the axis the model wants them at.
Value* move_rows(Decompose& d, Value* x, int64_t wanted) {
  const int axis = axis_of(d.c, wanted, rank_of(x));
  std::vector<int> perm;
  for (int i = 1; i < rank_of(x); ++i) perm.push_back(i);
  perm.insert(perm.begin() + axis, 0);
  return d.transpose(x, perm);
}

// A loop over the rows of the scan inputs. *out: states, then scanned values.
bool scan(NodeContext& c, const ScanSpec& s, std::vector<Value*>* out) {
  Decompose d(c);
  Value* trips = d.squeeze(d.size_of(s.inputs[0], s.input_axes[0]), {0});
  if (!c.b.ok()) return false;
  const auto write = [&](LoopBody& body) {
    Decompose in(c, body.builder);
    std::vector<Entity> arguments, results;
    for (Value* v : body.carried) arguments.push_back(Entity::tensor(v));
    for (size_t i = 0; i < s.inputs.size(); ++i) {
      Value* row = body.trip;
      if (s.input_reversed[i]) row = in.sub(in.sub(trips, row), in.number(1, DType::s64));
      arguments.push_back(Entity::tensor(in.gather(s.inputs[i], row, s.input_axes[i])));
    }
    if (!in.b.ok()) return false;
    if (!c.importer.import_body(c.scope, *s.body, body.builder.block(), arguments, &results)) {
      c.give_up();
      return false;
    }
    for (size_t i = 0; i < results.size(); ++i) {
      if (!results[i].is(Entity::Kind::kTensor)) {
        c.fail("its body gives something that is no tensor");
        return false;
      }
      (i < s.states.size() ? body.next : body.scanned).push_back(results[i].value);
    }
    return true;
  };
  const int32_t most = dims_of(s.inputs[0])[static_cast<size_t>(s.input_axes[0])];
  if (build_loop(c, {trips, nullptr, s.states, s.scanned, most}, write, out) == LoopOutcome::kShapesChange)
    c.fail("a state changes its shape from step to step");
  for (size_t i = 0; i < s.scanned && c.b.ok() && !c.given_up; ++i) {
    Value*& y = (*out)[s.states.size() + i];
    if (s.output_reversed[i]) y = reversed(d, y, 0);
    y = move_rows(d, y, s.output_axes[i]);
  }
  return c.b.ok() && !c.given_up;
}

void import_scan(NodeContext& c) {
  ScanSpec s;
  if (!read_body(c, 0, &s) || !read_flags(c, "scan_input_directions", s.inputs.size(), &s.input_reversed) ||
      !read_flags(c, "scan_output_directions", s.scanned, &s.output_reversed))
    return;
  const std::vector<int64_t> axes = c.attr_ints("scan_input_axes", std::vector<int64_t>(s.inputs.size(), 0));
  s.output_axes = c.attr_ints("scan_output_axes", std::vector<int64_t>(s.scanned, 0));
  if (axes.size() != s.inputs.size() || s.output_axes.size() != s.scanned)
    return c.fail("scan axes: expected one for each input and output");
  for (size_t i = 0; i < axes.size(); ++i) {
    if (rank_of(s.inputs[i]) == 0) return c.fail("a scan input has no dimensions");
    s.input_axes.push_back(axis_of(c, axes[i], rank_of(s.inputs[i])));
  }
  std::vector<Value*> out;
  if (!c.b.ok() || !scan(c, s, &out)) return;
  for (size_t i = 0; i < out.size(); ++i) c.out(static_cast<int>(i), out[i]);
}

// Opset 8: the first dimension of everything is the batch, and steps run along the second.
void import_batched_scan(NodeContext& c) {
  Decompose d(c);
  ScanSpec s;
  if (c.in(0) != nullptr) return c.fail("sequence_lens is not supported", "convert the model to opset 9 or newer");
  if (!read_body(c, 1, &s) || !read_flags(c, "directions", s.inputs.size(), &s.input_reversed)) return;
  s.output_reversed.assign(s.scanned, false);
  s.output_axes.assign(s.scanned, 0);
  s.input_axes.assign(s.inputs.size(), 0);
  for (const Value* v : s.inputs)
    if (rank_of(v) < 2 || !is_fixed(v, 0)) return c.fail("expected scan inputs (batch, steps, ...) with a fixed batch");
  const ScanSpec whole = s;
  const int32_t batches = dims_of(s.inputs[0])[0];
  if (batches < 1 || batches > kMostBatches)
    return c.fail("expected a batch of 1 to " + std::to_string(kMostBatches) + ", found " + std::to_string(batches));
  std::vector<std::vector<Value*>> rows;
  for (int32_t n = 0; n < batches; ++n) {
    Value* index = c.b.graph().scalar<int64_t>(n);
    for (size_t i = 0; i < s.states.size(); ++i) s.states[i] = d.gather(whole.states[i], index, 0);
    for (size_t i = 0; i < s.inputs.size(); ++i) s.inputs[i] = d.gather(whole.inputs[i], index, 0);
    std::vector<Value*> out;
    if (!c.b.ok() || !scan(c, s, &out)) return;
    rows.resize(out.size());
    for (size_t i = 0; i < out.size(); ++i) rows[i].push_back(d.unsqueeze(out[i], {0}));
  }
  for (size_t i = 0; i < rows.size(); ++i) c.out(static_cast<int>(i), d.concat(rows[i], 0));
}

}  // namespace

void add_scan_ops(OpTable& table);
void add_scan_ops(OpTable& table) { add_lines(table, {{"Scan", import_batched_scan, 8, 0}, {"Scan", import_scan, 9, 0}}); }

}  // namespace mote::frontends::onnx
