// Matrix products of floats and of integers, recurrent layers.

#include <algorithm>
#include <cmath>

#include "tests/differential/draw.h"

namespace mote::differential {
namespace {

using ::onnx::TensorProto;

Dims matmul_shape(const Dims& a, const Dims& b) {
  if (a.empty() || b.empty()) return kIllegal;
  const int ka = a.back(), kb = b.size() == 1 ? b[0] : b[b.size() - 2];
  if (ka != kb) return kIllegal;
  Dims left(a.begin(), a.end() - (a.size() > 1 ? 2 : 1)), right(b.begin(), b.end() - (b.size() > 1 ? 2 : 1));
  Dims out = broadcast(left, right);
  if (out == kIllegal) return out;
  if (a.size() > 1) out.push_back(a[a.size() - 2]);
  if (b.size() > 1) out.push_back(b.back());
  return out;
}

const Value* rows(Draw& d, Type type, int least_rank, int most_rank) {
  return d.any([=](const Value& v) {
    return v.type == type && v.rank() >= least_rank && v.rank() <= most_rank && !v.open(v.rank() - 1) && v.dims().back() > 0;
  });
}

bool matmul(Draw& d) {
  const Value* p = rows(d, d.real, 1, 4);
  if (p == nullptr) return false;
  const Value x = d.in(*p);
  const int k = x.dims().back();
  Value y;
  float scale;
  Dims weight = {k, d.channels()};
  const float most = 2.0f / std::sqrt(static_cast<float>(k));
  if (x.rank() >= 3 && !x.open(0) && d.c.chance(20)) weight.insert(weight.begin(), x.dim(0));
  const std::string w = d.weights(weight, static_cast<int>(weight.size()) - 1, most, &scale);
  if (!d.node(
          "MatMul", {x.name, w}, x.type, x.most * 2, [&](size_t s) { return matmul_shape(x.shapes[s], weight); }, &y))
    return false;
  if (d.c.chance(50)) {
    Value z;
    if (d.node(
            "Add", {y.name, d.bias(weight.back(), k, x, scale)}, x.type, y.most + 1, [&](size_t s) { return y.shapes[s]; }, &z))
      y = z;
  }
  d.push(y);
  return true;
}

// Of two values: attention without its softmax.
bool matmul_of_two(Draw& d) {
  const Value* p = d.any_real(2, 4);
  if (p == nullptr) return false;
  const Value a = d.in(*p);
  const Value* q = d.any([&](const Value& v) {
    if (v.type != a.type || v.rank() < 2) return false;
    for (size_t s = 0; s < d.samples(); ++s)
      if (matmul_shape(a.shapes[s], v.shapes[s]) == kIllegal) return false;
    return true;
  });
  Value b, y;
  if (q != nullptr && d.c.chance(60)) {
    b = d.in(*q);
  } else {  // with itself, turned
    std::vector<int64_t> perm;
    for (int i = 0; i < a.rank(); ++i) perm.push_back(i);
    std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
    const auto turned = [&](size_t s) {
      Dims out = a.shapes[s];
      std::swap(out[out.size() - 1], out[out.size() - 2]);
      return out;
    };
    if (!d.node("Transpose", {a.name}, a.type, a.most, turned, &b, [&](Node& n) { n.ints("perm", perm); })) return false;
    if (d.quantized && d.c.chance(50)) b = d.quantize(b, &a);
  }
  const float k = static_cast<float>(a.dims().back());
  if (!d.node(
          "MatMul", {a.name, b.name}, a.type, a.most * b.most * k, [&](size_t s) { return matmul_shape(a.shapes[s], b.shapes[s]); }, &y))
    return false;
  d.push(y);
  return true;
}

bool gemm(Draw& d) {
  const Value* p = rows(d, d.real, 2, 2);
  if (p == nullptr) return false;
  const Value x = d.in(*p);
  const int k = x.dims().back(), n = d.channels();
  const bool turned = d.c.chance(60);
  float scale;
  const std::string w = d.weights(turned ? Dims{n, k} : Dims{k, n}, turned ? 0 : 1, 2.0f / std::sqrt(static_cast<float>(k)), &scale);
  std::vector<std::string> in = {x.name, w};
  const uint32_t kind = d.c.below(5);
  if (kind < 3) in.push_back(d.bias(n, k, x, scale));
  else if (kind == 3) in.push_back(d.reals({1}, 1));
  const bool scaled = d.c.chance(15);
  Value y;
  if (!d.node(
          "Gemm", in, x.type, x.most * 2 + 1,
          [&](size_t s) {
            return Dims{x.shapes[s][0], n};
          },
          &y,
          [&](Node& node) {
            if (turned) node.i("transB", 1);
            if (scaled) node.f("alpha", 0.5f).f("beta", 2.0f);
          }))
    return false;
  d.push(y);
  return true;
}

// Dynamic quantization: codes are made while running.
bool dynamic(Draw& d) {
  const Value* p = rows(d, TensorProto::FLOAT, 2, 4);
  if (p == nullptr || d.real != TensorProto::FLOAT) return false;
  const Value x = *p;
  const int k = x.dims().back(), n = d.channels();
  const auto scalar_shape = [](size_t) { return Dims{}; };
  const auto same = [&](size_t s) { return count_of(x.shapes[s]) == 0 && d.c.chance(50) ? kIllegal : x.shapes[s]; };
  std::vector<Value> outs;
  if (x.shapes.size() == 1 && count_of(x.dims()) == 0) return false;
  if (!d.mixed_nodes("DynamicQuantizeLinear", {x.name}, {TensorProto::UINT8, TensorProto::FLOAT, TensorProto::UINT8}, 255,
                     {same, scalar_shape, scalar_shape}, &outs))
    return false;
  const bool with_zero = d.c.chance(40), of_each = d.c.chance(30);
  const Type code = d.c.chance(20) ? TensorProto::UINT8 : TensorProto::INT8;
  const std::string w = code == TensorProto::INT8 ? d.integers(code, {k, n}, -127, 127) : d.integers(code, {k, n}, 0, 255);
  std::vector<std::string> in = {outs[0].name, w, outs[2].name};
  if (with_zero) in.push_back(of_each ? d.integers(code, {n}, 0, 9) : d.integers(code, {}, 0, 9));
  Value sums, real, scale, y;
  const auto product = [&](size_t s) { return matmul_shape(x.shapes[s], {k, n}); };
  if (!d.node("MatMulInteger", in, TensorProto::INT32, 1e6f, product, &sums)) return false;
  if (d.c.chance(20)) {
    d.push(sums);
    return true;
  }
  if (!d.node("Cast", {sums.name}, TensorProto::FLOAT, 9e5f, product, &real, [](Node& node) { node.i("to", TensorProto::FLOAT); }))
    return false;
  if (!d.node("Mul", {outs[1].name, d.scalar(0.01f, TensorProto::FLOAT)}, TensorProto::FLOAT, 1, scalar_shape, &scale)) return false;
  if (!d.node("Mul", {real.name, scale.name}, TensorProto::FLOAT, x.most * static_cast<float>(k), product, &y)) return false;
  d.push(y);
  return true;
}

// Codes straight from the input: ConvInteger, MatMulInteger, QLinearMatMul, QLinearConv.
bool codes(Draw& d) {
  const Value* p = d.any([](const Value& v) {
    return (v.type == TensorProto::INT8 || v.type == TensorProto::UINT8) && v.rank() >= 2 && v.rank() <= 4 && !v.open(1) && v.dim(1) > 0;
  });
  if (p == nullptr) return false;
  const Value x = *p;
  const Type t = x.type;
  const auto some = [&](const Dims& dims) { return t == TensorProto::INT8 ? d.integers(t, dims, -127, 127) : d.integers(t, dims, 0, 255); };
  const auto zero = [&] {
    return d.scalar(static_cast<float>(t == TensorProto::INT8 ? d.c.between(0, 40) - 20 : d.c.between(100, 150)), t);
  };
  const std::string sx = d.scalar(0.02f, TensorProto::FLOAT), sw = d.scalar(0.01f, TensorProto::FLOAT);
  Value y;
  const bool linear = d.c.chance(60);
  if (x.rank() == 4) {
    const int n = d.channels(), channels = x.dim(1), k = d.c.of({1, 3, 2});
    const Dims weight = {n, channels, k, k};
    const auto shape = [&](size_t s) {
      const Dims& in = x.shapes[s];
      return in[2] < k || in[3] < k ? kIllegal : Dims{in[0], n, in[2] - k + 1, in[3] - k + 1};
    };
    if (count_of(weight) > 40000) return false;
    const std::string sy = d.scalar(0.02f * 0.01f * 60 * std::sqrt(static_cast<float>(channels * k * k)), TensorProto::FLOAT);
    if (linear) {
      if (!d.node("QLinearConv", {x.name, sx, zero(), some(weight), sw, zero(), sy, zero()}, t, 127, shape, &y)) return false;
    } else if (!d.node("ConvInteger", {x.name, t == TensorProto::UINT8 ? some(weight) : d.integers(t, weight, -127, 127), zero()},
                       TensorProto::INT32, 1e6f, shape, &y)) {
      return false;
    }
  } else {
    const int k = x.dims().back(), n = d.channels();
    if (x.open(x.rank() - 1) || k == 0) return false;
    const auto shape = [&](size_t s) { return matmul_shape(x.shapes[s], {k, n}); };
    const std::string sy = d.scalar(0.02f * 0.01f * 60 * std::sqrt(static_cast<float>(k)), TensorProto::FLOAT);
    if (linear) {
      if (!d.node("QLinearMatMul", {x.name, sx, zero(), some({k, n}), sw, zero(), sy, zero()}, t, 127, shape, &y)) return false;
    } else if (!d.node("MatMulInteger", {x.name, some({k, n}), zero(), zero()}, TensorProto::INT32, 1e6f, shape, &y)) {
      return false;
    }
  }
  d.push(y);
  return true;
}

bool recurrent(Draw& d) {
  const Value* p = d.any(
      [&](const Value& v) { return v.type == d.real && v.rank() == 3 && !v.open(2) && v.dim(2) > 0 && v.dim(2) <= 64 && v.dim(0) <= 12; });
  if (p == nullptr || d.real != TensorProto::FLOAT) return false;
  const Value x = *p;
  struct Kind {
    const char* name;
    int gates;
  };
  static const Kind kinds[] = {{"LSTM", 4}, {"GRU", 3}, {"RNN", 1}};
  const Kind& kind = d.c.of(kinds);
  const int hidden = d.c.between(1, 20), directions = d.c.chance(25) ? 2 : 1, in = x.dim(2);
  const auto shape = [&](size_t s) {
    const Dims& dims = x.shapes[s];
    return count_of(dims) == 0 ? kIllegal : Dims{dims[0], directions, dims[1], hidden};
  };
  std::vector<std::string> inputs = {x.name, d.reals({directions, kind.gates * hidden, in}, 0.4f),
                                     d.reals({directions, kind.gates * hidden, hidden}, 0.4f)};
  if (d.c.chance(70)) inputs.push_back(d.reals({directions, 2 * kind.gates * hidden}, 0.3f));
  Value y;
  const bool backwards = directions == 1 && d.c.chance(25), before = d.c.chance(40);
  if (!d.node(kind.name, inputs, x.type, 1, shape, &y, [&](Node& n) {
        n.i("hidden_size", hidden);
        if (directions == 2) n.s("direction", "bidirectional");
        if (backwards) n.s("direction", "reverse");
        if (kind.gates == 3 && before) n.i("linear_before_reset", 1);
      }))
    return false;
  d.push(y);
  return true;
}

}  // namespace

const std::vector<Line>& product_lines();
const std::vector<Line>& product_lines() {
  static const std::vector<Line> lines = {{matmul, 10}, {gemm, 6}, {matmul_of_two, 3}, {dynamic, 4}, {codes, 3}, {recurrent, 2}};
  return lines;
}
const std::vector<Line>& integer_lines();
const std::vector<Line>& integer_lines() {
  static const std::vector<Line> lines = {{codes, 10}, {dynamic, 4}};
  return lines;
}

}  // namespace mote::differential
