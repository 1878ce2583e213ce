// Quantization whose scales are found while running, embeddings kept in 8, 4 or 2 bits, sums of integers: what ExecuTorch has kernels for.

#include <algorithm>
#include <cmath>

#include "mote/compiler/frontends/torch/op.h"
#include "mote/ops/dequantize/dequantize.h"
#include "mote/ops/quantize/quantize.h"

namespace mote::frontends::torch {
namespace {

// Least and greatest of the values and zero: of the whole tensor as (1), or of each row as (..., 1).
struct ValueEnds {
  Value *lo = nullptr, *hi = nullptr;
};

ValueEnds value_ends(Op& o, bool rows, DType type) {
  Value* x = o.in("input");
  if (!rows) x = o.reshape(x, {-1});
  const int rank = rank_of(x);
  if (!o.b.ok()) return {};
  if (rank == 0) {
    o.refuse("expected a tensor with rows, found rank 0");
    return {};
  }
  const auto end = [&](OpId reduce, OpId with) {
    Value* v = o.cast(o.reduce(reduce, x, {rank - 1}), type);
    return o.op(with, {v, o.number(0, type)});
  };
  return {end(OpId::reduce_min, OpId::minimum), end(OpId::reduce_max, OpId::maximum)};
}

struct NumberLimits {
  double lo, hi;
};
NumberLimits number_limits(Op& o) {
  return {static_cast<double>(o.integer("quant_min", -128)), static_cast<double>(o.integer("quant_max", 127))};
}

// Limits beyond the type of integers are that type's own.
Value* between(Op& o, Value* v, NumberLimits l) {
  const DType t = dtype_of_value(v);
  if (t == DType::s8 || t == DType::u8 || t == DType::s16 || t == DType::u16 || t == DType::s32) {
    const bool sign = t != DType::u8 && t != DType::u16;
    const double span = std::ldexp(1.0, static_cast<int>(dtype_bits(t))), least = sign ? -span / 2 : 0, most = least + span - 1;
    l = {std::clamp(l.lo, least, most), std::clamp(l.hi, least, most)};
  }
  v = o.op(OpId::minimum, {v, o.number(l.hi, v)});
  return o.op(OpId::maximum, {v, o.number(l.lo, v)});
}

void set_grid(Op& o, Value* scale, Value* zero) {
  if (!o.b.ok()) return;
  o.out(0, o.cast(scale, o.out_type(0)));
  o.out(1, o.cast(zero, o.out_type(1)));
}

// PyTorch's own functions compute in f32.
void import_choose(Op& o) {
  const NumberLimits l = number_limits(o);
  const ValueEnds e = value_ends(o, false, DType::f32);
  Value* scale = o.div(o.sub(e.hi, e.lo), l.hi - l.lo);
  scale = o.op(OpId::maximum, {scale, o.number(o.real("eps", 0), DType::f32)});
  Value* zero = o.sub(o.number(l.lo, DType::f32), o.op(OpId::round, {o.div(e.lo, scale)}));
  set_grid(o, scale, between(o, zero, l));
}

void import_choose_per_token(Op& o) {
  const NumberLimits l{-128, 127};
  const ValueEnds e = value_ends(o, true, DType::f32);
  Value* scale = o.div(o.sub(e.hi, e.lo), l.hi - l.lo);
  scale = o.op(OpId::maximum, {scale, o.number(0x1p-23, DType::f32)});
  Value *low = o.div(e.lo, scale), *high = o.div(e.hi, scale);
  Value* from_low = o.op(OpId::greater, {o.add(o.add(low, high), l.lo + l.hi), o.number(0, DType::f32)});
  Value* zero = o.op(OpId::where, {from_low, o.sub(o.number(l.lo, DType::f32), low), o.sub(o.number(l.hi, DType::f32), high)});
  set_grid(o, scale, o.op(OpId::round, {between(o, zero, l)}));
}

// ExecuTorch's kernels compute in f64, have a least scale of their own and take the zero point from the end that loses less by it.
template <bool rows>
void import_choose_kernel(Op& o) {
  const double least = static_cast<double>(6.1e-5f), of_nothing = 0.1, unusable = 0x1p-128;
  const NumberLimits l = rows ? NumberLimits{-128, 127} : number_limits(o);
  const ValueEnds e = value_ends(o, rows, DType::f64);
  const auto number = [&](double v) { return o.number(v, DType::f64); };
  Value* scale = o.div(o.sub(e.hi, e.lo), l.hi - l.lo);
  scale = o.op(OpId::where, {o.op(OpId::greater, {scale, number(unusable)}), scale, number(of_nothing)});
  Value *low = o.div(e.lo, scale), *high = o.div(e.hi, scale);
  const auto loss = [&](double limit, Value* v) { return o.sub(number(std::fabs(limit)), o.op(OpId::abs, {v})); };
  Value* from_low = o.op(OpId::less, {loss(l.lo, low), loss(l.hi, high)});
  Value* zero = o.op(OpId::where, {from_low, o.sub(number(l.lo), low), o.sub(number(l.hi), high)});
  set_grid(o, o.op(OpId::maximum, {scale, number(least)}), o.op(OpId::round, {o.cast(between(o, zero, l), DType::f32)}));
}

// x as rows, with a scale and a zero point for each.
struct TokenRows {
  Value *x = nullptr, *scales = nullptr, *zeros = nullptr;
};
TokenRows token_rows(Op& o, DType zero_type) {
  Value* x = o.in("input");
  const int rank = rank_of(x);
  if (!o.b.ok()) return {};
  if (rank == 0 || !is_fixed(x, rank - 1) || dim_of(x, rank - 1) == 0) {
    o.refuse("expected rows of one known size that is not 0");
    return {};
  }
  return {o.reshape(x, {-1, dim_of(x, rank - 1)}), o.reshape(o.scalar("scales", DType::f32), {-1}),
          o.reshape(o.scalar("zero_points", zero_type), {-1})};
}

void import_quantize_per_token(Op& o) {
  const DType to = o.out_type();
  const TokenRows r = token_rows(o, to);
  ops::quantize::Attrs a;
  a.to = static_cast<uint32_t>(to);
  if (!o.b.ok()) return;
  Value* q = between(o, o.b.op(OpId::quantize, a, {r.x, r.scales, r.zeros}), number_limits(o));
  o.out(o.op(OpId::reshape, {q, o.shape_of(o.in("input"))}));
}

void import_dequantize_per_token(Op& o) {
  const TokenRows r = token_rows(o, dtype_of_value(o.in("input")));
  ops::dequantize::Attrs a;
  a.to = static_cast<uint32_t>(o.out_type());
  if (!o.b.ok()) return;
  o.out(o.op(OpId::reshape, {o.b.op(OpId::dequantize, a, {r.x, r.scales, r.zeros}), o.shape_of(o.in("input"))}));
}

// The numbers of packed rows (n, bytes) as (n, bytes, 8 / bits): of 4 bits the upper half of a byte goes first, of 2 bits the lowest.
Value* unpacked(Op& o, Value* rows, int bits) {
  std::vector<Value*> parts;
  for (int i = 0; i < 8 / bits; ++i) {
    const int shift = bits == 4 ? 4 - 4 * i : bits * i;
    Value* v = shift == 0 ? rows : o.op(OpId::shift_right, {rows, o.number(shift, rows)});
    v = o.op(OpId::bitwise_and, {v, o.number((1 << bits) - 1, rows)});
    parts.push_back(o.unsqueeze(v, {2}));
  }
  return o.concat(parts, 2);
}

template <int bits>
void import_packed_embedding(Op& o) {
  Value *weight = o.in("weight"), *indices = o.in("indices"), *scales = o.in("weight_scales");
  const int64_t width = int64_t{dim_of(weight, 1)} * (8 / bits), groups = rank_of(scales) == 2 ? dim_of(scales, 1) : 1;
  if (!o.b.ok()) return;
  if (rank_of(weight) != 2 || !is_fixed(weight, 1) || width == 0 || width > INT32_MAX || groups < 1 || width % groups != 0)
    return o.refuse("expected weights (rows, bytes) with a number of scales that divides " + std::to_string(width) + ", found " +
                    std::to_string(groups));
  Value* places = o.reshape(indices, {-1});
  Value* rows = o.gather(weight, places, 0);
  const auto grouped = [&](Value* v) { return o.reshape(o.cast(o.gather(v, places, 0), DType::f32), {-1, groups, 1}); };
  Value* x = o.cast(bits == 8 ? rows : unpacked(o, rows, bits), DType::f32);
  x = o.reshape(x, {-1, groups, width / groups});
  if (bits != 8) x = o.add(x, -static_cast<double>(1 << (bits - 1)));
  if (o.has("weight_zero_points")) x = o.sub(x, grouped(o.in("weight_zero_points")));
  x = o.cast(o.mul(x, grouped(scales)), o.out_type());
  o.out(o.op(OpId::reshape, {x, o.concat({o.shape_of(indices), o.ints({width})}, 0)}));
}

// In float between a dequantize and a quantize, as the kernel does it.
void import_quantized_add(Op& o) {
  const auto real = [&](const char* name, const std::string& word) {
    Value* x = o.in(name);
    Value *scale = o.scalar((word + "_scale").c_str(), DType::f32), *zero = o.scalar((word + "_zero_point").c_str(), dtype_of_value(x));
    return o.b.ok() ? o.b.op(OpId::dequantize, ops::dequantize::Attrs{}, {x, scale, zero}) : nullptr;
  };
  Value* sum = o.add(real("a", "a"), real("b", "b"));
  ops::quantize::Attrs a;
  a.to = static_cast<uint32_t>(o.out_type());
  Value *scale = o.scalar("out_scale", DType::f32), *zero = o.scalar("out_zero_point", o.out_type());
  const NumberLimits l{static_cast<double>(o.integer("out_quant_min", 0)), static_cast<double>(o.integer("out_quant_max", 0))};
  if (o.b.ok()) o.out(between(o, o.b.op(OpId::quantize, a, {sum, scale, zero}), l));
}

}  // namespace

void add_quant_kernel_ops(OpTable& t);
void add_quant_kernel_ops(OpTable& t) {
  constexpr DTypeMask kBytes = mask_of(DType::s8) | mask_of(DType::u8);
  // The overloads "Tensor_out" and "out" are ExecuTorch's kernels where these compute otherwise than PyTorch.
  add_lines(t, {
                   {"quantized_decomposed.choose_qparams", "tensor", &import_choose, kFloat},
                   {"quantized_decomposed.choose_qparams", "Tensor_out", &import_choose_kernel<false>, kFloat},
                   {"quantized_decomposed.choose_qparams_per_token_asymmetric", "default", &import_choose_per_token, kFloat},
                   {"quantized_decomposed.choose_qparams_per_token_asymmetric", "out", &import_choose_kernel<true>, kFloat},
                   {"quantized_decomposed._choose_qparams_per_token_asymmetric_impl", "default", &import_choose_per_token, kFloat},
                   {"quantized_decomposed.quantize_per_token", "default", &import_quantize_per_token, kFloat},
                   {"quantized_decomposed.dequantize_per_token", "default", &import_dequantize_per_token, kBytes},
                   {"quantized_decomposed.embedding_byte", "default dtype", &import_packed_embedding<8>, kBytes},
                   {"quantized_decomposed.embedding_4bit", "default dtype", &import_packed_embedding<4>, mask_of(DType::u8)},
                   {"quantized_decomposed.embedding_2bit", "default dtype", &import_packed_embedding<2>, mask_of(DType::u8)},
                   {"quantized_decomposed.add", "default", &import_quantized_add, kBytes},
               });
}

}  // namespace mote::frontends::torch
