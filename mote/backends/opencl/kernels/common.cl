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

// The geometry of convolutions and pools.
typedef struct {
  int batch, in_h, in_w, in_c, out_h, out_w, out_c;
  int kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w, pad_h, pad_w;
  int groups, padded_cols;  // padded_cols: of the weights, which lie as (taps, channels of a group, outputs)
} Window;
