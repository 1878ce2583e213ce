// Products of matrices and what is made of them.

#include <algorithm>
#include <cmath>

#include "mote/compiler/frontends/common/einsum.h"
#include "mote/compiler/frontends/torch/op.h"
#include "mote/ops/attention/attention.h"
#include "mote/ops/trilu/trilu.h"

namespace mote::frontends::torch {
namespace {

// The type products of this type are computed in: narrow integers wrap the same way in wider ones.
DType product_type(DType t) {
  if (is_float(t) || t == DType::s32 || t == DType::s64 || t == DType::u32 || t == DType::u64) return t;
  return DType::s32;
}

// torch.matmul: vectors become matrices and go again.
Value* product(Op& o, Value* x, Value* y) {
  const DType t = dtype_of_value(x), wide = product_type(t);
  const bool left = rank_of(x) == 1, right = rank_of(y) == 1;
  if (rank_of(x) == 0 || rank_of(y) == 0) {
    o.refuse("expected tensors with axes");
    return nullptr;
  }
  x = o.cast(x, wide);
  y = o.cast(y, wide);
  if (left) x = o.unsqueeze(x, {0});
  if (right) y = o.unsqueeze(y, {1});
  Value* z = o.matmul(x, y);
  if (right) z = o.squeeze(z, {-1});
  if (left) z = o.squeeze(z, {right ? -1 : -2});
  return o.cast(z, t);
}

void import_matmul(Op& o) {
  const char* second = o.has("mat2") ? "mat2" : o.has("vec") ? "vec" : o.has("tensor") ? "tensor" : "other";
  o.out(product(o, o.in("self"), o.in(second)));
}

void import_linear(Op& o) {
  Value *x = o.in("input"), *w = o.in("weight"), *bias = o.tensor("bias");
  const DType t = dtype_of_value(x);
  if (!is_float(t) || rank_of(w) != 2) {
    std::vector<int> perm{1, 0};
    Value* y = product(o, x, rank_of(w) == 2 ? o.transpose(w, perm) : w);
    return o.out(bias == nullptr ? y : o.add(y, bias));
  }
  const bool vector = rank_of(x) == 1;
  if (vector) x = o.unsqueeze(x, {0});
  Value* y = o.matmul(x, w, false, true, 1, bias);
  o.out(vector ? o.squeeze(y, {0}) : y);
}

bool is_one(Op& o, const char* name) { return !o.has(name) || (o.is_number(name) && o.real(name, 1) == 1); }

// Of truth values, where sums are "or" and products "and".
Value* truth_addr(Op& o, Value* c, Value* a, Value* b) {
  Value* y = o.op(OpId::logical_and, {o.unsqueeze(a, {1}), o.unsqueeze(b, {0})});
  if (o.has("alpha") && o.is_number("alpha") && o.real("alpha", 1) == 0) y = o.op(OpId::logical_and, {y, o.number(0, DType::boolean)});
  if (o.has("beta") && o.is_number("beta") && o.real("beta", 1) == 0) return y;
  return o.op(OpId::logical_or, {c, y});
}

// beta * self + alpha * (a @ b).
void import_addmm(Op& o) {
  Value *c = o.in("self"), *a = nullptr, *b = nullptr;
  a = o.in(o.has("mat1") ? "mat1" : o.has("batch1") ? "batch1" : o.has("mat") ? "mat" : "vec1");
  b = o.in(o.has("mat2") ? "mat2" : o.has("batch2") ? "batch2" : o.has("vec") ? "vec" : "vec2");
  const DType t = o.out_type();
  const bool plain = is_one(o, "beta") && is_one(o, "alpha");
  if (plain && is_float(t) && rank_of(a) == 2 && rank_of(b) == 2 && rank_of(c) == 1 && is_fixed(c, 0) && is_fixed(b, 1) &&
      dim_of(c, 0) == dim_of(b, 1))
    return o.out(o.matmul(a, b, false, false, 1, c));
  const std::string& target = o.node.target;
  if (t == DType::boolean) return o.out(truth_addr(o, c, a, b));
  Value* y =
      target.find("addr") != std::string::npos ? o.mul(o.unsqueeze(o.cast(a, t), {1}), o.unsqueeze(o.cast(b, t), {0})) : product(o, a, b);
  if (target.find(".addbmm") != std::string::npos) y = o.reduce(OpId::reduce_sum, y, {0}, false);
  if (!is_one(o, "alpha")) y = o.mul(y, o.scalar("alpha", t));
  // A beta of 0 leaves self out, NaN included.
  if (o.has("beta") && o.is_number("beta") && o.real("beta", 1) == 0) {
    return o.out(y);
  }
  c = o.cast(c, t);
  if (!is_one(o, "beta")) c = o.mul(c, o.scalar("beta", t));
  o.out(o.add(c, y));
}

void import_outer(Op& o) {
  const DType t = o.out_type();
  Value *x = o.cast(o.in("self"), t), *y = o.cast(o.in("vec2"), t);
  Value *a = o.unsqueeze(x, {1}), *b = o.unsqueeze(y, {0});
  o.out(t == DType::boolean ? o.op(OpId::logical_and, {a, b}) : o.mul(a, b));
}

// PyTorch sums what one operand alone has before it multiplies, and integers to 64 bits.
void import_einsum(Op& o) {
  std::vector<Value*> operands = o.tensors("tensors");
  if (!o.b.ok()) return;
  for (Value*& v : operands) v = o.cast(v, o.out_type(0));
  o.out(einsum(o, o.text("equation", ""), operands));
}

Value* last_two_swapped(Op& o, Value* x) {
  std::vector<int> perm;
  for (int i = 0; i < rank_of(x); ++i) perm.push_back(i);
  if (perm.size() >= 2) std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return o.transpose(x, perm);
}

// Scores, mask and softmax one by one: for shapes the operator does not take.
Value* attention_by_parts(Op& o, Value* q, Value* k, Value* v, Value* mask, bool causal, double scale) {
  Value* scores = o.mul(o.matmul(q, last_two_swapped(o, k)), scale);
  if (causal) {  // the lower triangle, main diagonal included
    ops::trilu::Attrs lower;
    lower.upper = 0;
    const int rank = rank_of(scores);
    Value* ones = o.fill(1, DType::u8, o.concat({o.size_of(scores, rank - 2), o.size_of(scores, rank - 1)}, 0));
    mask = o.cast(o.b.ok() ? o.b.op(OpId::trilu, lower, {ones}) : nullptr, DType::boolean);
  }
  if (mask != nullptr && dtype_of_value(mask) == DType::boolean) scores = o.op(OpId::where, {mask, scores, o.number(-INFINITY, scores)});
  else if (mask != nullptr) scores = o.add(scores, mask);
  Value* weights = o.softmax(scores, -1);
  // Rows that may look at nothing give 0.
  weights = o.op(OpId::where, {o.op(OpId::is_nan, {weights}), o.number(0, weights), weights});
  return o.matmul(weights, v);
}

void import_attention(Op& o) {
  Value *q = o.in("query"), *k = o.in("key"), *v = o.in("value"), *mask = o.tensor("attn_mask");
  const bool causal = o.flag("is_causal", false);
  if (o.real("dropout_p", 0) != 0) return o.refuse("dropout is random", "export the model in evaluation mode: model.eval()");
  const int rank = rank_of(q);
  if (!o.b.ok() || rank < 2) return o.refuse("expected tensors with at least 2 axes");
  const double scale = o.real("scale", 1 / std::sqrt(static_cast<double>(std::max(dims_of(q).back(), 1))));
  const bool alike = rank_of(k) == rank && rank_of(v) == rank && rank <= 4 && (mask == nullptr || rank_of(mask) <= rank) &&
                     (rank < 4 || (dim_of(q, 0) == dim_of(k, 0) && dim_of(k, 0) == dim_of(v, 0) && dim_of(k, 1) == dim_of(v, 1))) &&
                     (rank < 3 || o.flag("enable_gqa", false) ||
                      (dim_of(q, rank - 3) == dim_of(k, rank - 3) && dim_of(k, rank - 3) == dim_of(v, rank - 3)));
  if (!alike || scale == 0) return o.out(attention_by_parts(o, q, k, v, mask, causal, scale));
  std::vector<int64_t> added;
  for (int i = rank; i < 4; ++i) added.push_back(i - rank);
  if (!added.empty()) {
    q = o.unsqueeze(q, added);
    k = o.unsqueeze(k, added);
    v = o.unsqueeze(v, added);
  }
  ops::attention::Attrs a;
  a.scale = static_cast<float>(scale);
  a.is_causal = causal ? 1 : 0;
  if (!o.b.ok()) return;
  Value* y = mask != nullptr ? o.b.op(OpId::attention, a, {q, k, v, mask}) : o.b.op(OpId::attention, a, {q, k, v});
  o.out(added.empty() ? y : o.squeeze(y, added));
}

// Distances between rows: the p-norm of their differences.
Value* distances(Op& o, Value* difference, double p) {
  Value* d = o.op(OpId::abs, {difference});
  const std::vector<int64_t> last{-1};
  if (p == 0) return o.reduce(OpId::reduce_sum, o.cast(o.op(OpId::not_equal, {d, o.number(0, d)}), dtype_of_value(d)), last, false);
  if (p == 1) return o.reduce(OpId::reduce_sum, d, last, false);
  if (p == 2) return o.sqrt(o.reduce(OpId::reduce_sum, o.mul(d, d), last, false));
  if (std::isinf(p)) return o.reduce(OpId::reduce_max, d, last, false);
  return o.pow(o.reduce(OpId::reduce_sum, o.pow(d, p), last, false), 1 / p);
}

void import_cdist(Op& o) {
  Value *x = o.in("x1"), *y = o.in("x2");
  o.out(distances(o, o.sub(o.unsqueeze(x, {-2}), o.unsqueeze(y, {-3})), o.real("p", 2)));
}

void import_pdist(Op& o) {
  Value* x = o.in("self");
  if (rank_of(x) != 2 || !is_fixed(x, 0) || dim_of(x, 0) > 2048) return o.refuse("expected a matrix with a fixed number of rows");
  std::vector<int64_t> first, second;
  for (int64_t i = 0; i < dim_of(x, 0); ++i)
    for (int64_t k = i + 1; k < dim_of(x, 0); ++k) first.push_back(i), second.push_back(k);
  if (first.empty()) return o.out(o.fill(0, o.out_type(), o.ints({0})));
  o.out(distances(o, o.sub(o.gather(x, o.ints(first), 0), o.gather(x, o.ints(second), 0)), o.real("p", 2)));
}

}  // namespace

void add_product_ops(OpTable& t);
void add_product_ops(OpTable& t) {
  add_lines(t, {
                   {"aten.mm", "default", &import_matmul, kReal},
                   {"aten.bmm", "default", &import_matmul, kReal},
                   {"aten.mv", "default", &import_matmul, kReal},
                   {"aten.dot", "default", &import_matmul, kReal},
                   {"aten.matmul", "default", &import_matmul, kReal},
                   {"aten.linear", "default", &import_linear, kReal},
                   {"aten.addmm", "default", &import_addmm, kReal},
                   {"aten.addmv", "default", &import_addmm, kReal},
                   {"aten.addr", "default", &import_addmm},
                   {"aten.addbmm", "default", &import_addmm, kReal},
                   {"aten.baddbmm", "default", &import_addmm, kReal},
                   {"aten.outer", "default", &import_outer},
                   {"aten.einsum", "default", &import_einsum, kReal},
                   {"aten.scaled_dot_product_attention", "default", &import_attention, kFloat},
                   {"aten._scaled_dot_product_flash_attention_for_cpu", "default", &import_attention, kFloat},
                   {"aten._cdist_forward", "default", &import_cdist, kFloat},
                   {"aten._pdist_forward", "default", &import_pdist, kFloat},
               });
}

}  // namespace mote::frontends::torch
