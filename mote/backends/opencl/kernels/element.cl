// Element-wise operators. Numbers of operators are those of mote/ops/ops.def.

inline float unary_of(int op, float p, float q, float x) {
  switch (op) {
    case 36: return fabs(x);
    case 37: return -x;
    case 38: return x > 0 ? 1 : x < 0 ? -1 : 0;
    case 39: return ceil(x);
    case 40: return floor(x);
    case 41: return rint(x);
    case 42: return trunc(x);
    case 43: return sqrt(x);
    case 44: return 1 / sqrt(x);
    case 45: return 1 / x;
    case 46: return x * x;
    case 47: return exp(x);
    case 48: return expm1(x);
    case 49: return log(x);
    case 50: return log1p(x);
    case 51: return log2(x);
    case 52: return log10(x);
    case 53: return exp2(x);
    case 54: return sin(x);
    case 55: return cos(x);
    case 56: return tan(x);
    case 57: return asin(x);
    case 58: return acos(x);
    case 59: return atan(x);
    case 60: return sinh(x);
    case 61: return cosh(x);
    case 62: return tanh(x);
    case 63: return asinh(x);
    case 64: return acosh(x);
    case 65: return atanh(x);
    case 66: return erf(x);
    case 67: return activate(5, 0, 0, x);
    case 68: return activate(2, 0, 0, x);
    case 69: { const float t = x < p || isnan(p) ? p : x; return t > q || isnan(q) ? q : t; }
    case 70: return activate(4, p, 0, x);
    case 72: return activate(p != 0 ? 10 : 9, 0, 0, x);
    case 73: return x / (1 + exp(-p * x));
    case 74: return activate(8, 0, 0, x);
    case 75: return activate(11, p, q, x);
    case 76: {
      const float z = p * x;
      return q > 0 && z > q ? x : (z > 0 ? x : 0) + log1p(exp(-fabs(z))) / p;
    }
    case 77: return x / (1 + fabs(x));
    case 78: return activate(14, 0, 0, x);
    default: return x;
  }
}

__kernel void unary(__global const real* x, int x_at, __global real_out* y, int y_at, int count, int op, float p, float q) {
  const int i = get_global_id(0);
  if (i < count) STORE(y, y_at + i, unary_of(op, p, q, LOAD(x, x_at + i)));
}

// scale * x above 0, else scale * alpha * (exp(input_scale * x) - 1).
__kernel void elu(__global const real* x, int x_at, __global real_out* y, int y_at, int count, float alpha, float scale, float input_scale) {
  const int i = get_global_id(0);
  if (i >= count) return;
  const float v = LOAD(x, x_at + i);
  STORE(y, y_at + i, v > 0 ? scale * v : scale * alpha * expm1(input_scale * v));
}

inline float binary_of(int op, float a, float b) {
  switch (op) {
    case 85: return a + b;
    case 86: return a - b;
    case 87: return a * b;
    case 88: return a / b;
    case 92: return pow(a, b);
    case 93: return atan2(a, b);
    case 94: return isnan(a) || isnan(b) ? NAN : fmin(a, b);
    case 95: return isnan(a) || isnan(b) ? NAN : fmax(a, b);
    case 96: return (a - b) * (a - b);
    case 97: return a < 0 ? a * b : a;
    default: return a;
  }
}

__kernel void binary_same(__global const real* a, int a_at, __global const real* b, int b_at, __global real_out* y, int y_at, int count,
                          int b_count, int op) {
  const int i = get_global_id(0);
  if (i < count) STORE(y, y_at + i, binary_of(op, LOAD(a, a_at + i), LOAD(b, b_at + i % b_count)));
}

__kernel void binary(__global const real* a, int a_at, __global const real* b, int b_at, __global real_out* y, int y_at, Walk w, int op) {
  const int i = get_global_id(0);
  if (i >= w.count) return;
  const int3 at = walk_to(w, i, (int3)(a_at, b_at, 0));
  STORE(y, y_at + i, binary_of(op, LOAD(a, at.x), LOAD(b, at.y)));
}

// Elements from one place to another: transposes, slices, parts of a concatenation.
__kernel void move(__global const real* x, int x_at, __global real_out* y, int y_at, Walk w) {
  const int i = get_global_id(0);
  if (i >= w.count) return;
  const int3 at = walk_to(w, i, (int3)(x_at, 0, y_at));
  STORE(y, at.z, LOAD(x, at.x));
}

__kernel void pad(__global const real* x, int x_at, __global real_out* y, int y_at, Walk w, int mode, float value) {
  const int i = get_global_id(0);
  if (i >= w.count) return;
  const int from = padded_from(w, i, mode);
  STORE(y, y_at + i, from >= 0 ? LOAD(x, x_at + from) : value);
}

// From one kind of storage to the other.
__kernel void change_kind(__global const real* x, int x_at, __global real_out* y, int y_at, int count) {
  const int i = get_global_id(0);
  if (i < count) STORE(y, y_at + i, LOAD(x, x_at + i));
}
