// Tensors are dense and channels-last. Each comes as a buffer and the number of its first element there.

// Computed tensors are stored as float, or as half where memory counts more: arithmetic is in float either way. What a kernel reads is of
// one kind (real), what it writes of one kind (real_out). Weights, biases and tables are float or int. vload_half and vstore_half need no
// extension.
#ifdef MOTE_HALF_MATH  // products multiply in half; only with MOTE_HALF_IN, on devices that have it
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#endif
#ifdef MOTE_HALF_IN
#define real half
#define LOAD(p, i) vload_half(i, p)
#else
#define real float
#define LOAD(p, i) (p)[i]
#endif
#ifdef MOTE_HALF_OUT
#define real_out half
#define STORE(p, i, v) vstore_half(v, i, p)
#else
#define real_out float
#define STORE(p, i, v) (p)[i] = (v)
#endif

// As mote/ops/common/activation.h numbers them.
inline float soft(float v) { return fmax(v, 0.0f) + log1p(exp(-fabs(v))); }
inline float activate(int kind, float a, float b, float x) {
  switch (kind) {
    case 1: return x < a ? a : x > b ? b : x;
    case 2: return x < 0 ? 0 : x;
    case 3: return x < 0 ? 0 : x > 6 ? 6 : x;
    case 4: return x < 0 ? a * x : x;
    case 5: return 1 / (1 + exp(-x));
    case 6: return tanh(x);
    case 7: return x / (1 + exp(-x));
    case 8: { const float t = x + 3; return x * ((t < 0 ? 0 : t > 6 ? 6 : t) / 6); }
    case 9: return x * (1 + erf(x * 0.70710678118654752440f)) / 2;
    case 10: return x / (1 + exp(-1.59576912160573071176f * (x + 0.044715f * x * x * x)));  // (1 + tanh(z)) / 2
    case 11: { const float t = a * x + b; return t < 0 ? 0 : t > 1 ? 1 : t; }
    case 12: return x < 0 ? a * expm1(x) : x;
    case 13: return soft(x);
    case 14: return x * tanh(soft(x));
    default: return x;
  }
}

// What a product becomes: bias per column, residual per element, activation.
typedef struct {
  int kind, bias, residual;  // bias, residual: 1 when there is one
  float a, b;
} Finish;

// A walk over elements.
typedef struct {
  int size[8], a[8], b[8], out[8];  // sizes and steps, in elements, of up to eight dimensions; unused ones have size 1
  int count;
} Walk;
// Where element i lies in a, b and out (x, y, z), which begin at `at`.
inline int3 walk_to(Walk w, int i, int3 at) {
  for (int d = 7; d >= 0; --d) {
    const int k = i % w.size[d];
    i /= w.size[d];
    at += k * (int3)(w.a[d], w.b[d], w.out[d]);
  }
  return at;
}
// Of the tensor that is padded, the element that stands at element i of the result; below 0: the value. a: sizes of the tensor, b: elements
// added before. mode 0: a value, 1: mirrored without the edge, 2: the edge.
inline int padded_from(Walk w, int i, int mode) {
  int step = 1, at = 0;
  for (int d = 7; d >= 0; --d) {
    const int n = w.a[d];
    int k = i % w.size[d] - w.b[d];
    i /= w.size[d];
    if (mode == 1) k = k < 0 ? -k : k >= n ? 2 * (n - 1) - k : k;
    if (mode == 2) k = k < 0 ? 0 : k >= n ? n - 1 : k;
    if (k < 0 || k >= n) return -1;
    at += k * step;
    step *= n;
  }
  return at;
}

// The geometry of convolutions and pools.
typedef struct {
  int batch, in_h, in_w, in_c, out_h, out_w, out_c;
  int kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w, pad_h, pad_w;
  int groups, padded_cols;  // padded_cols: of the weights, which lie as (taps, channels of a group, outputs)
} Window;
// Column, row and image of an output position.
inline int3 position_of(Window p, int pos) {
  const int rest = pos / p.out_w;
  return (int3)(pos % p.out_w, rest % p.out_h, rest / p.out_h);
}
