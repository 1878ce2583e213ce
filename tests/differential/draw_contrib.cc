// com.microsoft: what ONNX Runtime's optimiser and its quantizer write.

#include <algorithm>
#include <cmath>

#include "tests/differential/draw.h"

namespace mote::differential {
namespace {

using ::onnx::TensorProto;

constexpr char kDomain[] = "com.microsoft";

void contrib(Node& n) { n.domain(kDomain); }

// A value with a fixed last axis.
bool rows(Draw& d, Value* x, int least_rank = 1, int most_rank = 5) {
  const Value* p = d.any([&](const Value& v) {
    return v.type == d.real && v.rank() >= least_rank && v.rank() <= most_rank && !v.open(v.rank() - 1) && v.dims().back() > 0 &&
           v.dims().back() <= 130;
  });
  if (p != nullptr) *x = d.in(*p);
  return p != nullptr;
}

bool gelus(Draw& d) {
  Value x, y;
  if (!rows(d, &x)) return false;
  static const char* const ops[] = {"Gelu", "FastGelu", "QuickGelu", "BiasGelu", "FastGelu"};
  const uint32_t which = d.c.below(5);
  std::vector<std::string> in = {x.name};
  if (which > 2) in.push_back(d.reals({x.dims().back()}, 1));
  if (!d.node(ops[which], in, x.type, x.most + 1, same_as(x), &y, contrib)) return false;
  d.push(y);
  return true;
}

bool norms(Draw& d) {
  Value x, y;
  if (!rows(d, &x, 3, 3)) return false;
  const int c = x.dims().back();
  const float most = 2 * std::sqrt(static_cast<float>(c)) + 2;
  static const char* const ops[] = {"SkipLayerNormalization", "SkipSimplifiedLayerNormalization", "SimplifiedLayerNormalization"};
  const uint32_t which = d.c.below(3);
  std::vector<std::string> in = {x.name};
  if (which < 2) {
    Dims skip = x.dims();
    in.push_back(x.is_static() ? d.reals(skip, 1) : x.name);
  }
  in.push_back(d.reals({c}, 0.5f, 1));
  if (which == 0) in.push_back(d.reals({c}, 0.5f));
  const bool own = which == 2 && d.c.chance(50);  // ONNX Runtime writes this one without a domain
  if (!d.node(ops[which], in, x.type, most, same_as(x), &y, [&](Node& n) {
        if (!own) contrib(n);
        n.f("epsilon", 1e-3f);
      }))
    return false;
  d.push(y);
  return true;
}

bool sums(Draw& d) {
  Value x, y;
  if (!rows(d, &x, 2, 4)) return false;
  const int c = x.dims().back();
  const uint32_t kind = d.c.below(4);
  if (kind == 0) {
    if (x.rank() != 3 || !x.is_static()) return false;
    if (!d.node("BiasAdd", {x.name, d.reals({c}, 1), d.reals(x.dims(), 1)}, x.type, x.most + 2, same_as(x), &y, contrib)) return false;
  } else if (kind == 1) {
    if (!x.is_static()) return false;
    if (!d.node("BiasSoftmax", {x.name, d.reals(x.dims(), 1)}, x.type, 1, same_as(x), &y,
                [&](Node& n) { n.domain(kDomain).i("axis", x.rank() - 1).i("is_inner_broadcast", 0); }))
      return false;
  } else if (kind == 2) {
    const auto shape = [&](size_t s) {
      Dims out = x.shapes[s];
      out.insert(out.begin() + 1, 1);
      return out;
    };
    if (!d.node("ExpandDims", {x.name, d.scalar(1, TensorProto::INT32)}, x.type, x.most, shape, &y, contrib)) return false;
  } else {
    if (x.rank() != 2 || d.real != TensorProto::FLOAT) return false;
    const int n = d.c.between(1, 9);
    const auto shape = [&](size_t s) { return Dims{x.shapes[s][0], n}; };
    const bool root = d.c.chance(40);
    const float most = (x.most + 1) * (x.most + 1) * static_cast<float>(c);
    if (!d.node("CDist", {x.name, d.reals({n, c}, 1)}, x.type, most, shape, &y,
                [&](Node& node) { node.domain(kDomain).s("metric", root ? "euclidean" : "sqeuclidean"); }))
      return false;
  }
  d.push(y);
  return true;
}

bool fused(Draw& d) {
  const uint32_t kind = d.c.below(3);
  static const char* const acts[] = {"Relu", "Tanh", "Sigmoid", "LeakyRelu"};
  Value x, y;
  if (kind == 0) {
    const Value* p =
        d.any([&](const Value& v) { return v.type == d.real && v.rank() == 4 && !v.open(1) && v.dim(1) > 0 && v.dim(1) <= 130; });
    if (p == nullptr) return false;
    x = d.in(*p);
    const int c = x.dim(1), out = d.c.between(1, 20), k = d.c.of({1, 3});
    const auto shape = [&](size_t s) {
      const Dims& in = x.shapes[s];
      return in[2] < k || in[3] < k ? kIllegal : Dims{in[0], out, in[2] - k + 1, in[3] - k + 1};
    };
    const float most = 1.5f / std::sqrt(static_cast<float>(c * k * k));
    const std::string act = d.c.of(acts);
    if (!d.node("FusedConv", {x.name, d.reals({out, c, k, k}, most), d.reals({out}, 0.5f)}, x.type, x.most * 2 + 1, shape, &y,
                [&](Node& n) {
                  n.domain(kDomain).s("activation", act).ints("kernel_shape", {k, k});
                  if (act == "LeakyRelu") n.floats("activation_params", {0.125f});
                }))
      return false;
  } else {
    if (!rows(d, &x, 2, kind == 1 ? 4 : 2)) return false;
    const int k = x.dims().back(), n = d.channels();
    const bool turned = d.c.chance(50);
    const std::string w = d.reals(turned ? Dims{n, k} : Dims{k, n}, 1.5f / std::sqrt(static_cast<float>(k)));
    const auto shape = [&](size_t s) {
      Dims out = x.shapes[s];
      out.back() = n;
      return out;
    };
    if (kind == 1) {
      if (!d.node(d.c.chance(70) ? "FusedMatMul" : "TransposeMatMul", {x.name, w}, x.type, x.most * 2, shape, &y,
                  [&](Node& node) { node.domain(kDomain).i("transB", turned ? 1 : 0).f("alpha", 0.5f); }))
        return false;
    } else {
      const std::string act = d.c.of(acts);
      if (!d.node("FusedGemm", {x.name, w, d.reals({n}, 0.5f)}, x.type, x.most * 2 + 1, shape, &y, [&](Node& node) {
            node.domain(kDomain).i("transB", turned ? 1 : 0).s("activation", act);
            if (act == "LeakyRelu") node.f("activation_alpha", 0.125f);
          }))
        return false;
    }
  }
  d.push(y);
  return true;
}

// Products with weights of 4 or 8 bits in blocks.
bool few_bits(Draw& d) {
  Value x, y;
  if (!rows(d, &x, 2, 3) || d.real != TensorProto::FLOAT) return false;
  const int k = x.dims().back(), n = d.channels(), bits = d.c.chance(75) ? 4 : 8, size = d.c.of({16, 32, 64}),
            blocks = (k + size - 1) / size;
  const auto shape = [&](size_t s) {
    Dims out = x.shapes[s];
    out.back() = n;
    return out;
  };
  std::vector<std::string> in = {x.name, d.integers(TensorProto::UINT8, {n, blocks, size * bits / 8}, 0, 255),
                                 d.reals({n * blocks}, 0.01f, 0.02f)};
  if (d.c.chance(50)) in.push_back(d.integers(TensorProto::UINT8, {n * ((blocks * bits + 7) / 8)}, 0, 255));
  if (!d.node("MatMulNBits", in, x.type, x.most * static_cast<float>(k) * (bits == 4 ? 0.4f : 5), shape, &y,
              [&](Node& node) { node.domain(kDomain).i("N", n).i("K", k).i("bits", bits).i("block_size", size); }))
    return false;
  d.push(y);
  return true;
}

bool attention(Draw& d) {
  const int heads = d.c.between(1, 3), size = d.c.of({4, 8, 16}), batch = d.c.between(1, 2), length = d.c.between(1, 10),
            width = heads * size;
  if (d.real != TensorProto::FLOAT) return false;
  Value x, y;
  const uint32_t kind = d.c.below(4);
  if (!any_shaped(d, {batch, length, width}, &x)) return false;
  const auto in_heads = [&](Node& n) { n.domain(kDomain).i("num_heads", heads); };
  const float root = 1.5f / std::sqrt(static_cast<float>(width));
  if (kind == 0) {
    std::vector<std::string> in = {x.name, d.reals({width, 3 * width}, root), d.reals({3 * width}, 0.5f)};
    if (d.c.chance(40)) in.push_back(d.integers(TensorProto::INT32, {batch}, 1, length));
    if (!d.node("Attention", in, x.type, x.most * 2 + 1, same_as(x), &y, in_heads)) return false;
  } else if (kind == 1) {
    Value k, v;
    if (!any_shaped(d, {batch, length, width}, &k) || !any_shaped(d, {batch, length, width}, &v)) return false;
    std::vector<std::string> in = {x.name, k.name, v.name};
    if (d.c.chance(40)) in.push_back(d.reals({3 * width}, 0.5f));
    if (!d.node("MultiHeadAttention", in, x.type, v.most + 1, same_as(x), &y, in_heads)) return false;
  } else if (kind == 2) {
    if (!d.node("RotaryEmbedding", {x.name, d.int64s({0}), d.reals({length, size / 2}, 1), d.reals({length, size / 2}, 1)}, x.type,
                x.most * 2, same_as(x), &y, in_heads))
      return false;
  } else {
    const std::string codes = d.integers(TensorProto::INT8, {width, 3 * width}, -127, 127), scale = d.scalar(0.02f, x.type);
    Value q;
    if (!d.node("QuantizeLinear", {x.name, scale, d.scalar(128, TensorProto::UINT8)}, TensorProto::UINT8, 255, same_as(x), &q))
      return false;
    if (!d.node("QAttention",
                {q.name, codes, d.reals({3 * width}, 0.5f), scale, d.scalar(root / 127, x.type), "", d.scalar(128, TensorProto::UINT8),
                 d.scalar(0, TensorProto::INT8)},
                x.type, 10, same_as(x), &y, in_heads))
      return false;
  }
  d.push(y);
  return true;
}

bool embedding(Draw& d) {
  if (d.real != TensorProto::FLOAT) return false;
  const Value* p =
      d.any([&](const Value& v) { return v.type == TensorProto::INT32 && d.is_input(v) && v.is_static() && count_of(v.dims()) > 0; });
  const int batch = d.c.between(1, 2), length = d.c.between(1, 8), width = d.c.between(1, 40), words = 100;
  if (p == nullptr) return false;  // of constants alone it would be folded in the reference
  Value flat, positive, ids;
  const Value x = *p;
  if (!shaped(d, x, {batch, length}, &flat)) return false;
  if (!d.node("Abs", {flat.name}, x.type, 100, same_as(flat), &positive)) return false;
  if (!d.node("Mod", {positive.name, d.scalar(words, x.type)}, x.type, 100, same_as(flat), &ids)) return false;
  std::vector<Value> outs;
  const Dims table = {words, width};
  if (!d.mixed_nodes("EmbedLayerNormalization",
                     {ids.name, d.integers(TensorProto::INT32, {batch, length}, 0, 1), d.reals(table, 1), d.reals({length, width}, 1),
                      d.reals({2, width}, 1), d.reals({width}, 0.5f, 1), d.reals({width}, 0.5f)},
                     {d.real, TensorProto::INT32}, 20, {fixed({batch, length, width}), fixed({batch})}, &outs,
                     [&](Node& n) { n.domain(kDomain).f("epsilon", 1e-3f); }))
    return false;
  d.push(outs[0]);
  return true;
}

// Operators that ONNX took over, by their older name.
bool namesakes(Draw& d) {
  const Value* p = d.any([&](const Value& v) { return v.type == d.real && v.rank() >= 2 && v.is_static() && count_of(v.dims()) > 0; });
  if (p == nullptr || d.real != TensorProto::FLOAT) return false;
  const Value x = *p;
  Value y, z;
  const uint32_t kind = d.c.below(5);
  if (kind == 0) {
    if (!d.node("Trilu", {x.name}, x.type, x.most, same_as(x), &y, contrib)) return false;
  } else if (kind == 1) {
    Dims to(x.dims().begin() + 1, x.dims().end());
    to.insert(to.begin(), 3);
    if (!d.node("GatherND", {x.name, d.integers(TensorProto::INT64, {3, 1}, 0, x.dim(0) - 1)}, x.type, x.most, fixed(to), &y, contrib))
      return false;
  } else if (kind == 2) {
    Dims to = x.dims();
    to.back() += 3;
    std::vector<int64_t> pads(2 * static_cast<size_t>(x.rank()), 0);
    pads[static_cast<size_t>(x.rank()) - 1] = 1;
    pads.back() = 2;
    if (!d.node("Pad", {x.name, d.int64s(pads), d.scalar(0, x.type)}, x.type, x.most, fixed(to), &y, contrib)) return false;
  } else if (kind == 3) {
    const std::string scale = d.scalar(x.most / 100, x.type), zero = d.scalar(3, TensorProto::INT8);
    if (!d.node("QuantizeLinear", {x.name, scale, zero}, TensorProto::INT8, 127, same_as(x), &z, contrib)) return false;
    if (!d.node("DequantizeLinear", {z.name, scale, zero}, x.type, x.most, same_as(x), &y, contrib)) return false;
  } else {
    if (!d.is_input(x)) return false;
    std::vector<Value> outs;
    const Type index = TensorProto::INT64;
    Value flat;
    if (!shaped(d, x, {static_cast<int>(std::min<int64_t>(count_of(x.dims()), 30))}, &flat)) return false;
    if (!d.mixed_nodes("Unique", {flat.name}, {x.type, index, index}, x.most, {fixed({1}), fixed({1}), fixed({1})}, &outs, contrib))
      return false;
    for (Value& v : outs) v.closed = true, d.values.push_back(v);
    return true;
  }
  d.push(y);
  return true;
}

// --- codes: operand, scale, zero point; scale and zero point of the result ---

struct Codes {
  Value v;
  std::string scale, zero;
};

// A value of the graph as codes.
bool codes_of(Draw& d, const Value& x, Type type, Codes* out) {
  out->scale = d.scalar(x.most / 100, TensorProto::FLOAT);
  out->zero = d.scalar(static_cast<float>(type == TensorProto::INT8 ? d.c.between(0, 20) - 10 : d.c.between(100, 150)), type);
  return d.node("QuantizeLinear", {x.name, out->scale, out->zero}, type, 127, same_as(x), &out->v);
}

ShapeFn coded_shape(const std::string& op, const Value& x) {
  return [op, shapes = x.shapes](size_t s) {
    Dims out = shapes[s];
    const bool pool = op == "QLinearAveragePool", full = pool || op == "QLinearGlobalAveragePool" || op == "QLinearSoftmax";
    if (full && count_of(out) == 0) return kIllegal;
    if (op == "QLinearConcat") out.back() *= 2;
    if (op == "QLinearReduceMean") return out.back() == 0 ? kIllegal : (out.back() = 1, out);
    if (op == "QLinearGlobalAveragePool") return Dims{out[0], out[1], 1, 1};
    if (pool) return out[2] < 2 || out[3] < 2 ? kIllegal : Dims{out[0], out[1], out[2] - 1, out[3] - 1};
    return out;
  };
}

bool coded(Draw& d) {
  const Value* p = d.any([&](const Value& v) { return v.type == TensorProto::FLOAT && v.rank() >= 1 && v.most < 1e4f; });
  if (p == nullptr || d.real != TensorProto::FLOAT) return false;
  const Value x = *p;
  const Type type = d.c.chance(60) ? TensorProto::INT8 : TensorProto::UINT8;
  Codes a, b;
  if (!codes_of(d, x, type, &a)) return false;
  Value y, z;
  static const char* const ops[] = {"QLinearAdd",        "QLinearMul",         "QLinearSigmoid",           "QLinearLeakyRelu",
                                    "QLinearReduceMean", "QLinearAveragePool", "QLinearGlobalAveragePool", "QLinearSoftmax",
                                    "QLinearConcat",     "QLinearWhere"};
  const std::string op = d.c.of(ops);
  // ONNX Runtime's gives 0 for a probability of 1.
  if (op == "QLinearSoftmax" && x.dims().back() < 2) return false;
  if (op.find("Pool") != std::string::npos && (x.rank() != 4 || x.open(1))) return false;
  const std::string scale = d.scalar(op == "QLinearSoftmax" || op == "QLinearSigmoid" ? 0.00390625f : x.most / 60, TensorProto::FLOAT);
  // ONNX Runtime's softmax asks for this one.
  const bool least = op == "QLinearSoftmax";
  const std::string zero = d.scalar(type == TensorProto::INT8 ? (least ? -128 : 0) : least ? 0 : 128, type);
  const std::vector<std::string> own = {a.v.name, a.scale, a.zero}, result = {scale, zero};
  std::vector<std::string> in = own;
  if (op == "QLinearAdd" || op == "QLinearMul" || op == "QLinearWhere") {
    const Dims other = x.is_static() && d.c.chance(50) ? x.dims() : x.open(x.rank() - 1) ? Dims{1} : Dims{x.dims().back()};
    const std::string codes = d.integers(type, other, type == TensorProto::INT8 ? -100 : 20, 127);
    in.insert(in.end(), {codes, d.scalar(0.01f, TensorProto::FLOAT), zero});
    if (op == "QLinearWhere") {
      Value mask;
      if (!d.node("Greater", {x.name, d.scalar(x.most / 3, TensorProto::FLOAT)}, TensorProto::BOOL, 1, same_as(x), &mask)) return false;
      in.insert(in.begin(), mask.name);
    }
  } else if (op == "QLinearConcat") {
    in = {scale, zero, a.v.name, a.scale, a.zero, a.v.name, a.scale, a.zero};
  }
  if (op != "QLinearConcat") in.insert(in.end(), result.begin(), result.end());
  if (!d.node(op.c_str(), in, type, 127, coded_shape(op, x), &y, [&](Node& n) {
        n.domain(kDomain);
        if (op == "QLinearConcat") n.i("axis", x.rank() - 1);
        if (op == "QLinearReduceMean") n.ints("axes", {x.rank() - 1}).i("keepdims", 1);
        if (op == "QLinearAveragePool") n.ints("kernel_shape", {2, 2});
        if (op == "QLinearGlobalAveragePool") n.i("channels_last", 0);
        if (op == "QLinearSoftmax") n.i("axis", x.rank() - 1).i("opset", 13);
        if (op == "QLinearLeakyRelu") n.f("alpha", 0.125f);
      }))
    return false;
  if (!d.node("DequantizeLinear", {y.name, scale, zero}, TensorProto::FLOAT, x.most * 3, same_as(y), &z)) return false;
  d.push(z);
  return true;
}

bool coded_products(Draw& d) {
  Value x, y;
  if (!rows(d, &x, 2, 2) || d.real != TensorProto::FLOAT) return false;
  const int k = x.dims().back(), n = d.channels();
  const auto shape = [&](size_t s) { return Dims{x.shapes[s][0], n}; };
  const uint32_t kind = d.c.below(3);
  const std::string weights = d.integers(TensorProto::INT8, {k, n}, -100, 100), ws = d.scalar(0.01f, TensorProto::FLOAT),
                    wz = d.scalar(0, TensorProto::INT8);
  const float most = x.most * static_cast<float>(k);
  if (kind == 0) {
    std::vector<std::string> in = {x.name, weights, ws, wz};
    if (d.c.chance(50)) in.push_back(d.reals({n}, 0.5f));
    if (!d.node("DynamicQuantizeMatMul", in, TensorProto::FLOAT, most, shape, &y, contrib)) return false;
  } else {
    Codes a;
    if (!codes_of(d, x, TensorProto::UINT8, &a)) return false;
    if (kind == 1) {
      std::vector<std::string> in = {a.v.name, weights, a.scale, ws, a.zero, wz};
      if (d.c.chance(50)) in.push_back(d.reals({n}, 0.5f));
      if (!d.node("MatMulIntegerToFloat", in, TensorProto::FLOAT, most, shape, &y, contrib)) return false;
    } else {
      std::vector<std::string> in = {a.v.name, a.scale, a.zero, weights, ws, wz, d.integers(TensorProto::INT32, {n}, -500, 500)};
      if (!d.node("QGemm", in, TensorProto::FLOAT, most + 5, shape, &y, contrib)) return false;
    }
  }
  d.push(y);
  return true;
}

}  // namespace

const std::vector<Line>& contrib_lines();
const std::vector<Line>& contrib_lines() {
  static const std::vector<Line> lines = {{gelus, 3},     {norms, 3},     {sums, 3},      {fused, 4}, {few_bits, 3},
                                          {attention, 4}, {embedding, 1}, {namesakes, 2}, {coded, 8}, {coded_products, 4}};
  return lines;
}

}  // namespace mote::differential
