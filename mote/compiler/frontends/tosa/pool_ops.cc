// AVG_POOL2D and MAX_POOL2D over (N, H, W, C).

#include <algorithm>
#include <cmath>

#include "mote/compiler/frontends/tosa/import.h"
#include "mote/ops/avg_pool/avg_pool.h"
#include "mote/ops/max_pool/max_pool.h"
#include "mote/ops/q_conv/q_conv.h"

namespace mote::frontends::tosa {
namespace {

struct Pool {
  int32_t kernel[2] = {1, 1}, stride[2] = {1, 1}, pad[4] = {};

  template <class A>
  void set(A* a) const {
    for (int i = 0; i < 2; ++i) {
      a->strides[i] = stride[i];
      a->pads_begin[i] = pad[2 * i];
      a->pads_end[i] = pad[2 * i + 1];
    }
  }
};

template <class T>
bool read_pool(Op& op, const T& from, const Value* x, Pool* p) {
  if (!op.ok()) return false;
  if (rank_of(x) != 4) op.fail("expected (N, H, W, C), found " + describe(op.in(0)));
  if (!op.list(from.kernel(), "kernel", 2, 1, p->kernel) || !op.list(from.stride(), "stride", 2, 1, p->stride) ||
      !op.list(from.pad(), "pad", 4, 0, p->pad))
    return false;
  for (int i = 0; i < 4; ++i)
    if (p->pad[i] >= p->kernel[i / 2]) op.fail("expected a padding smaller than the kernel, found " + std::to_string(p->pad[i]));
  if (!is_fixed(x, 1) || !is_fixed(x, 2) || !is_fixed(x, 3)) op.fail("expected fixed sizes of H, W and C", "give them with --shape");
  return op.ok();
}

// Of x - zero, for every window, in s32.
Value* window_sums(Op& op, Value* x, const Pool& p, int64_t zero) {
  const Dims d = x->type.dims;
  const bool all = p.kernel[0] == d[1] && p.kernel[1] == d[2] && std::all_of(p.pad, p.pad + 4, [](int32_t v) { return v == 0; });
  if (all) {
    Value* v = op.cast(x, DType::s32);
    if (zero != 0) v = op.sub(v, op.number(static_cast<double>(zero), v));
    return op.reduce(OpId::reduce_sum, v, {1, 2});
  }
  const uint64_t bytes = static_cast<uint64_t>(d[3]) * static_cast<uint64_t>(p.kernel[0]) * static_cast<uint64_t>(p.kernel[1]);
  std::string error;
  if (p.kernel[0] > 65536 || p.kernel[1] > 65536) error = "the kernel is too large";
  else op.importer.take_bytes(bytes, &error);
  if (!error.empty()) op.fail(error);
  if (!op.ok()) return nullptr;
  Value* ones = op.b.graph().add_constant(DType::s8, {d[3], p.kernel[0], p.kernel[1], 1},
                                          ir::Bytes::own(std::vector<uint8_t>(static_cast<size_t>(bytes), 1)));
  ops::q_conv::Attrs a;
  p.set(&a);
  a.groups = d[3];
  a.to = static_cast<uint32_t>(DType::s32);
  a.input_zero = static_cast<int32_t>(zero);
  return op.b.op(OpId::q_conv, a, {x, ones});
}

// How many positions of the window at o lie inside the input.
int64_t inside(const Pool& p, int i, int32_t size, int64_t o) {
  const int64_t first = o * p.stride[i] - p.pad[2 * i];
  return std::max<int64_t>(1, std::min<int64_t>(first + p.kernel[i], size) - std::max<int64_t>(first, 0));
}

// The sum times 1 / count in fixed point, rounded as reciprocal_scale and apply_scale_32 do.
Value* mean(Op& op, Value* sums, const Pool& p, const Dims& x, const Dims& y, int64_t zero) {
  std::string error;
  if (!op.importer.take_bytes(uint64_t{24} * static_cast<uint32_t>(y[1]) * static_cast<uint32_t>(y[2]), &error)) op.fail(error);
  if (!op.ok()) return nullptr;
  std::vector<int64_t> multiplier, shift, half;
  for (int32_t i = 0; i < y[1]; ++i)
    for (int32_t j = 0; j < y[2]; ++j) {
      const int64_t count = inside(p, 0, x[1], i) * inside(p, 1, x[2], j);
      int k = 0;
      while ((int64_t{1} << k) < count) ++k;
      multiplier.push_back((((int64_t{1} << 30) + 1) << k) / count);
      shift.push_back(30 + k);
      half.push_back(int64_t{1} << (shift.back() - 1));
    }
  ir::Graph& g = op.b.graph();
  const Dims dims{y[1], y[2], 1};
  Value* v = op.add(op.mul(op.cast(sums, DType::s64), g.constant<int64_t>(dims, multiplier)), g.constant<int64_t>(dims, half));
  v = op.op(OpId::shift_right, {v, g.constant<int64_t>(dims, shift)});
  return zero == 0 ? v : op.add(v, g.scalar<int64_t>(zero));
}

}  // namespace

void import_avg_pool2d(Op& op) {
  Value* x = op.value(0);
  Pool p;
  const int64_t in_zero = op.zero(1, "input_zp"), out_zero = op.zero(2, "output_zp");
  if (!read_pool(op, op.attributes<fb::AvgPool2dAttribute>(), x, &p)) return;
  const DType t = x->type.dtype;
  if (is_float(t)) {
    ops::avg_pool::Attrs a;
    p.set(&a);
    std::copy_n(p.kernel, 2, a.kernel);
    return op.set(op.b.op(OpId::avg_pool, a, {x}));
  }
  if (t != DType::s8 && t != DType::s16) return op.fail("expected floats, INT8 or INT16, found " + describe(op.in(0)));
  const int64_t top = t == DType::s8 ? INT8_MAX : INT16_MAX;
  if (std::abs(in_zero) > top + 1) return op.fail("the zero point is outside of the input's type");
  Value* sums = window_sums(op, x, p, in_zero);
  if (!op.ok() || sums == nullptr) return;
  op.set(op.cast(op.clamp(mean(op, sums, p, x->type.dims, sums->type.dims, out_zero), -top - 1, top), t));
}

// Where NaN is ignored, a window of nothing else gives NaN.
void import_max_pool2d(Op& op) {
  const auto& o = op.attributes<fb::MaxPool2dAttribute>();
  Value* x = op.value(0);
  Pool p;
  if (!read_pool(op, o, x, &p)) return;
  ops::max_pool::Attrs a;
  p.set(&a);
  std::copy_n(p.kernel, 2, a.kernel);
  const auto largest = [&](Value* v) { return op.ok() ? op.b.op(OpId::max_pool, a, {v}) : nullptr; };
  if (!is_float(x->type.dtype) || o.nan_mode() != fb::NanPropagationMode::IGNORE) return op.set(largest(x));
  Value* nan = op.is_nan(x);
  Value* y = largest(op.where(nan, op.number(-INFINITY, x), x));
  Value* number = largest(op.where(nan, op.number(0, x), op.number(1, x)));
  op.set(op.where(op.op(OpId::greater, {number, op.number(0, x)}), y, op.number(NAN, x)));
}

}  // namespace mote::frontends::tosa
