#pragma once

// Graphs for tests of the planner: small random ones with views, in-place chances, branches, loops and states.

#include <gtest/gtest.h>

#include <random>

#include "mote/compiler/ir/builder.h"
#include "mote/compiler/ir/infer.h"
#include "mote/ops/concat/concat.h"
#include "mote/ops/pad/pad.h"
#include "mote/ops/slice/slice.h"
#include "mote/ops/split/split.h"

namespace mote::schedtest {

class RandomGraph {
 public:
  RandomGraph(ir::Graph& graph, std::mt19937& random) : g_(graph), random_(random) {}

  void run(uint32_t nodes) {
    auto& m = g_.add_method("main");
    std::vector<ir::Value*> values;
    for (int i = 0; i < 2; ++i) values.push_back(g_.add_input(m, "x" + std::to_string(i), DType::f32, {1, 4, 2, 6}));
    flag_ = g_.add_input(m, "flag", DType::boolean, {});
    values.push_back(g_.constant<float>({1, 4, 2, 6}, std::vector<float>(48, 0.5f)));
    state_ = pick(4) == 0 ? g_.add_state("state", DType::f32, {1, 4, 2, 6}) : nullptr;
    grow(*m.block, values, nodes, 0);
    for (int i = 0; i < 3; ++i)
      g_.add_output(m, "y" + std::to_string(i), values[values.size() - 1 - pick(std::min<size_t>(values.size(), 6))]);
  }

 private:
  size_t pick(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }
  ir::Value* any(const std::vector<ir::Value*>& v) {
    return pick(3) > 0 ? v[v.size() - 1 - pick(std::min<size_t>(v.size(), 4))] : v[pick(v.size())];
  }
  // One with the shape of `like`, for operators with two operands.
  ir::Value* mate(const std::vector<ir::Value*>& v, const ir::Value* like) {
    std::vector<ir::Value*> fits;
    for (ir::Value* c : v)
      if (c->type == like->type) fits.push_back(c);
    return any(fits);
  }

  void grow(ir::Block& block, std::vector<ir::Value*>& values, uint32_t nodes, int depth) {
    for (uint32_t i = 0; i < nodes; ++i) {
      ir::NodeBuilder b(g_, block, "n" + std::to_string(i));
      ir::Value* x = any(values);
      const size_t rank = x->type.dims.size();
      switch (pick(depth < 2 ? 14 : 11)) {
        case 0: values.push_back(b.op(OpId::relu, {x})); break;
        case 1: values.push_back(b.op(OpId::neg, {x})); break;
        case 2: values.push_back(b.op(OpId::add, {x, mate(values, x)})); break;
        case 3: values.push_back(b.op(OpId::sub, {mate(values, x), x})); break;
        case 4: values.push_back(b.op(OpId::softmax, {x})); break;
        case 5: values.push_back(b.reshape(x, rank == 4 ? ir::Dims{x->type.dims[1], -1} : ir::Dims{1, x->type.dims[0], 2, -1})); break;
        case 6:
        case 7: {
          if (x->type.count() > 400) break;
          const auto axis = static_cast<int32_t>(pick(rank));
          values.push_back(b.op(OpId::concat, ops::concat::Attrs{axis}, {x, mate(values, x)}));
          break;
        }
        case 8: {
          const size_t axis = pick(rank);
          if (x->type.dims[axis] % 2 != 0) break;
          for (ir::Value* v : b.ops(OpId::split, ops::split::Attrs{static_cast<int32_t>(axis)}, {x}, 2)) values.push_back(v);
          break;
        }
        case 9:
          if (state_ != nullptr && depth == 0) {
            ir::Value* next = b.op(OpId::add, {b.op(OpId::copy, {state_}), mate(values, state_)});
            g_.add_node(block, ir::kAssign, nullptr, 0, {state_, next}, 0, "assign");
            values.push_back(next);
          }
          break;
        case 10: {
          if (x->type.count() > 300) break;
          ops::pad::Attrs a;
          for (size_t k = 0; k < rank; ++k) a.begin[k] = static_cast<int32_t>(pick(2)), a.end[k] = static_cast<int32_t>(pick(2));
          values.push_back(b.op(OpId::pad, a, {x}));
          break;
        }
        case 11: branch(block, values, x, depth); break;
        default: loop(block, values, x, depth); break;
      }
      while (values.back() == nullptr) values.pop_back();  // sizes that cannot be reshaped
    }
  }

  void branch(ir::Block& block, std::vector<ir::Value*>& values, ir::Value* x, int depth) {
    ir::Node* n = g_.add_node(block, ir::kIf, nullptr, 0, {flag_}, 1, "if");
    for (int k = 0; k < 2; ++k) {
      ir::Block& inner = g_.add_block(n);
      std::vector<ir::Value*> local = values;
      grow(inner, local, static_cast<uint32_t>(1 + pick(4)), depth + 1);
      g_.add_result(inner, mate(local, x));
    }
    finish(n, values);
  }

  void loop(ir::Block& block, std::vector<ir::Value*>& values, ir::Value* x, int depth) {
    ir::Value* other = mate(values, x);
    ir::Node* n =
        g_.add_node(block, ir::kLoop, nullptr, 0, {g_.scalar<int64_t>(static_cast<int64_t>(pick(4))), nullptr, x, other}, 3, "loop");
    ir::Block& body = g_.add_block(n);
    g_.add_argument(body, "trip", {DType::s64, {}, 0});
    ir::Value* go = g_.add_argument(body, "go", {DType::boolean, {}, 0});
    std::vector<ir::Value*> local = values;
    for (int k = 0; k < 2; ++k) local.push_back(g_.add_argument(body, "c", x->type));
    grow(body, local, static_cast<uint32_t>(1 + pick(5)), depth + 1);
    g_.add_result(body, go);
    for (int k = 0; k < 2; ++k) g_.add_result(body, mate(local, x));
    g_.add_result(body, any(local));
    finish(n, values);
  }

  void finish(ir::Node* n, std::vector<ir::Value*>& values) {
    std::string error;
    if (!ir::infer(*n, &error)) ADD_FAILURE() << error;
    for (size_t k = 0; k < n->outputs.size() && k < 2; ++k) values.push_back(n->outputs[k]);
    // What a loop collects has one more dimension and may be empty: only its sum is of use.
    if (n->outputs.size() == 3 && n->outputs[2]->type.dims[0] > 0) {
      ir::NodeBuilder b(g_, *n->block, "flat");
      if (n->outputs[2]->type.rank() <= 4) return;
      if (ir::Value* flat = b.reshape(n->outputs[2], {1, 1, 2, -1}); flat != nullptr) values.push_back(flat);
    }
  }

  ir::Graph& g_;
  std::mt19937& random_;
  ir::Value* flag_ = nullptr;
  ir::Value* state_ = nullptr;
};

inline void make_random_graph(ir::Graph& g, std::mt19937& random, uint32_t nodes) { RandomGraph(g, random).run(nodes); }

inline std::vector<std::vector<uint8_t>> random_inputs(std::mt19937& random) {
  std::vector<std::vector<uint8_t>> in;
  for (int i = 0; i < 2; ++i) {
    std::vector<float> x(48);
    for (float& v : x) v = static_cast<float>(static_cast<int>(random() % 200)) / 100 - 1;
    const auto* p = reinterpret_cast<const uint8_t*>(x.data());
    in.emplace_back(p, p + x.size() * 4);
  }
  in.push_back({static_cast<uint8_t>(random() % 2)});
  return in;
}

}  // namespace mote::schedtest
