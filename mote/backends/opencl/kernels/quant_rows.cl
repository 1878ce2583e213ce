// Softmax and reductions of 8-bit numbers, bit for bit as mote/ops/q_softmax and q_reduce have them (fixed_point.cl). A group of GROUP
// work-items shares a row.

// 2^bits * x, saturated.
inline int grow(int x, int bits) {
  const int limit = (1 << (31 - bits)) - 1;
  return x > limit ? INT_MAX : x < -limit ? INT_MIN : (int)((uint)x << bits);
}
// 1 / (1 + a) for a from 0 to 1, both with 31 bits behind the point: three of Newton's iterations with 29 bits.
inline int one_over_one_plus(int a) {
  const int half_sum = (int)(((long)a + INT_MAX + 1) / 2);
  uint x = 1515870810u + (uint)high_mul(half_sum, -1010580540);
  for (int i = 0; i < 3; ++i) x += (uint)grow(high_mul((int)x, (int)((1u << 29) - (uint)high_mul(half_sum, (int)x))), 2);
  return grow((int)x, 1);
}

// exps: exponentials of 0 to 255 below the greatest.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void quant_softmax(__global const uchar* x, int x_at, __global const int* exps,
                                                                                int exps_at, __global uchar* y, int y_at, int length,
                                                                                int flip, int lo, int hi) {
  __local int part[GROUP];
  __local long parts[GROUP];
  const int first = get_group_id(0) * length;
  int most = -128;
  for (int i = get_local_id(0); i < length; i += GROUP) most = max(most, byte_at(x, x_at + first + i, flip));
  most = group_most(part, most);
  long sum = 0;  // 12 bits before the point
  for (int i = get_local_id(0); i < length; i += GROUP) sum += shift_right(exps[exps_at + most - byte_at(x, x_at + first + i, flip)], 12);
  const uint total = (uint)clamped(group_total(parts, sum), 1, INT_MAX);
  const int zeros = (int)clz(total), exponent = clamp(12 - zeros + 31 - 8, 0, 31);
  const int scale = one_over_one_plus((int)((total << zeros) & 0x7fffffffu));
  for (int i = get_local_id(0); i < length; i += GROUP) {
    const int e = exps[exps_at + most - byte_at(x, x_at + first + i, flip)];
    y[y_at + first + i] = (uchar)clamped((long)lo + shift_right(high_mul(scale, e), exponent), lo, hi);
  }
}

// How results come of sums. kind 0: sum, 1: maximum, 2: minimum. mode 0: multiplier and shift, 1: divided by `divisor`, times `factor`.
typedef struct {
  int kind, mode, flip, x_zero, y_zero, multiplier, shift, lo, hi;
  float divisor, factor;
} QuantReduce;
inline long reduce_byte(QuantReduce s, long v, int e) { return s.kind == 0 ? v + e : s.kind == 1 ? max(v, (long)e) : min(v, (long)e); }
inline long reduce_first(QuantReduce s) { return s.kind == 0 ? 0 : s.kind == 1 ? -128 : 127; }
inline uchar reduced(QuantReduce s, long v, int length) {
  if (s.kind != 0) return (uchar)((int)v ^ s.flip);
  const int sum = (int)(v - (long)length * s.x_zero);
  const int scaled = s.mode == 0 ? scale_by(sum, s.multiplier, s.shift) : round_even(divide((float)sum, s.divisor) * s.factor);
  return (uchar)clamped((long)scaled + s.y_zero, s.lo, s.hi);
}

// Results are (outer, inner), each over `length` elements `inner` apart.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void quant_reduce(__global const uchar* x, int x_at, __global uchar* y,
                                                                               int y_at, int length, int inner, QuantReduce s) {
  __local int part[GROUP];
  __local long parts[GROUP];
  const int result = get_group_id(0), first = x_at + result / inner * length * inner + result % inner;
  long v = reduce_first(s);
  for (int i = get_local_id(0); i < length; i += GROUP) v = reduce_byte(s, v, byte_at(x, first + i * inner, s.flip));
  if (s.kind == 0) v = group_total(parts, v);
  else v = s.kind == 1 ? group_most(part, (int)v) : -group_most(part, (int)-v);
  if (get_local_id(0) == 0) y[y_at + result] = reduced(s, v, length);
}

// The same for few elements of many results: a work-item each.
__kernel void quant_reduce_columns(__global const uchar* x, int x_at, __global uchar* y, int y_at, int length, int inner, QuantReduce s,
                                   int count) {
  const int result = get_global_id(0);
  if (result >= count) return;
  const int first = x_at + result / inner * length * inner + result % inner;
  long v = reduce_first(s);
  for (int i = 0; i < length; ++i) v = reduce_byte(s, v, byte_at(x, first + i * inner, s.flip));
  y[y_at + result] = reduced(s, v, length);
}
