// RESIZE of (N, H, W, C): each dimension on its own, by gathering two neighbours and weighting them with whole numbers.

#include <algorithm>

#include "mote/compiler/frontends/tosa/import.h"

namespace mote::frontends::tosa {
namespace {

struct Line {
  int64_t numerator = 1, denominator = 1, offset = 0, border = 0;
  int64_t in = 1, out = 1;
};

bool read_lines(Op& op, const Value* x, Line lines[2]) {
  std::vector<int64_t> scale, offset, border;
  if (!op.need_sizes(1, "scale", 4, &scale) || !op.need_sizes(2, "offset", 2, &offset) || !op.need_sizes(3, "border", 2, &border))
    return false;
  constexpr int64_t kMost = 1 << 20;
  for (size_t i = 0; i < 2; ++i) {
    Line& l = lines[i];
    l = {scale[2 * i], scale[2 * i + 1], offset[i], border[i], x->type.dims[i + 1], 1};
    const bool sound = l.numerator >= 1 && l.numerator <= kMost && l.denominator >= 1 && l.denominator <= kMost &&
                       std::abs(l.offset) <= kMost && std::abs(l.border) <= kMost && l.in >= 1;
    const int64_t room = sound ? (l.in - 1) * l.numerator - l.offset + l.border : -1;
    if (room < 0) {
      op.fail("scale, offset and border of dimension " + std::to_string(i + 1) + " leave no output");
      return false;
    }
    l.out = room / l.denominator + 1;
    std::string error;
    if (l.out > INT32_MAX) error = "the output is too large";
    else op.importer.take_bytes(static_cast<uint64_t>(l.out) * 20, &error);
    if (!error.empty()) op.fail(error);
  }
  return op.ok();
}

Value* weights(Op& op, const std::vector<int64_t>& of, DType t, int axis, double unit) {
  Value* w = op.b.graph().constant<int64_t>({static_cast<int32_t>(of.size())}, of);
  w = op.cast(w, t);
  if (is_float(t)) w = op.div(w, unit);
  return axis == 1 ? op.unsqueeze(w, {1, 2}) : op.unsqueeze(w, {1});
}

Value* resize(Op& op, Value* x, const Line& l, int axis, bool nearest) {
  if (!op.ok()) return nullptr;
  std::vector<int32_t> left, right;
  std::vector<int64_t> to_left, to_right;
  for (int64_t o = 0; o < l.out; ++o) {
    const int64_t place = o * l.denominator + l.offset;
    const int64_t whole = place >= 0 ? place / l.numerator : -((-place + l.numerator - 1) / l.numerator),
                  rest = place - whole * l.numerator;
    const auto at = [&](int64_t i) { return static_cast<int32_t>(std::clamp<int64_t>(i, 0, l.in - 1)); };
    const bool up = nearest && rest * 2 >= l.numerator;
    left.push_back(at(up ? whole + 1 : whole));
    right.push_back(at(whole + 1));
    to_left.push_back(l.numerator - rest);
    to_right.push_back(rest);
  }
  const Dims n{static_cast<int32_t>(l.out)};
  Value* low = op.gather(x, op.constant_s32(left, n), axis);
  if (nearest) return low;
  const DType t = dtype_of_value(x);
  const double unit = static_cast<double>(l.numerator);
  Value* high = op.gather(x, op.constant_s32(right, n), axis);
  return op.add(op.mul(low, weights(op, to_left, t, axis, unit)), op.mul(high, weights(op, to_right, t, axis, unit)));
}

}  // namespace

// Bilinear sums of INT8 are s32, those of INT16 s64 (INT48): they keep the scale of the weights.
void import_resize(Op& op) {
  Value* x = op.value(0);
  if (!op.ok()) return;
  if (rank_of(x) != 4 || !is_fixed(x, 1) || !is_fixed(x, 2))
    return op.fail("expected (N, H, W, C) with fixed H and W, found " + describe(op.in(0)));
  Line lines[2];
  if (!read_lines(op, x, lines)) return;
  const auto mode = op.attributes<fb::ResizeAttribute>().mode();
  if (mode != fb::ResizeMode::NEAREST && mode != fb::ResizeMode::BILINEAR) return op.fail("expected the mode NEAREST or BILINEAR");
  const bool nearest = mode == fb::ResizeMode::NEAREST;
  const DType t = x->type.dtype;
  // Sums of INT16 have 48 bits: 32 are enough where the weights are small.
  const bool wide = t == DType::s16 && !nearest;
  const bool fits = lines[0].numerator * lines[1].numerator < (1 << 16);
  if (!nearest && !is_float(t)) x = op.cast(x, wide && !fits ? DType::s64 : DType::s32);
  Value* y = resize(op, resize(op, x, lines[0], 1, nearest), lines[1], 2, nearest);
  op.set(wide ? op.cast(y, DType::s64) : y);
}

}  // namespace mote::frontends::tosa
