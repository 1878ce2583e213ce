#include <algorithm>

#include "mote/compiler/frontends/common/einsum.h"
#include "mote/compiler/frontends/onnx/quant_stage.h"
#include "mote/ops/q_matmul/q_matmul.h"

namespace mote::frontends::onnx {
namespace {

// Vectors become matrices with one row or column, and the result loses that dimension again.
struct Matrices {
  Value *a, *b;
  bool row, column;  // a was, b was a vector

  Matrices(Decompose& d, Value* x, Value* y) : row(rank_of(x) == 1), column(rank_of(y) == 1) {
    a = row ? d.unsqueeze(x, {0}) : x;
    b = column ? d.unsqueeze(y, {1}) : y;
  }
  Value* finish(Decompose& d, Value* y) const {
    if (column) y = d.squeeze(y, {-1});
    return row ? d.squeeze(y, {column ? -1 : -2}) : y;
  }
};

Value* swap_last_two(Decompose& d, Value* x) {
  std::vector<int> perm;
  for (int i = 0; i < rank_of(x); ++i) perm.push_back(i);
  if (perm.size() > 1) std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return d.transpose(x, perm);
}

void import_matmul(NodeContext& c) {
  Decompose d(c);
  const Matrices m(d, c.in(0), c.in(1));
  // Narrow integers have no product of their own; they are widened and the result is cut again, which is the same modulo 2^n.
  const DType dtype = dtype_of_value(m.a);
  const bool narrow = dtype_bits(dtype) < 32 && (mask_of(dtype) & kInt) != 0;
  Value* y = narrow ? d.cast(d.matmul(d.cast(m.a, DType::s32), d.cast(m.b, DType::s32)), dtype) : d.matmul(m.a, m.b);
  c.out(0, m.finish(d, y));
}

void import_gemm(NodeContext& c) {
  Decompose d(c);
  const float alpha = c.attr_float("alpha", 1), beta = c.attr_float("beta", 1);
  const bool integer = (mask_of(dtype_of_value(c.in(0))) & kInt) != 0;
  Value* bias = c.in(2) != nullptr && beta != 0 ? d.mul(c.in(2), static_cast<double>(beta)) : nullptr;
  const bool ta = c.attr_int("transA", 0) != 0, tb = c.attr_int("transB", 0) != 0;
  if (integer && alpha != 1) {
    Value* y = d.mul(d.matmul(c.in(0), c.in(1), ta, tb), static_cast<double>(alpha));
    return c.out(0, bias != nullptr ? d.add(y, bias) : y);
  }
  c.out(0, d.matmul(c.in(0), c.in(1), ta, tb, alpha, bias));
}

// Zero points that q_matmul takes: one, or one per row of x (column of w) when x (w) is a matrix.
bool fits_stage(const Value* zero, const Value* matrix, int64_t count) {
  if (zero == nullptr || (zero->type.count() == 1 && rank_of(zero) <= 1)) return true;
  return rank_of(zero) == 1 && rank_of(matrix) == 2 && dims_of(zero)[0] == count;
}

bool is_byte(const Value* v) { return dtype_of_value(v) == DType::s8 || dtype_of_value(v) == DType::u8; }

// x - zero, as s32; a vector of zero points runs along `axis`.
Value* centred(Decompose& d, Value* x, Value* zero, bool per_row) {
  x = d.cast(x, DType::s32);
  if (zero == nullptr) return x;
  zero = d.cast(zero, DType::s32);
  if (per_row && rank_of(zero) == 1 && rank_of(x) > 1) zero = d.unsqueeze(zero, {1});
  return d.sub(x, zero);
}

// The integer product, s32 or, with y_scale, quantized again.
Value* integer_product(Decompose& d, QuantOperands q) {
  const int64_t rows = rank_of(q.x) < 2 ? 0 : dims_of(q.x)[static_cast<size_t>(rank_of(q.x)) - 2];
  const int64_t columns = rank_of(q.w) < 2 ? 0 : dims_of(q.w).back();
  const bool one_scale = q.y_scale == nullptr || (q.x_scale->type.count() == 1 && q.y_scale->type.count() == 1 && rank_of(q.w_scale) <= 1);
  if (is_byte(q.x) && is_byte(q.w) && fits_stage(q.x_zero, q.x, rows) && fits_stage(q.w_zero, q.w, columns) && one_scale) {
    q.w = swap_last_two(d, q.w);
    return d.b.ok() ? quant_product(d, OpId::q_matmul, ops::q_matmul::Attrs{}, q) : nullptr;
  }
  Value* sums = d.matmul(centred(d, q.x, q.x_zero, true), centred(d, q.w, q.w_zero, false));
  if (q.y_scale == nullptr) return sums;
  const auto real = [&](Value* v) { return d.cast(v, DType::f32); };
  Value* x_scale = real(q.x_scale);
  if (rank_of(x_scale) == 1 && x_scale->type.count() > 1) x_scale = d.unsqueeze(x_scale, {1});
  Value *multiplier = d.div(d.mul(x_scale, real(q.w_scale)), real(q.y_scale)), *y_zero = q.y_zero;
  if (!d.b.ok()) return nullptr;
  if (q.y_scale->type.count() == 1 && (y_zero == nullptr || y_zero->type.count() == 1))
    return quantize_with(d, d.mul(real(sums), multiplier), y_zero, y_zero != nullptr ? dtype_of_value(y_zero) : DType::u8);
  d.c.fail("y_scale and y_zero_point: expected one each, found " + std::to_string(q.y_scale->type.count()) + " scales");
  return nullptr;
}

void import_matmul_integer(NodeContext& c) {
  Decompose d(c);
  const Matrices m(d, c.in(0), c.in(1));
  QuantOperands q;
  q.x = m.a;
  q.w = m.b;
  q.x_zero = c.in(2);
  q.w_zero = c.in(3);
  if (c.b.ok()) c.out(0, m.finish(d, integer_product(d, q)));
}

void import_qlinear_matmul(NodeContext& c) {
  Decompose d(c);
  const Matrices m(d, c.in(0), c.in(3));
  const QuantOperands q{m.a, c.in(1), c.in(2), m.b, c.in(4), c.in(5), c.in(6), c.in(7), nullptr};
  if (c.b.ok()) c.out(0, m.finish(d, integer_product(d, q)));
}

void import_einsum(NodeContext& c) {
  Decompose d(c);
  for (Value* v : c.inputs)
    if (v == nullptr) return c.fail("every operand must be there");
  c.out(0, einsum(d, c.attr_string("equation", ""), c.inputs));
}

}  // namespace

void add_matmul_ops(OpTable& t);
void add_matmul_ops(OpTable& t) {
  t["MatMul"] = {{"MatMul", &import_matmul, 1, 2}};
  t["Gemm"] = {{"Gemm", &import_gemm, 1, 2}};
  t["MatMulInteger"] = {{"MatMulInteger", &import_matmul_integer, 10, 2}};
  t["QLinearMatMul"] = {{"QLinearMatMul", &import_qlinear_matmul, 10, 8}};
  t["Einsum"] = {{"Einsum", &import_einsum, 12}};
}

}  // namespace mote::frontends::onnx
