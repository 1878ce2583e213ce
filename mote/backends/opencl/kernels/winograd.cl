// 3x3 convolutions in Winograd's form F(4x4, 3x3), as mote/ops/common/winograd.h has it: 6x6 inputs and the weights at 36 points, a matrix
// product at each point (product_tile.cl, batched), 4x4 outputs from the sums. In between everything is float: (points, tiles, channels).

typedef struct {
  int batch, in_h, in_w, in_c, out_h, out_w, out_c;
  int pad_h, pad_w;
  int tiles_h, tiles_w;  // of the output
} Winograd;

inline void to_points(const float* d, int step, float* out, int out_step) {
  const float d0 = d[0], d1 = d[step], d2 = d[2 * step], d3 = d[3 * step], d4 = d[4 * step], d5 = d[5 * step];
  const float a = d4 - 4 * d2, b = d3 - 4 * d1, c = d4 - d2, e = 2 * (d3 - d1);
  out[0] = 4 * d0 - 5 * d2 + d4;
  out[out_step] = a + b;
  out[2 * out_step] = a - b;
  out[3 * out_step] = c + e;
  out[4 * out_step] = c - e;
  out[5 * out_step] = 4 * d1 - 5 * d3 + d5;
}

inline void from_points(const float* m, int step, float* out, int out_step) {
  const float a = m[step] + m[2 * step], b = m[step] - m[2 * step], c = m[3 * step] + m[4 * step], d = m[3 * step] - m[4 * step];
  out[0] = m[0] + a + c;
  out[out_step] = b + 2 * d;
  out[2 * out_step] = a + 4 * c;
  out[3 * out_step] = b + 8 * d + m[5 * step];
}

__kernel void winograd_input(__global const real* x, int x_at, __global float* to, int to_at, Winograd p) {
  const int c = get_global_id(0), tile = get_global_id(1), tiles = p.batch * p.tiles_h * p.tiles_w;
  if (c >= p.in_c || tile >= tiles) return;
  const int tw = tile % p.tiles_w, rest = tile / p.tiles_w, th = rest % p.tiles_h, n = rest / p.tiles_h;
  const int h0 = 4 * th - p.pad_h, w0 = 4 * tw - p.pad_w;
  float v[36], u[36];
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j) {
      const int h = h0 + i, w = w0 + j;
      const bool inside = h >= 0 && h < p.in_h && w >= 0 && w < p.in_w;
      v[6 * i + j] = inside ? LOAD(x, x_at + ((n * p.in_h + h) * p.in_w + w) * p.in_c + c) : 0;
    }
  for (int j = 0; j < 6; ++j) to_points(v + j, 6, u + j, 6);
  for (int i = 0; i < 6; ++i) to_points(u + 6 * i, 1, v + 6 * i, 1);
  for (int k = 0; k < 36; ++k) to[to_at + (k * tiles + tile) * p.in_c + c] = v[k];
}

__kernel void winograd_output(__global const float* from, int from_at, __global const float* bias, int bias_at, __global const real* residual,
                              int residual_at, __global real_out* y, int y_at, Winograd p, Finish f) {
  const int o = get_global_id(0), tile = get_global_id(1), tiles = p.batch * p.tiles_h * p.tiles_w;
  if (o >= p.out_c || tile >= tiles) return;
  const int tw = tile % p.tiles_w, rest = tile / p.tiles_w, th = rest % p.tiles_h, n = rest / p.tiles_h;
  float m[36], u[24], v[16];
  for (int k = 0; k < 36; ++k) m[k] = from[from_at + (k * tiles + tile) * p.out_c + o];
  for (int j = 0; j < 6; ++j) from_points(m + j, 6, u + j, 6);
  for (int i = 0; i < 4; ++i) from_points(u + 6 * i, 1, v + 4 * i, 1);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      const int h = 4 * th + i, w = 4 * tw + j, at = ((n * p.out_h + h) * p.out_w + w) * p.out_c + o;
      if (h >= p.out_h || w >= p.out_w) continue;
      float e = v[4 * i + j];
      if (f.bias) e += bias[bias_at + o];
      if (f.residual) e += LOAD(residual, residual_at + at);
      STORE(y, y_at + at, activate(f.kind, f.a, f.b, e));
    }
}
