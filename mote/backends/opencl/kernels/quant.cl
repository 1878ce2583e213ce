// Operators on 8-bit numbers with TFLite's and ONNX's arithmetic (fixed_point.cl), bit for bit as mote/ops has it. Products by tiles use
// dot products of bytes where the device has them.

// a + sign * b. mode 0: multipliers and shifts, 1: scales, 2: shifts.
typedef struct {
  int mode, sign, a_flip, b_flip, a_zero, b_zero, y_zero, left_shift;
  int a_multiplier, a_shift, b_multiplier, b_shift, y_multiplier, y_shift;
  int lo, hi;
  float a_scale, b_scale, y_scale;
} QuantSum;
inline int quant_sum(QuantSum s, int a, int b) {
  const int x = a - s.a_zero, y = b - s.b_zero;
  if (s.mode == 1) {
    const float p = (float)x * s.a_scale, q = (float)y * s.b_scale;
    return clamped((long)round_even(divide(s.sign > 0 ? p + q : p - q, s.y_scale)) + s.y_zero, s.lo, s.hi);
  }
  if (s.mode == 2) return clamped((long)shift_right(x, -s.a_shift) + s.sign * (long)shift_right(y, -s.b_shift) + s.y_zero, s.lo, s.hi);
  const int p = scale_by((int)((uint)x << s.left_shift), s.a_multiplier, s.a_shift);
  const int q = scale_by((int)((uint)y << s.left_shift), s.b_multiplier, s.b_shift);
  return clamped((long)scale_by((int)((uint)p + (uint)(s.sign * q)), s.y_multiplier, s.y_shift) + s.y_zero, s.lo, s.hi);
}

// How sums become elements. mode 0: multiplier and shift, 1: float multiplier, 2: double multiplier. residual 1: added as quant_sum does,
// 2: to the sums. CHANNEL numbers of each channel: bias, then those of the mode, then the residual's factor.
#define CHANNEL 5
typedef struct {
  int x_flip, x_zero, w_zero, y_zero, lo, hi, mode, residual, residual_shift;
  QuantSum sum;
} Epilogue;
inline uchar finish_sum(Epilogue s, __global const int* c, uint sum, int r) {
  sum += (uint)c[0];
  if (s.residual == 2) {
    const int scaled = (int)((uint)(r - s.sum.b_zero) * (uint)c[4]);
    sum += (uint)((int)((uint)scaled + (s.residual_shift > 0 ? 1u << (s.residual_shift - 1) : 0u)) >> s.residual_shift);
  }
  const int v = s.mode == 0   ? scale_by((int)sum, c[1], c[2])
                : s.mode == 1 ? round_even((float)(int)sum * as_float(c[1]))
                              : scale_by_double((int)sum, (ulong)(uint)c[1] | (ulong)(uint)c[2] << 32, c[3]);
  const int e = clamped((long)v + s.y_zero, s.lo, s.hi);
  return (uchar)(s.residual == 1 ? quant_sum(s.sum, e, r) : e);
}

// Any groups. Weights (taps, channels of a group, outputs padded).
__kernel void quant_window(__global const uchar* x, int x_at, __global const uchar* w, int w_at, __global const int* channels, int channels_at,
                           __global const uchar* residual, int residual_at, __global uchar* y, int y_at, Window p, Epilogue s) {
  const int o = get_global_id(0), pos = get_global_id(1);
  if (o >= p.out_c || pos >= p.batch * p.out_h * p.out_w) return;
  const int3 where = position_of(p, pos);
  const int ow = where.x, oh = where.y, n = where.z;
  const int depth = p.in_c / p.groups, first = o / (p.out_c / p.groups) * depth, at = pos * p.out_c + o;
  uint sum = 0;
  for (int i = 0; i < p.kernel_h; ++i) {
    const int h = oh * p.stride_h + i * p.dilation_h - p.pad_h;
    if (h < 0 || h >= p.in_h) continue;
    for (int j = 0; j < p.kernel_w; ++j) {
      const int q = ow * p.stride_w + j * p.dilation_w - p.pad_w;
      if (q < 0 || q >= p.in_w) continue;
      const int from = x_at + ((n * p.in_h + h) * p.in_w + q) * p.in_c + first, weight = w_at + (i * p.kernel_w + j) * depth * p.padded_cols + o;
      for (int c = 0; c < depth; ++c)
        sum += (uint)((byte_at(x, from + c, s.x_flip) - s.x_zero) * (byte_at(w, weight + c * p.padded_cols, 0) - s.w_zero));
    }
  }
  const int r = s.residual != 0 ? byte_at(residual, residual_at + at, s.sum.b_flip) : 0;
  y[y_at + at] = finish_sum(s, channels + channels_at + CHANNEL * o, sum, r);
}

// Sums, differences and products with broadcasting. times: 1 product, whose multiplier and shift are y_multiplier and y_shift.
__kernel void quant_binary(__global const uchar* a, int a_at, __global const uchar* b, int b_at, __global uchar* y, int y_at, Walk w, QuantSum s,
                           int times) {
  const int i = get_global_id(0), out = y_at + i;
  if (i >= w.count) return;
  const int3 at = walk_to(w, i, (int3)(a_at, b_at, 0));
  const int p = byte_at(a, at.x, s.a_flip), q = byte_at(b, at.y, s.b_flip);
  if (times == 0) {
    y[out] = (uchar)quant_sum(s, p, q);
    return;
  }
  const int v = s.mode == 0 ? scale_by((p - s.a_zero) * (q - s.b_zero), s.y_multiplier, s.y_shift)
                            : round_even(divide((float)(p - s.a_zero) * s.a_scale * ((float)(q - s.b_zero) * s.b_scale), s.y_scale));
  y[out] = (uchar)clamped((long)v + s.y_zero, s.lo, s.hi);
}

// kind 0: maximum. 1: mean, ties away from zero. 2: mean, rescaled.
__kernel void quant_pool(__global const uchar* x, int x_at, __global uchar* y, int y_at, Window p, int kind, int flip, int x_zero, int y_zero,
                         int lo, int hi, int with_padding, int padded_h, int padded_w, float multiplier) {
  const int c = get_global_id(0), pos = get_global_id(1);
  if (c >= p.out_c || pos >= p.batch * p.out_h * p.out_w) return;
  const int3 where = position_of(p, pos);
  const int ow = where.x, oh = where.y, n = where.z;
  int largest = -128, sum = 0, inside = 0, counted = 0;
  for (int i = 0; i < p.kernel_h; ++i) {
    const int h = oh * p.stride_h + i * p.dilation_h - p.pad_h;
    for (int j = 0; j < p.kernel_w; ++j) {
      const int q = ow * p.stride_w + j * p.dilation_w - p.pad_w;
      counted += h < padded_h && q < padded_w;
      if (h < 0 || h >= p.in_h || q < 0 || q >= p.in_w) continue;
      ++inside;
      const int e = byte_at(x, x_at + ((n * p.in_h + h) * p.in_w + q) * p.in_c + c, flip);
      largest = max(largest, e);
      sum += e;
    }
  }
  const int at = y_at + pos * p.out_c + c;
  if (kind == 0) {
    y[at] = (uchar)(largest ^ flip);
    return;
  }
  const int count = with_padding != 0 ? counted : inside, real_zero = x_zero + (flip != 0 ? 128 : 0);
  if (count == 0) {
    y[at] = (uchar)clamped(kind == 1 ? real_zero : y_zero, lo, hi);
    return;
  }
  if (kind == 2) {
    y[at] = (uchar)clamped((long)round_even(divide((float)(sum - inside * x_zero), (float)count) * multiplier) + y_zero, lo, hi);
    return;
  }
  const int total = sum + (flip != 0 ? 128 * inside : 0) + (count - inside) * real_zero;
  y[at] = (uchar)clamped((total > 0 ? total + count / 2 : total - count / 2) / count, lo, hi);
}

// A table for each of `size` channels of `inner` neighbours.
__kernel void quant_table(__global const uchar* x, int x_at, __global const uchar* tables, int tables_at, __global uchar* y, int y_at,
                          int count, int inner, int size) {
  const int i = get_global_id(0);
  if (i < count) y[y_at + i] = tables[tables_at + i / inner % size * 256 + x[x_at + i]];
}

// scales and zeros: `size` of them, each for `inner` neighbours.
__kernel void quantize(__global const real* x, int x_at, __global const float* scales, int scales_at, __global const int* zeros, int zeros_at,
                       __global uchar* y, int y_at, int count, int inner, int size, int lo, int hi, int away) {
  const int i = get_global_id(0);
  if (i >= count) return;
  const int k = i / inner % size;
  const float v = divide(LOAD(x, x_at + i), scales[scales_at + k]);
  y[y_at + i] = (uchar)clamped((long)round_even(away ? round(v) : v) + zeros[zeros_at + k], lo, hi);
}
__kernel void dequantize(__global const uchar* x, int x_at, __global const float* scales, int scales_at, __global const int* zeros,
                         int zeros_at, __global real_out* y, int y_at, int count, int inner, int size, int flip) {
  const int i = get_global_id(0);
  if (i >= count) return;
  const int k = i / inner % size;
  STORE(y, y_at + i, (float)(byte_at(x, x_at + i, flip) - zeros[zeros_at + k]) * scales[scales_at + k]);
}

// As element.cl has it; mapped: each byte by a table.
__kernel void move_bytes(__global const uchar* x, int x_at, __global const uchar* table, int table_at, __global uchar* y, int y_at, Walk w,
                         int mapped) {
  const int i = get_global_id(0);
  if (i >= w.count) return;
  const int3 at = walk_to(w, i, (int3)(x_at, 0, y_at));
  y[at.z] = mapped ? table[table_at + x[at.x]] : x[at.x];
}

__kernel void pad_bytes(__global const uchar* x, int x_at, __global uchar* y, int y_at, Walk w, int mode, int value) {
  const int i = get_global_id(0);
  if (i >= w.count) return;
  const int from = padded_from(w, i, mode);
  y[y_at + i] = from >= 0 ? x[x_at + from] : (uchar)value;
}

// The matrix product of product_tile.cl. Sums are counted modulo 2^32.
#define SUM int
#define PART int
#define LANES 1
#define BLOCK DEPTH
#define FIRST(sum) (sum)
#define CARRY(sum, part) (part)
#define LANE(sum, l) (sum)
#ifdef MOTE_BYTE_DOTS
// Four bytes along k are an element; k and channels are counted in these. Weights have no zero point, and what the input's zero point adds
// to a sum is in the biases.
#pragma OPENCL EXTENSION cl_khr_integer_dot_product : enable
#define X_ELEMENT uint
#define W_ELEMENT uint
#define LEFT uint
#define RIGHT uint
#define NOTHING ((uint)(s.x_zero & 255) * 0x01010101u)
#define LOAD_X(i) (x[i] ^ (uint)s.x_flip * 0x01010101u)
#define LOAD_W(i) w[i]
#define MULTIPLY_ADD(a, b, c) (int)((uint)(c) + (uint)dot_4x8packed_ss_int(a, b))
#else
#define X_ELEMENT uchar
#define W_ELEMENT uchar
#define LEFT int
#define RIGHT int
#define NOTHING 0
#define LOAD_X(i) (byte_at(x, i, s.x_flip) - s.x_zero)
#define LOAD_W(i) (byte_at(w, i, 0) - s.w_zero)
#define MULTIPLY_ADD(a, b, c) (int)((uint)(c) + (uint)((a) * (b)))
#endif
#define OUT_ARGS                                                                                                          \
  __global const int *channels, int channels_at, __global const uchar *residual, int residual_at, __global uchar *y, int y_at
#define FINISH_ARGS Epilogue s
#define FINISH(at, col, part, v)                                                                \
  y[y_at + at] = finish_sum(s, channels + channels_at + CHANNEL * (col), (uint)(v),             \
                            s.residual != 0 ? byte_at(residual, residual_at + at, s.sum.b_flip) : 0)
