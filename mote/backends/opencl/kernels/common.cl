// Tensors are dense and channels-last. Each comes as a buffer and the number of its first element there.

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
    case 8: { const float t = x + 3; return x * (t < 0 ? 0 : t > 6 ? 6 : t) / 6; }
    case 9: return x * (1 + erf(x * 0.70710678118654752440f)) / 2;
    case 10: return x * (1 + tanh(0.79788456080286535588f * (x + 0.044715f * x * x * x))) / 2;
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
