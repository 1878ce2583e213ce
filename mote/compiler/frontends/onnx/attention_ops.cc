#include <algorithm>
#include <cmath>
#include <limits>

#include "mote/compiler/frontends/onnx/decompose.h"
#include "mote/compiler/frontends/onnx/import.h"
#include "mote/ops/attention/attention.h"
#include "mote/ops/conv/conv.h"
#include "mote/ops/rotary_embedding/rotary_embedding.h"

namespace mote::frontends::onnx {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

bool check_heads(NodeContext& c, const Value* x, int64_t heads) {
  if (heads >= 1 && rank_of(x) == 3 && dims_of(x)[2] % heads == 0) return true;
  c.fail("expected (batch, length, features) whose features divide into " + std::to_string(heads) + " heads");
  return false;
}

// (B, S, H * D) to (B, H, S, D).
Value* split_heads(Decompose& d, Value* x, int64_t heads) {
  if (!check_heads(d.c, x, heads)) return nullptr;
  return d.transpose(d.b.reshape(x, {0, 0, static_cast<int32_t>(heads), static_cast<int32_t>(dims_of(x)[2] / heads)}), {0, 2, 1, 3});
}

// (B, H, S, D) to (B, S, H * D).
Value* join_heads(Decompose& d, Value* x) {
  if (rank_of(x) != 4) return nullptr;
  const ir::Dims dims = dims_of(x);
  Value* by_length = d.transpose(x, {0, 2, 1, 3});
  return d.b.ok() ? d.b.reshape(by_length, {0, 0, dims[1] * dims[3]}) : nullptr;
}

// Each key head serves the same number of query heads, one after the other.
Value* repeat_heads(Decompose& d, Value* x, int64_t times) {
  if (!is_fixed(x, 1)) d.c.fail("the number of heads must be known before running");
  if (times == 1 || !d.b.ok()) return x;
  const ir::Dims dims = dims_of(x);
  Value* apart = d.unsqueeze(x, {2});
  Value* repeated = d.expand(apart, {1, 1, times, 1, 1});
  if (!d.b.ok()) return nullptr;
  return d.b.reshape(repeated, {0, static_cast<int32_t>(dims[1] * times), -1, dims[3]});
}

struct AttentionParts {
  Value *q = nullptr, *k = nullptr, *v = nullptr, *mask = nullptr, *lengths = nullptr;
  ops::attention::Attrs attrs;
  int64_t past = 0;  // keys in front of those that come with the queries
};

bool same_size(const Value* x, int i, const Value* y, int j) {
  if (x->facts.size() != y->facts.size() || dims_of(x)[static_cast<size_t>(i)] != dims_of(y)[static_cast<size_t>(j)]) return false;
  for (size_t s = 0; s < x->facts.size(); ++s)
    if (x->facts[s].dims[static_cast<size_t>(i)] != y->facts[s].dims[static_cast<size_t>(j)]) return false;
  return true;
}

// Bias (S, T): 0 where query i may look at key j, -inf elsewhere. `offset` is the place of query 0 among the keys: a number, or (B, 1, 1,
// 1).
Value* position_bias(Decompose& d, const AttentionParts& p, Value* offset) {
  const auto count = [&](Value* x, int axis) {
    Value* n = d.squeeze(d.size_of(x, axis), {0});
    return d.op(OpId::range, {d.number(0, DType::s64), n, d.number(1, DType::s64)});
  };
  Value *query = d.add(d.unsqueeze(count(p.q, 2), {1}), offset), *key = count(p.k, 2);
  Value* ahead = d.sub(key, query);  // how far a key lies behind (negative) or before the query
  const auto within = [&](OpId compare, int64_t limit) { return d.op(compare, {ahead, d.number(static_cast<double>(limit), DType::s64)}); };
  const ops::attention::Attrs& a = p.attrs;
  std::vector<Value*> allowed;
  if (a.is_causal != 0) allowed.push_back(within(OpId::less_equal, 0));
  if (a.left_window >= 0) allowed.push_back(within(OpId::greater_equal, -int64_t{a.left_window}));
  if (a.right_window >= 0) allowed.push_back(within(OpId::less_equal, a.right_window));
  Value* all = nullptr;
  for (Value* v : allowed) all = all == nullptr ? v : d.op(OpId::logical_and, {all, v});
  if (p.lengths != nullptr) {
    Value* used = d.op(OpId::less, {key, d.unsqueeze(d.cast(p.lengths, DType::s64), {1, 2, 3})});
    all = all == nullptr ? used : d.op(OpId::logical_and, {all, used});
  }
  if (all == nullptr) return nullptr;
  return d.op(OpId::where, {all, d.number(0, p.q), d.number(kMinusInfinity, p.q)});
}

Value* additive(Decompose& d, Value* mask, const Value* like) {
  if (mask == nullptr || dtype_of_value(mask) != DType::boolean) return d.cast(mask, dtype_of_value(like));
  return d.op(OpId::where, {mask, d.number(0, like), d.number(kMinusInfinity, like)});
}

Value* query_offset(Decompose& d, const AttentionParts& p, Value* past_key) {
  if (p.lengths != nullptr) return d.sub(d.unsqueeze(d.cast(p.lengths, DType::s64), {1, 2, 3}), d.squeeze(d.size_of(p.q, 2), {0}));
  return past_key != nullptr ? d.squeeze(d.size_of(past_key, 2), {0}) : d.number(0, DType::s64);
}

// Written out, for those who want to see the products. mode: 0 products, 1 after softcap, 2 with bias, 3 after softmax.
void explicit_attention(Decompose& d, const AttentionParts& p, Value* past_key, int64_t mode, Value** y, Value** seen) {
  if (!is_fixed(p.q, 1) || !is_fixed(p.q, 3)) d.c.fail("number and size of the heads must be known before running");
  const int64_t times = dims_of(p.k)[1] == 0 ? 1 : dims_of(p.q)[1] / dims_of(p.k)[1];
  const double scale =
      p.attrs.scale != 0 ? static_cast<double>(p.attrs.scale) : 1 / std::sqrt(static_cast<double>(std::max(dims_of(p.q)[3], 1)));
  Value* products = d.mul(d.matmul(p.q, repeat_heads(d, p.k, times), false, true), scale);
  *seen = products;
  if (p.attrs.softcap > 0) {
    const double cap = static_cast<double>(p.attrs.softcap);
    products = d.mul(d.op(OpId::tanh, {d.div(products, cap)}), cap);
    *seen = products;  // mode 0 shows them capped too, as the reference does
  }
  Value *bias = position_bias(d, p, query_offset(d, p, past_key)), *mask = additive(d, p.mask, p.q);
  if (bias != nullptr && mask != nullptr) bias = d.add(bias, mask);
  else if (bias == nullptr) bias = mask;
  if (bias != nullptr) products = d.add(products, bias);
  if (mode == 2) *seen = products;
  Value* weights = d.softmax(products, -1);
  if (bias != nullptr) {  // where nothing may be looked at, softmax has no answer
    Value* none = d.op(OpId::equal, {d.reduce(OpId::reduce_max, bias, {-1}), d.number(kMinusInfinity, bias)});
    weights = d.op(OpId::where, {none, d.number(0, weights), weights});
  }
  if (mode == 3) *seen = weights;
  *y = d.matmul(weights, repeat_heads(d, p.v, times));
}

bool read_attention(NodeContext& c, Decompose& d, AttentionParts* p) {
  p->q = c.in(0);
  p->k = c.in(1);
  p->v = c.in(2);
  if (rank_of(p->q) == 3) {
    const int64_t heads = c.attr_int("q_num_heads", 0), kv_heads = c.attr_int("kv_num_heads", 0);
    p->q = split_heads(d, p->q, heads);
    p->k = split_heads(d, p->k, kv_heads);
    p->v = split_heads(d, p->v, kv_heads);
  }
  for (const Value* v : {p->q, p->k, p->v})
    if (c.b.ok() && rank_of(v) != 4) c.fail("expected Q, K and V of rank 3 or 4, found " + std::to_string(rank_of(v)));
  p->attrs.scale = c.attr_float("scale", 0);
  p->attrs.softcap = std::max(c.attr_float("softcap", 0), 0.0f);
  p->attrs.is_causal = c.attr_int("is_causal", 0) != 0 ? 1 : 0;
  p->attrs.left_window = static_cast<int32_t>(std::clamp<int64_t>(c.attr_int("left_window_size", -1), -1, INT32_MAX));
  p->attrs.right_window = static_cast<int32_t>(std::clamp<int64_t>(c.attr_int("right_window_size", -1), -1, INT32_MAX));
  p->lengths = c.in(6);
  return c.b.ok();
}

// A mask that ends before the keys do allows none of the rest.
Value* lengthen_mask(Decompose& d, Value* mask, const Value* keys) {
  if (mask == nullptr || rank_of(mask) == 0 || !mask->type.is_static() || !keys->type.is_static()) return mask;
  const int64_t missing = int64_t{dims_of(keys)[2]} - dims_of(mask).back();
  if (missing <= 0 || dims_of(mask).back() == 1) return mask;
  std::vector<int64_t> begin(dims_of(mask).size()), end(begin);
  end.back() = missing;
  return d.pad(mask, begin, end, dtype_of_value(mask) == DType::boolean ? 0 : static_cast<float>(kMinusInfinity));
}

void import_attention(NodeContext& c) {
  Decompose d(c);
  AttentionParts p;
  if (!read_attention(c, d, &p)) return;
  Value *past_key = c.in(4), *new_keys = p.k;
  if ((past_key == nullptr) != (c.in(5) == nullptr)) return c.fail("past_key and past_value: expected both or neither");
  if (past_key != nullptr) {
    p.k = d.concat({past_key, p.k}, 2);
    p.v = d.concat({c.in(5), p.v}, 2);
  }
  if (!c.b.ok()) return;
  c.out(1, p.k);
  c.out(2, p.v);
  p.mask = lengthen_mask(d, c.in(3), p.k);
  Value *y = nullptr, *seen = nullptr;
  const bool positions = p.attrs.is_causal != 0 || p.attrs.left_window >= 0 || p.attrs.right_window >= 0;
  // The operator knows the offset T - S; other ones are written out.
  const bool plain = past_key == nullptr || !positions || same_size(p.q, 2, new_keys, 2);
  if (c.wants(3) || !plain) {
    explicit_attention(d, p, past_key, c.attr_int("qk_matmul_output_mode", 0), &y, &seen);
    if (c.wants(3)) c.out(3, seen);
  } else {
    p.attrs.cached = past_key != nullptr ? 1 : 0;
    if (dtype_of_value(p.mask) != DType::boolean) p.mask = d.cast(p.mask, dtype_of_value(p.q));
    if (!c.b.ok()) return;
    y = c.b.op(OpId::attention, p.attrs, {p.q, p.k, p.v, p.mask, p.lengths});
  }
  c.out(0, rank_of(c.in(0)) == 3 && c.b.ok() ? join_heads(d, y) : y);
}

// A subgraph of the node applied to one tensor; the tensor itself where the node has none.
Value* apply_subgraph(NodeContext& c, const char* name, Value* x) {
  const auto* a = c.attr(name);
  if (a == nullptr || !a->has_g() || !c.b.ok()) return x;
  std::vector<Entity> results;
  if (!c.importer.import_body(c.scope, a->g(), c.b.block(), {Entity::tensor(x)}, &results)) {
    c.give_up();
    return nullptr;
  }
  if (results.size() == 1 && results[0].is(Entity::Kind::kTensor)) return results[0].value;
  c.fail(std::string(name) + ": expected a graph that gives one tensor");
  return nullptr;
}

void import_flex_attention(NodeContext& c) {
  Decompose d(c);
  for (int i = 0; i < 3; ++i)
    if (rank_of(c.in(i)) != 4) return c.fail("expected Q, K and V of rank 4, found " + std::to_string(rank_of(c.in(i))));
  const ir::Dims q = dims_of(c.in(0)), k = dims_of(c.in(1));
  if (k[1] < 1 || q[1] % k[1] != 0) return c.fail("expected query heads that are a multiple of the key heads");
  if (!is_fixed(c.in(0), 1) || !is_fixed(c.in(0), 3)) return c.fail("number and size of the heads must be known before running");
  const float given = c.attr_float("scale", 0);
  const double scale = given != 0 ? static_cast<double>(given) : 1 / std::sqrt(static_cast<double>(std::max(q[3], 1)));
  Value* keys = repeat_heads(d, c.in(1), q[1] / k[1]);
  const DType dtype = dtype_of_value(c.in(0)), asked = to_dtype(static_cast<int>(c.attr_int("softmax_precision", 0)));
  const DType precise = asked != DType::kNone ? asked : dtype == DType::f64 ? dtype : DType::f32;
  Value* scores = d.mul(d.matmul(d.cast(c.in(0), precise), d.cast(keys, precise), false, true), scale);
  Value* shaped = apply_subgraph(c, "score_mod", scores);
  Value* weights = apply_subgraph(c, "prob_mod", shaped == nullptr ? nullptr : d.softmax(shaped, -1));
  if (weights == nullptr) return;
  Value* values = d.cast(repeat_heads(d, c.in(2), q[1] / k[1]), precise);
  c.out(0, d.cast(d.matmul(weights, values), dtype));
}

void import_rotary(NodeContext& c) {
  Decompose d(c);
  ops::rotary_embedding::Attrs a;
  a.interleaved = c.attr_int("interleaved", 0) != 0 ? 1 : 0;
  a.rotary_dim = static_cast<int32_t>(std::clamp<int64_t>(c.attr_int("rotary_embedding_dim", 0), 0, INT32_MAX));
  const bool packed = rank_of(c.in(0)) == 3;
  Value* x = packed ? split_heads(d, c.in(0), c.attr_int("num_heads", 0)) : c.in(0);
  if (!c.b.ok()) return;
  Value* y = c.in(3) != nullptr ? c.b.op(OpId::rotary_embedding, a, {x, c.in(1), c.in(2), c.in(3)})
                                : c.b.op(OpId::rotary_embedding, a, {x, c.in(1), c.in(2)});
  if (c.b.ok()) c.out(0, packed ? join_heads(d, y) : y);
}

// A depthwise convolution over what was seen before and now; the last k - 1 positions are the next state.
void import_causal_conv(NodeContext& c) {
  Decompose d(c);
  const ir::Dims x = dims_of(c.in(0)), w = dims_of(c.in(1));
  if (x.size() != 3 || w.size() != 3) return c.fail("expected input and weight of rank 3");
  const int32_t before = w[2] - 1;
  Value* padded = c.in(3) != nullptr ? d.concat({c.in(3), c.in(0)}, 2) : d.pad(c.in(0), {0, 0, before}, {0, 0, 0});
  ops::conv::Attrs a;
  a.groups = x[1];
  Value *last = d.channels_last(padded), *weights = d.channels_last(c.in(1));
  if (!c.b.ok()) return;
  Value* y =
      d.channels_first(c.in(2) != nullptr ? c.b.op(OpId::conv, a, {last, weights, c.in(2)}) : c.b.op(OpId::conv, a, {last, weights}));
  const std::string activation = c.attr_string("activation", "none");
  if (activation == "silu" || activation == "swish") y = d.op(OpId::silu, {y});
  else if (activation != "none") c.fail("activation: expected none, silu or swish, found " + activation);
  c.out(0, y);
  if (c.wants(1)) c.out(1, before > 0 ? d.slice(padded, 2, -int64_t{before}, INT32_MAX) : d.slice(padded, 2, 0, 0));
}

}  // namespace

void add_attention_ops(OpTable& t);
void add_attention_ops(OpTable& t) {
  t["Attention"] = {{"Attention", &import_attention, 23, 3}};
  t["ai.onnx.preview.FlexAttention"] = {{"FlexAttention", &import_flex_attention, 1, 3}};
  t["RotaryEmbedding"] = {{"RotaryEmbedding", &import_rotary, 23, 3}};
  t["CausalConvWithState"] = {{"CausalConvWithState", &import_causal_conv, 27, 2}};
}

}  // namespace mote::frontends::onnx
