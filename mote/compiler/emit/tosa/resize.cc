// Resizing: RESIZE where its whole-number places are those of the model, else indices to gather or a matrix of weights.

#include <cmath>
#include <numeric>

#include "mote/compiler/emit/tosa/rescale.h"
#include "mote/compiler/emit/tosa/windows.h"
#include "mote/compiler/ir/infer.h"
#include "mote/ops/q_resize/q_resize.h"
#include "mote/ops/resize/coordinates.h"

namespace mote::emit::tosa {
namespace {

// One dimension of RESIZE: output i lies at (i * denominator + offset) / numerator.
struct Line {
  int64_t numerator = 1, denominator = 1, offset = 0;
  int64_t in = 1, out = 1;

  int64_t border() const { return (out - 1) * denominator + offset - (in - 1) * numerator; }
  bool allowed() const {
    return numerator <= 2048 && denominator < 16 * numerator && offset >= -numerator && offset < 16 * numerator &&
           border() >= -16 * numerator && border() < numerator && std::max(in, out) < 16384;
  }
  int64_t whole(int64_t i) const {
    const int64_t place = i * denominator + offset;
    return place >= 0 ? place / numerator : -((-place + numerator - 1) / numerator);
  }
  int64_t clamped(int64_t i) const { return std::clamp<int64_t>(i, 0, in - 1); }
  int64_t nearest(int64_t i) const {
    const int64_t rest = i * denominator + offset - whole(i) * numerator;
    return clamped(whole(i) + (rest * 2 >= numerator ? 1 : 0));
  }
};

// Of each output of one dimension: what it is made of. For nearest one element of weight 1.
using Weights = std::vector<std::vector<std::pair<int64_t, double>>>;

bool matches(const Line& line, const Weights& wanted, bool nearest) {
  for (int64_t i = 0; i < line.out; ++i) {
    const auto& taps = wanted[static_cast<size_t>(i)];
    if (nearest) {
      if (taps[0].first != line.nearest(i)) return false;
      continue;
    }
    // The mean place tells whether both weights are the same; at the edges both elements are one.
    double place = 0;
    for (const auto& [at, weight] : taps) place += static_cast<double>(at) * weight;
    const int64_t whole = line.whole(i);
    const double rest =
        static_cast<double>(i * line.denominator + line.offset - whole * line.numerator) / static_cast<double>(line.numerator);
    const double found = static_cast<double>(line.clamped(whole)) * (1 - rest) + static_cast<double>(line.clamped(whole + 1)) * rest;
    if (std::fabs(found - place) > 1e-5) return false;
  }
  return true;
}

// The places that models use: half pixels, asymmetric ones and aligned corners, for nearest moved by parts of an element.
bool find_line(const Weights& wanted, int64_t in, bool nearest, Line* found) {
  const int64_t out = static_cast<int64_t>(wanted.size());
  const Line starts[] = {{1, 1, 0, in, out},
                         {2 * out, 2 * in, in - out, in, out},
                         {out, in, 0, in, out},
                         {std::max<int64_t>(out - 1, 1), std::max<int64_t>(in - 1, 1), 0, in, out},
                         {2 * out, 2 * in, in, in, out}};
  for (Line line : starts) {
    const int64_t common = std::gcd(std::gcd(line.numerator, line.denominator), line.offset);
    line.numerator = 2 * line.numerator / common;
    line.denominator = 2 * line.denominator / common;
    line.offset = 2 * line.offset / common;
    const int64_t middle = line.offset;
    for (const int64_t move : {int64_t{0}, int64_t{-1}, -line.numerator / 2, line.numerator / 2 - 1}) {
      line.offset = middle + (nearest ? move : 0);
      Line least = line;
      const int64_t shared = std::gcd(std::gcd(line.numerator, line.denominator), std::gcd(line.offset, line.border()));
      least.numerator /= shared, least.denominator /= shared, least.offset /= shared;
      if (least.allowed() && matches(least, wanted, nearest)) return *found = least, true;
    }
  }
  return false;
}

Operand resize_op(Writer& w, const Operand& x, const Line& h, const Line& v, bool nearest, fb::DType type) {
  const auto kind = fb::CreateResizeAttribute(w.b, nearest ? fb::ResizeMode::NEAREST : fb::ResizeMode::BILINEAR).Union();
  return w.op(fb::Op::RESIZE, fb::Attribute::ResizeAttribute, kind,
              {x, w.shape({h.numerator, h.denominator, v.numerator, v.denominator}), w.shape({h.offset, v.offset}),
               w.shape({h.border(), v.border()})},
              type, {x.dims[0], static_cast<int32_t>(h.out), static_cast<int32_t>(v.out), x.dims[3]});
}

// Any weights: x along one axis times a matrix.
Operand times_weights(Writer& w, const Operand& x, size_t axis, const Weights& wanted) {
  const int rank = static_cast<int>(x.dims.size());
  const int32_t in = x.dims[axis], out = static_cast<int32_t>(wanted.size());
  constexpr int64_t kMostWeights = 1 << 24;
  if (int64_t{in} * out > kMostWeights) w.fail("the matrix of weights is too large");
  if (!w.ok()) return {};
  std::vector<double> matrix(static_cast<size_t>(in) * wanted.size(), 0);
  for (size_t i = 0; i < wanted.size(); ++i)
    for (const auto& [at, weight] : wanted[i]) matrix[static_cast<size_t>(at) * wanted.size() + i] += weight;
  std::vector<int> perm(x.dims.size());
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[axis], perm[static_cast<size_t>(rank - 1)]);
  const Operand last = w.transpose(x, perm);
  Dims dims = last.dims;
  int32_t rows = 1;
  for (size_t i = 0; i + 1 < dims.size(); ++i) rows *= dims[i];
  const Operand y =
      w.op(fb::Op::MATMUL, {w.reshape(last, {1, rows, in}), w.numbers(x.type, {1, in, out}, matrix), w.zero(x.type), w.zero(x.type)},
           x.type, {1, rows, out});
  dims.back() = out;
  return w.transpose(w.reshape(y, dims), perm);
}

Operand by_index(Writer& w, const Operand& x, size_t axis, const Weights& wanted) {
  std::vector<double> index;
  for (const auto& taps : wanted) index.push_back(static_cast<double>(taps[0].first));
  return gathered(w, x, axis, w.numbers(fb::DType::INT32, {static_cast<int32_t>(index.size())}, index));
}

// (N, H, W, C) or with fewer or more dimensions between; wanted: of each of them.
Operand resized(Writer& w, Operand x, const std::vector<Weights>& wanted, bool nearest) {
  std::vector<Line> lines(wanted.size());
  bool found = x.dims.size() <= 4 && x.type != fb::DType::INT32 && x.type != fb::DType::BOOL;
  for (size_t i = 0; found && i < wanted.size(); ++i) found = find_line(wanted[i], x.dims[i + 1], nearest, &lines[i]);
  if (found && x.dims.size() == 4) return resize_op(w, x, lines[0], lines[1], nearest, x.type);
  if (found && x.dims.size() == 3) {
    const Operand y = resize_op(w, w.reshape(x, {x.dims[0], 1, x.dims[1], x.dims[2]}), Line{}, lines[0], nearest, x.type);
    return w.reshape(y, {y.dims[0], y.dims[2], y.dims[3]});
  }
  for (size_t i = 0; w.ok() && i < wanted.size(); ++i)
    if (x.dims[i + 1] != static_cast<int32_t>(wanted[i].size()) || !nearest)
      x = nearest ? by_index(w, x, i + 1, wanted[i]) : times_weights(w, x, i + 1, wanted[i]);
  return x;
}

Operand resize(Writer& w, const Node& n) {
  namespace op = ops::resize;
  const auto a = n.attributes<op::Attrs>();
  const Operand x = w.signed_of(n.inputs[0]);
  const bool nearest = a.mode == op::kNearest;
  const Dims& out = n.outputs[0]->type.dims;
  op::Attrs given = a;
  std::vector<double> scales;
  if (n.input(2) != nullptr && !ir::known_floats(*n.inputs[2], &scales)) w.fail("scales must be known when compiling");
  for (size_t i = 0; i < scales.size() && i < 3; ++i) given.scales[i] = static_cast<float>(scales[i]);
  if (n.input(3) != nullptr || a.coordinates == op::kCropAndResize) w.fail("a crop has no form in TOSA");
  if (!nearest && !is_float(x.type)) w.fail("TOSA interpolates integers without rounding");
  if (x.type == fb::DType::INT48) w.fail("TOSA moves no elements of 48 bits");
  constexpr int32_t kMostSize = 1 << 16;
  for (size_t i = 1; i + 1 < out.size(); ++i)
    if (out[i] > kMostSize || (w.ok() && x.dims[i] > kMostSize)) w.fail("TOSA resizes less than 65536 elements in one dimension");
  if (!w.ok()) return {};
  std::vector<Weights> wanted;
  for (size_t d = 0; d + 2 < out.size(); ++d) {
    wanted.emplace_back();
    for (int32_t i = 0; i < out[d + 1]; ++i) {
      const op::Taps<float> taps(given, static_cast<int>(d), x.dims[d + 1], out[d + 1], i);
      wanted.back().emplace_back();
      for (int64_t k = 0; k < taps.count; ++k) wanted.back().back().emplace_back(taps.index(k), static_cast<double>(taps.weight(k)));
    }
  }
  return resized(w, x, wanted, nearest);
}

// Which element each position of nearest is, as the operator itself says of a ramp.
bool nearest_of(const ops::q_resize::Attrs& a, int32_t in, int32_t out, Weights* wanted) {
  if (in > INT16_MAX) return false;
  std::vector<int16_t> ramp(static_cast<size_t>(in));
  std::iota(ramp.begin(), ramp.end(), int16_t{0});
  ir::Graph g;
  ir::Method& m = g.add_method("ramp");
  ops::q_resize::Attrs line = a;
  line.height = out;
  line.width = 1;
  ir::Node* n =
      g.add_node(*m.block, static_cast<uint16_t>(OpId::q_resize), &line, sizeof line, {g.constant<int16_t>({1, in, 1, 1}, ramp)}, 1, "");
  std::string error;
  std::vector<ir::Bytes> found;
  if (!ir::infer(*n, &error) || !ir::evaluate(*n, &found) || found.size() != 1) return false;
  for (int32_t i = 0; i < out; ++i) wanted->push_back({{reinterpret_cast<const int16_t*>(found[0].data)[i], 1.0}});
  return true;
}

// TFLite's bilinear positions have 10 bits of fraction: so do those of RESIZE here, and RESCALE drops 20 bits of the sums.
Operand q_resize(Writer& w, const Node& n) {
  namespace op = ops::q_resize;
  const auto a = n.attributes<op::Attrs>();
  const Operand x = w.signed_of(n.inputs[0]);
  const int32_t sizes[] = {a.height, a.width};
  if (std::max(a.height, a.width) > INT16_MAX) w.fail("TOSA resizes to less than 32768 elements in one dimension");
  if (!w.ok()) return {};
  if (static_cast<op::Method>(a.method) == op::Method::kNearest) {
    std::vector<Weights> wanted(2);
    for (size_t i = 0; i < 2; ++i)
      if (!nearest_of(a, x.dims[i + 1], sizes[i], &wanted[i])) w.fail("the image is too large to be resized here");
    return w.ok() ? resized(w, x, wanted, true) : x;
  }
  Line lines[2];
  for (size_t i = 0; i < 2; ++i) {
    const int64_t in = x.dims[i + 1], out = sizes[i];
    const bool corners = a.align_corners != 0 && out > 1;
    const int64_t from = corners ? in - 1 : in, to = corners ? out - 1 : out, scale = (from * 1024 + to / 2) / to;
    lines[i] = {1024, scale, a.half_pixel_centers != 0 ? scale / 2 - 512 : 0, in, out};
    if (scale == 0 && out == 1) lines[i].denominator = 1;
    if (!lines[i].allowed() || scale == 0) w.fail("the change of size is outside of what RESIZE takes");
  }
  if (x.type == fb::DType::INT16) w.fail("RESCALE of INT48 has multipliers of 16 bits: they do not drop 20 bits of a sum as TFLite does");
  if (!w.ok()) return {};
  if (n.inputs[0]->type.dtype == DType::u8) w.note_rounding();
  Scale s = fixed_scale(w, {(1 << 30) + 1}, {-19});
  s.twice = false;
  s.to = fb::DType::INT8;
  return rescale(w, resize_op(w, x, lines[0], lines[1], false, fb::DType::INT32), s);
}

}  // namespace

bool lower_resize(Writer& w, const Node& n) {
  Operand y;
  if (n.is(OpId::resize)) y = resize(w, n);
  else if (n.is(OpId::q_resize)) y = q_resize(w, n);
  else return false;
  if (w.ok()) w.bind_signed(n.outputs[0], y);
  return true;
}

}  // namespace mote::emit::tosa
