// com.microsoft: attention as ONNX Runtime fuses it, and products with weights of a few bits.

#include <algorithm>

#include "mote/compiler/frontends/onnx/op_support.h"
#include "mote/ops/matmul/matmul.h"

namespace mote::frontends::onnx {
namespace {

// A number for each key that is added to the products: 0, or the filter value where the mask hides it. Masks are lengths (B), or 0 and 1:
// (B, T), (B, S, T). Null without a mask.
Value* additive_mask(NodeContext& c, Value* mask, Value* key, Value* past, float filter) {
  if (mask == nullptr) return nullptr;
  Decompose d(c);
  Value* seen = nullptr;
  if (rank_of(mask) == 1 && dims_of(mask) == ir::Dims{dims_of(key)[0]}) {
    Value* count = d.size_of(key, 1);
    if (past != nullptr) count = d.add(count, d.size_of(past, 3));
    Value* place = d.op(OpId::range, {d.number(0, DType::s64), d.squeeze(count, {0}), d.number(1, DType::s64)});
    seen = d.op(OpId::less, {place, d.unsqueeze(d.cast(mask, DType::s64), {1, 2, 3})});
  } else if (rank_of(mask) == 2 || rank_of(mask) == 3) {
    seen = d.cast(d.unsqueeze(mask, rank_of(mask) == 2 ? std::vector<int64_t>{1, 2} : std::vector<int64_t>{1}), DType::boolean);
  } else {
    c.fail("a mask of this shape is not possible", "use lengths (batch) or a mask (batch, keys) or (batch, queries, keys)");
    return nullptr;
  }
  return d.op(OpId::where, {seen, d.number(0, key), d.number(static_cast<double>(filter), key)});
}

Value* sum_of_masks(NodeContext& c, Value* mask, Value* bias) {
  if (mask == nullptr || bias == nullptr) return mask == nullptr ? bias : mask;
  return binary(c, OpId::add, mask, bias);
}

struct Heads {
  Value *q = nullptr, *k = nullptr, *v = nullptr;  // (B, length, features)
  Value *mask = nullptr, *past_k = nullptr, *past_v = nullptr;
  bool causal = false;
};

// Y, present key and value, as ONNX's own operator gives them; empty after an error.
std::vector<Value*> attend(NodeContext& c, const Heads& h) {
  const int64_t heads = c.attr_int("num_heads", 0);
  return import_as(c, "Attention", {h.q, h.k, h.v, h.mask, h.past_k, h.past_v},
                   {make_attr("q_num_heads", heads), make_attr("kv_num_heads", heads), make_attr("is_causal", int64_t{h.causal})});
}

// Splits (B, S, q + k + v) along the features.
void split_projection(NodeContext& c, Value* all, Heads* h) {
  Decompose d(c);
  std::vector<int64_t> sizes = c.attr_ints("qkv_hidden_sizes");
  const int64_t features = rank_of(all) == 3 ? dims_of(all)[2] : 0;
  if (sizes.empty()) sizes.assign(3, features / 3);
  if (sizes.size() != 3 || sizes[0] + sizes[1] + sizes[2] != features)
    return c.fail("qkv_hidden_sizes: expected three sizes that fit the weights");
  h->q = d.slice(all, 2, 0, sizes[0]);
  h->k = d.slice(all, 2, sizes[0], sizes[0] + sizes[1]);
  h->v = d.slice(all, 2, sizes[0] + sizes[1], features);
}

// past and present are (2, B, heads, length, size).
void finish_self_attention(NodeContext& c, Heads h, Value* mask, Value* past, Value* bias) {
  Decompose d(c);
  if (!c.b.ok()) return;
  h.mask = sum_of_masks(c, additive_mask(c, mask, h.k, past, c.attr_float("mask_filter_value", -10000)), bias);
  if (past != nullptr) {
    h.past_k = d.squeeze(d.slice(past, 0, 0, 1), {0});
    h.past_v = d.squeeze(d.slice(past, 0, 1, 2), {0});
  }
  h.causal = c.attr_int("unidirectional", 0) != 0;
  if (c.attr_int("do_rotary", 0) != 0) return c.fail("do_rotary is not possible", "save the model with a lower optimisation level");
  if (c.wants(1) && past == nullptr) {
    // Without a past the present is what the heads are made of.
    const auto by_heads = [&](Value* x) {
      const int32_t heads = to_s32(c.attr_int("num_heads", 1));
      return d.unsqueeze(d.transpose(c.b.reshape(x, {0, 0, heads, dims_of(x)[2] / std::max(heads, 1)}), {0, 2, 1, 3}), {0});
    };
    c.out(1, d.concat({by_heads(h.k), by_heads(h.v)}, 0));
  }
  const auto out = attend(c, h);
  if (out.empty()) return;
  c.out(0, out[0]);
  if (c.wants(1) && past != nullptr && out.size() > 2) c.out(1, d.concat({d.unsqueeze(out[1], {0}), d.unsqueeze(out[2], {0})}, 0));
}

// Inputs: x (B, S, D), weights (D, 3D), bias?, mask?, past?, attention bias?.
void import_contrib_attention(NodeContext& c) {
  Decompose d(c);
  Heads h;
  Value* all = d.matmul(c.in(0), c.in(1));
  if (c.in(2) != nullptr) all = d.add(all, c.in(2));
  if (c.b.ok()) split_projection(c, all, &h);
  finish_self_attention(c, h, c.in(3), c.in(4), c.in(5));
}

// Inputs: x, weights, bias, scales of both, mask?, zero points of both?, past?.
void import_quantized_attention(NodeContext& c) {
  Decompose d(c);
  Heads h;
  Value* sums = import_one_as(c, "MatMulInteger", {c.in(0), c.in(1), c.in(6), c.in(7)});
  Value* scale = d.mul(d.cast(c.in(3), DType::f32), d.cast(c.in(4), DType::f32));
  Value* all = d.add(d.mul(d.cast(sums, DType::f32), scale), c.in(2));
  if (c.b.ok()) split_projection(c, all, &h);
  finish_self_attention(c, h, c.in(5), c.in(8), nullptr);
}

// (B, heads, length, size) to (B, length, features); what has rank 3 stays.
Value* joined(NodeContext& c, Value* x) {
  if (rank_of(x) != 4) return x;
  const ir::Dims dims = dims_of(x);
  Value* by_length = Decompose(c).transpose(x, {0, 2, 1, 3});
  return c.b.ok() ? c.b.reshape(by_length, {0, 0, to_s32(int64_t{dims[1]} * dims[3])}) : nullptr;
}

// Part i of (B, length, heads, parts, size), as (B, length, features).
Value* part_of(NodeContext& c, Value* packed, int i) {
  Decompose d(c);
  const ir::Dims dims = dims_of(packed);
  Value* part = d.squeeze(d.slice(packed, 3, i, i + 1), {3});
  return c.b.ok() ? c.b.reshape(part, {0, 0, to_s32(int64_t{dims[2]} * dims[4])}) : nullptr;
}

// Inputs: query, key?, value?, bias?, mask?, attention bias?, past key?, past value?.
void import_multi_head_attention(NodeContext& c) {
  Decompose d(c);
  Heads h;
  Value *query = c.in(0), *key = c.in(1);
  const bool packed = key == nullptr && rank_of(query) == 5, packed_kv = rank_of(key) == 5;
  h.q = packed ? part_of(c, query, 0) : query;
  h.k = packed ? part_of(c, query, 1) : packed_kv ? part_of(c, key, 0) : joined(c, key);
  h.v = packed ? part_of(c, query, 2) : packed_kv ? part_of(c, key, 1) : joined(c, c.in(2));
  if (!c.b.ok()) return;
  if (rank_of(h.q) != 3 || rank_of(h.k) != 3 || rank_of(h.v) != 3)
    return c.fail("expected query, key and value of rank 3 or by head, or one packed tensor of rank 5");
  if (Value* bias = c.in(3); bias != nullptr) {
    const int64_t q = dims_of(h.q)[2], k = dims_of(h.k)[2], all = rank_of(bias) == 1 ? dims_of(bias)[0] : 0;
    h.q = d.add(h.q, d.slice(bias, 0, 0, q));
    if (rank_of(key) != 4) {  // keys by head come from a cache that has it in them
      h.k = d.add(h.k, d.slice(bias, 0, q, q + k));
      h.v = d.add(h.v, d.slice(bias, 0, q + k, all));
    }
  }
  h.past_k = c.in(6);
  h.past_v = c.in(7);
  if (!c.b.ok()) return;
  if (h.past_k != nullptr && c.in(4) != nullptr && rank_of(c.in(4)) == 1) return c.fail("lengths as mask together with a past");
  h.mask = sum_of_masks(c, additive_mask(c, c.in(4), h.k, nullptr, c.attr_float("mask_filter_value", -10000)), c.in(5));
  h.causal = c.attr_int("unidirectional", 0) != 0;
  const auto out = attend(c, h);
  for (size_t i = 0; i < out.size() && i < 3; ++i)
    if (c.wants(static_cast<int>(i))) c.out(static_cast<int>(i), out[i]);
}

// Inputs: x, positions, cosines, sines. Positions are (B, S), or the first one for all.
void import_rotary_embedding(NodeContext& c) {
  Decompose d(c);
  Value *x = c.in(0), *positions = c.in(1);
  if (c.attr_float("scale", 1) != 1) return c.fail("attribute scale: expected 1");
  if (positions->type.count() == 1 && positions->type.is_static()) {
    Value* length = d.squeeze(d.size_of(x, rank_of(x) == 4 ? 2 : 1), {0});
    Value* steps = d.op(OpId::range, {d.number(0, DType::s64), length, d.number(1, DType::s64)});
    Value* row = d.add(d.unsqueeze(steps, {0}), d.reshape(d.cast(positions, DType::s64), {1, 1}));
    positions = c.b.ok() ? d.op(OpId::expand, {row, d.concat({d.size_of(x, 0), d.ints({1})}, 0)}) : nullptr;
  }
  c.out(0, import_one_as(c, "RotaryEmbedding", {x, c.in(2), c.in(3), positions}));
}

// Bits of packed unsigned numbers, low ones first.
uint32_t packed_at(const uint8_t* bytes, int64_t i, int64_t bits) {
  return bits == 8 ? bytes[i] : static_cast<uint32_t>(bytes[i / 2] >> (4 * (i % 2))) & 15u;
}

struct Blocks {
  int64_t n, k, bits, size;
  int64_t per_row() const { return (k + size - 1) / size; }
  int64_t blob() const { return size * bits / 8; }
};

// Numbers of 2^bits values become signed ones around 0: (N, K) of s4 or s8.
Value* signed_weights(NodeContext& c, const ir::Bytes& data, const Blocks& b) {
  const int64_t half = int64_t{1} << (b.bits - 1);
  std::vector<uint8_t> out(static_cast<size_t>((b.n * b.k * b.bits + 7) / 8));
  for (int64_t row = 0; row < b.n; ++row) {
    for (int64_t i = 0; i < b.k; ++i) {
      const uint8_t* block = data.data + (row * b.per_row() + i / b.size) * b.blob();
      const uint32_t value = (packed_at(block, i % b.size, b.bits) - static_cast<uint32_t>(half)) & ((1u << b.bits) - 1);
      const int64_t at = row * b.k + i;
      if (b.bits == 8) out[static_cast<size_t>(at)] = static_cast<uint8_t>(value);
      else out[static_cast<size_t>(at / 2)] |= static_cast<uint8_t>(value << (4 * (at % 2)));
    }
  }
  const ir::Dims dims{static_cast<int32_t>(b.n), static_cast<int32_t>(b.k)};
  return c.b.graph().add_constant(b.bits == 8 ? DType::s8 : DType::s4, dims, ir::Bytes::own(std::move(out)));
}

Value* signed_zeros(NodeContext& c, const ir::Bytes& data, const Blocks& b) {
  const int64_t half = int64_t{1} << (b.bits - 1), row_bytes = (b.per_row() * b.bits + 7) / 8;
  std::vector<int8_t> out;
  for (int64_t row = 0; row < b.n; ++row)
    for (int64_t i = 0; i < b.per_row(); ++i)
      out.push_back(static_cast<int8_t>(static_cast<int64_t>(packed_at(data.data + row * row_bytes, i, b.bits)) - half));
  return c.b.graph().constant<int8_t>({static_cast<int32_t>(b.n), static_cast<int32_t>(b.per_row())}, out);
}

// Inputs: a, packed weights (N, blocks, bytes), scales (N, blocks), zero points?, order of groups?, bias?.
void import_matmul_nbits(NodeContext& c) {
  Decompose d(c);
  const Blocks b{c.attr_int("N", 0), c.attr_int("K", 0), c.attr_int("bits", 4), c.attr_int("block_size", 0)};
  if ((b.bits != 4 && b.bits != 8) || b.size < 2 || b.size > 1 << 20 || b.n < 1 || b.k < 1 || b.n > INT32_MAX || b.k > INT32_MAX)
    return c.fail("expected 4 or 8 bits in blocks, found bits " + std::to_string(b.bits) + ", block_size " + std::to_string(b.size));
  if (c.in(4) != nullptr) return c.fail("an order of groups (g_idx) is not possible", "quantize the model without reordering");
  const ir::Bytes* weights = ir::known_data(*c.in(1));
  const ir::Bytes* zeros = c.in(3) == nullptr ? nullptr : ir::known_data(*c.in(3));
  if (weights == nullptr || (c.in(3) != nullptr && zeros == nullptr)) return c.fail("weights and zero points must be constants");
  const int64_t row_zeros = (b.per_row() * b.bits + 7) / 8;
  if (static_cast<int64_t>(weights->size) != b.n * b.per_row() * b.blob())
    return c.fail("the weights' size does not fit N, K and block_size");
  if (zeros != nullptr && (dtype_of_value(c.in(3)) != DType::u8 || static_cast<int64_t>(zeros->size) != b.n * row_zeros))
    return c.fail("zero points: expected packed integers for each block");
  ops::matmul::Attrs a;
  a.transpose_b = 1;
  a.group_size = static_cast<int32_t>(b.size);
  Value* scales = d.reshape(d.cast(c.in(2), DType::f32), {b.n, b.per_row()});
  Value* bias = c.in(5) == nullptr ? nullptr : d.cast(c.in(5), DType::f32);
  if (!c.b.ok()) return;
  Value* y = c.b.op(OpId::matmul, a,
                    {d.cast(c.in(0), DType::f32), signed_weights(c, *weights, b), bias, nullptr, scales,
                     zeros == nullptr ? nullptr : signed_zeros(c, *zeros, b)});
  c.out(0, d.cast(y, dtype_of_value(c.in(0))));
}

}  // namespace

void add_contrib_attention_ops(OpTable& table);
void add_contrib_attention_ops(OpTable& table) {
  add_lines(table,
            {{"Attention", import_contrib_attention, 1, 2},
             {"QAttention", import_quantized_attention, 1, 5},
             {"MultiHeadAttention", import_multi_head_attention},
             {"RotaryEmbedding", import_rotary_embedding, 1, 4},
             {"MatMulNBits", import_matmul_nbits, 1, 3}},
            "com.microsoft");
}

}  // namespace mote::frontends::onnx
