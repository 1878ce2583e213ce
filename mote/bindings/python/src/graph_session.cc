#include "mote/bindings/python/src/graph_session.h"

namespace mote::python {

void GraphSession::look() {
  nodes_.clear();
  values_.clear();
  for (const auto& v : graph_->values()) values_.insert(v.get());
  for (const ir::Method& m : graph_->methods) look(*m.block);
}

void GraphSession::look(const ir::Block& block) {
  for (const auto& n : block.nodes) {
    nodes_.insert(n.get());
    for (const auto& b : n->blocks) look(*b);
  }
}

void GraphSession::add(ir::Node* node) {
  nodes_.insert(node);
  for (ir::Value* v : node->outputs)
    if (v != nullptr) add(v);
}

}  // namespace mote::python
