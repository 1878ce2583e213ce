// Random graphs, made of what the passes look for: after all passes they compute what they computed before.

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <random>

#include "mote/compiler/ir/builder.h"
#include "mote/compiler/ir/text.h"
#include "mote/compiler/ir/verify.h"
#include "mote/compiler/passes/testing.h"
#include "mote/ops/avg_pool/avg_pool.h"
#include "mote/ops/batch_norm/batch_norm.h"
#include "mote/ops/clip/clip.h"
#include "mote/ops/common/reduce.h"
#include "mote/ops/concat/concat.h"
#include "mote/ops/conv/conv.h"
#include "mote/ops/gather/gather.h"
#include "mote/ops/matmul/matmul.h"
#include "mote/ops/max_pool/max_pool.h"
#include "mote/ops/pad/pad.h"
#include "mote/ops/slice/slice.h"
#include "mote/ops/softmax/softmax.h"
#include "mote/ops/split/split.h"

namespace mote::passes {
namespace {

using ir::Dims;
using ir::Value;

class Maker {
 public:
  Maker(ir::Graph& graph, uint32_t seed) : graph_(graph), random_(seed) {}

  void run() {
    const bool open = pick(3) == 0;
    if (open) graph_.symbols.push_back({"n", 1, 3});
    ir::Method& m = graph_.add_method("m");
    block_ = m.block.get();
    for (int i = 0; i < 2; ++i) {
      const Dims dims = {1 + pick(2), 4, 3 + pick(3), 3 + pick(3)};
      values_.push_back(graph_.add_input(m, "x" + std::to_string(i), DType::f32, dims, {open ? 0 : -1, -1, -1, -1}));
    }
    for (int i = 0; i < 14; ++i) step(i);
    for (size_t i = 0; i < values_.size(); ++i)
      if (values_[i]->users.empty() || pick(6) == 0) graph_.add_output(m, "y" + std::to_string(i), values_[i]);
  }

 private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }
  Value* any() { return values_[static_cast<size_t>(pick(static_cast<int>(values_.size())))]; }
  Value* of_rank(int rank) {
    for (int tries = 0; tries < 8; ++tries)
      if (Value* v = any(); v->type.rank() == rank) return v;
    return nullptr;
  }
  Value* numbers(const Dims& dims) {
    std::vector<float> v(static_cast<size_t>(ir::Type{DType::f32, dims, 0}.count()));
    for (float& x : v) x = static_cast<float>(pick(17) - 8) / 8;
    return graph_.constant<float>(dims, v);
  }
  Dims shuffled(int rank) {
    Dims perm;
    for (int i = 0; i < rank; ++i) perm.push_back(i);
    std::shuffle(perm.begin(), perm.end(), random_);
    return perm;
  }

  // A shape that a value of this type can broadcast with, of at most its rank.
  Dims partner(const ir::Type& t) {
    Dims dims;
    for (int i = pick(t.rank() + 1); i < t.rank(); ++i) {
      const bool dynamic = (t.dynamic >> i & 1) != 0;
      dims.push_back(dynamic || pick(2) == 0 ? 1 : t.dims[static_cast<size_t>(i)]);
    }
    return dims;
  }

  void keep(ir::NodeBuilder& b, Value* v) {
    if (b.ok() && v != nullptr && v->type.count() < 4000) values_.push_back(v);
  }

  void step(int i) {
    ir::NodeBuilder b(graph_, *block_, "n" + std::to_string(i));
    Value* x = any();
    const int rank = x->type.rank();
    switch (pick(16)) {
      case 0: return keep(b, unary(b, x));
      case 1: return keep(b, unary(b, x));
      case 2: return keep(b, b.transpose(x, shuffled(rank)));
      case 3: return keep(b, binary(b, x, numbers(partner(x->type))));
      case 4: {
        Value* z = any();
        if (z->type == x->type) keep(b, binary(b, x, z));
        return;
      }
      case 5: return keep(b, spatial(b, of_rank(4)));
      case 6: return keep(b, spatial(b, of_rank(4)));
      case 7: return keep(b, spatial(b, of_rank(4)));
      case 8: return keep(b, reshaped(b, x));
      case 9: return keep(b, cut(b, x));
      case 10: return keep(b, reduced(b, x));
      case 11: {
        ops::concat::Attrs a;
        a.axis = pick(std::max(rank, 1));
        Value* z = any();
        if (rank > 0 && z->type == x->type && (x->type.dynamic >> a.axis & 1) == 0) keep(b, b.op(OpId::concat, a, {x, z, x}));
        return;
      }
      case 12: {
        ops::softmax::Attrs a;
        a.axis = pick(std::max(rank, 1));
        if (rank > 0) keep(b, b.op(OpId::softmax, a, {x}));
        return;
      }
      case 13: {
        if (rank < 2 || (x->type.dynamic >> (rank - 1) & 1) != 0) return;
        ops::matmul::Attrs a;
        a.transpose_b = static_cast<uint32_t>(pick(2));
        const int32_t k = x->type.dims.back(), n = 1 + pick(18);
        return keep(b, b.op(OpId::matmul, a, {x, numbers(a.transpose_b != 0 ? Dims{n, k} : Dims{k, n})}));
      }
      case 14: {
        ops::gather::Attrs a;
        a.axis = pick(std::max(rank, 1));
        if (rank > 0 && (x->type.dynamic >> a.axis & 1) == 0 && x->type.dims[static_cast<size_t>(a.axis)] > 0)
          keep(b, b.op(OpId::gather, a, {x, pick(2) == 0 ? graph_.scalar<int64_t>(-1) : graph_.constant<int64_t>({2}, {0, -1})}));
        return;
      }
      default: {
        ops::split::Attrs a;
        a.axis = pick(std::max(rank, 1));
        if (rank == 0 || (x->type.dynamic >> a.axis & 1) != 0 || x->type.dims[static_cast<size_t>(a.axis)] < 2) return;
        for (Value* v : b.ops(OpId::split, a, {x}, 2)) keep(b, v);
      }
    }
  }

  Value* unary(ir::NodeBuilder& b, Value* x) {
    switch (pick(9)) {
      case 0: return b.op(OpId::relu, {x});
      case 1: {
        ops::clip::Attrs a;
        a.lo = static_cast<float>(pick(3) - 1);
        a.hi = a.lo + static_cast<float>(pick(7));
        return b.op(OpId::clip, a, {x});
      }
      case 2: return b.op(OpId::mul, {x, b.op(OpId::sigmoid, {x})});
      case 3: return b.op(OpId::neg, {x});
      case 4: return b.op(OpId::tanh, {x});
      case 5: return b.cast(b.cast(x, DType::f64), DType::f32);
      case 6: return b.op(OpId::copy, {x});
      case 7: {
        ops::clip::Attrs a;
        a.lo = 0;
        a.hi = 6;
        Value* h = b.op(OpId::clip, a, {b.op(OpId::add, {x, graph_.scalar<float>(3)})});
        return b.op(OpId::div, {b.op(OpId::mul, {x, h}), graph_.scalar<float>(6)});
      }
      default: return b.op(OpId::abs, {x});
    }
  }

  Value* binary(ir::NodeBuilder& b, Value* x, Value* z) {
    const OpId ids[] = {OpId::add, OpId::sub, OpId::mul, OpId::maximum, OpId::minimum};
    return pick(2) == 0 ? b.op(ids[pick(5)], {x, z}) : b.op(ids[pick(5)], {z, x});
  }

  // As the ONNX front end writes it: transpose, operator, transpose.
  Value* spatial(ir::NodeBuilder& b, Value* x) {
    if (x == nullptr || (x->type.dynamic & 0xe) != 0 || x->type.dims[1] == 0) return nullptr;
    Value* t = b.transpose(x, {0, 2, 3, 1});
    const int32_t channels = x->type.dims[1];
    Value* y = nullptr;
    const int kind = pick(5);
    if (kind <= 2) {
      ops::conv::Attrs a;
      a.pads_begin[0] = a.pads_end[0] = pick(2);
      a.pads_begin[1] = a.pads_end[1] = pick(2);
      a.strides[0] = 1 + pick(2);
      const bool depthwise = kind == 2;
      a.groups = depthwise ? channels : 1;
      const int32_t outputs = depthwise ? channels : pick(2) == 0 ? channels : 1 + pick(20);
      Value* w = numbers({outputs, 1 + pick(2), 1 + pick(2), depthwise ? 1 : channels});
      y = pick(2) == 0 ? b.op(OpId::conv, a, {t, w}) : b.op(OpId::conv, a, {t, w, numbers({outputs})});
      if (y != nullptr && pick(3) == 0) {
        Value* n = b.transpose(y, {0, 3, 1, 2});
        ops::batch_norm::Attrs norm;
        norm.axis = 1;
        std::vector<float> variance(static_cast<size_t>(outputs), 0.5f);
        return b.op(OpId::batch_norm, norm,
                    {n, numbers({outputs}), numbers({outputs}), numbers({outputs}), graph_.constant<float>({outputs}, variance)});
      }
    } else if (kind == 3) {
      ops::max_pool::Attrs a;
      a.kernel[0] = 2;
      a.pads_begin[0] = pick(2);
      y = b.op(OpId::max_pool, a, {t});
    } else {
      ops::avg_pool::Attrs a;
      a.kernel[1] = 2;
      a.pads_end[1] = pick(2);
      a.count_include_pad = static_cast<uint32_t>(pick(2));
      y = b.op(OpId::avg_pool, a, {t});
    }
    return y == nullptr ? nullptr : b.transpose(y, {0, 3, 1, 2});
  }

  Value* reshaped(ir::NodeBuilder& b, Value* x) {
    if (__builtin_popcount(x->type.dynamic) > 1) return nullptr;
    Dims dims;
    for (int i = 0; i < x->type.rank(); ++i) {
      const bool dynamic = (x->type.dynamic >> i & 1) != 0;
      const int32_t d = x->type.dims[static_cast<size_t>(i)];
      if (dynamic) dims.push_back(-1);
      else if (d % 2 == 0 && d > 0 && pick(2) == 0 && dims.size() < 6) dims.insert(dims.end(), {2, d / 2});
      else if (!dims.empty() && dims.back() > 0 && d > 0 && pick(2) == 0) dims.back() *= d;
      else dims.push_back(d);
    }
    if (pick(3) == 0 && dims.size() < 6) dims.insert(dims.begin() + pick(static_cast<int>(dims.size()) + 1), 1);
    return std::find(dims.begin(), dims.end(), 0) == dims.end() ? b.reshape(x, dims) : nullptr;
  }

  Value* cut(ir::NodeBuilder& b, Value* x) {
    if (x->type.rank() == 0) return nullptr;
    const int axis = pick(x->type.rank());
    if ((x->type.dynamic >> axis & 1) != 0) return nullptr;
    if (pick(2) == 0) {
      ops::pad::Attrs a;
      a.begin[axis] = pick(2);
      a.end[axis] = pick(2);
      return b.op(OpId::pad, a, {x});
    }
    ops::slice::Attrs a;
    a.count = 1;
    a.axes[0] = axis;
    a.starts[0] = pick(2);
    a.ends[0] = 100;
    a.steps[0] = 1 + pick(2);
    Value* y = b.op(OpId::slice, a, {x});
    return y != nullptr && y->type.count() > 0 ? y : nullptr;
  }

  Value* reduced(ir::NodeBuilder& b, Value* x) {
    if (x->type.rank() == 0) return nullptr;
    ops::ReduceAttrs a;
    a.axis_count = 1 + (x->type.rank() > 2 ? pick(2) : 0);
    const Dims axes = shuffled(x->type.rank());
    for (int i = 0; i < a.axis_count; ++i) a.axes[i] = axes[static_cast<size_t>(i)];
    a.keep_dims = pick(2);
    const OpId ids[] = {OpId::reduce_mean, OpId::reduce_max, OpId::reduce_sum};
    return b.op(ids[pick(3)], a, {x});
  }

  ir::Graph& graph_;
  std::mt19937 random_;
  ir::Block* block_ = nullptr;
  std::vector<Value*> values_;
};

ops::slice::Attrs slice_all() {
  ops::slice::Attrs a;
  a.count = 1;
  a.ends[0] = 4;
  a.steps[0] = 1;
  return a;
}

TEST(RandomGraphsTest, PassesKeepTheMeaning) {
  const char* more = std::getenv("MOTE_RANDOM_GRAPHS");
  const uint32_t count = more != nullptr ? static_cast<uint32_t>(std::strtoul(more, nullptr, 10)) : 400;
  for (uint32_t seed = 1; seed <= count; ++seed) {
    ir::Graph g;
    Maker(g, seed).run();
    const std::string text = ir::print(g);
    std::string error;
    ASSERT_TRUE(ir::verify(g, &error)) << seed << ": " << error;
    PassOptions options;
    options.exact = seed % 4 == 0;
    run_all(text, 1e-4, options);
    if (HasFailure()) {
      ir::TextOptions brief;
      brief.bytes = false;
      FAIL() << "seed " << seed << "\n" << ir::print(g, brief);
    }
  }
}

// Long chains must not cost more than their length, nor need a deep stack.
TEST(LargeGraphsTest, ChainsTakeLittleTime) {
  ir::Graph g;
  ir::Method& m = g.add_method("m");
  Value* x = g.add_input(m, "x", DType::f32, {1, 2, 3, 2});
  ir::NodeBuilder b(g, *m.block, "node");
  Value* y = b.transpose(x, {0, 3, 1, 2});
  Value* joined = y;
  for (int i = 0; i < 6000; ++i) {
    y = i % 3 == 0 ? b.op(OpId::tanh, {y}) : i % 3 == 1 ? b.op(OpId::add, {y, joined}) : b.op(OpId::clip, {b.op(OpId::clip, {y})});
    if (i % 100 == 0) joined = b.op(OpId::add, {joined, y});
  }
  Value* s = b.op(OpId::shape_of, {x});
  for (int i = 0; i < 12; ++i) s = b.op(OpId::slice, slice_all(), {b.op(OpId::concat, {s, s, s, s, s, s, s, s})});
  g.add_output(m, "y", b.transpose(y, {0, 2, 3, 1}));
  g.add_output(m, "s", s);
  ASSERT_TRUE(b.ok()) << b.error();
  std::string error;
  const auto start = std::chrono::steady_clock::now();
  ASSERT_TRUE(run_passes(g, {}, &error)) << error;
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 20);
  for (const auto& n : m.block->nodes) EXPECT_FALSE(n->is(OpId::transpose) || n->is(OpId::concat));
}

}  // namespace
}  // namespace mote::passes
