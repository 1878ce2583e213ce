// If, loops in ONNX's sense, and assignments to states.

#include <algorithm>

#include "mote/compiler/ir/infer.h"
#include "mote/compiler/schedule/build.h"
#include "mote/ops/reshape/reshape.h"
#include "mote/ops/shape_of/shape_of.h"
#include "mote/ops/slice/slice.h"

namespace mote::schedule {

bool StepBuilder::if_node(const ir::Node& node) {
  std::vector<TensorId> outputs;
  for (const ir::Value* v : node.outputs) outputs.push_back(v == nullptr || v->unused() ? kNone : output_of(*v));
  const size_t at = plan_.steps.size();
  Step s;
  s.op = static_cast<uint16_t>(ControlOp::kIf);
  s.name = node.name;
  s.inputs = {tensor_of(*node.inputs[0])};
  plan_.steps.push_back(std::move(s));
  if (!branch(node, 0, outputs)) return false;
  const size_t middle = plan_.steps.size();
  if (!branch(node, 1, outputs)) return false;
  plan_.steps[at].body = static_cast<uint32_t>(middle - at - 1);
  plan_.steps[at].otherwise = static_cast<uint32_t>(plan_.steps.size() - middle);
  return true;
}

// One branch, which leaves its results in `outputs`.
bool StepBuilder::branch(const ir::Node& node, size_t index, const std::vector<TensorId>& outputs) {
  const ir::Block& b = *node.blocks[index];
  std::vector<size_t> copied;
  for (size_t o = 0; o < outputs.size(); ++o)
    if (outputs[o] >= 0 && !request_place(*b.results[o], b, outputs[o])) copied.push_back(o);
  if (!block(b)) return false;
  for (size_t o : copied) copy(tensor_of(*b.results[o]), outputs[o], node.name);
  return true;
}

bool StepBuilder::assign_node(const ir::Node& node) {
  const ir::Value &state = *node.inputs[0], &value = *node.inputs[1];
  if (&state != &value) copy(tensor_of(value), state_of(state), node.name);
  return true;
}

// A call of a backend (compiler/placement), followed by its fallback: steps that compute the same where the backend is missing.
bool StepBuilder::delegate_node(const ir::Node& node) {
  std::vector<TensorId> outputs;
  for (const ir::Value* v : node.outputs) outputs.push_back(output_of(*v));
  const size_t at = plan_.steps.size();
  Step s;
  s.op = node.op;
  s.attrs = node.attrs;
  s.name = node.name;
  for (const ir::Value* v : node.inputs) s.inputs.push_back(tensor_of(*v));
  s.outputs = outputs;
  plan_.steps.push_back(std::move(s));
  if (node.blocks.empty()) return true;
  if (!branch(node, 0, outputs)) return false;
  plan_.steps[at].body = static_cast<uint32_t>(plan_.steps.size() - at - 1);
  return true;
}

// Tensors of a loop besides the values of the model.
struct StepBuilder::Loop {
  std::vector<TensorId> carried;
  TensorId condition = kNone;  // tested before each trip
  TensorId trip = kNone;       // number of the trip, a scalar...
  TensorId starts = kNone;     // ...which is the first element of (trip, 0, 0, ...)
  // One scan output: the values of all trips.
  struct Scan {
    TensorId all = kNone;     // (most trips, ...) at the largest sizes
    TensorId sizes = kNone;   // dynamic outputs: (trips so far, sizes of the value...)
    TensorId shape = kNone;   // dynamic values: (1, sizes of the value...)
    TensorId output = kNone;  // the result of the loop
  };
  std::vector<Scan> scans;
};

namespace {

// A type that holds either: the larger bound of each size, dynamic where they differ.
ir::Type joined(const ir::Type& a, const ir::Type& b) {
  if (a.dims.size() != b.dims.size()) return a;
  ir::Type t = a;
  t.dynamic = a.dynamic | b.dynamic;
  for (size_t i = 0; i < t.dims.size(); ++i) {
    if (a.dims[i] != b.dims[i]) t.dynamic = static_cast<uint8_t>(t.dynamic | 1u << i);
    t.dims[i] = std::max(a.dims[i], b.dims[i]);
  }
  return t;
}

bool is_true(const ir::Value& v) {
  std::vector<int64_t> known;
  return ir::known_ints(v, &known) && known.size() == 1 && known[0] != 0;
}

}  // namespace

// Initializes the condition, the trip counter and the carried values before the first trip.
void StepBuilder::initialize_loop(const ir::Node& node, Loop& loop) {
  const ir::Block& body = *node.blocks[0];
  const ir::Value *condition = node.input(1), *again = body.results[0];
  // A loop without an initial condition ignores the one its body computes.
  const bool endless = condition == nullptr || (is_true(*condition) && (again == body.arguments[1] || is_true(*again)));
  if (!endless) {
    loop.condition = add_tensor({DType::boolean, {}, 0}, Storage::kArena, node.name);
    const TensorId first = tensor_of(*condition);
    const TensorDesc& d = plan_.tensor(first).desc;
    if (d.rank == 0) {
      copy(first, loop.condition, node.name);
    } else {
      add_step(OpId::reshape, ops::reshape::Attrs{}, {first}, {loop.condition}, node.name);
    }
    tensors_[body.arguments[1]->id] = loop.condition;
  } else {
    tensors_[body.arguments[1]->id] = add_constant(DType::boolean, {}, ir::Bytes::copy_of("\1", 1), Layout::kPlain, "");
  }
  for (size_t k = 0; k + 2 < body.arguments.size(); ++k) {
    const ir::Value &argument = *body.arguments[k + 2], &first = *node.inputs[k + 2];
    const ir::Value* output = node.output(k);
    const ir::Type type = joined(joined(argument.type, first.type), body.results[k + 1]->type);
    TensorId t = kNone;
    if (output != nullptr && output->type == type) t = output_of(*output);
    else t = add_tensor(type, Storage::kArena, argument.name);
    loop.carried.push_back(t);
    copy(tensor_of(first), t, node.name);
    tensors_[argument.id] = t;
  }
}

// Allocates the tensors of scan outputs: the trip number as an index vector, and one row for each trip.
void StepBuilder::allocate_scans(const ir::Node& node, Loop& loop) {
  const ir::Block& body = *node.blocks[0];
  int most = 1;
  for (size_t j = loop.carried.size(); j < node.outputs.size(); ++j) most = std::max(most, body.results[j + 1]->type.rank() + 1);
  loop.starts = add_tensor({DType::s64, {most}, 0}, Storage::kArena, "");
  loop.trip = add_view(loop.starts, 0, DType::s64, {});
  copy(ints(std::vector<int64_t>(static_cast<size_t>(most), 0)), loop.starts, node.name);
  for (size_t j = loop.carried.size(); j < node.outputs.size(); ++j) {
    Loop::Scan scan;
    const ir::Value* output = node.outputs[j];
    const ir::Type& element = body.results[j + 1]->type;
    if (output != nullptr && !output->unused()) {
      scan.output = output_of(*output);
      ir::Type all{element.dtype, element.dims, 0};
      all.dims.insert(all.dims.begin(), output->type.dims[0]);
      scan.all = output->type.dynamic == 0 ? scan.output : add_tensor(all, Storage::kArena, output->name);
      std::vector<int64_t> sizes(1, 0);
      for (int32_t d : element.dims) sizes.push_back(element.dynamic == 0 ? d : 0);
      const ir::Type list{DType::s64, {static_cast<int32_t>(sizes.size())}, 0};
      if (output->type.dynamic != 0) copy(ints(sizes), scan.sizes = add_tensor(list, Storage::kArena, ""), node.name);
      sizes[0] = 1;
      if (element.dynamic != 0) copy(ints(sizes), scan.shape = add_tensor(list, Storage::kArena, ""), node.name);
    }
    loop.scans.push_back(scan);
  }
}

// At the end of a trip: appends a value to those of the trips before.
void StepBuilder::collect_scan(const ir::Node& node, const Loop& loop, size_t index) {
  const Loop::Scan& scan = loop.scans[index];
  if (scan.all < 0) return;
  const ir::Value& value = *node.blocks[0]->results[loop.carried.size() + index + 1];
  const TensorId element = tensor_of(value);
  const int32_t rank = value.type.rank();
  ir::Type row{value.type.dtype, value.type.dims, static_cast<uint8_t>(value.type.dynamic << 1)};
  row.dims.insert(row.dims.begin(), 1);
  const TensorId update = add_tensor(row, Storage::kArena, value.name);
  ops::reshape::Attrs reshape;
  reshape.allow_zero = 1;
  if (scan.shape >= 0) {
    add_step(OpId::shape_of, ops::shape_of::Attrs{}, {element}, {add_view(scan.shape, 8, DType::s64, {rank})}, node.name);
    add_step(OpId::reshape, reshape, {element, scan.shape}, {update}, node.name);
    plan_.tensor(update).desc.dynamic = static_cast<uint8_t>((2u << rank) - 1);  // the operator reads every size when running
  } else {
    reshape.rank = rank + 1;
    std::copy(row.dims.begin(), row.dims.end(), reshape.dims);
    add_step(OpId::reshape, reshape, {element}, {update}, node.name);
  }
  const TensorId starts = add_view(loop.starts, 0, DType::s64, {rank + 1});
  add_step(OpId::update_slice, NoAttrs{}, {scan.all, update, starts}, {scan.all}, node.name);
  if (scan.sizes < 0) return;
  add_step(OpId::add, NoAttrs{}, {add_view(loop.starts, 0, DType::s64, {1}), ints({1})}, {add_view(scan.sizes, 0, DType::s64, {1})},
           node.name);
  if (scan.shape >= 0 && rank > 0)
    copy(add_view(scan.shape, 8, DType::s64, {rank}), add_view(scan.sizes, 8, DType::s64, {rank}), node.name);
}

// At the end of a trip: copies condition and carried values for the next one, as one parallel assignment.
void StepBuilder::assign_carried(const ir::Node& node, const Loop& loop) {
  const ir::Block& body = *node.blocks[0];
  std::vector<TensorId> results;
  for (size_t k = 0; k < loop.carried.size(); ++k) {
    TensorId t = tensor_of(*body.results[k + 1]);
    const bool of_other = t != loop.carried[k] && std::count(loop.carried.begin(), loop.carried.end(), t) > 0;
    if (of_other) {
      const TensorId kept = add_tensor(body.results[k + 1]->type, Storage::kArena, node.name);
      plan_.tensor(kept).desc.dynamic = plan_.tensor(t).desc.dynamic;
      copy(t, kept, node.name);
      t = kept;
    }
    results.push_back(t);
  }
  if (loop.condition >= 0) {
    const TensorId again = tensor_of(*body.results[0]);
    if (again == loop.condition) {
    } else if (plan_.tensor(again).desc.rank == 0) {
      copy(again, loop.condition, node.name);
    } else {
      add_step(OpId::reshape, ops::reshape::Attrs{}, {again}, {loop.condition}, node.name);
    }
  }
  for (size_t k = 0; k < results.size(); ++k)
    if (results[k] != loop.carried[k]) copy(results[k], loop.carried[k], node.name);
}

bool StepBuilder::loop_node(const ir::Node& node) {
  if (node.max_trips < 0 || node.max_trips > 0x7fffffff) return fail(node, "a loop needs a bound of its trips below 2^31");
  const ir::Block& body = *node.blocks[0];
  Loop loop;
  initialize_loop(node, loop);
  allocate_scans(node, loop);
  tensors_[body.arguments[0]->id] = loop.trip;
  const size_t at = plan_.steps.size();
  Step s;
  s.op = static_cast<uint16_t>(ControlOp::kLoop);
  s.name = node.name;
  s.trips = static_cast<uint32_t>(node.max_trips);
  s.inputs = {node.input(0) == nullptr ? kNone : tensor_of(*node.input(0)), loop.condition};
  s.outputs = {loop.trip};
  plan_.steps.push_back(std::move(s));
  if (!block(body)) return false;
  for (size_t j = 0; j < loop.scans.size(); ++j) collect_scan(node, loop, j);
  assign_carried(node, loop);
  plan_.steps[at].body = static_cast<uint32_t>(plan_.steps.size() - at - 1);
  for (size_t k = 0; k < loop.carried.size(); ++k) {
    const ir::Value* output = node.output(k);
    if (output == nullptr || output->unused() || tensors_.count(output->id) > 0) continue;
    copy(loop.carried[k], output_of(*output), node.name);
  }
  for (const Loop::Scan& scan : loop.scans) {
    if (scan.sizes < 0) continue;
    const std::vector<int64_t> zeros(plan_.tensor(scan.sizes).desc.dims[0], 0);
    plan_.tensor(scan.output).desc.dynamic = static_cast<uint8_t>((1u << zeros.size()) - 1);
    add_step(OpId::slice, ops::slice::Attrs{}, {scan.all, ints(zeros), scan.sizes}, {scan.output}, node.name);
  }
  return true;
}

}  // namespace mote::schedule
