#include "mote/compiler/placement/pieces.h"
#include "mote/compiler/assemble/compile_graph.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "mote/format/delegate.h"

namespace mote::placement {
namespace {

void copy_result(const ir::Value& from, ir::Value* to) {
  to->name = from.name;
  to->type = from.type;
  to->facts = from.facts;
  to->quant = from.quant;
}

// Copies of nodes in a block of a graph; `map` knows the values that are there already.
void clone(const std::vector<ir::Node*>& nodes, ir::Graph& graph, ir::Block& block, std::map<const ir::Value*, ir::Value*>& map) {
  const bool same_graph = !nodes.empty() && nodes[0]->block->graph == &graph;
  const auto value = [&](ir::Value* v) -> ir::Value* {
    if (v == nullptr) return nullptr;
    if (const auto found = map.find(v); found != map.end()) return found->second;
    if (same_graph) return v;
    return map[v] = graph.add_constant(v->type.dtype, v->type.dims, v->data, v->name, v->layout);
  };
  for (const ir::Node* n : nodes) {
    std::vector<ir::Value*> inputs;
    for (ir::Value* v : n->inputs) inputs.push_back(value(v));
    ir::Node* copy = graph.add_node(block, n->op, n->attrs.data(), n->attrs.size(), inputs, n->outputs.size(), n->name);
    for (size_t o = 0; o < n->outputs.size(); ++o) {
      if (n->outputs[o] == nullptr) continue;
      copy_result(*n->outputs[o], copy->outputs[o]);
      map[n->outputs[o]] = copy->outputs[o];
    }
  }
}

void append(void* self, const void* data, uint64_t bytes) {
  auto& out = *static_cast<std::vector<uint8_t>*>(self);
  const auto* p = static_cast<const uint8_t*>(data);
  out.insert(out.end(), p, p + bytes);
}

}  // namespace

Boundary boundary_of(const std::vector<ir::Node*>& nodes) {
  Boundary b;
  const std::set<const ir::Node*> inside(nodes.begin(), nodes.end());
  std::set<const ir::Value*> seen;
  for (ir::Node* n : nodes) {
    for (ir::Value* v : n->inputs)
      if (v != nullptr && !v->is_constant() && inside.count(v->producer) == 0 && seen.insert(v).second) b.inputs.push_back(v);
    for (ir::Value* v : n->outputs) {
      if (v == nullptr) continue;
      const bool outside = std::any_of(v->users.begin(), v->users.end(), [&](const ir::Node* u) { return inside.count(u) == 0; });
      if (outside || v->result_uses > 0) b.outputs.push_back(v);
    }
  }
  return b;
}

bool make_blob(const std::vector<ir::Node*>& nodes, const Boundary& boundary, const mote_backend_compiler& backend, const OpRegistry* ops,
               Blob* out, std::string* error) {
  ir::Graph graph;
  ir::Method& m = graph.add_method("main");
  std::map<const ir::Value*, ir::Value*> map;
  for (size_t i = 0; i < boundary.inputs.size(); ++i) {
    const ir::Value& v = *boundary.inputs[i];
    ir::Value* input = graph.add_input(m, "in" + std::to_string(i), v.type.dtype, v.type.dims);
    input->facts = v.facts;
    map[&v] = input;
  }
  clone(nodes, graph, *m.block, map);
  for (size_t i = 0; i < boundary.outputs.size(); ++i) graph.add_output(m, "out" + std::to_string(i), map.at(boundary.outputs[i]));
  assemble::GraphCompileOptions how;
  how.plan.views = false;  // every tensor dense
  how.plan.alignment = 256;
  how.plan.ops = ops;
  how.write.segment_alignment = 256;
  how.write.digests = false;  // the blob has one of its own
  program::FileBytes program;
  if (!assemble::compile_graph(graph, how, &program, error)) return false;
  out->backend = backend.name;
  out->version = backend.version;
  out->capabilities = backend.capabilities;
  if (const uint32_t code = backend.lower(program.data(), program.size, &append, &out->bytes, &out->device_bytes)) {
    *error = "its compiler failed with " + std::to_string(code);
    return false;
  }
  return true;
}

void replace_by_delegate(ir::Graph& graph, const std::vector<ir::Node*>& nodes, const Boundary& boundary, uint32_t blob,
                         const std::string& name, bool fallback) {
  const DelegateAttrs attrs{blob, 0};
  ir::Node* d = graph.add_node(*nodes[0]->block, static_cast<uint16_t>(ControlOp::kDelegate), &attrs, sizeof attrs, boundary.inputs,
                               boundary.outputs.size(), name + " " + std::to_string(blob), nodes[0]);
  if (fallback) {
    ir::Block& block = graph.add_block(d);
    std::map<const ir::Value*, ir::Value*> map;
    clone(nodes, graph, block, map);
    for (const ir::Value* v : boundary.outputs) graph.add_result(block, map.at(v));
  }
  for (size_t i = 0; i < boundary.outputs.size(); ++i) {
    copy_result(*boundary.outputs[i], d->outputs[i]);
    graph.replace_uses(boundary.outputs[i], d->outputs[i]);
  }
  for (auto n = nodes.rbegin(); n != nodes.rend(); ++n) graph.erase(*n);
}

void record_ranges(const Placed& placed, program::ProgramRecords* r) {
  size_t piece = 0;
  const auto of_backend = [&](bool cpu) -> const Piece* {
    while (piece < placed.pieces.size() && (placed.pieces[piece].blob < 0) != cpu) ++piece;
    return piece < placed.pieces.size() ? &placed.pieces[piece++] : nullptr;
  };
  const auto add = [&](uint32_t first, uint32_t count, const Piece* p) {
    if (count == 0) return;
    Placement x{};
    x.first_instruction = first;
    x.instruction_count = count;
    x.backend = r->strings.add(p != nullptr ? p->backend : "cpu");
    if (p != nullptr) x.predicted_ns = static_cast<float>(p->predicted_ns), x.bytes_in = p->bytes_in, x.bytes_out = p->bytes_out;
    r->placements.push_back(x);
  };
  const auto count = static_cast<uint32_t>(r->instructions.size());
  for (uint32_t pc = 0; pc < count;) {
    const Instruction& n = r->instructions[pc];
    if (n.op == static_cast<uint16_t>(ControlOp::kDelegate)) {
      add(pc, 1, of_backend(false));
      pc += 1 + fallback_count(n, r->attrs.data() + n.attrs);
      continue;
    }
    uint32_t end = pc;
    while (end < count && r->instructions[end].op != static_cast<uint16_t>(ControlOp::kDelegate)) ++end;
    // Copies that scheduling added in front of the first piece or behind the last belong to none.
    const bool known = piece < placed.pieces.size() && placed.pieces[piece].blob < 0;
    add(pc, end - pc, known ? of_backend(true) : nullptr);
    pc = end;
  }
}

}  // namespace mote::placement
