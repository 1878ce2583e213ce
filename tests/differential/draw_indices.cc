// Operators that move elements to where indices say, and what sorts or scans.

#include <algorithm>

#include "tests/differential/draw.h"

namespace mote::differential {
namespace {

using ::onnx::TensorProto;

const Value* any_value(Draw& d, int least_rank) {
  return d.any([=](const Value& v) { return v.rank() >= least_rank; });
}
Value take(Draw& d, const Value* p) { return p->type == d.real ? d.in(*p) : *p; }
size_t at(int i) { return static_cast<size_t>(i); }

bool gather(Draw& d) {
  const Value* p = any_value(d, 1);
  if (p == nullptr) return false;
  const Value x = take(d, p);
  const int a = static_cast<int>(d.c.below(static_cast<uint32_t>(x.rank()))), size = x.dim(a);
  if (x.open(a) || size == 0) return false;
  const Type index = d.c.chance(30) ? TensorProto::INT32 : TensorProto::INT64;
  const uint32_t rank = d.c.below(3);
  Dims of;
  for (uint32_t i = 0; i < rank; ++i) of.push_back(d.c.chance(5) ? 0 : d.c.between(1, 5));
  const auto shape = [&](size_t s) {
    Dims out = x.shapes[s];
    out.erase(out.begin() + a);
    out.insert(out.begin() + a, of.begin(), of.end());
    return out;
  };
  Value y;
  if (!d.node("Gather", {x.name, d.integers(index, of, -size, size - 1)}, x.type, x.most, shape, &y, [&](Node& n) { n.i("axis", a); }))
    return false;
  d.push(y, &x);
  return true;
}

bool gather_elements(Draw& d) {
  const Value* p = d.any([](const Value& v) { return v.rank() >= 1 && v.is_static() && count_of(v.dims()) > 0; });
  if (p == nullptr) return false;
  const Value x = take(d, p);
  const int a = static_cast<int>(d.c.below(static_cast<uint32_t>(x.rank()))), size = x.dim(a);
  Dims of = x.dims();
  if (d.c.chance(50)) of[at(a)] = d.c.between(1, 6);
  Value y;
  const auto shape = [&](size_t) { return of; };
  if (!d.node("GatherElements", {x.name, d.integers(TensorProto::INT64, of, -size, size - 1)}, x.type, x.most, shape, &y,
              [&](Node& n) { n.i("axis", a); }))
    return false;
  d.push(y, &x);
  return true;
}

bool gather_nd(Draw& d) {
  const Value* p = d.any([](const Value& v) { return v.rank() >= 1 && v.is_static() && count_of(v.dims()) > 0; });
  if (p == nullptr) return false;
  const Value x = take(d, p);
  const int depth = 1 + static_cast<int>(d.c.below(static_cast<uint32_t>(x.rank())));
  int least = x.dim(0);
  for (int i = 1; i < depth; ++i) least = std::min(least, x.dim(i));
  const int rows = d.c.between(1, 6);
  const auto shape = [&](size_t) {
    Dims out = {rows};
    out.insert(out.end(), x.dims().begin() + depth, x.dims().end());
    return out;
  };
  Value y;
  if (!d.node("GatherND", {x.name, d.integers(TensorProto::INT64, {rows, depth}, -least, least - 1)}, x.type, x.most, shape, &y))
    return false;
  d.push(y, &x);
  return true;
}

bool scatter(Draw& d) {
  const Value* p = d.any([&](const Value& v) { return v.type == d.real && v.rank() >= 1 && v.is_static() && count_of(v.dims()) > 0; });
  if (p == nullptr) return false;
  const Value x = d.in(*p);
  Value y;
  const auto same = [&](size_t s) { return x.shapes[s]; };
  const int a = static_cast<int>(d.c.below(static_cast<uint32_t>(x.rank())));
  // Every index once: the order of writing would count otherwise.
  Dims of = x.dims();
  if (d.c.chance(50)) {
    of[at(a)] = 1;
    const std::string indices = d.integers(TensorProto::INT64, of, 0, x.dim(a) - 1), updates = d.reals(of, 2);
    const bool add = d.c.chance(40);
    if (!d.node("ScatterElements", {x.name, indices, updates}, x.type, x.most + 2, same, &y, [&](Node& n) {
          n.i("axis", a);
          if (add) n.s("reduction", "add");
        }))
      return false;
  } else {
    const int row = static_cast<int>(d.c.below(static_cast<uint32_t>(x.dim(0))));
    Dims updates = {1};
    updates.insert(updates.end(), x.dims().begin() + 1, x.dims().end());
    if (!d.node("ScatterND", {x.name, d.integers(TensorProto::INT64, {1, 1}, row, row), d.reals(updates, 2)}, x.type, x.most + 2, same, &y))
      return false;
  }
  d.push(y, &x);
  return true;
}

bool sorted(Draw& d) {
  const Value* p = d.any([&](const Value& v) { return v.rank() >= 1 && v.type == d.real; });
  if (p == nullptr) return false;
  const Value x = d.in(*p);
  const int a = static_cast<int>(d.c.below(static_cast<uint32_t>(x.rank())));
  std::vector<Value> outs;
  const uint32_t kind = d.c.below(3);
  Value y;
  const auto same = [&](size_t s) { return x.shapes[s]; };
  if (kind == 0) {
    if (x.open(a) || x.dim(a) == 0) return false;
    const int k = 1 + static_cast<int>(d.c.below(static_cast<uint32_t>(x.dim(a))));
    const auto shape = [&](size_t s) {
      Dims out = x.shapes[s];
      out[at(a)] = k;
      return out;
    };
    if (!d.mixed_nodes("TopK", {x.name, d.int64s({k})}, {x.type, TensorProto::INT64}, x.most, {shape, shape}, &outs,
                       [&](Node& n) { n.i("axis", a).i("largest", d.c.chance(70) ? 1 : 0); }))
      return false;
    d.push(outs[1]);
    y = outs[0];
  } else if (kind == 1) {
    if (!d.node("CumSum", {x.name, d.int64_scalar(a)}, x.type, x.most * static_cast<float>(std::max(x.dim(a), 1)), same, &y,
                [&](Node& n) { n.i("exclusive", d.c.chance(30) ? 1 : 0).i("reverse", d.c.chance(30) ? 1 : 0); }))
      return false;
  } else {
    if (x.rank() < 2) return false;
    if (!d.node("Trilu", {x.name, d.int64_scalar(d.c.between(0, 2) - 1)}, x.type, x.most, same, &y,
                [&](Node& n) { n.i("upper", d.c.chance(50) ? 1 : 0); }))
      return false;
  }
  d.push(y);
  return true;
}

}  // namespace

const std::vector<Line>& index_lines();
const std::vector<Line>& index_lines() {
  static const std::vector<Line> lines = {{gather, 4}, {gather_elements, 2}, {gather_nd, 1}, {scatter, 3}, {sorted, 3}};
  return lines;
}

}  // namespace mote::differential
