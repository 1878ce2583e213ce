// Convolutions, pools, resizes: what reads windows of an image.

#include <algorithm>
#include <cmath>

#include "tests/differential/draw.h"

namespace mote::differential {
namespace {

using ::onnx::TensorProto;

// A window over the spatial axes, drawn to fit the size at the bounds.
struct Window {
  std::vector<int64_t> kernel, strides, dilations, pads;  // pads: all beginnings, then all ends
  bool ceil = false;

  int axes() const { return static_cast<int>(kernel.size()); }
  int reach(int i) const { return static_cast<int>(dilations[static_cast<size_t>(i)] * (kernel[static_cast<size_t>(i)] - 1)) + 1; }
  // The size behind it; -1 where it does not fit.
  int out(int i, int size) const {
    const auto k = static_cast<size_t>(i);
    const int64_t padded = size + pads[k] + pads[k + kernel.size()], stride = strides[k];
    if (padded < reach(i)) return -1;
    const int64_t over = padded - reach(i);
    int64_t n = (ceil ? (over + stride - 1) / stride : over / stride) + 1;
    // A window that begins in the padding behind the image is left out.
    if (ceil && (n - 1) * stride >= size + pads[k]) --n;
    return static_cast<int>(n);
  }
  Dims shape(const Dims& in, int channels) const {
    Dims d = {in[0], channels};
    for (int i = 0; i < axes(); ++i) {
      const int size = in[static_cast<size_t>(i) + 2], n = size == 0 ? -1 : out(i, size);
      if (n < 0) return kIllegal;
      d.push_back(n);
    }
    return d;
  }
};

Window draw_window(Draw& d, const Value& x, int most_kernel, bool may_dilate) {
  Window w;
  for (int i = 0; i < x.rank() - 2; ++i) {
    const int kernel = d.c.chance(10) ? d.c.between(1, most_kernel + 2) : d.c.of({3, 3, 3, 1, 1, 2, 5});
    w.kernel.push_back(std::min(kernel, most_kernel));
    w.strides.push_back(d.c.of({1, 1, 1, 2, 2, 3}));
    w.dilations.push_back(may_dilate && d.c.chance(10) ? 2 : 1);
  }
  if (d.c.chance(60)) {  // often square
    std::fill(w.kernel.begin(), w.kernel.end(), w.kernel[0]);
    std::fill(w.strides.begin(), w.strides.end(), w.strides[0]);
  }
  const uint32_t kind = d.c.below(4);
  for (int side = 0; side < 2; ++side)
    for (const int64_t k : w.kernel) w.pads.push_back(kind == 0 ? 0 : kind == 1 ? d.c.between(0, static_cast<int>(k - 1)) : (k - 1) / 2);
  return w;
}

void write(Node& n, const Window& w, bool kernel) {
  if (kernel) n.ints("kernel_shape", w.kernel);
  n.ints("strides", w.strides).ints("pads", w.pads);
  if (std::any_of(w.dilations.begin(), w.dilations.end(), [](int64_t x) { return x != 1; })) n.ints("dilations", w.dilations);
}

const Value* image(Draw& d, int least_rank = 3, int most_rank = 5) {
  return d.any(
      [&](const Value& v) { return v.type == d.real && v.rank() >= least_rank && v.rank() <= most_rank && !v.open(1) && v.dim(1) > 0; });
}

bool conv(Draw& d) {
  const Value* p = image(d);
  if (p == nullptr) return false;
  const Value x = d.in(*p);
  const int channels = x.dim(1);
  const uint32_t kind = d.c.below(10);
  int groups = 1, out = 1;
  if (kind < 5) {
    out = d.channels();
  } else if (kind < 9) {  // depthwise, with one output for each channel or two
    groups = channels;
    out = channels * (d.c.chance(10) ? 2 : 1);
  } else {
    for (const int g : {2, 3, 4, 8})
      if (channels % g == 0 && d.c.chance(50)) groups = g;
    out = groups * d.c.between(1, 20);
  }
  const Window w = draw_window(d, x, x.rank() == 3 ? 7 : 5, true);
  Dims weight = {out, channels / groups};
  int64_t terms = channels / groups;
  for (const int64_t k : w.kernel) weight.push_back(static_cast<int>(k)), terms *= k;
  if (count_of(weight) > 40000) return false;
  float scale;
  const float most = 2.0f / std::sqrt(static_cast<float>(terms));
  const auto shape = [&](size_t s) { return w.shape(x.shapes[s], out); };
  if (shape(0) == kIllegal) return false;
  std::vector<std::string> in = {x.name, d.weights(weight, 0, most, &scale)};
  if (d.c.chance(60)) in.push_back(d.bias(out, static_cast<int>(std::min<int64_t>(terms, 100)), x, scale));
  Value y;
  if (!d.node("Conv", in, x.type, x.most * 2 + 0.5f, shape, &y, [&](Node& n) {
        write(n, w, d.c.chance(50));
        if (groups > 1) n.i("group", groups);
      }))
    return false;
  d.push(y);
  return true;
}

bool conv_transpose(Draw& d) {
  const Value* p = image(d, 3, 4);
  if (p == nullptr) return false;
  const Value x = d.in(*p);
  const int channels = x.dim(1);
  const int groups = d.c.chance(20) ? channels : 1, each = groups > 1 ? 1 : d.c.between(1, 20);
  Window w = draw_window(d, x, 4, true);
  Dims weight = {channels, each};
  for (const int64_t k : w.kernel) weight.push_back(static_cast<int>(k));
  std::vector<int64_t> more;
  for (const int64_t s : w.strides) more.push_back(s > 1 && d.c.chance(30) ? 1 : 0);
  const auto shape = [&](size_t s) {
    Dims out = {x.shapes[s][0], each * groups};
    for (int i = 0; i < w.axes(); ++i) {
      const auto k = static_cast<size_t>(i);
      const int size = x.shapes[s][k + 2];
      const int64_t n = w.strides[k] * (size - 1) + w.reach(i) + more[k] - w.pads[k] - w.pads[k + w.kernel.size()];
      if (size == 0 || n < 1) return kIllegal;
      out.push_back(static_cast<int>(n));
    }
    return out;
  };
  if (shape(0) == kIllegal) return false;
  float scale;
  std::vector<std::string> in = {x.name, d.weights(weight, groups > 1 ? 0 : 1, 1.0f / std::sqrt(static_cast<float>(channels)), &scale)};
  if (d.c.chance(50)) in.push_back(d.reals({each * groups}, 0.5f));
  Value y;
  if (!d.node("ConvTranspose", in, x.type, x.most * 4 + 0.5f, shape, &y, [&](Node& n) {
        write(n, w, true);
        n.ints("output_padding", more);
        if (groups > 1) n.i("group", groups);
      }))
    return false;
  d.push(y);
  return true;
}

bool pool(Draw& d) {
  const Value* p = image(d);
  if (p == nullptr) return false;
  const Value x = d.in(*p);
  static const char* const ops[] = {"MaxPool", "AveragePool", "MaxPool", "AveragePool", "LpPool"};
  const std::string op = d.c.of(ops);
  Window w = draw_window(d, x, 5, op == "MaxPool");
  // Padding smaller than the kernel: a window in nothing but padding has no meaning.
  for (size_t i = 0; i < w.pads.size(); ++i) w.pads[i] = std::min(w.pads[i], w.kernel[i % w.kernel.size()] - 1);
  w.ceil = d.c.chance(25) && op != "LpPool";
  const auto shape = [&](size_t s) { return w.shape(x.shapes[s], x.shapes[s][1]); };
  Value y;
  const bool counts = d.c.chance(40);
  if (!d.node(op.c_str(), {x.name}, x.type, op == "LpPool" ? x.most * 5 : x.most, shape, &y, [&](Node& n) {
        write(n, w, true);
        if (w.ceil) n.i("ceil_mode", 1);
        if (op == "AveragePool" && counts) n.i("count_include_pad", 1);
        if (op == "LpPool") n.i("p", counts ? 1 : 2);
      }))
    return false;
  d.push(y, &x);
  return true;
}

bool global_pool(Draw& d) {
  const Value* p = image(d);
  if (p == nullptr) return false;
  const Value x = d.in(*p);
  static const char* const ops[] = {"GlobalAveragePool", "GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool"};
  const char* op = d.c.of(ops);
  const auto shape = [&](size_t s) {
    Dims out = x.shapes[s];
    for (size_t i = 2; i < out.size(); ++i) {
      if (out[i] == 0) return kIllegal;
      out[i] = 1;
    }
    return out;
  };
  Value y;
  if (!d.node(op, {x.name}, x.type, std::string(op) == "GlobalLpPool" ? x.most * 16 : x.most, shape, &y)) return false;
  d.push(y, &x);
  return true;
}

bool resize(Draw& d) {
  const Value* p = d.any([&](const Value& v) { return v.type == d.real && v.rank() >= 3 && v.rank() <= 4; });
  if (p == nullptr) return false;
  const Value x = d.in(*p);
  static const char* const modes[] = {"nearest", "linear", "nearest", "linear", "cubic"};
  static const char* const coordinates[] = {"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"};
  static const char* const roundings[] = {"round_prefer_floor", "floor", "ceil", "round_prefer_ceil"};
  const std::string mode = d.c.of(modes), coordinate = d.c.of(coordinates), rounding = d.c.of(roundings);
  if (mode == "cubic" && x.rank() != 4) return false;
  // Where corners are aligned the specification divides by the size before rounding, ONNX Runtime by the one behind: they agree on whole
  // ones.
  const bool by_scale = coordinate != "align_corners" && d.c.chance(50);
  std::vector<float> scales(static_cast<size_t>(x.rank()), 1.0f);
  std::vector<int64_t> sizes;
  for (int i = 0; i < x.rank(); ++i) {
    if (i >= 2) scales[static_cast<size_t>(i)] = d.c.of({2.0f, 1.0f, 0.5f, 3.0f, 1.5f, 0.75f});
    sizes.push_back(i >= 2 ? d.c.between(1, 16) : x.dim(i));
    if (!by_scale && x.open(i)) return false;
  }
  const auto shape = [&](size_t s) {
    Dims out = x.shapes[s];
    for (size_t i = 2; i < out.size(); ++i) {
      if (out[i] == 0) return kIllegal;
      out[i] = by_scale ? static_cast<int>(std::floor(static_cast<float>(out[i]) * scales[i])) : static_cast<int>(sizes[i]);
      if (out[i] == 0) return kIllegal;
    }
    return out;
  };
  std::vector<std::string> in = {x.name, ""};
  if (by_scale) {
    const Type real = d.real;
    d.real = TensorProto::FLOAT;
    // Sizes of a float tensor with these values.
    const std::string name = d.reals({x.rank()}, 0, 0);
    d.set_floats(name, scales);
    d.real = real;
    in.push_back(name);
  } else {
    in.push_back("");
    in.push_back(d.int64s(sizes));
  }
  Value y;
  if (!d.node("Resize", in, x.type, x.most * (mode == "cubic" ? 2 : 1), shape, &y, [&](Node& n) {
        n.s("mode", mode).s("coordinate_transformation_mode", coordinate);
        if (mode == "nearest") n.s("nearest_mode", rounding);
      }))
    return false;
  d.push(y, &x);
  return true;
}

bool batch_norm(Draw& d) {
  const Value* p = d.any([&](const Value& v) { return v.type == d.real && v.rank() >= 2 && !v.open(1) && v.dim(1) > 0; });
  if (p == nullptr) return false;
  const Value x = d.in(*p);
  const int c = x.dim(1);
  Value y;
  const auto same = [&](size_t s) { return x.shapes[s]; };
  const std::string op = x.rank() > 2 && d.c.chance(25) ? "InstanceNormalization" : "BatchNormalization";
  if (op == "BatchNormalization") {
    if (!d.node("BatchNormalization", {x.name, d.reals({c}, 0.5f, 1), d.reals({c}, 0.5f), d.reals({c}, 0.5f), d.reals({c}, 0.4f, 1)},
                x.type, x.most * 2 + 2, same, &y))
      return false;
  } else {
    const auto full = [&](size_t s) { return count_of(x.shapes[s]) == 0 ? kIllegal : x.shapes[s]; };
    if (!d.node(op.c_str(), {x.name, d.reals({c}, 0.5f, 1), d.reals({c}, 0.5f)}, x.type, 12, full, &y)) return false;
  }
  d.push(y);
  return true;
}

bool lrn(Draw& d) {
  const Value* p = image(d, 4, 4);
  if (p == nullptr) return false;
  const Value x = d.in(*p);
  Value y;
  if (!d.node(
          "LRN", {x.name}, x.type, x.most, [&](size_t s) { return x.shapes[s]; }, &y,
          [&](Node& n) {
            n.i("size", d.c.of({3, 5, 1})).f("alpha", 0.01f);
          }))
    return false;
  d.push(y);
  return true;
}

}  // namespace

const std::vector<Line>& window_lines();
const std::vector<Line>& window_lines() {
  static const std::vector<Line> lines = {{conv, 20},          {pool, 7},       {global_pool, 3}, {resize, 5},
                                          {conv_transpose, 3}, {batch_norm, 4}, {lrn, 1}};
  return lines;
}

}  // namespace mote::differential
