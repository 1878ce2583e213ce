// Numbers that depend on sizes: scalars of s64, f64 and bool. What is known of sizes is known of them too.

#include "mote/compiler/frontends/torch/op.h"
#include "mote/ops/div/div.h"

namespace mote::frontends::torch {
namespace {

void import_sym_size(Op& o) {
  Value* x = o.in("self");
  const int axis = o.axis("dim", 0, rank_of(x));
  o.out(o.as_scalar(o.size_at(x, axis)));
}

void import_sym_numel(Op& o) {
  Value* x = o.in("self");
  Size n{1, nullptr};
  for (const Size& s : o.sizes_of(x)) {
    if (n.running == nullptr && s.running == nullptr) n.known *= s.known;
    else n.running = o.mul(o.as_scalar(n), o.as_scalar(s));
  }
  o.out(o.as_scalar(n));
}

// Dense tensors only: strides follow from the sizes.
void import_sym_stride(Op& o) {
  Value* x = o.in("self");
  const int axis = o.axis("dim", 0, rank_of(x));
  Size n{1, nullptr};
  const std::vector<Size> sizes = o.sizes_of(x);
  for (size_t i = static_cast<size_t>(axis) + 1; i < sizes.size(); ++i) {
    if (n.running == nullptr && sizes[i].running == nullptr) n.known *= sizes[i].known;
    else n.running = o.mul(o.as_scalar(n), o.as_scalar(sizes[i]));
  }
  o.out(o.as_scalar(n));
}

void import_zero_offset(Op& o) { o.out(o.number(0, DType::s64)); }
void import_true(Op& o) { o.out(o.number(1, DType::boolean)); }
void import_nothing(Op&) {}

DType common_type(const Value* a, const Value* b) { return promote_types(dtype_of_value(a), dtype_of_value(b)); }

template <OpId id>
void import_binary(Op& o) {
  Value *a = o.in("a"), *b = o.in("b");
  DType t = common_type(a, b);
  if (t == DType::boolean) t = DType::s64;
  o.out(o.op(id, {o.cast(a, t), o.cast(b, t)}));
}

void import_true_div(Op& o) { o.out(o.div(o.cast(o.in("a"), DType::f64), o.cast(o.in("b"), DType::f64))); }

template <OpId id>
void import_logic(Op& o) {
  o.out(o.op(id, {o.cast(o.in("a"), DType::boolean), o.cast(o.in("b"), DType::boolean)}));
}

void import_symbol_neg(Op& o) { o.out(o.op(OpId::neg, {o.in("a")})); }
void import_not(Op& o) { o.out(o.op(OpId::logical_not, {o.cast(o.in("a"), DType::boolean)})); }

template <DType to>
void import_convert(Op& o) {
  o.out(o.cast(o.in("a"), to));
}

template <OpId id>
void import_to_int(Op& o) {
  Value* a = o.in("a");
  o.out(is_float(dtype_of_value(a)) ? o.cast(o.op(id, {a}), DType::s64) : a);
}

void import_float_function(Op& o) { o.out(o.sqrt(o.cast(o.in("a"), DType::f64))); }

void import_ite(Op& o) {
  Value *c = o.in("a"), *x = o.in("b"), *y = o.in("c");
  const DType t = common_type(x, y);
  o.out(o.op(OpId::where, {o.cast(c, DType::boolean), o.cast(x, t), o.cast(y, t)}));
}

// A number out of a tensor of one element.
void import_item(Op& o) {
  Value* x = o.in("self");
  const DType t = dtype_of_value(x);
  o.out(o.cast(o.reshape(x, {}), is_float(t) ? DType::f64 : t == DType::boolean ? DType::boolean : DType::s64));
}

}  // namespace

void add_symbol_ops(OpTable& t);
void add_symbol_ops(OpTable& t) {
  constexpr DTypeMask kNumbers = mask_of(DType::s64) | mask_of(DType::f64) | kBool;
  add_lines(t, {
                   {"aten.sym_size", "int", &import_sym_size},
                   {"aten.sym_numel", "default", &import_sym_numel},
                   {"aten.sym_stride", "int", &import_sym_stride},
                   {"aten.sym_storage_offset", "default", &import_zero_offset},
                   {"aten.sym_is_contiguous", "default", &import_true},
                   {"aten._local_scalar_dense", "default", &import_item},
                   {"aten.item", "default", &import_item},
                   {"aten._assert_scalar", "default", &import_nothing, kAny, "dropped"},
                   {"aten._assert_async", "default msg", &import_nothing, kAny, "dropped"},
                   {"aten._assert_tensor_metadata", "default", &import_nothing, kAny, "dropped"},
                   {"aten.sym_constrain_range", "default", &import_nothing, kAny, "dropped"},
                   {"aten.sym_constrain_range_for_size", "default", &import_nothing, kAny, "dropped"},
                   {"_operator.add", "", &import_binary<OpId::add>, kNumbers},
                   {"_operator.sub", "", &import_binary<OpId::sub>, kNumbers},
                   {"_operator.mul", "", &import_binary<OpId::mul>, kNumbers},
                   {"_operator.floordiv", "", &import_binary<OpId::floor_div>, kNumbers},
                   {"_operator.mod", "", &import_binary<OpId::mod>, kNumbers},
                   {"_operator.pow", "", &import_binary<OpId::pow>, kNumbers},
                   {"_operator.truediv", "", &import_true_div, kNumbers},
                   {"_operator.neg", "", &import_symbol_neg, kNumbers},
                   {"_operator.eq", "", &import_binary<OpId::equal>, kNumbers},
                   {"_operator.ne", "", &import_binary<OpId::not_equal>, kNumbers},
                   {"_operator.lt", "", &import_binary<OpId::less>, kNumbers},
                   {"_operator.le", "", &import_binary<OpId::less_equal>, kNumbers},
                   {"_operator.gt", "", &import_binary<OpId::greater>, kNumbers},
                   {"_operator.ge", "", &import_binary<OpId::greater_equal>, kNumbers},
                   {"_operator.and_", "", &import_logic<OpId::logical_and>, kNumbers},
                   {"_operator.or_", "", &import_logic<OpId::logical_or>, kNumbers},
                   {"_operator.not_", "", &import_not, kNumbers},
                   {"math.ceil", "", &import_to_int<OpId::ceil>, kNumbers},
                   {"math.floor", "", &import_to_int<OpId::floor>, kNumbers},
                   {"math.trunc", "", &import_to_int<OpId::trunc>, kNumbers},
                   {"builtins.round", "", &import_to_int<OpId::round>, kNumbers},
                   {"torch.sym_int", "", &import_to_int<OpId::trunc>, kNumbers},
                   {"torch.sym_float", "", &import_convert<DType::f64>, kNumbers},
                   {"torch.sym_not", "", &import_not, kNumbers},
                   {"torch.sym_max", "", &import_binary<OpId::maximum>, kNumbers},
                   {"torch.sym_min", "", &import_binary<OpId::minimum>, kNumbers},
                   {"torch.sym_ite", "", &import_ite, kNumbers},
                   {"torch.sym_sqrt", "", &import_float_function, kNumbers},
                   {"torch._sym_sqrt", "", &import_float_function, kNumbers},
               });
}

}  // namespace mote::frontends::torch
