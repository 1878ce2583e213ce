// Softmax, norms, reductions; and patterns of several operators as exporters write them.

#include <algorithm>
#include <cmath>

#include "tests/differential/draw.h"

namespace mote::differential {
namespace {

using ::onnx::TensorProto;

size_t at(int i) { return static_cast<size_t>(i); }
// Operators whose value over nothing is not defined.
ShapeFn full(const Value& v) {
  return [shapes = v.shapes](size_t s) { return count_of(shapes[s]) == 0 ? kIllegal : shapes[s]; };
}

bool softmax(Draw& d) {
  const Value* p = d.any_real(1, 5);
  if (p == nullptr) return false;
  const Value x = d.in(*p);
  const int a = d.c.chance(60) ? x.rank() - 1 : static_cast<int>(d.c.below(static_cast<uint32_t>(x.rank())));
  Value y;
  const bool log = d.c.chance(20);
  if (!d.node(log ? "LogSoftmax" : "Softmax", {x.name}, x.type, log ? 2 * x.most + 5 : 1, same_as(x), &y, [&](Node& n) { n.i("axis", a); }))
    return false;
  d.push(y);
  return true;
}

bool reduce(Draw& d) {
  const Value* p = d.any_real(1, 5);
  if (p == nullptr) return false;
  const Value x = d.in(*p);
  static const char* const ops[] = {"ReduceMean", "ReduceSum",       "ReduceMax",       "ReduceMin", "ReduceL1",
                                    "ReduceL2",   "ReduceSumSquare", "ReduceLogSumExp", "ReduceProd"};
  const std::string op = d.c.of(ops);
  std::vector<int64_t> axes;
  float count = 1;
  // ONNX Runtime keeps an axis that is counted from behind where the tensor is empty.
  const bool full = std::all_of(x.shapes.begin(), x.shapes.end(), [](const Dims& s) { return count_of(s) > 0; });
  if (x.rank() == 4 && d.c.chance(40)) axes = {2, 3};
  else
    for (int i = 0; i < x.rank(); ++i)
      if (d.c.chance(40)) axes.push_back(full && d.c.chance(20) ? i - x.rank() : i);
  if (axes.empty()) axes.push_back(x.rank() - 1);  // never from behind
  for (const int64_t a : axes) count *= static_cast<float>(std::max(x.dim(static_cast<int>(a < 0 ? a + x.rank() : a)), 1));
  const bool keep = d.c.chance(60);
  const auto shape = [&](size_t s) {
    Dims out;
    for (int i = 0; i < x.rank(); ++i) {
      const bool reduced = std::any_of(axes.begin(), axes.end(), [&](int64_t a) { return (a < 0 ? a + x.rank() : a) == i; });
      if (reduced && x.shapes[s][at(i)] == 0) return kIllegal;
      if (!reduced) out.push_back(x.shapes[s][at(i)]);
      else if (keep) out.push_back(1);
    }
    return out;
  };
  float most = x.most;
  if (op == "ReduceSum" || op == "ReduceL1") most = x.most * count;
  if (op == "ReduceL2") most = x.most * std::sqrt(count);
  if (op == "ReduceSumSquare") most = x.most * x.most * count;
  if (op == "ReduceLogSumExp") most = x.most + 6;
  if (op == "ReduceProd") {
    if (count > 16) return false;
    most = std::pow(std::max(x.most, 1.0f), count);
  }
  Value y;
  if (!d.node(op.c_str(), {x.name, d.int64s(axes)}, x.type, most, shape, &y, [&](Node& n) {
        if (!keep) n.i("keepdims", 0);
      }))
    return false;
  d.push(y);
  return true;
}

bool arg(Draw& d) {
  const Value* p = d.any_real(1, 5);
  if (p == nullptr) return false;
  const Value x = d.in(*p);
  const int a = static_cast<int>(d.c.below(static_cast<uint32_t>(x.rank())));
  const auto shape = [&](size_t s) {
    Dims out = x.shapes[s];
    if (out[at(a)] == 0) return kIllegal;
    out[at(a)] = 1;
    return out;
  };
  Value y;
  if (!d.node(d.c.chance(50) ? "ArgMax" : "ArgMin", {x.name}, TensorProto::INT64, 100, shape, &y, [&](Node& n) {
        n.i("axis", a);
        if (d.c.chance(40)) n.i("select_last_index", 1);
      }))
    return false;
  d.push(y);
  return true;
}

bool layer_norm(Draw& d) {
  const Value* p = d.any([&](const Value& v) { return v.type == d.real && v.rank() >= 2 && !v.open(v.rank() - 1) && v.dims().back() > 0; });
  if (p == nullptr) return false;
  const Value x = d.in(*p);
  const int c = x.dims().back();
  Value y;
  if (d.c.chance(40)) {
    std::vector<std::string> in = {x.name, d.reals({c}, 0.5f, 1)};
    if (d.c.chance(70)) in.push_back(d.reals({c}, 0.5f));
    if (!d.node("LayerNormalization", in, x.type, 2 + std::sqrt(static_cast<float>(c)) * 2, same_as(x), &y,
                [](Node& n) { n.i("axis", -1); }))
      return false;
    d.push(y);
    return true;
  }
  // Decomposed, as older exporters write it.
  const auto row = [&](size_t s) {
    Dims out = x.shapes[s];
    out.back() = 1;
    return out;
  };
  Value mean, centred, squared, variance, moved, root, scaled;
  const std::string last = d.int64s({-1}), two = d.scalar(2, x.type),
                    epsilon = d.scalar(d.real == TensorProto::FLOAT ? 1e-5f : 1e-3f, x.type);
  if (!d.node("ReduceMean", {x.name, last}, x.type, x.most, row, &mean)) return false;
  if (!d.node("Sub", {x.name, mean.name}, x.type, 2 * x.most, same_as(x), &centred)) return false;
  const bool power = d.c.chance(60);
  if (!d.node(power ? "Pow" : "Mul", {centred.name, power ? two : centred.name}, x.type, centred.most * centred.most, same_as(x), &squared))
    return false;
  if (!d.node("ReduceMean", {squared.name, last}, x.type, squared.most, row, &variance)) return false;
  if (!d.node("Add", {variance.name, epsilon}, x.type, variance.most + 1, row, &moved)) return false;
  if (!d.node("Sqrt", {moved.name}, x.type, std::sqrt(moved.most), row, &root)) return false;
  if (!d.node("Div", {centred.name, root.name}, x.type, 2 + std::sqrt(static_cast<float>(c)), same_as(x), &scaled)) return false;
  if (d.c.chance(70)) {
    Value times;
    if (!d.node("Mul", {scaled.name, d.reals({c}, 0.5f, 1)}, x.type, scaled.most * 2, same_as(x), &times)) return false;
    if (!d.node("Add", {times.name, d.reals({c}, 0.5f)}, x.type, times.most + 1, same_as(x), &scaled)) return false;
  }
  d.push(scaled);
  return true;
}

bool other_norms(Draw& d) {
  const Value* p = d.any([&](const Value& v) { return v.type == d.real && v.rank() >= 2 && !v.open(1) && v.dim(1) > 0; });
  if (p == nullptr) return false;
  const Value x = d.in(*p);
  Value y;
  const uint32_t kind = d.c.below(3);
  const int c = x.dim(1);
  if (kind == 0 && x.rank() >= 3) {
    int groups = 1;
    for (const int g : {2, 4, 3, 8})
      if (c % g == 0 && d.c.chance(50)) groups = g;
    if (!d.node("GroupNormalization", {x.name, d.reals({c}, 0.5f, 1), d.reals({c}, 0.5f)}, x.type, 30, full(x), &y,
                [&](Node& n) { n.i("num_groups", groups); }))
      return false;
  } else if (kind == 1) {
    if (!d.node("LpNormalization", {x.name}, x.type, 1, full(x), &y, [&](Node& n) { n.i("axis", 1).i("p", d.c.chance(50) ? 1 : 2); }))
      return false;
  } else {
    if (x.rank() != 4) return false;
    if (!d.node("MeanVarianceNormalization", {x.name}, x.type, 30, full(x), &y)) return false;
  }
  d.push(y);
  return true;
}

// y = f(x) + x: what is overwritten in place. The branch is a convolution of whatever kind, perhaps with an activation.
bool residual(Draw& d) {
  const Value* p = d.any([&](const Value& v) { return v.type == d.real && v.rank() == 4 && !v.open(1) && v.dim(1) > 0; });
  if (p == nullptr) return false;
  const Value x = d.in(*p);
  const int c = x.dim(1);
  const int k = d.c.of({3, 3, 1, 5});
  const auto conv = [&](const Value& from, bool depthwise, Value* y) {
    const Dims weight = {c, depthwise ? 1 : c, depthwise ? k : 1, depthwise ? k : 1};
    const int64_t pad = weight[2] / 2;
    float scale;
    const float terms = static_cast<float>(weight[1] * weight[2] * weight[3]);
    std::vector<std::string> in = {from.name, d.weights(weight, 0, 1.5f / std::sqrt(terms), &scale)};
    if (d.c.chance(50)) in.push_back(d.bias(c, static_cast<int>(terms), from, scale));
    const auto shape = [&](size_t s) { return from.shapes[s][2] == 0 || from.shapes[s][3] == 0 ? kIllegal : from.shapes[s]; };
    if (!d.node("Conv", in, x.type, from.most * 2, shape, y, [&](Node& n) {
          n.ints("pads", {pad, pad, pad, pad});
          if (depthwise) n.i("group", c);
        }))
      return false;
    if (d.quantized) *y = d.quantize(*y);
    return true;
  };
  if (c > 130) return false;
  Value side = x, branch, y;
  // What the sum may overwrite must have no other reader: often a convolution of its own.
  if (d.c.chance(60) && !conv(x, false, &side)) return false;
  if (!conv(x, d.c.chance(70), &branch)) return false;
  if (d.c.chance(30)) {
    Value r;
    if (!d.node("Relu", {branch.name}, x.type, branch.most, same_as(branch), &r)) return false;
    branch = d.quantized ? d.quantize(r, &branch) : r;
  }
  const bool turned = d.c.chance(50);
  if (!d.node("Add", {turned ? side.name : branch.name, turned ? branch.name : side.name}, x.type, side.most + branch.most, same_as(x), &y))
    return false;
  if (d.c.chance(40)) {
    Value r;
    if (d.node("Relu", {y.name}, x.type, y.most, same_as(y), &r)) y = r;
  }
  d.push(y);
  return true;
}

// A gate for each channel from the mean over the image.
bool squeeze_excite(Draw& d) {
  const Value* p =
      d.any([&](const Value& v) { return v.type == d.real && v.rank() == 4 && !v.open(1) && v.dim(1) > 0 && v.dim(1) <= 130; });
  if (p == nullptr) return false;
  const Value x = d.in(*p);
  const int c = x.dim(1), inner = d.c.between(1, 16);
  const auto pooled = [&](size_t s) { return x.shapes[s][2] == 0 || x.shapes[s][3] == 0 ? kIllegal : Dims{x.shapes[s][0], c, 1, 1}; };
  Value mean, a, r, b, gate, y;
  if (!d.node("GlobalAveragePool", {x.name}, x.type, x.most, pooled, &mean)) return false;
  if (d.quantized) mean = d.quantize(mean, &x);
  float scale;
  if (!d.node(
          "Conv", {mean.name, d.weights({inner, c, 1, 1}, 0, 2 / std::sqrt(static_cast<float>(c)), &scale)}, x.type, mean.most * 2,
          [&](size_t s) {
            return Dims{x.shapes[s][0], inner, 1, 1};
          },
          &a))
    return false;
  if (!d.node("Relu", {a.name}, x.type, a.most, same_as(a), &r)) return false;
  if (d.quantized) r = d.quantize(r);
  if (!d.node("Conv", {r.name, d.weights({c, inner, 1, 1}, 0, 2 / std::sqrt(static_cast<float>(inner)), &scale)}, x.type, r.most * 2,
              same_as(mean), &b))
    return false;
  if (d.quantized) b = d.quantize(b);
  if (!d.node(d.c.chance(50) ? "Sigmoid" : "HardSigmoid", {b.name}, x.type, 1, same_as(b), &gate)) return false;
  if (d.quantized) gate = d.quantize(gate);
  if (!d.node("Mul", {x.name, gate.name}, x.type, x.most, same_as(x), &y)) return false;
  d.push(y);
  return true;
}

// Queries, keys and values of one input, in heads.
bool attention(Draw& d) {
  const Value* p =
      d.any([&](const Value& v) { return v.type == d.real && v.rank() == 3 && !v.open(2) && v.dim(2) > 0 && v.dim(2) <= 130; });
  if (p == nullptr) return false;
  const Value x = d.in(*p);
  const int k = x.dim(2), heads = d.c.between(1, 3), width = d.c.of({4, 8, 3, 16});
  Value part[3];
  for (int i = 0; i < 3; ++i) {
    float scale;
    Value flat, split;
    const auto wide = [&](size_t s) { return Dims{x.shapes[s][0], x.shapes[s][1], heads * width}; };
    if (!d.node("MatMul", {x.name, d.weights({k, heads * width}, 1, 1.5f / std::sqrt(static_cast<float>(k)), &scale)}, x.type,
                x.most * 1.5f, wide, &flat))
      return false;
    if (d.quantized) flat = d.quantize(flat);
    const auto four = [&](size_t s) {
      return x.shapes[s][0] == 0 || x.shapes[s][1] == 0 ? kIllegal : Dims{x.shapes[s][0], x.shapes[s][1], heads, width};
    };
    if (!d.node("Reshape", {flat.name, d.int64s({0, 0, heads, width})}, x.type, flat.most, four, &split)) return false;
    const bool key = i == 1;
    const auto turned = [&](size_t s) {
      const int n = x.shapes[s][0], t = x.shapes[s][1];
      return key ? Dims{n, heads, width, t} : Dims{n, heads, t, width};
    };
    if (!d.node("Transpose", {split.name}, x.type, flat.most, turned, &part[i], [&](Node& n) {
          n.ints("perm", key ? std::vector<int64_t>{0, 2, 3, 1} : std::vector<int64_t>{0, 2, 1, 3});
        }))
      return false;
  }
  const auto scores_of = [&](size_t s) { return Dims{x.shapes[s][0], heads, x.shapes[s][1], x.shapes[s][1]}; };
  Value scores, scaled, weights, mixed, back, y;
  if (!d.node("MatMul", {part[0].name, part[1].name}, x.type, part[0].most * part[1].most * static_cast<float>(width), scores_of, &scores))
    return false;
  const float root = std::sqrt(static_cast<float>(width));
  const bool divided = d.c.chance(60);
  if (!d.node(divided ? "Div" : "Mul", {scores.name, d.scalar(divided ? root : 1 / root, x.type)}, x.type, scores.most / root, scores_of,
              &scaled))
    return false;
  if (d.quantized && d.c.chance(70)) scaled = d.quantize(scaled);
  if (!d.node("Softmax", {scaled.name}, x.type, 1, scores_of, &weights, [](Node& n) { n.i("axis", -1); })) return false;
  if (d.quantized) weights = d.quantize(weights);
  if (!d.node("MatMul", {weights.name, part[2].name}, x.type, part[2].most, same_as(part[2]), &mixed)) return false;
  if (d.quantized) mixed = d.quantize(mixed);
  const auto joined = [&](size_t s) { return Dims{x.shapes[s][0], x.shapes[s][1], heads, width}; };
  if (!d.node("Transpose", {mixed.name}, x.type, mixed.most, joined, &back, [](Node& n) { n.ints("perm", {0, 2, 1, 3}); })) return false;
  if (!d.node(
          "Reshape", {back.name, d.int64s({0, 0, heads * width})}, x.type, back.most,
          [&](size_t s) {
            return Dims{x.shapes[s][0], x.shapes[s][1], heads * width};
          },
          &y))
    return false;
  d.push(y, &mixed);
  return true;
}

// A graph of constants: folded, or read through tables. Its result joins the graph like a weight.
bool constants(Draw& d) {
  const Dims dims = {d.c.between(1, 9)};
  Value q, v, w, y;
  const auto shape = [&](size_t) { return dims; };
  const std::string scale = d.scalar(0.01f, TensorProto::FLOAT),
                    zero = d.scalar(static_cast<float>(d.c.between(0, 20) - 10), TensorProto::INT8);
  if (d.real != TensorProto::FLOAT) return false;
  if (!d.node("DequantizeLinear", {d.integers(TensorProto::INT8, dims, -128, 127), scale, zero}, TensorProto::FLOAT, 2, shape, &v))
    return false;
  static const char* const ops[] = {"Relu", "Sigmoid", "Neg", "Tanh"};
  if (!d.node(d.c.of(ops), {v.name}, TensorProto::FLOAT, 2, shape, &w)) return false;
  y = d.c.chance(70) ? d.quantize(w) : w;
  const Value* p = d.any([&](const Value& x) {
    if (x.type != TensorProto::FLOAT) return false;
    for (size_t s = 0; s < d.samples(); ++s)
      if (broadcast(x.shapes[s], dims) == kIllegal) return false;
    return true;
  });
  // Not by itself: what is made of constants alone is folded in the reference, where no noise can tell what rounding does to it.
  if (p == nullptr) return false;
  Value product;
  const Value x = *p;
  const auto joined = [&](size_t s) { return broadcast(x.shapes[s], dims); };
  if (!d.node("Mul", {x.name, y.name}, TensorProto::FLOAT, x.most * y.most, joined, &product)) return false;
  d.push(product);
  return true;
}

}  // namespace

const std::vector<Line>& element_lines();
const std::vector<Line>& move_lines();
const std::vector<Line>& index_lines();
const std::vector<Line>& window_lines();
const std::vector<Line>& product_lines();
const std::vector<Line>& integer_lines();
const std::vector<Line>& function_lines();
const std::vector<Line>& control_lines();
const std::vector<Line>& vision_lines();
const std::vector<Line>& contrib_lines();
const std::vector<Line>& classic_lines();

const std::vector<Line>& family_lines(Family f) {
  static const std::vector<Line> norms = {{softmax, 5}, {reduce, 8}, {arg, 2}, {layer_norm, 5}, {other_norms, 2}};
  static const std::vector<Line> patterns = {{residual, 8}, {squeeze_excite, 3}, {attention, 3}, {constants, 2}};
  switch (f) {
    case kElements: return element_lines();
    case kMoves: return move_lines();
    case kIndices: return index_lines();
    case kWindows: return window_lines();
    case kProducts: return product_lines();
    case kIntegers: return integer_lines();
    case kPatterns: return patterns;
    case kFunctions: return function_lines();
    case kControl: return control_lines();
    case kVision: return vision_lines();
    case kContrib: return contrib_lines();
    case kClassic: return classic_lines();
    default: return norms;
  }
}

}  // namespace mote::differential
