// Tensors made from nothing.

#include <cmath>

#include "mote/compiler/frontends/torch/op.h"
#include "mote/ops/eye/eye.h"

namespace mote::frontends::torch {
namespace {

Value* filled(Op& o, Value* value, const std::vector<Size>& sizes) {
  return o.bounded(0, [&] { return o.op(OpId::fill, {value, o.shape_vector(sizes)}); });
}

void import_full(Op& o) { o.out(filled(o, o.scalar("fill_value", o.out_type()), o.sizes("size"))); }
void import_full_like(Op& o) { o.out(filled(o, o.scalar("fill_value", o.out_type()), o.sizes_of(o.in("self")))); }

template <int value>
void import_value(Op& o) {
  o.out(filled(o, o.number(value, o.out_type()), o.sizes("size")));
}
template <int value>
void import_value_like(Op& o) {
  o.out(filled(o, o.number(value, o.out_type()), o.sizes_of(o.in("self"))));
}

// In place of self: its sizes, another content.
void import_fill(Op& o) {
  Value* x = o.in("self");
  o.out(filled(o, o.scalar("value", dtype_of_value(x)), o.sizes_of(x)));
}

void import_zero(Op& o) {
  Value* x = o.in("self");
  o.out(filled(o, o.number(0, dtype_of_value(x)), o.sizes_of(x)));
}

void import_copy(Op& o) {
  Value* x = o.in("self");
  o.out(o.expand_to(o.cast(o.in("src"), dtype_of_value(x)), o.sizes_of(x)));
}

void import_scalar_tensor(Op& o) { o.out(o.scalar(o.has("s") ? "s" : "value", o.out_type())); }

// The number of elements follows from the numbers as torch computes it, in double.
void import_arange(Op& o) {
  const DType t = o.out_type();
  const bool known = [&] {
    for (const char* name : {"start", "end", "step"}) {
      Value* v = o.tensor(name);
      if (v != nullptr && ir::known_data(*v) == nullptr) return false;
    }
    return true;
  }();
  if (known) {
    // start + i * step, as torch has it; a running sum would drift. Of integers the count still follows from the numbers as given.
    const auto given = [&](const char* name, double otherwise) {
      return t == DType::s64 ? std::trunc(o.real(name, otherwise)) : o.real(name, otherwise);
    };
    const double start = given("start", 0), end = given("end", 0), step = given("step", 1);
    const double count = step == 0 ? -1 : std::ceil((end - start) / step);
    if (!(count >= 0 && count < (1 << 28))) return o.refuse("the range has no or too many elements");
    Value* i = o.op(OpId::range, {o.number(0, DType::s64), o.number(count, DType::s64), o.number(1, DType::s64)});
    if (!is_float(t)) return o.out(o.cast(o.add(o.mul(i, std::trunc(step)), std::trunc(start)), t));
    return o.out(o.cast(o.add(o.mul(o.cast(i, DType::f64), step), start), t));
  }
  const DType counted = !is_float(t) ? DType::s64 : t == DType::f64 ? t : DType::f32;
  Value* start = o.has("start") ? o.scalar("start", counted) : o.number(0, counted);
  Value* step = o.has("step") ? o.scalar("step", counted) : o.number(1, counted);
  Value* end = o.scalar("end", counted);
  o.out(o.cast(o.bounded(0, [&] { return o.op(OpId::range, {start, end, step}); }), t));
}

void import_linspace(Op& o) {
  const DType t = o.out_type(), wide = DType::f64;
  const int64_t n = o.integer("steps", 0);
  if (n < 0 || n > (1 << 28)) return o.refuse("'steps' is out of range");
  Value *start = o.scalar("start", wide), *end = o.scalar("end", wide);
  Value* i =
      o.cast(o.op(OpId::range, {o.number(0, DType::s64), o.number(static_cast<double>(n), DType::s64), o.number(1, DType::s64)}), wide);
  Value* step = n > 1 ? o.div(o.sub(end, start), static_cast<double>(n - 1)) : o.number(0, wide);
  // From both ends to the middle, so that the last element is the end.
  Value* from_end = o.sub(end, o.mul(o.sub(o.number(static_cast<double>(n - 1), wide), i), step));
  Value* first_half = o.op(OpId::less, {i, o.number(static_cast<double>(std::max<int64_t>(n / 2, 1)), wide)});
  o.out(o.cast(o.op(OpId::where, {first_half, o.add(start, o.mul(i, step)), from_end}), t));
}

void import_eye(Op& o) {
  ops::eye::Attrs a;
  a.rows = static_cast<int32_t>(std::min<int64_t>(std::max<int64_t>(o.integer("n", 0), 0), INT32_MAX));
  a.cols = o.has("m") ? static_cast<int32_t>(std::min<int64_t>(std::max<int64_t>(o.integer("m", 0), 0), INT32_MAX)) : a.rows;
  a.dtype = static_cast<int32_t>(o.out_type());
  if (o.b.ok()) o.out(o.b.op(OpId::eye, a, {}));
}

// Rows and columns of a triangle of a matrix, known now.
template <bool lower>
void import_triangle_indices(Op& o) {
  const int64_t rows = o.integer("row", 0), cols = o.integer("col", 0), k = o.integer("offset", 0);
  if (rows < 0 || cols < 0 || rows * cols > kMostPlaces) return o.refuse("the matrix is too large");
  std::vector<int64_t> r, c;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < cols; ++j)
      if (lower ? j - i <= k : j - i >= k) r.push_back(i), c.push_back(j);
  const int64_t n = static_cast<int64_t>(r.size());
  r.insert(r.end(), c.begin(), c.end());
  o.out(o.cast(o.reshape(o.ints(r), {2, n}), o.out_type()));
}

}  // namespace

void add_create_ops(OpTable& t);
void add_create_ops(OpTable& t) {
  constexpr const char* kRandom = "random numbers";
  add_lines(t, {
                   {"aten.full", "default", &import_full},
                   {"aten.full_like", "default", &import_full_like},
                   {"aten.new_full", "default", &import_full},
                   {"aten.zeros", "default", &import_value<0>},
                   {"aten.zeros_like", "default", &import_value_like<0>},
                   {"aten.new_zeros", "default", &import_value<0>},
                   {"aten.ones", "default", &import_value<1>},
                   {"aten.ones_like", "default", &import_value_like<1>},
                   {"aten.new_ones", "default", &import_value<1>},
                   {"aten.empty", "memory_format", &import_value<0>, kAny, "filled with zeros"},
                   {"aten.empty_permuted", "default", &import_value<0>, kAny, "filled with zeros"},
                   {"aten.empty_strided", "default", &import_value<0>, kAny, "filled with zeros"},
                   {"aten.empty_like", "default", &import_value_like<0>, kAny, "filled with zeros"},
                   {"aten.new_empty", "default", &import_value<0>, kAny, "filled with zeros"},
                   {"aten.new_empty_strided", "default", &import_value<0>, kAny, "filled with zeros"},
                   {"aten.fill", "Scalar Tensor", &import_fill},
                   {"aten.zero", "default", &import_zero},
                   {"aten.copy", "default", &import_copy},
                   {"aten.scalar_tensor", "default", &import_scalar_tensor},
                   {"aten.arange", "default start start_step", &import_arange, kReal},
                   {"aten.linspace", "default", &import_linspace, kReal},
                   {"aten.eye", "default m", &import_eye},
                   {"aten.tril_indices", "default", &import_triangle_indices<true>, kInt},
                   {"aten.triu_indices", "default", &import_triangle_indices<false>, kInt},
                   {"aten.rand", "default", nullptr, 0, kRandom},
                   {"aten.rand_like", "default", nullptr, 0, kRandom},
                   {"aten.randn", "default", nullptr, 0, kRandom},
                   {"aten.randn_like", "default", nullptr, 0, kRandom},
                   {"aten.randint", "default low", nullptr, 0, kRandom},
                   {"aten.randperm", "default", nullptr, 0, kRandom},
                   {"aten.bernoulli", "default p", nullptr, 0, kRandom},
                   {"aten.multinomial", "default", nullptr, 0, kRandom},
               });
}

}  // namespace mote::frontends::torch
