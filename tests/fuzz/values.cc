#include "tests/fuzz/values.h"

#include <cmath>
#include <cstring>
#include <iterator>

namespace mote::fuzz {
namespace {

template <class T>
void put(uint8_t* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

}  // namespace

double plausible_number(bool extremes, Dice& dice) {
  static constexpr double kSpecial[] = {0,        -0.0,      1,   -1,    0.5,   1e-40, 3.4e38, -3.4e38,     1e300,
                                        HUGE_VAL, -HUGE_VAL, NAN, 65504, 70000, 255,   -128,   4294967296.0};
  if (extremes) return kSpecial[dice.raw() % std::size(kSpecial)];
  return (static_cast<int32_t>(dice.raw() % 4001) - 2000) / 500.0;
}

namespace {

int64_t plausible_integer(bool extremes, Dice& dice) {
  static constexpr int64_t kSpecial[] = {
      0, 1, -1, 127, -128, 255, 32767, -32768, 0x7fffffff, -0x7fffffff - 1, 0x7fffffffffffffff, -0x7fffffffffffffff - 1, 1 << 20, 64};
  if (extremes) return kSpecial[dice.raw() % std::size(kSpecial)];
  return static_cast<int64_t>(dice.raw() % 8) - 2;
}

void put_value(DType type, uint8_t* at, bool extremes, Dice& dice) {
  switch (type) {
    case DType::f32: return put(at, static_cast<float>(plausible_number(extremes, dice)));
    case DType::f64: return put(at, plausible_number(extremes, dice));
    case DType::f16: return put(at, f16(static_cast<float>(plausible_number(extremes, dice))));
    case DType::bf16: return put(at, bf16(static_cast<float>(plausible_number(extremes, dice))));
    case DType::boolean: return put(at, extremes ? static_cast<uint8_t>(dice.raw()) : static_cast<uint8_t>(dice.raw() % 2));
    default: break;
  }
  const int64_t v = plausible_integer(extremes, dice);
  std::memcpy(at, &v, dtype_bytes(type));  // little-endian hosts: the low bytes
}

}  // namespace

void fill_values(DType type, uint8_t* data, size_t bytes, Dice& dice) {
  const uint32_t mode = dice.below(8);
  if (mode == 0 || dtype_bits(type) < 8) {
    for (size_t i = 0; i < bytes; ++i) data[i] = static_cast<uint8_t>(dice.raw());
    return;
  }
  const uint32_t width = dtype_bytes(type);
  for (size_t i = 0; i + width <= bytes; i += width) put_value(type, data + i, mode == 1 || (mode == 2 && dice.raw() % 8 == 0), dice);
}

}  // namespace mote::fuzz
