#include "mote/compiler/frontends/common/while_loop.h"

#include "mote/compiler/ir/infer.h"

namespace mote::frontends {
namespace {

ir::Node* fail(std::string* error, const char* what) {
  *error = what;
  return nullptr;
}

}  // namespace

ir::Value* as_scalar(ir::NodeBuilder& b, ir::Value* v) { return v == nullptr || v->type.rank() == 0 ? v : b.reshape(v, {}); }

ir::Node* add_while(ir::NodeBuilder& b, const std::vector<ir::Value*>& start, int64_t max_trips, const ImportGraph& condition,
                    const ImportGraph& trip, std::string* error) {
  ir::Graph& g = b.graph();
  std::vector<ir::Value*> first, carried, next, again;
  if (!condition(b.block(), start, &first) || first.size() != 1) return fail(error, "the condition is not supported");
  std::vector<ir::Value*> in{nullptr, as_scalar(b, first[0])};
  in.insert(in.end(), start.begin(), start.end());
  if (!b.ok()) return fail(error, "the condition is no single element");
  ir::Node* n = g.add_node(b.block(), ir::kLoop, nullptr, 0, in, start.size(), b.name());
  n->max_trips = max_trips;
  ir::Block& body = g.add_block(n);
  g.add_argument(body, "", ir::Type{DType::s64, {}, 0});
  g.add_argument(body, "", ir::Type{DType::boolean, {}, 0});
  for (ir::Value* v : start) carried.push_back(g.add_argument(body, "", v->type, v->facts));
  if (!trip(body, carried, &next) || next.size() != start.size()) return fail(error, "the loop's body is not supported");
  if (!condition(body, next, &again) || again.size() != 1) return fail(error, "the condition is not supported");
  ir::NodeBuilder inside(g, body, b.name());
  g.add_result(body, as_scalar(inside, again[0]));
  for (ir::Value* v : next) g.add_result(body, v);
  return ir::infer(*n, error) ? n : nullptr;
}

}  // namespace mote::frontends
