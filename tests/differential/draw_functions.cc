// Operators that few models have: of numbers, of shapes, of signals, losses, attention in one operator.

#include <cmath>

#include "tests/differential/draw.h"

namespace mote::differential {
namespace {

using ::onnx::TensorProto;

size_t at(int i) { return static_cast<size_t>(i); }
bool any_float(Draw& d, Value* x, int least_rank = 0, int most_rank = 5) {
  const Value* p = d.any_real(least_rank, most_rank);
  if (p != nullptr) *x = d.in(*p);
  return p != nullptr;
}

// Functions with poles or a limited range, of operands that keep away from its ends.
bool limited(Draw& d) {
  Value x, moved, y;
  if (!any_float(d, &x)) return false;
  static const char* const ops[] = {"Asin", "Acos", "Atanh", "Tan", "Acosh", "ReduceLogSum"};
  const std::string op = d.c.of(ops);
  const bool large = op == "Acosh" || op == "ReduceLogSum";
  if (large ? !above(d, x, 1.25f, &moved) : !within(d, x, 0.9f, &moved)) return false;
  if (op == "ReduceLogSum") {
    const auto one = [&](size_t s) {
      Dims out = x.shapes[s];
      if (out.empty() || out.back() == 0) return kIllegal;
      out.back() = 1;
      return out;
    };
    if (!d.node("ReduceLogSum", {moved.name, d.int64s({-1})}, x.type, 12, one, &y)) return false;
  } else if (!d.node(op.c_str(), {moved.name}, x.type, large ? 12 : 4, same_as(x), &y)) {
    return false;
  }
  d.push(y);
  return true;
}

bool of_any(Draw& d) {
  Value x, y;
  if (!any_float(d, &x)) return false;
  const uint32_t kind = d.c.below(6);
  if (kind == 0) {
    if (!d.node(d.c.chance(50) ? "IsNaN" : "IsInf", {x.name}, TensorProto::BOOL, 1, same_as(x), &y)) return false;
  } else if (kind == 1) {
    d.need_opset(24);
    if (!d.node("Swish", {x.name}, x.type, x.most, same_as(x), &y, [&](Node& n) { n.f("alpha", d.c.chance(50) ? 1 : 1.5f); })) return false;
  } else if (kind == 2) {
    if (!d.node("Dropout", {x.name}, x.type, x.most, same_as(x), &y)) return false;
  } else if (kind == 3) {
    const auto full = [&](size_t s) { return count_of(x.shapes[s]) == 0 || x.rank() == 0 ? kIllegal : x.shapes[s]; };
    if (!d.node("Hardmax", {x.name}, x.type, 1, full, &y, [](Node& n) { n.i("axis", -1); })) return false;
  } else if (kind == 4) {
    Value small;
    if (x.rank() == 0 || x.dims().back() > 8 || !within(d, x, 1, &small)) return false;
    d.need_opset(26);
    if (!d.node("CumProd", {small.name, d.int64_scalar(-1)}, x.type, 1, same_as(x), &y,
                [&](Node& n) { n.i("exclusive", d.c.chance(30) ? 1 : 0).i("reverse", d.c.chance(30) ? 1 : 0); }))
      return false;
  } else {
    const Value* like = d.any([](const Value& v) { return v.type == TensorProto::INT32 || v.type == TensorProto::FLOAT; });
    if (like == nullptr || x.most > 1e6f) return false;
    if (!d.node("CastLike", {x.name, like->name}, like->type, x.most, same_as(x), &y)) return false;
  }
  d.push(y);
  return true;
}

bool bits(Draw& d) {
  const bool shift = d.c.chance(60);
  const Value* p = d.any([&](const Value& v) { return v.type == (shift ? TensorProto::UINT8 : TensorProto::INT8); });
  if (p == nullptr) return false;
  const Value x = *p;
  Value y;
  if (shift) {
    if (!d.node("BitShift", {x.name, d.scalar(static_cast<float>(d.c.between(0, 3)), x.type)}, x.type, 255, same_as(x), &y,
                [&](Node& n) { n.s("direction", d.c.chance(50) ? "LEFT" : "RIGHT"); }))
      return false;
  } else {
    d.need_opset(26);
    if (!d.node("BitCast", {x.name}, TensorProto::UINT8, 255, same_as(x), &y, [](Node& n) { n.i("to", TensorProto::UINT8); })) return false;
  }
  d.push(y);
  return true;
}

// Tensors that are made from a shape: numbers up to a size, equal ones, a diagonal.
bool made_of_shape(Draw& d) {
  const Value* p = d.any([&](const Value& v) { return v.type == d.real && v.rank() >= 1 && v.rank() <= 5; });
  if (p == nullptr) return false;
  const Value x = d.in(*p);
  Value shape, made, y, cast;
  const uint32_t kind = d.c.below(4);
  const float size = static_cast<float>(std::max<int64_t>(count_of(x.dims()), 1));
  if (kind == 0) {
    if (!d.node("Size", {x.name}, TensorProto::INT64, size, fixed({}), &y)) return false;
    d.push(y);
    return true;
  }
  if (kind == 1) {
    TensorProto value;
    value.set_data_type(d.real);
    value.add_dims(1);
    const std::string raw = d.real == TensorProto::FLOAT ? std::string("\0\0\xc0\x3f", 4) : std::string("\0\x3e", 2);  // 1.5
    value.set_raw_data(raw);
    if (!d.node("Shape", {x.name}, TensorProto::INT64, 100, fixed({x.rank()}), &shape)) return false;
    if (!d.node("ConstantOfShape", {shape.name}, x.type, 2, same_as(x), &made, [&](Node& n) { n.tensor("value", value); })) return false;
  } else if (kind == 2) {
    Value count, last;
    const auto row = [&](size_t s) { return Dims{x.shapes[s].back()}; };
    if (!d.node("Shape", {x.name}, TensorProto::INT64, 100, fixed({1}), &shape, [&](Node& n) { n.i("start", -1); })) return false;
    if (!d.node("Squeeze", {shape.name}, TensorProto::INT64, 100, fixed({}), &last)) return false;
    if (!d.node("Range", {d.int64_scalar(0), last.name, d.int64_scalar(1)}, TensorProto::INT64, 200, row, &count)) return false;
    if (!d.node("Cast", {count.name}, x.type, 200, row, &made, [&](Node& n) { n.i("to", x.type); })) return false;
  } else {
    if (x.rank() != 2) return false;
    if (!d.node("EyeLike", {x.name}, x.type, 1, same_as(x), &made, [&](Node& n) { n.i("k", d.c.between(0, 2) - 1); })) return false;
  }
  if (!d.node("Add", {x.name, made.name}, x.type, x.most + made.most, same_as(x), &y)) return false;
  d.push(y);
  return true;
}

// Results whose size depends on data: of an input of the graph, so that rounding never decides it.
bool data_sizes(Draw& d) {
  const Value* p = d.any([&](const Value& v) { return d.is_input(v) && v.rank() >= 1 && v.rank() <= 3 && v.type != TensorProto::FLOAT16; });
  if (p == nullptr) return false;
  const Value x = *p;
  const uint32_t kind = d.c.below(3);
  Value y;
  if (kind == 0) {
    if (!d.node("NonZero", {x.name}, TensorProto::INT64, 100, fixed({x.rank(), 1}), &y)) return false;
  } else if (kind == 1) {
    if (x.type == TensorProto::BOOL) return false;
    std::vector<Value> outs;
    const bool axis = d.c.chance(30);
    const auto unknown = [&](size_t s) { return axis && count_of(x.shapes[s]) == 0 ? kIllegal : axis ? x.shapes[s] : Dims{1}; };
    if (!d.mixed_nodes("Unique", {x.name}, {x.type, TensorProto::INT64, TensorProto::INT64, TensorProto::INT64}, x.most,
                       {unknown, fixed({1}), fixed({1}), fixed({1})}, &outs, [&](Node& n) {
                         n.i("sorted", d.c.chance(70) ? 1 : 0);
                         if (axis) n.i("axis", 0);
                       }))
      return false;
    for (Value& v : outs) {
      v.closed = true;
      d.values.push_back(v);
    }
    return true;
  } else {
    const int a = static_cast<int>(d.c.below(static_cast<uint32_t>(x.rank())));
    Value mask;
    if (x.open(a) || x.dim(a) == 0) return false;
    const std::string numbers = d.integers(TensorProto::INT32, {x.dim(a)}, 0, 1);
    if (!d.node("Cast", {numbers}, TensorProto::BOOL, 1, fixed({x.dim(a)}), &mask, [](Node& n) { n.i("to", TensorProto::BOOL); }))
      return false;
    if (!d.node("Compress", {x.name, mask.name}, x.type, x.most, same_as(x), &y, [&](Node& n) { n.i("axis", a); })) return false;
  }
  y.closed = true;
  d.values.push_back(y);
  return true;
}

bool one_hot(Draw& d) {
  const Value* p = d.any([](const Value& v) { return v.type == TensorProto::INT32 || v.type == TensorProto::INT64; });
  if (p == nullptr || p->rank() > 4) return false;  // of constants alone it would be folded in the reference
  const int depth = d.c.between(1, 20);
  const Value x = *p;
  Value y;
  const int rank = x.rank(), a = d.c.chance(60) ? rank : static_cast<int>(d.c.below(static_cast<uint32_t>(rank + 1)));
  const auto shape = [&](size_t s) {
    Dims out = x.shapes[s];
    out.insert(out.begin() + a, depth);
    return out;
  };
  if (!d.node("OneHot", {x.name, d.int64s({depth}), d.reals({2}, 1)}, d.real, 1, shape, &y,
              [&](Node& n) { n.i("axis", a == rank ? -1 : a); }))
    return false;
  d.push(y);
  return true;
}

bool einsum(Draw& d) {
  struct Form {
    const char* equation;
    Dims a, b, y;
  };
  static const Form forms[] = {{"bij,bjk->bik", {2, 5, 7}, {2, 7, 3}, {2, 5, 3}},
                               {"ij->ji", {4, 9}, {}, {9, 4}},
                               {"bhid,bhjd->bhij", {1, 2, 5, 8}, {1, 2, 6, 8}, {1, 2, 5, 6}},
                               {"ij,ij->i", {6, 17}, {6, 17}, {6}},
                               {"bhwc,hkc->bhwk", {1, 3, 5, 8}, {3, 4, 8}, {1, 3, 5, 4}},
                               {"i,j->ij", {9}, {5}, {9, 5}},
                               {"...ij,jk->...ik", {2, 3, 4, 16}, {16, 9}, {2, 3, 4, 9}},
                               {"ii->i", {6, 6}, {}, {6}}};
  const Form& f = d.c.of(forms);
  Value a, b, y;
  if (!any_shaped(d, f.a, &a)) return false;
  std::vector<std::string> in = {a.name};
  if (!f.b.empty()) {
    if (d.c.chance(50) || !any_shaped(d, f.b, &b)) b.name = d.reals(f.b, 1), b.most = 1;
    in.push_back(b.name);
  }
  if (!d.node("Einsum", in, d.real, f.b.empty() ? a.most : a.most * b.most * 17, fixed(f.y), &y,
              [&](Node& n) { n.s("equation", f.equation); }))
    return false;
  d.push(y);
  return true;
}

bool signal(Draw& d) {
  const uint32_t kind = d.c.below(4);
  Value x, y, made;
  const Type real = TensorProto::FLOAT;
  if (d.real != real) return false;
  if (kind == 0) {
    const int n = d.c.between(2, 20), axis = d.c.between(1, 2);
    const bool half = d.c.chance(50), inverse = !half && d.c.chance(40);
    if (!any_shaped(d, {2, n, n, 1}, &x)) return false;
    Dims to = {2, n, n, 2};
    if (half) to[at(axis)] = n / 2 + 1;
    if (!d.node("DFT", {x.name, "", d.int64_scalar(axis)}, real, x.most * static_cast<float>(n), fixed(to), &y, [&](Node& node) {
          if (half) node.i("onesided", 1);
          if (inverse) node.i("inverse", 1);
        }))
      return false;
  } else if (kind == 1) {
    const int length = d.c.between(4, 16), step = d.c.between(1, 6), size = d.c.between(16, 60);
    if (!any_shaped(d, {2, size}, &x)) return false;
    const std::string window = d.c.chance(50) ? d.reals({length}, 0.5f, 0.5f) : "";
    if (!d.node("STFT", {x.name, d.int64_scalar(step), window, d.int64_scalar(length)}, real, x.most * static_cast<float>(length),
                fixed({2, (size - length) / step + 1, length / 2 + 1, 2}), &y))
      return false;
  } else {
    const Value* p = d.any([&](const Value& v) { return v.type == real && v.rank() >= 1 && !v.open(v.rank() - 1) && v.dims().back() > 1; });
    if (p == nullptr) return false;
    x = d.in(*p);
    const int n = x.dims().back();
    static const char* const windows[] = {"HannWindow", "HammingWindow", "BlackmanWindow"};
    if (kind == 2) {
      if (!d.node(d.c.of(windows), {d.int64_scalar(n)}, real, 1, fixed({n}), &made,
                  [&](Node& node) { node.i("periodic", d.c.chance(50) ? 1 : 0); }))
        return false;
      if (!d.node("Mul", {x.name, made.name}, real, x.most, same_as(x), &y)) return false;
    } else {
      const int bins = d.c.between(2, 8), length = 2 * (n - 1);
      if (length < 2) return false;
      if (!d.node("MelWeightMatrix",
                  {d.int64_scalar(bins), d.int64_scalar(length), d.int64_scalar(16000), d.scalar(50, real), d.scalar(7600, real)}, real, 1,
                  fixed({n, bins}), &made))
        return false;
      const auto shape = [&](size_t s) {
        Dims out = x.shapes[s];
        out.back() = bins;
        return x.rank() < 2 ? kIllegal : out;
      };
      if (!d.node("MatMul", {x.name, made.name}, real, x.most * static_cast<float>(n), shape, &y)) return false;
    }
  }
  d.push(y);
  return true;
}

bool loss(Draw& d) {
  const int n = d.c.between(1, 6), classes = d.c.between(2, 20);
  Value x, y;
  if (!any_shaped(d, {n, classes}, &x)) return false;
  static const char* const reductions[] = {"mean", "sum", "none"};
  const std::string reduction = d.c.of(reductions), labels = d.integers(TensorProto::INT64, {n}, 0, classes - 1);
  const auto shape = fixed(reduction == "none" ? Dims{n} : Dims{});
  const char* op = d.c.chance(50) ? "NegativeLogLikelihoodLoss" : "SoftmaxCrossEntropyLoss";
  std::vector<std::string> in = {x.name, labels};
  if (d.c.chance(40)) in.push_back(d.reals({classes}, 0.4f, 0.6f));
  if (!d.node(op, in, x.type, (x.most * 2 + 4) * static_cast<float>(n), shape, &y, [&](Node& node) { node.s("reduction", reduction); }))
    return false;
  d.push(y);
  return true;
}

bool norm_of_squares(Draw& d) {
  const Value* p = d.any([&](const Value& v) { return v.type == d.real && v.rank() >= 2 && !v.open(v.rank() - 1) && v.dims().back() > 0; });
  if (p == nullptr) return false;
  const Value x = d.in(*p);
  Value y;
  const int c = x.dims().back();
  if (d.c.chance(60)) {
    d.need_opset(23);
    if (!d.node("RMSNormalization", {x.name, d.reals({c}, 0.5f, 1)}, x.type, 2 * std::sqrt(static_cast<float>(c)), same_as(x), &y,
                [](Node& n) { n.i("axis", -1).f("epsilon", 1e-3f); }))
      return false;
  } else {
    d.need_opset(27);
    if (!d.node("SwiGLU", {x.name, d.reals({c}, 1)}, x.type, x.most, same_as(x), &y)) return false;
  }
  d.push(y);
  return true;
}

// Attention, its turned positions and its cache as operators of their own.
bool attention(Draw& d) {
  const int heads = d.c.of({1, 2, 4}), shared = d.c.chance(30) ? heads : 1, size = d.c.of({4, 8, 16, 3, 20});
  const int batch = d.c.between(1, 2), queries = d.c.between(1, 12), keys = d.c.chance(50) ? queries : d.c.between(1, 20);
  Value q, k, v, y;
  const Dims narrow = {batch, heads / shared, keys, size};
  if (!any_shaped(d, {batch, heads, queries, size}, &q) || !any_shaped(d, narrow, &k) || !any_shaped(d, narrow, &v)) return false;
  const uint32_t kind = d.c.below(6);
  if (kind == 0 && size % 2 == 0) {
    d.need_opset(23);
    const Dims half = {batch, queries, size / 2};
    if (!d.node("RotaryEmbedding", {q.name, d.reals(half, 1), d.reals(half, 1)}, q.type, q.most * 2, same_as(q), &y,
                [&](Node& n) { n.i("interleaved", d.c.chance(50) ? 1 : 0); }))
      return false;
  } else if (kind == 1) {
    d.need_opset(24);
    Value update;
    const int count = d.c.between(1, keys);
    if (!any_shaped(d, {batch, heads / shared, count, size}, &update)) return false;
    const std::string places = d.integers(TensorProto::INT64, {batch}, 0, keys - count);
    if (!d.node("TensorScatter", {k.name, update.name, places}, k.type, std::max(k.most, update.most), same_as(k), &y)) return false;
  } else if (kind == 2) {
    d.need_opset(27);
    Value x;
    const int taps = d.c.between(1, 4);
    if (!any_shaped(d, {batch, size, keys}, &x)) return false;
    std::vector<Value> outs;
    if (!d.nodes("CausalConvWithState", {x.name, d.reals({size, 1, taps}, 0.5f), d.reals({size}, 0.5f)}, x.type, x.most * 4 + 1,
                 {same_as(x), fixed({batch, size, taps - 1})}, &outs,
                 [&](Node& n) { n.s("activation", d.c.chance(50) ? "silu" : "none"); }))
      return false;
    d.push(outs[1]);
    y = outs[0];
  } else {
    d.need_opset(23);
    std::vector<std::string> in = {q.name, k.name, v.name};
    if (d.c.chance(40)) in.push_back(d.reals({queries, keys}, 1));
    if (!d.node("Attention", in, q.type, v.most, same_as(q), &y, [&](Node& n) {
          if (queries == keys && d.c.chance(50)) n.i("is_causal", 1);
          if (d.c.chance(20)) n.f("softcap", 2);
        }))
      return false;
  }
  d.push(y);
  return true;
}

}  // namespace

const std::vector<Line>& function_lines();
const std::vector<Line>& function_lines() {
  static const std::vector<Line> lines = {{limited, 4}, {of_any, 5}, {bits, 2}, {made_of_shape, 4},   {data_sizes, 3}, {one_hot, 2},
                                          {einsum, 3},  {signal, 4}, {loss, 2}, {norm_of_squares, 3}, {attention, 5}};
  return lines;
}

}  // namespace mote::differential
