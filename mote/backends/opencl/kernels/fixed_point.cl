// Arithmetic of 8-bit operators, bit for bit as mote/ops/common/fixed_point.h and quant.h have it. u8 is read as s8 with its highest bit
// flipped (flip: 0x80), and its zero point comes 128 lower.

#pragma OPENCL FP_CONTRACT OFF

inline int byte_at(__global const uchar* p, int i, int flip) { return as_char((uchar)(p[i] ^ flip)); }
inline int clamped(long v, int lo, int hi) { return v < lo ? lo : v > hi ? hi : (int)v; }
inline int round_even(float v) { return isnan(v) ? 0 : v >= 2147483647.0f ? INT_MAX : v <= -2147483648.0f ? INT_MIN : (int)rint(v); }
inline int shift_right(int x, int count) {
  const long mask = (1L << count) - 1, rest = x & mask;
  return (x >> count) + (rest > (mask >> 1) + (x < 0 ? 1 : 0) ? 1 : 0);
}
// a / b as the CPU rounds it: OpenCL's own division may be off by 2.5 units of the last place, so that the remainder corrects it, with a
// reciprocal that is rounded to nearest (P. Markstein, 1990).
inline float divide(float a, float b) {
  float q = a / b, r = 1 / b;
  if (!isfinite(q) || !isfinite(r) || q == 0) return q;
  r = fma(fma(-r, b, 1.0f), r, r);
  q = fma(fma(-q, b, a), r, q);
  return fma(fma(-q, b, a), r, q);
}
// a * b / 2^31, rounded.
inline int high_mul(int a, int b) { return a == INT_MIN && b == INT_MIN ? INT_MAX : (int)(((long)a * b + (1L << 30)) >> 31); }
inline int scale_by(int x, int multiplier, int shift) {
  const int left = shift > 31 ? 31 : shift > 0 ? shift : 0, right = shift < -31 ? 31 : shift < 0 ? -shift : 0;
  return shift_right(high_mul((int)((uint)x << left), multiplier), right);
}
// round(double(x) * m), ties away from zero, without doubles: m is mantissa (53 bits) * 2^exponent, not negative.
inline int scale_by_double(int x, ulong mantissa, int exponent) {
  const ulong size = x < 0 ? (ulong)(-(long)x) : (ulong)x, high = mul_hi(size, mantissa), low = size * mantissa;
  const int bits = high != 0 ? 128 - (int)clz(high) : 64 - (int)clz(low), drop = bits > 53 ? bits - 53 : 0;
  ulong q = drop == 0 ? low : (high << (64 - drop)) | (low >> drop);
  if (drop > 0) {  // the product of doubles is rounded to even first
    const ulong rest = low & ((1UL << drop) - 1), half_way = 1UL << (drop - 1);
    q += rest > half_way || (rest == half_way && (q & 1) != 0) ? 1 : 0;
  }
  const int right = -(exponent + drop);
  if (right <= 0) q = q == 0 ? 0 : right < -10 || (q << -right) > 0x80000000UL ? 0x80000000UL : q << -right;
  else q = right > 60 ? 0 : (q + (1UL << (right - 1))) >> right;
  if (q > 0x80000000UL) q = 0x80000000UL;
  return x < 0 ? (int)(-(long)q) : q > 0x7fffffffUL ? INT_MAX : (int)q;
}
