#include <algorithm>
#include <cmath>

#include "mote/compiler/frontends/onnx/loop.h"
#include "mote/compiler/frontends/onnx/op_support.h"

namespace mote::frontends::onnx {
namespace {

struct LinearHeads {
  int64_t q, kv, d_k, d_v;
};

// (B, T, H * D) to (T, B, H, D): one row a step.
Value* by_step(Decompose& d, Value* x, int64_t heads) {
  if (rank_of(x) != 3 || heads < 1 || dims_of(x)[2] % heads != 0) {
    d.c.fail("expected (batch, steps, features) whose features divide into " + std::to_string(heads) + " heads");
    return nullptr;
  }
  Value* apart = d.b.reshape(x, {0, 0, to_s32(heads), to_s32(dims_of(x)[2] / heads)});
  return d.cast(d.transpose(apart, {1, 0, 2, 3}), DType::f32);
}

struct Rows {
  Value *q, *k, *v, *decay = nullptr, *beta = nullptr;
};

// One step: the state (B, H, d_k, d_v) decays, takes up key and value, and is asked by the query.
bool step(Decompose& d, const Rows& all, const LinearHeads& h, double scale, LoopBody& body) {
  const auto row = [&](Value* x) { return x == nullptr ? nullptr : d.gather(x, body.trip, 0); };
  Value *q = row(all.q), *k = row(all.k), *v = row(all.v), *decay = row(all.decay), *beta = row(all.beta), *state = body.carried[0];
  if (decay != nullptr) state = d.mul(state, d.unsqueeze(d.op(OpId::exp, {decay}), {3}));
  Value* key = d.unsqueeze(k, {3});  // (B, H, d_k, 1)
  if (beta != nullptr) v = d.mul(d.sub(v, d.squeeze(d.matmul(key, state, true), {2})), beta);
  state = d.add(state, d.mul(key, d.unsqueeze(v, {2})));
  const int64_t share = h.q / h.kv;  // query heads that ask the same state
  Value* asked = d.b.ok() ? d.b.reshape(q, {0, to_s32(h.kv), to_s32(share), to_s32(h.d_k)}) : nullptr;
  Value* y = d.mul(d.matmul(asked, state), scale);
  if (!d.b.ok()) return false;
  body.next = {state};
  body.scanned = {d.b.reshape(y, {0, to_s32(h.q * h.d_v)})};
  return d.b.ok();
}

bool read_heads(NodeContext& c, LinearHeads* h) {
  h->q = c.attr_int("q_num_heads", 0);
  h->kv = c.attr_int("kv_num_heads", 0);
  if (h->q < 1 || h->kv < 1 || h->q % h->kv != 0 || rank_of(c.in(0)) != 3 || rank_of(c.in(2)) != 3) {
    c.fail("expected packed inputs of rank 3, and query heads that are a multiple of the key heads");
    return false;
  }
  h->d_k = dims_of(c.in(0))[2] / h->q;
  h->d_v = dims_of(c.in(2))[2] / h->kv;
  return true;
}

void import_linear_attention(NodeContext& c) {
  Decompose d(c);
  LinearHeads h;
  if (!read_heads(c, &h)) return;
  const std::string rule = c.attr_string("update_rule", "gated_delta");
  const bool gated = rule == "gated" || rule == "gated_delta", delta = rule == "delta" || rule == "gated_delta";
  if (!gated && !delta && rule != "linear") return c.fail("update_rule: '" + rule + "' is unknown");
  if ((gated && c.in(4) == nullptr) || (delta && c.in(5) == nullptr))
    return c.fail("update_rule " + rule + " needs inputs that are missing");
  Rows rows{by_step(d, c.in(0), h.q), by_step(d, c.in(1), h.kv), by_step(d, c.in(2), h.kv)};
  if (gated) rows.decay = by_step(d, c.in(4), h.kv);
  if (delta) rows.beta = by_step(d, c.in(5), dims_of(c.in(5)).back() == 1 ? 1 : h.kv);
  const DType out_type = dtype_of_value(c.in(0)), state_type = c.in(3) != nullptr ? dtype_of_value(c.in(3)) : out_type;
  Value* state = c.in(3) != nullptr ? d.cast(c.in(3), DType::f32)
                                    : d.fill(0, DType::f32, d.concat({d.size_of(c.in(0), 0), d.ints({h.kv, h.d_k, h.d_v})}, 0));
  Value* trips = d.squeeze(d.size_of(c.in(0), 1), {0});
  if (!c.b.ok()) return;
  const float given = c.attr_float("scale", 0);
  const double scale = given != 0 ? static_cast<double>(given) : 1 / std::sqrt(static_cast<double>(std::max<int64_t>(h.d_k, 1)));
  const auto write = [&](LoopBody& body) {
    Decompose in(c, body.builder);
    return step(in, rows, h, scale, body);
  };
  std::vector<Value*> y;
  if (build_loop(c, {trips, nullptr, {state}, 1, dims_of(c.in(0))[1]}, write, &y) != LoopOutcome::kDone) {
    if (c.b.ok()) c.fail("its state changes shape");
    return;
  }
  c.out(0, d.cast(d.transpose(y[1], {1, 0, 2}), out_type));
  if (c.wants(1)) c.out(1, d.cast(y[0], state_type));
}

}  // namespace

void add_linear_attention_ops(OpTable& table);
void add_linear_attention_ops(OpTable& table) { add_lines(table, {{"LinearAttention", import_linear_attention, 27, 3}}); }

}  // namespace mote::frontends::onnx
