// Operators that move elements: transposes, slices, joins, gathers, and what sorts.

#include <algorithm>
#include <numeric>

#include "tests/differential/draw.h"

namespace mote::differential {
namespace {

using ::onnx::TensorProto;

const Value* any_value(Draw& d, int least_rank) {
  return d.any([=](const Value& v) { return v.rank() >= least_rank; });
}
Value take(Draw& d, const Value* p) { return p->type == d.real ? d.in(*p) : *p; }
size_t at(int i) { return static_cast<size_t>(i); }

bool transpose(Draw& d) {
  const Value* p = any_value(d, 2);
  if (p == nullptr) return false;
  const Value x = take(d, p);
  std::vector<int64_t> perm(at(x.rank()));
  std::iota(perm.begin(), perm.end(), 0);
  for (size_t i = perm.size() - 1; i > 0; --i) std::swap(perm[i], perm[i - d.c.below(static_cast<uint32_t>(i + 1))]);
  Value y;
  const auto shape = [&](size_t s) {
    Dims out;
    for (const int64_t a : perm) out.push_back(x.shapes[s][static_cast<size_t>(a)]);
    return out;
  };
  if (!d.node("Transpose", {x.name}, x.type, x.most, shape, &y, [&](Node& n) { n.ints("perm", perm); })) return false;
  d.push(y, &x);
  return true;
}

// Joins a run of axes into one, or takes a factor out of one: with 0 and -1 as exporters write them.
bool reshape(Draw& d) {
  const Value* p = any_value(d, 1);
  if (p == nullptr) return false;
  const Value x = take(d, p);
  Value y;
  for (int i = 0; i < x.rank(); ++i)
    if (!x.open(i) && x.dim(i) == 0) return false;  // a size of 0 would stand for the one of the input
  const int a = static_cast<int>(d.c.below(static_cast<uint32_t>(x.rank())));
  if (d.c.chance(50)) {
    const int b = a + static_cast<int>(d.c.below(static_cast<uint32_t>(x.rank() - a)));
    int holes = 0;
    std::vector<int64_t> to;
    for (int i = 0; i < x.rank(); ++i) {
      if (i > a && i <= b) continue;
      const bool joined = i == a && b > a, hole = joined || x.open(i);
      // Sizes of 0 leave -1 without a meaning.
      to.push_back(joined ? -1 : i <= a && x.open(i) ? 0 : x.dim(i));
      holes += hole && !(i <= a && !joined && x.open(i)) ? 1 : 0;
      if (hole && !joined && i > a) to.back() = -1;
    }
    if (holes > 1) return false;
    const auto shape = [&](size_t s) {
      Dims out;
      for (int i = 0; i < x.rank(); ++i) {
        if (i > a && i <= b) out.back() *= x.shapes[s][at(i)];
        else out.push_back(x.shapes[s][at(i)]);
      }
      // The other sizes must not be 0 where one is computed from them.
      for (size_t i = 0; i < out.size(); ++i)
        if (out[i] == 0 && holes > 0 && to[i] != -1) return kIllegal;
      return out;
    };
    if (!d.node("Reshape", {x.name, d.int64s(to)}, x.type, x.most, shape, &y)) return false;
  } else {
    if (x.open(a) || x.dim(a) < 2) return false;
    std::vector<int> factors;
    for (int f = 1; f <= x.dim(a); ++f)
      if (x.dim(a) % f == 0) factors.push_back(f);
    const int f = d.c.of(factors);
    std::vector<int64_t> to;
    int open = 0;
    for (int i = 0; i < x.rank(); ++i) {
      if (i == a) to.push_back(f), to.push_back(x.dim(a) / f);
      else if (!x.open(i)) to.push_back(x.dim(i));
      else if (i < a) to.push_back(0);
      else to.push_back(-1), ++open;
    }
    if (open > 1) return false;
    const auto shape = [&](size_t s) {
      Dims out = x.shapes[s];
      out[at(a)] = f;
      out.insert(out.begin() + a + 1, x.dim(a) / f);
      for (size_t i = 0; i < out.size(); ++i)
        if (out[i] == 0 && open > 0 && to[i] != -1) return kIllegal;
      return out;
    };
    if (!d.node("Reshape", {x.name, d.int64s(to)}, x.type, x.most, shape, &y)) return false;
  }
  d.push(y, &x);
  return true;
}

bool axes(Draw& d) {
  const Value* p = any_value(d, 0);
  const Value x = take(d, p);
  Value y;
  if (d.c.chance(50) || x.rank() == 0) {
    const int a = static_cast<int>(d.c.below(static_cast<uint32_t>(x.rank() + 1)));
    const auto shape = [&](size_t s) {
      Dims out = x.shapes[s];
      out.insert(out.begin() + a, 1);
      return out;
    };
    if (!d.node("Unsqueeze", {x.name, d.int64s({a})}, x.type, x.most, shape, &y)) return false;
  } else if (d.c.chance(40)) {
    const int a = static_cast<int>(d.c.below(static_cast<uint32_t>(x.rank() + 1)));
    const auto shape = [&](size_t s) {
      Dims out = {1, 1};
      for (int i = 0; i < x.rank(); ++i) out[i < a ? 0 : 1] *= x.shapes[s][at(i)];
      return out;
    };
    if (!d.node("Flatten", {x.name}, x.type, x.most, shape, &y, [&](Node& n) { n.i("axis", a); })) return false;
  } else {
    int a = -1;
    for (int i = 0; i < x.rank(); ++i)
      if (!x.open(i) && x.dim(i) == 1) a = i;
    if (a < 0) return false;
    const auto shape = [&](size_t s) {
      Dims out = x.shapes[s];
      out.erase(out.begin() + a);
      return out;
    };
    if (!d.node("Squeeze", {x.name, d.int64s({a})}, x.type, x.most, shape, &y)) return false;
  }
  d.push(y, &x);
  return true;
}

// [begin, end) by step, with ends beyond the bounds and from behind. Fills in the resulting sizes.
bool slice_of(Draw& d, const Value& x, int a, Value* y) {
  const int size = x.dim(a);
  int64_t step = d.c.chance(30) ? d.c.of({2, 3, -1, -2}) : 1;
  int64_t begin = static_cast<int64_t>(d.c.below(static_cast<uint32_t>(std::max(size, 1)))),
          end = begin + 1 + static_cast<int64_t>(d.c.below(static_cast<uint32_t>(std::max(size, 1))));
  if (d.c.chance(20)) end = INT64_MAX;
  if (d.c.chance(20)) begin -= size, end = end >= size ? INT64_MAX : end - size;
  if (step < 0) {
    begin = d.c.chance(50) ? -1 : size - 1;
    end = d.c.chance(50) ? INT64_MIN : -1 - static_cast<int64_t>(d.c.below(static_cast<uint32_t>(size + 1)));
  }
  const auto shape = [&](size_t s) {
    Dims out = x.shapes[s];
    const int64_t n = out[at(a)];
    int64_t b = begin, e = end;
    if (b < 0) b += n;
    if (e < 0 && e != INT64_MIN) e += n;
    b = std::clamp<int64_t>(b, 0, step > 0 ? n : n - 1);
    e = std::clamp<int64_t>(e, step > 0 ? 0 : -1, n);
    if (n == 0) b = e = 0;
    const int64_t count = step > 0 ? (e - b + step - 1) / step : (b - e - step - 1) / -step;
    out[at(a)] = static_cast<int>(std::max<int64_t>(count, 0));
    return out;
  };
  return d.node("Slice", {x.name, d.int64s({begin}), d.int64s({end}), d.int64s({a}), d.int64s({step})}, x.type, x.most, shape, y);
}

bool slice(Draw& d) {
  const Value* p = any_value(d, 1);
  if (p == nullptr) return false;
  const Value x = take(d, p);
  Value y;
  if (!slice_of(d, x, static_cast<int>(d.c.below(static_cast<uint32_t>(x.rank()))), &y)) return false;
  d.push(y, &x);
  return true;
}

bool concat(Draw& d) {
  const Value* p = any_value(d, 1);
  if (p == nullptr) return false;
  const Value x = take(d, p);
  const int a = static_cast<int>(d.c.below(static_cast<uint32_t>(x.rank())));
  std::vector<Value> parts = {x};
  for (uint32_t i = 0, n = 1 + d.c.below(2); i < n; ++i) {
    const uint32_t kind = d.c.below(4);
    Value z = x;
    if (kind == 0) {
      const Value* q = d.any([&](const Value& v) {
        if (v.type != x.type || v.rank() != x.rank()) return false;
        for (size_t s = 0; s < d.samples(); ++s)
          for (int k = 0; k < x.rank(); ++k)
            if (k != a && v.shapes[s][at(k)] != x.shapes[s][at(k)]) return false;
        return true;
      });
      if (q != nullptr) z = take(d, q);
    } else if (kind == 1) {
      if (!slice_of(d, x, a, &z)) z = x;
    } else if (kind == 2 && x.is_static() && x.type == d.real) {
      z.name = d.reals(x.dims(), x.most);
      z.scale.clear();
      z = d.in(z);
    }
    parts.insert(d.c.chance(50) ? parts.begin() : parts.end(), z);
  }
  const auto shape = [&](size_t s) {
    Dims out = parts[0].shapes[s];
    for (size_t i = 1; i < parts.size(); ++i) out[at(a)] += parts[i].shapes[s][at(a)];
    return out;
  };
  std::vector<std::string> names;
  float most = 0;
  for (const Value& v : parts) names.push_back(v.name), most = std::max(most, v.most);
  Value y;
  if (!d.node("Concat", names, x.type, most, shape, &y, [&](Node& n) { n.i("axis", d.c.chance(30) ? a - x.rank() : a); })) return false;
  d.push(y, &x);
  return true;
}

bool split(Draw& d) {
  const Value* p = any_value(d, 1);
  if (p == nullptr) return false;
  const Value x = take(d, p);
  const int a = static_cast<int>(d.c.below(static_cast<uint32_t>(x.rank())));
  const int parts = 2 + static_cast<int>(d.c.below(2));
  std::vector<ShapeFn> shapes;
  std::vector<Value> outs;
  if (x.open(a) || d.c.chance(40)) {  // equal parts, the last one smaller
    if (x.dim(a) < parts) return false;
    for (int i = 0; i < parts; ++i)
      shapes.push_back([&x, a, i, parts](size_t s) {
        Dims out = x.shapes[s];
        const int n = out[at(a)], each = (n + parts - 1) / parts, left = n - each * (parts - 1);
        if (left < 1) return kIllegal;
        out[at(a)] = i + 1 == parts ? left : each;
        return out;
      });
    if (!d.nodes("Split", {x.name}, x.type, x.most, shapes, &outs, [&](Node& n) { n.i("axis", a).i("num_outputs", parts); })) return false;
  } else {
    std::vector<int64_t> sizes;
    int left = x.dim(a);
    for (int i = 0; i + 1 < parts; ++i) {
      sizes.push_back(static_cast<int64_t>(d.c.below(static_cast<uint32_t>(left + 1))));
      left -= static_cast<int>(sizes.back());
    }
    sizes.push_back(left);
    for (const int64_t n : sizes)
      shapes.push_back([&x, a, n](size_t s) {
        Dims out = x.shapes[s];
        out[at(a)] = static_cast<int>(n);
        return out;
      });
    if (!d.nodes("Split", {x.name, d.int64s(sizes)}, x.type, x.most, shapes, &outs, [&](Node& n) { n.i("axis", a); })) return false;
  }
  for (const Value& v : outs) d.push(v, &x);
  return true;
}

bool pad(Draw& d) {
  const Value* p = any_value(d, 1);
  if (p == nullptr || (p->type != d.real && p->type != TensorProto::INT32 && p->type != TensorProto::INT64)) return false;
  const Value x = take(d, p);
  static const char* const modes[] = {"constant", "constant", "reflect", "edge", "wrap"};
  const std::string mode = d.c.of(modes);
  std::vector<int64_t> before(at(x.rank()), 0), after = before;
  for (int i = std::max(0, x.rank() - 2); i < x.rank(); ++i) {
    before[at(i)] = d.c.of({0, 1, 2, 3});
    after[at(i)] = d.c.of({0, 1, 2});
    if (mode == "constant" && d.c.chance(15)) before[at(i)] = -1;
  }
  std::vector<int64_t> pads = before;
  pads.insert(pads.end(), after.begin(), after.end());
  const auto shape = [&](size_t s) {
    Dims out = x.shapes[s];
    for (size_t i = 0; i < out.size(); ++i) {
      const int64_t n = out[i];
      const bool padded = before[i] != 0 || after[i] != 0;
      if (n + std::min<int64_t>(before[i], 0) < 0) return kIllegal;
      if (padded && mode == "reflect" && (before[i] >= n || after[i] >= n)) return kIllegal;
      if (padded && mode == "edge" && n < 1) return kIllegal;
      if (padded && mode == "wrap" && (before[i] > n || after[i] > n)) return kIllegal;
      out[i] = static_cast<int>(n + before[i] + after[i]);
    }
    return out;
  };
  std::vector<std::string> in = {x.name, d.int64s(pads)};
  if (mode == "constant" && d.c.chance(40)) in.push_back(d.scalar(static_cast<float>(d.c.between(0, 3)), x.type));
  Value y;
  if (!d.node("Pad", in, x.type, std::max(x.most, 3.0f), shape, &y, [&](Node& n) { n.s("mode", mode); })) return false;
  d.push(y, &x);
  return true;
}

bool repeat(Draw& d) {
  const Value* p = any_value(d, 1);
  if (p == nullptr) return false;
  const Value x = take(d, p);
  Value y;
  if (d.c.chance(50)) {
    std::vector<int64_t> times;
    for (int i = 0; i < x.rank(); ++i) times.push_back(d.c.chance(40) ? d.c.between(0, 3) : 1);
    const auto shape = [&](size_t s) {
      Dims out = x.shapes[s];
      for (size_t i = 0; i < out.size(); ++i) out[i] *= static_cast<int>(times[i]);
      return out;
    };
    if (!d.node("Tile", {x.name, d.int64s(times)}, x.type, x.most, shape, &y)) return false;
  } else {
    Dims to;
    if (d.c.chance(30)) to.push_back(2);
    for (int i = 0; i < x.rank(); ++i) to.push_back(x.open(i) ? 1 : x.dim(i) == 1 ? d.c.between(1, 4) : d.c.chance(30) ? 1 : x.dim(i));
    const auto shape = [&](size_t s) { return broadcast(x.shapes[s], to); };
    if (!d.node("Expand", {x.name, d.int64s(std::vector<int64_t>(to.begin(), to.end()))}, x.type, x.most, shape, &y)) return false;
  }
  d.push(y, &x);
  return true;
}

bool space_depth(Draw& d) {
  const Value* p = d.any([&](const Value& v) { return v.rank() == 4 && v.type == d.real && !v.open(1) && !v.open(2) && !v.open(3); });
  if (p == nullptr) return false;
  const Value x = d.in(*p);
  Value y;
  const int b = 2;
  if (x.dim(1) % 4 == 0 && d.c.chance(60)) {
    const auto shape = [&](size_t s) { return Dims{x.shapes[s][0], x.shapes[s][1] / 4, x.shapes[s][2] * b, x.shapes[s][3] * b}; };
    const bool crd = d.c.chance(40);
    if (!d.node("DepthToSpace", {x.name}, x.type, x.most, shape, &y, [&](Node& n) { n.i("blocksize", b).s("mode", crd ? "CRD" : "DCR"); }))
      return false;
  } else {
    const auto shape = [&](size_t s) {
      const Dims& in = x.shapes[s];
      return in[2] % b != 0 || in[3] % b != 0 ? kIllegal : Dims{in[0], in[1] * 4, in[2] / b, in[3] / b};
    };
    if (!d.node("SpaceToDepth", {x.name}, x.type, x.most, shape, &y, [&](Node& n) { n.i("blocksize", b); })) return false;
  }
  d.push(y, &x);
  return true;
}

// Sizes that are computed: Shape, arithmetic, Reshape to what comes of it.
bool computed_shape(Draw& d) {
  const Value* p = d.any([&](const Value& v) { return v.rank() >= 2 && v.type == d.real; });
  if (p == nullptr) return false;
  const Value x = d.in(*p);
  const int a = static_cast<int>(d.c.below(static_cast<uint32_t>(x.rank())));
  Value shape, size, joined, y;
  const auto fixed = [](Dims dims) { return [dims](size_t) { return dims; }; };
  if (!d.node("Shape", {x.name}, TensorProto::INT64, 100, fixed({x.rank()}), &shape)) return false;
  if (!d.node("Gather", {shape.name, d.int64s({a})}, TensorProto::INT64, 100, fixed({1}), &size, [](Node& n) { n.i("axis", 0); }))
    return false;
  if (!d.node("Concat", {size.name, d.int64s({-1})}, TensorProto::INT64, 100, fixed({2}), &joined, [](Node& n) { n.i("axis", 0); }))
    return false;
  const auto to = [&](size_t s) {
    const int64_t n = count_of(x.shapes[s]);
    const int first = x.shapes[s][at(a)];
    return first == 0 ? kIllegal : Dims{first, static_cast<int>(n / first)};
  };
  if (!d.node("Reshape", {x.name, joined.name}, x.type, x.most, to, &y)) return false;
  d.push(y, &x);
  return true;
}

}  // namespace

const std::vector<Line>& move_lines();
const std::vector<Line>& move_lines() {
  static const std::vector<Line> lines = {{transpose, 8}, {reshape, 6}, {axes, 3},        {slice, 6},          {concat, 8},
                                          {split, 4},     {pad, 4},     {space_depth, 2}, {computed_shape, 2}, {repeat, 4}};
  return lines;
}

}  // namespace mote::differential
