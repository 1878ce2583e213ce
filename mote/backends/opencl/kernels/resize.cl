// Interpolation over rows and columns of (N, H, W, C). Taps and weights of each row and column are computed on the host: `taps` has, for
// each output row and then each output column, `count` positions, and `weights` as many weights.

__kernel void resize(__global const real* x, int x_at, __global const int* taps, int taps_at, __global const float* weights,
                     int weights_at, __global real_out* y, int y_at, int batch, int in_h, int in_w, int channels, int out_h, int out_w,
                     int count_h, int count_w) {
  const int c = get_global_id(0), pos = get_global_id(1);
  if (c >= channels || pos >= batch * out_h * out_w) return;
  const int ow = pos % out_w, rest = pos / out_w, oh = rest % out_h, n = rest / out_h;
  const int rows = oh * count_h, columns = out_h * count_h + ow * count_w;
  float v = 0;
  for (int i = 0; i < count_h; ++i) {
    const float wh = weights[weights_at + rows + i];
    const int line = (n * in_h + taps[taps_at + rows + i]) * in_w;
    for (int j = 0; j < count_w; ++j) {
      const float weight = wh * weights[weights_at + columns + j];
      // What does not count must not spread NaN.
      if (weight != 0) v = fma(weight, LOAD(x, x_at + (line + taps[taps_at + columns + j]) * channels + c), v);
    }
  }
  STORE(y, y_at + pos * channels + c, v);
}
