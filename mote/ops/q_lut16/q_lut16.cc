#include "mote/ops/q_lut16/q_lut16.h"

namespace mote::ops::q_lut16 {
namespace {

int32_t scaled(const Attrs& a, int16_t x) {
  const int64_t half = a.shift > 0 ? int64_t{1} << (a.shift - 1) : 0;
  return wrap_to_s32(int64_t{wrap_to_s32(int64_t{x} * a.multiplier + half)} >> a.shift);
}
uint32_t magnitude(int32_t x) { return x < 0 ? 0u - static_cast<uint32_t>(x) : static_cast<uint32_t>(x); }

// table[i] and its neighbour, `bits` of fraction below i; the greatest value past the end.
uint32_t interpolated(const uint16_t* table, uint32_t x, int bits, uint32_t most) {
  const uint32_t i = x >> bits;
  if (i >= 255) return most;
  const int32_t low = table[i], high = table[i + 1], part = static_cast<int32_t>(x & ((1u << bits) - 1));
  return static_cast<uint32_t>(low * (1 << bits) + part * (high - low));
}

int16_t logistic(const Attrs& a, const uint16_t* table, int16_t v) {
  const int32_t x = scaled(a, v);
  const uint32_t y = interpolated(table, magnitude(x), 9, 0x7fffu << 10);
  return static_cast<int16_t>((x >= 0 ? y + 512 : (1u << 25) - y + 511) >> 10);
}

int16_t tanh(const Attrs& a, const uint16_t* table, int16_t v) {
  const int32_t x = scaled(a, v);
  const int32_t y = static_cast<int32_t>(interpolated(table, magnitude(x), 8, 0xffffu << 8));
  return static_cast<int16_t>((x >= 0 ? y - (1 << 23) + 128 : -y + (1 << 23) + 127) >> 8);
}

template <class T>
struct Lookup {
  static Status run(const OpContext& c) noexcept {
    const Attrs& a = c.attrs<Attrs>();
    const Tensor &x = c.input(0), &y = c.output(0), &table = c.input(1);
    RowWalk<2> walk(*y.desc, {x.desc, y.desc}, c.rows);
    while (walk.next()) {
      const T* in = x.at<const T>(walk.offset[0]);
      T* out = y.at<T>(walk.offset[1]);
      for (int32_t i = 0; i < walk.length; ++i) {
        switch (static_cast<Kind>(a.kind)) {
          case Kind::kTable: out[i] = interpolate_table(in[i], table.as<const int16_t>()); break;
          case Kind::kLogistic: out[i] = logistic(a, table.as<const uint16_t>(), in[i]); break;
          case Kind::kTanh: out[i] = tanh(a, table.as<const uint16_t>(), in[i]); break;
        }
      }
    }
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::q_lut16, Lookup>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::q_lut16
