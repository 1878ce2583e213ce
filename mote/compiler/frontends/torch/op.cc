#include "mote/compiler/frontends/torch/op.h"

#include <algorithm>

#include "mote/compiler/frontends/torch/import.h"
#include "mote/ops/expand/expand.h"
#include "mote/ops/reshape/reshape.h"

namespace mote::frontends::torch {
namespace {

// Sizes, places and counts beyond this mean "to the end"; products of two of them still fit 64 bits.
constexpr int64_t kMostNumber = int64_t{1} << 31;

int64_t clamped(int64_t v) { return std::clamp(v, -kMostNumber, kMostNumber); }

}  // namespace

const Item* Op::item(const char* name) const {
  const Arg* a = node.find(name);
  return a == nullptr || a->kind != Arg::Kind::kOne || a->items.empty() ? nullptr : &a->items[0];
}

bool Op::has(const char* name) const {
  const Arg* a = node.find(name);
  return a != nullptr && a->kind != Arg::Kind::kNone;
}

bool Op::is_number(const char* name) const {
  const Item* i = item(name);
  return i != nullptr && i->kind != Item::Kind::kTensor;
}

Value* Op::value_of(const Item& item) {
  using Kind = Item::Kind;
  switch (item.kind) {
    case Kind::kTensor:
    case Kind::kSymbol: return scope.find(item.text);
    case Kind::kInt: return b.graph().scalar<int64_t>(item.i);
    case Kind::kFloat: return b.graph().scalar<double>(item.f);
    case Kind::kBool: return number(static_cast<double>(item.i), DType::boolean);
    default: return nullptr;
  }
}

Value* Op::tensor(const char* name) {
  const Item* i = item(name);
  return i == nullptr ? nullptr : value_of(*i);
}

Value* Op::in(const char* name) {
  Value* v = tensor(name);
  if (v == nullptr) refuse(std::string("argument '") + name + "' is missing");
  return v;
}

Value* Op::operand(const char* name) { return in(name); }

std::vector<Value*> Op::tensors(const char* name) {
  std::vector<Value*> out;
  if (const Arg* a = node.find(name); a != nullptr)
    for (const Item& i : a->items) out.push_back(value_of(i));
  return out;
}

// A number, or a symbol that has one value only.
bool Op::known_item(const Item& item, int64_t* i, double* f, bool* is_float) {
  using Kind = Item::Kind;
  *is_float = item.kind == Kind::kFloat;
  *i = item.i;
  *f = item.kind == Kind::kFloat ? item.f : static_cast<double>(item.i);
  if (item.kind == Kind::kInt || item.kind == Kind::kBool || item.kind == Kind::kFloat) return true;
  const Value* v = item.kind == Kind::kSymbol || item.kind == Kind::kTensor ? scope.find(item.text) : nullptr;
  std::vector<int64_t> ints;
  std::vector<double> floats;
  if (v == nullptr) return false;
  if (ir::known_ints(*v, &ints) && ints.size() == 1) {
    *i = ints[0];
    *f = static_cast<double>(ints[0]);
    return true;
  }
  *is_float = true;
  if (!ir::known_floats(*v, &floats) || floats.size() != 1) return false;
  *f = floats[0];
  return true;
}

int64_t Op::integer(const char* name, int64_t otherwise) {
  const Item* it = item(name);
  if (it == nullptr) return otherwise;
  int64_t i = 0;
  double f = 0;
  bool is_float = false;
  if (!known_item(*it, &i, &f, &is_float)) refuse(std::string("'") + name + "' must be known before running");
  return clamped(is_float ? static_cast<int64_t>(std::clamp(f, -1e18, 1e18)) : i);
}

double Op::real(const char* name, double otherwise) {
  const Item* it = item(name);
  if (it == nullptr) return otherwise;
  int64_t i = 0;
  double f = 0;
  bool is_float = false;
  if (!known_item(*it, &i, &f, &is_float)) refuse(std::string("'") + name + "' must be known before running");
  return f;
}

bool Op::flag(const char* name, bool otherwise) { return integer(name, otherwise ? 1 : 0) != 0; }

std::string Op::text(const char* name, const std::string& otherwise) {
  const Item* it = item(name);
  return it == nullptr || it->kind != Item::Kind::kString ? otherwise : it->text;
}

std::vector<int64_t> Op::integers(const char* name, const std::vector<int64_t>& otherwise) {
  const Arg* a = node.find(name);
  if (a == nullptr || a->kind == Arg::Kind::kNone) return otherwise;
  std::vector<int64_t> out;
  for (const Item& it : a->items) {
    int64_t i = 0;
    double f = 0;
    bool is_float = false;
    if (!known_item(it, &i, &f, &is_float)) refuse(std::string("'") + name + "' must be known before running");
    out.push_back(clamped(i));
  }
  return out;
}

std::vector<double> Op::reals(const char* name) {
  const Arg* a = node.find(name);
  std::vector<double> out;
  if (a == nullptr) return out;
  for (const Item& it : a->items) {
    int64_t i = 0;
    double f = 0;
    bool is_float = false;
    if (!known_item(it, &i, &f, &is_float)) refuse(std::string("'") + name + "' must be known before running");
    out.push_back(f);
  }
  return out;
}

Size Op::item_size(const Item& item) {
  Size s;
  double f = 0;
  bool is_float = false;
  if (!known_item(item, &s.known, &f, &is_float)) s.running = cast(value_of(item), DType::s64);
  s.known = clamped(s.known);
  return s;
}

Size Op::size(const char* name, int64_t otherwise) {
  const Item* it = item(name);
  if (it == nullptr) return {otherwise, nullptr};
  return item_size(*it);
}

std::vector<Size> Op::sizes(const char* name) {
  const Arg* a = node.find(name);
  std::vector<Size> out;
  if (a == nullptr) return out;
  for (const Item& it : a->items) out.push_back(item_size(it));
  return out;
}

DType Op::dtype(const char* name, DType otherwise) const {
  const Item* it = item(name);
  return it == nullptr || it->kind != Item::Kind::kDType ? otherwise : static_cast<DType>(it->i);
}

Value* Op::scalar(const char* name, DType type) {
  const Item* it = item(name);
  if (it == nullptr) {
    refuse(std::string("argument '") + name + "' is missing");
    return nullptr;
  }
  if (it->kind == Item::Kind::kFloat) return number(it->f, type);
  if (it->kind == Item::Kind::kInt && type == DType::s64) return b.graph().scalar<int64_t>(it->i);
  if (it->kind == Item::Kind::kInt || it->kind == Item::Kind::kBool) return cast(b.graph().scalar<int64_t>(it->i), type);
  return cast(value_of(*it), type);
}

int Op::axis_of(int64_t axis, int rank) {
  const int64_t size = std::max(rank, 1), from_front = axis < 0 ? axis + size : axis;
  if (from_front >= 0 && from_front < size) return static_cast<int>(from_front);
  refuse("axis " + std::to_string(axis) + " does not exist in a tensor of rank " + std::to_string(rank));
  return 0;
}

int Op::axis(const char* name, int64_t otherwise, int rank) { return axis_of(integer(name, otherwise), rank); }

std::vector<int64_t> Op::axes(const char* name, int rank) {
  std::vector<int64_t> out;
  const Arg* a = node.find(name);
  if (a == nullptr || a->kind == Arg::Kind::kNone) return out;
  for (int64_t i : a->kind == Arg::Kind::kOne ? std::vector<int64_t>{integer(name, 0)} : integers(name)) out.push_back(axis_of(i, rank));
  return out;
}

const TensorMeta* Op::meta(size_t i) const { return i < node.outputs.size() ? scope.meta(node.outputs[i].text) : nullptr; }

DType Op::out_type(size_t i) const {
  const TensorMeta* m = meta(i);
  return m == nullptr ? DType::kNone : m->dtype;
}

int Op::out_rank(size_t i) const {
  const TensorMeta* m = meta(i);
  return m == nullptr ? 0 : static_cast<int>(m->sizes.size());
}

bool Op::wants(size_t i) const { return i < node.outputs.size() && scope.needs(node.outputs[i].text); }

void Op::out(size_t i, Value* value) {
  if (value == nullptr) return;
  if (outputs.size() <= i) outputs.resize(i + 1);
  outputs[i] = value;
}

void Op::refuse(const std::string& what, const std::string& with_advice) {
  if (b.ok()) advice = with_advice;
  b.fail(what);
}

// --- sizes ---

Value* Op::as_scalar(const Size& size) { return size.running != nullptr ? size.running : b.graph().scalar<int64_t>(size.known); }

Value* Op::shape_vector(const std::vector<Size>& sizes) {
  if (std::all_of(sizes.begin(), sizes.end(), [](const Size& s) { return s.running == nullptr; })) {
    std::vector<int64_t> known;
    for (const Size& s : sizes) known.push_back(s.known);
    return ints(known);
  }
  std::vector<Value*> parts;
  for (const Size& s : sizes) parts.push_back(s.running == nullptr ? ints({s.known}) : reshape(s.running, {1}));
  return concat(parts, 0);
}

Value* Op::reshape_to(Value* x, const std::vector<Size>& sizes) {
  std::vector<int64_t> dims;
  int open = 0;
  bool zero = false;
  for (const Size& s : sizes) {
    dims.push_back(s.running != nullptr ? -1 : s.known);
    open += dims.back() == -1 ? 1 : 0;
    zero = zero || dims.back() == 0;
  }
  if (open <= 1 && !(open == 1 && zero)) return reshape(x, dims);
  ops::reshape::Attrs a;
  a.allow_zero = 1;
  Value* shape = shape_vector(sizes);
  return b.ok() && x != nullptr ? b.op(OpId::reshape, a, {x, shape}) : nullptr;
}

Value* Op::expand_to(Value* x, const std::vector<Size>& sizes) {
  const bool known = std::all_of(sizes.begin(), sizes.end(), [](const Size& s) { return s.running == nullptr; });
  if (known) {
    std::vector<int64_t> dims;
    for (const Size& s : sizes) dims.push_back(s.known);
    return expand(x, dims);
  }
  // Minus one keeps the size, which expand calls 1.
  std::vector<Size> wanted = sizes;
  for (Size& s : wanted)
    if (s.running == nullptr && s.known == -1) s.known = 1;
  return op(OpId::expand, {x, shape_vector(wanted)});
}

Size Op::size_at(Value* x, int axis) {
  if (is_fixed(x, axis)) return {dims_of(x)[static_cast<size_t>(axis)], nullptr};
  return {0, reshape(size_of(x, axis), {})};
}

std::vector<Size> Op::sizes_of(Value* x) {
  std::vector<Size> out;
  for (int i = 0; i < rank_of(x); ++i) out.push_back(size_at(x, i));
  return out;
}

std::optional<ir::Type> Op::declared_type(const TensorMeta& meta) const { return importer.declared_type(meta); }

int32_t dim_of(const Value* v, int axis) { return axis >= 0 && axis < rank_of(v) ? dims_of(v)[static_cast<size_t>(axis)] : 0; }

// --- element types ---

bool is_float(DType t) { return (mask_of(t) & kFloat) != 0; }
bool is_integral(DType t) { return (mask_of(t) & kInt) != 0; }

DType promote_types(DType a, DType b) {
  if (a == b || b == DType::kNone) return a;
  if (a == DType::kNone || a == DType::boolean) return b;
  if (b == DType::boolean) return a;
  if (is_float(a) && is_float(b)) {
    if (dtype_bits(a) == dtype_bits(b)) return DType::f32;  // f16 and bf16
    return dtype_bits(a) > dtype_bits(b) ? a : b;
  }
  if (is_float(a)) return a;
  if (is_float(b)) return b;
  const auto is_unsigned = [](DType t) { return t == DType::u8 || t == DType::u16 || t == DType::u32 || t == DType::u64; };
  if (is_unsigned(a) == is_unsigned(b)) return dtype_bits(a) > dtype_bits(b) ? a : b;
  const DType u = is_unsigned(a) ? a : b, s = is_unsigned(a) ? b : a;
  if (dtype_bits(s) > dtype_bits(u)) return s;
  return u == DType::u8 ? DType::s16 : u == DType::u16 ? DType::s32 : DType::s64;
}

DType Op::promote(std::initializer_list<const char*> names) {
  DType dims = DType::kNone, zero = DType::kNone, numbers = DType::kNone;
  for (const char* name : names) {
    const Item* it = item(name);
    const Value* v = it == nullptr || it->kind == Item::Kind::kNone ? nullptr : value_of(*it);
    if (v == nullptr) continue;
    const DType t = v->type.dtype;
    if (it->kind != Item::Kind::kTensor) numbers = promote_types(numbers, is_float(t) ? DType::f32 : t);
    else if (v->type.rank() > 0) dims = promote_types(dims, t);
    else zero = promote_types(zero, t);
  }
  const auto join = [](DType higher, DType lower) {
    if (is_float(higher)) return higher;
    if (higher == DType::boolean || is_float(lower)) return promote_types(higher, lower);
    return higher != DType::kNone ? higher : lower;
  };
  return join(dims, join(zero, numbers));
}

}  // namespace mote::frontends::torch
